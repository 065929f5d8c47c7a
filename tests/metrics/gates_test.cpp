/// Tolerances and figures of trajectories whose distance from the reference is known by construction.
#include "retrace/metrics/gates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "math/any_stream.h"
#include "retrace/metrics/gate_stay.h"

namespace retrace::metrics {
namespace {

using character::BodyState;
using character::Human;
using character::Pose;
using character::RandomPose;
using character::RandomVector;
using character::ReferenceMotion;
using character::RestPose;
using character::State;
using character::StateOf;
using character::Walk;

constexpr double kStep = 1.0 / 240;

ReferenceMotion WalkReference() {
  return {Human(), 1.0 / 120, Walk().Poses(Human(), 2, 1.0 / 120), 1.0 / 60};
}

/// The reference's own states, each changed by its step's number.
template <typename Change>
control::Trajectory Follow(const ReferenceMotion& reference, size_t steps, Change change) {
  control::Trajectory trajectory;
  trajectory.time_step = kStep;
  for (size_t i = 0; i <= steps; ++i) {
    Pose pose;
    reference.PoseAt(static_cast<double>(i) * kStep, pose);
    change(i, pose);
    trajectory.states.push_back(StateOf(Human(), pose));
  }
  return trajectory;
}

/// The whole character turned about the vertical through the origin and moved.
State Moved(const State& state, double yaw, const Vec3& shift) {
  const Quat turn = AxisRotation(1, yaw);
  State moved = state;
  for (BodyState& body : moved) {
    body.position = turn * body.position + shift;
    body.orientation = turn * body.orientation;
  }
  return moved;
}

RC_GTEST_PROP(JointPositionErrorProperty, IsZeroForEqualPostures, ()) {
  RandomStream random = AnyStream();
  const State state = StateOf(Human(), RandomPose(Human(), random));
  RC_ASSERT(JointPositionError(Human(), state, state) < 1e-12);
  // Wherever they stand and face.
  const State moved = Moved(state, random.Uniform(-3, 3), RandomVector(random, 5));
  RC_ASSERT(JointPositionError(Human(), moved, state) < 1e-9);
}

RC_GTEST_PROP(JointPositionErrorProperty, DoesNotSeeACommonTurnAndShift, ()) {
  RandomStream random = AnyStream();
  const State a = StateOf(Human(), RandomPose(Human(), random));
  const State b = StateOf(Human(), RandomPose(Human(), random));
  const double yaw = random.Uniform(-3, 3);
  const double error = JointPositionError(Human(), a, b);
  RC_ASSERT(std::abs(JointPositionError(Human(), Moved(a, yaw, RandomVector(random, 5)),
                                        Moved(b, yaw, RandomVector(random, 5))) -
                     error) < 1e-9);
}

RC_GTEST_PROP(JointPositionErrorProperty, SwapsItsSides, ()) {
  RandomStream random = AnyStream();
  const State a = StateOf(Human(), RandomPose(Human(), random));
  const State b = StateOf(Human(), RandomPose(Human(), random));
  RC_ASSERT(std::abs(JointPositionError(Human(), a, b) - JointPositionError(Human(), b, a)) < 1e-9);
}

TEST(JointPositionError, RemovesTheHeadingOfALyingBody) {
  // On the back the facing direction points up and says nothing about heading: the turn between the two roots does.
  Pose pose = RestPose(Human());
  pose.root_orientation = AxisRotation(0, -kPi / 2);
  const State lying = StateOf(Human(), pose);
  for (const double yaw : {-2.5, -0.4, 1.0, 3.0}) {
    EXPECT_LT(JointPositionError(Human(), Moved(lying, yaw, Vec3(1, 0, 2)), lying), 1e-12) << yaw;
  }
  // A lean is not removed.
  pose.root_orientation = AxisRotation(0, -kPi / 2 + 0.3);
  EXPECT_GT(JointPositionError(Human(), StateOf(Human(), pose), lying), 0.05);
}

TEST(JointPositionError, OfOneBentElbowInClosedForm) {
  const State rest = StateOf(Human(), RestPose(Human()));
  Pose pose = RestPose(Human());
  RotationOf(Human(), pose, "left_elbow") = AxisRotation(1, -kPi / 2);
  // Only the wrist moves: by the chord of the forearm, of sixteen joints.
  const double forearm = (JointOf(Human(), "left_wrist").anchor - JointOf(Human(), "left_elbow").anchor).norm();
  EXPECT_NEAR(JointPositionError(Human(), StateOf(Human(), pose), rest), std::sqrt(2) * forearm / 16, 1e-12);
}

RC_GTEST_PROP(WorldPositionErrorProperty, OfAShiftIsItsLength, ()) {
  RandomStream random = AnyStream();
  const State state = StateOf(Human(), RandomPose(Human(), random));
  const Vec3 shift = RandomVector(random, 5);
  RC_ASSERT(std::abs(WorldPositionError(Human(), Moved(state, 0, shift), state) - shift.norm()) < 1e-9);
  // A turn is seen, too, other than by JointPositionError.
  const State turned = Moved(state, 0.5, Vec3::Zero());
  RC_ASSERT(WorldPositionError(Human(), turned, state) + 1e-9 > JointPositionError(Human(), turned, state));
}

TEST(Evaluate, OfTheReferenceItselfIsPerfect) {
  const ReferenceMotion reference = WalkReference();
  const Evaluation evaluation = Evaluate(Human(), Follow(reference, 480, [](size_t, Pose&) {}), reference, 2, {});
  EXPECT_TRUE(evaluation.success());
  EXPECT_TRUE(evaluation.completed);
  EXPECT_DOUBLE_EQ(evaluation.simulated_duration, 2);
  ASSERT_EQ(evaluation.gates.size(), 3u);
  EXPECT_EQ(evaluation.gates[0].name, "root_height");
  EXPECT_EQ(evaluation.gates[1].name, "root_orientation");
  EXPECT_EQ(evaluation.gates[2].name, "joint_position");
  for (const Gate& gate : evaluation.gates) EXPECT_LT(gate.worst, 1e-9) << gate.name;
  EXPECT_LT(evaluation.mean_joint_error, 1e-9);
  EXPECT_LT(evaluation.drift, 1e-12);
}

TEST(Evaluate, HeightIsMeasuredUpAndDown) {
  const ReferenceMotion reference = WalkReference();
  for (const double sign : {-1.0, 1.0}) {
    // Rising or sinking by a millimeter per step: the limit of 0.25 m is passed at step 251.
    const auto trajectory = Follow(
        reference, 480, [&](size_t i, Pose& pose) { pose.root_position.y() += sign * 0.001 * static_cast<double>(i); });
    const Evaluation evaluation = Evaluate(Human(), trajectory, reference, 2, {});
    EXPECT_FALSE(evaluation.success());
    EXPECT_TRUE(evaluation.completed);
    EXPECT_NEAR(evaluation.gates[0].worst, 0.48, 1e-9);
    EXPECT_NEAR(evaluation.gates[0].first_violation, 251 * kStep, 1.01 * kStep);
    EXPECT_TRUE(evaluation.gates[1].passed());
    EXPECT_TRUE(evaluation.gates[2].passed());
  }
}

TEST(Evaluate, OrientationIsTheAngleBetweenTheRoots) {
  const ReferenceMotion reference = WalkReference();
  for (int axis = 0; axis < 3; ++axis) {
    const auto trajectory = Follow(reference, 480, [&](size_t i, Pose& pose) {
      if (i == 100) pose.root_orientation = AxisRotation(axis, Radians(59)) * pose.root_orientation;
      if (i == 200) pose.root_orientation = AxisRotation(axis, Radians(61)) * pose.root_orientation;
    });
    const Evaluation evaluation = Evaluate(Human(), trajectory, reference, 2, {});
    EXPECT_NEAR(evaluation.gates[1].worst, Radians(61), 1e-9);
    EXPECT_DOUBLE_EQ(evaluation.gates[1].first_violation, 200 * kStep);
  }
}

TEST(Evaluate, OnePostureOutsideIsEnough) {
  const ReferenceMotion reference = WalkReference();
  const auto trajectory = Follow(reference, 480, [](size_t i, Pose& pose) {
    if (i != 77) return;
    for (const char* joint : {"left_shoulder", "right_shoulder"})
      RotationOf(Human(), pose, joint) = AxisRotation(2, kPi);
    for (const char* joint : {"left_hip", "right_hip"}) RotationOf(Human(), pose, joint) = AxisRotation(0, -2.0);
  });
  const Evaluation evaluation = Evaluate(Human(), trajectory, reference, 2, {});
  EXPECT_FALSE(evaluation.success());
  EXPECT_DOUBLE_EQ(evaluation.gates[2].first_violation, 77 * kStep);
  EXPECT_NEAR(evaluation.mean_joint_error, evaluation.gates[2].worst / 481, 1e-9);
}

TEST(Evaluate, DriftIsReportedAndNotGated) {
  const ReferenceMotion reference = WalkReference();
  const auto trajectory = Follow(reference, 480, [](size_t i, Pose& pose) {
    pose.root_position += static_cast<double>(i) / 480 * Vec3(3, 0.1, 4);
  });
  const Evaluation evaluation = Evaluate(Human(), trajectory, reference, 2, {});
  EXPECT_TRUE(evaluation.success());
  EXPECT_NEAR(evaluation.drift, 5, 1e-9);
}

TEST(Evaluate, DistanceInTheWorldDecidesWhereItIsJudged) {
  const ReferenceMotion reference = WalkReference();
  // A drift of 1 m in all: half a meter is exceeded after step 240, and none of the other tolerances ever.
  const auto trajectory =
      Follow(reference, 480, [](size_t i, Pose& pose) { pose.root_position.x() += static_cast<double>(i) / 480; });
  GateLimits limits;
  const Evaluation reported = Evaluate(Human(), trajectory, reference, 2, limits);
  EXPECT_TRUE(reported.success());
  EXPECT_FALSE(reported.near_in_world());
  EXPECT_NEAR(reported.world.worst, 1, 1e-9);
  EXPECT_NEAR(reported.world.first_violation, 241 * kStep, 1.01 * kStep);
  EXPECT_EQ(reported.ToJson().at("world").at("passed"), false);
  limits.judge_world = true;
  const Evaluation judged = Evaluate(Human(), trajectory, reference, 2, limits);
  EXPECT_FALSE(judged.success());
  ASSERT_NE(judged.FirstViolated(), nullptr);
  EXPECT_EQ(judged.FirstViolated()->name, "world_position");
  limits.world_position = 1.1;
  EXPECT_TRUE(Evaluate(Human(), trajectory, reference, 2, limits).success());
}

TEST(Evaluate, SaturationIsAGateWhereTorquesAreLimited) {
  const ReferenceMotion reference = WalkReference();
  control::Trajectory trajectory = Follow(reference, 240, [](size_t, Pose&) {});
  const auto knee = static_cast<size_t>(Human().FindJoint("left_knee"));
  const auto waist = static_cast<size_t>(Human().FindJoint("waist"));
  trajectory.torques.assign(240, std::vector<Vec3>(Human().joints.size(), Vec3::Zero()));
  for (size_t i = 100; i < 240; ++i) trajectory.torques[i][knee].x() = i % 2 == 0 ? 80 : -80;
  for (size_t i = 0; i < 60; ++i) trajectory.torques[i][waist].y() = 50;
  EXPECT_TRUE(Evaluate(Human(), trajectory, reference, 1, {}).saturation.empty()) << "nothing is limited";
  EXPECT_FALSE(Evaluate(Human(), trajectory, reference, 1, {}).ToJson().contains("saturation"));
  character::Character limited = Human();
  limited.joints[knee].effort.x() = 80;
  limited.joints[waist].effort.y() = 50;
  limited.joints[waist].effort.x() = 40;
  const Evaluation found = Evaluate(limited, trajectory, reference, 1, {});
  ASSERT_EQ(found.saturation.size(), 2u);
  const io::Json json = found.ToJson();
  EXPECT_NEAR(json.at("saturation").at("left_knee").get<double>(), 140.0 / 240, 1e-12);
  EXPECT_NEAR(json.at("saturation").at("waist").get<double>(), 0.25, 1e-12);
  EXPECT_FALSE(found.success());
  ASSERT_NE(found.FirstViolated(), nullptr);
  EXPECT_EQ(found.FirstViolated()->name, "saturation");
  EXPECT_NEAR(found.FirstViolated()->worst, 140.0 / 240, 1e-12);
  EXPECT_NEAR(found.FirstViolated()->first_violation, 101 * kStep, 1e-9);
  GateLimits any;
  any.saturation = 1;
  EXPECT_TRUE(Evaluate(limited, trajectory, reference, 1, any).success());
}

TEST(Evaluate, MotorSpeedIsAGateWhereMotorsHaveOne) {
  const ReferenceMotion reference = WalkReference();
  control::Trajectory trajectory = Follow(reference, 240, [](size_t, Pose&) {});
  const auto knee = static_cast<size_t>(Human().FindJoint("left_knee"));
  const auto turn = [&](size_t state, double rate) {
    const character::Joint& joint = Human().joints[knee];
    character::BodyState& shin = trajectory.states[state][static_cast<size_t>(joint.child)];
    const character::BodyState& thigh = trajectory.states[state][static_cast<size_t>(joint.parent)];
    shin.angular_velocity = thigh.angular_velocity + thigh.orientation * Vec3(rate, 0, 0);
  };
  for (size_t i = 0; i < trajectory.states.size(); ++i) turn(i, 5);
  EXPECT_FALSE(Evaluate(Human(), trajectory, reference, 1, {}).ToJson().contains("speed"));
  character::Character robot = Human();
  robot.joints[knee].speed = 10;
  for (const size_t state : {50, 51, 52, 53}) turn(state, 12);  // an impact
  Evaluation found = Evaluate(robot, trajectory, reference, 1, {});
  ASSERT_EQ(found.speed.size(), 1u);
  EXPECT_NEAR(found.speed[0].second, 1.2, 1e-9);
  EXPECT_TRUE(found.success());
  EXPECT_NEAR(found.gates.back().worst, 4.0 / 241, 1e-12);
  for (size_t i = 100; i < 110; ++i) turn(i, 11);
  found = Evaluate(robot, trajectory, reference, 1, {});
  EXPECT_FALSE(found.success());
  ASSERT_NE(found.FirstViolated(), nullptr);
  EXPECT_EQ(found.FirstViolated()->name, "motor_speed");
  EXPECT_NEAR(found.FirstViolated()->first_violation, 50 * kStep, 1e-9);
  EXPECT_NEAR(found.ToJson().at("speed").at("left_knee").get<double>(), 1.2, 1e-9);
}

/// A walk in which the floor presses with a multiple of the weight, in all steps or in one.
control::Trajectory Pressed(const ReferenceMotion& reference, double weights, size_t first, size_t last) {
  control::Trajectory trajectory = Follow(reference, 240, [](size_t, Pose&) {});
  trajectory.contacts.resize(240);
  simulation::Contact contact;
  contact.body = 0;
  contact.force = Vec3(0, weights * Human().total_mass() * kStandardGravity, 0);
  for (size_t i = first; i < last; ++i) trajectory.contacts[i].push_back(contact);
  return trajectory;
}

TEST(Evaluate, ContactForcesThatNoRecordingRequiresAreDoubted) {
  const ReferenceMotion reference = WalkReference();
  const auto evaluate = [&](const control::Trajectory& motion) {
    return Evaluate(Human(), motion, reference, 1, GateLimits());
  };
  const Evaluation calm = evaluate(Pressed(reference, 1, 0, 240));
  EXPECT_TRUE(calm.success());
  EXPECT_NEAR(calm.contact_force.worst, 1, 1e-9);
  EXPECT_GE(calm.contact_force.limit, 6);
  EXPECT_LT(calm.contact_force.limit, 20);
  EXPECT_TRUE(calm.Doubts().empty());
  // A spike of a step is averaged over the window: twelve steps of 1/240 s.
  const double spike = calm.contact_force.limit + 2;
  EXPECT_NEAR(evaluate(Pressed(reference, spike, 100, 101)).contact_force.worst, spike / 12, 1e-9);
  const Evaluation squeezed = evaluate(Pressed(reference, spike, 100, 200));
  EXPECT_TRUE(squeezed.success()) << "tolerances do not see it";
  EXPECT_NEAR(squeezed.contact_force.worst, spike, 1e-9);
  EXPECT_GT(squeezed.contact_force.first_violation, 100 * kStep);
  EXPECT_LE(squeezed.contact_force.first_violation, 112 * kStep + 1e-9);
  ASSERT_EQ(squeezed.Doubts().size(), 1u);
  EXPECT_NE(squeezed.Doubts().front().find("contacts press with"), std::string::npos);
  EXPECT_EQ(squeezed.ToJson()["doubts"].size(), 1u);
  // In parts it is the same, and forces between its own bodies are none of the ground's.
  Evaluator evaluator(Human(), reference, GateLimits());
  control::Trajectory whole = Pressed(reference, spike, 100, 200), first = whole, second = whole;
  first.states.resize(151);
  first.contacts.resize(150);
  second.first_step = 150;
  second.states.erase(second.states.begin(), second.states.begin() + 150);
  second.contacts.erase(second.contacts.begin(), second.contacts.begin() + 150);
  evaluator.Add(first);
  evaluator.Add(second);
  EXPECT_EQ(evaluator.Finish(1).contact_force.worst, squeezed.contact_force.worst);
  for (auto& contacts : whole.contacts) {
    for (simulation::Contact& contact : contacts) contact.other = 1;
  }
  EXPECT_EQ(evaluate(whole).contact_force.worst, 0);
}

TEST(Evaluate, AJointThatGivesWayIsDoubted) {
  const ReferenceMotion reference = WalkReference();
  control::Trajectory motion = Follow(reference, 240, [](size_t, Pose&) {});
  EXPECT_LT(Evaluate(Human(), motion, reference, 1, GateLimits()).joint_gap.worst, 1e-9);
  const character::Joint& joint = Human().joints.back();
  motion.states[120][static_cast<size_t>(joint.child)].position.x() += 0.06;
  const Evaluation torn = Evaluate(Human(), motion, reference, 1, GateLimits());
  EXPECT_NEAR(torn.joint_gap.worst, 0.06, 1e-9);
  EXPECT_NEAR(torn.joint_gap.first_violation, 120 * kStep, 1e-9);
  ASSERT_EQ(torn.Doubts().size(), 1u);
  EXPECT_NE(torn.Doubts().front().find("a joint gives way by 0.060 m"), std::string::npos);
}

TEST(Evaluate, APostureThatIsNeverNearIsDoubtedThoughItIsWithinTolerance) {
  const ReferenceMotion reference = WalkReference();
  const auto bent = [&](double angle) {
    const auto bend = [&](size_t, Pose& pose) {
      for (Quat& rotation : pose.joint_rotations) rotation = rotation * FromRotationVector(Vec3(angle, 0, 0));
    };
    return Evaluate(Human(), Follow(reference, 240, bend), reference, 1, GateLimits());
  };
  const Evaluation near = bent(0.05), lean = bent(0.2), folded = bent(0.42);
  for (const Evaluation& each : {near, lean, folded}) ASSERT_TRUE(each.success()) << each.mean_joint_error;
  EXPECT_TRUE(near.near_in_posture()) << near.mean_joint_error;
  EXPECT_FALSE(lean.near_in_posture()) << lean.mean_joint_error;
  EXPECT_TRUE(lean.Doubts().empty()) << lean.mean_joint_error;
  EXPECT_FALSE(folded.near_in_posture());
  ASSERT_EQ(folded.Doubts().size(), 1u) << folded.mean_joint_error;
  EXPECT_NE(folded.Doubts().front().find("the posture is not the recorded one"), std::string::npos);
}

TEST(Evaluate, StoppingEarlyIsNoSuccess) {
  const ReferenceMotion reference = WalkReference();
  const auto whole = Follow(reference, 480, [](size_t, Pose&) {});
  auto cut = Follow(reference, 479, [](size_t, Pose&) {});
  EXPECT_FALSE(Evaluate(Human(), cut, reference, 2, {}).completed);
  EXPECT_FALSE(Evaluate(Human(), cut, reference, 2, {}).success());
  EXPECT_TRUE(Evaluate(Human(), cut, reference, 2 - kStep, {}).success());
  auto diverged = whole;
  diverged.diverged = true;
  EXPECT_FALSE(Evaluate(Human(), diverged, reference, 2, {}).success());
}

TEST(Evaluate, LimitsAreTheOptions) {
  const ReferenceMotion reference = WalkReference();
  const auto trajectory = Follow(reference, 480, [](size_t, Pose& pose) { pose.root_position.y() += 0.1; });
  GateLimits limits;
  limits.root_height = 0.099;
  EXPECT_TRUE(Evaluate(Human(), trajectory, reference, 2, {}).success());
  const Evaluation evaluation = Evaluate(Human(), trajectory, reference, 2, limits);
  EXPECT_FALSE(evaluation.success());
  EXPECT_EQ(evaluation.gates[0].first_violation, 0);
  EXPECT_EQ(evaluation.gates[0].limit, 0.099);
}

TEST(GateLimits, FollowTheHeightOfTheCharacter) {
  const GateLimits limits;
  const GateLimits of_human = limits.Of(Human());
  EXPECT_EQ(of_human.root_height, limits.root_height);  // to the bit
  EXPECT_EQ(of_human.joint_position, limits.joint_position);
  character::Character small = Human();
  small.height = 0.85;
  EXPECT_DOUBLE_EQ(limits.Of(small).root_height, 0.125);
  EXPECT_DOUBLE_EQ(limits.Of(small).joint_position, 0.125);
  EXPECT_DOUBLE_EQ(limits.Of(small).world_position, 0.25);
  EXPECT_EQ(limits.Of(small).root_orientation, limits.root_orientation);
  // The share of the tolerances doubles with it, and the evaluation reports the limit that it held against.
  const State rest = StateOf(Human(), RestPose(Human()));
  const State raised = Moved(rest, 0, Vec3(0, 0.1, 0));
  EXPECT_NEAR(ComputeGateRatios(small, raised, rest, limits).root_height, 0.8, 1e-12);
  const ReferenceMotion reference = WalkReference();
  const auto trajectory = Follow(reference, 24, [](size_t, Pose& pose) { pose.root_position.y() += 0.2; });
  EXPECT_TRUE(Evaluate(Human(), trajectory, reference, 0.1, limits).gates[0].passed());
  const Gate gate = Evaluate(small, trajectory, reference, 0.1, limits).gates[0];
  EXPECT_FALSE(gate.passed());
  EXPECT_DOUBLE_EQ(gate.limit, 0.125);
}

TEST(Evaluation, NothingSimulatedIsNoSuccess) {
  EXPECT_FALSE(Evaluation().success());
}

TEST(Evaluation, JsonTellsWhichGateFailedWhen) {
  const ReferenceMotion reference = WalkReference();
  const auto trajectory = Follow(reference, 480, [](size_t i, Pose& pose) {
    if (i >= 240) pose.root_position.y() += 0.3;
  });
  const io::Json json = Evaluate(Human(), trajectory, reference, 2, {}).ToJson();
  EXPECT_EQ(json.at("success"), false);
  EXPECT_EQ(json.at("completed"), true);
  EXPECT_EQ(json.at("gates").at("root_height").at("passed"), false);
  EXPECT_EQ(json.at("gates").at("root_height").at("first_violation"), 1.0);
  EXPECT_EQ(json.at("gates").at("root_orientation").at("passed"), true);
  EXPECT_FALSE(json.at("gates").at("root_orientation").contains("first_violation"));
  EXPECT_NEAR(GateLimits().ToJson().at("root_orientation_degrees").get<double>(), 60, 1e-12);
}

RC_GTEST_PROP(GateRatioProperty, IsAboveOneExactlyWhereAGateIsPassed, ()) {
  RandomStream random = AnyStream();
  const ReferenceMotion reference = WalkReference();
  const auto trajectory = Follow(reference, 1, [&](size_t, Pose& pose) {
    pose.root_position.y() += random.Uniform(-0.4, 0.4);
    pose.root_orientation = FromRotationVector(RandomVector(random, 0.8)) * pose.root_orientation;
    for (Quat& q : pose.joint_rotations) q = FromRotationVector(RandomVector(random, 0.4)) * q;
  });
  const GateLimits limits;
  double largest = 0;
  for (size_t i = 0; i < 2; ++i) {
    Pose pose;
    reference.PoseAt(static_cast<double>(i) * kStep, pose);
    largest = std::max(largest, LargestGateRatio(Human(), trajectory.states[i], StateOf(Human(), pose), limits));
  }
  const Evaluation evaluation = Evaluate(Human(), trajectory, reference, kStep, limits);
  RC_ASSERT(evaluation.success() == (largest <= 1));
}

TEST(ComputeGateRatios, AreEachFigureOverItsLimit) {
  const State rest = StateOf(Human(), RestPose(Human()));
  Pose pose = RestPose(Human());
  pose.root_position += Vec3(3, -0.1, 1);  // only the height counts
  pose.root_orientation = AxisRotation(1, 0.5);
  RotationOf(Human(), pose, "left_elbow") = AxisRotation(1, -kPi / 2);
  const double forearm = (JointOf(Human(), "left_wrist").anchor - JointOf(Human(), "left_elbow").anchor).norm();
  const GateLimits limits{0.2, 0.25, 0.04};
  const GateRatios ratios = ComputeGateRatios(Human(), StateOf(Human(), pose), rest, limits);
  EXPECT_NEAR(ratios.root_height, 0.5, 1e-12);
  EXPECT_NEAR(ratios.root_orientation, 2, 1e-12);
  EXPECT_NEAR(ratios.joint_position, std::sqrt(2) * forearm / 16 / 0.04, 1e-12);
  EXPECT_EQ(ratios.largest(), ratios.root_orientation);
  EXPECT_EQ(LargestGateRatio(Human(), StateOf(Human(), pose), rest, limits), ratios.largest());
  EXPECT_EQ(ratios.world_position, 0) << "it is not judged";
  GateLimits judged = limits;
  judged.judge_world = true;
  const GateRatios in_world = ComputeGateRatios(Human(), StateOf(Human(), pose), rest, judged);
  EXPECT_EQ(in_world.world_position,
            WorldPositionError(Human(), StateOf(Human(), pose), rest) / judged.Of(Human()).world_position);
  EXPECT_EQ(GateComparison(Human(), rest, judged).Ratios(StateOf(Human(), pose)).world_position,
            in_world.world_position);
  EXPECT_EQ(in_world.joint_position, ratios.joint_position);
  const GateRatios compared = GateComparison(Human(), rest, limits).Ratios(StateOf(Human(), pose));
  EXPECT_EQ(compared.root_height, ratios.root_height);
  EXPECT_EQ(compared.root_orientation, ratios.root_orientation);
  EXPECT_EQ(compared.joint_position, ratios.joint_position);
  EXPECT_EQ((GateRatios{0.1, 0.2, 0.3}).largest(), 0.3);
  EXPECT_EQ((GateRatios{0.4, 0.2, 0.3}).largest(), 0.4);
}

TEST(MomentumResidual, OfAStandingHumanIsRounding) {
  const control::OpenLoopControl standing = control::Standing(5);
  const control::Trajectory trajectory = control::Replay(Human(), standing);
  ASSERT_FALSE(trajectory.diverged);
  const std::vector<double> residual = MomentumResidual(Human(), trajectory, standing.world.gravity);
  ASSERT_EQ(residual.size(), trajectory.num_steps());
  const double weight = Human().total_mass() * standing.world.gravity;
  for (size_t i = 0; i < residual.size(); ++i) ASSERT_LT(residual[i], 1e-6 * weight) << "step " << i;
}

TEST(MomentumResidual, SeesAForceThatIsMissing) {
  const control::OpenLoopControl standing = control::Standing(1);
  control::Trajectory trajectory = control::Replay(Human(), standing);
  double removed = 0;
  for (const simulation::Contact& contact : trajectory.contacts[10]) removed += contact.force.y();
  ASSERT_GT(removed, 100);
  trajectory.contacts[10].clear();
  EXPECT_NEAR(MomentumResidual(Human(), trajectory, standing.world.gravity)[10], removed, 0.05 * removed);
}

TEST(MomentumResidual, OfAFreeFallIsZero) {
  control::Trajectory trajectory;
  trajectory.time_step = kStep;
  RandomStream random(3, RandomStage::kTest, 0, 0);
  State state = control::RandomState(random);
  for (int i = 0; i < 10; ++i) {
    trajectory.states.push_back(state);
    for (BodyState& body : state) body.linear_velocity.y() -= 9.81 * kStep;
    if (i > 0) trajectory.contacts.emplace_back();
  }
  for (const double residual : MomentumResidual(Human(), trajectory, 9.81)) EXPECT_LT(residual, 1e-9);
}

TEST(StayObserver, TellsWhenAMotionLeavesAndComesBack) {
  const ReferenceMotion reference = WalkReference();
  constexpr size_t kSteps = 480;
  // 0.5 m too high from 0.5 to 1 s, and half a meter too low at the end.
  const control::Trajectory motion = Follow(reference, kSteps, [](size_t i, Pose& pose) {
    if (i >= 120 && i < 240) pose.root_position.y() += 0.5;
    if (i >= 456) pose.root_position.y() -= 0.5;
  });
  StayObserver observer(Human(), reference, {});
  observer.Add(motion);
  const GateStay stay = observer.Finish(2);
  ASSERT_EQ(stay.excursions.size(), 2u);
  EXPECT_NEAR(stay.excursions[0].interval.start, 0.5, 1e-9);
  EXPECT_NEAR(stay.excursions[0].interval.end, 239 * kStep, 1e-9);
  EXPECT_EQ(stay.excursions[0].gate, "root_height");
  EXPECT_NEAR(stay.excursions[0].ratio, 2, 0.1);
  EXPECT_TRUE(stay.excursions[0].returned);
  EXPECT_FALSE(stay.excursions[1].returned);
  EXPECT_NEAR(stay.inside, 336.0 / 481, 1e-9);
  EXPECT_TRUE(
      stay.Describe().starts_with("within tolerance for 69.9 % of the time; outside from 0.50 to 1.00 s (root_height"))
      << stay.Describe();
  EXPECT_TRUE(stay.ToJson()["excursions"][1]["back"].is_null());
  // What is not simulated is not inside.
  EXPECT_NEAR(observer.Finish(4).inside, 336.0 / 961, 1e-9);
  StayObserver inside(Human(), reference, {});
  inside.Add(Follow(reference, kSteps, [](size_t, Pose&) {}));
  EXPECT_EQ(inside.Finish(2).inside, 1);
}

}  // namespace
}  // namespace retrace::metrics
