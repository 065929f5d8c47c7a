/// What a refinement pass knows about the motion that it refines: a linear quadratic model along its path, which says
/// which offsets lead a state back to the reference, and what the rest of the motion costs from there.
///
/// Plain iterative LQR, one simulation under the feedback of the model, fails where contacts come and go: the smallest
/// step sends a get-up elsewhere. Here the model only proposes and ranks samples. That they are many, and stay within
/// tolerance, makes the pass robust; that they are guided makes it precise.
#pragma once

#include <span>
#include <vector>

#include "linearization.h"
#include "retrace/dynamics/tangent.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/methods/sampling/proposal.h"
#include "retrace/optimization/linear_quadratic.h"
#include "tree.h"

namespace retrace::sampling {

/// The position and heading of `goal` moved so that they are at most so far from those of `point`, and its velocities
/// turned with it.
void LimitDistance(const dynamics::Coordinates& coordinates, const dynamics::MotionPoint& point, double largest_drift,
                   double largest_heading, dynamics::MotionPoint& goal);

class Guidance {
 public:
  /// `path` has complete nodes, from the first fragment to the last, and `models` one for each. Both must outlive it.
  /// @param noise standard deviation of the random part of offsets [rad]
  /// @param caution factor on RefinementOptions::turn: the larger, the smaller the steps
  Guidance(const Problem& problem, const std::vector<Node>& path, const std::vector<FragmentModel>& models,
           double noise, double caution = 1);

  /// What the path costs up to the end of a fragment, by the measure of the samples.
  double PathCost(size_t fragment) const { return path_costs_[fragment]; }
  double path_cost() const { return path_costs_.back(); }
  /// Largest horizontal distance of the path's root from the reference's [m].
  double largest_drift() const { return largest_drift_; }
  const Node& PathNode(size_t fragment) const { return path_[fragment]; }

  /// A start state of a fragment: where it is, seen from the path.
  struct Start {
    Eigen::VectorXd state;   ///< (2 n)
    Eigen::VectorXd change;  ///< of its offsets from those of the path (m)
  };
  /// @param offsets of the sample that led to it
  Start StartOf(size_t fragment, const character::State& state, const Offsets& offsets) const;
  /// Where the samples of a start state get their targets from.
  GuidedOffsets ProposalFrom(size_t fragment, const Start& start) const;

  struct Score {
    double cost = 0;  ///< of the sample's end, its smoothness, and the change of its offsets from those of its start
    double cost_to_go = 0;  ///< what the rest of the motion costs from there, but for a constant
  };
  /// @param turns (joints) of its offsets from those of the path [rad]
  Score Judge(size_t fragment, const Start& start, const character::State& end, const task::CostTerms& terms,
              std::span<const Vec3> turns) const;

 private:
  dynamics::MotionPoint PointOf(const character::State& state) const;
  const character::State& StartState(size_t fragment) const;

  const Problem& problem_;
  const std::vector<Node>& path_;
  dynamics::Coordinates coordinates_;
  Eigen::VectorXd weights_;  // of a state's difference (2 n)
  double noise_;
  double largest_drift_ = 0;
  std::vector<double> path_costs_;                   // (fragments)
  std::vector<dynamics::MotionPoint> points_;        // (fragments + 1) of the path
  std::vector<dynamics::MotionPoint> goals_;         // (fragments) at their ends
  std::vector<Eigen::VectorXd> changes_;             // (fragments) of the path's offsets from those before (m)
  std::vector<optimization::PathGains> gains_;       // (fragments)
  std::vector<optimization::CostToGo> costs_to_go_;  // (fragments) from their ends on
};

}  // namespace retrace::sampling
