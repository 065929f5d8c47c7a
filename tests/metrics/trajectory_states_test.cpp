/// States between the steps of a simulation, held against motions that are known at any time.
#include "retrace/metrics/trajectory_states.h"

#include <gtest/gtest.h>

#include <cstring>

#include "retrace/math/rotation.h"

namespace retrace::metrics {
namespace {

constexpr double kBetweenStates = 1.0 / 240;
constexpr double kSpin = 2;  // about y [rad/s]

/// A body that flies evenly, turns evenly and gains speed evenly.
character::BodyState Flying(double time) {
  character::BodyState body;
  body.position = Vec3(1, 2, 3) * time;
  body.orientation = AxisRotation(1, kSpin * time);
  body.linear_velocity = Vec3(4, 0, -1) * time;
  body.angular_velocity = Vec3(0, 6, 0) * time;
  return body;
}

control::Trajectory Flight(int steps) {
  control::Trajectory trajectory;
  trajectory.time_step = kBetweenStates;
  for (int i = 0; i <= steps; ++i)
    trajectory.states.push_back({Flying(i * kBetweenStates), Flying(2 * i * kBetweenStates)});
  return trajectory;
}

TEST(StateAt, IsEvenBetweenTwoSteps) {
  const control::Trajectory trajectory = Flight(12);
  character::State state;
  for (const double time : {0.3 * kBetweenStates, 2.5 * kBetweenStates, 11.99 * kBetweenStates}) {
    StateAt(trajectory, time, state);
    ASSERT_EQ(state.size(), 2u);
    for (size_t b = 0; b < 2; ++b) {
      const character::BodyState expected = Flying((b == 0 ? 1 : 2) * time);
      EXPECT_LT((state[b].position - expected.position).norm(), 1e-12);
      EXPECT_LT((state[b].linear_velocity - expected.linear_velocity).norm(), 1e-12);
      EXPECT_LT((state[b].angular_velocity - expected.angular_velocity).norm(), 1e-12);
      EXPECT_LT(AngleBetween(state[b].orientation, expected.orientation), 1e-6);
      EXPECT_NEAR(state[b].orientation.norm(), 1, 1e-12);
    }
  }
}

TEST(StateAt, IsTheStateOfAStepToTheBit) {
  const control::Trajectory trajectory = Flight(12);
  character::State state;
  for (size_t i = 0; i <= 12; ++i) {
    for (const double miss : {-1e-8, 0.0, 1e-8}) {  // of a step
      StateAt(trajectory, (static_cast<double>(i) + miss) * kBetweenStates, state);
      EXPECT_EQ(std::memcmp(state.data(), trajectory.states[i].data(), 2 * sizeof(character::BodyState)), 0) << i;
    }
  }
}

TEST(StateAt, StaysWithinTheTrajectory) {
  const control::Trajectory trajectory = Flight(3);
  character::State state;
  StateAt(trajectory, -1, state);
  EXPECT_EQ(state[1].position, trajectory.states.front()[1].position);
  StateAt(trajectory, 1, state);
  EXPECT_EQ(state[1].position, trajectory.states.back()[1].position);
  control::Trajectory still = Flight(0);
  still.time_step = 0;
  StateAt(still, 0, state);
  EXPECT_EQ(state[0].position, Vec3::Zero());
}

TEST(PlaceOf, CountsStepsAndTheShareOfTheNext) {
  const control::Trajectory trajectory = Flight(12);
  EXPECT_EQ(PlaceOf(trajectory, 4 * kBetweenStates).before, 4u);
  EXPECT_EQ(PlaceOf(trajectory, 4 * kBetweenStates).share, 0);
  EXPECT_EQ(PlaceOf(trajectory, 4.25 * kBetweenStates).before, 4u);
  EXPECT_NEAR(PlaceOf(trajectory, 4.25 * kBetweenStates).share, 0.25, 1e-9);
  EXPECT_EQ(PlaceOf(trajectory, 12.5 * kBetweenStates).before, 12u);
}

}  // namespace
}  // namespace retrace::metrics
