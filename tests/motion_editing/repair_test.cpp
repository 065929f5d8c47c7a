/// References that no body can perform, and the least change with which one may.
#include "retrace/motion_editing/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/retargeting/resampling.h"
#include "task/synthetic_motion.h"

namespace retrace::repair {
namespace {

using character::Pose;
using task::Course;
using task::Human;
using task::Motion;
using testing::HasSubstr;

constexpr double kEarth = 9.81;
constexpr double kFrameTime = 1.0 / 120;  // between poses [s]
constexpr double kTakeOff = 0.8;

/// A jump from bent legs, straight up, after a push of a quarter of a second; later by `late`.
/// @param pull acceleration in the air [m/s^2] @param air time in the air [s]
Course Jump(double pull, double air, double late = 0) {
  return [=](double time) {
    constexpr double kPush = 0.25;
    time -= late;
    const double speed = 0.5 * pull * air;
    const double rise = 0.5 * speed * kPush;
    const double before = std::clamp(time - kTakeOff + kPush, 0.0, kPush), after = time - kTakeOff - air;
    const double pushed = 0.5 * speed / kPush * before * before;
    const double landed = after <= 0 ? 0 : std::min(after, kPush);
    const double height = after <= 0 ? pushed : rise - speed * landed + 0.5 * speed / kPush * landed * landed;
    const double standing = task::StandingPose().root_position.y();
    double low = 0, high = 1.2;
    for (int k = 0; k < 50; ++k) {
      const double middle = 0.5 * (low + high);
      (task::SquatPose(middle).root_position.y() > standing - 0.02 - rise + height ? low : high) = middle;
    }
    Pose pose = task::SquatPose(low);
    const double flown = std::clamp(time - kTakeOff, 0.0, air);
    pose.root_position.y() += 0.5 * pull * flown * (air - flown);
    return pose;
  };
}

/// As all references are filtered.
character::ReferenceMotion Smooth(const Course& course, double duration) {
  const character::ReferenceMotion motion = Motion(course, duration);
  return motion.WithPoses(character::SmoothPoses(motion.poses(), 0.025 / kFrameTime));
}

Vec3 MassCenterOf(const Pose& pose) {
  character::State state;
  character::ForwardKinematics(Human(), pose, state);
  return character::CenterOfMass(Human(), state);
}

bool SameBits(const std::vector<Pose>& a, const std::vector<Pose>& b) {
  const auto same = [](const Pose& p, const Pose& q) {
    const auto equal = [](const Quat& u, const Quat& v) { return u.coeffs() == v.coeffs(); };
    return p.root_position == q.root_position && equal(p.root_orientation, q.root_orientation) &&
           std::equal(p.joint_rotations.begin(), p.joint_rotations.end(), q.joint_rotations.begin(),
                      q.joint_rotations.end(), equal);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

/// The mean acceleration of the center of mass in the middle of a flight, and its largest deviation from gravity
/// [m/s^2].
void ExpectFreeFall(const Repair& repair, double tolerance) {
  ASSERT_EQ(repair.flights.size(), 1u);
  const metrics::Interval flight = repair.flights[0].interval;
  for (double time = flight.start + 0.03; time < flight.end - 0.03; time += 0.02) {
    const auto i = static_cast<size_t>(std::lround(time / kFrameTime));
    // Over two hundredths of a second, for resampled poses bend from one to the next.
    constexpr size_t kWide = 2;
    const Vec3 acceleration = (MassCenterOf(repair.poses[i + kWide]) - 2 * MassCenterOf(repair.poses[i]) +
                               MassCenterOf(repair.poses[i - kWide])) /
                              (kWide * kWide * kFrameTime * kFrameTime);
    EXPECT_NEAR(acceleration.y(), -kEarth, tolerance) << time;
    EXPECT_NEAR(acceleration.z(), 0, tolerance) << time;
  }
}

TEST(Repair, LeavesWhatABodyCanDoAsItIsBitByBit) {
  for (const Course& course : {Jump(kEarth, 0.4), Course(task::Standing), Course(task::Squatting),
                               Course(task::Hopping), Course(task::GettingUp), Course(task::Crawling)}) {
    const character::ReferenceMotion motion = Smooth(course, 2);
    const Repair repair = RepairReference(motion, kEarth, "clip");
    for (const Finding& finding : repair.found) ADD_FAILURE() << finding.Text();
    EXPECT_FALSE(repair.changed);
    EXPECT_TRUE(SameBits(repair.poses, motion.poses()));
    EXPECT_EQ(repair.instants.size(), motion.poses().size());
    EXPECT_THAT(repair.Notes()[0], HasSubstr("stays as recorded"));
  }
}

TEST(Repair, PlaysAMotionFasterThatIsSlowAsAWhole) {
  const character::ReferenceMotion motion = Smooth(Jump(4, 0.6), 2.2);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ASSERT_EQ(repair.found.size(), 1u);
  EXPECT_EQ(repair.found[0].kind, Kind::kFall);
  EXPECT_NEAR(repair.found[0].value, 4, 0.4);
  EXPECT_THAT(repair.found[0].Text(), HasSubstr("the body falls at 4."));
  EXPECT_TRUE(repair.changed);
  EXPECT_TRUE(repair.left.empty());
  ExpectFreeFall(repair, 0.5);
  // As long as it takes to fall from that height, a few centimeters up or down.
  const double flight = repair.flights[0].interval.end - repair.flights[0].interval.start;
  EXPECT_NEAR(flight, 0.6 * std::sqrt(4 / kEarth), 0.06);
  EXPECT_LT(repair.root.largest, 0.08);
  EXPECT_LT(repair.joint.largest, 0.3);
  EXPECT_LT(repair.duration, motion.duration() - 0.15);
  const double factor = std::sqrt(kEarth / 4);
  EXPECT_NEAR(repair.instants[12], factor * 12 * kFrameTime, 0.02);
  EXPECT_NEAR(repair.duration, motion.duration() / factor, 0.1);
  EXPECT_NEAR(repair.slowest, factor, 0.15);
  EXPECT_NEAR(repair.fastest, factor, 0.15);
  EXPECT_LT(repair.missing.force, 0.3 * repair.missing_before.force);
  EXPECT_THAT(repair.Notes(), testing::Contains(HasSubstr("in the mean the ground cannot supply")));
  EXPECT_DOUBLE_EQ(repair.ToJson()["missing"]["force"].get<double>(), repair.missing.force);
}

TEST(Repair, ChangesTheClockOfAFlightThatAloneIsSlow) {
  // Of two jumps the second one: another clock for the whole would spoil the first.
  constexpr double kAir = 0.4, kTimes = 1.6, kSecond = 1.8;
  const Course jump = Jump(kEarth, kAir);
  const Course slowed = [&](double time) {
    if (time < kSecond) return jump(time);
    time -= kSecond;
    const double flown = std::clamp(time - kTakeOff, 0.0, kTimes * kAir);
    return jump(time - (1 - 1 / kTimes) * flown);
  };
  const character::ReferenceMotion motion = Smooth(slowed, kSecond + 2.2);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ASSERT_FALSE(repair.found.empty());
  EXPECT_TRUE(repair.left.empty()) << repair.left[0].Text();
  ExpectFreeFall(repair, 0.5);
  EXPECT_NEAR(repair.fastest, kTimes, 0.3);
  EXPECT_LT(repair.missing.force, 0.3 * repair.missing_before.force);
  // Long before and after it the clock runs as it did.
  EXPECT_NEAR(repair.instants[12], 12 * kFrameTime, 0.01);
  const size_t end = repair.instants.size() - 1;
  EXPECT_NEAR(repair.instants[end] - repair.instants[end - 12], 12 * kFrameTime, 0.01);
}

struct ExpectedFinding {
  Kind kind;
  double value;
  const char* text;
};

/// A body that is over the floor for all of a motion is on it then, at the same speed.
void ExpectBroughtDown(const Repair& repair, const character::ReferenceMotion& motion, const ExpectedFinding& first,
                       double tolerance) {
  ASSERT_FALSE(repair.found.empty());
  EXPECT_EQ(repair.found[0].kind, first.kind);
  EXPECT_NEAR(repair.found[0].value, first.value, tolerance);
  EXPECT_THAT(repair.found[0].Text(), HasSubstr(first.text));
  EXPECT_TRUE(repair.left.empty());
  EXPECT_EQ(repair.poses.size(), motion.poses().size());
  EXPECT_NEAR(repair.slowest, 1, 1e-9);
  for (size_t k = 0; k < repair.poses.size(); k += 10) EXPECT_NEAR(task::Lowest(repair.poses[k]), 0, tolerance) << k;
}

TEST(Repair, BringsAFloatingBodyDownWhoseFeetSlide) {
  const Course floating = [](double time) {
    Pose pose = task::StandingPose();
    pose.root_position += Vec3(0, 0.15 + 0.05 * time, 0.8 * time);
    return pose;
  };
  const character::ReferenceMotion motion = Smooth(floating, 2);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ExpectBroughtDown(repair, motion, {Kind::kFloat, 0.25, "nothing touches the floor and the body hardly falls"}, 0.02);
}

TEST(Repair, PutsAFlightBackOfWhichKeysLeaveNothing) {
  // From one place to another within a third of a second, with straight lines between: feet glide over the floor.
  const Course glides = [](double time) {
    Pose pose = task::SquatPose(0.3);
    pose.root_position.z() += 1.4 * std::clamp(time - kTakeOff, 0.0, 0.35);
    return pose;
  };
  const character::ReferenceMotion motion = Smooth(glides, 2);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ASSERT_EQ(repair.found.size(), 1u);
  EXPECT_EQ(repair.found[0].kind, Kind::kSkim);
  EXPECT_THAT(repair.found[0].Text(),
              HasSubstr("nothing stands on the floor, feet are next to it, and the body falls"));
  EXPECT_NEAR(repair.found[0].interval.start, kTakeOff, 0.05);
  EXPECT_NEAR(repair.found[0].interval.end, kTakeOff + 0.35, 0.05);
  ExpectFreeFall(repair, 0.5);
  const metrics::Interval flight = repair.flights[0].interval;
  const double air = flight.end - flight.start;
  const auto middle = static_cast<size_t>(std::lround(0.5 * (flight.start + flight.end) / kFrameTime));
  EXPECT_NEAR(task::Lowest(repair.poses[middle]), kEarth * air * air / 8, 0.05);
  for (size_t k = 0; k < repair.poses.size(); ++k) EXPECT_GT(task::Lowest(repair.poses[k]), -0.02) << k;
  EXPECT_LT(repair.missing.force, 0.8 * repair.missing_before.force);
  // Slower, it would be a slide that may be meant.
  const Course slides = [&](double time) { return glides(kTakeOff + 0.6 * (time - kTakeOff)); };
  EXPECT_FALSE(RepairReference(Smooth(slides, 2), kEarth, "clip").changed);
}

/// Squats as a reader of videos may give them: joints tremble, and the body wanders by a decimeter.
Course Filmed(double tremble, double wander) {
  return [=](double time) {
    Pose pose = task::Squatting(time);
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      const double phase = 2.4 * static_cast<double>(j);
      const auto wave = [&](double rate) { return tremble * std::sin(2 * kPi * rate * time + phase); };
      pose.joint_rotations[j] = (pose.joint_rotations[j] * AxisRotation(0, wave(6) + wave(7.3))).normalized();
    }
    pose.root_position += wander * Vec3(std::sin(2 * time), std::sin(2.5 * time), std::cos(1.7 * time));
    return pose;
  };
}

/// Speed over the floor of a body, in the root of the mean square [m/s].
double SpeedOf(const std::vector<Pose>& poses, const std::string& name) {
  std::vector<character::State> states(poses.size());
  for (size_t k = 0; k < poses.size(); ++k) character::ForwardKinematics(Human(), poses[k], states[k]);
  const auto named = [&](const character::Body& body) { return body.name == name; };
  const auto& bodies = Human().bodies;
  const auto b = static_cast<size_t>(std::find_if(bodies.begin(), bodies.end(), named) - bodies.begin());
  double sum = 0;
  for (size_t k = 1; k < poses.size(); ++k) {
    const Vec3 way = states[k][b].position - states[k - 1][b].position;
    sum += (way.x() * way.x() + way.z() * way.z()) / (kFrameTime * kFrameTime);
  }
  return std::sqrt(sum / static_cast<double>(poses.size() - 1));
}

TEST(Repair, SteadiesWhatTremblesDriftsAndSlides) {
  const character::ReferenceMotion motion = Smooth(Filmed(0.03, 0.15), 3);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ASSERT_GE(repair.found.size(), 3u);
  EXPECT_EQ(repair.found[0].kind, Kind::kTremble);
  EXPECT_EQ(repair.found[1].kind, Kind::kDrift);
  EXPECT_NEAR(repair.found[1].value, 0.15, 0.05);
  EXPECT_EQ(repair.found[2].kind, Kind::kSlide);
  EXPECT_NEAR(repair.found[2].value, 0.25, 0.12);
  EXPECT_THAT(repair.Notes(), testing::Contains(HasSubstr("feet slide that carry the body, at 0.")));
  EXPECT_LT(SpeedOf(repair.poses, "left_foot"), 0.4 * SpeedOf(motion.poses(), "left_foot"));
  EXPECT_LT(repair.missing.moment, 0.3 * repair.missing_before.moment);
  EXPECT_LT(repair.missing.force, 0.3 * repair.missing_before.force);
  for (size_t k = 0; k < repair.poses.size(); k += 10) EXPECT_NEAR(task::Lowest(repair.poses[k]), 0, 0.04) << k;
  EXPECT_TRUE(SameBits(repair.poses, RepairReference(motion, kEarth, "clip").poses));
}

TEST(Repair, LeavesALittleTremblingAsItIs) {
  const Repair repair = RepairReference(Smooth(Filmed(0.003, 0.01), 3), kEarth, "clip");
  EXPECT_FALSE(repair.changed) << repair.found[0].Text();
}

TEST(Repair, DoesNotRaiseTheForcesThatAreMissing) {
  // Nobody moves up and down by a decimeter six times a second, at whatever playback speed a repair may choose.
  const Course shaken = [](double time) {
    Pose pose = task::StandingPose();
    pose.root_position.y() += 0.05 * std::sin(40 * time);
    return pose;
  };
  const Repair repair = RepairReference(Smooth(shaken, 1), kEarth, "clip");
  ASSERT_FALSE(repair.found.empty());
  EXPECT_LE(repair.missing.force, repair.missing_before.force + 1e-9);
  EXPECT_GT(repair.slowest, 0.2);
  EXPECT_LT(repair.fastest, 5);
}

TEST(Repair, MakesAFastFallFreeByASlowerClock) {
  const character::ReferenceMotion motion = Smooth(Jump(40, 0.25), 1.9);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ASSERT_FALSE(repair.found.empty());
  EXPECT_TRUE(repair.left.empty()) << repair.left[0].Text();
  ExpectFreeFall(repair, 0.5);
  EXPECT_GT(repair.duration, motion.duration() + 0.2);
  EXPECT_LT(repair.root.largest, 0.1);
  for (size_t k = 1; k < repair.instants.size(); ++k) EXPECT_GT(repair.instants[k], repair.instants[k - 1]) << k;
}

TEST(Repair, BringsALiftedMotionDown) {
  const Course squat = [](double time) {
    Pose pose = task::Squatting(time);
    pose.root_position.y() += 0.1;
    return pose;
  };
  const character::ReferenceMotion motion = Smooth(squat, 3);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ExpectBroughtDown(repair, motion, {Kind::kStance, 0.1, "m over the floor"}, 0.005);
  EXPECT_NEAR(repair.root.largest, 0.1, 0.005);
}

TEST(Repair, BringsOneLegDownWhereTheOtherStands) {
  const Course bent = [](double) {
    Pose pose = task::StandingPose();
    const Pose squat = task::SquatPose(0.55);
    for (const char* joint : {"left_hip", "left_knee", "left_ankle"}) {
      pose.joint_rotations[task::JointIndex(joint)] = squat.joint_rotations[task::JointIndex(joint)];
    }
    pose.root_position.y() -= 0.1;
    return pose;
  };
  const character::ReferenceMotion motion = Smooth(bent, 1);
  const Repair repair = RepairReference(motion, kEarth, "clip");
  ASSERT_FALSE(repair.found.empty());
  EXPECT_EQ(repair.found[0].body, "right_foot");
  EXPECT_LT(repair.found[0].value, -0.05);
  EXPECT_NEAR(task::Lowest(repair.poses[60]), 0, 0.006);
}

TEST(Repair, NamesWhatItCannotRepair) {
  const Course floating = [](double time) {
    Pose pose = task::Squatting(time);
    pose.root_position.y() += 0.6 + 0.2 * time;
    return pose;
  };
  try {
    RepairReference(Smooth(floating, 2), kEarth, "walk.bvh");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("walk.bvh"));
    EXPECT_THAT(error.what(), HasSubstr("from 0.00 to 2.00 s the body is in the air"));
    EXPECT_THAT(error.what(), HasSubstr("expected a support"));
  }
}

TEST(Repair, GivesTheSameBitsAgainAndATableOfThem) {
  const character::ReferenceMotion motion = Smooth(Jump(5, 0.5), 2);
  const Repair first = RepairReference(motion, kEarth, "clip"), again = RepairReference(motion, kEarth, "clip");
  EXPECT_TRUE(SameBits(first.poses, again.poses));
  const std::string table = FormatRepair(first, kFrameTime);
  EXPECT_EQ(table, FormatRepair(again, kFrameTime));
  EXPECT_EQ(static_cast<size_t>(std::count(table.begin(), table.end(), '\n')), first.poses.size() + 1);
  EXPECT_THAT(table,
              testing::StartsWith("time,recorded_time,speed,height,recorded_height,root_x,root_y,root_z,joint\n"));
  const io::Json json = first.ToJson();
  EXPECT_EQ(json["found"][0]["kind"], "fall");
  EXPECT_TRUE(json["left"].empty());
}

}  // namespace
}  // namespace retrace::repair
