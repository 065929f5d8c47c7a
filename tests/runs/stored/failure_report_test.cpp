/// What is said of a run that did not succeed, from searches whose records are made up.
#include "retrace/runs/stored/failure_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "methods/sampling/small_problem.h"
#include "retrace/runs/configuration/configuration.h"

namespace retrace::runs {
namespace {

using sampling::Summary;
using task::Ending;
using testing::HasSubstr;
using testing::Not;

/// A squat of 1 s in ten fragments.
class FailureReports : public testing::Test {
 protected:
  FailureReports() {
    runs::Configuration configuration;
    configuration.task.schedule.segmentation = task::Segmentation::kOff;
    configuration.sampling.max_back_offs = 4;
    configuration.sampling.samples = 1400;
    configuration.sampling.budget = 4200;
    small_ = std::make_unique<sampling::SmallProblem>(configuration, task::Squatting, 1);
    problem_ = small_->problem();
  }

  /// Failed in the seventh fragment, drawn three times, twice after backtracking.
  static Summary Failed() {
    Summary search;
    search.ending = Ending::kLeftGates;
    search.simulated_seconds = 1234;
    search.back_offs = 4;
    for (const auto& [fragment, back] : {std::pair{6, 1}, {4, 3}, {6, 5}, {6, -1}}) {
      sampling::IterationRecord record;
      record.fragment = fragment;
      record.back_to = back;
      search.iterations.push_back(record);
    }
    sampling::Failure& failure = search.failure;
    failure.fragment = 6;
    failure.start = 0.6;
    failure.end = 0.7;
    failure.attempts = 3;
    failure.samples = 700;
    failure.nearest = {1.2, 0.5, 0.4};
    failure.nearest_ratio = 1.2;
    failure.terms = {2, 6, 1, 4, 0};
    failure.terms_before = {6, 30, 3, 6, 0};  // over six fragments: 1, 5, 0.5 and 1 each
    failure.fragments_before = 6;
    control::Fragment fragment;
    fragment.num_steps = 144;
    search.control.fragments = {fragment};
    return search;
  }

  FailureReport Report(const Summary& search, const metrics::ClipChecks& checks = {}) const {
    return ReportFailure(problem_, search, metrics::Evaluation(), checks);
  }

  std::unique_ptr<sampling::SmallProblem> small_;
  sampling::Problem problem_;
};

TEST_F(FailureReports, SayWhereHowOftenAndHowFarOff) {
  const std::string text = Report(Failed()).Text();
  EXPECT_THAT(text, HasSubstr("fragment 7 of 10, 0.60 to 0.70 s: no sample stays within tolerance; drawn 3 times, "
                              "gone back 2 times, to 0.10 s at the furthest (4 times from all places)\n"));
  EXPECT_THAT(text, HasSubstr("simulated 1234 s in all, 1234 s per second of motion\n"));
  EXPECT_THAT(text, HasSubstr("nearest sample at 0.70 s: root_height 0.300 m (limit 0.250), root_orientation 30.0 "
                              "degrees (limit 60.0), joint_position 0.100 m (limit 0.250)\n"));
  EXPECT_THAT(text, Not(HasSubstr("its worst before")));
  // The root's cost is the largest, but it was so before.
  EXPECT_THAT(text, HasSubstr("most of all in balance: 4.00, before it 1.00 per fragment\n"));
}

TEST_F(FailureReports, SayTheSameToScripts) {
  const io::Json json = Report(Failed()).ToJson();
  EXPECT_EQ(json.at("fragment"), 6);
  EXPECT_EQ(json.at("attempts"), 3);
  EXPECT_EQ(json.at("back_offs"), 2);
  EXPECT_EQ(json.at("all_back_offs"), 4);
  EXPECT_NEAR(json.at("furthest_back").get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(json.at("reached").get<double>(), 0.6, 1e-12);
  EXPECT_NEAR(json.at("nearest").at("root_orientation_degrees").at("value").get<double>(), 30, 1e-9);
  EXPECT_NEAR(json.at("nearest").at("root_height").at("limit").get<double>(), 0.25, 1e-12);
  EXPECT_EQ(json.at("weighted_cost").at("dominant"), "balance");
  EXPECT_EQ(json.at("weighted_cost").at("at_failure").at("root"), 6.0);
  EXPECT_EQ(json.at("weighted_cost").at("mean_before").at("root"), 5.0);
  EXPECT_EQ(json.at("advice").size(), 1u);
  EXPECT_EQ(json.at("advice")[0].at("set"), "/search/max_back_offs=1000");
}

TEST_F(FailureReports, TellWhenTheWorstWasBeforeTheEnd) {
  Summary search = Failed();
  search.failure.nearest_ratio = 1.5;
  EXPECT_THAT(Report(search).Text(), HasSubstr("its worst before that: 150 % of a limit"));
}

TEST_F(FailureReports, ListWarningsOfTheRecordingNearThePlaceAlone) {
  metrics::ClipChecks checks;
  checks.warnings = {
      {0.05, "knee", "early"}, {0.15, "jump", "a jump"}, {1.1, "hand", "a hand"}, {1.25, "knee", "late"}};
  const FailureReport report = Report(Failed(), checks);
  ASSERT_EQ(report.warnings.size(), 2u);
  EXPECT_THAT(report.Text(), HasSubstr("the recording near there: a jump\n  the recording near there: a hand\n"));
  EXPECT_EQ(report.ToJson().at("clip_warnings").size(), 2u);
}

TEST_F(FailureReports, AdviseNothingWithoutAFact) {
  problem_.options.max_back_offs = 1000;  // as much as there is
  const FailureReport report = Report(Failed());
  EXPECT_TRUE(report.advice.empty());
  EXPECT_THAT(report.Text(), Not(HasSubstr("to try next")));
}

TEST_F(FailureReports, AdviseMoreSamplesWhereFewWereLost) {
  problem_.options.samples = 200;
  const FailureReport report = Report(Failed());
  ASSERT_FALSE(report.advice.empty());
  EXPECT_EQ(report.advice[0].setting, "/search/samples=1400");
  EXPECT_THAT(report.Text(), HasSubstr("200 are few for what gets lost; the quality best"));
}

TEST_F(FailureReports, AdviseMoreBudgetWhenItWasSpent) {
  Summary search = Failed();
  search.ending = Ending::kBudget;
  FailureReport report = Report(search);
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].setting, "/search/budget=8400");
  EXPECT_THAT(report.Text(), HasSubstr("the budget, 4200, has no room for another fragment"));
  // Never lost: what the rest needs at the same rate.
  search.failure = {};
  search.simulated_seconds = 600;
  report = Report(search);
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].setting, "/search/budget=1100");
  EXPECT_THAT(report.Text(), Not(HasSubstr("no sample stays")));
  // Not even begun.
  search.control.fragments.clear();
  search.simulated_seconds = 0;
  report = Report(search);
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].setting, "/search/budget=4200");
}

TEST_F(FailureReports, AdviseNoMarginWhenTheGatesWereKept) {
  Summary search = Failed();
  problem_.options.max_back_offs = 1000;
  search.failure.nearest = {0.98, 0.5, 0.4};
  search.failure.nearest_ratio = 0.98;
  const FailureReport report = Report(search);
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].setting, "/search/gate_margin=0");
  EXPECT_THAT(report.Text(), HasSubstr("no sample stays within tolerance by the margin; drawn"));
}

TEST_F(FailureReports, OfADivergedSearchHaveNoFigures) {
  Summary search = Failed();
  search.ending = Ending::kDiverged;
  search.failure.diverged = 700;
  search.failure.nearest = {};
  search.failure.nearest_ratio = 0;
  FailureReport report = Report(search);
  EXPECT_THAT(report.Text(), HasSubstr("all 700 samples diverged"));
  EXPECT_THAT(report.Text(), Not(HasSubstr("nearest")));
  EXPECT_FALSE(report.ToJson().contains("nearest"));
  EXPECT_TRUE(report.advice.empty());
  problem_.task.world.servo = simulation::Servo::kExplicit;
  report = Report(search);
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].setting, "/simulation/servo=implicit");
}

TEST_F(FailureReports, OfAMotionThatReachedTheEndNameTheFirstGate) {
  Summary search = Failed();
  search.ending = Ending::kReachedEnd;
  search.failure = {};
  metrics::Evaluation evaluation;
  evaluation.completed = true;
  evaluation.gates = {
      {"root_height", 0.26, 0.25, 0.8}, {"root_orientation", 0.1, 1, -1}, {"joint_position", 0.2575, 0.25, 0.4}};
  const FailureReport report = ReportFailure(problem_, search, evaluation, {});
  EXPECT_THAT(report.Text(), HasSubstr("out of tolerance from 0.40 s (joint_position)"));
  ASSERT_EQ(report.advice.size(), 0u) << "it had gone back as often as it may";
  search.back_offs = 1;
  const FailureReport more = ReportFailure(problem_, search, evaluation, {});
  ASSERT_EQ(more.advice.size(), 1u);
  EXPECT_EQ(more.advice[0].setting, "/search/gate_margin=0.08");  // 0.04 and the 4 % of the height
  problem_.options.keep_inside_gates = false;
  const FailureReport blind = ReportFailure(problem_, search, evaluation, {});
  ASSERT_EQ(blind.advice.size(), 1u);
  EXPECT_EQ(blind.advice[0].setting, "/search/keep_inside_gates=true");
  evaluation.gates.clear();
  EXPECT_EQ(ReportFailure(problem_, search, evaluation, {}).Text(), "") << "a success";
}

TEST(StatusOf, IsCompletedOrTheEnding) {
  EXPECT_EQ(StatusOf(Ending::kReachedEnd), "completed");
  EXPECT_EQ(StatusOf(Ending::kLeftGates), "left-gates");
  EXPECT_EQ(StatusOf(Ending::kBudget), "budget");
  EXPECT_EQ(StatusOf(Ending::kDiverged), "diverged");
}

}  // namespace
}  // namespace retrace::runs
