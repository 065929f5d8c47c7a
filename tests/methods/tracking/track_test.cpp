/// The closed loop on motions that are written down.
#include "retrace/methods/tracking/track.h"

#include <gtest/gtest.h>

#include <cstring>

#include "methods/tracking/contact_set.h"
#include "methods/tracking/foot_placement.h"
#include "methods/tracking/variation.h"
#include "retrace/io/error.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "task/synthetic_motion.h"

namespace retrace::tracking {
namespace {

/// A motion to track, with what the problem refers to.
class TrackedCourse {
 public:
  TrackedCourse(const task::Course& course, double duration, const Options& options = {})
      : reference_(task::Motion(course, duration)),
        prepared_(PrepareReference(reference_, {}, simulation::WorldOptions(), options)),
        problem_{task::Prepare({}, reference_).task, &prepared_.motion, options} {
    problem_.task.world.contact_scale.clear();
  }
  TrackedCourse(const TrackedCourse&) = delete;
  TrackedCourse& operator=(const TrackedCourse&) = delete;

  Problem& problem() { return problem_; }

 private:
  character::ReferenceMotion reference_;
  PreparedReference prepared_;
  Problem problem_;
};

character::Pose Squatting(double time) {
  return task::SquatPose(0.45 * (1 - std::cos(2 * kPi * time / 1.6)));
}

metrics::Evaluation EvaluationOf(const Problem& problem, const Summary& summary) {
  const control::Trajectory trajectory = control::Replay(task::Human(), summary.control, problem.pushes);
  return metrics::Evaluate(task::Human(), trajectory, *problem.task.reference,
                           problem.num_steps() * problem.time_step(), problem.task.gates);
}

TEST(Track, StandsStill) {
  TrackedCourse standing(task::Standing, 3);
  const Summary summary = tracking::Run(standing.problem());
  EXPECT_TRUE(summary.reached_end());
  EXPECT_EQ(summary.unsolved, 0u);
  const metrics::Evaluation evaluation = EvaluationOf(standing.problem(), summary);
  EXPECT_TRUE(evaluation.success());
  EXPECT_LT(evaluation.mean_joint_error, 0.01);  // its knees are a little bent
  EXPECT_NEAR(summary.records.back().vertical_force, task::Human().total_mass() * 9.81, 5);
}

TEST(Track, FollowsASquat) {
  TrackedCourse squat(Squatting, 3.2);
  const Summary summary = tracking::Run(squat.problem());
  const metrics::Evaluation evaluation = EvaluationOf(squat.problem(), summary);
  EXPECT_TRUE(evaluation.success()) << summary.BriefReport();
  EXPECT_LT(evaluation.mean_joint_error, 0.03);
}

/// Root mean square of how far the planned vertical force is from what the reference requires, as a share of weight.
double ForceErrorOf(const Problem& problem, const Summary& summary) {
  const std::vector<metrics::RequiredForces> required = metrics::RequiredForcesOf(*problem.tracked);
  const double frame_time = problem.tracked->frame_time(), weight = task::Human().total_mass() * 9.81;
  double sum = 0, count = 0;
  for (const SolveRecord& record : summary.records) {
    const auto pose = static_cast<size_t>(std::lround(record.time / frame_time));
    if (pose < 1 || pose > required.size()) continue;
    const double difference = (record.vertical_force - required[pose - 1].force.y()) / weight;
    sum += difference * difference;
    ++count;
  }
  return std::sqrt(sum / count);
}

TEST(Track, GuidedByForcesHasThoseOfItsReference) {
  Options options;
  options.solve_rate = 240;
  options.guidance = 100;
  for (const bool soft : {false, true}) {
    options.soft_contacts = soft;
    TrackedCourse squat(Squatting, 1.2, options);
    if (soft) {
      squat.problem().task.world.contact_stiffness = 2e5;
      squat.problem().task.world.contact_damping = 2e3;
    }
    const Summary summary = tracking::Run(squat.problem());
    const metrics::Evaluation evaluation = EvaluationOf(squat.problem(), summary);
    EXPECT_TRUE(evaluation.success()) << soft << ": " << summary.BriefReport();
    EXPECT_LT(evaluation.mean_joint_error, 0.03) << soft;
    EXPECT_LT(ForceErrorOf(squat.problem(), summary), 0.1) << soft;
  }
}

TEST(Track, WithoutSolutionsTheServosAloneFall) {
  Options options;
  options.torque_limit = 1;  // as good as none
  TrackedCourse squat(Squatting, 3.2, options);
  const Summary summary = tracking::Run(squat.problem());
  EXPECT_FALSE(EvaluationOf(squat.problem(), summary).success());
}

TEST(Track, RepeatsToTheBitAndItsCommandsDoTheSameWithoutFeedback) {
  Options options;
  options.perturbation = 0.1;
  TrackedCourse squat(Squatting, 1, options);
  squat.problem().pushes = {{task::Human().FindBody("trunk"), Vec3(0, 0, 60), 0.3, 0.2}};
  const Summary first = tracking::Run(squat.problem()), second = tracking::Run(squat.problem());
  EXPECT_EQ(control::Fingerprint(first.end), control::Fingerprint(second.end));
  const control::Trajectory replayed = control::Replay(task::Human(), first.control, squat.problem().pushes);
  ASSERT_FALSE(replayed.diverged);
  EXPECT_EQ(control::Fingerprint(replayed.states.back()), control::Fingerprint(first.end));
  EXPECT_EQ(replayed.num_steps(), static_cast<size_t>(squat.problem().num_steps()));
  // The push is felt.
  squat.problem().pushes.clear();
  EXPECT_NE(control::Fingerprint(tracking::Run(squat.problem()).end), control::Fingerprint(first.end));
  squat.problem().options.seed = 2;
  EXPECT_NE(control::Fingerprint(tracking::Run(squat.problem()).control.start),
            control::Fingerprint(first.control.start));
}

/// Root mean square of the differences between the simulated vertical force and the one that the reference requires, as
/// a share of weight.
double SimulatedForceErrorOf(const Problem& problem, const Summary& summary) {
  const control::Trajectory trajectory = control::Replay(task::Human(), summary.control);
  const std::vector<metrics::RequiredForces> required = metrics::RequiredForcesOf(*problem.tracked);
  const double step = trajectory.time_step;
  double sum = 0;
  for (size_t i = 0; i < trajectory.contacts.size(); ++i) {
    double force = 0;
    for (const simulation::Contact& contact : trajectory.contacts[i]) {
      if (contact.other < 0) force += contact.force.y();
    }
    for (size_t b = 0; b < task::Human().bodies.size(); ++b) {
      force -= metrics::RequiredForceOn(static_cast<int>(b), (static_cast<double>(i) + 0.5) * step, required,
                                        problem.tracked->frame_time())
                   .y();
    }
    sum += force * force;
  }
  return std::sqrt(sum / static_cast<double>(trajectory.contacts.size())) / (task::Human().total_mass() * 9.81);
}

/// A squat on soles that give way, guided by forces.
Options Guided(int candidates) {
  Options options;
  options.solve_rate = 240;
  options.guidance = 100;
  options.candidates = candidates;
  return options;
}

TEST(Track, ASearchComesNearerToTheForcesOfItsReference) {
  Options options = Guided(0);
  options.perturbation = 0.2;
  TrackedCourse alone(Squatting, 0.8, options);
  options.candidates = 24;
  TrackedCourse searched(Squatting, 0.8, options);
  const Summary without = tracking::Run(alone.problem()), with = tracking::Run(searched.problem());
  EXPECT_TRUE(EvaluationOf(searched.problem(), with).success());
  EXPECT_LT(SimulatedForceErrorOf(searched.problem(), with), 0.9 * SimulatedForceErrorOf(alone.problem(), without));
  EXPECT_EQ(with.records.size(), static_cast<size_t>(searched.problem().num_steps()));
  EXPECT_GT(with.cpu_seconds, 5 * without.cpu_seconds) << "all candidates count";
}

TEST(Track, ASearchFindsTheSameBytesOnAnyNumberOfThreads) {
  for (const double guidance : {0.0, 100.0}) {
    Options options = Guided(7);
    options.passes = 2;
    options.guidance = guidance;
    TrackedCourse squat(Squatting, 0.35, options);
    const Summary one = tracking::Run(squat.problem());
    const auto farm = parallel::MakeThreadFarm(3, MakeWorkerFactory(squat.problem()));
    const Summary three = tracking::Run(squat.problem(), *farm);
    ASSERT_EQ(control::Fingerprint(one.end), control::Fingerprint(three.end));
    ASSERT_EQ(one.records.size(), three.records.size());
    const control::Trajectory replayed = control::Replay(task::Human(), three.control);
    EXPECT_EQ(control::Fingerprint(replayed.states.back()), control::Fingerprint(one.end)) << "replayed open loop";
    squat.problem().options.seed = 2;
    EXPECT_NE(control::Fingerprint(tracking::Run(squat.problem()).end), control::Fingerprint(one.end));
  }
}

TEST(Track, ASearchCanBeStopped) {
  TrackedCourse squat(Squatting, 1, Guided(2));
  Hooks hooks;
  double reached = 0;
  hooks.on_progress = [&](double time) { reached = time; };
  hooks.stop = [&] { return reached > 0.25; };
  const Summary summary = tracking::Run(squat.problem(), hooks);
  EXPECT_EQ(summary.status, Status::kStopped);
  EXPECT_NEAR(summary.control.duration(), 0.3, 1e-9);
}

TEST(Variation, OfNothingChangesNothing) {
  Options options;
  options.guidance = 7;
  options.leg_weight = 0.3;
  const Options varied = Varied(options, Variation());
  EXPECT_EQ(varied.guidance, 7);
  EXPECT_EQ(varied.leg_weight, 0.3);
  EXPECT_EQ(varied.contact_weight, options.contact_weight);
}

TEST(Variation, NearIsNearer) {
  double near_sum = 0, any_sum = 0;
  Variation from;
  from.ahead = 0.02;
  for (uint32_t sample = 0; sample < 200; ++sample) {
    RandomStream random(1, RandomStage::kTest, 0, sample), same(1, RandomStage::kTest, 0, sample);
    const Variation any = DrawVariation(nullptr, random), near = DrawVariation(&from, same);
    near_sum += std::pow(near.ahead - from.ahead, 2);
    any_sum += std::pow(any.ahead, 2);
    EXPECT_GT(any.guidance, 0);
  }
  EXPECT_NEAR(std::sqrt(any_sum / 200), 0.01, 0.002);
  EXPECT_LT(near_sum, 0.2 * any_sum);
}

TEST(Track, SolvesAsOftenAsItShould) {
  Options options;
  options.solve_rate = 60;
  TrackedCourse standing(task::Standing, 1, options);
  const Summary summary = tracking::Run(standing.problem());
  ASSERT_EQ(summary.records.size(), static_cast<size_t>((standing.problem().num_steps() + 3) / 4));
  EXPECT_DOUBLE_EQ(summary.records[1].time, 4.0 / 240);
}

TEST(Track, StopsSoonAfterAFall) {
  TrackedCourse standing(task::Standing, 10);
  standing.problem().pushes = {{task::Human().FindBody("trunk"), Vec3(0, 0, 600), 1, 0.5}};
  const Summary summary = tracking::Run(standing.problem());
  EXPECT_EQ(summary.status, Status::kFell);
  EXPECT_LT(summary.control.duration(), 5);
  EXPECT_FALSE(EvaluationOf(standing.problem(), summary).completed);
}

TEST(Track, RefusesOptionsThatMakeNoSense) {
  TrackedCourse standing(task::Standing, 1);
  standing.problem().options.solve_rate = 0;
  EXPECT_THROW(tracking::Run(standing.problem()), UsageError);
}

/// The left foot swings beside the right one, which stands; the body falls to the right.
class Passing : public testing::Test {
 protected:
  Passing()
      : reference_(task::Motion(
            [](double) {
              character::Pose pose = task::StandingPose();
              pose.joint_rotations[task::JointIndex("left_hip")] = AxisRotation(0, -0.5);
              pose.joint_rotations[task::JointIndex("left_knee")] = AxisRotation(0, 1.0);
              return pose;
            },
            1)),
        coordinates_(task::Human()),
        motion_(reference_, coordinates_) {
    motion_.At(0.5, goal_);
    state_ = goal_.state;
    for (character::BodyState& body : state_) body.linear_velocity.x() -= 0.8;
  }

  /// How far the left foot's target is turned to the right at last [rad].
  double TurnOf(const Options& options) {
    FootPlacement placement(task::Human(), reference_, environment_, options);
    for (int step = 0; step < 240; ++step) placement.Update(state_, goal_, 0.5, Vec3::Zero(), 1.0 / 240);
    character::Pose pose = goal_.pose;
    placement.Apply(state_, goal_, 0, pose);
    const size_t hip = task::JointIndex("left_hip");
    return -RotationVector(pose.joint_rotations[hip] * goal_.pose.joint_rotations[hip].conjugate()).z();
  }

  simulation::Environment environment_;
  character::ReferenceMotion reference_;
  dynamics::Coordinates coordinates_;
  TrackedMotion motion_;
  Goal goal_;
  character::State state_;
};

TEST_F(Passing, ALegIsPutWhereTheBodyFallsButNotIntoTheOther) {
  Options options;
  options.placement_gap = 0;
  const double free = TurnOf(options);
  EXPECT_GT(free, 0.15);
  options.placement_gap = 0.09;
  const double limited = TurnOf(options);
  EXPECT_LT(limited, 0.6 * free);
  EXPECT_GE(limited, 0);
  // A step ahead of it there is room.
  state_[task::BodyIndex("right_foot")].position.z() -= 0.5;
  EXPECT_GT(TurnOf(options), limited);
}

Goal StandingGoal(double time) {
  const character::ReferenceMotion reference = task::Motion(task::Standing, 1);
  const dynamics::Coordinates coordinates(task::Human());
  Goal goal;
  TrackedMotion(reference, coordinates).At(time, goal);
  return goal;
}

/// The same, with the body behind its reference by `behind`, and nowhere else wrong.
class Behind : public Passing {
 protected:
  /// How far the left foot's target is turned forward at last [rad].
  double TurnAhead(double behind, const Options& options, const Vec3& surface_velocity = Vec3::Zero()) {
    state_ = goal_.state;
    for (character::BodyState& body : state_) {
      body.position.z() -= behind;
      body.linear_velocity += surface_velocity + Vec3(0, 0, faster_);
    }
    FootPlacement placement(task::Human(), reference_, environment_, options);
    for (int step = 0; step < 240; ++step) placement.Update(state_, goal_, 0.5, surface_velocity, 1.0 / 240);
    character::Pose pose = goal_.pose;
    placement.Apply(state_, goal_, 0, pose);
    const size_t hip = task::JointIndex("left_hip");
    return -RotationVector(pose.joint_rotations[hip] * goal_.pose.joint_rotations[hip].conjugate()).x();
  }
  double faster_ = 0;  // than the reference [m/s]
};

TEST_F(Behind, ItsReferenceABodyTakesLongerStepsAndAheadOfItShorterOnes) {
  Options options;
  EXPECT_NEAR(TurnAhead(0.03, options), 0.03 * options.placement_drift * options.placement_distance, 1e-9);
  EXPECT_NEAR(TurnAhead(-0.03, options), -0.03 * options.placement_drift * options.placement_distance, 1e-9);
  EXPECT_NEAR(TurnAhead(3, options), 0.05 * options.placement_distance, 1e-9);  // not at once
  EXPECT_NEAR(TurnAhead(0.03, options, Vec3(0, 0, 0.4)), 0, 1e-9);              // it goes with what carries it
  options.placement_drift = 0;
  EXPECT_NEAR(TurnAhead(0.03, options), 0, 1e-9);
}

TEST_F(Behind, ABodyThatCatchesItselfStepsForThatAlone) {
  Options healing, none;
  none.placement_drift = 0;
  faster_ = 0.4;
  EXPECT_EQ(TurnAhead(0.03, healing), TurnAhead(0.03, none));
  faster_ = 0.15;
  EXPECT_NEAR(TurnAhead(0.03, healing) - TurnAhead(0.03, none),
              0.5 * 0.03 * healing.placement_drift * healing.placement_distance, 1e-6);
}

TEST(ContactSet, HasTheCornersOfStandingFeetAndOfNoFootThatIsLifted) {
  Goal goal = StandingGoal(0.5);
  ContactSet contacts(task::Human(), {}, Options());
  const std::vector<ContactPlace> both = contacts.Find(goal.state, 0, goal);
  ASSERT_EQ(both.size(), 8u);
  for (const ContactPlace& place : both) {
    EXPECT_NEAR(place.point.y(), 0, 0.002);
    EXPECT_NEAR(place.normal.y(), 1, 1e-12);
  }
  Goal lifted = goal;
  lifted.state[task::BodyIndex("left_foot")].position.y() += 0.03;
  const std::vector<ContactPlace>& one = contacts.Find(goal.state, 0, lifted);
  ASSERT_EQ(one.size(), 4u);
  for (const ContactPlace& place : one) EXPECT_EQ(static_cast<size_t>(place.body), task::BodyIndex("right_foot"));
}

TEST(ContactSet, KnowsHowFastPointsAreInTheReference) {
  Goal goal = StandingGoal(0.5);
  ContactSet contacts(task::Human(), {}, Options());
  const character::State state = goal.state;
  // The left foot rolls about its ankle: its corners are as fast as they are far away.
  const size_t foot = task::BodyIndex("left_foot");
  goal.state[foot].angular_velocity = Vec3(2, 0, 0);
  for (const ContactPlace& place : contacts.Find(state, 0, goal)) {
    const Vec3 arm = place.point - state[foot].position;
    const double expected = static_cast<size_t>(place.body) == foot ? 2 * std::hypot(arm.y(), arm.z()) : 0;
    EXPECT_NEAR(place.speed_in_reference, expected, 1e-9);
  }
}

TEST(Track, LetsGoOfPointsThatTheReferenceMovesAndThePlanDoesNotLoad) {
  // Standing up on tiptoe: with points that are never let go, equation 7e would hold heels down.
  const auto tiptoe = [](double time) {
    character::Pose pose = task::StandingPose();
    const double angle = 0.35 * std::clamp(2 * (time - 0.5), 0.0, 1.0);
    const Vec3 toes(0, -0.08, 0.12);  // about which the whole body turns, as seen from the ankle
    for (const std::string side : {"left", "right"}) {
      pose.joint_rotations[task::JointIndex(side + "_ankle")] = AxisRotation(0, angle);
    }
    const Vec3 raised = toes - AxisRotation(0, angle) * toes;
    pose.root_position += raised;
    return pose;
  };
  const auto contacts_of = [&](double released_force) {
    Options options;
    options.released_force = released_force;
    options.lifted = 10;
    TrackedCourse course(tiptoe, 1.1, options);
    const Summary summary = tracking::Run(course.problem());
    double sum = 0;
    for (const SolveRecord& record : summary.records) {
      if (record.time > 0.55 && record.time < 0.8) sum += record.contacts;
    }
    return sum;
  };
  EXPECT_LT(contacts_of(100), contacts_of(0));
}

TEST(ContactSet, KnowsHowTheGroundMoves) {
  simulation::WorldOptions world;
  world.environment.ground.height = -1;
  simulation::Box platform;
  platform.name = "platform";
  platform.size = Vec3(4, 1, 4);
  platform.position = Vec3(0, -0.5, 0);
  platform.course.emplace();
  platform.course->amplitude = Vec3(0.05, 0, 0);
  platform.course->frequency = 0.5;
  world.environment.boxes.push_back(platform);
  const Goal goal = StandingGoal(0);
  ContactSet contacts(task::Human(), world, Options());
  const std::vector<ContactPlace>& places = contacts.Find(goal.state, 0, goal);
  ASSERT_FALSE(places.empty());
  for (const ContactPlace& place : places) {
    EXPECT_NEAR(place.surface_velocity.x(), 0.05 * kPi, 1e-12);
    EXPECT_NEAR(place.surface_acceleration.x(), 0, 1e-12);
  }
}

}  // namespace
}  // namespace retrace::tracking
