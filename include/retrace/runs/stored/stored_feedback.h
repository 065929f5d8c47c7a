/// Feedback of stored runs: kept in the folder of a run, used by replays.
///
///     namespace runs = retrace::runs;
///     const runs::StoredRun run("results/walk");
///     const runs::RunFeedback feedback(run, {});
///     const auto pushed = runs::ReplayWithFeedback(
///         run, feedback, {retrace::control::ParsePush("trunk,0:0:100,1.5,0.2", run.scene)});
///     std::printf("%s\n", pushed.replayed.success() ? "within tolerance" : "out of tolerance");
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/control/feedback_tree.h"
#include "retrace/control/sensed_controller.h"
#include "retrace/methods/stabilization/reindexing.h"
#include "retrace/runs/stored/replay.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// Where the feedback of a run is, or would be.
std::filesystem::path FeedbackFile(const StoredRun& run);
/// The feedback of a stored run with the world, the character and the control that it was made for, which a replay may
/// change afterwards.
struct RunFeedback {
  /// Reads it from the folder of the run. Throws InputError for a run without feedback, for a damaged file, and for
  /// feedback of another control or character; UsageError for a scene.
  /// @param with_tree whether the tree that grow-tree grew is read, too, and used
  RunFeedback(const StoredRun& run, const stabilization::ReindexingOptions& reindexing, bool with_tree = false);
  RunFeedback(const RunFeedback&) = delete;
  RunFeedback& operator=(const RunFeedback&) = delete;

  character::Character character;
  control::OpenLoopControl control;
  std::vector<control::Fragment> full_servos;  ///< the control in that form, where the feedback was made for it
  control::Feedback feedback;
  std::optional<control::FeedbackTree> tree;
  stabilization::ReindexingOptions options;
  control::Sensors sensors = {};  ///< through which it sees the motion
  std::filesystem::path file;
  std::string sha256;  ///< of the file
  std::filesystem::path tree_file;
  std::string tree_sha256;
};

/// Where the tree of a run is, or would be.
std::filesystem::path TreeFile(const StoredRun& run);
/// Throws InputError for a tree that is not one around this feedback.
void CheckTree(const control::FeedbackTree& tree, const RunFeedback& of, const std::filesystem::path& file);

/// What the feedback did at a node.
struct FeedbackRecord {
  double time = 0;         ///< [s]
  double ahead = 0;        ///< by which the control is read ahead of the time [s]
  double distance = 0;     ///< root of stabilization::SquaredDistance from the motion that is followed
  int branch = -1;         ///< of a tree that is followed; -1: the control itself
  Eigen::VectorXd torque;  ///< about each axis of the joints [N m]
};

struct FeedbackReplay {
  Replayed replayed;
  /// The commands that were given, as an open-loop control: it makes the same motion, to the bit, under the same
  /// pushes.
  control::Scene scene;
  std::vector<FeedbackRecord> records;  ///< (nodes)
  size_t simulations = 0;               ///< by which nodes were chosen

  double LargestTorque() const;  ///< of the feedback [N m]
  double RmsTorque() const;      ///< over nodes and axes [N m]
};

/// Simulates the run, whose world, character and start may be other ones by now, under its feedback. The run must be of
/// one character, that of the feedback.
FeedbackReplay ReplayWithFeedback(const StoredRun& run, const RunFeedback& feedback,
                                  std::vector<control::Push> pushes = {});

/// feedback.csv: a row for each node: time, ahead, distance, branch, and JOINT_x, JOINT_y, JOINT_z, the torques of the
/// feedback.
std::string FormatFeedbackRecords(const character::Character& character, const std::vector<FeedbackRecord>& records);

/// What the feedback did, as lines for people, with how the open loop ended under the same circumstances.
std::string Describe(const StoredRun& run, const FeedbackReplay& replay, const Replayed& open_loop);

}  // namespace retrace::runs
