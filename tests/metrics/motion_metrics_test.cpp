/// Figures of motions that differ from their reference in a way known by construction.
#include "retrace/metrics/motion_metrics.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "character/sample_human.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/metrics/floor_contacts.h"

namespace retrace::metrics {
namespace {

using character::Human;
using character::JointOf;
using character::Pose;
using character::ReferenceMotion;
using character::RestPose;
using character::RotationOf;
using character::State;
using character::StateOf;
using character::Walk;

constexpr double kTimeStep = 1.0 / 240;
constexpr double kDuration = 2;
using Motion = std::function<Pose(double time)>;

Pose WalkPose(double time) {
  return Walk().At(Human(), time);
}
Pose Standing(double) {
  return RestPose(Human());
}

ReferenceMotion Reference(const Motion& motion) {
  std::vector<Pose> poses;
  for (int i = 0; i <= std::lround(kDuration * 120); ++i) poses.push_back(motion(i / 120.0));
  return {Human(), 1.0 / 120, std::move(poses), 1.0 / 60};
}

/// A motion as if it had been simulated, without contacts and torques.
control::Trajectory Simulated(const Motion& motion, double duration = kDuration) {
  control::Trajectory trajectory;
  trajectory.time_step = kTimeStep;
  const auto steps = static_cast<size_t>(std::lround(duration / kTimeStep));
  for (size_t i = 0; i <= steps; ++i) {
    trajectory.states.push_back(StateOf(Human(), motion(static_cast<double>(i) * kTimeStep)));
  }
  trajectory.contacts.resize(steps);
  trajectory.torques.assign(steps, std::vector<Vec3>(Human().joints.size(), Vec3::Zero()));
  return trajectory;
}

MotionMetrics Measure(const Motion& simulated, const Motion& reference) {
  return MeasureMotion(Human(), Simulated(simulated), Reference(reference));
}

/// The second motion is the first one moved as a whole.
MotionMetrics MeasureMoved(const Motion& motion, const std::function<Vec3(double)>& shift, double yaw = 0) {
  return Measure(
      [&](double time) {
        Pose pose = motion(time);
        pose.root_position = AxisRotation(1, yaw) * pose.root_position + shift(time);
        pose.root_orientation = AxisRotation(1, yaw) * pose.root_orientation;
        return pose;
      },
      motion);
}

TEST(MotionMetrics, OfTheReferenceItself) {
  // At instants between two of its poses a reference is interpolated, so the simulation takes its states from there.
  const ReferenceMotion reference = Reference(WalkPose);
  const MotionMetrics m = MeasureMotion(Human(), Simulated([&](double time) {
                                          Pose pose;
                                          reference.PoseAt(time, pose);
                                          return pose;
                                        }),
                                        reference);
  for (const double figure : {m.joint_error, m.world_error, m.local_error, m.aligned_error, m.largest_body_error,
                              m.segment_drift, m.drift, m.velocity_error, m.acceleration_error, m.root_angle_error,
                              m.noise_to_signal, m.com_height_error, m.com_facing_error, m.quarter_trunk_error}) {
    EXPECT_NEAR(figure, 0, 1e-9);
  }
  EXPECT_NEAR(m.jerk_ratio, 1, 1e-9);
  EXPECT_EQ(m.skate_ratio, m.reference_skate_ratio);
  EXPECT_NEAR(m.penetration.largest, m.reference_penetration.largest, 1e-9);
}

TEST(MotionMetrics, AShiftIsSeenInTheWorldAlone) {
  const MotionMetrics m = MeasureMoved(WalkPose, [](double) { return Vec3(0.3, 0, 0.4); });
  EXPECT_NEAR(m.world_error, 0.5, 1e-3);  // within the interpolation of the reference
  EXPECT_NEAR(m.drift, 0.5, 1e-9);
  for (const double figure : {m.joint_error, m.local_error, m.aligned_error, m.segment_drift, m.velocity_error,
                              m.largest_body_error, m.com_facing_error}) {
    EXPECT_NEAR(figure, 0, 2e-3);
  }
}

TEST(MotionMetrics, ATurnIsRemovedByAlignmentButNotFromLocalError) {
  const double yaw = 0.7;
  const MotionMetrics m = MeasureMoved(
      Standing, [](double) { return Vec3(1, 0, 2); }, yaw);
  for (const double figure : {m.joint_error, m.aligned_error, m.largest_body_error, m.segment_drift, m.com_facing_error,
                              m.quarter_trunk_error}) {
    EXPECT_NEAR(figure, 0, 1e-9);
  }
  EXPECT_NEAR(m.root_angle_error, yaw, 1e-9);
  // Each joint moves by the chord of its circle about the root.
  double chords = 0;
  for (const auto& joint : Human().joints) {
    const Vec3 arm = joint.anchor - RestPose(Human()).root_position;
    chords += 2 * std::sin(0.5 * yaw) * std::hypot(arm.x(), arm.z());
  }
  EXPECT_NEAR(m.local_error, chords / static_cast<double>(Human().joints.size()), 1e-9);
}

TEST(MotionMetrics, HeightIsNotRemovedByAlignment) {
  const MotionMetrics m = MeasureMoved(Standing, [](double) { return Vec3(0, 0.06, 0); });
  EXPECT_NEAR(m.aligned_error, 0.06, 1e-9);
  EXPECT_NEAR(m.largest_body_error, 0.06, 1e-9);
  EXPECT_NEAR(m.com_height_error, 0.06, 1e-9);
  EXPECT_NEAR(m.joint_error, 0, 1e-9);
  EXPECT_NEAR(m.local_error, 0, 1e-9);
}

TEST(MotionMetrics, DriftHasAVelocity) {
  const double speed = 0.3;
  const MotionMetrics m = MeasureMoved(Standing, [=](double time) { return Vec3(speed * time, 0, 0); });
  EXPECT_NEAR(m.velocity_error, speed / 30, 1e-9);
  EXPECT_NEAR(m.acceleration_error, 0, 1e-9);
  EXPECT_NEAR(m.drift, speed * kDuration, 1e-9);
  EXPECT_NEAR(m.aligned_error, 0, 1e-9);
  // It begins anew each second: two seconds of 240 states, and the last state begins the third.
  EXPECT_NEAR(m.segment_drift, 2 * speed * kTimeStep * (239 * 240 / 2) / 481, 1e-9);
}

TEST(MotionMetrics, AFallHasAnAcceleration) {
  const MotionMetrics m = MeasureMoved(Standing, [](double time) { return Vec3(0, 0.5 * time * time, 0); });
  EXPECT_NEAR(m.acceleration_error, 1.0 / 900, 1e-9);
}

TEST(MotionMetrics, LargestBodyErrorIsThatOfTheWorstBodyAtTheWorstTime) {
  const auto bent = [](double time) {
    Pose pose = RestPose(Human());
    if (time > 1 && time < 1.1) RotationOf(Human(), pose, "left_elbow") = AxisRotation(1, -kPi / 2);
    return pose;
  };
  const Vec3 hand = Human().bodies[static_cast<size_t>(Human().FindBody("left_hand"))].rest_position;
  const double arm = (hand - JointOf(Human(), "left_elbow").anchor).norm();
  EXPECT_NEAR(Measure(bent, Standing).largest_body_error, std::sqrt(2) * arm, 1e-9);
}

/// An elbow that swings with an amplitude and frequency.
Motion Swing(const std::string& joint, double amplitude, double frequency, double offset = 0) {
  return [=](double time) {
    Pose pose = RestPose(Human());
    RotationOf(Human(), pose, joint) = AxisRotation(1, offset + amplitude * std::sin(2 * kPi * frequency * time));
    return pose;
  };
}

TEST(MotionMetrics, JerkOfASinusoidGoesWithAmplitudeAndTheCubeOfFrequency) {
  const Motion slow = Swing("left_elbow", 0.2, 1);
  EXPECT_NEAR(Measure(Swing("left_elbow", 0.6, 1), slow).jerk_ratio, 3, 1e-6);
  EXPECT_NEAR(Measure(Swing("right_elbow", 0.2, 1), slow).jerk_ratio, 1, 1e-6);
  // Third differences at 60 Hz see (2 sin(pi f / 60) 60)^3.
  const double cube = std::pow(std::sin(2 * kPi / 60) / std::sin(kPi / 60), 3);
  EXPECT_NEAR(Measure(Swing("left_elbow", 0.2, 2), slow).jerk_ratio, cube, 0.02 * cube);
  const double cube_30 = std::pow(std::sin(2 * kPi / 30) / std::sin(kPi / 30), 3);
  EXPECT_NEAR(Measure(Swing("left_elbow", 0.2, 2), slow).jerk_ratio_30, cube_30, 0.02 * cube_30);
  EXPECT_TRUE(std::isnan(Measure(slow, Standing).jerk_ratio));
}

TEST(MotionMetrics, NoiseToSignalIsThePowerOfTheDifference) {
  const Motion reference = Swing("left_elbow", 0.4, 1);
  EXPECT_NEAR(Measure(Swing("left_elbow", 0.5, 1), reference).noise_to_signal, 100 / 16.0, 1e-3);
  EXPECT_NEAR(Measure(Swing("left_elbow", 0.4, 1, 0.3), reference).noise_to_signal, 0, 1e-3);
  EXPECT_TRUE(std::isnan(Measure(Standing, Standing).noise_to_signal));
}

TEST(MotionMetrics, FeetSkateWhenLowAndFastForLong) {
  const auto skate = [](double speed, double height) {
    return MeasureMoved(Standing, [=](double time) { return Vec3(0, height, speed * time); }).skate_ratio;
  };
  EXPECT_EQ(skate(0.6, 0), 1);
  EXPECT_EQ(skate(0.6, 0.049), 1);
  EXPECT_EQ(skate(0.6, 0.051), 0);
  EXPECT_EQ(skate(0.4, 0), 0);
  // One quick interval among slow ones is no skating; half the time is half the ratio.
  EXPECT_EQ(MeasureMoved(Standing, [](double time) { return Vec3(time < 1 ? 0 : 0.04, 0, 0); }).skate_ratio, 0);
  const double half =
      MeasureMoved(Standing, [](double time) { return Vec3(std::max(0.0, time - 1), 0, 0); }).skate_ratio;
  EXPECT_NEAR(half, 0.5, 0.051);
  EXPECT_EQ(MeasureMoved(Standing, [](double) { return Vec3(0, 0, 0); }).reference_skate_ratio, 0);
}

/// The rest pose tipped about the floor line under its toes (1) or heels (-1).
Pose Tipped(double end, double angle) {
  const Vec3 edge(0, 0, 0.045 + end * 0.5 * 0.255);
  const Quat turn = AxisRotation(0, end * angle);
  Pose pose = RestPose(Human());
  pose.root_position = edge + turn * (pose.root_position - edge);
  pose.root_orientation = turn;
  return pose;
}

TEST(MotionMetrics, AFootThatRollsOverItsToesDoesNotSkate) {
  // Its center moves at 0.8 m/s.
  EXPECT_EQ(Measure([](double time) { return Tipped(1, 6 * std::min(time, 0.2)); }, Standing).skate_ratio, 0);
}

TEST(MotionMetrics, AHeelThatPassesLowDoesNotSkate) {
  const auto passing = [](double angle) {
    return [=](double time) {
      Pose pose = Tipped(-1, angle);
      pose.root_position.z() += time;
      return pose;
    };
  };
  // The ball is 0.7 x 0.255 m in front of the heel: 5 cm high at 16.3 degrees.
  EXPECT_EQ(Measure(passing(Radians(17)), Standing).skate_ratio, 0);
  EXPECT_EQ(Measure(passing(Radians(15.5)), Standing).skate_ratio, 1);
}

TEST(MotionMetrics, PenetrationIsThatOfTheDeepestPoint) {
  // Sinks evenly from 0 to 4 cm; the feet of the rest pose stand on the floor.
  const MotionMetrics m = MeasureMoved(Standing, [](double time) { return Vec3(0, -0.02 * time, 0); });
  EXPECT_NEAR(m.penetration.largest, 0.04, 1e-9);
  EXPECT_NEAR(m.penetration.mean, 0.02, 1e-9);
  EXPECT_NEAR(m.penetration.share, 0.75, 0.005);
  EXPECT_NEAR(m.reference_penetration.largest, 0, 1e-9);
}

MotionMetrics MeasureMovedIn(const simulation::Environment& world, const std::function<Vec3(double)>& shift) {
  const auto moved = [&](double time) {
    Pose pose = Standing(time);
    pose.root_position += shift(time);
    return pose;
  };
  return MeasureMotion(Human(), Simulated(moved), Reference(Standing), world);
}

TEST(MotionMetrics, SkatingAndSinkingAreOverWhatIsThere) {
  simulation::Environment step;  // 0.1 m high, and the ground a meter lower
  step.ground.height = -1;
  step.boxes = {{"step", Vec3(10, 2, 20), Vec3(0, -0.9, 0)}};
  const auto slide = [](double height, double speed) {
    return [=](double time) { return Vec3(0, height, speed * time); };
  };
  EXPECT_EQ(MeasureMovedIn(step, slide(0.1, 0.6)).skate_ratio, 1);
  EXPECT_EQ(MeasureMovedIn(step, slide(0.1, 0.6)).penetration.largest, 0);
  EXPECT_EQ(MeasureMovedIn(step, slide(0.16, 0.6)).skate_ratio, 0);
  EXPECT_EQ(MeasureMovedIn(step, slide(0.099, 0.6)).skate_ratio, 1) << "a millimeter deep";
  EXPECT_NEAR(MeasureMovedIn(step, slide(0.07, 0)).penetration.largest, 0.03, 1e-9);
  EXPECT_NEAR(MeasureMovedIn(step, slide(0.07, 0)).reference_penetration.largest, 0.1, 1e-9);
  simulation::Environment pit;
  pit.ground.height = -0.5;
  EXPECT_EQ(MeasureMovedIn(pit, slide(0, 0.6)).skate_ratio, 0) << "high over the ground";
  EXPECT_EQ(MeasureMovedIn(pit, slide(-0.5, 0.6)).skate_ratio, 1);
  EXPECT_NEAR(MeasureMovedIn(pit, slide(-0.52, 0)).penetration.largest, 0.02, 1e-9);
  simulation::Environment nothing;
  nothing.ground.present = false;
  EXPECT_EQ(MeasureMovedIn(nothing, slide(-3, 2)).skate_ratio, 0);
  EXPECT_EQ(MeasureMovedIn(nothing, slide(-3, 2)).penetration.largest, 0);
}

TEST(MotionMetrics, ATouchOfAWallIsAsDeepAsItIsWide) {
  simulation::Environment wall;  // its face 2 mm inside the left hand of the T-pose, far higher than the hand
  double reach = 0;
  const State state = StateOf(Human(), Standing(0));
  const auto hand = static_cast<size_t>(Human().FindBody("left_hand"));
  for (const auto& shape : Human().bodies[hand].shapes) {
    reach = std::max(reach, state[hand].position.x() + shape.offset.x() + shape.HalfExtents().x());
  }
  wall.boxes = {{"wall", Vec3(1, 4, 4), Vec3(reach + 0.5 - 0.002, 2, 0)}};
  EXPECT_NEAR(MeasureMovedIn(wall, [](double) { return Vec3(0, 0, 0); }).penetration.largest, 0.002, 1e-9);
}

TEST(MotionMetrics, ASlopeIsSunkIntoAcrossIt) {
  simulation::Environment ramp;  // its face goes through the origin, 30 degrees up towards z
  ramp.ground.present = false;
  const Quat turn = AxisRotation(0, Radians(-30));
  ramp.boxes = {{"ramp", Vec3(10, 2, 10), turn * Vec3(0, -1, 0), turn}};
  const auto tilted = [&](double depth) {
    return [=](double) {
      Pose pose = RestPose(Human());
      pose.root_orientation = turn;
      pose.root_position = turn * Vec3(pose.root_position - Vec3(0, depth, 0));
      return pose;
    };
  };
  const auto measured = [&](double depth) {
    return MeasureMotion(Human(), Simulated(tilted(depth)), Reference(Standing), ramp).penetration.largest;
  };
  EXPECT_NEAR(measured(0), 0, 1e-9);
  EXPECT_NEAR(measured(0.025), 0.025, 1e-9);
}

TEST(MotionMetrics, WhereBoxesMoveSkatingAndSinkingAreNotDefined) {
  simulation::Environment platform;
  platform.boxes = {{"platform", Vec3(10, 1, 10), Vec3(0, -0.5, 0)}};
  platform.boxes[0].course = simulation::Course{Vec3(1, 0, 0), Vec3::Zero(), 0, 0};
  const MotionMetrics m = MeasureMovedIn(platform, [](double time) { return Vec3(time, -0.2, 0); });
  EXPECT_TRUE(std::isnan(m.skate_ratio));
  EXPECT_TRUE(std::isnan(m.penetration.largest));
  EXPECT_TRUE(std::isnan(m.contact_agreement));
  EXPECT_TRUE(m.ToJson(Human())["skate_ratio"].is_null() || std::isnan(m.ToJson(Human())["skate_ratio"].get<double>()));
  Evaluation evaluation;
  evaluation.completed = true;
  MotionMetrics good;
  good.penetration = {std::nan(""), std::nan(""), std::nan("")};
  good.skate_ratio = std::nan("");
  EXPECT_TRUE(JudgeLevels(evaluation, good, MotionClass::kOnFeet, 1.7).strict) << "nothing was there to measure";
}

TEST(MotionMetrics, TorquesByJoint) {
  control::Trajectory trajectory = Simulated(Standing);
  const auto knee = static_cast<size_t>(Human().FindJoint("left_knee"));
  for (size_t i = 0; i < trajectory.torques.size(); ++i) {
    trajectory.torques[i][knee] = Vec3(i % 2 == 0 ? 10 : -70, 0, 0);
  }
  const MotionMetrics m = MeasureMotion(Human(), trajectory, Reference(Standing));
  EXPECT_NEAR(m.torque_rms[knee], 50, 1e-9);
  EXPECT_EQ(m.torque_rms[knee + 1], 0);
  EXPECT_EQ(m.torque_peak, 70);
  EXPECT_TRUE(m.ToJson(Human())["torque_limits"].is_null());
  character::Character limited = Human();
  limited.joints[knee].effort.x() = 80;
  EXPECT_EQ(m.ToJson(limited)["torque_limits"], io::Json({{"left_knee", {80.0, 0.0, 0.0}}}));
}

/// A standing body on which the ground pushes as `force` says, in weights.
MotionMetrics MeasurePushed(const Motion& motion, const std::function<double(size_t step)>& force) {
  control::Trajectory trajectory = Simulated(motion);
  const double weight = Human().total_mass() * kStandardGravity;
  for (size_t i = 0; i < trajectory.num_steps(); ++i) {
    simulation::Contact foot;
    foot.body = Human().FindBody("left_foot");
    foot.force = Vec3(100, 0.75 * force(i) * weight, 0);
    simulation::Contact box = foot;
    box.body = Human().FindBody("right_hand");
    box.object = 0;
    box.force = Vec3(0, 0.25 * force(i) * weight, 0);
    simulation::Contact own = foot;  // of two bodies of the character: no force from outside
    own.other = Human().FindBody("right_foot");
    trajectory.contacts[i] = {foot, box, own};
  }
  return MeasureMotion(Human(), trajectory, Reference(motion));
}

TEST(MotionMetrics, ForcesAreComparedWithWhatTheReferenceRequires) {
  EXPECT_NEAR(MeasurePushed(Standing, [](size_t) { return 1; }).force_error, 0, 1e-9);
  EXPECT_NEAR(MeasurePushed(Standing, [](size_t) { return 0.9; }).force_error, 0.1, 1e-9);
  // What changes from step to step is above what a force plate's filter lets through.
  const MotionMetrics jumping = MeasurePushed(Standing, [](size_t i) { return i % 2 == 0 ? 0.5 : 1.5; });
  EXPECT_LT(jumping.force_error, 0.01);
  EXPECT_NEAR(jumping.force_peak, 1.5, 1e-9);
  // A body that goes up and down: y = h sin(w t) requires 1 - h w^2 sin(w t) / g.
  constexpr double kHeight = 0.05;
  const double rate = 2 * kPi;
  const Motion bouncing = [&](double time) {
    Pose pose = Standing(time);
    pose.root_position.y() += kHeight * std::sin(rate * time);
    return pose;
  };
  const auto required = [&](size_t step) {
    const double time = (static_cast<double>(step) + 0.5) * kTimeStep;
    return 1 - kHeight * rate * rate * std::sin(rate * time) / kStandardGravity;
  };
  EXPECT_LT(MeasurePushed(bouncing, required).force_error, 0.01);
  EXPECT_NEAR(MeasurePushed(bouncing, [](size_t) { return 1; }).force_error,
              kHeight * rate * rate / kStandardGravity / std::sqrt(2), 0.01);
  EXPECT_TRUE(std::isnan(MeasureMotion(Human(), Simulated(Standing, 0.05), Reference(Standing)).force_error));
}

TEST(MotionMetrics, ContactsAgreeWithinTheirTolerance) {
  const ReferenceMotion reference = Reference(WalkPose);
  const std::vector<State> states = reference.StatesOfPoses();
  // The ground pushes each foot when the reference's touches the floor, but later.
  const auto agreement = [&](double delay, bool right_foot) {
    control::Trajectory trajectory = Simulated(WalkPose);
    for (const int effector : Human().end_effectors) {
      if (!right_foot && Human().bodies[static_cast<size_t>(effector)].name == "right_foot") continue;
      const std::vector<bool> touches = TouchesFloor(reference, states, effector);
      for (size_t i = 0; i < trajectory.num_steps(); ++i) {
        const double frame = (static_cast<double>(i + 1) * kTimeStep - delay) * 120;
        if (frame < 0 || !touches[static_cast<size_t>(std::lround(frame))]) continue;
        simulation::Contact contact;
        contact.body = effector;
        trajectory.contacts[i].push_back(contact);
      }
    }
    return MeasureMotion(Human(), trajectory, reference).contact_agreement;
  };
  EXPECT_EQ(agreement(0.04, true), 1);
  EXPECT_LT(agreement(0.2, true), 0.95);
  // All that is there is right (precision 1) and about half is missing (recall 1/2).
  EXPECT_NEAR(agreement(0, false), 2.0 / 3, 0.05);
  EXPECT_EQ(agreement(100, true), 0);
}

TEST(MotionMetrics, ContactsAreWithWhatIsThere) {
  simulation::Environment block;  // 0.3 m high, and the ground
  block.boxes = {{"block", Vec3(10, 2, 20), Vec3(0, -0.7, 0)}};
  // Both stand, on the block or in the air over the ground; the simulation feels its feet all the time.
  const auto agreement = [&](const simulation::Environment& world, double height) {
    const auto stands = [&](double) {
      Pose pose = Standing(0);
      pose.root_position.y() += height;
      return pose;
    };
    control::Trajectory trajectory = Simulated(stands);
    for (auto& contacts : trajectory.contacts) {
      for (const int effector : Human().end_effectors) {
        if (Human().bodies[static_cast<size_t>(effector)].part != character::Part::kFoot) continue;
        simulation::Contact contact;
        contact.body = effector;
        contacts.push_back(contact);
      }
    }
    return MeasureMotion(Human(), trajectory, Reference(stands), world).contact_agreement;
  };
  EXPECT_EQ(agreement(block, 0.3), 1);
  EXPECT_EQ(agreement(block, 0.299), 1) << "a millimeter deep";
  EXPECT_EQ(agreement(block, 0.6), 0);
  EXPECT_EQ(agreement({}, 0), 1);
  EXPECT_EQ(agreement({}, 0.3), 0);
}

TEST(MotionMetrics, TrunkIsComparedAtQuartersOfTheReference) {
  const auto lean_between = [](double from, double to) {
    return [=](double time) {
      Pose pose = RestPose(Human());
      if (time > from && time < to) RotationOf(Human(), pose, "waist") = AxisRotation(0, 1.2);
      return pose;
    };
  };
  EXPECT_NEAR(Measure(lean_between(1.05, 1.45), Standing).quarter_trunk_error, 0, 1e-9);
  EXPECT_NEAR(Measure(lean_between(1.4, 1.6), Standing).quarter_trunk_error, 1.2, 1e-9);
  EXPECT_NEAR(Measure(lean_between(1.9, 3), Standing).quarter_trunk_error, 1.2, 1e-9);
}

TEST(MotionMetrics, OfAMotionThatEndedEarly) {
  const MotionMetrics m = MeasureMotion(Human(), Simulated(Standing, 0), Reference(Standing));
  EXPECT_EQ(m.world_error, 0);
  EXPECT_TRUE(std::isnan(m.velocity_error));
  EXPECT_TRUE(std::isnan(m.skate_ratio));
  EXPECT_TRUE(std::isnan(m.jerk_ratio));
}

/// A run that is a success of every level.
Evaluation Good() {
  Evaluation evaluation;
  evaluation.completed = true;
  evaluation.gates = {{"root_height", 0, 0.25, -1}};
  return evaluation;
}

TEST(JudgeLevels, EachLimitRefuses) {
  const double height = 1.7;
  EXPECT_TRUE(JudgeLevels(Good(), {}, MotionClass::kOnFeet, height).strict);
  EXPECT_TRUE(JudgeLevels(Good(), {}, MotionClass::kOnFeet, height).loose);
  const auto judged = [&](const std::function<void(MotionMetrics&)>& change, MotionClass c = MotionClass::kOnFeet) {
    MotionMetrics metrics;
    change(metrics);
    return JudgeLevels(Good(), metrics, c, height);
  };
  EXPECT_FALSE(judged([](MotionMetrics& m) { m.com_height_error = 0.12; }).loose);
  EXPECT_TRUE(judged([](MotionMetrics& m) { m.com_height_error = 0.12; }, MotionClass::kOnGround).loose);
  EXPECT_FALSE(judged([](MotionMetrics& m) { m.com_height_error = 0.26; }, MotionClass::kOnGround).loose);
  EXPECT_FALSE(judged([](MotionMetrics& m) { m.com_facing_error = 0.35; }).loose);
  EXPECT_FALSE(judged([](MotionMetrics& m) { m.quarter_trunk_error = Radians(61); }).loose);
  const std::function<void(MotionMetrics&)> strict[] = {
      [](MotionMetrics& m) { m.largest_body_error = 0.51; }, [](MotionMetrics& m) { m.skate_ratio = 0.06; },
      [](MotionMetrics& m) { m.penetration.share = 0.05; }, [](MotionMetrics& m) { m.penetration.largest = 0.04; }};
  for (const auto& change : strict) {
    EXPECT_FALSE(judged(change).strict);
    EXPECT_TRUE(judged(change).main);
    EXPECT_TRUE(judged(change).loose);
  }
  const auto both_skate = [](MotionMetrics& m) { m.skate_ratio = m.reference_skate_ratio = 0.3; };
  EXPECT_TRUE(judged(both_skate).strict);
  const auto no_frames = [](MotionMetrics& m) { m.skate_ratio = std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_TRUE(judged(no_frames).strict);
}

TEST(JudgeLevels, GatesAndCompletionCount) {
  Evaluation below = Good();
  below.gates[0].first_violation = 0.5;
  const SuccessLevels levels = JudgeLevels(below, {}, MotionClass::kOnFeet, 1.7);
  EXPECT_TRUE(levels.loose);
  EXPECT_FALSE(levels.main);
  EXPECT_FALSE(levels.strict);
  Evaluation stopped = Good();
  stopped.completed = false;
  EXPECT_FALSE(JudgeLevels(stopped, {}, MotionClass::kOnFeet, 1.7).loose);
}

}  // namespace
}  // namespace retrace::metrics
