#include "retrace/jobs/learned_response.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/character/skeleton.h"
#include "retrace/control/control.h"
#include "retrace/control/push_text.h"
#include "retrace/io/cpu_time.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"
#include "retrace/jobs/response_job.h"
#include "retrace/kinetics/push_search.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/response_model/alignment.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/clip_checks_text.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

using character::Pose;
using response_model::Example;
using response_model::Push;
using response_model::ResponseModel;

namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.json";
constexpr double kPlainRadius = 0.5;  // of people, whose steps differ by that much and more [steps]
constexpr double kFarEnd = 1;         // steps from the normal motion at which an example has not returned

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
  constexpr double kMostForce = 1e5, kMostTime = 86400, kMostLength = 10;
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    push.force[axis] = number(parts[static_cast<size_t>(1 + axis)], -kMostForce, kMostForce);
  }
  const std::vector<std::string> times = io::Split(parts[4], '-');
  if (times.size() != 2) fail("FROM-TO in seconds instead of \"" + parts[4] + "\"");
  push.start = number(times[0], 0, kMostTime);
  push.duration = number(times[1], 0, kMostTime) - push.start;
  if (!(push.duration > 0)) fail("a push that ends after it began");
  for (size_t axis = 0; parts.size() == 8 && axis < 3; ++axis) {
    push.point[static_cast<Eigen::Index>(axis)] = number(parts[5 + axis], -kMostLength, kMostLength);
  }
  return push;
}

/// A whole motion with its pushes, before a part of it is taken.
struct SourceMotion {
  character::ReferenceMotion motion;
  std::vector<Push> pushes;
  io::Json loop;  // what it repeats, and how it came to the reference; null: it goes by no clock
  bool recording = false;
};

/// What a run follows in time, if it repeats a cycle: the recording and the cycle.
io::Json LoopOf(const io::Json& manifest) {
  if (!manifest.is_object() || !manifest.contains("reference") || !manifest["reference"].is_object()) return {};
  const io::Json& reference = manifest["reference"];
  if (!reference.contains("loop") || !reference["loop"].is_object() || !reference["loop"].contains("duration"))
    return {};
  io::Json loop = {{"cycle", reference["loop"]}};
  for (const io::Json& input : manifest.value("inputs", io::Json::array())) {
    if (input.value("role", "") == "clip") loop["clip"] = input.value("sha256", "");
  }
  return loop;
}

/// The motion of a run's folder, on `character`.
SourceMotion MotionOfRun(const StoredRun& run, const character::Character& character) {
  const fs::path file = run.PathOf(0, results::kMotionFile);
  const motion::Clip clip = motion::ReadBvh(file);
  std::vector<Pose> poses = character::PosesOf(character, clip, file.string());
  if (poses.size() < 2) throw InputError(file.string(), "one frame", "a motion");
  std::vector<Push> pushes;
  for (const control::Push& push : run.AllPushes())
    pushes.push_back({push.body, push.force, push.start, push.duration});
  return {character::ReferenceMotion(character, clip.frame_time, std::move(poses), clip.frame_time), pushes,
          LoopOf(run.manifest)};
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

std::vector<Pose> PosesBetween(const character::ReferenceMotion& motion, double start, double end, double frame_time) {
  std::vector<Pose> poses;
  const auto count = static_cast<size_t>(std::floor((std::min(end, motion.duration()) - start) / frame_time + 1e-6));
  for (size_t i = 0; i <= count; ++i) {
    motion.PoseAt(start + static_cast<double>(i) * frame_time, poses.emplace_back());
  }
  return poses;
}

class ExampleReader {
 public:
  explicit ExampleReader(const ResponseLearningOptions& options) : options_(options) {}

  Example Read(const std::string& text) {
    const ExampleName name = ParseExampleName(text);
    const SourceMotion source = SourceOf(name, first_);
    const double dt = options_.model.features.frame_time;
    double start = 0, end = source.motion.duration();
    if (name.start) {
      start = *name.start;
      end = std::min(end, *name.end);
    } else if (!source.pushes.empty()) {
      const double push = source.pushes.front().start;
      start = std::max(0.0, std::floor((push - options_.before) / dt) * dt);
      end = std::min(end, push + options_.after);
    } else if (first_) {
      start = std::min(options_.normal_start, std::max(0.0, end - options_.normal_seconds));
      end = std::min(end, start + options_.normal_seconds);
    }
    first_ = false;
    if (!(start < end))
      throw InputError(text, "a motion of " + io::Fixed(source.motion.duration(), 2) + " s", "a part of it");
    if (loops_.empty() || loops_.back() != source.loop) loops_.push_back(source.loop);
    Example example;
    example.name = name.path.filename().string();
    example.clock = start;
    example.poses = PosesBetween(source.motion, start, end, dt);
    for (Push push : source.pushes) {
      if (source.recording && (push.start < start || push.start >= end)) continue;
      push.start -= start;
      example.pushes.push_back(push);
    }
    return example;
  }

  /// Period of the clock of all examples; 0: there is none [s].
  double ClockPeriod() const {
    if (!options_.clock || loops_.size() != 1 || loops_[0].is_null()) return 0;
    const io::Json& duration = loops_[0]["cycle"]["duration"];
    return duration.is_number() && duration.get<double>() > 0 ? duration.get<double>() : 0;
  }

  /// A recording of a character that is known already.
  SourceMotion ReadRecording(const ExampleName& name, const character::Character& character) {
    character_ = std::make_unique<character::Character>(character);
    SourceMotion source = SourceOf(name, false);
    source.motion = source.motion.Of(character);
    std::erase_if(source.pushes, [&](const Push& push) {
      return name.start && (push.start < *name.start || push.start >= *name.end);
    });
    return source;
  }

  std::unique_ptr<character::Character> TakeCharacter() { return std::move(character_); }
  const character::Character& character() const { return *character_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::vector<std::string>& pushes() const { return pushes_; }

 private:
  /// @param plain it was pushed by nothing
  SourceMotion SourceOf(const ExampleName& name, bool plain) {
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
      warnings_.push_back(name.path.string() + ": " + doubt.text);
    }
    SourceMotion source{findings.reference.Of(*character_), {}, {}, true};
    for (const std::string& push : name.pushes) source.pushes.push_back(ParsePushOf(push, *character_));
    if (name.pushes.empty() && !plain && options_.find_pushes) FindPushesOf(name, source);
    return source;
  }

  void FindPushesOf(const ExampleName& name, SourceMotion& source) {
    const std::string file = name.path.filename().string();
    for (const kinetics::FoundPush& found : kinetics::FindPushes(source.motion)) {
      source.pushes.push_back({found.body, found.force, found.start, found.duration, Vec3::Zero()});
      if (name.start && (found.start < *name.start || found.start >= *name.end)) continue;
      const std::string body = character_->bodies[static_cast<size_t>(found.body)].name;
      const std::string text = file + ": a push of at least " + io::Fixed(found.force.norm(), 0) + " N (deviation " +
                               io::Fixed(found.deviation, 0) + " N) from " + io::Fixed(found.start, 2) + " to " +
                               io::Fixed(found.start + found.duration, 2) + " s, best on " + body + " (" +
                               io::Fixed(100 * found.moment_misfit, 0) + " % of its moment is left): push=" + body +
                               ":" + io::Fixed(found.force.x(), 0) + ":" + io::Fixed(found.force.y(), 0) + ":" +
                               io::Fixed(found.force.z(), 0) + ":" + io::Fixed(found.start, 2) + "-" +
                               io::Fixed(found.start + found.duration, 2);
      if (std::find(pushes_.begin(), pushes_.end(), text) == pushes_.end()) pushes_.push_back(text);
    }
  }

  const ResponseLearningOptions& options_;
  std::unique_ptr<character::Character> character_;
  std::vector<io::Json> loops_;  // that differ
  std::vector<std::string> warnings_;
  std::vector<std::string> pushes_;  // that were found
  bool first_ = true;
};

/// Leaves out what comes after an example has returned for good.
void TrimReturned(const ResponseLearningOptions& options, const character::Character& character,
                  std::vector<Example>& examples) {
  response_model::FeatureMap features(character, options.model.features);
  const Eigen::MatrixXd normals = features.ObserveAll(examples.front().poses);
  if (normals.cols() < 2) return;
  const double step =
      (normals.rightCols(normals.cols() - 1) - normals.leftCols(normals.cols() - 1)).colwise().norm().mean();
  for (size_t e = 1; e < examples.size(); ++e) {
    Example& example = examples[e];
    if (example.pushes.empty() || example.poses.size() < 6) continue;
    const Eigen::MatrixXd observations = features.ObserveAll(example.poses);
    Eigen::Index last = 0;
    for (Eigen::Index i = 0; i < observations.cols(); ++i) {
      const double distance = (normals.colwise() - observations.col(i)).colwise().norm().minCoeff();
      if (distance > options.returned * step) last = i;
    }
    const auto kept = static_cast<size_t>(std::min(last + 5, observations.cols() - 1)) + 3;
    const auto pushed =
        static_cast<size_t>(std::ceil(example.pushes.back().end() / options.model.features.frame_time)) + 2;
    example.poses.resize(std::min(example.poses.size(), std::max(kept, pushed)));
  }
}

/// Recordings of people, brought to one clock.
response_model::Alignment AlignExamples(const ResponseLearningOptions& options, const character::Character& character,
                                        const std::vector<Example>& examples) {
  try {
    return response_model::Align(character, examples, options.model.features);
  } catch (const std::invalid_argument& error) {
    throw InputError("examples", error.what(), "examples from which a response can be learned");
  }
}

control::Scene SceneOf(const character::Character& character, const Pose& pose) {
  control::OpenLoopControl nothing;
  character::ForwardKinematics(character, pose, nothing.start);
  nothing.fragments.push_back({0, 1, {}});
  return control::MakeScene(character, nothing);
}

/// Whether the clock of a model is that of people: they do not keep it.
bool HasUnevenClock(const ResponseModel& model) {
  return std::any_of(model.examples.begin(), model.examples.end(),
                     [](const Example& example) { return !example.times.empty(); });
}

/// The motion that a synthesis is compared with: a run, or a recording with its pushes.
SourceMotion SourceOfComparison(const SynthesisOptions& options, const character::Character& character) {
  const ExampleName name = ParseExampleName(options.against);
  if (IsRun(name.path)) {
    const StoredRun run = ReadRun(name.path);
    RequireSameCharacter(run, character);
    return MotionOfRun(run, character);
  }
  ResponseLearningOptions reading;
  reading.skeleton = options.skeleton;
  reading.character = options.character;
  return ExampleReader(reading).ReadRecording(name, character);
}

void Compare(const ResponseModel& model, const SynthesisOptions& options, const SourceMotion& source, double start,
             Synthesis& result) {
  const double dt = model.options.features.frame_time;
  const Push& push = source.pushes.front();
  std::optional<SourceMotion> undisturbed;
  if (!options.undisturbed.empty()) {
    const StoredRun run = ReadRun(options.undisturbed);
    RequireSameCharacter(run, *model.character);
    undisturbed.emplace(MotionOfRun(run, *model.character));
  }
  const double before = std::floor(push.start / dt + 1e-6) * dt;
  const std::vector<Pose> three = PosesBetween(source.motion, before - 2 * dt, before, dt);
  const response_model::NearestExample nearest =
      response_model::FindNearestExample(model, push, response_model::PhaseOf(model, three) + push.start - before);
  const Example& example = model.examples[nearest.example];
  result.nearest = example.name;
  Pose truth, other, beginning;
  source.motion.PoseAt(push.start, beginning);
  for (size_t i = 1; i < result.poses.size(); ++i) {
    const double time = start + static_cast<double>(i) * dt;
    if (time > source.motion.duration()) break;
    source.motion.PoseAt(time, truth);
    SynthesisError& error = result.errors.emplace_back();
    error.time = time - push.start;
    error.response = response_model::DistanceOf(*model.character, result.poses[i], truth);
    if (undisturbed) {
      undisturbed->motion.PoseAt(time, other);
      error.undisturbed = response_model::DistanceOf(*model.character, other, truth);
    }
    // The example from its push on, moved to where the run was pushed; after its end, its last pose goes on as the run
    // without pushes does.
    const double at = static_cast<double>(nearest.push_frame) + std::max(error.time, 0.0) / dt;
    const size_t last = example.poses.size() - 1;
    const auto frame = std::min(static_cast<size_t>(at), last);
    character::Interpolate(example.poses[frame], example.poses[std::min(frame + 1, last)],
                           std::min(at - static_cast<double>(frame), 1.0), other);
    const Vec3 moved = beginning.root_position - example.poses[nearest.push_frame].root_position;
    other.root_position += Vec3(moved.x(), 0, moved.z());
    if (at > static_cast<double>(last) && undisturbed) {
      Pose then;
      const double end = push.start + static_cast<double>(last - nearest.push_frame) * dt;
      undisturbed->motion.PoseAt(end, then);
      const Vec3 offset = other.root_position - then.root_position;
      undisturbed->motion.PoseAt(time, other);
      other.root_position += Vec3(offset.x(), 0, offset.z());
    }
    error.nearest = response_model::DistanceOf(*model.character, other, truth);
  }
}

}  // namespace

LearnedResponse LearnResponse(const ResponseLearningOptions& options) {
  if (options.examples.size() < 2) {
    throw UsageError("examples: found " + std::to_string(options.examples.size()) +
                     ", expected the normal motion and at least one that is disturbed");
  }
  ExampleReader reader(options);
  std::vector<Example> examples;
  for (const std::string& text : options.examples) examples.push_back(reader.Read(text));
  response_model::ResponseOptions model_options = options.model;
  model_options.clock_period = reader.ClockPeriod();
  if (options.clock && model_options.clock_period == 0) {
    response_model::Alignment aligned = AlignExamples(options, reader.character(), examples);
    examples = std::move(aligned.examples);
    model_options.clock_period = aligned.period;
    model_options.observation_mean = true;
    model_options.plain_radius = kPlainRadius;
    model_options.longest_response = aligned.longest_response;
  } else {
    TrimReturned(options, reader.character(), examples);
  }
  for (Example& example : examples) {
    if (model_options.clock_period > 0) continue;
    example.clock.reset();
    example.times.clear();
  }
  LearnedResponse result;
  result.warnings = reader.warnings();
  result.pushes = reader.pushes();
  result.character = reader.TakeCharacter();
  try {
    result.learning = response_model::LearnResponse(*result.character, std::move(examples), model_options,
                                                    [&](int iteration, double value) {
                                                      result.values.emplace_back(iteration, value);
                                                      return true;
                                                    });
  } catch (const std::invalid_argument& error) {
    throw InputError("examples", error.what(), "examples from which a response can be learned");
  } catch (const Error&) {
    throw;
  } catch (const std::system_error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw InputError("examples", error.what(), "examples from which a response can be learned");
  }
  const ResponseModel& model = result.learning.model;
  for (size_t e = 1; e < model.examples.size(); ++e) {
    const double distance = result.learning.end_distances[e];
    if (distance <= kFarEnd) continue;
    result.warnings.push_back(
        model.examples[e].name + " ends " + io::Fixed(distance, 1) +
        " steps from the normal motion: it has not returned; a longer part of it after the push says how");
  }
  return result;
}

response_model::StoredModel LoadResponseModel(const fs::path& folder_or_file) {
  const fs::path file = fs::is_directory(folder_or_file) ? folder_or_file / kModelFile : folder_or_file;
  return response_model::ReadModel(io::ReadJson(file), file.string());
}

namespace {

// What is farther from the examples than this is doubtful.
constexpr double kFarJoint = 20;       // [degrees]
constexpr double kFarHeight = 0.1;     // of the root [m]
constexpr double kMoreSkating = 0.03;  // than in the examples, a share of the time
constexpr double kStrongerPush = 1.5;  // than the strongest of the examples

double StrongestPush(const ResponseModel& model) {
  double most = 0;
  for (const Example& example : model.examples) {
    for (const Push& push : example.pushes) most = std::max(most, push.force.norm());
  }
  return most;
}

/// Why a motion is not to be trusted.
std::vector<std::string> DoubtsOf(const ResponseModel& model, const Synthesis& result) {
  std::vector<std::string> doubts;
  const response_model::Plausibility& figures = result.plausibility;
  const double dt = model.options.features.frame_time;
  double deviation = 0, strongest = 0;
  size_t where = 0;
  for (size_t i = 0; i < result.records.size(); ++i) {
    if (result.records[i].deviation <= deviation) continue;
    deviation = result.records[i].deviation;
    where = i + 1;
  }
  for (const Push& push : result.pushes) strongest = std::max(strongest, push.force.norm() * push.duration);
  double known = 0;
  for (const Example& example : model.examples) {
    for (const Push& push : example.pushes) known = std::max(known, push.force.norm() * push.duration);
  }
  if (deviation > kFarDeviation) {
    doubts.push_back("at " + io::Fixed(static_cast<double>(where) * dt, 2) +
                     " s no example is like the motion: its standard deviation is " + io::Fixed(deviation, 2) +
                     " of that of all that was learned");
  }
  if (known > 0 && strongest > kStrongerPush * known) {
    doubts.push_back("a push gives " + io::Fixed(strongest, 0) + " N s, and the strongest of the examples " +
                     io::Fixed(known, 0));
  }
  if (figures.joint_excess > Radians(kFarJoint)) {
    doubts.push_back("a joint is " + io::Fixed(Degrees(figures.joint_excess), 0) + " degrees from the examples'");
  }
  if (figures.height_excess > kFarHeight) {
    doubts.push_back("the root is " + io::Fixed(100 * figures.height_excess, 0) + " cm outside the examples' heights");
  }
  if (figures.feet.skating > figures.example_feet.skating + kMoreSkating) {
    doubts.push_back("a foot that should stand skates " + io::Fixed(100 * figures.feet.skating, 1) +
                     " % of the time, in the examples " + io::Fixed(100 * figures.example_feet.skating, 1) + " %");
  }
  return doubts;
}

}  // namespace

Synthesis Synthesize(const std::vector<const ResponseModel*>& models, const SynthesisOptions& options) {
  std::optional<response_model::ResponsePlayer> player;
  try {
    player.emplace(models, options.synthesis);
  } catch (const std::invalid_argument& error) {
    throw InputError("models", error.what(), "models of one character that were learned with one normal motion");
  }
  const ResponseModel& model = *models.front();
  const double dt = model.options.features.frame_time;
  Synthesis result;
  Example beginning;
  std::optional<SourceMotion> source;
  double start = 0;  // of the synthesis, in the run
  double seconds = options.seconds;
  if (!options.against.empty()) {
    const std::string& name = options.against;
    source.emplace(SourceOfComparison(options, *model.character));
    if (source->pushes.empty()) {
      throw InputError(name,
                       source->recording ? "a recording without a push that is named or found" : "a run without pushes",
                       "one that was pushed");
    }
    const double period = model.options.clock_period;
    if (period > 0 && !source->recording && !HasUnevenClock(model) &&
        (source->loop.is_null() || std::abs(source->loop["cycle"]["duration"].get<double>() - period) > 1e-9)) {
      throw InputError(name, "a run that repeats another cycle, or none",
                       "one that goes by the clock of the model's examples");
    }
    const double push = source->pushes.front().start;
    start = (std::floor(push / dt + 1e-6) - 1) * dt;
    if (start < 3 * dt) throw InputError(name, "a push at its beginning", "one after four poses at least");
    beginning.poses = PosesBetween(source->motion, start - 3 * dt, start, dt);
    beginning.clock = start - 3 * dt;
    if (HasUnevenClock(model)) {
      // The clock of people is that of the pose.
      const std::vector<Pose> three(beginning.poses.end() - 3, beginning.poses.end());
      beginning.clock = response_model::PhaseOf(model, three) - 3 * dt;
    }
    for (Push p : source->pushes) {
      p.start -= start;
      result.pushes.push_back(p);
    }
    seconds += push - start;
  } else {
    beginning = model.examples.front();
    beginning.poses.resize(4);
  }
  if (!options.pushes.empty()) {
    const control::Scene scene = SceneOf(*model.character, beginning.poses.back());
    for (const std::string& text : options.pushes) {
      const control::Push push = control::ParsePush(text, scene, seconds);
      result.pushes.push_back({push.body, push.force, push.start, push.duration});
    }
  }
  player->Start(beginning, 3);
  result.poses.push_back(player->pose());
  const auto frames = static_cast<size_t>(std::floor(seconds / dt + 1e-6));
  const double begin = io::ThreadCpuSeconds();
  for (size_t i = 0; i < frames; ++i) {
    result.records.push_back(player->Step(result.pushes));
    const Vec3 step = player->pose().root_position - result.poses.back().root_position;
    if (!(step.norm() <= kFastestSynthesis * dt)) {
      throw UsageError("the synthesis flies away: at " + io::Fixed(static_cast<double>(i + 1) * dt, 2) +
                       " s its root moves at " + io::Number(std::round(step.norm() / dt)) +
                       " m/s; expected pushes like those of the model's examples, which are at most " +
                       io::Number(std::round(StrongestPush(model))) + " N");
    }
    result.poses.push_back(player->pose());
  }
  result.switches = player->switches();
  result.cpu_seconds = io::ThreadCpuSeconds() - begin;
  if (result.poses.size() >= 5) result.plausibility = response_model::Judge(model, result.poses);
  result.doubts = DoubtsOf(model, result);
  if (source) {
    Compare(model, options, *source, start, result);
    Example run;
    run.clock = 0;
    run.poses = PosesBetween(source->motion, 0, source->motion.duration(), dt);
    run.pushes = source->pushes;
    result.one_step_error = response_model::OneStepError(model, run);
  }
  return result;
}

}  // namespace retrace::runs
