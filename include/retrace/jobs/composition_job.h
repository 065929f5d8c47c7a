/// The inputs of a composition, read from files.
///
///     retrace::runs::CompositionOptions options;
///     options.library = "library";
///     options.play = {"walk", "roll"};
///     const retrace::runs::CompositionJob job(options);
///     const auto result = retrace::runs::Compose(job.problem);
///     retrace::results::RunFolder folder("results/walk-roll", false);
///     retrace::runs::WriteComposition(folder, job, result, {});
///
/// What another program has found may come first, a response to an impact for example: it is entered nowhere but at its
/// beginning, and composition goes on from its end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/planning/composition/composition.h"
#include "retrace/planning/composition/composition_problem.h"

namespace retrace::runs {

/// What a user sets.
struct CompositionOptions : CompositionSettings {
  std::filesystem::path library;  ///< a folder with a run in each sub-folder
  std::filesystem::path begin =
      {};                           ///< a run that comes first, as it is: also a response, with its pushes; none: empty
  std::vector<std::string> play;    ///< sub-folders in the order in which they are played
  std::vector<std::string> pushes;  ///< BODY,FX:FY:FZ,START,DURATION (control::ParsePush)
  std::string push_every;           ///< BODY,NEWTON,INTERVAL,DURATION: a push in a random direction at each interval
  /// For the n-th fall, controls that lead up from it, one after the other, with commas between; where there is none,
  /// the nearest get-up of the library. The first may be NAME@SECOND, about where it is entered; else the nearest cuts
  /// are.
  std::vector<std::string> get_ups;
  /// For the n-th fall, the controls that may be entered during it, with commas between, wherever they are near or not;
  /// "none": the character lies down. Where there is none for a fall: all that are near.
  std::vector<std::string> break_falls;
};

/// The controls that are played, and where there are pushes or a run that begins, all others of the library. Throws
/// UsageError for what is not in the library or cannot be played, InputError for runs that cannot be used: of different
/// characters or worlds, or with things that move.
struct CompositionJob {
  explicit CompositionJob(const CompositionOptions& options);

  /// Files that no result may replace.
  std::vector<std::filesystem::path> Files() const;

  CompositionOptions options;
  CompositionProblem problem;
};

}  // namespace retrace::runs
