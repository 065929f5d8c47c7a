#include "retrace/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "results/sample_motion.h"
#include "retrace/io/base64.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/math/filter.h"

namespace retrace::report {
namespace {

using ::testing::HasSubstr;

/// A glide with a push of the ground on the trunk and one of the arm on the head in each step.
control::Trajectory PushedGlide(const character::Character& character, int steps) {
  control::Trajectory trajectory = results::Glide(character, steps, Vec3(0, 0, 1.3));
  for (size_t step = 0; step < trajectory.num_steps(); ++step) {
    const double k = static_cast<double>(step);
    simulation::Contact ground;
    ground.body = 0;
    ground.point = Vec3(0.1 * k, 0, 0.3);
    ground.force = Vec3(1 + k, 500 + std::sin(k), -k / 3);
    simulation::Contact own;
    own.body = 1;
    own.other = 2;
    own.force = Vec3(1000, 1000, 1000);
    trajectory.contacts[step] = {ground, own};
    trajectory.torques[step][0] = Vec3(0.1 * k, 7, 8);
    trajectory.torques[step][1] = Vec3(k, 2 * k, 3 * k);
  }
  return trajectory;
}

struct Described {
  explicit Described(int steps, double time_step = 0.01, const ReportOptions& options = {})
      : character(results::SmallCharacter()), trajectory(PushedGlide(character, steps)) {
    trajectory.time_step = time_step;
    world.time_step = time_step;
    ReportRun run;
    run.name = "glide";
    run.character = &character;
    run.world = &world;
    document = DescribeRun(run, trajectory, nullptr, options);
  }
  std::vector<float> Array(const io::Json& packed) const { return UnpackFloats(io::JsonView(packed, "document")); }

  character::Character character;
  simulation::WorldOptions world;
  control::Trajectory trajectory;
  io::Json document;
};

std::vector<float> AsFloats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// Every k-th entry.
std::vector<float> Every(const std::vector<float>& values, size_t stride) {
  std::vector<float> some;
  for (size_t i = 0; i < values.size(); i += stride) some.push_back(values[i]);
  return some;
}

std::vector<float> Column(const std::vector<float>& rows, size_t width, size_t column) {
  std::vector<float> values;
  for (size_t i = column; i < rows.size(); i += width) values.push_back(rows[i]);
  return values;
}

TEST(ReportTest, ValuesAreThoseOfTheTables) {
  const Described d(33);
  const results::Table trajectory =
      results::ParseTable(results::FormatTrajectory(d.character, d.trajectory), "trajectory.csv");
  const results::Table torques = results::ParseTable(results::FormatTorques(d.character, d.trajectory), "torques.csv");
  const std::vector<float> force = d.Array(d.document["ground_force"]);
  ASSERT_EQ(force.size(), 34U * 3U);
  for (const auto& [k, name] : {std::pair{0U, "force_x"}, std::pair{1U, "force_y"}, std::pair{2U, "force_z"}}) {
    EXPECT_EQ(Column(force, 3, k), AsFloats(trajectory.Numbers(name))) << name;
  }
  // 100 steps per second: every one is a sample, every second a frame.
  EXPECT_EQ(d.document["sample_steps"], 1);
  EXPECT_EQ(d.document["frame_steps"], 2);
  const io::Json& simulated = d.document["simulated"];
  EXPECT_EQ(Column(d.Array(simulated["root"]), 3, 2), AsFloats(trajectory.Numbers("root_z")));
  EXPECT_EQ(Column(d.Array(simulated["center_of_mass"]), 3, 1), AsFloats(trajectory.Numbers("com_y")));
  EXPECT_EQ(Column(d.Array(simulated["angles"]), 4, 0), AsFloats(trajectory.Numbers("left_shoulder_x")));
  EXPECT_EQ(Column(d.Array(simulated["angles"]), 4, 3), AsFloats(trajectory.Numbers("neck_z")));
  const std::vector<float> torque = Column(d.Array(d.document["torques"]), 4, 2);
  ASSERT_EQ(torque.size(), 34U);
  EXPECT_EQ(torque[0], 0);  // nothing has acted before the start
  EXPECT_EQ(std::vector<float>(torque.begin() + 1, torque.end()), AsFloats(torques.Numbers("neck_y")));
  const std::vector<float> frames = d.Array(simulated["frames"]);
  ASSERT_EQ(frames.size(), 17U * 3U * 7U);
  EXPECT_EQ(Column(frames, 21, 2), Every(AsFloats(trajectory.Numbers("root_z")), 2));
  EXPECT_EQ(Column(frames, 21, 3), Every(AsFloats(trajectory.Numbers("root_qw")), 2));
}

TEST(ReportTest, GridsHaveWholeSteps) {
  EXPECT_EQ(Described(60, 1.0 / 240).document["frame_steps"], 4);
  EXPECT_EQ(Described(60, 1.0 / 240).document["sample_steps"], 2);
  EXPECT_EQ(Described(60, 0.0005).document["frame_steps"], 34);
  EXPECT_EQ(Described(60, 0.0005).document["sample_steps"], 17);
  EXPECT_EQ(Described(60, 0.1).document["frame_steps"], 1);
  const Described still(0);
  EXPECT_EQ(still.Array(still.document["simulated"]["frames"]).size(), 21U);
}

TEST(ReportTest, ArrowsAreMeansOfTheGroundsForcesOverTheStepsBeforeAFrame) {
  const Described d(8);
  const std::vector<float> forces = d.Array(d.document["arrows"]["forces"]);
  const std::vector<float> points = d.Array(d.document["arrows"]["points"]);
  // Frame 0 has none; frames 1 to 4 one each, of the trunk. The contact between arm and head is no arrow.
  ASSERT_EQ(forces.size(), 4U * 3U);
  EXPECT_FLOAT_EQ(forces[3 * 1 + 0], 1 + 2.5F);  // steps 2 and 3
  EXPECT_FLOAT_EQ(forces[3 * 3 + 2], -6.5F / 3);
  EXPECT_NEAR(points[3 * 1 + 0], 0.25, 1e-3);
  EXPECT_FLOAT_EQ(points[3 * 1 + 2], 0.3F);
}

/// A document of a glide in a world with that gravity.
io::Json InGravity(double gravity) {
  Described d(8);
  d.world.gravity = gravity;
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  return DescribeRun(run, d.trajectory);
}

TEST(ReportTest, NothingHasWeightWithoutGravity) {
  const character::Character character = results::SmallCharacter();
  const double mass = character.total_mass();
  const double earth = 0.55 * character.height / 1.7 / (mass * 9.81);
  EXPECT_EQ(InGravity(0)["character"]["weight"], 0.0);
  EXPECT_NEAR(InGravity(9.81)["character"]["weight"].get<double>(), 9.81 * mass, 1e-9);
  EXPECT_NEAR(InGravity(1.62)["character"]["weight"].get<double>(), 1.62 * mass, 1e-9);
  EXPECT_NEAR(InGravity(-1.62)["character"]["weight"].get<double>(), 1.62 * mass, 1e-9);
  // Arrows are as long as on Earth where there is no weight to measure them by.
  EXPECT_NEAR(InGravity(0)["arrows"]["metres_per_newton"].get<double>(), earth, 1e-15);
  EXPECT_NEAR(InGravity(1.62)["arrows"]["metres_per_newton"].get<double>(), earth * 9.81 / 1.62, 1e-12);
}

TEST(ReportTest, PeakForceIsTheLargestUpwardSumOfAStep) {
  Described d(8);
  // Two contacts of one step add up; what the character does to itself is none.
  d.trajectory.contacts[3].push_back(d.trajectory.contacts[3][0]);
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  EXPECT_NEAR(DescribeRun(run, d.trajectory)["peak_ground_force"].get<double>(), 2 * (500 + std::sin(3)), 1e-9);
}

/// On an even course a mean over any interval is the middle of it.
TEST(ReportTest, TheCameraFollowsAnEvenCourseExactlyAndAJumpSlowly) {
  const Described d(300);  // 3 s at 1.3 m/s, a frame every 0.02 s
  const std::vector<float> path = d.Array(d.document["path"]);
  const std::vector<float> frames = d.Array(d.document["simulated"]["frames"]);
  ASSERT_EQ(path.size(), 151U * 3U);
  for (size_t k = 0; k < 151; ++k) EXPECT_NEAR(path[3 * k + 2], frames[21 * k + 2], 1e-4) << k;
  EXPECT_NEAR(d.document["travel"][0].get<double>(), 0, 1e-12);
  EXPECT_NEAR(d.document["travel"][1].get<double>(), 1, 1e-12);

  Described jumping(300);
  for (size_t i = 150; i < jumping.trajectory.states.size(); ++i) {
    for (character::BodyState& body : jumping.trajectory.states[i]) body.position += Vec3(1, 1, 0);
  }
  ReportRun run;
  run.character = &jumping.character;
  run.world = &jumping.world;
  const std::vector<float> slow = d.Array(DescribeRun(run, jumping.trajectory)["path"]);
  // Of the 41 frames about frame 75, which is the first after the jump, 21 are after it; of the 121 for the height, 61.
  EXPECT_NEAR(slow[3 * 75] - path[3 * 75], 21.0 / 41, 1e-5);
  EXPECT_NEAR(slow[3 * 75 + 1] - path[3 * 75 + 1], 61.0 / 121, 1e-5);
}

TEST(ReportTest, AMotionInPlaceTravelsWhereTheRootFaces) {
  Described d(8);
  for (character::State& state : d.trajectory.states) {
    for (character::BodyState& body : state) {
      body.orientation = Quat(Eigen::AngleAxisd(0.5, Vec3::UnitY()) * Eigen::AngleAxisd(0.3, Vec3::UnitX()));
    }
  }
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  const io::Json travel = DescribeRun(run, d.trajectory)["travel"];
  EXPECT_NEAR(travel[0].get<double>(), std::sin(0.5), 1e-12);
  EXPECT_NEAR(travel[1].get<double>(), std::cos(0.5), 1e-12);
}

TEST(ReportTest, TimelineClosesChatter) {
  const character::Character character = results::SmallCharacter();
  control::Trajectory trajectory = PushedGlide(character, 40);
  for (const size_t step : {5, 20, 21, 22, 23}) trajectory.contacts[step].clear();
  simulation::WorldOptions world;
  world.time_step = trajectory.time_step;
  ReportRun run;
  run.character = &character;
  run.world = &world;
  const io::Json timeline = DescribeRun(run, trajectory)["timeline"];
  ASSERT_EQ(timeline.size(), 1U);
  EXPECT_EQ(timeline[0]["body"], "trunk");
  const io::Json& intervals = timeline[0]["intervals"];
  ASSERT_EQ(intervals.size(), 2U) << timeline.dump();
  EXPECT_NEAR(intervals[0][1].get<double>(), 0.20, 1e-12);
  EXPECT_NEAR(intervals[1][0].get<double>(), 0.24, 1e-12);
  EXPECT_NEAR(intervals[1][1].get<double>(), 0.40, 1e-12);
}

TEST(ReportTest, CostsOfEveryIteration) {
  const std::vector<std::string> names = {"pose", "root", "drift", "smoothness"};
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  results::IterationCosts drawn;
  drawn.fragment = 3;
  drawn.attempt = 1;
  drawn.start_time = 0.3;
  drawn.end_time = 0.4125;
  drawn.samples = 3;
  drawn.diverged = 1;
  drawn.saved = 1;
  drawn.drawn_costs = {2.5, 3.625, 4.75, 5.875, 7};
  drawn.saved_costs = {2.5, 2.5, 2.5, 2.5, 2.5};
  drawn.chosen = results::SampleCost{0, 12, {0.5, 0.125, 0.0625, 4}, {0.5, 0.25, 1.25, 0.5}, 2.5, false, true, true};
  results::IterationCosts lost = drawn;
  lost.attempt = 0;
  lost.diverged = 3;
  lost.saved = 0;
  lost.drawn_costs = lost.saved_costs = {kNone, kNone, kNone, kNone, kNone};
  lost.chosen.reset();

  // Through the table and back.
  const std::string path = testing::TempDir() + "retrace_report_costs.csv";
  io::WriteFile(path, results::FormatCosts({names, {drawn, lost}}));
  const results::CostTable table = results::ReadCosts(path);
  Described d(4);
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  run.costs = &table;
  const io::Json costs = DescribeRun(run, d.trajectory)["costs"];
  const std::vector<float> numbers = d.Array(costs["drawn"]);
  ASSERT_EQ(numbers.size(), 10U);
  EXPECT_TRUE(std::isnan(numbers[0]) && std::isnan(numbers[4]));
  EXPECT_THAT(std::vector<float>(numbers.begin() + 5, numbers.end()),
              testing::ElementsAre(2.5F, 3.625F, 4.75F, 5.875F, 7.0F));
  EXPECT_EQ(d.Array(costs["saved"])[9], 2.5F);
  EXPECT_EQ(costs["draws"], io::Json({{{"end", 0.4125}, {"chosen", false}}, {{"end", 0.4125}, {"chosen", true}}}));
  ASSERT_EQ(costs["chosen"].size(), 1U);
  EXPECT_EQ(costs["chosen"][0]["total"], 2.5);
  EXPECT_EQ(costs["chosen"][0]["terms"], io::Json({0.5, 0.25, 1.25, 0.5}));
  EXPECT_EQ(costs["terms"], io::Json(names));

  // The same of a table of an earlier version, which has the samples.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const results::SampleCost other{1, 12, {0, 0, 0, 0}, {0, 0, 0, 0}, 7, false, false, false};
  const results::SampleCost diverged{2, 0, {0, 0, 0, 0}, {0, 0, 0, 0}, kInfinity, true, false, false};
  io::WriteFile(
      path,
      results::FormatSamples(
          {names, {{3, 0, 0.3, 0.4125, {diverged, diverged}}, {3, 1, 0.3, 0.4125, {*drawn.chosen, other, diverged}}}}));
  const results::CostTable earlier = results::ReadCosts(path);
  std::filesystem::remove(path);
  run.costs = &earlier;
  EXPECT_EQ(DescribeRun(run, d.trajectory)["costs"], costs);
}

TEST(ReportTest, ATrackedMotionHasItsSolutions) {
  const results::Table table = results::ParseTable(
      "time,contacts,variables,iterations,squared_error,slack,largest_torque,vertical_force,solved,cpu_microseconds\n"
      "0,4,66,7,0.5,0.25,80,600,1,300\n0.0125,3,62,8,0.75,0,90,620,1,310\n",
      "tracking.csv");
  Described d(4);
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  EXPECT_FALSE(DescribeRun(run, d.trajectory).contains("solutions"));
  run.solutions = &table;
  const io::Json solutions = DescribeRun(run, d.trajectory)["solutions"];
  EXPECT_THAT(d.Array(solutions["time"]), testing::ElementsAre(0.0F, 0.0125F));
  EXPECT_THAT(d.Array(solutions["squared_error"]), testing::ElementsAre(0.5F, 0.75F));
  EXPECT_THAT(d.Array(solutions["vertical_force"]), testing::ElementsAre(600.0F, 620.0F));
  EXPECT_THAT(d.Array(solutions["iterations"]), testing::ElementsAre(7.0F, 8.0F));
}

TEST(ReportTest, AComposedMotionHasItsPartsAndPushes) {
  const results::Table table = results::ParseTable(
      "start,end,control,cut,distance,tries,event,transition,hidden_impulse\n"
      "0,0.5,walk,0,0,0,plan,,0\n0.5,1.25,walk,0.3,0.1,1,answer,kinematic,12\n",
      "composition.csv");
  Described d(4);
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  EXPECT_FALSE(DescribeRun(run, d.trajectory).contains("composition"));
  run.composition = &table;
  *run.manifest = {{"pushes", {{{"body", "trunk"}, {"force", {30, 0, -40}}, {"start", 0.25}, {"duration", 0.5}}}}};
  const io::Json composition = DescribeRun(run, d.trajectory)["composition"];
  const io::Json parts = {
      {{"start", 0.0}, {"end", 0.5}, {"control", "walk"}, {"event", "plan"}, {"kinematic", false}},
      {{"start", 0.5}, {"end", 1.25}, {"control", "walk"}, {"event", "answer"}, {"kinematic", true}}};
  EXPECT_EQ(composition["parts"], parts);
  const io::Json pushes = {{{"body", "trunk"}, {"newton", 50.0}, {"start", 0.25}, {"end", 0.75}}};
  EXPECT_EQ(composition["pushes"], pushes);
}

TEST(ReportTest, AnEvaluationKeepsItsCountsAndBounds) {
  std::vector<results::RunRow> rows(5);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].clip = i < 3 ? "walk" : "roll";
    rows[i].seed = i;
    rows[i].status = i == 4 ? results::RunStatus::kSkipped : results::RunStatus::kCompleted;
    rows[i].levels.main = i < 2;
    rows[i].figures[results::FigureIndex("joint_error_mm")] = 40.0 + static_cast<double>(i);
  }
  const io::Json part = DescribeEvaluation("some", rows);
  EXPECT_EQ(part["kind"], "evaluation");
  ASSERT_EQ(part["summaries"].size(), 3U);
  const io::Json& walk = part["summaries"][0];
  EXPECT_EQ(walk["main"]["k"], 2);
  EXPECT_EQ(walk["main"]["n"], 3);
  // Clopper-Pearson: the rate p with P(at least 2 of 3) = 3 p^2 - 2 p^3 = 0.05.
  const double p = walk["main"]["bound"].get<double>();
  EXPECT_NEAR(3 * p * p - 2 * p * p * p, 0.05, 1e-9);
  EXPECT_EQ(walk["quartiles"][results::FigureIndex("joint_error_mm")], io::Json({40.25, 40.5, 40.75}));
  EXPECT_TRUE(walk["quartiles"][results::FigureIndex("cpu_s_per_s")].is_null());
  const io::Json& total = part["summaries"][2];
  EXPECT_EQ(total["scope"], "total");
  EXPECT_EQ(total["skipped"], 1);
  EXPECT_EQ(part["runs"].size(), 5U);
}

constexpr const char* kPage =
    "<html><title></title><script type=\"application/json\">{\"retrace\":\"document\"}</script></html>";

std::string Filled(std::string_view page, const std::string& name, const io::Json& document) {
  std::string filled;
  FillReportPage(page, name, document, [&](std::string_view piece) { filled += piece; });
  return filled;
}

TEST(ReportTest, NothingInADocumentEndsItsScript) {
  io::Json part;
  part["name"] = "</script><script>alert(1)</script><!-- \xff";
  const io::Json document = ReportDocument("a <b> & c", {part});
  const std::string page = Filled(kPage, "page", document);
  EXPECT_THAT(page, HasSubstr("<title>a &lt;b&gt; &amp; c</title>"));
  const size_t begin = page.find("json\">") + 6;
  const std::string inside = page.substr(begin, page.find("</script>", begin) - begin);
  EXPECT_EQ(inside.find('<'), std::string::npos);
  const io::Json read = io::ParseJson(inside, "inside");
  EXPECT_EQ(read["parts"][0]["name"], "</script><script>alert(1)</script><!-- \xEF\xBF\xBD");
  EXPECT_EQ(page.substr(page.size() - 16), "</script></html>");
}

TEST(ReportTest, RefusesAPageWithoutAPlace) {
  try {
    Filled("<html></html>", "somewhere/page.html", ReportDocument("t", {}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("somewhere/page.html: found a page without a place"));
  }
}

TEST(ReportTest, RefusesATrajectoryWithoutContacts) {
  const character::Character character = results::SmallCharacter();
  control::Trajectory trajectory = results::Glide(character, 5, Vec3::Zero());
  trajectory.contacts.pop_back();
  simulation::WorldOptions world;
  world.time_step = trajectory.time_step;
  ReportRun run;
  run.character = &character;
  run.world = &world;
  EXPECT_THROW(DescribeRun(run, trajectory), std::invalid_argument);
}

TEST(ReportTest, RefusesAnotherTimeStepThanTheWorlds) {
  Described d(5);
  d.world.time_step = 0.02;
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  EXPECT_THROW(DescribeRun(run, d.trajectory), std::invalid_argument);
}

/// A part of a motion, as control::ReplayInParts has it.
control::Trajectory PartOf(const control::Trajectory& whole, size_t first, size_t steps) {
  control::Trajectory part;
  part.time_step = whole.time_step;
  part.first_step = first;
  const auto at = [&](auto& list, size_t index) { return list.begin() + static_cast<std::ptrdiff_t>(index); };
  part.states.assign(at(whole.states, first), at(whole.states, first + steps + 1));
  part.contacts.assign(at(whole.contacts, first), at(whole.contacts, first + steps));
  part.torques.assign(at(whole.torques, first), at(whole.torques, first + steps));
  return part;
}

TEST(ReportTest, ABodyWithoutStrengthIsAnotherMotionBesideTheRun) {
  const Described d(20);
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  RunDescriber describer(run, 0.2);
  describer.Add(d.trajectory);
  control::Trajectory limp = d.trajectory;
  for (character::State& state : limp.states) state[0].position.y() = 0.25;
  describer.Add(Beside::kRagdoll, PartOf(limp, 0, 12));
  const io::Json document = describer.Finish();
  EXPECT_FALSE(document.contains("tracking"));
  EXPECT_NEAR(document["ragdoll"]["duration"].get<double>(), 0.12, 1e-12);
  EXPECT_EQ(d.Array(document["ragdoll"]["frames"]).size(), 7U * 3U * 7U);
  EXPECT_EQ(Column(d.Array(document["ragdoll"]["root"]), 3, 1), std::vector<float>(13, 0.25F));
  EXPECT_EQ(document["simulated"], d.document["simulated"]);
}

TEST(ReportTest, WhatAReferenceWasRepairedFromIsAMotionToo) {
  const Described d(20);
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  character::Pose rest;
  rest.joint_rotations.assign(d.character.joints.size(), Quat::Identity());
  std::vector<character::Pose> poses(30, rest);
  const character::ReferenceMotion reference(d.character, 0.01, poses, 0.01);
  for (character::Pose& pose : poses) pose.root_position.y() += 0.1;
  const character::ReferenceMotion recording = reference.WithPoses(poses);
  run.reference = &reference;
  run.recording = &recording;
  const io::Json document = DescribeRun(run, d.trajectory);
  const std::vector<float> repaired = Column(d.Array(document["reference"]["root"]), 3, 1);
  const std::vector<float> before = Column(d.Array(document["recording"]["root"]), 3, 1);
  ASSERT_EQ(before.size(), repaired.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i] - repaired[i], 0.1, 1e-6);
  run.recording = nullptr;
  EXPECT_FALSE(DescribeRun(run, d.trajectory).contains("recording"));
}

TEST(ReportTest, APushIsAnArrowForAsLongAsItLasts) {
  const Described d(20);  // a frame for every second step of 0.01 s
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  run.pushes = {{1, Vec3(300, 0, -40), 0.05, 0.05}};
  const io::Json document = DescribeRun(run, d.trajectory);
  EXPECT_FALSE(d.document.contains("push_arrows"));
  EXPECT_EQ(document["arrows"], d.document["arrows"]);
  const io::Json& arrows = document["push_arrows"];
  const std::vector<float> forces = d.Array(arrows["forces"]), points = d.Array(arrows["points"]);
  // Steps 5 to 9: the second half of the steps before frame 3, and all of those before frames 4 and 5.
  ASSERT_EQ(forces.size(), 3U * 3U);
  EXPECT_FLOAT_EQ(forces[0], 150);
  EXPECT_FLOAT_EQ(forces[3], 300);
  EXPECT_FLOAT_EQ(forces[8], -40);
  const auto middle = [&](size_t body) {
    return 0.5 * (d.trajectory.states[7][body].position + d.trajectory.states[8][body].position);
  };
  for (size_t axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(points[3 + axis], middle(1)[static_cast<Eigen::Index>(axis)], 1e-6) << axis;
  }
}

TEST(ReportTest, PartsOfAMotionAreTheSameAsTheWhole) {
  Described d(100);
  simulation::FreeBody& ball = d.world.environment.bodies.emplace_back();
  ball.name = "ball";
  d.world.environment.bodies.push_back(ball);
  d.world.environment.bodies.back().name = "resting";
  for (size_t i = 0; i < d.trajectory.states.size(); ++i) {
    character::BodyState place;
    place.position = Vec3(0.1 * static_cast<double>(i), 1, 0);
    d.trajectory.states[i].push_back(place);
    d.trajectory.states[i].emplace_back();
  }
  for (const size_t step : {5, 20, 21, 22, 23, 47, 48, 49}) d.trajectory.contacts[step].clear();
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  const io::Json whole = DescribeRun(run, d.trajectory, &d.trajectory);
  EXPECT_EQ(whole["world"]["moving"]["data"], "AAAAAA==");  // the first alone, number 0
  ASSERT_GT(d.Array(whole["footprints"]["places"]).size(), 3U);
  RunDescriber describer(run, 1);
  for (const auto& [first, steps] : {std::pair{0U, 48U}, std::pair{48U, 2U}, std::pair{50U, 50U}}) {
    describer.Add(PartOf(d.trajectory, first, steps));
    describer.Add(Beside::kTracking, PartOf(d.trajectory, first, steps));
  }
  EXPECT_EQ(io::Dump(describer.Finish()), io::Dump(whole));
}

TEST(ReportTest, LongMotionsHaveFewerInstants) {
  ReportOptions options;
  options.most_frames = 50;
  const Described short_one(50, 1.0 / 60, options);
  EXPECT_EQ(short_one.document["frame_steps"], 1);
  const Described long_one(200, 1.0 / 60, options);  // 50 frames are one for each 4 steps
  EXPECT_EQ(long_one.document["frame_steps"], 4);
  EXPECT_EQ(long_one.document["sample_steps"], 2);
  EXPECT_EQ(long_one.Array(long_one.document["ground_force"]).size(), 3U * 201U);
}

TEST(ReportTest, TheGroundForceIsThereAfterALowPassToo) {
  const Described d(80);
  const std::vector<float> force = d.Array(d.document["ground_force"]);
  Eigen::MatrixXd signal(81, 1);
  for (Eigen::Index row = 0; row < 81; ++row) signal(row, 0) = force[static_cast<size_t>(3 * row + 1)];
  const Eigen::MatrixXd wanted = ButterworthLowPass(signal, 100, 20);
  EXPECT_EQ(d.document["smooth_force"]["low_pass"], 20);
  const std::vector<float> up = Column(d.Array(d.document["smooth_force"]["values"]), 3, 1);
  ASSERT_EQ(up.size(), 81U);
  for (size_t row = 0; row < up.size(); ++row)
    EXPECT_EQ(up[row], static_cast<float>(wanted(static_cast<Eigen::Index>(row), 0)));
  EXPECT_EQ(d.document["smooth_force"]["peak"], wanted.maxCoeff());
  // Steps of 0.04 s are too long for it.
  EXPECT_FALSE(Described(20, 0.04).document.contains("smooth_force"));
}

TEST(ReportTest, WhatLooksWrongInTheRecordingIsNamed) {
  const Described d(10);
  ReportRun run;
  run.character = &d.character;
  run.world = &d.world;
  *run.manifest = {{"clip_checks", {{"warnings", {{{"time", 0.5}, {"kind", "jump"}, {"text", "a jump"}}}}}},
                   {"reference", {{"notes", {"facing +z"}}}}};
  const io::Json findings = DescribeRun(run, d.trajectory)["findings"];
  EXPECT_EQ(findings, io::Json({{"warnings", {{{"time", 0.5}, {"text", "a jump"}}}}, {"notes", {"facing +z"}}}));
  EXPECT_FALSE(d.document.contains("findings"));
}

TEST(ReportTest, FiveSecondsStayUnderFiveMegabytes) {
  // As much as a run of five seconds can hold: many iterations, both feet on the ground at all times.
  const character::Character character =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
  constexpr int kSteps = 1200;
  control::Trajectory trajectory = results::Glide(character, kSteps, Vec3(0, 0, 5.0 / 24));
  trajectory.time_step = 1.0 / 240;
  for (size_t step = 0; step < kSteps; ++step) {
    for (const char* foot : {"left_foot", "right_foot"}) {
      simulation::Contact contact;
      contact.body = character.FindBody(foot);
      const Vec3 place = trajectory.states[step][static_cast<size_t>(contact.body)].position;
      for (int corner = 0; corner < 4; ++corner) {
        contact.point = place + Vec3(corner % 2 ? 0.04 : -0.04, -0.03, corner / 2 ? 0.1 : -0.1);
        contact.force = Vec3(1, 150 + 50 * std::sin(0.1 * static_cast<double>(step)), 2);
        trajectory.contacts[step].push_back(contact);
      }
    }
  }
  results::CostTable costs;
  costs.terms = {"pose", "root", "end_effector", "balance", "drift", "smoothness"};
  costs.iterations.resize(150);
  for (size_t k = 0; k < costs.iterations.size(); ++k) {
    results::IterationCosts& row = costs.iterations[k];
    row.fragment = static_cast<int>(k % 50);
    row.attempt = static_cast<int>(k / 50);
    if (k < 50) row.chosen.emplace().weighted.assign(costs.terms.size(), 0.5);
  }
  character::Pose pose;
  pose.root_position = Vec3(0, 1, 0);
  pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
  const character::ReferenceMotion reference(character, 5, {pose, pose}, 0.01);
  simulation::WorldOptions world;
  world.time_step = trajectory.time_step;
  ReportRun run;
  run.character = &character;
  run.world = &world;
  run.reference = &reference;
  run.costs = &costs;
  const size_t data = ReportDocument("t", {DescribeRun(run, trajectory, &trajectory)}).dump().size();
  EXPECT_GT(data, 1'000'000U);
  EXPECT_LT(data, 4'000'000U);  // the bundle has 0.7 MB; a test of the program holds it to 1 MB
}

TEST(ReportTest, ASceneHasItsCharactersInOneWorld) {
  const Described one(60);
  control::Trajectory moved = one.trajectory;
  for (character::State& state : moved.states) {
    for (character::BodyState& body : state) body.position += Vec3(3, 0, 0);
  }
  std::vector<ReportRun> runs(2);
  for (size_t c = 0; c < 2; ++c) {
    runs[c].name = "both, character " + std::to_string(c + 1);
    runs[c].character = &one.character;
    runs[c].world = &one.world;
    *runs[c].manifest = {{"characters", {{{"run", "a"}}, {{"run", "b"}}}}};
  }
  std::vector<RunDescriber> describers;
  for (size_t c = 0; c < 2; ++c) {
    describers.emplace_back(runs[c], 0.6);
    describers[c].Add(c == 0 ? one.trajectory : moved);
  }
  const io::Json scene = DescribeScene("both", describers);
  EXPECT_EQ(scene["kind"], "scene");
  EXPECT_EQ(scene["name"], "both");
  EXPECT_EQ(scene["world"], one.document["world"]);
  ASSERT_EQ(scene["characters"].size(), 2u);
  EXPECT_FALSE(scene["characters"][0].contains("world"));
  EXPECT_EQ(scene["characters"][0]["simulated"], one.document["simulated"]);
  EXPECT_EQ(scene["characters"][1]["name"], "both, character 2");
  EXPECT_EQ(scene["characters"][1]["settings"]["characters"][1]["run"], "b");
  // The camera follows the middle, from which each is a meter and a half away.
  const std::vector<float> middle = one.Array(scene["path"]);
  const std::vector<float> first = one.Array(one.document["path"]);
  ASSERT_EQ(middle.size(), first.size());
  for (size_t i = 0; i < middle.size(); ++i) EXPECT_NEAR(middle[i], first[i] + (i % 3 == 0 ? 1.5 : 0), 1e-5);
  EXPECT_NEAR(scene["reach"].get<double>(), 1.5, 1e-9);
}

}  // namespace
}  // namespace retrace::report
