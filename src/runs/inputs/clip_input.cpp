#include "retrace/runs/inputs/clip_input.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"
#include "retrace/recordings/joint_table.h"
#include "retrace/recordings/recording.h"
#include "retrace/robots/human_motion.h"
#include "retrace/robots/joint_motion.h"
#include "retrace/robots/read_robot.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::runs {
namespace {

/// Members of a map that are about the file and not about the skeleton.
constexpr const char* kMarkers = "markers";
constexpr const char* kArrays = "arrays";

recordings::NameMap NamesOf(const io::JsonView& map, const char* member) {
  recordings::NameMap names;
  if (!map.json().is_object() || !map.json().contains(member)) return names;
  const io::JsonView view = map[member];
  if (!view.json().is_object()) view.Expect("an object of known names and those of the file");
  for (const auto& [known, in_file] : view.Members()) names[known] = in_file.String();
  return names;
}

constexpr const char* kTableEnding = ".csv";

/// Whether a file has the joint angles of a robot.
bool IsJointTable(const InputFile& clip) {
  const std::filesystem::path& path = clip.record.name.path;
  if (ExtensionOf(path) == kTableEnding) return true;
  return ExtensionOf(path) == ".npz" && recordings::HoldsJointAngles(clip.bytes, path.string());
}

motion::Clip ReadJointTable(const InputFile& clip, std::span<const InputFile> files) {
  const std::string name = clip.record.name.path.string();
  const InputFile* file = FindInput(files, "character");
  if (file == nullptr)
    throw UsageError(name + ": found joint angles, expected a robot as the character, whose they are");
  const character::Character character = ParseCharacterFile(*file);
  const size_t hinges = robots::HingesOf(character).size();
  return robots::ClipOfJoints(recordings::ParseJointTable(clip.bytes, name, hinges), character, name);
}

/// A person's motion becomes one of the robot where the character is one with two legs; anything else stays.
motion::Clip OnRobot(motion::Clip clip, const InputFile& file, const std::string& name) {
  if (!robots::LooksLikeXml(file.bytes) && file.bytes.find("\"root_frame\"") == std::string::npos) return clip;
  const character::Character character = ParseCharacterFile(file);
  if (!robots::IsRobot(character) || robots::IsOfOwnSkeleton(clip, character)) return clip;
  const character::Character human = character::LoadCharacter(FindCharacter("human"));
  return robots::HumanMotionOf(character, human, clip, name);
}

/// A file that the recording names.
constexpr const char* kBesideRole = "beside ";

/// The skeleton that a clip needs: the one that is named, or the one of the recording's own name; empty where there is
/// none.
std::filesystem::path SkeletonOf(const ClipOptions& o) {
  if (!o.skeleton.empty()) return o.skeleton;
  const recordings::Format* format = recordings::FormatOf(o.file);
  if (format == nullptr || format->skeleton_ending.empty()) return {};
  std::filesystem::path beside = std::filesystem::path(o.file).replace_extension(format->skeleton_ending);
  return std::filesystem::exists(beside) ? beside : std::filesystem::path();
}

/// Names of the files that a recording consists of beside its own, relative to its folder.
std::vector<std::string> FilesBeside(const ClipOptions& o) {
  if (ExtensionOf(o.file) != ".gltf") return {};  // no other file names any
  try {
    return recordings::FilesBeside({io::ReadFile(o.file), o.file.string()});
  } catch (const InputError&) {
    return {};  // the reader says why it cannot be read
  }
}

}  // namespace

void Describe(ClipOptions& o, io::FieldVisitor& v) {
  v.Field({"start", "First second of the clip to use", "s"}, o.start, io::Real{character::kInstants});
  v.Field({"end", "Last second of the clip to use", "s"}, o.end, io::OptionalReal{character::kInstants});
  v.Field({"time_scale", "Play the clip this many times as long"}, o.time_scale, io::Real{character::kTimeScales});
  v.Field({"loop", "Repeat the best cycle of the clip for so long", "s"}, o.loop,
          io::OptionalReal{character::kDurations});
  v.Field({"unit", "Length of a unit of the file", "m"}, o.unit, io::OptionalReal{character::kUnits});
  v.Field({"frame_rate", "Frames per second", "1/s"}, o.frame_rate, io::OptionalReal{character::kFrameRates});
  v.Field({"skip_frames", "Frames at the start to leave out"}, o.skipped_frames,
          io::OptionalInteger{0, character::kMostSkippedFrames});
  v.Field({"keep_calibration_frames",
           "Keep poses at either end from which no body can move to the motion (T-poses, calibrations)"},
          o.keep_calibration_frames, io::Flag{});
  v.Field({"mirror", "Mirror the recording, for one whose left and right are exchanged (left-handed axes)"}, o.mirror,
          io::Flag{});
  v.Field({"floor_height", "Height of the floor in the recording", "m"}, o.floor_height,
          io::OptionalReal{character::kFloorHeights});
  v.Field({"treadmill", "Speed of a treadmill's belt, which is taken out of the motion", "m/s"}, o.treadmill,
          io::OptionalReal{character::kBeltSpeeds});
  v.Field({"facing", "Heading at the start, about y from z", "degrees"}, o.facing, io::OptionalAngle{{-360, 360}});
}

std::optional<ClipInstant> ParseClipInstant(const std::string& text) {
  const size_t at = text.rfind('@');
  double second = 0;
  if (at == std::string::npos || !io::ParseNumber(std::string_view(text).substr(at + 1), second)) return std::nullopt;
  return ClipInstant{text.substr(0, at), second};
}

std::string ExtensionOf(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

void Apply(const ClipOptions& o, character::ReferenceOptions& reference) {
  reference.start = o.start;
  reference.end = o.end;
  reference.time_scale = o.time_scale;
  reference.retimings = o.retimings;
  reference.loop = o.loop;
  reference.unit = o.unit;
  reference.up_axis = o.up_axis.value_or("auto");
  reference.frame_rate = o.frame_rate;
  reference.skipped_frames = o.skipped_frames.value_or(-1);
  reference.keep_calibration_frames = reference.keep_calibration_frames || o.keep_calibration_frames;
  reference.mirror = reference.mirror || o.mirror;
  reference.floor_height = o.floor_height;
  if (o.treadmill) reference.treadmill = o.treadmill;
  if (!o.level_floor) reference.level_floor = false;
  if (o.facing) reference.facing = o.facing;
}

void ApplyJointMap(std::span<const InputFile> files, character::ReferenceOptions& reference) {
  const InputFile* map = FindInput(files, "map");
  if (map == nullptr) return;
  io::Json joints = map->Parse();
  if (joints.is_object()) {
    const bool other = joints.erase(kMarkers) + joints.erase(kArrays) > 0;
    if (other && joints.empty()) return;
  }
  reference.joint_map = std::move(joints);
  reference.joint_map_file = map->record.name.path.string();
}

void AddChoice(const recordings::Choice& choice, io::Json& document) {
  if (!choice.animation.empty()) document["animation"] = choice.animation;
  if (!choice.performer.empty()) document["performer"] = choice.performer;
}

std::vector<InputName> ClipInputs(const ClipOptions& o) {
  std::vector<InputName> names = {{"clip", o.file}};
  if (const std::filesystem::path skeleton = SkeletonOf(o); !skeleton.empty()) names.push_back({"skeleton", skeleton});
  for (const std::string& name : FilesBeside(o)) names.push_back({kBesideRole + name, o.file.parent_path() / name});
  if (!o.joint_map.empty()) names.push_back({"map", o.joint_map});
  return names;
}

bool IsRecording(const std::filesystem::path& file) {
  return recordings::FormatOf(file) != nullptr;
}

bool LacksSkeleton(const ClipOptions& o) {
  const recordings::Format* format = recordings::FormatOf(o.file);
  return format != nullptr && !format->skeleton_ending.empty() && SkeletonOf(o).empty();
}

void CheckClip(const ClipOptions& o) {
  if (o.file.empty()) throw UsageError("no clip is named");
  if (ExtensionOf(o.file) == ".pkl") {
    throw UsageError(o.file.string() +
                     ": found a Python pickle, which runs code when it is read; expected CSV or NPZ: "
                     "numpy.savez(\"motion.npz\", **pickle.load(open(\"motion.pkl\", \"rb\")))");
  }
  if (ExtensionOf(o.file) == kTableEnding) return;  // of joint angles
  const recordings::Format* format = recordings::FormatOf(o.file);
  if (format == nullptr) {
    throw UsageError(o.file.string() + ": found \"" + ExtensionOf(o.file) + "\", expected a file that ends with " +
                     recordings::KnownEndings() + ", or .csv of a robot's joint angles");
  }
  if (format->skeleton_ending.empty() && format->model_ending.empty() && !o.skeleton.empty()) {
    throw UsageError(o.skeleton.string() + ": found a skeleton for " + o.file.string() + ", expected none: a " +
                     format->ending + " file has its own");
  }
  if (LacksSkeleton(o)) {
    throw UsageError(o.file.string() + ": found no skeleton, expected one to be named or an " +
                     format->skeleton_ending + " file beside it");
  }
}

motion::Clip ParseClip(std::span<const InputFile> files, const recordings::Choice& choice) {
  const InputFile* clip = FindInput(files, "clip");
  const InputFile* skeleton = FindInput(files, "skeleton");
  if (clip == nullptr) throw UsageError("no clip is named");
  if (IsJointTable(*clip)) return ReadJointTable(*clip, files);
  recordings::Recording recording;
  recording.file = {clip->bytes, clip->record.name.path.string()};
  if (skeleton != nullptr) recording.skeleton = {skeleton->bytes, skeleton->record.name.path.string()};
  for (const InputFile& file : files) {
    const std::string& role = file.record.name.role;
    if (role.starts_with(kBesideRole)) recording.beside[role.substr(std::string(kBesideRole).size())] = file.bytes;
  }
  if (const InputFile* map = FindInput(files, "map")) {
    const io::Json json = map->Parse();
    const io::JsonView view(json, map->record.name.path.string());
    recording.names = {NamesOf(view, kMarkers), NamesOf(view, kArrays)};
  }
  motion::Clip read = recordings::ParseRecording(recording, choice);
  const InputFile* character = FindInput(files, "character");
  return character == nullptr ? read : OnRobot(std::move(read), *character, recording.file.name);
}

}  // namespace retrace::runs
