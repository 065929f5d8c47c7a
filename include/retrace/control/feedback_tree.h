/// A tree of feedback around a control (Al Borno et al. 2018, section 4.2): branches that lead from states far from the
/// motion of the control back to it, each with feedback along itself.
///
/// Every node of a branch is *aligned* with a node of the control: its commands are those of the control at that node,
/// and feedforward torques are added to them. At its end the branch goes on into its parent, another branch or
/// the control itself, at the node that is aligned with the one after its last.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/control/feedback.h"

namespace retrace::control {

struct Branch {
  int parent = -1;                            ///< an earlier branch; -1: the control itself
  int state = 0;                              ///< number of the perturbed state that it grew from
  int first_node = 0;                         ///< of the control, that its first node is aligned with
  std::vector<dynamics::MotionPoint> points;  ///< (nodes) the motion along it
  Eigen::MatrixXd torques;                    ///< (m x nodes) feedforward, until the next node [N m]
  std::vector<float> gains;                   ///< (nodes x 2 n x m) as Feedback::gains

  int num_nodes() const { return static_cast<int>(points.size()); }
  int end_node() const { return first_node + num_nodes(); }
};

/// A state that the tree was grown with, and what became of it.
struct PerturbedState {
  double time = 0;            ///< when the push begins [s]
  Vec3 force = Vec3::Zero();  ///< in world axes [N]
  bool recovered = false;     ///< without a branch of its own: by the tree of the states before its batch
  bool connected = false;     ///< by a branch that was found for it
  int simulations = 0;        ///< of the search for the branch
};

struct FeedbackTree {
  std::string feedback_sha256;         ///< of the file of the feedback that it belongs to
  std::string settings;                ///< with which it was grown, as JSON
  std::vector<PerturbedState> states;  ///< in the order in which they were tried
  std::vector<Branch> branches;        ///< each after its parent

  /// The branch that holds the node on the path from a branch to the control; -1: the control.
  int BranchAt(int branch, int node) const;
  /// Without the branches that were found after so many others.
  void CutAfter(int count);
};

/// The text of tree.bin: one line of JSON with the sizes, the states, the hashes of the feedback and of what follows,
/// then for each branch points and feedforward torques (doubles) and gains (floats), little-endian.
std::string FormatTree(const FeedbackTree& tree);
/// Reads it. `name` stands for the file. Throws InputError as ParseFeedback does.
FeedbackTree ParseTree(std::string_view bytes, const std::string& name);

}  // namespace retrace::control
