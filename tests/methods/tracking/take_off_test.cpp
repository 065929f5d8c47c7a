/// The goals before a flight against a hop that is written down: it is pushed off with a constant acceleration, and
/// turns about the vertical axis while it is in the air.
#include "methods/tracking/take_off.h"

#include <gtest/gtest.h>

#include "retrace/character/reference_motion.h"
#include "task/synthetic_motion.h"

namespace retrace::tracking {
namespace {

constexpr metrics::Interval kFlight = {0.5, 0.8};                          // [s]
constexpr double kPushedOff = 0.2;                                         // how long [s]
constexpr double kSpeed = 0.5 * kStandardGravity * 0.3;                    // when it leaves [m/s]
constexpr double kAcceleration = kSpeed / kPushedOff;                      // before [m/s^2]
constexpr double kLowest = 0.5 * kAcceleration * kPushedOff * kPushedOff;  // rise up to then [m]
constexpr double kSpin = 2;                                                // in the air [rad/s]
constexpr double kTolerance = 1e-9;

character::Pose TurningHop(double time) {
  character::Pose pose = task::StandingPose();
  const double pushed = time - (kFlight.start - kPushedOff), flown = time - kFlight.start;
  double& height = pose.root_position.y();
  if (flown > 0) {
    height += kLowest + kSpeed * flown - 0.5 * kStandardGravity * flown * flown;
    pose.root_orientation = AxisRotation(1, kSpin * flown);
  } else if (pushed > 0) {
    height += 0.5 * kAcceleration * pushed * pushed;
  }
  return pose;
}

/// One program at an instant of the hop, of a character that is where the reference is.
class Hop {
 public:
  explicit Hop(const Options& options = {}) : options_(options) {}

  const Task* At(double time, const Vec3& ahead = Vec3::Zero()) {
    motion_.At(time, goal_);
    Eigen::VectorXd velocity = goal_.velocity;
    velocity.head<3>() += ahead;
    now_.SetMotion(goal_.pose, velocity);
    program_.Resize(now_.size(), 0);
    take_off_.AddTasks(now_, goal_, time, program_);
    return program_.tasks().empty() ? nullptr : &program_.tasks().front();
  }

  const Goal& goal() const { return goal_; }
  const dynamics::CharacterDynamics& now() const { return now_; }

 private:
  Options options_;
  character::ReferenceMotion reference_ = task::Motion(TurningHop, 0.8);
  dynamics::CharacterDynamics now_{task::Human()};
  TrackedMotion motion_{reference_, now_.coordinates()};
  TakeOff take_off_{task::Human(), motion_, std::span(&kFlight, 1), options_, kStandardGravity};
  Goal goal_;
  Dynamics program_;
};

TEST(TakeOff, IsForeseenShortlyBeforeAFlightAndMadeUpForShortlyAfterItsBeginning) {
  Hop hop;
  EXPECT_EQ(hop.At(0.30), nullptr);
  EXPECT_EQ(hop.At(0.419), nullptr);
  EXPECT_NE(hop.At(0.421), nullptr);
  EXPECT_NE(hop.At(0.549), nullptr);
  EXPECT_EQ(hop.At(0.551), nullptr);
  EXPECT_EQ(hop.At(0.75), nullptr);
}

TEST(TakeOff, CountsTheMoreTheNearerTheFlightIs) {
  const Options options;
  Hop hop(options);
  double before = 0;
  for (const double time : {0.425, 0.44, 0.46, 0.48}) {
    const double weight = hop.At(time)->weight;
    EXPECT_GT(weight, before) << time;
    before = weight;
  }
  EXPECT_LT(before, options.take_off_weight);
  EXPECT_NEAR(hop.At(0.46)->weight, options.take_off_weight / 2, 1e-6 * options.take_off_weight);
  EXPECT_NEAR(hop.At(0.5)->weight, options.take_off_weight, 1e-6 * options.take_off_weight);
}

TEST(TakeOff, OfNoWeightIsNotForeseen) {
  Options options;
  options.take_off_weight = 0;
  EXPECT_EQ(Hop(options).At(0.48), nullptr);
}

TEST(TakeOff, WantsTheAccelerationOfTheReference) {
  Hop hop;
  const Task& task = *hop.At(0.46);
  const Eigen::VectorXd of_reference = task.jacobian * hop.goal().acceleration;
  EXPECT_LT((task.desired - of_reference).tail<3>().norm(), kTolerance);
  EXPECT_NEAR(task.desired[4], kAcceleration, 0.02);
  EXPECT_NEAR(task.desired[3], 0, 0.02);
  EXPECT_NEAR(task.desired[5], 0, 0.02);
}

TEST(TakeOff, WantsTheMomentumThatIsMissing) {
  Options options;
  options.take_off_feedback = 25;
  Hop hop(options);
  const Vec3 on_it = hop.At(0.46)->desired.tail<3>();
  const Vec3 ahead(0.1, -0.3, 0.2);
  const Vec3 off_it = hop.At(0.46, ahead)->desired.tail<3>();
  EXPECT_LT((off_it - on_it + 25 * ahead).norm(), kTolerance);
}

/// The turn of the reference begins in the air, where nothing can make it begin: all of its angular momentum is asked
/// for before.
TEST(TakeOff, BringsTheAngularMomentumOfTheFlightIn) {
  Options options;
  options.take_off_feedback = 0;
  Hop hop(options);
  constexpr int kSteps = 400;
  constexpr double kInterval = 0.08 / kSteps;
  Vec3 brought = Vec3::Zero();
  for (int k = 0; k < kSteps; ++k) {
    const Task& task = *hop.At(0.42 + (k + 0.5) * kInterval);
    const dynamics::Inertia whole = hop.now().CompositeInertia(task::Human().root);
    const Eigen::VectorXd of_reference = task.jacobian * hop.goal().acceleration;
    brought += kInterval * whole.tensor.trace() / 3 * (task.desired - of_reference).head<3>();
  }
  const auto momentum_at = [&](double time) {
    hop.At(time);
    return hop.now().AngularMomentum();
  };
  const Vec3 in_the_air = momentum_at(0.65);
  EXPECT_GT(in_the_air.y(), 1);
  // The one at the instant of leaving is half of it, as differences see the turn's beginning.
  const Vec3 missing = in_the_air - momentum_at(kFlight.start);
  EXPECT_GT(missing.norm(), 0.4 * in_the_air.norm());
  EXPECT_LT((brought - missing).norm(), 0.08 * missing.norm());
}

}  // namespace
}  // namespace retrace::tracking
