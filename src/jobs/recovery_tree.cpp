#include "retrace/jobs/recovery_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/control/pushes.h"
#include "retrace/io/assignment.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/field_error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"
#include "retrace/methods/stabilization/full_servos.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

/// The problem with which the feedback of a run was made, with its interval.
stabilization::Problem ProblemOf(const StoredRun& run, const RunFeedback& feedback) {
  stabilization::Options options;
  options.interval = feedback.feedback.interval * feedback.control.world.time_step;
  options.full_servos = feedback.feedback.full_servos;
  return stabilization::MakeProblem(feedback.character, feedback.control, run.AllPushes(), options);
}

}  // namespace

void Describe(TreeSettings& s, io::FieldVisitor& v) {
  Describe(s.growth, v);
  Describe(s.reindexing, v);
}

void TreeSettings::Set(const std::string& assignment) {
  io::TakeAssignment(assignment, *this);
}

TreeJob::TreeJob(const fs::path& folder, const TreeSettings& given, const std::string& pushed)
    : run(folder), settings(given), body(pushed), feedback(run, given.reindexing), prepared(ProblemOf(run, feedback)) {
  if (const auto wrong = settings.growth.Validate()) throw UsageError(*wrong);
  const int found = control::FindBody(run.scene, body);
  if (found < 0 || found >= static_cast<int>(run.scene.characters[0].bodies.size())) {
    throw FieldError("body", "found \"" + body + "\", expected a body of the character");
  }
  if (prepared.nominal.diverged) {
    throw InputError(run.controls[0].file.string(), "a control whose motion diverges", "one that can be replayed");
  }
  problem = {&prepared, &feedback.feedback, settings.growth, settings.reindexing, run.characters[0].gates, found};
  tree.feedback_sha256 = feedback.sha256;
  tree.settings = io::Dump(Identity());
}

io::Json TreeJob::Identity() const {
  return {{"version", results::Version()},
          {"feedback", feedback.sha256},
          {"body", body},
          {"options", io::Write(settings)},
          {"solver", run.solver}};
}

void TreeJob::TakeEarlier(bool resume, bool force) {
  const fs::path file = TreeFile(run);
  io::CheckOutput(file);
  if (!fs::exists(file)) return;
  if (resume) {
    control::FeedbackTree earlier = control::ParseTree(io::ReadFile(file), file.string());
    CheckTree(earlier, feedback, file);
    if (earlier.settings != tree.settings) {
      throw UsageError(file.string() + ": found a tree that grew with other settings, " + earlier.settings +
                       ", expected " + tree.settings);
    }
    tree = std::move(earlier);
  } else if (!force) {
    throw WithHint<UsageError>({Remedy::kResume, Remedy::kOverwrite},
                               file.string() + ": found a tree that is there already, expected none");
  }
}

stabilization::GrowthSummary GrowTree(TreeJob& job, parallel::TaskFarm& farm, int branches, int states,
                                      const stabilization::GrowthHooks& hooks) {
  stabilization::GrowthHooks writing = hooks;
  writing.on_batch = [&](const control::FeedbackTree& tree) {
    io::WriteFile(TreeFile(job.run), control::FormatTree(tree));
    if (hooks.on_batch) hooks.on_batch(tree);
  };
  const stabilization::GrowthSummary summary =
      stabilization::GrowTree(job.problem, farm, branches, states, job.tree, writing);
  const double node = job.feedback.feedback.interval * job.run.scene.world.time_step;
  io::WriteFile(job.run.folder / results::kTreeTableFile, FormatTreeTable(job.tree, node, job.settings.growth.batch));
  return summary;
}

std::string FormatTreeTable(const control::FeedbackTree& tree, double node_duration, int batch) {
  io::CsvWriter csv;
  for (const char* column : {"state", "time", "force_x", "force_z", "recovered", "connected", "simulations", "branch",
                             "parent", "first", "branches"}) {
    csv.Text(column);
  }
  csv.EndRow();
  size_t branch = 0, grown = 0;
  for (size_t i = 0; i < tree.states.size(); ++i) {
    const control::PerturbedState& state = tree.states[i];
    if (i % static_cast<size_t>(batch) == 0) grown = branch;
    csv.Integer(static_cast<int>(i));
    csv.Number(state.time);
    csv.Number(state.force.x());
    csv.Number(state.force.z());
    csv.Integer(state.recovered ? 1 : 0);
    csv.Integer(state.connected ? 1 : 0);
    csv.Integer(state.simulations);
    const control::Branch* own = state.connected && branch < tree.branches.size() ? &tree.branches[branch] : nullptr;
    csv.Integer(own != nullptr ? static_cast<int>(branch++) : -1);
    csv.Integer(own != nullptr ? own->parent : -1);
    csv.Number(own != nullptr ? own->first_node * node_duration : 0);
    csv.Integer(static_cast<int>(grown));
    csv.EndRow();
  }
  return csv.Take();
}

std::string Describe(const control::FeedbackTree& tree) {
  const auto recovered =
      std::count_if(tree.states.begin(), tree.states.end(), [](const auto& s) { return s.recovered; });
  const auto of_branches =
      std::count_if(tree.branches.begin(), tree.branches.end(), [](const auto& b) { return b.parent >= 0; });
  const size_t nodes = [&] {
    size_t sum = 0;
    for (const control::Branch& branch : tree.branches) sum += branch.points.size();
    return sum;
  }();
  return std::to_string(tree.states.size()) + " states tried: " + std::to_string(recovered) +
         " recovered by the tree so far, " + std::to_string(tree.branches.size()) + " connected by branches (" +
         std::to_string(of_branches) + " of them of branches, " + std::to_string(nodes) + " nodes)";
}

}  // namespace retrace::runs
