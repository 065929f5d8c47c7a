#include "retrace/jobs/response_examples.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"
#include "retrace/kinetics/push_search.h"
#include "retrace/recordings/bvh.h"
#include "retrace/response_model/recording_parts.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/clip_checks_text.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

using character::Pose;
using response_model::Example;
using response_model::Push;

namespace {

namespace fs = std::filesystem;

/// An example as the user named it.
struct ExampleName {
  fs::path path;
  std::optional<double> start, end;  // [s]
  std::vector<std::string> pushes;   // BODY:FX:FY:FZ:FROM-TO[:X:Y:Z]
};

constexpr std::string_view kPushWord = "push=";

ExampleName ParseExampleName(const std::string& text) {
  const size_t at = text.rfind('@');
  if (at == std::string::npos || fs::exists(text)) return {text, {}, {}, {}};
  const auto fail = [&] {
    throw UsageError("example: found \"" + text + "\", expected FOLDER, FILE or either with @START:END in seconds, " +
                     "after which ,push=BODY:FX:FY:FZ:FROM-TO may stand");
  };
  ExampleName name;
  name.path = text.substr(0, at);
  const std::vector<std::string> parts = io::Split(text.substr(at + 1), ',');
  const std::vector<std::string> times = io::Split(parts[0], ':');
  double start = 0, end = 0;
  if (times.size() != 2 || !io::ParseNumber(times[0], start) || !io::ParseNumber(times[1], end) || !(start >= 0) ||
      !(end > start) || !(end <= 86400)) {
    fail();
  }
  name.start = start;
  name.end = end;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].rfind(kPushWord, 0) != 0) fail();
    name.pushes.push_back(parts[i].substr(kPushWord.size()));
  }
  return name;
}

/// A push of a recording as the user named it.
Push ParsePushOf(const std::string& text, const character::Character& character) {
  const auto fail = [&](const std::string& expected) {
    throw UsageError("push: found \"" + text + "\", expected " + expected);
  };
  const std::vector<std::string> parts = io::Split(text, ':');
  if (parts.size() != 5 && parts.size() != 8) fail("BODY:FX:FY:FZ:FROM-TO or BODY:FX:FY:FZ:FROM-TO:X:Y:Z");
  Push push;
  push.body = character.FindBody(parts[0]);
  if (push.body < 0) fail("a body of the character instead of \"" + parts[0] + "\"");
  const auto number = [&](const std::string& word, double least, double most) {
    double value = 0;
    if (!io::ParseNumber(word, value) || !(value >= least) || !(value <= most)) {
      fail("a number from " + io::Number(least) + " to " + io::Number(most) + " instead of \"" + word + "\"");
    }
    return value;
  };
  constexpr double kMostForce = 1e5, kMostTime = 86400;
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    push.force[axis] = number(parts[static_cast<size_t>(1 + axis)], -kMostForce, kMostForce);
  }
  const std::vector<std::string> times = io::Split(parts[4], '-');
  if (times.size() != 2) fail("FROM-TO in seconds instead of \"" + parts[4] + "\"");
  push.start = number(times[0], 0, kMostTime);
  push.duration = number(times[1], 0, kMostTime) - push.start;
  if (!(push.duration > 0)) fail("a push that ends after it began");
  for (size_t axis = 0; parts.size() == 8 && axis < 3; ++axis) {
    push.point[static_cast<Eigen::Index>(axis)] = number(parts[5 + axis], -kFarthestPushPoint, kFarthestPushPoint);
  }
  return push;
}

/// What a run follows in time, if it repeats a cycle: the recording and the cycle.
void FindLoop(const io::Json& manifest, ExampleMotion& source) {
  if (!manifest.is_object() || !manifest.contains("reference") || !manifest["reference"].is_object()) return;
  const io::Json& reference = manifest["reference"];
  if (!reference.contains("loop") || !reference["loop"].is_object() || !reference["loop"].contains("duration")) return;
  io::Json loop = {{"cycle", reference["loop"]}};
  for (const io::Json& input : manifest.value("inputs", io::Json::array())) {
    if (input.value("role", "") == "clip") loop["clip"] = input.value("sha256", "");
  }
  source.loop = io::Dump(loop);
  const io::Json& duration = reference["loop"]["duration"];
  if (duration.is_number()) source.loop_period = std::max(duration.get<double>(), 0.0);
}

/// The motion of a run's folder, on `character`.
ExampleMotion MotionOfRun(const StoredRun& run, const character::Character& character) {
  const fs::path file = run.PathOf(0, results::kMotionFile);
  const motion::Clip clip = motion::ReadBvh(file);
  std::vector<Pose> poses = character::PosesOf(character, clip, file.string());
  if (poses.size() < 2) throw InputError(file.string(), "one frame", "a motion");
  ExampleMotion source{character::ReferenceMotion(character, clip.frame_time, std::move(poses), clip.frame_time)};
  for (const control::Push& push : run.AllPushes()) {
    source.pushes.push_back({push.body, push.force, push.start, push.duration});
  }
  FindLoop(run.manifest, source);
  return source;
}

bool IsRun(const fs::path& path) {
  return fs::is_directory(path);
}

void RequireSameCharacter(const StoredRun& run, const character::Character& character) {
  if (run.scene.characters[0].json != character.json) {
    throw InputError(run.folder.string(), "another character than that of the model or of the examples before it",
                     "motions of one character");
  }
}

StoredRun ReadRun(const fs::path& folder) {
  StoredRun run(folder);
  run.RequireOneCharacter("an example is the motion of one");
  return run;
}

/// A number of seconds in a name of a part.
std::string InSeconds(double seconds) {
  return io::Fixed(seconds, 2);
}

std::string PushWord(const Push& push, const character::Character& character) {
  std::string word = character.bodies[static_cast<size_t>(push.body)].name;
  for (Eigen::Index axis = 0; axis < 3; ++axis) word += ":" + io::Fixed(push.force[axis], 0);
  return word + ":" + InSeconds(push.start) + "-" + InSeconds(push.end());
}

class ExampleReader {
 public:
  explicit ExampleReader(const ResponseLearningOptions& options) : options_(options) {}

  ResponseExamples ReadAll() {
    const bool alone = options_.examples.size() == 1;
    for (const std::string& text : options_.examples) Read(text, alone);
    if (result_.examples.size() < 2) {
      throw UsageError(
          "examples: found " + std::to_string(result_.examples.size()) +
          ", expected the normal motion and at least one that is disturbed, or one recording of more than " +
          io::Fixed(kLongRecording, 0) + " s that has both");
    }
    if (options_.clock && loops_.size() == 1) result_.clock_period = loop_period_;
    result_.character = std::move(character_);
    return std::move(result_);
  }

  /// A recording of a character that is known already.
  ExampleMotion ReadRecording(const ExampleName& name, const character::Character& character) {
    character_ = std::make_unique<character::Character>(character);
    ExampleMotion source = SourceOf(name, false);
    source.motion = source.motion.Of(character);
    std::erase_if(source.pushes, [&](const Push& push) {
      return name.start && (push.start < *name.start || push.start >= *name.end);
    });
    return source;
  }

 private:
  bool first() const { return result_.examples.empty(); }

  void Read(const std::string& text, bool alone) {
    const ExampleName name = ParseExampleName(text);
    const ExampleMotion source = SourceOf(name, first() && !alone);
    if (loops_.empty() || loops_.back() != source.loop) loops_.push_back(source.loop);
    loop_period_ = source.loop_period;
    const double duration = source.motion.duration();
    if (source.recording && !name.start && options_.clock && duration > kLongRecording) {
      TakeRecordingApart(text, name, source, alone);
      return;
    }
    double start = 0, end = duration;
    if (name.start) {
      start = *name.start;
      end = std::min(end, *name.end);
    } else if (!source.pushes.empty()) {
      const double dt = options_.model.features.frame_time, push = source.pushes.front().start;
      start = std::max(0.0, std::floor((push - options_.before) / dt) * dt);
      end = std::min(end, push + options_.after);
    } else if (first()) {
      start = std::min(options_.normal_start, std::max(0.0, end - options_.normal_seconds));
      end = std::min(end, start + options_.normal_seconds);
    }
    if (!(start < end)) throw InputError(text, "a motion of " + io::Fixed(duration, 2) + " s", "a part of it");
    AddPart(name, source, start, end);
  }

  void AddPart(const ExampleName& name, const ExampleMotion& source, double start, double end) {
    Example& example = result_.examples.emplace_back();
    example.name = name.path.filename().string();
    example.clock = start;
    example.poses = PosesBetween(source.motion, start, end, options_.model.features.frame_time);
    for (Push push : source.pushes) {
      if (source.recording && (push.start < start || push.start >= end)) continue;
      push.start -= start;
      example.pushes.push_back(push);
    }
  }

  /// @param text as the user named it
  void TakeRecordingApart(const std::string& text, const ExampleName& name, const ExampleMotion& source, bool alone) {
    const double dt = options_.model.features.frame_time;
    const std::vector<Pose> poses = PosesBetween(source.motion, 0, source.motion.duration(), dt);
    response_model::PartOptions part_options;
    part_options.most_responses = static_cast<size_t>(options_.most_responses);
    const response_model::RecordingParts apart =
        response_model::TakeApart(*character_, poses, options_.model.features, part_options);
    const std::string file = name.path.filename().string();
    const auto add = [&](const response_model::RecordingPart& part, const std::string& what) {
      const double start = static_cast<double>(part.first) * dt, end = static_cast<double>(part.last) * dt;
      const size_t at = result_.examples.size();
      AddPart(name, source, start, end);
      std::string sentence = file + ": " + what + " from " + InSeconds(start) + " to " + InSeconds(end) + " s";
      if (part.peak > 0) sentence += ", " + io::Fixed(part.novelty, 1) + " times as unlike the rest as is usual";
      sentence += ": @" + InSeconds(start) + ":" + InSeconds(end);
      for (Push push : result_.examples[at].pushes) {
        push.start += start;
        sentence += ",push=" + PushWord(push, *character_);
      }
      result_.parts.push_back(sentence);
      result_.examples[at].name += "@" + InSeconds(start);
    };
    const bool responses = alone || !first();
    if (first()) {
      if (!apart.normal) {
        throw InputError(text, "no part in which each foot steps again and again in a straight line",
                         "a recording with " + io::Fixed(part_options.normal_time, 1) +
                             " s of plain walking, or its part by @START:END");
      }
      add(*apart.normal, "the normal motion");
    }
    if (!responses) return;
    if (apart.responses.empty()) {
      throw InputError(text, "no response: nothing in it stands out of the walk and returns to it",
                       "a recording of a walk that is disturbed, or its parts by @START:END");
    }
    for (const response_model::RecordingPart& part : apart.responses) add(part, "a response");
    const auto left = [&](size_t count, const std::string& why) {
      if (count > 0) result_.parts.push_back(file + ": " + std::to_string(count) + " " + why);
    };
    left(apart.left_out, "weaker responses were left out");
    left(apart.turns, "unusual parts are turns");
    left(apart.unreturned, "unusual parts do not begin and end in walking");
  }

  /// @param plain it was pushed by nothing
  ExampleMotion SourceOf(const ExampleName& name, bool plain) {
    if (IsRun(name.path)) {
      const StoredRun run = ReadRun(name.path);
      if (!character_) {
        character_ = std::make_unique<character::Character>(run.scene.characters[0]);
      }
      RequireSameCharacter(run, *character_);
      return MotionOfRun(run, *character_);
    }
    ClipOptions clip;
    clip.file = name.path;
    if (LacksSkeleton(clip)) clip.skeleton = options_.skeleton;
    CheckClip(clip);
    const std::vector<InputFile> files = ReadInputs(ClipInputs(clip));
    const motion::Clip recording = ParseClip(files, clip.choice);
    const ClipFindings findings(clip, files, options_.character, recording);
    if (!character_) character_ = std::make_unique<character::Character>(findings.character);
    if (findings.character.json != character_->json) {
      throw InputError(name.path.string(), "a recording that is mapped onto another character than the runs have",
                       "motions of the one character that is named for all");
    }
    for (const character::Doubt& doubt : findings.report.doubts) {
      result_.warnings.push_back(name.path.string() + ": " + doubt.text);
    }
    ExampleMotion source{findings.reference.Of(*character_)};
    source.recording = true;
    for (const std::string& push : name.pushes) source.pushes.push_back(ParsePushOf(push, *character_));
    if (name.pushes.empty() && !plain && options_.find_pushes) FindPushesOf(name, source);
    return source;
  }

  void FindPushesOf(const ExampleName& name, ExampleMotion& source) {
    const std::string file = name.path.filename().string();
    for (const kinetics::FoundPush& found : kinetics::FindPushes(source.motion)) {
      const Push& push =
          source.pushes.emplace_back(Push{found.body, found.force, found.start, found.duration, Vec3::Zero()});
      if (name.start && (found.start < *name.start || found.start >= *name.end)) continue;
      const std::string text =
          file + ": a push of at least " + io::Fixed(found.force.norm(), 0) + " N (deviation " +
          io::Fixed(found.deviation, 0) + " N) from " + InSeconds(push.start) + " to " + InSeconds(push.end()) +
          " s, best on " + character_->bodies[static_cast<size_t>(push.body)].name + " (" +
          io::Fixed(100 * found.moment_misfit, 0) + " % of its moment is left): push=" + PushWord(push, *character_);
      std::vector<std::string>& all = result_.pushes;
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    }
  }

  const ResponseLearningOptions& options_;
  std::unique_ptr<character::Character> character_;
  std::vector<std::string> loops_;  // that differ
  double loop_period_ = 0;          // of the last one [s]
  ResponseExamples result_;
};

}  // namespace

std::vector<Pose> PosesBetween(const character::ReferenceMotion& motion, double start, double end, double frame_time) {
  std::vector<Pose> poses;
  const auto count = static_cast<size_t>(std::floor((std::min(end, motion.duration()) - start) / frame_time + 1e-6));
  for (size_t i = 0; i <= count; ++i) {
    motion.PoseAt(start + static_cast<double>(i) * frame_time, poses.emplace_back());
  }
  return poses;
}

ExampleMotion ReadRunMotion(const fs::path& folder, const character::Character& character) {
  const StoredRun run = ReadRun(folder);
  RequireSameCharacter(run, character);
  return MotionOfRun(run, character);
}

ExampleMotion ReadCompared(const std::string& name, const ResponseLearningOptions& options,
                           const character::Character& character) {
  const ExampleName parsed = ParseExampleName(name);
  if (IsRun(parsed.path)) return ReadRunMotion(parsed.path, character);
  return ExampleReader(options).ReadRecording(parsed, character);
}

ResponseExamples ReadExamples(const ResponseLearningOptions& options) {
  return ExampleReader(options).ReadAll();
}

}  // namespace retrace::runs
