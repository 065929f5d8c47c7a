/// How well the end state of a sample matches the reference (Liu et al. 2010, section 3.2.4).
#pragma once

#include <array>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/io/describe.h"

namespace retrace::task {

inline constexpr io::Range kWeights{0, 1e6};  ///< of the terms of the cost

/// Weights of the terms (Liu et al. 2010, eq. 1 and table 4).
struct CostWeights {
  double pose = 5;
  double root = 3;
  double end_effector = 30;
  double balance = 10;
  double drift = 0;       ///< not a term of the paper
  double smoothness = 0;  ///< not a term of the paper: of trajectory optimization [s^2]
};

/// What the terms of the paper leave open.
struct CostOptions {
  /// Weight of the velocity of the center of mass in eq. 5 [s]; the paper's is 0.1. A body that falls is fast before it
  /// is far from where it should be: an inverted pendulum of the body's height goes on by 0.3 s of its velocity.
  double balance_velocity = 0.4;
  /// Where end effectors are about the center of mass, in the heading of the root, beside their heights [-]; the
  /// paper's is 0. Added to eq. 5.
  double effector_position = 0;
};

/// The weights of the paper's terms. Those of drift and smoothness are not part of a preset: they follow from
/// task::Options::drift_weight and from the method.
void Describe(CostWeights& w, io::FieldVisitor& v);

void Describe(CostOptions& o, io::FieldVisitor& v);

/// The terms of the cost of a sample, without weights. kCostTerms names them.
struct CostTerms {
  double pose = 0;
  double root = 0;
  double end_effector = 0;
  double balance = 0;
  double drift = 0;
  double smoothness = 0;  ///< [rad/s^2], see sampling::RolloutWorker

  /// Each term times its weight.
  CostTerms Weighted(const CostWeights& weights) const;
  CostTerms& operator+=(const CostTerms& other);
  /// The sum of the weighted terms: eq. 1, E = wp Ep + wr Er + we Ee + wb Eb, and the terms that are not the paper's.
  double Total(const CostWeights& weights) const;
};

/// A term with its name in tables and reports, its value and its weight.
struct CostTerm {
  const char* name;
  double CostTerms::*value;
  double CostWeights::*weight;
};

/// All terms, in the order in which they are added and written.
inline constexpr std::array<CostTerm, 6> kCostTerms{
    {{"pose", &CostTerms::pose, &CostWeights::pose},
     {"root", &CostTerms::root, &CostWeights::root},
     {"end_effector", &CostTerms::end_effector, &CostWeights::end_effector},
     {"balance", &CostTerms::balance, &CostWeights::balance},
     {"drift", &CostTerms::drift, &CostWeights::drift},
     {"smoothness", &CostTerms::smoothness, &CostWeights::smoothness}}};

inline CostTerms CostTerms::Weighted(const CostWeights& weights) const {
  CostTerms weighted;
  for (const CostTerm& term : kCostTerms) weighted.*term.value = weights.*term.weight * this->*term.value;
  return weighted;
}

inline CostTerms& CostTerms::operator+=(const CostTerms& other) {
  for (const CostTerm& term : kCostTerms) this->*term.value += other.*term.value;
  return *this;
}

inline double CostTerms::Total(const CostWeights& weights) const {
  double total = 0;
  for (const CostTerm& term : kCostTerms) total += weights.*term.weight * this->*term.value;
  return total;
}

/// All that the cost needs of the reference at one instant, computed once.
class CostReference {
 public:
  /// `state` is the reference's state at the instant. @param joint_weights (joints) the w_i of the pose term; empty:
  /// those of the character
  CostReference(const character::Character& character, const character::State& state, const CostOptions& options = {},
                std::vector<double> joint_weights = {});

  /// Cost of a simulated state at this instant:
  ///   Ep = 1/n sum_joints w_i ( |log(q q~^-1)| + 0.1 |w - w~| )   eq. 2, q and w relative to the parent body
  ///   Er = |log(q_root q~_root^-1)| + 0.1 |w_root - w~_root|      eq. 3
  ///   Ee = 1/k sum_effectors | y_i - y~_i |                       eq. 4
  ///   Eb = 1/(h k) sum_effectors | r_ci - r~_ci | + b |v - v~|    eq. 5, r_ci horizontal from effector to center of
  ///        + e/(h k) sum_effectors | s_i - s~_i |                  mass; s_i the effector from it, in the heading of
  ///                                                                the root; b and e: CostOptions
  ///   Ed = 1/h | c - c~ |                                         c center of mass, horizontal
  CostTerms Evaluate(const character::State& state) const;

 private:
  const character::Character* character_;
  CostOptions options_;
  std::vector<double> joint_weights_;  // (joints)
  std::vector<Quat> joint_rotations_;
  std::vector<Vec3> joint_rates_;  // in the parent's axes [rad/s]
  Quat root_orientation_;
  Vec3 root_rate_;
  std::vector<double> effector_heights_;
  std::vector<Vec3> effector_to_com_;     // horizontal
  std::vector<Vec3> effector_positions_;  // from the center of mass
  Vec3 com_;
  Vec3 com_velocity_;
};

}  // namespace retrace::task
