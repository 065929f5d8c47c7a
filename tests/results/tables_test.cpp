#include "retrace/results/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <regex>

#include "results/sample_motion.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::results {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two steps: ground and self contact after the first, and a touch without force.
control::Trajectory SmallTrajectory(const character::Character& character) {
  control::Trajectory trajectory = Glide(character, 2, Vec3(0.5, 0, -0.25));
  trajectory.contacts[0] = {
      {0, -1, Vec3(0.1, 0, 0.2), Vec3(1, 30, -2)},
      {1, -1, Vec3(-0.1, 0, 0.25), Vec3(0.5, 19.05, 0)},
      {0, 1, Vec3(0.2, 1, 0), Vec3(-7, 0, 0)},
  };
  trajectory.contacts[1] = {{1, -1, Vec3(0, 0, 0), Vec3(0, 0, 0)}};
  trajectory.torques[0] = {Vec3(3.5, 0, 0), Vec3(0.1, -0.2, 1e-20)};
  trajectory.torques[1] = {Vec3(-1, 0, 0), Vec3(0, 1.0 / 3, 0)};
  return trajectory;
}

std::string ErrorOf(const std::string& text) {
  try {
    ParseTable(text, "t.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Trajectory, HasTheDocumentedColumns) {
  const auto character = SmallCharacter();
  const Table table = ParseTable(FormatTrajectory(character, SmallTrajectory(character)), "t.csv");
  EXPECT_THAT(table.names(),
              ElementsAre("time", "root_x", "root_y", "root_z", "root_qw", "root_qx", "root_qy", "root_qz",
                          "left_shoulder_x", "neck_x", "neck_y", "neck_z", "com_x", "com_y", "com_z", "com_vx",
                          "com_vy", "com_vz", "force_x", "force_y", "force_z", "state"));
  EXPECT_EQ(table.num_rows(), 3u);
}

TEST(Trajectory, HoldsTheStatesToTheLastBit) {
  const auto character = SmallCharacter();
  auto trajectory = SmallTrajectory(character);
  // Numbers that need all 17 digits, and one near the end of the range.
  for (auto& body : trajectory.states[1]) body.position += Vec3(0.1, 1.0 / 3, 1e-300);
  const Table table = ParseTable(FormatTrajectory(character, trajectory), "t.csv");
  for (size_t i = 0; i < 3; ++i) {
    const auto& state = trajectory.states[i];
    EXPECT_EQ(table.Numbers("time")[i], static_cast<double>(i) * 0.01);
    EXPECT_EQ(table.Numbers("root_x")[i], state[0].position.x());
    EXPECT_EQ(table.Numbers("root_y")[i], state[0].position.y());
    EXPECT_EQ(table.Numbers("root_z")[i], state[0].position.z());
    EXPECT_EQ(table.Numbers("root_qw")[i], state[0].orientation.w());
    EXPECT_EQ(table.Numbers("left_shoulder_x")[i], RotationVector(JointRotation(character.joints[0], state)).x());
    EXPECT_EQ(table.Numbers("com_z")[i], CenterOfMass(character, state).z());
    EXPECT_DOUBLE_EQ(table.Numbers("com_vx")[i], 0.5);
    EXPECT_DOUBLE_EQ(table.Numbers("com_vz")[i], -0.25);
  }
  EXPECT_NEAR(table.Numbers("left_shoulder_x")[2], 0.5 * std::sin(0.2), 1e-15);
}

TEST(Trajectory, ForceIsTheGroundsAndZeroAtTheStart) {
  const auto character = SmallCharacter();
  const Table table = ParseTable(FormatTrajectory(character, SmallTrajectory(character)), "t.csv");
  EXPECT_THAT(table.Numbers("force_x"), ElementsAre(0, 1.5, 0));
  EXPECT_THAT(table.Numbers("force_y"), ElementsAre(0, 30 + 19.05, 0));
  EXPECT_THAT(table.Numbers("force_z"), ElementsAre(0, -2, 0));
}

TEST(Trajectory, EndsWithTheFingerprintOfTheWholeState) {
  const auto character = SmallCharacter();
  auto trajectory = SmallTrajectory(character);
  const auto before = ParseTable(FormatTrajectory(character, trajectory), "t.csv").Text("state");
  for (size_t i = 0; i < 3; ++i) {
    char expected[17];
    std::snprintf(expected, sizeof expected, "%016llx",
                  static_cast<unsigned long long>(control::Fingerprint(trajectory.states[i])));
    EXPECT_EQ(before[i], expected);
    EXPECT_TRUE(std::regex_match(before[i], std::regex("[0-9a-f]{16}")));
  }
  // A spin shows in no other column.
  trajectory.states[1][2].angular_velocity.x() = std::nextafter(0.0, 1.0);
  const auto after = ParseTable(FormatTrajectory(character, trajectory), "t.csv").Text("state");
  EXPECT_EQ(after[0], before[0]);
  EXPECT_NE(after[1], before[1]);
  EXPECT_EQ(after[2], before[2]);
}

TEST(Trajectory, RefusesOneThatWasNotRecorded) {
  const auto character = SmallCharacter();
  auto trajectory = SmallTrajectory(character);
  trajectory.contacts.pop_back();
  trajectory.torques.pop_back();
  EXPECT_THROW(FormatTrajectory(character, trajectory), std::invalid_argument);
  EXPECT_THROW(FormatContacts(character, trajectory), std::invalid_argument);
  EXPECT_THROW(FormatTorques(character, trajectory), std::invalid_argument);
}

TEST(Contacts, ListThoseThatCarryForce) {
  const auto character = SmallCharacter();
  EXPECT_EQ(FormatContacts(character, SmallTrajectory(character)),
            "time,body,other,x,y,z,force_x,force_y,force_z\n"
            "0.01,trunk,ground,0.1,0,0.2,1,30,-2\n"
            "0.01,left_arm,ground,-0.1,0,0.25,0.5,19.05,0\n"
            "0.01,trunk,left_arm,0.2,1,0,-7,0,0\n");
}

TEST(Contacts, QuoteNamesThatNeedIt) {
  auto character = SmallCharacter();
  character.bodies[0].name = "a \"strange\", name";
  const std::string text = FormatContacts(character, SmallTrajectory(character));
  EXPECT_THAT(text, HasSubstr("0.01,\"a \"\"strange\"\", name\",ground,"));
  EXPECT_EQ(ParseTable(text, "t.csv").Text("body")[0], character.bodies[0].name);
}

TEST(Torques, OneColumnPerAxis) {
  const auto character = SmallCharacter();
  EXPECT_EQ(FormatTorques(character, SmallTrajectory(character)),
            "time,left_shoulder_x,neck_x,neck_y,neck_z\n"
            "0.01,3.5,0.1,-0.2,1e-20\n"
            "0.02,-1,0,0.3333333333333333,0\n");
}

TEST(Samples, AreSortedByFragmentThenSample) {
  const SampleCost good{7, 2, {0.5, 1.0 / 3}, {2.5, 10.0 / 3}, 5.8333333333, false, true, true};
  const SampleCost bad{3, 0, {0, 0}, {0, 0}, std::numeric_limits<double>::infinity(), true, false, false};
  EXPECT_EQ(FormatSamples({{"pose", "smoothness"},
                           {{1, 0, 0.1, 0.2, {good, bad}}, {0, 1, 0, 0.1, {bad}}, {0, 0, 0, 0.1, {bad}}}}),
            "fragment,attempt,start_time,end_time,sample,start,pose,smoothness,weighted_pose,weighted_smoothness,"
            "total,diverged,saved,chosen\n"
            "0,0,0,0.1,3,0,0,0,0,0,inf,1,0,0\n"
            "0,1,0,0.1,3,0,0,0,0,0,inf,1,0,0\n"
            "1,0,0.1,0.2,3,0,0,0,0,0,inf,1,0,0\n"
            "1,0,0.1,0.2,7,2,0.5,0.3333333,2.5,3.333333,5.833333,0,1,1\n");
  EXPECT_THROW(FormatSamples({{"pose"}, {{1, 0, 0.1, 0.2, {good}}}}), std::invalid_argument);
}

/// An iteration with a chosen sample, and one that diverged as a whole.
CostTable TwoIterations() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  IterationCosts lost;
  lost.fragment = 1;
  lost.iteration = 4;
  lost.start_time = 0.1;
  lost.end_time = 0.2;
  lost.samples = lost.diverged = 2;
  lost.drawn_costs = lost.saved_costs = {kNone, kNone, kNone, kNone, kNone};
  IterationCosts drawn = lost;
  drawn.fragment = 0;
  drawn.attempt = 2;
  drawn.iteration = 7;
  drawn.refinement = true;
  drawn.samples = 200;
  drawn.diverged = 3;
  drawn.inside_gates = 190;
  drawn.saved = 50;
  drawn.drawn_costs = {1, 1.0 / 3, 2, 2.5, 40};
  drawn.saved_costs = {1, 1.25, 1.5, 1.75, 2};
  drawn.chosen = SampleCost{7, 2, {0.5, 1.0 / 3}, {2.5, 10.0 / 3}, 5.8333333333, false, true, true};
  return {{"pose", "smoothness"}, {lost, drawn}};
}

TEST(Costs, HaveARowForEachIteration) {
  EXPECT_EQ(FormatCosts(TwoIterations()),
            "fragment,attempt,iteration,start_time,end_time,refinement,samples,diverged,inside_gates,saved,"
            "drawn_least,drawn_first_quartile,drawn_median,drawn_third_quartile,drawn_most,"
            "saved_least,saved_first_quartile,saved_median,saved_third_quartile,saved_most,"
            "chosen,start,pose,smoothness,weighted_pose,weighted_smoothness,total\n"
            "0,2,7,0.1,0.2,1,200,3,190,50,1,0.3333333,2,2.5,40,1,1.25,1.5,1.75,2,7,2,0.5,0.3333333,2.5,3.333333,"
            "5.833333\n"
            "1,0,4,0.1,0.2,0,2,2,0,0,,,,,,,,,,,,,,,,,\n");
  CostTable fewer = TwoIterations();
  fewer.terms.pop_back();
  EXPECT_THROW(FormatCosts(fewer), std::invalid_argument);
}

TEST(ReadCosts, ReadsWhatWasWritten) {
  const std::string path = testing::TempDir() + "retrace_costs.csv";
  const std::string text = FormatCosts(TwoIterations());
  io::WriteFile(path, text);
  const CostTable costs = ReadCosts(path);
  EXPECT_EQ(FormatCosts(costs), text);
  ASSERT_EQ(costs.iterations.size(), 2u);
  EXPECT_TRUE(costs.iterations[0].refinement);
  ASSERT_TRUE(costs.iterations[0].chosen.has_value());
  EXPECT_EQ(costs.iterations[0].chosen->start, 2);
  EXPECT_FALSE(costs.iterations[1].chosen.has_value());
  io::WriteFile(path, "time,total\n0,1\n");
  try {
    ReadCosts(path);
    FAIL() << "a table of something else";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no column \"fragment\""));
  }
  std::filesystem::remove(path);
}

TEST(Samples, HaveARowForEachOfNinetyThousand) {
  SampleTable costs{{"pose", "root", "end_effector", "balance", "drift"}, {}};
  for (int f = 0; f < 45; ++f) {
    FragmentSamples& fragment = costs.fragments.emplace_back(FragmentSamples{f, 0, 0.1 * f, 0.1 * (f + 1), {}});
    for (int s = 1999; s >= 0; --s) {
      const double c = 1 / (1.0 + s + f);
      fragment.samples.push_back(
          {s, s % 200, {c, 2 * c, 3 * c, 4 * c, 5 * c}, {c, c, c, c, c}, 5 * c, false, false, false});
    }
  }
  const std::string text = FormatSamples(costs);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 90001);
}

/// A file of an earlier version, which had a row per sample and no column for the smoothness.
TEST(ReadCosts, PutsSamplesOfAnEarlierVersionTogether) {
  const std::string path = testing::TempDir() + "retrace_old_costs.csv";
  io::WriteFile(path,
                "fragment,attempt,start_time,end_time,sample,start,pose,root,end_effector,balance,drift,weighted_pose,"
                "weighted_root,weighted_end_effector,weighted_balance,weighted_drift,total,diverged,saved,chosen\n"
                "0,0,0,0.1,3,0,0,0,0,0,0,0,0,0,0,0,inf,1,0,0\n"
                "0,1,0,0.1,6,2,0,0,0,0,0,0,0,0,0,0,24,0,0,0\n"
                "0,1,0,0.1,7,2,0.5,0.25,0.125,0,0.5,2.5,0.75,3.75,0,1,8,0,1,1\n");
  const CostTable costs = ReadCosts(path);
  std::filesystem::remove(path);
  EXPECT_THAT(costs.terms, ElementsAre("pose", "root", "end_effector", "balance", "drift"));
  ASSERT_EQ(costs.iterations.size(), 2u);
  EXPECT_EQ(costs.iterations[0].diverged, 1);
  EXPECT_FALSE(costs.iterations[0].chosen.has_value());
  EXPECT_TRUE(std::isnan(costs.iterations[0].drawn_costs.median));
  const IterationCosts& drawn = costs.iterations[1];
  EXPECT_EQ(drawn.attempt, 1);
  EXPECT_EQ(drawn.samples, 2);
  EXPECT_EQ(drawn.saved, 1);
  EXPECT_EQ(drawn.drawn_costs.least, 8);
  EXPECT_EQ(drawn.drawn_costs.median, 16);
  EXPECT_EQ(drawn.drawn_costs.most, 24);
  EXPECT_EQ(drawn.saved_costs.most, 8);
  ASSERT_TRUE(drawn.chosen.has_value());
  EXPECT_EQ(drawn.chosen->sample, 7);
  EXPECT_THAT(drawn.chosen->terms, ElementsAre(0.5, 0.25, 0.125, 0, 0.5));
  EXPECT_THAT(drawn.chosen->weighted, ElementsAre(2.5, 0.75, 3.75, 0, 1));
  EXPECT_EQ(drawn.chosen->total, 8);
}

TEST(ReadTable, AcceptsWhatOtherProgramsWrite) {
  const Table table = ParseTable(
      "\xEF\xBB\xBF"
      "a,\"b \"\"c\"\"\"\r\n1,\"two\r\nlines, one cell\"\r\n-2.5e3,",
      "t.csv");
  EXPECT_THAT(table.names(), ElementsAre("a", "b \"c\""));
  EXPECT_THAT(table.Numbers("a"), ElementsAre(1, -2500));
  EXPECT_THAT(table.Text("b \"c\""), ElementsAre("two\r\nlines, one cell", ""));
  EXPECT_TRUE(table.Has("a"));
  EXPECT_FALSE(table.Has("c"));
}

TEST(ReadTable, KeepsNumbersThatAreNotFinite) {
  const auto numbers = ParseTable("a\ninf\n-inf\nnan\n", "t.csv").Numbers("a");
  EXPECT_EQ(numbers[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(numbers[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(numbers[2]));
}

TEST(ReadTable, AHeaderAloneIsATableWithoutRows) {
  EXPECT_EQ(ParseTable("a,b\n", "t.csv").num_rows(), 0u);
  EXPECT_EQ(ParseTable("a,b", "t.csv").Numbers("b").size(), 0u);
}

TEST(ReadTable, SaysWhereATextIsNoTable) {
  EXPECT_EQ(ErrorOf(""), "t.csv:1:1: found an empty file, expected a row of column names");
  EXPECT_EQ(ErrorOf("a,,c\n"), "t.csv:1:3: found an empty cell, expected the name of a column");
  EXPECT_EQ(ErrorOf("a,b,a\n"), "t.csv:1:5: found a second column \"a\", expected names that differ");
  EXPECT_EQ(ErrorOf("a,b\n1,2\n3\n"), "t.csv:3:2: found the end of the row after 1 cell, expected 2 cells");
  EXPECT_EQ(ErrorOf("a,b\n1,2,3\n"), "t.csv:2:5: found more than 2 cells, expected 2 cells");
  EXPECT_EQ(ErrorOf("a,b\n1,2\"\n"),
            "t.csv:2:4: found a quotation mark inside a cell, expected the whole cell in quotation marks");
  EXPECT_EQ(ErrorOf("a,b\n1,\"2\"3\n"), "t.csv:2:6: found \"3\" after a quoted cell, expected a comma or a line end");
  EXPECT_EQ(ErrorOf("a,b\n1,\"2\n3\n"),
            "t.csv:2:3: found a quotation mark that is never closed, expected another one at the end of the cell");
}

TEST(ReadTable, SaysWhichCellIsNoNumber) {
  const Table table = ParseTable("a,b\n1,\"x\ny\"\n22,1.5m\n", "t.csv");
  try {
    table.Numbers("b");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "t.csv:2:3: found \"x\\ny\", expected a number in the column \"b\"");
  }
  try {
    ParseTable("a,b\n1,\"2\n\"\n22,1.5m\n", "t.csv").Text("c");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("t.csv:1:1: found no column \"c\""));
  }
  // Lines inside cells count.
  try {
    ParseTable("a,b\n\"1\n\",2\n22,1.5m\n", "t.csv").Numbers("b");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "t.csv:4:4: found \"1.5m\", expected a number in the column \"b\"");
  }
}

TEST(ReadTable, NamesAFileThatIsNotThere) {
  EXPECT_THROW(ReadTable("/nonexistent/table.csv"), InputError);
}

}  // namespace
}  // namespace retrace::results
