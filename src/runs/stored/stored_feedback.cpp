#include "retrace/runs/stored/stored_feedback.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "retrace/control/command_recorder.h"
#include "retrace/control/feedback_controller.h"
#include "retrace/io/assignment.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/methods/stabilization/full_servos.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr const char* kOfOne = "feedback is of one";

/// Keeps what a controller did at its nodes.
class NodeLog final : public control::Controller {
 public:
  NodeLog(stabilization::ReindexingController& controller, const RunFeedback& feedback, double node_duration,
          std::vector<FeedbackRecord>& records)
      : controller_(controller), feedback_(feedback), node_duration_(node_duration), records_(records) {}

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override {
    controller_.Command(now, commands);
    const control::FeedbackController& acting = controller_.acting();
    if (!acting.IsNode(now.step)) return;
    records_.push_back({now.time, acting.shift() * node_duration_,
                        std::sqrt(stabilization::SquaredDistance(acting.law().difference())), BranchAt(now.step),
                        acting.torques()});
  }
  bool RestartsAt(int step) override { return controller_.RestartsAt(step); }

 private:
  int BranchAt(int step) const {
    const control::FeedbackController& acting = controller_.acting();
    const control::Feedback& of = feedback_.feedback;
    return feedback_.tree
               ? feedback_.tree->BranchAt(acting.branch(), (step - of.first_step) / of.interval + acting.shift())
               : -1;
  }

  stabilization::ReindexingController& controller_;
  const RunFeedback& feedback_;
  double node_duration_;
  std::vector<FeedbackRecord>& records_;
};

/// How a motion ended, as a part of a sentence.
std::string Ending(const Replayed& replayed) {
  const std::optional<metrics::Evaluation>& evaluation = replayed.characters[0].evaluation;
  const metrics::Gate* gate = evaluation ? evaluation->FirstViolated() : nullptr;
  if (gate != nullptr) return "leaves the gate " + gate->name + " at " + io::Fixed(gate->first_violation, 2) + " s";
  if (replayed.diverged())
    return "diverges at " + io::Fixed(replayed.first().TimeOf(replayed.first().num_steps()), 2) + " s";
  if (!evaluation) return "there is no reference to compare with";
  return evaluation->completed ? "within tolerance" : "within tolerance as far as it goes";
}

}  // namespace

fs::path FeedbackFile(const StoredRun& run) {
  return run.folder / results::kFeedbackFile;
}

fs::path TreeFile(const StoredRun& run) {
  return run.folder / results::kTreeFile;
}

void CheckTree(const control::FeedbackTree& tree, const RunFeedback& of, const fs::path& file) {
  if (tree.feedback_sha256 != of.sha256) {
    throw InputError(file.string(), "a tree around other feedback", "one around that of " + of.file.string());
  }
  for (const control::Branch& branch : tree.branches) {
    if (branch.torques.rows() != of.feedback.num_torques() || branch.end_node() > of.feedback.num_nodes() ||
        branch.points[0].pose.joint_rotations.size() != of.character.joints.size()) {
      throw InputError(file.string(), "other sizes", "those of the feedback");
    }
  }
}

RunFeedback::RunFeedback(const StoredRun& run, const stabilization::ReindexingOptions& reindexing, bool with_tree)
    : options(reindexing) {
  run.RequireOneCharacter(kOfOne);
  character = run.scene.characters[0];
  control = control::ControlOf(run.scene, 0);
  control.pushes.clear();  // they are given where it is simulated
  file = FeedbackFile(run);
  if (!fs::exists(file)) throw InputError(file.string(), "no such file", "feedback, which stabilize makes for a run");
  const std::string bytes = io::ReadFile(file);
  sha256 = io::Sha256(bytes);
  feedback = control::ParseFeedback(bytes, file.string());
  if (feedback.character_sha256 != control::CharacterSha256(character)) {
    throw InputError(file.string(), "feedback of another character", "that of the character " + character.name);
  }
  if (feedback.control_sha256 != run.controls[0].sha256) {
    throw InputError(file.string(), "feedback of another control", "that of " + run.controls[0].file.string());
  }
  const dynamics::Coordinates coordinates(character);
  const int first = control.fragments.empty() ? 0 : control.fragments.front().first_step;
  if (feedback.num_differences() != 2 * Eigen::Index{coordinates.size()} || feedback.first_step != first ||
      feedback.nominal.front().pose.joint_rotations.size() != character.joints.size() ||
      feedback.num_steps != control.num_steps() - first) {
    throw InputError(file.string(), "other sizes", "those of the control and its character");
  }
  if (feedback.full_servos) full_servos = stabilization::WithFullServos(character, control, run.AllPushes());
  if (!with_tree) return;
  tree_file = TreeFile(run);
  if (!fs::exists(tree_file))
    throw InputError(tree_file.string(), "no such file", "a tree, which grow-tree grows around the feedback of a run");
  const std::string tree_bytes = io::ReadFile(tree_file);
  tree_sha256 = io::Sha256(tree_bytes);
  tree = control::ParseTree(tree_bytes, tree_file.string());
  CheckTree(*tree, *this, tree_file);
  tree->CutAfter(options.tree);
}

double FeedbackReplay::LargestTorque() const {
  double largest = 0;
  for (const FeedbackRecord& record : records) largest = std::max(largest, record.torque.cwiseAbs().maxCoeff());
  return largest;
}

double FeedbackReplay::RmsTorque() const {
  double sum = 0, count = 0;
  for (const FeedbackRecord& record : records) {
    sum += record.torque.squaredNorm();
    count += static_cast<double>(record.torque.size());
  }
  return std::sqrt(sum / std::max(1.0, count));
}

FeedbackReplay ReplayWithFeedback(const StoredRun& run, const RunFeedback& feedback,
                                  std::vector<control::Push> pushes) {
  const double h = run.scene.world.time_step;
  FeedbackReplay replay;
  const std::vector<control::Fragment>& disturbed =
      feedback.feedback.full_servos ? feedback.full_servos : feedback.control.fragments;
  stabilization::ReindexingController controller({&feedback.character, &feedback.control, disturbed, &feedback.feedback,
                                                  feedback.tree ? &*feedback.tree : nullptr},
                                                 feedback.options);
  NodeLog log(controller, feedback, feedback.feedback.interval * h, replay.records);
  const character::Character* const character = run.scene.characters.data();
  const int first = run.scene.first_step();
  std::optional<control::SensedController> sensed;
  if (!feedback.sensors.empty()) {
    control::OpenLoopControl undisturbed = feedback.control;
    undisturbed.pushes = run.scene.pushes;
    sensed.emplace(log, feedback.character, control::Replay(feedback.character, undisturbed).states, first, h,
                   feedback.sensors);
  }
  control::CommandRecorder recorder(sensed ? static_cast<control::Controller&>(*sensed) : log);
  control::Controller* const controllers[] = {&recorder};
  CharacterReplay& replayed = replay.replayed.characters.emplace_back();
  std::vector<control::Push> all = run.scene.pushes;
  all.insert(all.end(), pushes.begin(), pushes.end());
  replayed.trajectory = control::Simulate({&character, 1}, run.scene.world, run.scene.start, controllers, first,
                                          run.scene.num_steps() - first, all);
  if (std::optional<metrics::Evaluator> evaluator = run.EvaluatorOf(0)) {
    evaluator->Add(replayed.trajectory);
    replayed.evaluation = evaluator->Finish(run.expected_duration(0));
  }
  replay.replayed.pushes = std::move(pushes);
  replay.scene = run.scene;
  replay.scene.fragments = {recorder.TakeFragments()};
  replay.simulations = controller.simulations();
  return replay;
}

std::string FormatFeedbackRecords(const character::Character& character, const std::vector<FeedbackRecord>& records) {
  io::CsvWriter csv;
  for (const char* column : {"time", "ahead", "distance", "branch"}) csv.Text(column);
  for (const character::Joint& joint : character.joints) {
    for (int axis = 0; axis < 3; ++axis) {
      if (joint.UsesAxis(axis)) csv.Text(joint.name + "_" + io::kAxes[axis]);
    }
  }
  csv.EndRow();
  for (const FeedbackRecord& record : records) {
    for (const double number : {record.time, record.ahead, record.distance}) csv.Short(number);
    csv.Integer(record.branch);
    for (const double torque : record.torque) csv.Short(torque);
    csv.EndRow();
  }
  return csv.Take();
}

std::string Describe(const StoredRun& run, const FeedbackReplay& replay, const Replayed& open_loop) {
  std::string text = Describe(run, replay.replayed);
  text.append("  with feedback: ").append(Ending(replay.replayed)).append("; torques of at most ");
  text.append(io::Fixed(replay.LargestTorque(), 1)).append(" N m, ").append(io::Fixed(replay.RmsTorque(), 1));
  text.append(" N m root mean square\n  open loop:     ").append(Ending(open_loop)).append("\n");
  return text;
}

}  // namespace retrace::runs
