/// Motions that fall freely where nothing touches the ground.
#include "retrace/motion_editing/ballistic_flight.h"

#include <gtest/gtest.h>

#include "retrace/retargeting/resampling.h"
#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

constexpr double kEarth = 9.81;
constexpr double kFrameTime = 1.0 / 120;  // between poses [s]
constexpr double kTakeOff = 0.8, kAir = 0.4;

Vec3 MassCenterOf(const character::Pose& pose) {
  character::State state;
  character::ForwardKinematics(Human(), pose, state);
  return character::CenterOfMass(Human(), state);
}

/// A jump from bent legs, straight up, after a push of a quarter of a second.
/// @param pull acceleration in the air [m/s^2]
Course Jump(double pull) {
  return [=](double time) {
    constexpr double kPush = 0.25;
    const double speed = 0.5 * pull * kAir;
    const double rise = 0.5 * speed * kPush;
    const double before = std::clamp(time - kTakeOff + kPush, 0.0, kPush), after = time - kTakeOff - kAir;
    const double pushed = 0.5 * speed / kPush * before * before;
    const double landed = after <= 0 ? 0 : std::min(after, kPush);
    const double height = after <= 0 ? pushed : rise - speed * landed + 0.5 * speed / kPush * landed * landed;
    // Legs straighten while it pushes, and bend after it has landed.
    const double standing = StandingPose().root_position.y();
    double low = 0, high = 1.2;
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (low + high);
      (SquatPose(middle).root_position.y() > standing - 0.02 - rise + height ? low : high) = middle;
    }
    character::Pose pose = SquatPose(low);
    const double air = std::clamp(time - kTakeOff, 0.0, kAir);
    pose.root_position.y() += 0.5 * pull * air * (kAir - air);
    return pose;
  };
}

/// Of the center of mass, besides gravity [m/s^2].
Vec3 RequiredAt(const std::vector<character::Pose>& poses, size_t i) {
  return (MassCenterOf(poses[i + 1]) - 2 * MassCenterOf(poses[i]) + MassCenterOf(poses[i - 1])) /
             (kFrameTime * kFrameTime) +
         Vec3(0, kEarth, 0);
}

/// Impulse that the poses require up to a time, by mass [m/s].
double Impulse(const std::vector<character::Pose>& poses, double from, double to) {
  double sum = 0;
  for (auto i = static_cast<size_t>(from / kFrameTime); i < static_cast<size_t>(to / kFrameTime); ++i) {
    sum += RequiredAt(poses, i).y() * kFrameTime;
  }
  return sum;
}

TEST(BallisticFlight, LetsASmoothedJumpFallFreelyAndGivesItsPushBack) {
  const std::vector<character::Pose> recorded = Sampled(Jump(kEarth), 2);
  const character::ReferenceMotion exact = Motion(Jump(kEarth), 2);
  const character::ReferenceMotion smooth = exact.WithPoses(character::SmoothPoses(recorded, 0.03 / kFrameTime));
  const BallisticFlight flight = MakeFlightBallistic(smooth, {}, kEarth);
  ASSERT_EQ(flight.flights.size(), 1u);
  EXPECT_NEAR(flight.flights[0].start, kTakeOff, 0.03);
  EXPECT_NEAR(flight.flights[0].end, kTakeOff + kAir, 0.03);
  EXPECT_GT(flight.force_before, 0.1);
  EXPECT_LT(flight.force_after, 0.01);
  EXPECT_LT(flight.largest_shift, 0.03);
  EXPECT_LT(flight.largest_standing_shift, 0.02);
  for (size_t i = 104; i < 136; ++i) EXPECT_LT(RequiredAt(flight.poses, i).norm(), 0.1) << i;
  // What the filter moved into the air comes back to where there is ground: the whole impulse stays.
  constexpr double kBegin = kTakeOff + 0.02, kEnd = kTakeOff + kAir - 0.02;
  const double smeared = Impulse(smooth.poses(), kBegin, kEnd);
  EXPECT_GT(smeared, 0.3);
  EXPECT_LT(Impulse(flight.poses, kBegin, kEnd), 0.8 * smeared);  // the rest is required where feet may be misplaced
  EXPECT_NEAR(Impulse(flight.poses, 0.1, 1.9), Impulse(smooth.poses(), 0.1, 1.9), 0.01);
  ASSERT_EQ(flight.notes.size(), 1u);
  EXPECT_NE(flight.notes[0].find("in 1 flight the motion is moved by"), std::string::npos) << flight.notes[0];
}

TEST(BallisticFlight, BeginsAtTheHeightThatIsGiven) {
  const character::ReferenceMotion jump = Motion(Jump(kEarth), 2);
  const auto flight = [&](double lifted) { return MakeFlightBallistic(jump, {}, kEarth, lifted).flights.at(0); };
  EXPECT_LT(flight(0.002).start, flight(0.05).start);
  EXPECT_GT(flight(0.002).end, flight(0.05).end);
  // It rises by 5 cm in the air in which it falls freely.
  const double left = kEarth * kAir / 2, time = (left - std::sqrt(left * left - 2 * kEarth * 0.05)) / kEarth;
  EXPECT_NEAR(flight(0.05).start, kTakeOff + time, 2 * kFrameTime);
}

TEST(BallisticFlight, CorrectsAPerformerOfAnotherSize) {
  // A child's jump enlarged: it falls at more than 9.81 m/s^2.
  const character::ReferenceMotion enlarged = Motion(Jump(1.2 * kEarth), 2);
  const BallisticFlight flight = MakeFlightBallistic(enlarged, {}, kEarth);
  EXPECT_NEAR(flight.force_before, 0.2, 0.15);
  EXPECT_LT(flight.force_after, 0.01);
}

TEST(BallisticFlight, MovesNothingButTheRoot) {
  const character::ReferenceMotion jump = Motion(Jump(0.9 * kEarth), 2);
  const BallisticFlight flight = MakeFlightBallistic(jump, {}, kEarth);
  for (size_t i = 0; i < flight.poses.size(); ++i) {
    EXPECT_EQ(flight.poses[i].root_orientation.coeffs(), jump.poses()[i].root_orientation.coeffs());
    for (size_t j = 0; j < Human().joints.size(); ++j) {
      ASSERT_EQ(flight.poses[i].joint_rotations[j].coeffs(), jump.poses()[i].joint_rotations[j].coeffs());
    }
  }
  // Long before and after the flight nothing moves.
  EXPECT_LT((flight.poses[20].root_position - jump.poses()[20].root_position).norm(), 1e-4);
  EXPECT_LT((flight.poses[220].root_position - jump.poses()[220].root_position).norm(), 1e-4);
}

TEST(BallisticFlight, KeepsTheBitsOfWhatStaysOnTheGround) {
  const character::ReferenceMotion squat =
      Motion([](double time) { return SquatPose(0.4 + 0.1 * std::sin(3 * time)); }, 2);
  const BallisticFlight flight = MakeFlightBallistic(squat, {}, kEarth);
  EXPECT_TRUE(flight.flights.empty());
  EXPECT_TRUE(flight.notes.empty());
  for (size_t i = 0; i < flight.poses.size(); ++i) {
    ASSERT_EQ(flight.poses[i].root_position, squat.poses()[i].root_position);
  }
}

TEST(BallisticFlight, LeavesAloneWhatFloats) {
  // Carried over the ground: it does not fall, whatever its feet touch.
  const auto carried = [](double) {
    character::Pose pose = SquatPose(0.4);
    pose.root_position.y() += 0.1;
    return pose;
  };
  EXPECT_TRUE(MakeFlightBallistic(Motion(carried, 1), {}, kEarth).flights.empty());
  // Without gravity nothing does.
  EXPECT_TRUE(MakeFlightBallistic(Motion(Jump(kEarth), 2), {}, 0).flights.empty());
}

}  // namespace
}  // namespace retrace::task
