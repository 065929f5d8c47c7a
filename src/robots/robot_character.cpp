#include "retrace/robots/robot_character.h"

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "body_shapes.h"
#include "limbs.h"
#include "our_axes.h"
#include "retrace/character/builder.h"
#include "retrace/character/corners.h"
#include "retrace/character/limits.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "servo_gains.h"

namespace retrace::robots {
namespace {

using character::Body;
using character::Joint;
using character::JointType;

constexpr double kNextToNothing = 1e-9;  // mass of a body between two joints, in proportion to the whole
constexpr double kItsRadius = 0.01;      // of gyration [m]
constexpr int kNearInTree = 3;           // joints between bodies that are too near to touch each other

/// A link, or what is between two of its joints.
struct BodyPart {
  std::string name;
  int parent = -1;
  const RobotLink* link = nullptr;
  const RobotJoint* joint = nullptr;  // of the root: none
  LinkFrame at_rest;                  // of the link in the world of the file
  bool whole = false;                 // it has the mass and the shapes of the link
};

std::string Count(size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

class CharacterMaker {
 public:
  CharacterMaker(Robot robot, std::string name) : robot_(std::move(robot)), name_(std::move(name)) {}

  RobotCharacter Make() {
    MergeFixedLinks(robot_);
    notes_ = std::move(robot_.notes);
    for (const RobotLink& link : robot_.links) total_mass_ += link.mass.mass;
    if (!(total_mass_ > 0)) throw InputError(name_, "a robot without mass", "masses above 0");
    AddParts();
    AddBodies();
    PutOnFloor();
    FindUses();
    return Build();
  }

 private:
  void AddParts() {
    std::vector<int> part_of_link;
    for (const RobotLink& link : robot_.links) {
      LinkFrame at_rest = link.placement;
      int parent = -1;
      if (link.parent >= 0) {
        parent = part_of_link[static_cast<size_t>(link.parent)];
        at_rest = parts_[static_cast<size_t>(parent)].at_rest * link.placement;
      }
      const size_t joints = link.joints.size();
      for (size_t j = 0; j + 1 < joints; ++j) {
        parts_.push_back({link.name + " after " + link.joints[j].name, parent, &link, &link.joints[j], at_rest, false});
        parent = static_cast<int>(parts_.size()) - 1;
      }
      parts_.push_back({link.name, parent, &link, joints == 0 ? nullptr : &link.joints.back(), at_rest, true});
      part_of_link.push_back(static_cast<int>(parts_.size()) - 1);
    }
    if (parts_.size() > character::kMostBodies) {
      throw InputError(name_, std::to_string(parts_.size()) + " bodies that joints move",
                       "at most " + std::to_string(character::kMostBodies));
    }
  }

  Vec3 InWorld(const BodyPart& part, const Vec3& of_link) const { return ToOurAxes() * (part.at_rest * of_link); }
  Mat3 AxesOf(const BodyPart& part) const { return ToOurAxes() * part.at_rest.rotation.toRotationMatrix(); }

  void AddBodies() {
    std::vector<std::string> weightless, corrected;
    ShapeCounts counts;
    for (const BodyPart& part : parts_) {
      Body body;
      body.name = part.name;
      const RobotMass& mass = part.link->mass;
      const Mat3 axes = AxesOf(part);
      const bool has_mass = part.whole && mass.mass > kNextToNothing * total_mass_;
      Mat3 inertia = Mat3::Zero();
      if (has_mass) {
        body.mass = mass.mass;
        body.rest_position = InWorld(part, mass.center);
        inertia = axes * mass.inertia * axes.transpose();
      } else {
        if (part.whole) weightless.push_back(part.name);
        body.mass = std::max(kNextToNothing * total_mass_, character::kMasses.min);
        body.rest_position = InWorld(part, part.joint != nullptr ? part.joint->anchor : Vec3(Vec3::Zero()));
        inertia = body.mass * kItsRadius * kItsRadius * Mat3::Identity();
      }
      if (SetInertia(inertia, body)) corrected.push_back(part.name);
      bodies_.push_back(std::move(body));
    }
    MakeShapes(false, counts);
    // A mesh that stands on the floor is a box, which has a sole.
    std::vector<bool> flat = FeetByShapes();
    MakeShapesOf(flat, counts);
    SayShapes(counts);
    Say(weightless, "has no mass and weighs next to nothing", "have no mass and weigh next to nothing");
    Say(corrected, "has moments of inertia that no body has; they were changed",
        "have moments of inertia that no body has; they were changed");
  }

  void Say(const std::vector<std::string>& names, const std::string& one, const std::string& several) {
    if (names.empty()) return;
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    notes_.push_back(list + " " + (names.size() == 1 ? one : several) + ".");
  }

  /// Returns whether the tensor had to be changed to be one of a body.
  static bool SetInertia(const Mat3& tensor, Body& body) {
    const Eigen::SelfAdjointEigenSolver<Mat3> solver(Mat3(0.5 * (tensor + tensor.transpose())));
    Vec3 moments = solver.eigenvalues();  // ascending
    const double least = std::max(1e-9 * body.mass * kItsRadius * kItsRadius, 10 * character::kMoments.min);
    bool changed = false;
    if (!(moments.minCoeff() >= least)) {
      changed = true;
      moments = moments.cwiseMax(std::max(least, 1e-3 * moments.maxCoeff()));
    }
    if (moments[2] > moments[0] + moments[1]) {
      // Digits that were rounded away count for little; anything else becomes the mean, as MuJoCo's balanceinertia.
      changed = changed || moments[2] > 1.001 * (moments[0] + moments[1]);
      moments = changed ? Vec3(Vec3::Constant(moments.mean())) : Vec3(moments[0], moments[1], moments[0] + moments[1]);
    }
    body.principal_axes = solver.eigenvectors();
    if (body.principal_axes.determinant() < 0) body.principal_axes.col(0) *= -1;
    body.inertia = moments;
    body.turned = true;
    return changed;
  }

  /// Shapes that collide; where a link has none of these, those that are shown.
  std::vector<const RobotShape*> ShapesOf(const BodyPart& part) const {
    std::vector<const RobotShape*> shapes, shown;
    if (!part.whole) return shapes;
    for (const RobotShape& shape : part.link->shapes) (shape.collides ? shapes : shown).push_back(&shape);
    return shapes.empty() ? shown : shapes;
  }

  void MakeShape(size_t b, bool flat, ShapeCounts& counts) {
    Body& body = bodies_[b];
    const BodyPart& part = parts_[b];
    body.shapes.clear();
    for (const RobotShape* shape : ShapesOf(part)) {
      if (body.shapes.size() == character::kMostShapes) break;
      const LinkFrame in_link = shape->placement;
      const LinkFrame in_body{InWorld(part, in_link.position) - body.rest_position,
                              Quat(Mat3(AxesOf(part) * in_link.rotation.toRotationMatrix()))};
      body.shapes.push_back(ShapeOfBody(*shape, in_body, flat, counts));
    }
  }
  void MakeShapes(bool flat, ShapeCounts& counts) {
    for (size_t b = 0; b < bodies_.size(); ++b) MakeShape(b, flat, counts);
  }
  void MakeShapesOf(const std::vector<bool>& flat, ShapeCounts& counts) {
    counts = {};
    for (size_t b = 0; b < bodies_.size(); ++b) MakeShape(b, flat[b], counts);
  }

  void SayShapes(const ShapeCounts& counts) {
    std::string missing;
    for (size_t b = 0; b < bodies_.size(); ++b) {
      if (parts_[b].whole && bodies_[b].shapes.empty() && bodies_[b].mass > 1e-3 * total_mass_) {
        // The box of even density with its moments of inertia.
        const Vec3& i = bodies_[b].inertia;
        const Vec3 squares = 6 / bodies_[b].mass * (Vec3::Constant(i.sum()) - 2 * i);
        character::Shape shape;
        shape.size = (bodies_[b].principal_axes.cwiseAbs() * squares.cwiseMax(1e-6).cwiseSqrt()).cwiseMax(2e-3);
        bodies_[b].shapes.push_back(shape);
        missing += (missing.empty() ? "" : ", ") + bodies_[b].name;
      }
    }
    if (const size_t meshes = counts.fitted_boxes + counts.fitted_capsules; meshes > 0) {
      notes_.push_back(std::to_string(meshes) + (meshes == 1 ? " mesh" : " meshes") + " became " +
                       std::to_string(counts.fitted_boxes) + (counts.fitted_boxes == 1 ? " box" : " boxes") + " and " +
                       Count(counts.fitted_capsules, "capsule") + ".");
    }
    if (counts.prisms > 0) {
      notes_.push_back(Count(counts.prisms, "cylinder or oblique shape") + " became convex meshes.");
    }
    if (!missing.empty()) {
      notes_.push_back("Without a shape in the file, the box of their inertia stands for: " + missing + ".");
    }
  }

  std::vector<BodyAtRest> AtRest() const {
    std::vector<BodyAtRest> bodies;
    for (size_t b = 0; b < bodies_.size(); ++b) {
      BodyAtRest& body = bodies.emplace_back();
      body.parent = parts_[b].parent;
      body.mass = bodies_[b].mass;
      if (parts_[b].joint != nullptr) body.joint = InWorld(parts_[b], parts_[b].joint->anchor);
      const Eigen::AlignedBox3d box = BoundsOf(b);
      body.lowest = box.isEmpty() ? std::numeric_limits<double>::infinity() : box.min().y();
      body.highest = box.isEmpty() ? -std::numeric_limits<double>::infinity() : box.max().y();
    }
    return bodies;
  }

  /// The box about the shapes of a body at rest, in the world.
  Eigen::AlignedBox3d BoundsOf(size_t b) const {
    Eigen::AlignedBox3d box;
    for (const character::Shape& shape : bodies_[b].shapes) {
      for (const Vec3& corner : character::CornersOf(shape)) box.extend(Vec3(bodies_[b].rest_position + corner));
    }
    return box;
  }

  std::vector<bool> FeetByShapes() const {
    const Limbs limbs = FindLimbs(AtRest());
    std::vector<bool> feet;
    for (const character::Part part : limbs.parts) feet.push_back(part == character::Part::kFoot);
    return feet;
  }

  void PutOnFloor() {
    Eigen::AlignedBox3d all;
    for (size_t b = 0; b < bodies_.size(); ++b) all.extend(BoundsOf(b));
    if (all.isEmpty()) throw InputError(name_, "a robot without shapes and inertia", "shapes that collide");
    height_ = std::clamp(all.sizes().y(), 0.011, 999.0);
    up_ = -all.min().y();
    for (Body& body : bodies_) body.rest_position.y() += up_;
  }

  void FindUses() {
    limbs_ = FindLimbs(AtRest());
    uses_.assign(parts_.size(), {});
    for (const Limb& limb : limbs_.limbs) {
      for (size_t k = 0; k < limb.bodies.size(); ++k) {
        JointUse& use = uses_[static_cast<size_t>(limb.bodies[k])];
        use.leg = limb.leg;
        use.first_half = 2 * k < limb.bodies.size();
      }
      const int end = limb.bodies.back();
      const character::Part part = limbs_.parts[static_cast<size_t>(end)];
      if (part == character::Part::kFoot || part == character::Part::kHand) ends_.push_back(end);
    }
    for (size_t b = 0; b < parts_.size(); ++b) {
      bodies_[b].part = limbs_.parts[b];
      uses_[b].trunk = limbs_.trunk[b] && !uses_[b].leg;
    }
    if (std::none_of(limbs_.limbs.begin(), limbs_.limbs.end(), [](const Limb& limb) { return limb.leg; })) {
      notes_.push_back(
          "No limb reaches the floor in the pose of the file, so that no body is a foot; write them into "
          "\"part\" of the character file.");
    }
  }

  /// A torque that all motors have in common is a placeholder.
  bool EffortsAreKnown() const {
    std::set<double> efforts;
    size_t known = 0;
    for (const BodyPart& part : parts_) {
      if (part.joint == nullptr || !(part.joint->effort > 0)) continue;
      efforts.insert(part.joint->effort);
      ++known;
    }
    return known > 0 && (efforts.size() > 1 || known < 4);
  }

  Joint MakeJoint(size_t b, double load_ratio, bool efforts_known) {
    const BodyPart& part = parts_[b];
    const RobotJoint& from = *part.joint;
    Joint joint;
    joint.name = from.name;
    joint.parent = part.parent;
    joint.child = static_cast<int>(b);
    joint.anchor = InWorld(part, from.anchor);
    joint.anchor.y() += up_;
    JointUse use = uses_[b];
    if (from.kind == RobotJoint::Kind::kHinge) {
      joint.type = JointType::kHinge;
      Vec3 axis = AxesOf(part) * from.axis;
      for (double& number : axis) {
        if (std::abs(number) < 1e-12) number = 0;
      }
      axis.normalize();
      axis.cwiseAbs().maxCoeff(&joint.axis);
      if ((axis - Vec3(Vec3::Unit(joint.axis))).norm() > 1e-12) joint.oblique = axis;
      use.upright = std::abs(axis.y()) > 0.7;
      if (from.range) joint.range = {from.range->first - from.zero, from.range->second - from.zero};
      if (from.zero != 0) {
        notes_.push_back("The joint " + from.name + " counts its angle from " + io::Number(from.zero) +
                         " rad in the file, and from 0 here.");
      }
      if (efforts_known) joint.effort[joint.axis] = from.effort;
      joint.speed = from.speed;
      joint.armature = from.armature;
    }
    const ServoGains gains = GainsOf(from, use, efforts_known ? from.effort : 0, load_ratio);
    joint.kp = std::clamp(gains.kp, character::kServoGains.min, character::kServoGains.max);
    joint.kd = std::clamp(gains.kd, character::kServoGains.min, character::kServoGains.max);
    joint.window = Vec3::Constant(gains.window);
    if (use.leg && bodies_[b].part != character::Part::kBody && !use.first_half) joint.contact_scale_max = 3;
    return joint;
  }

  void ExcludeNeighbors(character::CharacterBuilder& builder) {
    const size_t n = bodies_.size();
    std::vector<Eigen::AlignedBox3d> bounds;
    for (size_t b = 0; b < n; ++b) bounds.push_back(BoundsOf(b));
    const auto distance = [&](int a, int b) {
      int steps = 0;
      while (a != b && steps <= kNearInTree) {
        int& later = a > b ? a : b;
        later = parts_[static_cast<size_t>(later)].parent;
        ++steps;
      }
      return a == b ? steps : kNearInTree + 1;
    };
    size_t overlapping = 0;
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = a + 1; b < n; ++b) {
        if (bounds[a].isEmpty() || bounds[b].isEmpty()) continue;
        const int steps = distance(static_cast<int>(a), static_cast<int>(b));
        if (steps <= 1) continue;
        const bool overlap = bounds[a].intersects(bounds[b]);
        if (!overlap && steps > kNearInTree) continue;
        overlapping += overlap && steps > kNearInTree ? 1 : 0;
        builder.ExcludePair(bodies_[a].name, bodies_[b].name);
      }
    }
    if (overlapping > 0) {
      notes_.push_back(Count(overlapping, "pair") +
                       " of bodies overlap in the pose of the file, and pass through each other.");
    }
  }

  RobotCharacter Build() {
    character::CharacterBuilder builder(robot_.name, height_);
    builder.SetSource("made of " + name_);
    if (robot_.planar) builder.SetPlanar();
    const LinkFrame& root = parts_.front().at_rest;
    builder.SetRootFrame(ToOurAxes() * root.position + Vec3(0, up_, 0), root.rotation);
    const double load_ratio = LoadRatio(total_mass_, height_);
    const bool efforts_known = EffortsAreKnown();
    for (const Body& body : bodies_) builder.AddBody(body);
    size_t with_gains = 0, joints = 0;
    for (size_t b = 0; b < parts_.size(); ++b) {
      if (parts_[b].joint == nullptr) continue;
      const Joint joint = MakeJoint(b, load_ratio, efforts_known);
      builder.AddJoint(joint);
      ++joints;
      with_gains += parts_[b].joint->kp > 0 ? 1 : 0;
      for (const char* const preset : {"flight", "hands_and_flight"}) {
        if (joint.contact_scale_max > 1) builder.SetContactScale(preset, joint.name, joint.contact_scale_max);
      }
    }
    for (const char* const preset : {"none", "flight", "hands", "hands_and_flight"}) builder.AddContactPreset(preset);
    if (with_gains < joints) {
      notes_.push_back(Count(joints - with_gains, "servo") + " without gains in the file " +
                       (joints - with_gains == 1 ? "has" : "have") +
                       (efforts_known ? " those at which the largest torque is reached at 0.35 rad."
                                      : " those of the human in proportion to weight and height."));
    }
    for (const int end : ends_) builder.AddEndEffector(bodies_[static_cast<size_t>(end)].name);
    ExcludeNeighbors(builder);
    return {builder.Build(name_), std::move(notes_)};
  }

  Robot robot_;
  std::string name_;
  std::vector<std::string> notes_;
  std::vector<BodyPart> parts_;  // (bodies) parents first
  std::vector<Body> bodies_;
  Limbs limbs_;
  std::vector<JointUse> uses_;  // (bodies) of the joint that moves it
  std::vector<int> ends_;
  double total_mass_ = 0, height_ = 0, up_ = 0;
};

}  // namespace

RobotCharacter MakeRobotCharacter(Robot robot, const std::string& name) {
  return CharacterMaker(std::move(robot), name).Make();
}

}  // namespace retrace::robots
