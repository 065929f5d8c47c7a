/// Whether motions can go on where they end.
#include "retrace/planning/viability/viable_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/metrics/gates.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/recordings/bvh.h"

namespace retrace::runs {
namespace {

/// The end of a job's motion.
JudgedEnd JudgeEndOf(const Job& job, const control::OpenLoopControl& control, const character::State& state,
                     int threads, const std::function<bool()>& stop) {
  const motion::Clip walk = motion::ReadBvh(std::filesystem::path(RETRACE_SOURCE_DIR) / "data/clips/walk.bvh");
  return JudgeEnd({*job.prepared, &walk}, job.configuration, control, state, threads, stop);
}

using Verdict = ViableEnd::Verdict;
using testing::HasSubstr;

JobOptions Clip(const std::string& name, double end) {
  JobOptions options;
  options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/" + name + ".bvh";
  options.clip.end = end;
  options.configuration.run.method = Method::kTracking;
  return options;
}

double RootShare(const Job& job, const character::State& state) {
  const auto root = static_cast<size_t>(job.character().root);
  return state[root].position.y() / job.character().bodies[root].rest_position.y();
}

TEST(ViableEnd, StandingGoesOnByAControlThatReplays) {
  JobOptions options = Clip("stand", 0.6);
  const Job job(options);
  const Reconstruction result = Reconstruct(job, 1);
  ASSERT_TRUE(result.success());
  ASSERT_TRUE(result.end);
  const ViableEnd& end = *result.end;
  ASSERT_EQ(end.verdict, Verdict::kViable) << end.Describe();
  EXPECT_EQ(end.seconds, 3);
  EXPECT_EQ(end.method, "tracking");
  EXPECT_FALSE(end.searched_from);
  EXPECT_THAT(end.Describe(), HasSubstr("the end is viable: on the feet for 3.0 s more"));
  EXPECT_NEAR(end.control.duration(), 3, 1e-9);
  // It begins where the motion ends, and three seconds later the character still stands.
  const control::Trajectory motion = control::Replay(job.character(), result.control());
  EXPECT_EQ(control::Fingerprint(end.control.start), control::Fingerprint(motion.states.back()));
  const std::string text = control::FormatControl(job.character(), end.control);
  const control::LoadedControl loaded = control::ParseControl(text, "continuation.json");
  const control::Trajectory onward = control::Replay(loaded.character, loaded.control);
  EXPECT_FALSE(onward.diverged);
  EXPECT_EQ(onward.num_steps(), 720u);
  EXPECT_GT(RootShare(job, onward.states.back()), 0.9);
  // The motion itself is what it is without.
  options.configuration.run.tail = 0;
  const Job without(options);
  const Reconstruction same = Reconstruct(without, 1);
  EXPECT_FALSE(same.end);
  EXPECT_EQ(control::FormatControl(job.character(), same.control()),
            control::FormatControl(job.character(), result.control()));
}

/// The end of a motion, and the same with the whole body thrown backwards: nothing can catch that.
TEST(ViableEnd, AFallIsNotViableAndTheLastSecondsAreSearchedAnew) {
  JobOptions options = Clip("stand", 1.2);
  options.configuration.run.method = Method::kSampling;
  options.configuration.sampling.refinement.passes = 0;
  options.configuration.sampling.samples = 100;
  options.configuration.sampling.selection.saved = 20;
  options.configuration.sampling.max_back_offs = 2;  // what cannot be caught is given up soon
  options.configuration.run.recover_end = EndRecovery::kOff;
  const Job judging(options);
  const Reconstruction result = FindControl(judging, *parallel::MakeThreadFarm(1, MakeWorkerFactory(judging)));
  ASSERT_TRUE(result.success());
  EXPECT_FALSE(result.end);
  character::State thrown = result.search.end;
  for (character::BodyState& body : thrown) body.linear_velocity += Vec3(0, 0, -3);
  const JudgedEnd judged = JudgeEndOf(judging, result.control(), thrown, 1, {});
  EXPECT_EQ(judged.end.verdict, Verdict::kNotViable);
  EXPECT_THAT(judged.end.Describe(), HasSubstr("the end is not viable: no way on was found"));
  EXPECT_GT(judged.end.simulated_seconds, 100);
  EXPECT_FALSE(judged.mended);
  options.configuration.run.recover_end = EndRecovery::kSearch;
  const Job mending(options);
  const JudgedEnd mended = JudgeEndOf(mending, result.control(), thrown, 1, {});
  ASSERT_EQ(mended.end.verdict, Verdict::kViable) << mended.end.Describe();
  ASSERT_TRUE(mended.mended);
  ASSERT_TRUE(mended.end.searched_from);
  EXPECT_NEAR(*mended.end.searched_from, 0.2, 1e-9);  // a second before the end, at the start of a fragment
  EXPECT_THAT(mended.end.Describe(), HasSubstr("; found anew from 0.20 s on"));
  // What came before is what it was, and the whole is as long as the clip and within tolerance.
  EXPECT_EQ(mended.mended->num_steps(), result.control().num_steps());
  const control::Trajectory before = control::Replay(mending.character(), result.control());
  const control::Trajectory after = control::Replay(mending.character(), *mended.mended);
  EXPECT_EQ(control::Fingerprint(after.states[48]), control::Fingerprint(before.states[48]));
  EXPECT_NE(control::Fingerprint(after.states.back()), control::Fingerprint(before.states.back()));
  EXPECT_EQ(control::Fingerprint(after.states.back()), control::Fingerprint(mended.mended_end));
  EXPECT_EQ(control::Fingerprint(after.states.back()), control::Fingerprint(mended.end.control.start));
  EXPECT_TRUE(metrics::Evaluate(mending.character(), after, mending.reference(), mending.problem.task.duration(),
                                mending.problem.task.gates)
                  .success());
  EXPECT_GT(RootShare(mending, control::Replay(mending.character(), mended.end.control).states.back()), 0.9);
  // The number of threads changes nothing.
  const JudgedEnd again = JudgeEndOf(mending, result.control(), thrown, 2, {});
  ASSERT_TRUE(again.mended);
  EXPECT_EQ(control::FormatControl(mending.character(), *again.mended),
            control::FormatControl(mending.character(), *mended.mended));
}

/// A character with too much speed to stand, and no recording or cycle to continue with, walks.
TEST(ViableEnd, WhoCannotStandWalksOn) {
  JobOptions options = Clip("stand", 0.6);
  options.clip.end.reset();
  options.configuration.run.recover_end = EndRecovery::kOff;
  const Job job(options);
  const Reconstruction result = FindControl(job, *parallel::MakeThreadFarm(1, MakeWorkerFactory(job)));
  ASSERT_TRUE(result.success());
  character::State hasty = result.tracking->summary.end;
  for (character::BodyState& body : hasty) body.linear_velocity += Vec3(0, 0, 0.9);
  const JudgedEnd judged = JudgeEndOf(job, result.control(), hasty, 1, {});
  ASSERT_EQ(judged.end.verdict, Verdict::kViable) << judged.end.Describe();
  EXPECT_EQ(judged.end.continuation, "walk");
  const control::Trajectory motion = control::Replay(job.character(), judged.end.control);
  EXPECT_GT(RootShare(job, motion.states.back()), 0.85);
  EXPECT_GT(motion.states.back()[0].position.z() - motion.states.front()[0].position.z(), 1.5);
}

/// A motion that was tracked is tracked anew as a whole, which costs less than a search.
TEST(ViableEnd, ATrackedMotionIsTrackedAnewWithWhatFollows) {
  const Job job(Clip("stand", 0.53));  // which does not end with a fragment of the control
  const Reconstruction result = FindControl(job, *parallel::MakeThreadFarm(1, MakeWorkerFactory(job)));
  ASSERT_TRUE(result.success());
  character::State thrown = result.tracking->summary.end;
  for (character::BodyState& body : thrown) body.linear_velocity += Vec3(0, 0, -3);
  const JudgedEnd judged = JudgeEndOf(job, result.control(), thrown, 1, {});
  ASSERT_EQ(judged.end.verdict, Verdict::kViable) << judged.end.Describe();
  ASSERT_TRUE(judged.mended);
  EXPECT_EQ(judged.end.searched_from, 0);
  EXPECT_EQ(judged.end.method, "tracking");
  EXPECT_EQ(judged.mended->num_steps(), result.control().num_steps());
  EXPECT_EQ(control::Fingerprint(control::Replay(job.character(), *judged.mended).states.back()),
            control::Fingerprint(judged.end.control.start));
}

TEST(ViableEnd, LyingHasNoEndToBeViable) {
  JobOptions options = Clip("roll_sideways", 0.5);
  const Job job(options);
  const control::OpenLoopControl nothing{job.problem.task.world, job.problem.task.start, {}};
  const JudgedEnd judged = JudgeEndOf(job, nothing, job.problem.task.start, 1, {});
  EXPECT_EQ(judged.end.verdict, Verdict::kNotApplicable);
  EXPECT_THAT(judged.end.Describe(), HasSubstr("not applicable: the recording ends lying"));
  EXPECT_EQ(judged.end.ToJson()["verdict"], "not applicable");
}

TEST(ViableEnd, AWorldThatMovesIsNotLookedBeyond) {
  JobOptions options = Clip("stand", 0.3);
  options.worlds = {"platform"};
  const Job job(options);
  const control::OpenLoopControl nothing{job.problem.task.world, job.problem.task.start, {}};
  const JudgedEnd judged = JudgeEndOf(job, nothing, job.problem.task.start, 1, {});
  EXPECT_EQ(judged.end.verdict, Verdict::kNotApplicable);
  EXPECT_THAT(judged.end.reason, HasSubstr("moves on a course"));
}

TEST(ViableEnd, AMotionThatFailsHasNone) {
  JobOptions options = Clip("walk", 0.5);
  options.configuration.run.method = Method::kSampling;
  options.configuration.sampling.samples = 4;
  options.configuration.sampling.selection.saved = 2;
  options.configuration.task.gates.joint_position = 0.001;
  const Job job(options);
  const Reconstruction result = Reconstruct(job, 1);
  ASSERT_FALSE(result.success());
  ASSERT_TRUE(result.end);
  EXPECT_EQ(result.end->verdict, Verdict::kNotViable);
  EXPECT_THAT(result.end->reason, HasSubstr("does not stay within tolerance"));
}

TEST(ViableEnd, StopsWhereItIsAsked) {
  const Job job(Clip("stand", 0.3));
  const control::OpenLoopControl nothing{job.problem.task.world, job.problem.task.start, {}};
  EXPECT_THROW(JudgeEndOf(job, nothing, job.problem.task.start, 1, [] { return true; }), StoppedError);
}

}  // namespace
}  // namespace retrace::runs
