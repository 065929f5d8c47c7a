#include "retarget_by_names.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lead_in.h"
#include "recording_doubts.h"
#include "reference_trace.h"
#include "retrace/character/index.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/retargeting/skeleton_mapping.h"

namespace retrace::character {
namespace {

using motion::GlobalPose;

const double kSameRest = Radians(30);  // between a bone at rest in the clip and in the character

const std::string& SegmentOf(const Character& character, int body) {
  return character.bodies[Index(body)].segment;
}

/// The root, and all joints between it and an end effector.
std::vector<std::string> NeededSegments(const Character& character) {
  std::set<int> bodies = {character.root};
  for (int body : character.end_effectors) {
    for (; character.JointOf(body) >= 0; body = character.joints[Index(character.JointOf(body))].parent) {
      bodies.insert(body);
    }
  }
  std::vector<std::string> segments;
  for (const int body : bodies) segments.push_back(SegmentOf(character, body));
  return segments;
}

GlobalPose RestPose(const motion::Skeleton& skeleton) {
  motion::Frame rest;
  for (const motion::Joint& joint : skeleton.joints) {
    rest.translations.push_back(joint.offset);
    rest.rotations.push_back(Quat::Identity());
  }
  GlobalPose pose;
  motion::ForwardKinematics(skeleton, rest, pose);
  return pose;
}

/// The usual unit that is nearest to a scale.
double NearestUnit(double scale) {
  constexpr double kUsual[] = {1, 0.01, 0.001, 0.0254, 0.0254 / 0.45, 0.3048};
  return *std::min_element(std::begin(kUsual), std::end(kUsual), [&](double a, double b) {
    return std::abs(std::log(a / scale)) < std::abs(std::log(b / scale));
  });
}

/// A bone: from the joint that moves a body's parent to the one that moves the body, both mapped.
struct Bone {
  std::string from;
  std::string to;
  Vec3 of_character = Vec3::Zero();  // at rest
};

std::vector<Bone> BonesOf(const Character& character, const SkeletonMap& map) {
  std::vector<Bone> bones;
  for (const Joint& joint : character.joints) {
    const int above = character.JointOf(joint.parent);
    if (above < 0) continue;  // where the root begins differs from file to file
    const std::string& from = SegmentOf(character, joint.parent);
    const std::string& to = SegmentOf(character, joint.child);
    if (map.Has(from) && map.Has(to)) bones.push_back({from, to, joint.anchor - character.joints[Index(above)].anchor});
  }
  return bones;
}

/// Poses of a clip as the mapping uses them: those of the mapped joints, turned so that y is up.
class NamedSource {
 public:
  NamedSource(const SkeletonMap& map, const std::string& up_axis) : map_(map), turn_(TurnToY(up_axis)) {}

  Vec3 Position(const GlobalPose& pose, const std::string& segment) const {
    return turn_ * pose.positions[Index(map_.segments.at(segment).position)];
  }
  Quat Orientation(const GlobalPose& pose, const std::string& segment) const {
    return turn_ * pose.orientations[Index(map_.segments.at(segment).orientation)] * turn_.conjugate();
  }
  bool Has(const std::string& segment) const { return map_.Has(segment); }
  /// Vertical extent of all joints [file units].
  double Height(const GlobalPose& pose) const {
    double low = 0;
    double high = 0;
    for (const Vec3& position : pose.positions) {
      const double y = (turn_ * Vec3(position - pose.positions[0])).y();
      low = std::min(low, y);
      high = std::max(high, y);
    }
    return high - low;
  }

 private:
  const SkeletonMap& map_;
  Quat turn_;
};

/// Meters per file unit: the limbs of the source, all together, get the length of the character's. Throws InputError
/// where the two rest poses differ. `name` stands for the clip in messages.
double ScaleOfLimbs(const Character& character, const SkeletonMap& map, const NamedSource& source,
                    const GlobalPose& rest, const std::string& name) {
  double length = 0;
  double source_length = 0;
  for (const Bone& bone : BonesOf(character, map)) {
    const Vec3 of_source = source.Position(rest, bone.to) - source.Position(rest, bone.from);
    length += bone.of_character.norm();
    source_length += of_source.norm();
    if (bone.of_character.norm() == 0 || of_source.norm() == 0) continue;
    const double angle = std::acos(std::clamp(of_source.normalized().dot(bone.of_character.normalized()), -1.0, 1.0));
    if (angle > kSameRest) {
      throw InputError(name,
                       "a rest pose in which the bone from " + bone.from + " to " + bone.to + " lies " +
                           io::Fixed(Degrees(angle), 0) + " degrees off that of the character \"" + character.name +
                           "\"",
                       "the character's rest pose (its axes are those of the segments)");
    }
  }
  if (!(source_length > 0)) throw InputError(name, "limbs of no length", "a skeleton with limbs");
  return length / source_length;
}

/// Whether left limbs are on the left: the clip's rest pose is the character's, whose left is known.
Handedness HandednessOfRest(const Character& character, const NamedSource& source, const GlobalPose& rest) {
  constexpr double kApart = 0.02;  // [m]
  double agreeing = 0, all = 0;
  for (const Joint& joint : character.joints) {
    const std::string& left = SegmentOf(character, joint.child);
    if (!left.starts_with("left_")) continue;
    const std::string right = "right_" + left.substr(5);
    const Joint* other = JointOfSegment(character, right);
    if (other == nullptr || !source.Has(left) || !source.Has(right)) continue;
    const Vec3 apart = joint.anchor - other->anchor;
    const double way = (source.Position(rest, left) - source.Position(rest, right)).dot(apart);
    if (apart.norm() < kApart || way == 0) continue;
    agreeing += way > 0 ? 1 : -1;
    all += 1;
  }
  Handedness handedness;
  if (all == 0) return handedness;
  handedness.votes = {{"limbs", agreeing / all, 1}};
  handedness.mirrored = agreeing < 0;
  return handedness;
}

/// Poses of a character at poses of a source, and how far its joints are from the recorded ones.
class NamedPoser {
 public:
  /// @param scale meters per file unit
  NamedPoser(const Character& character, const NamedSource& source, double scale, const std::string& name)
      : character_(character), source_(source), scale_(scale), orientations_(character.bodies.size()) {
    for (const Joint& joint : character.joints) {
      if (joint.parent != character.root || !source.Has(SegmentOf(character, joint.child))) continue;
      at_root_.push_back(&joint);
      anchors_ += joint.anchor;
    }
    if (at_root_.empty()) {
      throw InputError(name, "no joint at the root",
                       "limbs that hang on " + character.bodies[Index(character.root)].segment);
    }
    anchors_ /= static_cast<double>(at_root_.size());
  }

  Pose Of(const GlobalPose& recorded) {
    const Body& root = character_.bodies[Index(character_.root)];
    Pose pose;
    pose.root_orientation = source_.Orientation(recorded, root.segment);
    Vec3 center = Vec3::Zero();
    for (const Joint* joint : at_root_) center += source_.Position(recorded, SegmentOf(character_, joint->child));
    center *= scale_ / static_cast<double>(at_root_.size());
    pose.root_position = center + pose.root_orientation * (root.rest_position - anchors_);
    orientations_[Index(character_.root)] = pose.root_orientation;
    for (const Joint& joint : character_.joints) {
      const Quat& parent = orientations_[Index(joint.parent)];
      const std::string& segment = SegmentOf(character_, joint.child);
      // A body without a counterpart in the recording follows its parent.
      Quat rotation = Quat::Identity();
      if (source_.Has(segment)) rotation = parent.conjugate() * source_.Orientation(recorded, segment);
      if (joint.type == JointType::kHinge) rotation = Twist(rotation, joint.direction());
      orientations_[Index(joint.child)] = parent * rotation;
      pose.joint_rotations.push_back(rotation);
    }
    MeasureDistances(pose, recorded);
    return pose;
  }

  /// Distance of the joints from the recorded ones over all poses so far [m].
  double mean_distance() const { return distance_ / distances_; }

 private:
  void MeasureDistances(const Pose& pose, const GlobalPose& recorded) {
    ForwardKinematics(character_, pose, state_);
    for (const Joint& joint : character_.joints) {
      const std::string& segment = SegmentOf(character_, joint.child);
      if (!source_.Has(segment)) continue;
      distance_ += (JointPosition(character_, joint, state_) - scale_ * source_.Position(recorded, segment)).norm();
      distances_ += 1;
    }
  }

  const Character& character_;
  const NamedSource& source_;
  double scale_;
  // The root body is placed by the joints that it shares with the recording.
  std::vector<const Joint*> at_root_;
  Vec3 anchors_ = Vec3::Zero();     // mean of theirs
  std::vector<Quat> orientations_;  // (bodies) of the pose
  State state_;
  double distance_ = 0;   // sum
  double distances_ = 0;  // count
};

}  // namespace

std::vector<Pose> RetargetByNames(const Character& character, const motion::Clip& clip, const std::string& name,
                                  const ReferenceOptions& options, ReferenceReport& report) {
  std::vector<std::string> segments;
  for (const Body& body : character.bodies) segments.push_back(body.segment);
  const io::JsonView user(options.joint_map, options.joint_map_file);
  report.map =
      MapByNames(clip, name, segments, NeededSegments(character), options.joint_map->is_null() ? nullptr : &user);
  report.frame_rate = 1 / clip.frame_time;
  report.up_axis = options.up_axis == "auto" ? "y" : options.up_axis;
  const NamedSource source(report.map, report.up_axis);
  const GlobalPose rest = RestPose(clip.skeleton);
  report.scale = ScaleOfLimbs(character, report.map, source, rest, name);
  report.rest_pose_used = true;
  report.unit = options.unit ? *options.unit : clip.unit > 0 ? clip.unit : NearestUnit(report.scale);
  report.unit_from = options.unit ? "given" : clip.unit > 0 ? "the file" : "size of the skeleton";
  report.height = source.Height(rest) * report.unit;
  report.notes.push_back("joints matched by name; axes of the segments taken from the source's rest pose");
  report.notes.push_back("one file unit is " + io::Fixed(report.scale, 5) +
                         " m: the source's limbs get the length of the character's");
  if (report.up_axis != "y") report.notes.push_back("the file's " + report.up_axis + " axis points up: turned to y");
  const UsedFrames used = FindUsedFrames(clip, report.unit, report.scale, name, options, report);
  report.notes.insert(report.notes.end(), used.notes.begin(), used.notes.end());
  ReportHandedness(HandednessOfRest(character, source, rest), options, report);

  NamedPoser poser(character, source, report.scale, name);
  std::vector<Pose> poses;
  GlobalPose recorded;
  for (size_t f = used.first; f < used.end; ++f) {
    motion::ForwardKinematics(clip.skeleton, clip.frames[f], recorded);
    poses.push_back(poser.Of(recorded));
  }
  ReportDistance(character, poser.mean_distance(), report);
  return poses;
}

}  // namespace retrace::character
