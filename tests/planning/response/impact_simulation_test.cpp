#include "retrace/planning/response/impact_simulation.h"

#include <gtest/gtest.h>

#include "planning/response/sample_response.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/rest.h"

namespace retrace::runs {
namespace {

/// A job, and the simulation of its problem for long enough.
struct Simulated {
  explicit Simulated(const ResponseOptions& options) : job(options), struck(job.problem) {
    struck.Simulate(job.problem.control.num_steps());
  }
  ResponseJob job;
  ImpactSimulation struck;
};

ResponseCandidate OwnMotionAt(const ResponseProblem& problem, double start) {
  ResponseCandidate own;
  own.own = true;
  own.start = start;
  own.time = problem.impact.start + start;
  own.end = own.last = own.rest = problem.run.characters[0].reference->duration();
  return own;
}

TEST(Responding, TheRunsOwnControlEndsAfterTheDelayAndTheBlow) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  const Simulated simulated(options);
  EXPECT_EQ(simulated.struck.impact(), 144);  // 0.6 s
  EXPECT_EQ(simulated.struck.exit(), 180);    // 0.15 s later
  EXPECT_NEAR(simulated.struck.exit_time(), 0.75, 1e-12);
  options.push = "trunk,0:0:-20,0.6,0.3";  // it lasts longer than the delay
  EXPECT_EQ(Simulated(options).struck.exit(), 216);
  EXPECT_EQ(simulated.struck.StepOf(0.1), 24);
  EXPECT_EQ(simulated.struck.StepAfter(0.1), 24);
  EXPECT_EQ(simulated.struck.StepOf(0.101), 24);
  EXPECT_EQ(simulated.struck.StepAfter(0.101), 25);
}

TEST(Responding, UpToTheBlowTheMotionIsTheRuns) {
  const Simulated simulated(ResponseSamples::Get().Pushed());
  const ResponseProblem& problem = simulated.job.problem;
  const control::Trajectory undisturbed = control::Replay(problem.character(), problem.control);
  const auto impact = static_cast<size_t>(simulated.struck.impact());
  const control::Trajectory& naive = simulated.struck.naive();
  EXPECT_EQ(control::Fingerprint(naive.states[impact]), control::Fingerprint(undisturbed.states[impact]));
  EXPECT_NE(control::Fingerprint(naive.states[impact + 1]), control::Fingerprint(undisturbed.states[impact + 1]));
  const control::Trajectory pushed = control::Replay(problem.character(), problem.control, problem.pushes);
  EXPECT_EQ(control::Fingerprint(naive.states.back()), control::Fingerprint(pushed.states.back()));
  // Newton: the push has given its impulse to what else it would be, as far as the ground does not answer it.
  EXPECT_EQ(simulated.struck.NaiveState(1000000).data(), naive.states.back().data());
  const control::Trajectory own = simulated.struck.OwnFromExit();
  EXPECT_EQ(own.num_steps(), naive.num_steps() - 180);
  EXPECT_EQ(control::Fingerprint(own.states[0]), control::Fingerprint(naive.states[180]));
}

TEST(Responding, TheSecondSimulationGoesFromTheExitToTheStart) {
  const Simulated simulated(ResponseSamples::Get().Pushed());
  const ResponseCandidate own = OwnMotionAt(simulated.job.problem, 0.4);
  const control::Trajectory second = simulated.struck.SecondSimulation(own, 1),
                            limp = simulated.struck.SecondSimulation(own, kRagdollStrength),
                            longer = simulated.struck.SecondSimulation(own, 1, 0.1);
  EXPECT_EQ(second.num_steps(), 61u);  // 0.25 s, and a step
  EXPECT_EQ(longer.num_steps(), 85u);
  EXPECT_EQ(control::Fingerprint(second.states[0]), control::Fingerprint(simulated.struck.NaiveState(180)));
  EXPECT_EQ(control::Fingerprint(second.states.back()), control::Fingerprint(longer.states[61]));
  // Servos bring it nearer to the motion than a body without strength gets.
  character::State motion;
  simulated.struck.MotionOf(own).StateAt(own.time, motion);
  const auto gap = [&](const control::Trajectory& trajectory) {
    return metrics::StateDistance(simulated.struck.character(), trajectory.states.back(), motion);
  };
  EXPECT_LT(gap(second), gap(limp));
}

TEST(Responding, ItsOwnMotionIsTheReferenceOrWhereItIsBlendedInWhatWasSimulated) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  const Simulated simulated(options);
  const ResponseCandidate own = OwnMotionAt(simulated.job.problem, 0.4);
  EXPECT_EQ(&simulated.struck.MotionOf(own), &*simulated.job.problem.run.characters[0].reference);
  EXPECT_EQ(simulated.struck.StandOf(own), 0);
  EXPECT_FALSE(simulated.struck.GoesOnUntil(own));
  ResponseCandidate recorded;
  recorded.time = 0.4;
  recorded.last = 0.5;
  EXPECT_EQ(&simulated.struck.MotionOf(recorded), &simulated.job.problem.library.motions().ReferenceOf(0));
  EXPECT_EQ(simulated.struck.StandOf(recorded), 0.3);
  // It comes to rest after its last instant.
  character::Pose pose, expected;
  simulated.struck.PoseOf(recorded, 2, pose);
  RestingPoseAt(simulated.struck.MotionOf(recorded), 0.5, 2, expected);
  EXPECT_EQ(pose.root_position, expected.root_position);

  options.kinematic = true;
  const Simulated kinematic(options);
  EXPECT_TRUE(kinematic.struck.GoesOnUntil(own));
  const control::Trajectory motion = control::Replay(kinematic.struck.character(), kinematic.job.problem.control);
  character::State state;
  kinematic.struck.MotionOf(own).StateAt(1, state);
  const auto root = static_cast<size_t>(kinematic.struck.character().root);
  EXPECT_LT((state[root].position - motion.states[240][root].position).norm(), 1e-9);
}

TEST(Responding, ARagdollHoldsItsPoseWithAHundredthOfItsStrength) {
  const Simulated simulated(ResponseSamples::Get().Pushed());
  const std::vector<control::Fragment> limp = simulated.struck.RagdollFromExit(240);
  ASSERT_GE(limp.size(), 2u);
  EXPECT_EQ(limp.back().first_step, 180);
  EXPECT_EQ(limp.back().end_step(), 240);
  for (const simulation::JointCommand& command : limp.back().CommandsOf(7)) EXPECT_EQ(command.gain, 0.01);
  EXPECT_EQ(limp[limp.size() - 2].end_step(), 180);
  EXPECT_EQ(simulated.struck.RagdollFromExit(180).back().end_step(), 180);
  const ResponseProblem& problem = simulated.job.problem;
  control::OpenLoopControl control = problem.control;
  control.fragments = limp;
  const control::Trajectory motion = control::Replay(problem.character(), control, problem.pushes);
  EXPECT_EQ(control::Fingerprint(motion.states[180]), control::Fingerprint(simulated.struck.NaiveState(180)));
}

TEST(Responding, InASceneAllAreSimulated) {
  const Simulated simulated(ResponseSamples::Get().Struck());
  const ImpactSimulation& struck = simulated.struck;
  const ResponseProblem& problem = simulated.job.problem;
  const control::Trajectory whole = control::Replay(problem.run.scene);
  EXPECT_EQ(control::Fingerprint(struck.whole().states.back()),
            control::Fingerprint(whole.states[struck.whole().num_steps()]));
  EXPECT_EQ(struck.whole().states.back().size(), 2 * struck.naive().states.back().size());
  // The scene of the run's own control is the run.
  const control::Scene same = struck.SceneOf(problem.control, false);
  EXPECT_EQ(control::Fingerprint(control::Replay(same).states.back()), control::Fingerprint(whole.states.back()));
  // Where it was searched, the other is restarted where the fragments begin from the exit on.
  const control::Scene searched = struck.SceneOf(problem.control, true);
  EXPECT_EQ(searched.fragments[0].size(), problem.control.fragments.size());
  const std::vector<control::Fragment>& other = searched.fragments[1];
  for (const control::Fragment& fragment : problem.control.fragments) {
    if (fragment.first_step < struck.exit()) continue;
    EXPECT_TRUE(std::any_of(other.begin(), other.end(), [&](const control::Fragment& one) {
      return one.first_step == fragment.first_step;
    })) << fragment.first_step;
  }
  EXPECT_EQ(other.back().end_step(), std::max(problem.control.num_steps(), struck.others()[1].back().end_step()));
}

/// Up to the impact it is the run; then a body without strength, on another floor. The second one begins there, too.
TEST(Responding, ThePapersFirstSimulationIsPassive) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  const Simulated own(options);
  UseRuleOfPaper(options);
  Simulated passive(options);
  EXPECT_EQ(passive.struck.exit(), passive.struck.impact());
  const auto impact = static_cast<size_t>(passive.struck.impact());
  passive.struck.SimulateLimp(400, 1);
  const control::Trajectory rough = passive.struck.naive();
  ASSERT_EQ(rough.num_steps(), 400u);
  EXPECT_EQ(rough.contacts.size(), 400u);
  EXPECT_EQ(control::Fingerprint(rough.states[impact]), control::Fingerprint(own.struck.naive().states[impact]));
  const auto root = static_cast<size_t>(passive.struck.character().root);
  EXPECT_LT(rough.states[400][root].position.y(), 0.5);
  EXPECT_NE(control::Fingerprint(rough.states[180]), control::Fingerprint(own.struck.naive().states[180]));
  passive.struck.Simulate(400);
  passive.struck.SimulateLimp(400, 0.2);
  EXPECT_NE(control::Fingerprint(passive.struck.naive().states[400]), control::Fingerprint(rough.states[400]));
}

}  // namespace
}  // namespace retrace::runs
