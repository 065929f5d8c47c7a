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
///     runs::Join(runs::StoredRun("results/roll"), {retrace::Radians(180), {1.2, 0, 3}}, run);
///     const runs::Replayed replayed = runs::Replay(run);
///     for (const runs::CharacterReplay& character : replayed.characters) {
///       std::printf("%s\n", character.evaluation->success() ? "within tolerance" : "out of tolerance");
///     }
///     retrace::results::RunFolder folder("results/two", false);
///     runs::WriteReplay(folder, run, replayed, {});
///     const std::string difference = runs::Verify(runs::StoredRun("results/two")).difference;
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/runs/stored/stored_run.h"

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
  /// Whether every character that has a reference is within tolerance.
  bool success() const;
  /// Whether every character that has a reference reached its end.
  bool completed() const;
};

/// Simulates the controls of a run in a new world.
Replayed Replay(const StoredRun& run, std::vector<control::Push> pushes = {});
/// The same with other targets or another world for the characters of a run.
Replayed Replay(const StoredRun& run, const control::Scene& scene, std::vector<control::Push> pushes);

/// The outcome for each character, as lines for people.
std::string Describe(const StoredRun& run, const Replayed& replayed);
}  // namespace retrace::runs
