/// The cost of a motion against values by hand.
#include "methods/trajectory/cost.h"

#include <gtest/gtest.h>

#include "methods/trajectory/small_problem.h"

namespace retrace::trajectory {
namespace {

/// The terms of the reference itself, changed by `change`, over 0.4 s.
template <typename Change>
Terms TermsOf(const Options& options, const Change& change, std::span<const Vec3> torques = {}) {
  const SmallProblem small(options, task::Standing, 0.5);
  MotionCost cost(small.problem());
  cost.SetRange(0, 48);
  character::State state;
  small.problem().task.reference->StateAt(0, state);
  cost.Begin(state);
  for (int step = 1; step <= 48; ++step) {
    if (!cost.IsInstant(step)) continue;
    small.problem().task.reference->StateAt(step * small.problem().time_step(), state);
    change(state);
    cost.Add(step, state, torques);
  }
  return cost.terms();
}

constexpr double kFrames = 24;  // of 60 Hz in 0.4 s

TEST(MotionCost, OfTheReferenceIsNothing) {
  for (const Cost kind : {Cost::kPaper, Cost::kTask}) {
    Options options = SmallOptions();
    options.cost = kind;
    for (const double term : TermsOf(options, [](character::State&) {})) EXPECT_NEAR(term, 0, 1e-9);
  }
}

TEST(MotionCost, OfThePaperIsTheSumOverFrames) {
  const Options options = SmallOptions();
  const auto up = [](character::State& state) { character::Translate(state, Vec3(0, 0.1, 0)); };
  const Terms higher = TermsOf(options, up);
  EXPECT_NEAR(higher[0], 15 * 0.01 * kFrames, 1e-9) << "equation 3";
  for (const size_t other : {1, 2, 3, 4, 5}) EXPECT_NEAR(higher[other], 0, 1e-9) << other;
  const Terms faster = TermsOf(options, [](character::State& state) {
    for (character::BodyState& body : state) body.linear_velocity.x() += 0.2;
  });
  EXPECT_NEAR(faster[1], 0.5 * 0.04 * kFrames, 1e-9) << "equation 4";
  const auto joint = static_cast<size_t>(task::Human().joints[task::JointIndex("left_hip")].child);
  const Terms bent = TermsOf(options, [&](character::State& state) {
    // A thigh without what hangs on it: the hip turns by 0.1 rad, and the knee back.
    state[joint].orientation = AxisRotation(0, 0.1) * state[joint].orientation;
  });
  EXPECT_NEAR(bent[2], 0.5 * (10 + 1) * 0.01 * kFrames, 1e-9) << "equation 5: 10 at hips, 1 at knees";
  const auto root = static_cast<size_t>(task::Human().root);
  const Terms turned = TermsOf(options, [&](character::State& state) {
    state[root].orientation = AxisRotation(1, 0.3) * state[root].orientation;
  });
  EXPECT_NEAR(turned[4], 4 * 0.15 * kFrames, 1e-6) << "equation 7: half of the angle";
}

TEST(MotionCost, GoesAlongWithTheCharacterFromWhereAWindowBegins) {
  const SmallProblem small(SmallOptions(), task::Standing, 0.5);
  MotionCost cost(small.problem());
  cost.SetRange(0, 48);
  character::State state;
  small.problem().task.reference->StateAt(0, state);
  character::Translate(state, Vec3(0.3, 0, -0.2));
  cost.Begin(state);
  for (int step = 2; step <= 48; step += 2) cost.Add(step, state, {});
  EXPECT_NEAR(cost.terms()[0], 0, 1e-12);
  EXPECT_NEAR(cost.gate_ratio(), 0, 1e-6) << "gates take no account of the place";
}

TEST(MotionCost, OfGatesAndTorquesBeginsAtTheirLimits) {
  Options options = SmallOptions();
  options.gate_weight = 200;
  options.gate_share = 0.5;
  options.torque_limit = 100;
  options.torque_weight = 0.01;
  std::vector<Vec3> torques(task::Human().joints.size(), Vec3(100, -100, 0));
  const auto up = [](double height) {
    return [height](character::State& state) { character::Translate(state, Vec3(0, height, 0)); };
  };
  const double limit = metrics::GateLimits().Of(task::Human()).root_height;
  Terms terms = TermsOf(options, up(0.49 * limit), torques);
  EXPECT_EQ(terms[kGateTerm], 0);
  EXPECT_EQ(terms[kTorqueTerm], 0);
  torques[2] = Vec3(-130, 0, 0);
  terms = TermsOf(options, up(0.8 * limit), torques);
  EXPECT_NEAR(terms[kGateTerm], 200 * 0.4 * 0.09, 1e-9);
  EXPECT_NEAR(terms[kTorqueTerm], 0.01 * 0.4 * 900, 1e-9);
}

}  // namespace
}  // namespace retrace::trajectory
