#include "retrace/jobs/learned_response.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "retrace/character/kinematics.h"
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
#include "retrace/response_model/alignment.h"
#include "retrace/results/run_folder.h"

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
ExampleMotion SourceOfComparison(const SynthesisOptions& options, const character::Character& character) {
  ResponseLearningOptions reading;
  reading.skeleton = options.skeleton;
  reading.character = options.character;
  return ReadCompared(options.against, reading, character);
}

/// @param alone poses as those of the result, without the pushes
void Compare(const ResponseModel& model, const SynthesisOptions& options, const ExampleMotion& source, double start,
             const std::vector<Pose>& alone, Synthesis& result) {
  const double dt = model.options.features.frame_time;
  const Push& push = source.pushes.front();
  std::optional<ExampleMotion> undisturbed;
  if (!options.undisturbed.empty()) undisturbed.emplace(ReadRunMotion(options.undisturbed, *model.character));
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
    } else {
      other = alone[i];
    }
    error.undisturbed = response_model::DistanceOf(*model.character, other, truth);
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
  ResponseExamples read = ReadExamples(options);
  std::vector<Example> examples = std::move(read.examples);
  response_model::ResponseOptions model_options = options.model;
  model_options.clock_period = read.clock_period;
  if (options.clock && model_options.clock_period == 0) {
    response_model::Alignment aligned = AlignExamples(options, *read.character, examples);
    examples = std::move(aligned.examples);
    model_options.clock_period = aligned.period;
    model_options.observation_mean = true;
    model_options.plain_radius = kPlainRadius;
    model_options.longest_response = aligned.longest_response;
  } else {
    TrimReturned(options, *read.character, examples);
  }
  for (Example& example : examples) {
    if (model_options.clock_period > 0) continue;
    example.clock.reset();
    example.times.clear();
  }
  LearnedResponse result;
  result.warnings = std::move(read.warnings);
  result.pushes = std::move(read.pushes);
  result.parts = std::move(read.parts);
  result.character = std::move(read.character);
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
constexpr double kLessBalance = 0.05;  // than in the examples, a share of the time

double StrongestPush(const ResponseModel& model) {
  double most = 0;
  for (const Example& example : model.examples) {
    for (const Push& push : example.pushes) most = std::max(most, push.force.norm());
  }
  return most;
}

double OutOfBalance(const ResponseModel& model, const std::vector<Pose>& poses, const std::vector<Push>& pushes) {
  const double dt = model.options.features.frame_time;
  std::vector<std::pair<double, double>> times;
  for (const Push& push : pushes) times.emplace_back(push.start, push.end());
  return kinetics::ShareOutOfBalance(character::ReferenceMotion(*model.character, dt, poses, dt), times);
}

/// The same of all examples together.
double ExamplesOutOfBalance(const ResponseModel& model) {
  double sum = 0, count = 0;
  for (const Example& example : model.examples) {
    const auto poses = static_cast<double>(example.poses.size());
    sum += poses * OutOfBalance(model, example.poses, example.pushes);
    count += poses;
  }
  return sum / count;
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
  if (result.out_of_balance > result.example_out_of_balance + kLessBalance) {
    doubts.push_back("the motion requires forces that feet cannot give " + io::Fixed(100 * result.out_of_balance, 0) +
                     " % of the time, the examples " + io::Fixed(100 * result.example_out_of_balance, 0) + " %");
  }
  return doubts;
}

/// A push as control::ParsePush has it, after which a point in the body's frame may stand.
Push ParsePushAtPoint(const std::string& text, const control::Scene& scene, double seconds) {
  const std::vector<std::string> parts = io::Split(text, ',');
  const bool at_point = parts.size() == 5;
  const control::Push push = control::ParsePush(at_point ? text.substr(0, text.rfind(',')) : text, scene, seconds);
  Push result{push.body, push.force, push.start, push.duration, Vec3::Zero()};
  if (!at_point) return result;
  const std::vector<std::string> axes = io::Split(parts[4], ':');
  bool good = axes.size() == 3;
  for (size_t axis = 0; good && axis < 3; ++axis) {
    double& length = result.point[static_cast<Eigen::Index>(axis)];
    good = io::ParseNumber(axes[axis], length) && std::abs(length) <= kFarthestPushPoint;
  }
  if (!good) {
    throw UsageError("push " + text + ": found the point \"" + parts[4] + "\", expected three numbers X:Y:Z from -" +
                     io::Number(kFarthestPushPoint) + " to " + io::Number(kFarthestPushPoint) +
                     " (m, in the body's frame)");
  }
  return result;
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
  std::optional<ExampleMotion> source;
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
    if (period > 0 && !source->recording && !HasUnevenClock(model) && std::abs(source->loop_period - period) > 1e-9) {
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
      result.pushes.push_back(ParsePushAtPoint(text, scene, seconds));
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
  if (result.poses.size() >= 2) {
    result.out_of_balance = OutOfBalance(model, result.poses, result.pushes);
    result.example_out_of_balance = ExamplesOutOfBalance(model);
  }
  result.doubts = DoubtsOf(model, result);
  if (source) {
    std::vector<Pose> alone;
    if (options.undisturbed.empty()) {
      player->Start(beginning, 3);
      alone.push_back(player->pose());
      while (alone.size() < result.poses.size()) {
        player->Step({});
        alone.push_back(player->pose());
      }
    }
    Compare(model, options, *source, start, alone, result);
    Example run;
    run.clock = 0;
    run.poses = PosesBetween(source->motion, 0, source->motion.duration(), dt);
    run.pushes = source->pushes;
    result.one_step_error = response_model::OneStepError(model, run);
  }
  return result;
}

}  // namespace retrace::runs
