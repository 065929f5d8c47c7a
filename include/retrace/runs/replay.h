/// A stored run simulated again: as it was, in other worlds, with the characters of other runs, under pushes, or with
/// the servos driven at the reference.
///
///     retrace::runs::StoredRun run("results/walk");
///     const auto replayed = retrace::runs::Replay(run);
///
/// Two characters in one world, written as a run folder, read back and verified:
///
///     namespace runs = retrace::runs;
///     runs::StoredRun run("results/walk");
///     run.Join(runs::StoredRun("results/roll"), {retrace::Radians(180), {1.2, 0, 3}});
///     const runs::Replayed replayed = runs::Replay(run);
///     for (const runs::CharacterReplay& character : replayed.characters) {
///       std::printf("%s\n", character.evaluation->success() ? "within the gates" : "below the gates");
///     }
///     retrace::results::RunFolder folder("results/two", false);
///     runs::WriteReplay(folder, run, replayed, {});
///     const std::string difference = runs::StoredRun("results/two").Verify().difference;
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/runs/manifest.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/stored_run.h"

namespace retrace::runs {

/// The outcome for one character.
struct CharacterReplay {
  control::Trajectory trajectory;                 ///< as control::TrajectoryOf has it
  std::optional<metrics::Evaluation> evaluation;  ///< where there is a reference
};

struct Replayed {
  std::vector<control::Push> pushes;  ///< under which it was simulated
  std::vector<CharacterReplay> characters;

  const control::Trajectory& first() const { return characters.front().trajectory; }
  bool diverged() const { return first().diverged; }
  /// Whether every character that has a reference is within the gates.
  bool success() const;
  /// Whether every character that has a reference reached its end.
  bool completed() const;
};

/// Simulates the controls of a run in a new world.
Replayed Replay(const StoredRun& run, std::vector<control::Push> pushes = {});
/// The same with other targets or another world for the characters of a run.
Replayed Replay(const StoredRun& run, const control::Scene& scene, std::vector<control::Push> pushes);

/// A stored run simulated as it was made.
struct ReplayedRun {
  explicit ReplayedRun(StoredRun stored);

  StoredRun run;
  Replayed replayed;
  std::string difference;  ///< of what is stored from the motion that this program finds
};

/// A run that joins another one.
struct JoiningRun {
  std::filesystem::path folder;
  Placement placement;
};
/// Reads OTHER, OTHER,X,Z or OTHER,X,Z,HEADING (metres and degrees). Throws UsageError saying what was found and
/// expected.
JoiningRun ParseJoiningRun(const std::string& text);

struct FeedbackReplay;
struct RunFeedback;

struct ReplayOptions {
  bool tracks_reference = false;  ///< the targets are those of StoredRun::TrackReference: title and manifest state it
  /// Where the motion was simulated under feedback (runs/stabilization.h): its commands are the control that is
  /// written, feedback.csv is added, and the manifest states all of it.
  const RunFeedback* feedback = nullptr;
  const FeedbackReplay* feedback_replay = nullptr;
  io::Json perturbation = {};  ///< for the manifest: what else is not as it was; null: nothing
};

/// Writes the files of a replayed motion and their manifest; for a scene those of each character in a folder of its
/// own. Throws OutputError.
void WriteReplay(results::RunFolder& folder, const StoredRun& run, const Replayed& replayed, const RunContext& context,
                 const ReplayOptions& options = {});

/// Writes the table of pushes and its manifest, with the outcomes under feedback where there are any. Throws
/// OutputError.
void WritePushTable(results::RunFolder& folder, const StoredRun& run, const std::vector<PushOutcome>& outcomes,
                    const RunContext& context, const ReplayOptions& options = {},
                    const std::vector<PushOutcome>& with_feedback = {});

/// The outcome for each character, as lines for people.
std::string Describe(const StoredRun& run, const Replayed& replayed);
/// The same of a run that does not differ from its simulation.
std::string DescribeVerified(const StoredRun& run, const Verification& verification);

}  // namespace retrace::runs
