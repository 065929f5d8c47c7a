#include "retarget.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lead_in.h"
#include "recording_doubts.h"
#include "reference_trace.h"
#include "retarget_by_names.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/retargeting/skeleton_mapping.h"

namespace retrace::character {
namespace {

using motion::GlobalPose;

constexpr double kTypicalBody = 1.7;    // [m]
constexpr double kStanceSpeed = 0.15;   // a foot slower than this is planted [m/s]
constexpr double kStanceHeight = 0.04;  // and no higher than this over its lowest [m]
constexpr double kStanceHips = 0.6;     // and the hip at least this share of the leg's length above it: not lying
constexpr double kUpright = 0.95;       // cosine between the vertical and the trunk or the legs of a standing body
constexpr double kElbowShown = 0.1;     // mean sine of the bend from which the elbow's axis is known
constexpr double kLegOfHeight = 0.54;   // thigh and shin as a share of a skeleton's height
// The same as a share of a body's height, crown to sole: those of the human of Liu et al. 2010. Skeletons end somewhere
// in the head, so that their legs show a recorded body's height better than their tops do.
constexpr double kLegOfBody = 0.825 / 1.7;
constexpr double kOnToes = 0.2;      // a foot that points so much more downwards than at rest stands on its toes [sine]
constexpr double kHangs = 0.1;       // an ankle so much higher than the other: the foot is not on the floor [m]
constexpr size_t kLeastPlanted = 3;  // frames that level a foot
const double kLargestLeveling = Radians(20);  // between a foot at rest and on the floor, in any source seen
// Weight of the source's own hinge axis against the plane of the bent limb. Recorded elbows are often balls.
constexpr double kKneeBlend = 0.25;
constexpr double kElbowBlend = 0.1;

const char* const kSides[] = {"left", "right"};

std::string Sided(const char* side, const char* segment) {
  return std::string(side) + "_" + segment;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The recording as the mapping uses it: world positions and orientations of the mapped joints, in meters.
class Source {
 public:
  /// `up_axis` as in ReferenceOptions.
  Source(const motion::Clip& clip, const SkeletonMap& map, const std::string& up_axis)
      : clip_(clip), map_(map), poses_(clip.frames.size()) {
    for (size_t f = 0; f < poses_.size(); ++f) motion::ForwardKinematics(clip.skeleton, clip.frames[f], poses_[f]);
    motion::Frame rest;
    for (const motion::Joint& joint : clip.skeleton.joints) {
      rest.translations.push_back(joint.offset);
      rest.rotations.push_back(Quat::Identity());
    }
    motion::ForwardKinematics(clip.skeleton, rest, rest_);
    if (up_axis != "auto") {
      up_axis_ = up_axis;
    } else if (RestStandsAlong(Vec3::UnitZ()) || StandsThroughout(Vec3::UnitZ())) {
      up_axis_ = "z";
    }
    TurnUp();
  }

  size_t num_frames() const { return poses_.size(); }
  double frame_time() const { return clip_.frame_time; }
  void set_scale(double scale) { scale_ = scale; }
  double scale() const { return scale_; }
  bool Has(const std::string& segment) const { return map_.Has(segment); }

  Vec3 Position(const std::string& segment, size_t frame) const {
    return scale_ * poses_[frame].positions[Joint(segment).position_index()];
  }
  Quat Orientation(const std::string& segment, size_t frame) const {
    return poses_[frame].orientations[Joint(segment).orientation_index()];
  }
  Vec3 RestPosition(const std::string& segment) const { return rest_.positions[Joint(segment).position_index()]; }
  const std::string& up_axis() const { return up_axis_; }

  /// Whether the rest pose stands: head over hips, knees and feet under them, shoulders along the hips. Fewer
  /// conditions would now and then be met by a heap of bones.
  bool RestStandsAlong(const Vec3& up) const {
    const auto along = [](const Vec3& v, const Vec3& axis) { return v.norm() > 0 && v.normalized().dot(axis) > 0.85; };
    const Vec3 left_hip = RestPosition("left_thigh");
    const Vec3 right_hip = RestPosition("right_thigh");
    bool stands =
        along(RestPosition("head") - 0.5 * (left_hip + right_hip), up) &&
        along(RestPosition("left_upper_arm") - RestPosition("right_upper_arm"), (left_hip - right_hip).normalized());
    for (const char* side : kSides) {
      const Vec3 knee = RestPosition(Sided(side, "shin"));
      stands = stands && along(RestPosition(Sided(side, "thigh")) - knee, up) &&
               along(knee - RestPosition(Sided(side, "foot")), up);
    }
    return stands;
  }

  /// Whether the body stands straight along an axis nearly all the time, though at rest it may not: a root that turns a
  /// whole skeleton from one convention to another.
  bool StandsThroughout(const Vec3& up) const {
    size_t standing = 0;
    for (size_t f = 0; f < poses_.size(); ++f) standing += Stands(f, up);
    return 5 * standing > 4 * poses_.size();
  }
  bool Stands(size_t frame, const Vec3& up) const {
    const auto along = [&](const std::string& low, const std::string& high) {
      return (Position(high, frame) - Position(low, frame)).normalized().dot(up) > 0.9;
    };
    bool stands = along("pelvis", "head");
    for (const char* side : kSides) {
      stands =
          stands && along(Sided(side, "shin"), Sided(side, "thigh")) && along(Sided(side, "foot"), Sided(side, "shin"));
    }
    return stands;
  }

  /// Vertical distance from the lowest joint of the feet to the highest of the head, ends included [file units].
  double HeadOverFeet(size_t frame) const {
    double top = -std::numeric_limits<double>::infinity();
    double bottom = std::numeric_limits<double>::infinity();
    const size_t head = Joint("head").position_index();
    const size_t left = Joint("left_foot").position_index();
    const size_t right = Joint("right_foot").position_index();
    for (size_t j = 0; j < clip_.skeleton.joints.size(); ++j) {
      const double y = poses_[frame].positions[j].y();
      if (IsBelow(j, head)) top = std::max(top, y);
      if (IsBelow(j, left) || IsBelow(j, right)) bottom = std::min(bottom, y);
    }
    return top - bottom;
  }

  /// Tip of a chain: the farthest joint or end site below a segment's joint, at its own distance from it; used for
  /// hands and toes, whose ends carry many names. Null when nothing lies below.
  Vec3 TipDirection(const std::string& segment) const {
    const size_t from = Joint(segment).position_index();
    Vec3 tip = Vec3::Zero();
    for (size_t j = from + 1; j < clip_.skeleton.joints.size(); ++j) {
      if (clip_.skeleton.joints[j].parent == static_cast<int>(from) || IsBelow(j, from)) {
        const Vec3 offset = rest_.positions[j] - rest_.positions[from];
        if (offset.norm() > tip.norm()) tip = offset;
      }
    }
    return tip;
  }

 private:
  struct Indices {
    const SegmentSource& source;
    size_t position_index() const { return static_cast<size_t>(source.position); }
    size_t orientation_index() const { return static_cast<size_t>(source.orientation); }
  };
  Indices Joint(const std::string& segment) const { return {map_.segments.at(segment)}; }
  /// Turns a file whose y axis does not point up.
  void TurnUp() {
    if (up_axis_ == "y") return;
    const Quat turn = TurnToY(up_axis_);
    const auto apply = [&](GlobalPose& pose) {
      for (Vec3& position : pose.positions) position = turn * position;
      for (Quat& orientation : pose.orientations) orientation = turn * orientation * turn.conjugate();
    };
    for (GlobalPose& pose : poses_) apply(pose);
    apply(rest_);
  }

  bool IsBelow(size_t joint, size_t ancestor) const {
    for (int j = static_cast<int>(joint); j >= 0; j = clip_.skeleton.joints[static_cast<size_t>(j)].parent) {
      if (j == static_cast<int>(ancestor)) return true;
    }
    return false;
  }

  const motion::Clip& clip_;
  const SkeletonMap& map_;
  std::vector<GlobalPose> poses_;
  GlobalPose rest_;
  double scale_ = 1;
  std::string up_axis_ = "y";
};

/// Height of the recorded skeleton from its feet to the tip of its head while it stands, or by its legs where it never
/// does [file units].
double StandingHeight(const Source& source, double by_legs) {
  std::vector<double> standing;
  std::vector<double> all;
  for (size_t f = 0; f < source.num_frames(); ++f) {
    all.push_back(source.HeadOverFeet(f));
    if (source.Stands(f, Vec3::UnitY())) standing.push_back(all.back());
  }
  std::sort(all.begin(), all.end());
  // A body that never stands shows at most its height, and one that sits shows less.
  constexpr double kUprightAtTimes = 0.9;
  double height =
      standing.empty() ? all[static_cast<size_t>(0.95 * static_cast<double>(all.size() - 1))] : Median(standing);
  if (standing.empty() && height < kUprightAtTimes * by_legs) height = by_legs;
  // Joints that stick out of the head, or a body that is never upright.
  return std::abs(height / by_legs - 1) < 0.15 ? height : by_legs;
}

/// The usual unit that makes the person's height most like a human's [m].
double UnitFromSize(double height_in_units) {
  // Decimeters are those of avatars for games; the fifth is that of CMU's database.
  constexpr double kUsual[] = {1, 0.01, 0.001, 0.0254, 0.0254 / 0.45, 0.3048, 0.1};
  constexpr double kTypicalHeight = 1.6;  // of a skeleton, which ends below the crown [m]
  double best = kUsual[0];
  for (const double unit : kUsual) {
    if (std::abs(std::log(unit * height_in_units / kTypicalHeight)) <
        std::abs(std::log(best * height_in_units / kTypicalHeight))) {
      best = unit;
    }
  }
  return best;
}

/// Mean length of both legs, from hip to knee to ankle. `position` gives where the joint of a segment is.
template <typename Position>
double LegLength(const Position& position) {
  double length = 0;
  for (const char* side : kSides) {
    const Vec3 knee = position(Sided(side, "shin"));
    length += 0.5 * ((position(Sided(side, "thigh")) - knee).norm() + (knee - position(Sided(side, "foot"))).norm());
  }
  return length;
}

double LegLength(const Source& source, size_t frame) {
  return LegLength([&](const std::string& segment) { return source.Position(segment, frame); });
}

Vec3 AnchorOf(const Character& character, const std::string& segment) {
  const Joint* joint = JointOfSegment(character, segment);
  if (joint == nullptr) {
    throw InputError("character \"" + character.name + "\"", "no joint that moves a segment \"" + segment + "\"",
                     "thighs, shins and feet on both sides to fit a recorded human to");
  }
  return joint->anchor;
}

/// Turn from the axes of a segment whose bone points down at rest to those of a character's body whose bone, from one
/// joint to the next, may point elsewhere at rest: bent knees.
Quat TurnFromStraight(const Character& character, const std::string& segment, const std::string& next) {
  const Vec3 bone = (AnchorOf(character, next) - AnchorOf(character, segment)).normalized();
  constexpr double kStraight = 1e-9;
  if ((bone + Vec3::UnitY()).norm() < kStraight) return Quat::Identity();
  return ShortestArc(bone, -Vec3::UnitY());
}

/// Where the bone of the body that a joint moves points, in that body's axes: to the mean of the joints that hang on
/// it, or to its center of mass.
Vec3 BoneOf(const Character& character, const Joint& joint) {
  Vec3 end = Vec3::Zero();
  double count = 0;
  for (const Joint& next : character.joints) {
    if (next.parent != joint.child) continue;
    end += next.anchor;
    count += 1;
  }
  if (count > 0) return end / count - joint.anchor;
  return character.bodies[static_cast<size_t>(joint.child)].rest_position - joint.anchor;
}

/// The turn about x that brings a bone nearest to where a rotation takes it. Of a bone that points sideways then, the
/// twist of the rotation.
Quat TurnInPlane(const Quat& rotation, const Vec3& bone) {
  constexpr double kSideways = 0.2;
  const Vec3 turned = rotation * bone;
  if (std::hypot(turned.y(), turned.z()) < kSideways * bone.norm()) return Twist(rotation, Vec3::UnitX());
  return AxisRotation(0, std::atan2(turned.z(), turned.y()) - std::atan2(bone.z(), bone.y()));
}

/// Whether a character's elbow is a hinge about the vertical of the T-pose.
bool HasHingedElbow(const Character& character, const char* side) {
  const Joint* elbow = JointOfSegment(character, Sided(side, "lower_arm"));
  return elbow != nullptr && elbow->type == JointType::kHinge && elbow->axis == 1;
}

/// Finds the constant rotation between each recorded joint's own axes and the character's axes of the same segment.
class Calibration {
 public:
  Calibration(const Source& source, ReferenceReport& report) : source_(source) {
    FindRestFrame();
    FindStandingFrames();
    report.rest_pose_used = rest_usable_;
    report.notes.push_back(rest_usable_
                               ? "axes of the segments taken from the source's rest pose"
                               : "the source's rest pose is not a standing pose: axes of the segments taken from "
                                 "its geometry and motion");
    CalibrateTrunk();
    CalibrateArms();
    for (const char* side : kSides) {
      CalibrateKnee(side);
      CalibrateFoot(side, report);
    }
  }

  /// World orientation of a segment in a frame.
  Quat Segment(const std::string& segment, size_t frame) const {
    return source_.Orientation(segment, frame) * local_.at(segment);
  }
  bool Has(const std::string& segment) const { return local_.contains(segment); }

  /// Thigh and shin from the directions of the bones: the knee bends about its hinge alone.
  void Leg(const char* side, size_t frame, Quat& thigh, Quat& shin) const {
    const Vec3 hip = source_.Position(Sided(side, "thigh"), frame);
    const Vec3 knee = source_.Position(Sided(side, "shin"), frame);
    const Vec3 ankle = source_.Position(Sided(side, "foot"), frame);
    const Vec3 down_thigh = (knee - hip).normalized();
    const Vec3 down_shin = (ankle - knee).normalized();
    const Vec3 own_axis = source_.Orientation(Sided(side, "thigh"), frame) * hinge_.at(side);
    // A bent knee shows its plane, a straight one does not: the cross product fades out by itself as the knee extends.
    const Vec3 blend = kKneeBlend * own_axis + down_thigh.cross(down_shin);
    const Vec3 x = (blend - blend.dot(down_thigh) * down_thigh).normalized();
    const Vec3 y = -down_thigh;
    const Vec3 z = x.cross(y);
    thigh = FromAxes(x, y, z);
    shin = thigh * AxisRotation(0, std::atan2(-down_shin.dot(z), down_shin.dot(down_thigh)));
  }

  /// Upper and lower arm for an elbow that is a hinge about the vertical of the T-pose, in which forearms bend
  /// forwards: both bones keep their directions, and the upper arm turns about its own so that the hinge lies square to
  /// both.
  void HingedArm(const char* side, size_t frame, Quat& upper, Quat& lower) const {
    const double outward = side == kSides[0] ? 1 : -1;
    const Quat recorded = Segment(Sided(side, "upper_arm"), frame);
    const Vec3 x = recorded * Vec3::UnitX();
    const Vec3 along_lower = Segment(Sided(side, "lower_arm"), frame) * Vec3::UnitX();
    // As for the knee; along the arms, x times outward.
    const Vec3 blend = kElbowBlend * (recorded * Vec3::UnitY()) - outward * x.cross(along_lower);
    const Vec3 y = (blend - blend.dot(x) * x).normalized();
    const Vec3 z = x.cross(y);
    upper = FromAxes(x, y, z);
    lower = upper * AxisRotation(1, std::atan2(-along_lower.dot(z), along_lower.dot(x)));
  }

 private:
  /// The rest pose serves when it stands.
  void FindRestFrame() {
    rest_usable_ = source_.RestStandsAlong(Vec3::UnitY());
    const Vec3 left = source_.RestPosition("left_thigh") - source_.RestPosition("right_thigh");
    facing_ = AxisRotation(1, std::atan2(-left.z(), left.x()));
  }

  /// Frames in which the body stands upright on straight legs: they show where the vertical is in each segment.
  void FindStandingFrames() {
    for (size_t f = 0; f < source_.num_frames(); ++f) {
      const auto upright = [&](const std::string& low, const std::string& high) {
        return (source_.Position(high, f) - source_.Position(low, f)).normalized().y() > kUpright;
      };
      bool stands = upright("pelvis", "head");
      for (const char* side : kSides) {
        stands = stands && upright(Sided(side, "foot"), Sided(side, "shin")) &&
                 upright(Sided(side, "shin"), Sided(side, "thigh"));
      }
      if (stands) standing_.push_back(f);
    }
  }

  /// Direction of the vertical in the frame of a segment's joint while the body stands; null when it never does.
  Vec3 StandingVertical(const std::string& segment) const {
    std::vector<Vec3> verticals;
    for (const size_t f : standing_) {
      verticals.push_back(source_.Orientation(segment, f).conjugate() * Vec3::UnitY());
    }
    return verticals.empty() ? Vec3(Vec3::Zero()) : MedianDirection(verticals);
  }

  /// Constant direction, in the frame of a segment's joint, from its place to another joint's.
  Vec3 LocalDirection(const std::string& segment, const std::string& to) const {
    Vec3 sum = Vec3::Zero();
    for (size_t f = 0; f < source_.num_frames(); ++f) {
      sum += source_.Orientation(segment, f).conjugate() *
             (source_.Position(to, f) - source_.Position(segment, f)).normalized();
    }
    return sum.normalized();
  }

  /// Rotation of local axes so that up and left come out as given in the joint's frame.
  static Quat FromLeftAndUp(const Vec3& left, const Vec3& up) {
    const Vec3 y = up.normalized();
    const Vec3 x = (left - left.dot(y) * y).normalized();
    return FromAxes(x, y, x.cross(y));
  }

  /// Constant rotation that brings a joint's axes, on average, to the orientations that `guess` gives per frame.
  template <typename Guess>
  Quat MeanLocal(const std::string& segment, const std::vector<size_t>& frames, const Guess& guess) const {
    std::vector<Quat> rotations;
    for (const size_t f : frames) rotations.push_back(source_.Orientation(segment, f).conjugate() * guess(f));
    return MeanRotation(rotations, {});
  }

  std::vector<size_t> AllFrames() const {
    std::vector<size_t> frames(source_.num_frames());
    std::iota(frames.begin(), frames.end(), size_t{0});
    return frames;
  }

  void CalibrateTrunk() {
    if (rest_usable_) {
      for (const char* segment : {"pelvis", "trunk", "head"}) local_[segment] = facing_;
      return;
    }
    // Without a standing instant the bones have to do, though a spine bends.
    const auto up = [&](const char* segment, const char* above) {
      const Vec3 vertical = StandingVertical(segment);
      return vertical.norm() > 0 ? vertical : LocalDirection(segment, above);
    };
    local_["pelvis"] = FromLeftAndUp(LocalDirection("pelvis", "left_thigh") - LocalDirection("pelvis", "right_thigh"),
                                     up("pelvis", "trunk"));
    const char* const shoulder =
        source_.Has("left_clavicle") && source_.Has("right_clavicle") ? "clavicle" : "upper_arm";
    local_["trunk"] = FromLeftAndUp(
        LocalDirection("trunk", Sided("left", shoulder)) - LocalDirection("trunk", Sided("right", shoulder)),
        up("trunk", "head"));
    // A head looks where its trunk faces: while the body stands, or else on average.
    local_["head"] =
        MeanLocal("head", standing_.empty() ? AllFrames() : standing_, [&](size_t f) { return Segment("trunk", f); });
  }

  void CalibrateArms() {
    for (const char* side : kSides) {
      const Vec3 outward = side == kSides[0] ? Vec3::UnitX() : Vec3(-Vec3::UnitX());
      std::string parent = "trunk";
      const std::string chain[] = {Sided(side, "clavicle"), Sided(side, "upper_arm"), Sided(side, "lower_arm"),
                                   Sided(side, "hand")};
      for (size_t k = 0; k < 4; ++k) {
        if (!source_.Has(chain[k])) continue;
        const bool last = k == 3 || !source_.Has(chain[k + 1]);
        Vec3 direction = last ? TipLocal(chain[k]) : LocalDirection(chain[k], chain[k + 1]);
        if (rest_usable_) {
          if (k == 0) {
            local_[chain[k]] = facing_;  // the slope of a collar bone differs from body to body; its motion counts
          } else if (k == 3) {
            local_[chain[k]] = local_.at(parent);  // at rest a hand continues its forearm
          } else {
            local_[chain[k]] = ShortestArc(facing_ * outward, direction) * facing_;
          }
        } else {
          if (direction.norm() == 0)
            direction = source_.Orientation(chain[k], 0).conjugate() * (Segment(parent, 0) * outward);
          // The twist of a straight limb cannot be seen: take the constant that twists least against the
          // parent.
          const Quat mean = MeanLocal(chain[k], AllFrames(), [&](size_t f) {
            const Quat above = Segment(parent, f);
            return Quat(ShortestArc(above * outward, source_.Orientation(chain[k], f) * direction) * above);
          });
          local_[chain[k]] = ShortestArc(mean * outward, direction) * mean;
          // A bent elbow shows the twist of both its bones: in the T-pose forearms bend forwards, about the vertical.
          const Vec3 elbow = k == 1 || k == 2 ? ElbowAxis(side, chain[k]) : Vec3(Vec3::Zero());
          if (elbow.norm() > kElbowShown) {
            const Vec3 x = outward.x() * direction;
            local_[chain[k]] = FromLeftAndUp(x, elbow - elbow.dot(x) * x);
          }
        }
        parent = chain[k];
      }
    }
  }

  /// Axis of the bending elbow, pointing up in the T-pose, in the frame of a segment's joint; its length is the mean
  /// sine of the bend. Null without a hand that shows where the forearm points.
  Vec3 ElbowAxis(const char* side, const std::string& segment) const {
    const std::string upper = Sided(side, "upper_arm");
    const std::string lower = Sided(side, "lower_arm");
    const std::string hand = Sided(side, "hand");
    Vec3 sum = Vec3::Zero();
    if (!source_.Has(hand)) return sum;
    for (size_t f = 0; f < source_.num_frames(); ++f) {
      const Vec3 along_upper = (source_.Position(lower, f) - source_.Position(upper, f)).normalized();
      const Vec3 along_lower = (source_.Position(hand, f) - source_.Position(lower, f)).normalized();
      sum += source_.Orientation(segment, f).conjugate() * along_lower.cross(along_upper);
    }
    return (side == kSides[0] ? 1 : -1) * sum / static_cast<double>(source_.num_frames());
  }

  Vec3 TipLocal(const std::string& segment) const {
    const Vec3 tip = source_.TipDirection(segment);
    return tip.norm() > 0 ? Vec3(tip.normalized()) : tip;
  }

  void CalibrateKnee(const char* side) {
    if (rest_usable_) {
      hinge_[side] = facing_ * Vec3::UnitX();
      return;
    }
    const std::string thigh = Sided(side, "thigh");
    Vec3 sum = Vec3::Zero();
    for (size_t f = 0; f < source_.num_frames(); ++f) {
      const Vec3 down_thigh = (source_.Position(Sided(side, "shin"), f) - source_.Position(thigh, f)).normalized();
      const Vec3 down_shin =
          (source_.Position(Sided(side, "foot"), f) - source_.Position(Sided(side, "shin"), f)).normalized();
      sum += source_.Orientation(thigh, f).conjugate() * down_thigh.cross(down_shin);
    }
    hinge_[side] = sum.norm() > 0
                       ? Vec3(sum.normalized())
                       : Vec3(source_.Orientation(thigh, 0).conjugate() * (Segment("pelvis", 0) * Vec3::UnitX()));
  }

  /// Frames in which the leg stands or crouches over its foot.
  std::vector<size_t> FramesOverFoot(const std::string& thigh, const std::string& foot) const {
    std::vector<size_t> frames;
    for (size_t f = 1; f + 1 < source_.num_frames(); ++f) {
      const double hip = source_.Position(thigh, f).y() - source_.Position(foot, f).y();
      if (hip >= kStanceHips * LegLength(source_, f)) frames.push_back(f);
    }
    return frames;
  }

  bool IsSlow(const std::string& joint, size_t f) const {
    return (source_.Position(joint, f + 1) - source_.Position(joint, f - 1)).norm() / (2 * source_.frame_time()) <
           kStanceSpeed;
  }

  Vec3 VerticalOf(const std::string& foot, size_t f) const {
    return source_.Orientation(foot, f).conjugate() * Vec3::UnitY();
  }

  /// Directions of the vertical in the foot's own frame while the foot is planted.
  std::vector<Vec3> StanceVerticals(const std::string& thigh, const std::string& foot, const std::string& toe) const {
    const std::vector<size_t> frames = FramesOverFoot(thigh, foot);
    std::vector<Vec3> verticals;
    if (frames.empty()) return verticals;
    std::vector<double> heights;
    for (size_t f : frames) heights.push_back(source_.Position(foot, f).y());
    std::sort(heights.begin(), heights.end());
    const double low = heights[heights.size() / 20];
    for (size_t f : frames) {
      if (source_.Position(foot, f).y() < low + kStanceHeight && IsSlow(foot, f) && IsSlow(toe, f)) {
        verticals.push_back(VerticalOf(foot, f));
      }
    }
    return verticals;
  }

  /// The same where hardly an instant is found like that, since single frames lie too low or the foot was recorded with
  /// an error that stays: the vertical in most of the instants at which the foot is slow, at its usual height. None for
  /// a foot that hangs or stands on its toes. `forward` is its direction in its own frame.
  std::vector<Vec3> UsualVerticals(const char* side, const std::string& toe, const Vec3& forward) const {
    const std::string foot = Sided(side, "foot");
    std::vector<size_t> frames = FramesOverFoot(Sided(side, "thigh"), foot);
    std::erase_if(frames, [&](size_t f) { return !IsSlow(foot, f) || !IsSlow(toe, f); });
    std::vector<Vec3> verticals;
    if (forward.norm() == 0 || frames.empty()) return verticals;
    const auto median_height = [&](const std::string& joint) {
      std::vector<double> heights;
      for (size_t f : frames) heights.push_back(source_.Position(joint, f).y());
      return Median(heights);
    };
    const double usual = median_height(foot);
    if (usual > median_height(Sided(side == kSides[0] ? kSides[1] : kSides[0], "foot")) + kHangs) return verticals;
    for (size_t f : frames) {
      const bool on_toes = (source_.Orientation(foot, f) * forward).y() < forward.y() - kOnToes;
      if (std::abs(source_.Position(foot, f).y() - usual) < kStanceHeight && !on_toes) {
        verticals.push_back(VerticalOf(foot, f));
      }
    }
    if (verticals.empty()) return verticals;
    const Vec3 median = MedianDirection(verticals);
    std::erase_if(verticals, [&](const Vec3& v) { return v.dot(median) < std::cos(kLargestLeveling); });
    if (2 * verticals.size() < frames.size()) verticals.clear();
    return verticals;
  }

  static Vec3 MedianDirection(const std::vector<Vec3>& directions) {
    Vec3 median;
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<double> values;
      for (const Vec3& d : directions) values.push_back(d[axis]);
      median[axis] = Median(values);
    }
    return median.normalized();
  }

  void CalibrateFoot(const char* side, ReferenceReport& report) {
    const std::string foot = Sided(side, "foot");
    const std::string shin = Sided(side, "shin");
    const std::string toe = source_.Has(Sided(side, "toe")) ? Sided(side, "toe") : foot;
    Vec3 forward = toe == foot ? TipLocal(foot) : LocalDirection(foot, toe);
    // Without a planted instant a foot is taken to be square to the shin at rest.
    Vec3 up = -LocalDirection(shin, foot);
    up = source_.Orientation(foot, 0).conjugate() * (source_.Orientation(shin, 0) * up);
    if (rest_usable_) up = (source_.RestPosition(shin) - source_.RestPosition(foot)).normalized();
    std::vector<Vec3> verticals = StanceVerticals(Sided(side, "thigh"), foot, toe);
    // A foot that kneels or stands on its toes is at rest too, but not flat: far from flat as the rest pose has it.
    if (rest_usable_) std::erase_if(verticals, [&](const Vec3& v) { return v.dot(up) < std::cos(kLargestLeveling); });
    const bool as_at_rest = verticals.size() >= kLeastPlanted;
    if (!as_at_rest && rest_usable_) verticals = UsualVerticals(side, toe, forward);
    const bool planted = verticals.size() >= kLeastPlanted;
    if (planted) {
      Vec3 median = MedianDirection(verticals);
      std::erase_if(verticals, [&](const Vec3& v) { return v.dot(median) < std::cos(Radians(20)); });
      if (!verticals.empty()) median = MedianDirection(verticals);
      report.notes.push_back(foot + " leveled by " +
                             io::Fixed(Degrees(std::acos(std::clamp(median.dot(up), -1.0, 1.0))), 1) +
                             " degrees: the median of " + std::to_string(verticals.size()) + " planted frames" +
                             (as_at_rest ? "" : ", those at its usual height"));
      up = median;
    } else {
      report.notes.push_back(foot + " is never planted: taken square to the shin at rest");
    }
    if (forward.norm() == 0 || forward.cross(up).norm() < 0.1) {
      forward = rest_usable_ ? Vec3(facing_ * Vec3::UnitZ())
                             : Vec3(source_.Orientation(foot, 0).conjugate() * (Segment("pelvis", 0) * Vec3::UnitZ()));
    }
    const Vec3 z = (forward - forward.dot(up) * up).normalized();
    local_[foot] = FromAxes(up.cross(z), up, z);
  }

  const Source& source_;
  bool rest_usable_ = false;
  Quat facing_ = Quat::Identity();
  std::vector<size_t> standing_;       // frames
  std::map<std::string, Quat> local_;  // segment -> character axes in the joint's frame
  std::map<std::string, Vec3> hinge_;  // side -> knee axis in the thigh's frame
};

/// Finds the size of the recorded skeleton, and with it the unit of the file where it is not given.
void FindUnit(const Source& source, const motion::Clip& clip, const ReferenceOptions& options,
              ReferenceReport& report) {
  const double leg = LegLength([&](const std::string& segment) { return source.RestPosition(segment); });
  const FileUnit unit = UnitOf(clip, leg, options);
  report.unit = unit.meters;
  report.unit_from = unit.from;
  report.height = StandingHeight(source, leg / kLegOfHeight) * report.unit;
}

/// Scales the source to the character, by what its legs measure in the frames that are used.
void ScaleToCharacter(const Character& character, const std::string& name, const UsedFrames& used, Source& source,
                      ReferenceReport& report) {
  std::vector<double> legs;
  for (size_t f = used.first; f < used.end; ++f) legs.push_back(LegLength(source, f));
  const double source_leg = Median(legs);
  const double leg = LegLength([&](const std::string& segment) { return AnchorOf(character, segment); });
  if (!(source_leg > 0)) throw InputError(name, "legs of no length", "a skeleton with legs");
  const bool by_height = character.root_scale == RootScale::kHeight;
  source.set_scale(by_height ? character.height * kLegOfBody / source_leg : leg / source_leg);
  report.scale = source.scale();
  report.notes.push_back("one file unit is " + io::Fixed(source.scale(), 5) + " m: " +
                         (by_height ? "by the ratio of body heights, the source's by the length of its legs"
                                    : "the source's legs get the length of the character's"));
}

/// Poses of a character at the frames of a calibrated source, and how far its joints are from the recorded ones.
class HumanPoser {
 public:
  HumanPoser(const Character& character, const Source& source, const Calibration& calibration)
      : character_(character),
        source_(source),
        calibration_(calibration),
        hips_at_rest_(0.5 * (AnchorOf(character, "left_thigh") + AnchorOf(character, "right_thigh"))),
        orientations_(character.bodies.size()) {
    for (size_t s = 0; s < 2; ++s) {
      Side& side = sides_[s];
      side.thigh_turn = TurnFromStraight(character, Sided(kSides[s], "thigh"), Sided(kSides[s], "shin"));
      side.shin_turn = TurnFromStraight(character, Sided(kSides[s], "shin"), Sided(kSides[s], "foot"));
      side.hinged_arm = HasHingedElbow(character, kSides[s]) && calibration.Has(Sided(kSides[s], "upper_arm")) &&
                        calibration.Has(Sided(kSides[s], "lower_arm"));
    }
    if (character.planar) FindHangingArms();
  }

  Pose At(size_t frame) {
    OrientLimbs(frame);
    const Body& root = character_.bodies[static_cast<size_t>(character_.root)];
    Pose pose;
    pose.root_orientation = calibration_.Segment("pelvis", frame);
    OrientSegment(root.segment, frame, pose.root_orientation);
    orientations_[static_cast<size_t>(character_.root)] = pose.root_orientation;
    const Vec3 root_over_hips = pose.root_orientation * (root.rest_position - hips_at_rest_);
    pose.root_position = HipsAt(frame) + root_over_hips;
    for (const Joint& joint : character_.joints) {
      const Quat& parent = orientations_[static_cast<size_t>(joint.parent)];
      Quat child = parent;  // a body without a counterpart in the recording follows its parent
      OrientSegment(character_.bodies[static_cast<size_t>(joint.child)].segment, frame, child);
      Quat rotation = parent.conjugate() * child;
      if (joint.type == JointType::kHinge) rotation = Twist(rotation, joint.direction());
      if (character_.planar) rotation = TurnInPlane(parent.conjugate() * child, BoneOf(character_, joint));
      orientations_[static_cast<size_t>(joint.child)] = parent * rotation;
      pose.joint_rotations.push_back(rotation);
    }
    MeasureDistances(pose, pose.root_position - root_over_hips, frame);
    return pose;
  }

  /// Distance of the joints from the recorded ones over all poses so far, with the hips on the recorded hips [m].
  double mean_distance() const { return distance_ / distances_; }

 private:
  struct Side {
    Quat thigh_turn = Quat::Identity();  // from the axes of a straight leg to those of the character's body
    Quat shin_turn = Quat::Identity();
    Quat arm_turn = Quat::Identity();  // from the axes of an arm of the T-pose, of planar characters alone
    bool hinged_arm = false;           // the elbow is a hinge, and the arm was recorded
    Quat thigh = Quat::Identity(), shin = Quat::Identity();
    Quat upper_arm = Quat::Identity(), lower_arm = Quat::Identity();
  };

  Vec3 HipsAt(size_t frame) const {
    return 0.5 * (source_.Position("left_thigh", frame) + source_.Position("right_thigh", frame));
  }

  void OrientLimbs(size_t frame) {
    for (size_t s = 0; s < 2; ++s) {
      Side& side = sides_[s];
      calibration_.Leg(kSides[s], frame, side.thigh, side.shin);
      if (side.thigh_turn.w() != 1) side.thigh = side.thigh * side.thigh_turn;
      if (side.shin_turn.w() != 1) side.shin = side.shin * side.shin_turn;
      if (side.hinged_arm) calibration_.HingedArm(kSides[s], frame, side.upper_arm, side.lower_arm);
    }
  }

  /// Arms of planar characters hang down at rest, or point elsewhere in their plane.
  void FindHangingArms() {
    for (size_t s = 0; s < 2; ++s) {
      const Joint* shoulder = JointOfSegment(character_, Sided(kSides[s], "upper_arm"));
      if (shoulder == nullptr) continue;
      sides_[s].arm_turn = ShortestArc(BoneOf(character_, *shoulder), (s == 0 ? 1 : -1) * Vec3::UnitX());
    }
  }

  /// Leaves the orientation as it is for a segment that was not recorded.
  void OrientSegment(const std::string& segment, size_t frame, Quat& orientation) const {
    if (calibration_.Has(segment)) orientation = calibration_.Segment(segment, frame);
    for (size_t s = 0; s < 2; ++s) {
      const Side& side = sides_[s];
      if (segment == Sided(kSides[s], "thigh")) orientation = side.thigh;
      if (segment == Sided(kSides[s], "shin")) orientation = side.shin;
      if (side.hinged_arm && segment == Sided(kSides[s], "upper_arm")) orientation = side.upper_arm;
      if (side.hinged_arm && segment == Sided(kSides[s], "lower_arm")) orientation = side.lower_arm;
      if (!character_.planar || !calibration_.Has(segment)) continue;
      for (const char* part : {"upper_arm", "lower_arm", "hand"}) {
        if (segment == Sided(kSides[s], part)) orientation = orientation * side.arm_turn;
      }
    }
  }

  void MeasureDistances(const Pose& pose, const Vec3& hips_of_character, size_t frame) {
    ForwardKinematics(character_, pose, state_);
    const Vec3 hips = HipsAt(frame);
    for (const Joint& joint : character_.joints) {
      const std::string& segment = character_.bodies[static_cast<size_t>(joint.child)].segment;
      if (!source_.Has(segment)) continue;
      distance_ +=
          (JointPosition(character_, joint, state_) - hips_of_character - source_.Position(segment, frame) + hips)
              .norm();
      distances_ += 1;
    }
  }

  const Character& character_;
  const Source& source_;
  const Calibration& calibration_;
  Vec3 hips_at_rest_;
  Side sides_[2];                   // left, right
  std::vector<Quat> orientations_;  // (bodies) of the pose
  State state_;
  double distance_ = 0;   // sum
  double distances_ = 0;  // count
};

}  // namespace

FileUnit UnitOf(const motion::Clip& clip, double leg, const ReferenceOptions& options) {
  if (options.unit) return {*options.unit, "given"};
  // Many files are in other units than they state; no person is that small or tall.
  const double stated = clip.unit * leg / kLegOfHeight;
  if (stated > 0.25 && stated < 4) return {clip.unit, "the file"};
  return {UnitFromSize(leg / kLegOfHeight), "size of the skeleton"};
}

std::optional<Vec3> ShouldersOverHips(const motion::Clip& clip, const SkeletonMap& map, const std::string& up_axis) {
  const Source source(clip, map, up_axis);
  if (!source.RestStandsAlong(Vec3::UnitY())) return std::nullopt;
  const auto rest = [&](const char* side, const char* segment) { return source.RestPosition(Sided(side, segment)); };
  const Vec3 across = rest(kSides[0], "thigh") - rest(kSides[1], "thigh");
  const Quat facing = AxisRotation(1, std::atan2(-across.z(), across.x()));
  Vec3 over = Vec3::Zero();
  for (const char* side : kSides) over += 0.5 * (rest(side, "upper_arm") - rest(side, "thigh"));
  return facing.conjugate() * over;
}

bool IsHumanlike(const Character& character) {
  // A robot may have links of these names, but not the joints of a human between them.
  if ((*character.json).contains("root_frame")) return false;
  for (const char* side : kSides) {
    for (const char* segment : {"thigh", "shin", "foot"}) {
      if (JointOfSegment(character, Sided(side, segment)) == nullptr) return false;
    }
  }
  return true;
}

std::vector<Pose> Retarget(const Character& character, const motion::Clip& clip, const std::string& name,
                           const ReferenceOptions& options, ReferenceReport& report) {
  if (!IsHumanlike(character)) return RetargetByNames(character, clip, name, options, report);
  const io::JsonView user(options.joint_map, options.joint_map_file);
  report.map = MapClip(clip, name, options.joint_map->is_null() ? nullptr : &user);
  const SkeletonMap& map = report.map;
  report.frame_rate = 1 / clip.frame_time;
  Source source(clip, map, options.up_axis);
  report.up_axis = source.up_axis();
  FindUnit(source, clip, options, report);
  const UsedFrames used =
      FindUsedFrames(clip, report.unit, kTypicalBody * report.unit / report.height, name, options, report);
  ReportHandedness(JudgeHandedness(clip, map, used.first, used.end), options, report);
  ScaleToCharacter(character, name, used, source, report);
  if (source.up_axis() != "y") {
    report.notes.push_back("the file's " + source.up_axis() + " axis points up: turned to y");
  }
  report.notes.insert(report.notes.end(), used.notes.begin(), used.notes.end());

  const Calibration calibration(source, report);
  HumanPoser poser(character, source, calibration);
  std::vector<Pose> poses;
  for (size_t f = used.first; f < used.end; ++f) poses.push_back(poser.At(f));
  ReportDistance(character, poser.mean_distance(), report);
  return poses;
}

}  // namespace retrace::character
