/// Trees of feedback for stored runs: grown around the feedback of a run, kept in its folder, used by replays.
///
///     namespace runs = retrace::runs;
///     runs::TreeJob job("results/walk", {}, "trunk");
///     const auto farm = parallel::MakeThreadFarm(0, retrace::stabilization::MakeTreeWorkerFactory(job.problem));
///     runs::GrowTree(job, *farm, 100, 1000, {});
///
///     const runs::StoredRun run("results/walk");
///     const runs::RunFeedback feedback(run, {}, true);
///     const auto pushed = runs::ReplayWithFeedback(run, feedback, {control::ParsePush("trunk,0:0:200,1.5,0.2",
///     run.scene)});
#pragma once

#include <filesystem>
#include <string>

#include "retrace/methods/stabilization/grow_tree.h"
#include "retrace/runs/stored/stored_feedback.h"

namespace retrace::runs {

/// What may be set for the growth of a tree.
struct TreeSettings {
  stabilization::GrowthOptions growth;
  stabilization::ReindexingOptions reindexing;

  /// Takes one setting given as `/section/name=value`. Throws UsageError for a setting that does not exist or a bad
  /// value.
  void Set(const std::string& assignment);
};

template <io::DescribedAs<TreeSettings> AnySettings, typename Visitor>
void Describe(AnySettings& s, Visitor& v) {
  Describe(s.growth, v);
  Describe(s.reindexing, v);
}

/// The feedback of a run, and the tree around it as far as it has grown.
struct TreeJob {
  /// Throws InputError for a folder that holds no run with feedback, UsageError for a scene, for options that are not
  /// valid and for a body that there is not.
  TreeJob(const std::filesystem::path& folder, const TreeSettings& given, const std::string& pushed);
  TreeJob(const TreeJob&) = delete;
  TreeJob& operator=(const TreeJob&) = delete;

  /// Takes the tree that is there already, if there is one. Throws UsageError unless `resume` or `force` is set; with
  /// `resume` also for a tree that grew with other settings, with their differences, and InputError for a damaged one.
  void TakeEarlier(bool resume, bool force);
  /// All that the tree depends on: ranks that work together compare it.
  io::Json Identity() const;

  StoredRun run;
  TreeSettings settings;
  std::string body;
  RunFeedback feedback;
  stabilization::Problem prepared;
  stabilization::TreeProblem problem;
  control::FeedbackTree tree;
};

/// Grows the tree of a job until it has so many branches, or so many states were tried, and writes it into the folder
/// of the run after each batch: what is there is whole whenever it is interrupted. The workers of the farm come from
/// stabilization::MakeTreeWorkerFactory. Throws OutputError.
stabilization::GrowthSummary GrowTree(TreeJob& job, parallel::TaskFarm& farm, int branches, int states,
                                      const stabilization::GrowthHooks& hooks);

/// tree.csv: a row for each state: state, time, force_x, force_z, recovered, connected (0 or 1), simulations, branch,
/// parent, first (by which its branch begins, of the motion), branches (of the tree that it was tried with).
std::string FormatTreeTable(const control::FeedbackTree& tree, double node_duration, int batch);

/// One line for people, without a line end.
std::string Describe(const control::FeedbackTree& tree);

}  // namespace retrace::runs
