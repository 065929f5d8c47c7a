/// How well the end state of a sample matches the reference (Liu et al. 2010, section 3.2.4).
#pragma once

#include <array>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/character/state.h"

namespace retrace::reconstruction {

/// Weights of the four terms (Liu et al. 2010, eq. 1 and table 4).
struct CostWeights {
  double pose = 5;
  double root = 3;
  double end_effector = 30;
  double balance = 10;
};

/// The terms, unweighted, in the order pose, root, end effector, balance.
struct CostTerms {
  double pose = 0;
  double root = 0;
  double end_effector = 0;
  double balance = 0;

  /// eq. 1: E = wp Ep + wr Er + we Ee + wb Eb.
  double Total(const CostWeights& w) const {
    return w.pose * pose + w.root * root + w.end_effector * end_effector + w.balance * balance;
  }
};

/// All that the cost needs of the reference at one instant, computed once.
class CostReference {
 public:
  /// `state` is the reference's state at the instant.
  CostReference(const character::Character& character, const character::State& state);

  /// Cost of a simulated state at this instant:
  ///   Ep = 1/n sum_joints ( |log(q q~^-1)| + 0.1 |w - w~| )       eq. 2, q and w relative to the parent body
  ///   Er = |log(q_root q~_root^-1)| + 0.1 |w_root - w~_root|      eq. 3
  ///   Ee = 1/k sum_effectors | y_i - y~_i |                       eq. 4
  ///   Eb = 1/(h k) sum_effectors | r_ci - r~_ci | + 0.1 |v - v~|  eq. 5, r_ci horizontal from effector to centre of
  ///   mass
  CostTerms Evaluate(const character::State& state) const;

 private:
  const character::Character* character_;
  std::vector<Quat> joint_rotations_;
  std::vector<Vec3> joint_rates_;  // in the parent's axes [rad/s]
  Quat root_orientation_;
  Vec3 root_rate_;
  std::vector<double> effector_heights_;
  std::vector<Vec3> effector_to_com_;  // horizontal
  Vec3 com_velocity_;
};

}  // namespace retrace::reconstruction
