#include "retrace/runs/libraries/recording_library.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "retrace/character/mirror.h"
#include "retrace/io/error.h"
#include "retrace/io/field_error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/remedy.h"
#include "retrace/parallel/bytes.h"
#include "retrace/results/folder_mark.h"
#include "retrace/results/provenance.h"
#include "retrace/retargeting/reference.h"
#include "retrace/retargeting/reference_report.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/clip_list.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexFile = "library.json";
constexpr const char* kMotionsFolder = "motions";
constexpr const char* kLibraryFormat = "retrace-motion-library";
constexpr const char* kPosesExtension = ".bin";
constexpr const char* kFramesExtension = ".frames";
constexpr size_t kDigitsOfName = 16;  // of a motion's file: the first ones of its hash
constexpr const char* kMirrored = " (mirrored)";
constexpr size_t kMostMotions = 100000;
constexpr io::Range kFrameTimes{1e-4, 1};  // [s]
constexpr int kMostPoses = 10000000;

/// Numbers of a pose in a file: position and orientation of the root, then the rotations of the joints.
size_t NumbersOfPose(const character::Character& character) {
  return 3 + 4 + 4 * character.joints.size();
}

std::string FormatPoses(const std::vector<character::Pose>& poses) {
  parallel::Bytes bytes;
  const auto put = [&](const Quat& q) {
    const double numbers[4] = {q.w(), q.x(), q.y(), q.z()};
    parallel::Put(bytes, numbers, 4);
  };
  for (const character::Pose& pose : poses) {
    parallel::Put(bytes, pose.root_position.data(), 3);
    put(pose.root_orientation);
    for (const Quat& rotation : pose.joint_rotations) put(rotation);
  }
  return parallel::ToText(bytes);
}

std::vector<character::Pose> ParsePoses(const std::string& bytes, const character::Character& character, size_t count) {
  parallel::Reader reader(std::as_bytes(std::span(bytes)));
  const auto take = [&](Quat& q) {
    double numbers[4];
    reader.Take(numbers, 4);
    q = Quat(numbers[0], numbers[1], numbers[2], numbers[3]);
  };
  std::vector<character::Pose> poses(count);
  for (character::Pose& pose : poses) {
    reader.Take(pose.root_position.data(), 3);
    take(pose.root_orientation);
    pose.joint_rotations.resize(character.joints.size());
    for (Quat& rotation : pose.joint_rotations) take(rotation);
  }
  return poses;
}

/// Bytes of a frame in a file: its members one after the other, as the processor has them.
size_t SizeOfFrame(const character::Character& character) {
  const matching::FrameOfWhole whole;
  return character.bodies.size() * sizeof(matching::FrameOfBody) + sizeof whole.velocity + sizeof whole.support +
         sizeof whole.place + sizeof whole.heading_w + sizeof whole.heading_y;
}

void PutFrames(const std::vector<matching::Frame>& frames, parallel::Bytes& bytes) {
  for (const matching::Frame& frame : frames) {
    parallel::Put(bytes, frame.bodies.data(), frame.bodies.size());
    parallel::Put(bytes, frame.whole.velocity, std::size(frame.whole.velocity));
    parallel::Put(bytes, &frame.whole.support, 1);
    parallel::Put(bytes, frame.whole.place, std::size(frame.whole.place));
    parallel::Put(bytes, &frame.whole.heading_w, 1);
    parallel::Put(bytes, &frame.whole.heading_y, 1);
  }
}

void TakeFrames(size_t count, parallel::Reader& reader, matching::FrameTable& frames) {
  std::vector<matching::FrameOfBody> bodies(frames.num_bodies());
  for (size_t f = 0; f < count; ++f) {
    matching::FrameOfWhole whole;
    reader.Take(bodies.data(), bodies.size());
    reader.Take(whole.velocity, std::size(whole.velocity));
    reader.Take(&whole.support, 1);
    reader.Take(whole.place, std::size(whole.place));
    reader.Take(&whole.heading_w, 1);
    reader.Take(&whole.heading_y, 1);
    frames.Add(whole, bodies);
  }
}

/// What a motion of the library is, as the index has it.
struct StoredMotion {
  std::string name;
  std::string clip;
  std::string key;  // hash of all that the poses follow from
  std::string file;
  std::string sha256;
  std::string frames_file;  // of the motion, and of its mirror image where the character has one; empty: there is none
  std::string frames_sha256;
  double frame_time = 0;
  double velocity_interval = 0;
  int num_poses = 0;

  size_t num_frames() const { return matching::NumFrames((num_poses - 1) * frame_time); }

  io::Json ToJson() const {
    return {{"name", name},
            {"clip", clip},
            {"key", key},
            {"file", file},
            {"sha256", sha256},
            {"frames", {{"file", frames_file}, {"sha256", frames_sha256}}},
            {"frame_time", frame_time},
            {"velocity_interval", velocity_interval},
            {"poses", num_poses}};
  }
};

struct MotionIndex {
  io::Json character;
  std::vector<StoredMotion> motions;
};

std::string FileOf(const io::JsonView& view) {
  const fs::path file = view["file"].String();
  if (file.is_absolute() || file.lexically_normal().string().starts_with("..")) {
    view["file"].Expect("a file in the folder of the library");
  }
  return file.string();
}

MotionIndex ReadIndex(const fs::path& folder) {
  const fs::path path = folder / kIndexFile;
  const std::string name = path.string();
  if (!fs::exists(path)) throw InputError(folder.string(), "no library.json", "a library that build-library wrote");
  const io::Json json = io::ReadJson(path);
  const io::JsonView view(json, name);
  if (!json.is_object() || !view.Has("format") || view["format"].json() != kLibraryFormat) {
    view.Fail("another format", "a library of motions");
  }
  view["version"].Integer(1, 1);
  MotionIndex index;
  index.character = view["character"].json();
  for (const io::JsonView& motion : view["motions"].Elements(kMostMotions)) {
    StoredMotion& stored = index.motions.emplace_back();
    stored.name = motion["name"].String();
    stored.clip = motion["clip"].String();
    stored.key = motion["key"].String();
    stored.file = FileOf(motion);
    if (motion.Has("frames")) {  // libraries of earlier versions have none
      stored.frames_file = FileOf(motion["frames"]);
      stored.frames_sha256 = motion["frames"]["sha256"].String();
    }
    stored.sha256 = motion["sha256"].String();
    stored.frame_time = motion["frame_time"].Number(kFrameTimes);
    stored.velocity_interval = motion["velocity_interval"].Number({1e-4, 0.5});
    stored.num_poses = motion["poses"].Integer(2, kMostPoses);
  }
  return index;
}

/// A file of a library. Throws InputError for one that is missing or has other bytes than the index says.
std::string ReadMotionFile(const fs::path& path, size_t size, const std::string& sha256) {
  std::string bytes = io::ReadFile(path);
  if (bytes.size() != size) {
    throw InputError(path.string(), std::to_string(bytes.size()) + " bytes",
                     std::to_string(size) + " by the library.json beside it");
  }
  if (io::Sha256(bytes) != sha256) {
    throw InputError(path.string(), "other bytes than were written", "those that the library.json beside it names");
  }
  return bytes;
}

character::ReferenceMotion ReadMotion(const fs::path& folder, const StoredMotion& motion,
                                      const character::Character& character) {
  const size_t size = static_cast<size_t>(motion.num_poses) * NumbersOfPose(character) * sizeof(double);
  const std::string bytes = ReadMotionFile(folder / motion.file, size, motion.sha256);
  return {character, motion.frame_time, ParsePoses(bytes, character, static_cast<size_t>(motion.num_poses)),
          motion.velocity_interval};
}

/// The skeleton of an AMC file that has none of its own name: of those in its folder the one whose name stands in its
/// own with an underscore after it, as the database of CMU has 02.asf for 02_04.amc. The longest such name; empty:
/// none.
fs::path SharedSkeletonOf(const fs::path& amc) {
  fs::path best;
  for (const fs::directory_entry& entry : fs::directory_iterator(amc.parent_path())) {
    if (ExtensionOf(entry.path()) != ".asf") continue;
    const std::string name = entry.path().stem().string() + "_";
    const bool longer = best.empty() || name.size() > best.stem().string().size() + 1 ||
                        (name.size() == best.stem().string().size() + 1 && entry.path() < best);
    if (amc.stem().string().find(name) != std::string::npos && longer) best = entry.path();
  }
  return best;
}

std::vector<LibrarySource> SourcesInFolder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && IsRecording(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw InputError(folder.string(), "no recording", "files of motion in it");
  std::vector<LibrarySource> sources;
  std::map<std::string, int> uses;
  for (const fs::path& file : files) {
    std::string name = fs::relative(file, folder).replace_extension().generic_string();
    std::replace(name.begin(), name.end(), '/', '-');
    const int use = ++uses[name];
    if (use > 1) name.append("-").append(std::to_string(use));
    LibrarySource& source = sources.emplace_back();
    source.name = name;
    source.place = file.string();
    source.clip.file = file;
    if (LacksSkeleton(source.clip)) source.clip.skeleton = SharedSkeletonOf(file);
  }
  return sources;
}

class LibraryBuilder {
 public:
  LibraryBuilder(const MotionLibraryOptions& options)
      : options_(options), character_file_(ReadInput({"character", CharacterFile(options.character)})) {
    if (IsSubject(options.character)) {
      throw FieldError("character", "found \"" + options.character +
                                        "\", expected one character for all recordings: a JSON file, or a name");
    }
    character_ = ParseCharacterFile(character_file_);
    mirror_ = character::Mirror::Of(character_);
    if (options.sources.size() > kMostMotions) {
      throw InputError(options.source.string(), std::to_string(options.sources.size()) + " recordings",
                       "at most " + std::to_string(kMostMotions) + " in a library");
    }
    const fs::path index = options.output / kIndexFile;
    const bool exists = fs::exists(index);
    results::ClaimedFolder folder(options.output, {"recording library", options.source}, [&] { return exists; });
    if (exists) {
      const std::vector<StoredMotion> motions = ReadIndex(options.output).motions;
      CheckSource(folder, motions);
      for (const StoredMotion& motion : motions) earlier_.emplace(motion.key, motion);
    }
    folder.Mark();
  }

  std::vector<LibraryEntry> Run(const std::function<void(const LibraryEntry&)>& on_entry) {
    std::vector<LibraryEntry> entries;
    io::Json motions = io::Json::array(), left_out = io::Json::array();
    for (const LibrarySource& source : options_.sources) {
      LibraryEntry& entry = entries.emplace_back();
      entry.name = source.name;
      entry.file = source.clip.file;
      try {
        motions.push_back(Add(source, entry).ToJson());
      } catch (const Error& error) {
        if (error.code() == ExitCode::kOutput || error.code() == ExitCode::kResources) throw;
        entry.refused = error.what();
        left_out.push_back({{"name", entry.name}, {"clip", entry.file.string()}, {"reason", entry.refused}});
      }
      if (on_entry) on_entry(entry);
    }
    if (motions.empty()) {
      throw InputError(options_.sources.front().place,
                       "no recording that can be used (" + entries.front().refused + ")", "at least one in a library");
    }
    const io::Json index = {{"format", kLibraryFormat},     {"version", 1},       {"written_by", results::Version()},
                            {"character", character_.json}, {"motions", motions}, {"left_out", left_out}};
    io::WriteFile(options_.output / kIndexFile, io::Dump(index, 1) + "\n");
    RemoveUnused(motions);
    return entries;
  }

 private:
  StoredMotion Add(const LibrarySource& source, LibraryEntry& entry) {
    CheckClip(source.clip);
    const std::vector<InputFile> files = ReadInputs(ClipInputs(source.clip));
    character::ReferenceOptions reference_options;
    Apply(source.clip, reference_options);
    ApplyJointMap(files, reference_options);
    io::Json hashes = io::Json::object();
    for (const InputFile& file : files) hashes[file.record.name.role] = file.record.sha256;
    io::Json made_from = {{"program", results::Version()},
                          {"character", character_file_.record.sha256},
                          {"reference", reference_options.ToJson()},
                          {"inputs", hashes}};
    AddChoice(source.clip.choice, made_from);
    const std::string key = io::Sha256(io::Dump(made_from));
    StoredMotion motion;
    if (const auto found = earlier_.find(key); found != earlier_.end() && IsWhole(found->second)) {
      motion = found->second;
      entry.reused = true;
    } else {
      motion = Import(source, files, reference_options, entry.doubts);
      motion.key = key;
    }
    motion.name = source.name;
    motion.clip = source.clip.file.string();
    entry.duration = (motion.num_poses - 1) * motion.frame_time;
    entry.num_frames = motion.num_frames();
    return motion;
  }

  /// Motions that another folder or list of recordings has brought must not go because this one does not have them.
  /// Those go whose recording was taken out of the same source.
  void CheckSource(const results::ClaimedFolder& folder, const std::vector<StoredMotion>& motions) const {
    if (options_.force || (folder.earlier() && !folder.FromAnotherSource())) return;
    for (const StoredMotion& motion : motions) {
      const auto same = [&](const LibrarySource& source) { return source.name == motion.name; };
      if (std::any_of(options_.sources.begin(), options_.sources.end(), same)) continue;
      // A library without a mark does not say what it was made from.
      if (!folder.earlier() && !fs::exists(motion.clip)) continue;
      throw WithHint<UsageError>({Remedy::kOverwrite, Remedy::kOtherOutput},
                                 options_.output.string() + ": found a library of other recordings" +
                                     (folder.earlier() ? " (" + folder.earlier()->source.string() + ")" : "") +
                                     ", which has " + motion.name + ", expected one of " + options_.source.string());
    }
  }

  /// Removes the motions that are not in this library: of an earlier one, and what killed processes left.
  void RemoveUnused(const io::Json& motions) const {
    std::set<fs::path> used;
    for (const io::Json& motion : motions) {
      used.insert(motion["file"].get<std::string>());
      used.insert(motion["frames"]["file"].get<std::string>());
    }
    std::error_code ignored;  // a file that stays does no harm
    for (const auto& [key, motion] : earlier_) {
      for (const std::string& file : {motion.file, motion.frames_file}) {
        if (!file.empty() && !used.contains(file)) fs::remove(options_.output / file, ignored);
      }
    }
    for (fs::directory_iterator entry(options_.output / kMotionsFolder, ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
      const fs::path file = fs::path(kMotionsFolder) / entry->path().filename();
      std::error_code stays;
      if (IsMotionFile(file) && !used.contains(file)) fs::remove(entry->path(), stays);
    }
  }

  /// Whether a name is one that Import gives.
  static bool IsMotionFile(const fs::path& file) {
    const std::string stem = file.stem().string();
    return stem.size() == kDigitsOfName && stem.find_first_not_of("0123456789abcdef") == std::string::npos &&
           (file.extension() == kPosesExtension || file.extension() == kFramesExtension);
  }

  bool IsWhole(const StoredMotion& motion) const {
    const auto has = [&](const std::string& file, const std::string& sha256) {
      const fs::path path = options_.output / file;
      return !file.empty() && fs::exists(path) && io::Sha256OfFile(path) == sha256;
    };
    return has(motion.file, motion.sha256) && has(motion.frames_file, motion.frames_sha256);
  }

  StoredMotion Import(const LibrarySource& source, std::span<const InputFile> files,
                      const character::ReferenceOptions& reference_options, std::vector<std::string>& doubts) {
    character::ReferenceReport report;
    const character::ReferenceMotion reference = character::MakeReference(
        character_, ParseClip(files, source.clip.choice), source.clip.file.string(), reference_options, report);
    for (const character::Doubt& doubt : report.doubts) doubts.push_back(doubt.text);
    if (reference.poses().size() > static_cast<size_t>(kMostPoses)) {
      throw InputError(source.place, std::to_string(reference.poses().size()) + " poses",
                       "at most " + std::to_string(kMostPoses) + " in a library");
    }
    const std::string bytes = FormatPoses(reference.poses());
    StoredMotion motion;
    motion.sha256 = io::Sha256(bytes);
    motion.file = std::string(kMotionsFolder) + "/" + motion.sha256.substr(0, kDigitsOfName) + kPosesExtension;
    motion.frame_time = reference.frame_time();
    motion.velocity_interval = reference_options.velocity_interval;
    motion.num_poses = static_cast<int>(reference.poses().size());
    std::error_code error;
    fs::create_directories(options_.output / kMotionsFolder, error);
    if (error) throw OutputError((options_.output / kMotionsFolder).string() + ": " + error.message());
    io::WriteFile(options_.output / motion.file, bytes);
    const std::string frames = FormatFrames(reference);
    motion.frames_sha256 = io::Sha256(frames);
    motion.frames_file = fs::path(motion.file).replace_extension(kFramesExtension).string();
    io::WriteFile(options_.output / motion.frames_file, frames);
    return motion;
  }

  std::string FormatFrames(const character::ReferenceMotion& reference) const {
    parallel::Bytes bytes;
    PutFrames(matching::FramesOf(reference), bytes);
    if (mirror_) PutFrames(matching::FramesOf(mirror_->Image(reference)), bytes);
    return parallel::ToText(bytes);
  }

  const MotionLibraryOptions& options_;
  InputFile character_file_;
  character::Character character_;
  std::optional<character::Mirror> mirror_;
  std::map<std::string, StoredMotion> earlier_;  // by their keys
};

}  // namespace

std::vector<LibrarySource> FindLibrarySources(const fs::path& folder_or_list) {
  if (fs::is_directory(folder_or_list)) return SourcesInFolder(folder_or_list);
  std::vector<LibrarySource> sources;
  for (ListedClip& listed : ParseClipList(io::ReadFile(folder_or_list), folder_or_list, {})) {
    sources.push_back({std::move(listed.name), std::move(listed.place), std::move(listed.clip)});
  }
  return sources;
}

std::vector<LibraryEntry> BuildMotionLibrary(const MotionLibraryOptions& options,
                                             const std::function<void(const LibraryEntry&)>& on_entry) {
  return LibraryBuilder(options).Run(on_entry);
}

StoredMotionLibrary::StoredMotionLibrary(const fs::path& folder, bool mirrored) {
  const MotionIndex index = ReadIndex(folder);
  const std::string name = (folder / kIndexFile).string();
  character_ = std::make_unique<character::Character>(
      character::ParseCharacter(index.character, std::string(name).append(": /character")));
  motions_ = std::make_unique<matching::MotionLibrary>(*character_);
  const std::optional<character::Mirror> mirror = character::Mirror::Of(*character_);
  size_t num_frames = 0;
  for (const StoredMotion& motion : index.motions) {
    std::error_code missing;  // that is an error below
    const auto size = motion.frames_file.empty() ? 0 : fs::file_size(folder / motion.frames_file, missing);
    if (!missing) num_frames += size / SizeOfFrame(*character_);
  }
  motions_->Reserve(mirrored || !mirror ? num_frames : num_frames / 2);
  for (const StoredMotion& motion : index.motions) {
    const auto read = [folder, motion, character = character_.get()] { return ReadMotion(folder, motion, *character); };
    if (motion.frames_file.empty()) {
      const character::ReferenceMotion reference = read();
      motions_->Add(motion.name, reference);
      if (mirrored && mirror) motions_->Add(motion.name + kMirrored, mirror->Image(reference));
      continue;
    }
    if (const fs::path path = folder / motion.file; !fs::exists(path)) {
      throw InputError(path.string(), "no such file", "a motion that the library.json beside it names");
    }
    const size_t frames = motion.num_frames(), blocks = mirror ? 2 : 1;
    const std::string bytes =
        ReadMotionFile(folder / motion.frames_file, blocks * frames * SizeOfFrame(*character_), motion.frames_sha256);
    parallel::Reader reader(std::as_bytes(std::span(bytes)));
    const size_t original = motions_->motions().size();
    const auto take = [&](matching::FrameTable& table) { TakeFrames(frames, reader, table); };
    motions_->Add(motion.name, take, read);
    if (!mirrored || !mirror) continue;
    motions_->Add(motion.name + kMirrored, take, [library = motions_.get(), original, mirror] {
      return mirror->Image(library->ReferenceOf(original));
    });
  }
}

std::vector<matching::Match> PlacesLike(const matching::MotionLibrary& library,
                                        const character::ReferenceMotion& motion, const std::string& name, double time,
                                        const matching::WindowOptions& options) {
  const std::vector<matching::Frame> frames = matching::FramesOf(motion);
  const auto start = static_cast<size_t>(std::lround(time / matching::kFrameTime));
  if (start + static_cast<size_t>(options.frames) > frames.size()) {
    throw InputError(name, io::Fixed(motion.duration(), 2) + " s of motion",
                     io::Fixed(time + (options.frames - 1) * matching::kFrameTime, 2) + " s at least");
  }
  return matching::WindowSearch(library, frames, {start}, options).NearestMotions(library.motions().size());
}

}  // namespace retrace::runs
