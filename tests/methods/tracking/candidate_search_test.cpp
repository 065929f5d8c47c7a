#include "methods/tracking/candidate_search.h"

#include <gtest/gtest.h>

#include "methods/tracking/tracked_course.h"
#include "retrace/control/control_file.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::tracking {
namespace {

Options FewCandidates() {
  Options options;
  options.candidates = 4;
  options.guidance = 100;
  return options;
}

Summary SearchOn(const Problem& problem, int threads, const Hooks& hooks = {}) {
  const auto farm = parallel::MakeThreadFarm(threads, MakeCandidateWorkerFactory(problem));
  return SearchCandidates(problem, *farm, hooks);
}

TEST(CandidateSearch, FindsAControlThatReplaysToTheBit) {
  const SampleCourse squat(task::Squatting, 0.4, FewCandidates());
  const Problem& problem = squat.problem();
  std::vector<double> progress;
  Hooks hooks;
  hooks.on_progress = [&](double time) { progress.push_back(time); };
  const Summary summary = SearchOn(problem, 1, hooks);
  EXPECT_TRUE(summary.reached_end());
  EXPECT_EQ(summary.control.num_steps(), problem.num_steps());
  const control::Trajectory motion = control::Replay(task::Human(), summary.control);
  EXPECT_EQ(control::Fingerprint(motion.states.back()), control::Fingerprint(summary.end));
  EXPECT_FALSE(summary.records.empty());
  ASSERT_FALSE(progress.empty());
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
}

TEST(CandidateSearch, IsTheSameOnAnyNumberOfThreads) {
  const SampleCourse squat(task::Squatting, 0.2, FewCandidates());
  const auto text = [](const Summary& summary) { return control::FormatControl(task::Human(), summary.control); };
  const std::string one = text(SearchOn(squat.problem(), 1));
  EXPECT_EQ(text(SearchOn(squat.problem(), 3)), one);
}

TEST(CandidateSearch, StopsWhereItIsAsked) {
  const SampleCourse squat(task::Squatting, 0.4, FewCandidates());
  Hooks hooks;
  hooks.stop = [] { return true; };
  const Summary summary = SearchOn(squat.problem(), 1, hooks);
  EXPECT_EQ(summary.status, Status::kStopped);
  EXPECT_LT(summary.control.num_steps(), squat.problem().num_steps());
}

}  // namespace
}  // namespace retrace::tracking
