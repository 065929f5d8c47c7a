/// A response model from files to files: examples that are run folders or recordings, the model's folder, and motions
/// that it plays (synthesis/response_model.h).
///
///     retrace::runs::ResponseLearningOptions options;
///     options.examples = {"results/walk", "results/pushed_1", "results/pushed_2"};
///     const retrace::runs::LearnedResponse learned = retrace::runs::LearnResponse(options);
///     retrace::runs::WriteLearnedResponse("results/response", false, learned);
///
///     const retrace::response_model::StoredModel stored = retrace::runs::LoadResponseModel("results/response");
///     retrace::runs::SynthesisOptions play;
///     play.pushes = {"trunk,80:0:0,2,0.2"};
///     const retrace::runs::Synthesis motion = retrace::runs::Synthesize(stored.model, play);
///     retrace::runs::WriteSynthesis("results/synthesis", false, stored.model, play, motion, "");
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/io/describe.h"
#include "retrace/jobs/response_examples.h"
#include "retrace/jobs/response_job.h"
#include "retrace/response_model/judge.h"
#include "retrace/response_model/model_file.h"
#include "retrace/response_model/response_player.h"

namespace retrace::runs {

struct LearnedResponse {
  std::unique_ptr<character::Character> character;  ///< that the model points at
  response_model::ResponseLearning learning;
  std::vector<std::pair<int, double>> values;  ///< of L_P, after each iteration
  std::vector<std::string> warnings;           ///< sentences: examples that do not return
  std::vector<std::string> pushes;             ///< sentences: pushes that were found in recordings
  std::vector<std::string> parts;              ///< sentences: what was taken of long recordings, and how to name it
};

/// Throws UsageError and InputError for examples that are none, of other characters, too short, without a cycle.
LearnedResponse LearnResponse(const ResponseLearningOptions& options);

/// Writes model.json, learning.csv (iteration, value), latent.csv (example, time, pushed, latent coordinates) and
/// latent.svg (the latent trajectories). Throws UsageError where the folder has something in it and `force` is not set,
/// OutputError.
void WriteLearnedResponse(const std::filesystem::path& folder, bool force, const LearnedResponse& learned);

/// A model's folder, or its file. Throws InputError.
response_model::StoredModel LoadResponseModel(const std::filesystem::path& folder_or_file);

inline constexpr double kFastestSynthesis = 12;  ///< of a root [m/s]: faster than any runner
/// A motion is doubtful where an observation deviates by more; 1 where no example tells anything.
inline constexpr double kFarDeviation = 0.75;

inline constexpr std::string_view kSynthesisFile = "synthesis.json";

struct SynthesisOptions {
  double seconds = 10;
  /// BODY,FX:FY:FZ,START,DURATION as control::ParsePush has it, times from the beginning on; ,X:Y:Z after it is a point
  /// in the body's frame [m] instead of its center of mass.
  std::vector<std::string> pushes;
  /// Folder of a pushed run, or a recording as among the examples: the synthesis begins with it shortly before its
  /// push, goes on under its pushes for `seconds` after that, and is compared with it. Empty: it begins with the normal
  /// motion.
  std::string against;
  /// Folder of the same run without pushes, to compare with, too. Empty: the synthesis goes on without the pushes.
  std::filesystem::path undisturbed;
  std::filesystem::path skeleton;   ///< of a recording `against`: ASF of AMC
  std::string character = "human";  ///< that a recording `against` is mapped onto
  bool paper = false;               ///< SynthesisOptions of the paper
  response_model::SynthesisOptions synthesis;
};

/// Distances from the run that a synthesis is compared with, frame by frame.
struct SynthesisError {
  double time = 0;  ///< after the beginning of the push [s]
  response_model::PoseDistance response, undisturbed, nearest;
};

struct Synthesis {
  std::vector<character::Pose> poses;
  std::vector<response_model::SynthesisRecord> records;  ///< one fewer: of the poses after the first
  std::vector<response_model::Push> pushes;              ///< times from the first pose on
  response_model::Plausibility plausibility;
  double out_of_balance = 0, example_out_of_balance = 0;  ///< of the motion and of the examples
                                                          ///< (kinetics::ShareOutOfBalance)
  std::vector<SynthesisError> errors;
  std::string nearest;                                ///< name of the example with the most similar push
  std::optional<double> one_step_error;               ///< of the run that it is compared with [steps] (OneStepError)
  std::vector<response_model::ModelSwitch> switches;  ///< of several models
  double cpu_seconds = 0;
  /// Sentences: why the motion is not to be trusted, because no example is like it. Empty: nothing was found.
  std::vector<std::string> doubts;
};

/// Plays a model, or several that share their normal motion (response_model::ResponsePlayer); figures are those of the
/// first. Throws UsageError for pushes that are none, InputError for runs that do not fit the model and for models that
/// do not fit one another.
Synthesis Synthesize(const std::vector<const response_model::ResponseModel*>& models, const SynthesisOptions& options);

/// Writes synthesis.bvh, control.json, which shows it, latent.csv (time, pushed, displacement, deviation, evaluations,
/// latent coordinates), latent.svg, errors.csv where the motion was compared, and synthesis.json, which says that the
/// motion is kinematic. Throws as WriteLearnedResponse.
void WriteSynthesis(const std::filesystem::path& folder, bool force, const response_model::ResponseModel& model,
                    const SynthesisOptions& options, const Synthesis& result, const std::string& command);

/// Figures as lines for people.
std::string Describe(const LearnedResponse& learned);
std::string Describe(const response_model::ResponseModel& model, const Synthesis& result);

/// The latent trajectories of a model as a picture (SVG): coordinates 1 and 2, and 1 and 3, the normal motion thick, a
/// synthesis, if any, over them with its pushes marked.
std::string LatentPicture(const response_model::ResponseModel& model, const Synthesis* synthesis = nullptr);

}  // namespace retrace::runs
