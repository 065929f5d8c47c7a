#include "methods/tracking/force_guidance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "task/synthetic_motion.h"

namespace retrace::tracking {
namespace {

/// The standing human with four contact points under each foot.
struct GuidedStanding {
  GuidedStanding()
      : reference(task::Motion(task::Standing, 1)),
        now(task::Human(), kStandardGravity),
        motion(reference, now.coordinates()),
        guidance(task::Human(), reference, options, world) {
    motion.At(0.5, goal);
    now.SetMotion(goal.pose, goal.velocity);
    for (const char* foot : {"left_foot", "right_foot"}) {
      const auto body = task::BodyIndex(foot);
      for (int corner = 0; corner < 4; ++corner) {
        ContactPlace place;
        place.body = static_cast<int>(body);
        place.point =
            goal.state[body].position + Vec3(corner % 2 == 0 ? 0.04 : -0.04, -0.037, corner < 2 ? 0.12 : -0.12);
        places.push_back(place);
      }
    }
    program.Resize(now.size(), static_cast<int>(places.size()));
  }
  void Update() { guidance.Update(now, goal, places, 0.5, 1.0 / 120); }

  static Options Guided() {
    Options options;
    options.guidance = 100;
    return options;
  }
  const Options options = Guided();
  simulation::WorldOptions world;
  character::ReferenceMotion reference;
  dynamics::CharacterDynamics now;
  TrackedMotion motion;
  ForceGuidance guidance;
  Goal goal;
  std::vector<ContactPlace> places;
  Dynamics program;
};

Vec3 SumOf(const std::vector<ForceGoal>& goals) {
  Vec3 sum = Vec3::Zero();
  for (const ForceGoal& goal : goals) sum += goal.force;
  return sum;
}

TEST(ForceGuidance, AStandingCharacterIsToBeCarriedByBothFeet) {
  GuidedStanding standing;
  standing.Update();
  standing.guidance.SetForces(standing.now, standing.places, standing.program);
  const std::vector<ForceGoal>& goals = standing.program.force_goals;
  ASSERT_EQ(goals.size(), 2u);  // one for each foot
  EXPECT_EQ(goals[0].first, 0);
  EXPECT_EQ(goals[0].count, 4);
  EXPECT_EQ(goals[1].first, 4);
  EXPECT_EQ(goals[1].count, 4);
  const double weight = task::Human().total_mass() * kStandardGravity;
  EXPECT_LT((SumOf(goals) - Vec3(0, weight, 0)).norm(), 1e-3 * weight);
  EXPECT_NEAR(goals[0].force.y(), goals[1].force.y(), 0.02 * weight);  // by symmetry
  EXPECT_NEAR(goals[0].weight, 100 / std::pow(task::Human().total_mass(), 2), 1e-12);
}

/// Feedback on the center of mass: m (k d + 2 sqrt(k) v) for a displacement d and a velocity v.
TEST(ForceGuidance, ADisplacedCenterOfMassIsPulledBack) {
  GuidedStanding standing;
  standing.Update();
  const Vec3 displacement(0.02, -0.01, 0.03);
  character::Pose pose = standing.goal.pose;
  pose.root_position += displacement;
  standing.now.SetMotion(pose, standing.goal.velocity);
  standing.guidance.SetForces(standing.now, standing.places, standing.program);
  const double mass = task::Human().total_mass();
  const Vec3 expected = Vec3(0, mass * kStandardGravity, 0) - mass * standing.options.guidance_feedback * displacement;
  EXPECT_LT((SumOf(standing.program.force_goals) - expected).norm(), 1e-3 * mass * kStandardGravity);
}

TEST(ForceGuidance, WithoutContactsNoForceIsAskedFor) {
  GuidedStanding standing;
  standing.places.clear();
  standing.Update();
  standing.guidance.SetForces(standing.now, standing.places, standing.program);
  EXPECT_TRUE(standing.program.force_goals.empty());
}

TEST(ForceGuidance, EachFootHasAGoalOfSixAccelerations) {
  GuidedStanding standing;
  standing.Update();
  standing.guidance.SetTasks(standing.now, standing.program);
  ASSERT_EQ(standing.program.tasks().size(), 2u);
  for (const Task& task : standing.program.tasks()) {
    EXPECT_EQ(task.jacobian.rows(), 6);
    EXPECT_EQ(task.jacobian.cols(), standing.now.size());
    EXPECT_EQ(task.weight, standing.options.foot_weight);
    EXPECT_LT(task.desired.norm(), 1e-6);  // it is where it should be, and at rest
  }
  // The root hardly has a goal of its own, and the legs have little of one.
  EXPECT_EQ(standing.program.weights[0], 0.1);
  const int knee = standing.now.coordinates().FirstOf(static_cast<int>(task::JointIndex("left_knee")));
  EXPECT_EQ(standing.program.weights[knee], standing.options.leg_weight);
  const int elbow = standing.now.coordinates().FirstOf(static_cast<int>(task::JointIndex("left_elbow")));
  EXPECT_EQ(standing.program.weights[elbow], 1);
}

/// Where both feet stand beside their positions, so does the center of mass.
TEST(ForceGuidance, TheMemoryIsWhereTheFeetStand) {
  GuidedStanding standing;
  std::vector<double> numbers = {7};
  standing.guidance.AppendMemory(numbers);
  EXPECT_EQ(numbers, std::vector<double>({7, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  character::Pose pose = standing.goal.pose;
  pose.root_position += Vec3(0.05, 0, 0);
  standing.now.SetMotion(pose, standing.goal.velocity);
  for (int k = 0; k < 200; ++k) standing.Update();
  numbers.clear();
  standing.guidance.AppendMemory(numbers);
  for (const size_t shifted : {0, 3, 6}) EXPECT_NEAR(numbers[shifted], 0.05, 1e-3);
  standing.guidance.SetForces(standing.now, standing.places, standing.program);
  const double weight = task::Human().total_mass() * kStandardGravity;
  EXPECT_LT((SumOf(standing.program.force_goals) - Vec3(0, weight, 0)).norm(), 5e-3 * weight);
  // Recalling takes its numbers from the front of others.
  GuidedStanding other;
  std::vector<double> all = numbers;
  all.push_back(42);
  const std::span<const double> rest = other.guidance.Recall(all);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0], 42);
  std::vector<double> recalled;
  other.guidance.AppendMemory(recalled);
  EXPECT_EQ(recalled, numbers);
}

}  // namespace
}  // namespace retrace::tracking
