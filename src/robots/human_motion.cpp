#include "retrace/robots/human_motion.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "limbs.h"
#include "retrace/character/corners.h"
#include "retrace/character/index.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/skeleton.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/retargeting/reference.h"

namespace retrace::robots {
namespace {

using character::Character;
using character::Index;
using character::Joint;
using character::Pose;
using character::State;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Weights of what is fitted, per meter and per radian.
constexpr double kAnkles = 20, kHips = 5, kKnees = 2, kElbows = 3, kHands = 5;
constexpr double kPelvis = 1.5, kTrunk = 1.5, kFeet = 1.5;
constexpr double kOnFloor = 20;       // what bears weight, or would be under the floor
constexpr double kLeansBelow = 0.1;   // below which what a person leans on begins to have a height of its own [m]
constexpr double kLikeBefore = 0.15;  // hinges, to the frame before
constexpr double kLikeAtRest = 0.03;  // hinges, to the pose at rest
constexpr double kStepDamping = 1e-3;
constexpr double kMoreDamping = 8;  // a factor
constexpr int kMostSteps = 12;
constexpr double kSettled = 1e-4;      // the largest change [rad], [m]
constexpr double kLeastOfFoot = 0.01;  // that tells where a robot looks [m]
constexpr double kStraight = 0.98;     // cosine of what is no turn
/// Legs are never quite stretched: a robot's knees have to bend.
constexpr double kShareOfLegs = 0.97;

/// A leg or an arm of the robot, by points that are fixed to its bodies.
struct RobotLimb {
  bool leg = false;
  bool left = false;
  Vec3 base = Vec3::Zero();  // at rest: the middle of the joints before the bend (hip, shoulder)
  int above = -1;            // body that `base` is fixed to
  int middle_body = -1;      // which the knee or elbow moves
  Vec3 middle = Vec3::Zero();
  int end_body = -1;  // the foot or hand
  Vec3 end = Vec3::Zero();
  double upper = 0, lower = 0;  // lengths [m]
  std::vector<int> wrist;       // joints beyond an elbow
};

/// A person's limb in the character of a human.
struct HumanLimb {
  int base = -1, middle = -1, end = -1;  // joints
  int middle_body = -1, end_body = -1;
};

std::vector<BodyAtRest> AtRest(const Character& character) {
  // In the order of the joints, in which parents come first: FindLimbs needs it.
  std::vector<BodyAtRest> bodies;
  for (size_t k = 0; k <= character.joints.size(); ++k) {
    const int b = k == 0 ? character.root : character.joints[k - 1].child;
    const character::Body& body = character.bodies[Index(b)];
    BodyAtRest& rest = bodies.emplace_back();
    rest.mass = body.mass;
    if (k > 0) {
      const Joint& joint = character.joints[k - 1];
      rest.joint = joint.anchor;
      const int mover = character.JointOf(joint.parent);
      rest.parent = mover + 1;
    }
    rest.lowest = std::numeric_limits<double>::infinity();
    rest.highest = -rest.lowest;
    for (const character::Shape& shape : body.shapes) {
      for (const Vec3& corner : character::CornersOf(shape)) {
        rest.lowest = std::min(rest.lowest, body.rest_position.y() + corner.y());
        rest.highest = std::max(rest.highest, body.rest_position.y() + corner.y());
      }
    }
  }
  return bodies;
}

/// Where an arm ends: the middle of what the last body has beyond its joint.
Vec3 TipOf(const Character& character, const Joint& joint) {
  return 2 * character.bodies[Index(joint.child)].rest_position - joint.anchor;
}

std::optional<RobotLimb> MakeLimb(const Character& character, const Limb& limb) {
  std::vector<const Joint*> chain;
  std::vector<Vec3> points;
  for (const int body : limb.bodies) {
    chain.push_back(&character.joints[Index(body) - 1]);
    points.push_back(chain.back()->anchor);
  }
  RobotLimb made;
  made.leg = limb.leg;
  made.end = limb.leg ? points.back() : TipOf(character, *chain.back());
  if (!limb.leg) points.push_back(made.end);
  // The bend is where both halves are longest, and where the axis is not along the limb, as that of a forearm's roll.
  size_t bend = 0;
  double best = 0;
  for (size_t k = 1; k + 1 < points.size(); ++k) {
    const Vec3 beyond = points.back() - points[k];
    double shorter = std::min((points[k] - points.front()).norm(), beyond.norm());
    if (chain[k]->type == character::JointType::kHinge) {
      shorter *= chain[k]->direction().cross(beyond.normalized()).norm();
    }
    if (shorter > best) {
      best = shorter;
      bend = k;
    }
  }
  if (bend == 0) return std::nullopt;
  for (size_t k = 0; k < bend; ++k) made.base += points[k] / static_cast<double>(bend);
  made.above = chain.front()->parent;
  made.middle_body = chain[bend]->child;
  made.middle = points[bend];
  made.end_body = chain.back()->child;
  for (size_t k = bend + 1; k < chain.size() && !limb.leg; ++k) {
    if (chain[k]->type == character::JointType::kHinge) made.wrist.push_back(character.JointOf(chain[k]->child));
  }
  made.upper = (made.middle - made.base).norm();
  made.lower = (made.end - made.middle).norm();
  return made;
}

/// Where a robot with two legs looks at rest: across the line between its hips, to where its feet are longer. A file
/// with x ahead is meant where these do not tell.
Vec3 AheadOf(const Character& character, const std::vector<RobotLimb>& limbs) {
  std::vector<const RobotLimb*> legs;
  for (const RobotLimb& limb : limbs) {
    if (limb.leg) legs.push_back(&limb);
  }
  if (legs.size() != 2) return Vec3::UnitZ();
  Vec3 between = legs[0]->base - legs[1]->base;
  between.y() = 0;
  if (between.norm() < kLeastOfFoot) return Vec3::UnitZ();
  Vec3 ahead = between.cross(Vec3(Vec3::UnitY())).normalized();
  double longer = 0;
  for (const RobotLimb* const leg : legs) {
    const character::Body& foot = character.bodies[Index(leg->end_body)];
    for (const character::Shape& shape : foot.shapes) {
      double most = 0, least = 0;
      for (const Vec3& corner : character::CornersOf(shape)) {
        const double along = ahead.dot(Vec3(foot.rest_position + corner - leg->end));
        most = std::max(most, along);
        least = std::min(least, along);
      }
      longer += most + least;
    }
  }
  if (longer < -kLeastOfFoot || (std::abs(longer) <= kLeastOfFoot && ahead.z() < -0.5)) ahead = -ahead;
  return std::abs(ahead.z()) > kStraight && ahead.z() > 0 ? Vec3(Vec3::UnitZ()) : ahead;
}

int JointNamed(const Character& human, const std::string& name) {
  const int joint = human.FindJoint(name);
  if (joint < 0) throw InputError(human.name, "no joint \"" + name + "\"", "the joints of the human");
  return joint;
}

HumanLimb HumanLimbOf(const Character& human, const RobotLimb& limb) {
  const std::string side = limb.left ? "left_" : "right_";
  HumanLimb found;
  found.base = JointNamed(human, side + (limb.leg ? "hip" : "shoulder"));
  found.middle = JointNamed(human, side + (limb.leg ? "knee" : "elbow"));
  found.end = JointNamed(human, side + (limb.leg ? "ankle" : "wrist"));
  found.middle_body = human.joints[Index(found.middle)].child;
  found.end_body = human.joints[Index(found.end)].child;
  return found;
}

Vec3 PlaceOf(const Character& character, int joint, const State& state) {
  return character::JointPosition(character, character.joints[Index(joint)], state);
}

class Fitter {
 public:
  Fitter(const Character& robot, const Character& human) : robot_(robot), human_(human), dynamics_(robot) {
    FindLimbsOfBoth();
    pose_.root_position = robot.bodies[Index(robot.root)].rest_position;
    pose_.joint_rotations.assign(robot.joints.size(), Quat::Identity());
    const int n = dynamics_.size();
    jacobian_.resize(kMostRows, n);
    residual_.resize(kMostRows);
  }

  Pose Fit(const Pose& of_human) {
    character::ForwardKinematics(human_, of_human, human_state_);
    if (first_) Begin();
    const std::vector<double> before = Angles();
    double damping = kStepDamping, cost = Collect(before);
    for (int step = 0; step < (first_ ? 5 * kMostSteps : kMostSteps); ++step) {
      const Pose kept = pose_;
      const double change = Step(damping);
      const double after = Collect(before);
      if (after > cost) {  // what the pose touches is another corner there: a shorter step
        pose_ = kept;
        Collect(before);
        damping *= kMoreDamping;
        continue;
      }
      cost = after;
      damping = std::max(kStepDamping, damping / kMoreDamping);
      if (change < kSettled) break;
    }
    Measure();
    first_ = false;
    return pose_;
  }

  void Report(motion::Clip& clip) const {
    const auto millimeters = [](double sum, size_t count) {
      return io::Fixed(1000 * sum / static_cast<double>(std::max<size_t>(1, count)), 0);
    };
    clip.notes.push_back("a person's motion on the robot " + robot_.name + ": legs times " + io::Fixed(scale_, 3) +
                         "; ankles are " + millimeters(ankle_error_, ankles_) +
                         " mm from where they should be on average" +
                         (hands_ > 0 ? ", hands " + millimeters(hand_error_, hands_) + " mm" : ""));
    std::string bounded;
    for (size_t j = 0; j < at_bound_.size(); ++j) {
      if (3 * at_bound_[j] < frames_) continue;
      bounded += (bounded.empty() ? "" : ", ") + robot_.joints[j].name;
    }
    if (!bounded.empty())
      clip.notes.push_back("at the end of their range for a third of the time or longer: " + bounded);
  }

 private:
  static constexpr Eigen::Index kMostRows = 600;

  void FindLimbsOfBoth() {
    const Limbs limbs = FindLimbs(AtRest(robot_));
    std::vector<RobotLimb> found;
    for (const Limb& limb : limbs.limbs) {
      if (limb.bodies.size() < 2) continue;
      const int last = limb.bodies.back();
      if (!limb.leg && limbs.parts[Index(last)] != character::Part::kHand) continue;
      if (std::optional<RobotLimb> made = MakeLimb(robot_, limb)) found.push_back(*made);
    }
    const Vec3 ahead = AheadOf(robot_, found);
    turned_ = AxisRotation(1, std::atan2(ahead.x(), ahead.z()));
    for (RobotLimb& made : found) {
      made.left = (turned_.conjugate() * robot_.bodies[Index(made.end_body)].rest_position).x() > 0;
      const bool twice = std::any_of(limbs_.begin(), limbs_.end(), [&](const RobotLimb& other) {
        return other.leg == made.leg && other.left == made.left;
      });
      if (!twice) limbs_.push_back(made);
    }
    std::vector<const RobotLimb*> legs;
    for (const RobotLimb& limb : limbs_) {
      if (limb.leg) legs.push_back(&limb);
    }
    if (legs.size() != 2) {
      throw InputError(robot_.name, std::to_string(legs.size()) + " legs", "two legs, for a motion of a person");
    }
    for (const RobotLimb& limb : limbs_) human_limbs_.push_back(HumanLimbOf(human_, limb));
    const HumanLimb human_leg = HumanLimbOf(human_, *legs[0]);
    const auto anchor = [&](int joint) { return human_.joints[Index(joint)].anchor; };
    const double human_length = (anchor(human_leg.middle) - anchor(human_leg.base)).norm() +
                                (anchor(human_leg.end) - anchor(human_leg.middle)).norm();
    scale_ = kShareOfLegs * (legs[0]->upper + legs[0]->lower) / human_length;
    lift_ = legs[0]->end.y() - scale_ * anchor(human_leg.end).y();
    pelvis_ = legs[0]->above;
    hips_ = 0.5 * (legs[0]->base + legs[1]->base);
    human_pelvis_ = human_.FindBody("pelvis");
    human_trunk_ = human_.FindBody("trunk");
    for (const RobotLimb& limb : limbs_) {
      if (!limb.leg) trunk_ = limb.above;
    }
    at_bound_.assign(robot_.joints.size(), 0);
  }

  /// The root begins where the human's is.
  void Begin() {
    pose_.root_orientation = AsHuman(human_pelvis_);
    pose_.root_position =
        HipsOfHuman() + pose_.root_orientation * (robot_.bodies[Index(robot_.root)].rest_position - hips_);
  }

  /// The orientation of a body of the robot that is turned as one of the human.
  Quat AsHuman(int body) const { return human_state_[Index(body)].orientation * turned_.conjugate(); }
  Vec3 Scaled(const Vec3& place) const { return scale_ * place + Vec3(0, lift_, 0); }
  Vec3 HipsOfHuman() const {
    return Scaled(0.5 * (PlaceOf(human_, human_.FindJoint("left_hip"), human_state_) +
                         PlaceOf(human_, human_.FindJoint("right_hip"), human_state_)));
  }

  std::vector<double> Angles() const {
    std::vector<double> angles;
    for (size_t j = 0; j < robot_.joints.size(); ++j) {
      angles.push_back(robot_.joints[j].Along(RotationVector(pose_.joint_rotations[j])));
    }
    return angles;
  }

  /// Where a point of the rest pose is that is fixed to a body.
  Vec3 PointOf(int body, const Vec3& at_rest) const {
    return dynamics_.CenterOf(body) +
           dynamics_.RotationOf(body) * Vec3(at_rest - robot_.bodies[Index(body)].rest_position);
  }

  void AddPoint(int body, const Vec3& at_rest, const Vec3& wanted, double weight) {
    const Vec3 point = PointOf(body, at_rest);
    scratch_.resize(3, dynamics_.size());
    dynamics_.PointJacobian(body, point, scratch_);
    jacobian_.middleRows(rows_, 3) = weight * scratch_;
    residual_.segment(rows_, 3) = weight * (wanted - point);
    rows_ += 3;
  }
  void AddTurn(int body, const Quat& wanted, double weight) {
    scratch_.resize(3, dynamics_.size());
    dynamics_.AngularJacobian(body, scratch_);
    const Quat now(dynamics_.RotationOf(body));
    jacobian_.middleRows(rows_, 3) = weight * scratch_;
    residual_.segment(rows_, 3) = weight * RotationVector((wanted * now.conjugate()).normalized());
    rows_ += 3;
  }

  /// The lowest point of a body of the robot.
  Vec3 LowestOf(int body) const {
    const Mat3 rotation = dynamics_.RotationOf(body);
    const auto up = rotation.row(1);
    Vec3 lowest(0, std::numeric_limits<double>::infinity(), 0);
    const auto take = [&](const Vec3& point) {
      if (point.y() < lowest.y()) lowest = point;
    };
    for (const character::Shape& shape : robot_.bodies[Index(body)].shapes) {
      const Vec3 center = dynamics_.CenterOf(body) + rotation * shape.offset;
      const auto down = [&](int axis) { return up[axis] > 0 ? -1.0 : 1.0; };
      switch (shape.kind) {
        case character::Shape::Kind::kBox:
          take(center + rotation * Vec3(0.5 * shape.size.cwiseProduct(Vec3(down(0), down(1), down(2)))));
          break;
        case character::Shape::Kind::kCapsule:
          take(center + 0.5 * shape.length * down(shape.axis) * Vec3(rotation.col(shape.axis)) -
               Vec3(0, shape.radius, 0));
          break;
        case character::Shape::Kind::kMesh:
          for (const Vec3& vertex : shape.mesh.vertices) take(center + rotation * vertex);
          break;
      }
    }
    return lowest;
  }

  /// Wrists stay out of the last rows: nothing says how a hand is turned, and it would flip from one corner to another.
  void KeepWrists(int rows) {
    for (const RobotLimb& limb : limbs_) {
      for (const int joint : limb.wrist) {
        jacobian_.block(rows_ - rows, dynamics_.coordinates().FirstOf(joint), rows, 1).setZero();
      }
    }
  }

  void AddHeight(int body, const Vec3& point, double wanted, double weight) {
    scratch_.resize(3, dynamics_.size());
    dynamics_.PointJacobian(body, point, scratch_);
    jacobian_.row(rows_) = weight * scratch_.row(1);
    residual_[rows_++] = weight * (wanted - point.y());
    KeepWrists(1);
  }

  /// What the person leans on the robot leans on, too: its lowest point is as high as the person's.
  void AddSupport(int body, int of_human) {
    const double height = character::LowestPoint(human_.bodies[Index(of_human)], human_state_[Index(of_human)]);
    if (!(height < kLeansBelow)) return;
    const Vec3 lowest = LowestOf(body);
    if (!lowest.allFinite()) return;
    AddHeight(body, lowest, scale_ * std::max(0.0, height), kOnFloor * std::min(1.0, 1 - height / kLeansBelow));
  }

  /// Feet apart, whose soles are where the ankles put them.
  void AddSupports() {
    AddSupport(pelvis_, human_pelvis_);
    if (trunk_ >= 0 && trunk_ != pelvis_) AddSupport(trunk_, human_trunk_);
    std::vector<bool> foot(robot_.bodies.size());
    for (size_t l = 0; l < limbs_.size(); ++l) {
      const RobotLimb& limb = limbs_[l];
      if (limb.leg) foot[Index(limb.end_body)] = true;
      AddSupport(limb.leg ? limb.middle_body : limb.end_body,
                 limb.leg ? human_limbs_[l].middle_body : human_limbs_[l].end_body);
    }
    for (size_t b = 0; b < robot_.bodies.size(); ++b) {
      if (foot[b] || robot_.bodies[b].shapes.empty()) continue;
      const Vec3 lowest = LowestOf(static_cast<int>(b));
      if (lowest.y() < 0) AddHeight(static_cast<int>(b), lowest, 0, kOnFloor);
    }
  }

  /// All that is fitted, at the pose as it is. Returns the sum of the squares.
  double Collect(const std::vector<double>& before) {
    dynamics_.SetMotion(pose_, VectorXd::Zero(dynamics_.size()));
    rows_ = 0;
    AddPoint(pelvis_, hips_, HipsOfHuman(), kHips);
    AddTurn(pelvis_, AsHuman(human_pelvis_), kPelvis);
    if (trunk_ >= 0 && trunk_ != pelvis_) AddTurn(trunk_, AsHuman(human_trunk_), kTrunk);
    for (size_t l = 0; l < limbs_.size(); ++l) {
      const RobotLimb& limb = limbs_[l];
      const HumanLimb& human = human_limbs_[l];
      const Vec3 base = PlaceOf(human_, human.base, human_state_), middle = PlaceOf(human_, human.middle, human_state_);
      const Vec3 end =
          limb.leg ? PlaceOf(human_, human.end, human_state_) : human_state_[Index(human.end_body)].position;
      const Vec3 own_base = PointOf(limb.above, limb.base);
      const Vec3 wanted_middle = own_base + limb.upper * (middle - base).normalized();
      AddPoint(limb.middle_body, limb.middle, wanted_middle, limb.leg ? kKnees : kElbows);
      if (limb.leg) {
        AddPoint(limb.end_body, limb.end, Scaled(end), kAnkles);
        AddTurn(limb.end_body, AsHuman(human.end_body), kFeet);
      } else {
        AddPoint(limb.end_body, limb.end, wanted_middle + limb.lower * (end - middle).normalized(), kHands);
        KeepWrists(3);
      }
    }
    AddSupports();
    const std::vector<double> angles = Angles();
    for (size_t j = 0; j < robot_.joints.size(); ++j) {
      if (robot_.joints[j].type != character::JointType::kHinge) continue;
      const int column = dynamics_.coordinates().FirstOf(static_cast<int>(j));
      const auto pull = [&](double weight, double to) {
        jacobian_.row(rows_).setZero();
        jacobian_(rows_, column) = weight;
        residual_[rows_++] = weight * (to - angles[j]);
      };
      if (!first_) pull(kLikeBefore, before[j]);
      const std::optional<std::pair<double, double>>& range = robot_.joints[j].range;
      pull(kLikeAtRest, range ? std::clamp(0.0, range->first, range->second) : 0.0);
    }
    return residual_.head(rows_).squaredNorm();
  }

  /// Takes a step, within the ranges of the joints; returns its largest change.
  double Step(double damping) {
    const int n = dynamics_.size();
    MatrixXd square = jacobian_.topRows(rows_).transpose() * jacobian_.topRows(rows_);
    square.diagonal().array() += damping;
    VectorXd right = jacobian_.topRows(rows_).transpose() * residual_.head(rows_);
    VectorXd change = square.ldlt().solve(right);
    const std::vector<double> angles = Angles();
    // Joints that would leave their ranges move to the ends of these; the others make up for it.
    for (int round = 0; round < 3; ++round) {
      bool fixed = false;
      for (size_t j = 0; j < robot_.joints.size(); ++j) {
        const std::optional<std::pair<double, double>>& range = robot_.joints[j].range;
        if (!range) continue;
        const int column = dynamics_.coordinates().FirstOf(static_cast<int>(j));
        const double to = std::clamp(angles[j] + change[column], range->first, range->second);
        if (std::abs(to - angles[j] - change[column]) < 1e-9) continue;
        const double given = to - angles[j];
        right -= given * square.col(column);
        square.row(column).setZero();
        square.col(column).setZero();
        square(column, column) = 1;
        right[column] = given;
        fixed = true;
      }
      if (!fixed) break;
      change = square.ldlt().solve(right);
    }
    const double largest = change.cwiseAbs().maxCoeff();
    if (largest > kLargestStep) change *= kLargestStep / largest;
    for (size_t j = 0; j < robot_.joints.size(); ++j) {
      const Joint& joint = robot_.joints[j];
      if (!joint.range) continue;
      double& by = change[dynamics_.coordinates().FirstOf(static_cast<int>(j))];
      by = std::clamp(angles[j] + by, joint.range->first, joint.range->second) - angles[j];
    }
    static_cast<void>(n);
    dynamics_.coordinates().Advance(change, pose_);
    return largest;
  }

  void Measure() {
    dynamics_.SetMotion(pose_, VectorXd::Zero(dynamics_.size()));
    for (size_t l = 0; l < limbs_.size(); ++l) {
      const RobotLimb& limb = limbs_[l];
      const HumanLimb& human = human_limbs_[l];
      const Vec3 end = PointOf(limb.end_body, limb.end);
      if (limb.leg) {
        ankle_error_ += (end - Scaled(PlaceOf(human_, human.end, human_state_))).norm();
        ++ankles_;
      } else {
        const Vec3 base = PlaceOf(human_, human.base, human_state_),
                   middle = PlaceOf(human_, human.middle, human_state_);
        const Vec3 hand = human_state_[Index(human.end_body)].position;
        const Vec3 wanted = PointOf(limb.above, limb.base) + limb.upper * (middle - base).normalized() +
                            limb.lower * (hand - middle).normalized();
        hand_error_ += (end - wanted).norm();
        ++hands_;
      }
    }
    const std::vector<double> angles = Angles();
    for (size_t j = 0; j < robot_.joints.size(); ++j) {
      const std::optional<std::pair<double, double>>& range = robot_.joints[j].range;
      if (range && (angles[j] < range->first + 1e-3 || angles[j] > range->second - 1e-3)) ++at_bound_[j];
    }
    ++frames_;
  }

  static constexpr double kLargestStep = 0.5;  // of one step [rad], [m]

  const Character& robot_;
  const Character& human_;
  dynamics::CharacterDynamics dynamics_;
  std::vector<RobotLimb> limbs_;
  std::vector<HumanLimb> human_limbs_;  // (limbs)
  double scale_ = 1, lift_ = 0;
  Quat turned_ = Quat::Identity();  // from where a human looks at rest to where the robot does
  int pelvis_ = -1, trunk_ = -1, human_pelvis_ = -1, human_trunk_ = -1;
  Vec3 hips_ = Vec3::Zero();
  Pose pose_;
  State human_state_;
  bool first_ = true;
  MatrixXd jacobian_, scratch_;
  VectorXd residual_;
  Eigen::Index rows_ = 0;
  double ankle_error_ = 0, hand_error_ = 0;  // sums
  size_t ankles_ = 0, hands_ = 0, frames_ = 0;
  std::vector<size_t> at_bound_;  // (joints) frames
};

}  // namespace

bool IsRobot(const Character& character) {
  return (*character.json).contains("root_frame");
}

bool IsOfOwnSkeleton(const motion::Clip& clip, const Character& character) {
  for (const character::Body& body : character.bodies) {
    if (clip.skeleton.Find(body.name) < 0) return false;
  }
  return true;
}

motion::Clip HumanMotionOf(const Character& robot, const Character& human, const motion::Clip& clip,
                           const std::string& name) {
  character::ReferenceReport report;
  const character::ReferenceMotion reference = character::MakeReference(human, clip, name, {}, report);
  Fitter fitter(robot, human);
  std::vector<Pose> poses;
  for (const Pose& pose : reference.poses()) poses.push_back(fitter.Fit(pose));
  motion::Clip made = character::ClipOf(robot, poses, reference.frame_time());
  made.notes = clip.notes;
  made.doubts = clip.doubts;
  fitter.Report(made);
  return made;
}

}  // namespace retrace::robots
