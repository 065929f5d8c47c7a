#include "retrace/runs/inputs/key_poses.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "retrace/character/limits.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/retargeting/reference.h"
#include "retrace/runs/inputs/clip_input.h"

namespace retrace::runs {
namespace {

using character::Character;
using character::Joint;
using character::Pose;
using io::JsonView;

constexpr io::Range kAngles{-360, 360};  // [degrees]
constexpr size_t kMostTurns = 12;

Quat ReadTurns(const JsonView& view) {
  Quat rotation = Quat::Identity();
  for (const JsonView& turn : view.Elements(kMostTurns)) {
    if (!turn.json().is_array() || turn.size() != 2) turn.Expect("an axis and degrees, as [\"x\", -80]");
    const std::string axis = turn[0].String();
    if (axis != "x" && axis != "y" && axis != "z") turn[0].Expect("\"x\", \"y\" or \"z\"");
    rotation = AxisRotation(axis[0] - 'x', Radians(turn[1].Number(kAngles))) * rotation;
  }
  return rotation.normalized();
}

Pose RestPose(const Character& character) {
  Pose pose;
  pose.root_position = character.bodies[static_cast<size_t>(character.root)].rest_position;
  pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
  return pose;
}

Pose ReadAngles(const JsonView& view, const Character& character) {
  Pose pose = RestPose(character);
  const JsonView root = view["root"];
  root.AllowOnly({"position", "turns"});
  pose.root_position = root["position"].Vector({-0.5 * character::kFarAway, 0.5 * character::kFarAway});
  if (root.Has("turns")) pose.root_orientation = ReadTurns(root["turns"]);
  if (!view.Has("joints")) return pose;
  for (const auto& [name, entry] : view["joints"].Members()) {
    const int j = character.FindJoint(name);
    if (j < 0) entry.Fail("a joint that " + character.name + " does not have", "the name of one of its joints");
    const Joint& joint = character.joints[static_cast<size_t>(j)];
    Quat& rotation = pose.joint_rotations[static_cast<size_t>(j)];
    if (joint.type == character::JointType::kHinge) {
      const double angle = Radians(entry.Number(kAngles));
      rotation = joint.oblique ? FromRotationVector(angle * *joint.oblique) : AxisRotation(joint.axis, angle);
    } else {
      rotation = ReadTurns(entry);
    }
  }
  return pose;
}

/// The pose of a recording at an instant, over the origin and facing along z.
Pose ReadClipPose(const JsonView& view, const Character& character, const std::filesystem::path& folder,
                  std::vector<InputRecord>& clips) {
  const std::optional<ClipInstant> instant = ParseClipInstant(view.String());
  if (!instant) view.Expect("CLIP@SECOND");
  const double second = instant->second;
  ClipOptions options;
  options.file = instant->file;
  if (options.file.is_relative()) options.file = folder / options.file;
  try {
    CheckClip(options);
  } catch (const UsageError& error) {
    throw InputError(view.place() + ": " + error.what());
  }
  const std::vector<InputFile> files = ReadInputs(ClipInputs(options));
  const motion::Clip clip = ParseClip(files, options.choice);
  for (const InputFile& file : files) {
    InputRecord& record = clips.emplace_back(file.record);
    record.name.role = KeyClipRole(clips.size());
  }
  character::ReferenceReport report;
  character::ReferenceOptions all;
  all.keep_calibration_frames = true;  // the second is one of the recording
  const character::ReferenceMotion motion =
      character::MakeReference(character, clip, options.file.string(), all, report);
  if (!(second >= 0 && second <= motion.duration())) {
    view.Fail("second " + io::Number(second), "one from 0 to " + io::Fixed(motion.duration(), 2));
  }
  Pose pose;
  motion.PoseAt(second, pose);
  pose.root_position.x() = pose.root_position.z() = 0;
  pose.root_orientation = (Heading(pose.root_orientation).conjugate() * pose.root_orientation).normalized();
  return pose;
}

}  // namespace

std::string KeyClipRole(size_t number) {
  return std::string("key clip ").append(std::to_string(number));
}

KeyPoses ParseKeyPoses(const InputFile& file, const Character& character) {
  const std::filesystem::path& path = file.record.name.path;
  const io::Json document = file.Parse();
  const JsonView view(document, path.string());
  view.AllowOnly({"format", "version", "posture", "description", "keys"});
  if (view["format"].String() != "retrace-keys") view["format"].Expect("\"retrace-keys\"");
  view["version"].Integer(1, 1);
  if (view.Has("posture")) {
    const std::string posture = view["posture"].String();
    if (posture != "sitting" && posture != "standing") view["posture"].Expect("sitting or standing");
  }
  KeyPoses keys;
  if (view.Has("description")) keys.description = view["description"].String();
  std::set<std::string> names;
  for (const JsonView& entry : view["keys"].Elements(kMostKeyPoses)) {
    idling::KeyPose& key = keys.poses.emplace_back();
    key.place = entry.place();
    key.name = entry["name"].Name();
    if (!names.insert(key.name).second) entry["name"].Expect("a name that no other key has");
    if (entry.Has("clip")) {
      entry.AllowOnly({"name", "clip"});
      key.pose = ReadClipPose(entry["clip"], character, path.parent_path(), keys.clips);
    } else {
      entry.AllowOnly({"name", "root", "joints"});
      key.pose = ReadAngles(entry, character);
    }
  }
  if (keys.poses.empty()) view["keys"].Expect("at least one key pose");
  return keys;
}

}  // namespace retrace::runs
