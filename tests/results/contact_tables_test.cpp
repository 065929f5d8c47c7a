/// Contact loads, centers of pressure and pressure maps: by hand, as laws over random contacts, and of simulations.
#include "retrace/results/contact_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "results/sample_motion.h"
#include "retrace/math/random.h"
#include "retrace/recordings/bvh.h"
#include "retrace/results/tables.h"
#include "retrace/retargeting/reference.h"

namespace retrace::results {
namespace {

using character::Character;
using control::Trajectory;
using simulation::Contact;
using testing::ElementsAre;

Contact OnGround(int body, const Vec3& point, const Vec3& force) {
  Contact contact;
  contact.body = body;
  contact.point = point;
  contact.force = force;
  return contact;
}

/// The trunk (0.3 x 0.6 x 0.2 m about 0, 1, 0) for some steps of 1/100 s, without contacts.
std::vector<ContactSummary> Summarize(const ContactHistory& history) {
  ContactSummarizer summarizer;
  summarizer.Add(history);
  return summarizer.Summaries();
}

Trajectory Still(const Character& character, int steps) {
  return Glide(character, steps, Vec3::Zero());
}

std::string ErrorOf(const Character& character, const Trajectory& trajectory) {
  try {
    TraceContacts(character, trajectory);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(ContactLoads, AreSumsAndMeansOfTheContactPoints) {
  const Character character = SmallCharacter();
  Trajectory trajectory = Still(character, 2);
  trajectory.contacts[0] = {OnGround(0, Vec3(0.1, 0.7, 0.05), Vec3(3, 30, -4)),
                            OnGround(0, Vec3(-0.1, 0.7, 0.05), Vec3(3, 10, 4)),
                            OnGround(1, Vec3(0.25, 0.75, 0), Vec3(0, 5, 0)),
                            OnGround(2, Vec3(0, 1.4, 0), Vec3(0, 0, 0))};  // a touch without force
  trajectory.contacts[0].push_back(OnGround(0, Vec3(0.15, 1, 0), Vec3(-9, 0, 0)));
  trajectory.contacts[0].back().other = 1;  // between two bodies: not from outside
  const ContactHistory history = TraceContacts(character, trajectory);
  ASSERT_EQ(history.loads.size(), 2u);
  const ContactLoad& trunk = history.loads[0][0];
  EXPECT_EQ(trunk.points, 2);
  EXPECT_DOUBLE_EQ(trunk.normal_force, 40);
  EXPECT_LT((trunk.tangential_force - Vec3(6, 0, 0)).norm(), 1e-12);
  EXPECT_LT((trunk.center - Vec3(0.05, 0.7, 0.05)).norm(), 1e-12);
  EXPECT_LT((trunk.center_in_body - Vec3(0.05, -0.3, 0.05)).norm(), 1e-12);
  EXPECT_EQ(history.loads[0][2].points, 0);
  EXPECT_EQ(history.totals[0].points, 3);
  EXPECT_DOUBLE_EQ(history.totals[0].normal_force, 45);
  EXPECT_EQ(history.totals[1].points, 0);
  EXPECT_EQ(history.totals[1].mean_pressure(), 0);
  EXPECT_EQ(ParseTable(FormatBodyContacts(character, history), "t").Text("body"),
            (std::vector<std::string>{"trunk", "left_arm"}));
  const Table totals = ParseTable(FormatContactTotals(history), "t");
  EXPECT_THAT(totals.Numbers("time"), ElementsAre(0.01, 0.02));
  EXPECT_THAT(totals.Numbers("bodies"), ElementsAre(2, 0));
  EXPECT_THAT(totals.Numbers("force_per_point"), ElementsAre(15, 0));
}

TEST(ContactLoads, NormalAndTangentFollowTheContactsNormal) {
  const Character character = SmallCharacter();
  Trajectory trajectory = Still(character, 1);
  Contact contact = OnGround(0, Vec3(0.15, 1, 0), Vec3(-10, 2, 0));  // a wall on the left
  contact.normal = -Vec3::UnitX();
  trajectory.contacts[0] = {contact};
  const ContactHistory history = TraceContacts(character, trajectory);
  EXPECT_DOUBLE_EQ(history.loads[0][0].normal_force, 10);
  EXPECT_LT((history.loads[0][0].tangential_force - Vec3(0, 2, 0)).norm(), 1e-12);
  for (const PressureCell& cell : history.cells[0]) EXPECT_STREQ(FaceName(cell.face), "left");
}

TEST(PressureMap, LiesOnTheFaceThatIsTurnedToTheGround) {
  const Character character = SmallCharacter();
  const std::vector<std::pair<std::string, Quat>> turns = {
      {"bottom", Quat::Identity()},    {"top", AxisRotation(0, 3.0)},   {"front", AxisRotation(0, 1.5)},
      {"back", AxisRotation(0, -1.5)}, {"left", AxisRotation(2, -1.5)}, {"right", AxisRotation(2, 1.5)}};
  for (const auto& [face, turn] : turns) {
    Trajectory trajectory = Still(character, 1);
    trajectory.states[0][0].orientation = turn;
    trajectory.contacts[0] = {OnGround(0, Vec3(0, 0.7, 0), Vec3(0, 1, 0))};
    const ContactHistory history = TraceContacts(character, trajectory);
    ASSERT_FALSE(history.cells[0].empty());
    for (const PressureCell& cell : history.cells[0]) EXPECT_EQ(FaceName(cell.face), face);
  }
}

/// Found by scripts/check/attack: the map of a pelvis of 170 m took 570 MB.
TEST(PressureMap, OfAHugeBodyHasFewCells) {
  Character character = SmallCharacter();
  character.bodies[0].shapes[0].size = Vec3(170, 0.6, 170);
  Trajectory trajectory = Still(character, 1);
  trajectory.contacts[0] = {OnGround(0, Vec3(80, 0.7, -80), Vec3(0, 12, 0))};
  const ContactHistory history = TraceContacts(character, trajectory);
  ASSERT_FALSE(history.cells[0].empty());
  for (const PressureCell& cell : history.cells[0]) {
    EXPECT_LT(cell.index, kMostCells * kMostCells);
    EXPECT_NEAR(cell.area, 0.34 * 0.34, 1e-9);
  }
}

/// Found by scripts/check/attack: with a cell of 17 m every weight of the Gaussian was zero, and the pressure not a
/// number.
TEST(PressureMap, OfAHugeBodyIsOnTheCellOfThePoint) {
  Character character = SmallCharacter();
  character.bodies[0].shapes[0].size = Vec3(1e4, 0.6, 1e4);
  Trajectory trajectory = Still(character, 1);
  trajectory.contacts[0] = {OnGround(0, Vec3(80, 0.7, -80), Vec3(0, 12, 0))};
  const ContactHistory history = TraceContacts(character, trajectory);
  ASSERT_EQ(history.cells[0].size(), 1u);
  EXPECT_NEAR(history.cells[0][0].pressure * history.cells[0][0].area, 12, 1e-9);
}

TEST(PressureMap, IsAGaussianAboutThePoint) {
  const Character character = SmallCharacter();
  Trajectory trajectory = Still(character, 1);
  trajectory.contacts[0] = {OnGround(0, Vec3(0.02, 0.7, 0.01), Vec3(0, 12, 0))};
  PressureOptions options;
  options.reach = 0.041;
  const ContactHistory history = TraceContacts(character, trajectory, options);
  // 15 x 10 cells of 2 cm; the point is at the center of one. 13 centers lie within the reach.
  ASSERT_EQ(history.cells[0].size(), 13u);
  double peak = 0;
  for (const PressureCell& cell : history.cells[0]) {
    EXPECT_NEAR(cell.area, 4e-4, 1e-15);
    EXPECT_NEAR(cell.center.y(), -0.3, 1e-12);
    peak = std::max(peak, cell.pressure);
  }
  for (const PressureCell& cell : history.cells[0]) {
    const double squared = (cell.center - Vec3(0.02, -0.3, 0.01)).squaredNorm();
    EXPECT_LE(squared, 0.041 * 0.041);
    EXPECT_NEAR(cell.pressure, peak * std::exp(-0.5 * squared / 4e-4), 1e-9 * peak);
  }
}

/// Contacts anywhere on and around the bodies, with any orientation, of any size.
Trajectory AnyContacts(const Character& character, RandomStream& random) {
  Trajectory trajectory = Still(character, 7);
  for (size_t i = 0; i < trajectory.num_steps(); ++i) {
    for (auto& body : trajectory.states[i]) {
      body.orientation = FromRotationVector(Vec3(random.Uniform(-2, 2), random.Uniform(-2, 2), random.Uniform(-2, 2)));
    }
    const int count = static_cast<int>(random.Uniform(0, 9));
    for (int c = 0; c < count; ++c) {
      const int body = static_cast<int>(random.Uniform(0, 2.999));
      const Vec3 arm(random.Uniform(-0.4, 0.4), random.Uniform(-0.4, 0.4), random.Uniform(-0.4, 0.4));
      const Vec3 point = trajectory.states[i][static_cast<size_t>(body)].position + arm;
      trajectory.contacts[i].push_back(OnGround(
          body, point, Vec3(random.Uniform(-9, 9), std::pow(10, random.Uniform(-3, 4)), random.Uniform(-9, 9))));
    }
  }
  return trajectory;
}

RC_GTEST_PROP(PressureMapProperty, SumsUpToTheNormalForceOfEachBody, (uint32_t seed)) {
  const Character character = SmallCharacter();
  RandomStream random(seed, RandomStage::kTest, 0, 0);
  const Trajectory trajectory = AnyContacts(character, random);
  PressureOptions options;
  options.cell = std::pow(10, random.Uniform(-2.5, 0));  // cells larger than the reach too
  const ContactHistory history = TraceContacts(character, trajectory, options);
  for (size_t i = 0; i < history.loads.size(); ++i) {
    std::map<int, double> sums;
    for (const PressureCell& cell : history.cells[i]) sums[cell.body] += cell.area * cell.pressure;
    for (size_t b = 0; b < history.loads[i].size(); ++b) {
      const double force = history.loads[i][b].normal_force;
      RC_ASSERT(std::abs(sums[static_cast<int>(b)] - force) <= 1e-12 * force);
    }
  }
}

RC_GTEST_PROP(PressureMapProperty, TheTableHoldsTheImpulseOfEachFrame, (uint32_t seed)) {
  const Character character = SmallCharacter();
  RandomStream random(seed, RandomStage::kTest, 1, 0);
  const Trajectory trajectory = AnyContacts(character, random);
  PressureOptions options;
  options.frame_time = 0.03;  // three steps; the last frame has one
  const ContactHistory history = TraceContacts(character, trajectory, options);
  RC_ASSERT(history.steps_per_frame == 3);
  const Table table = ParseTable(FormatPressure(character, history), "t");
  std::map<std::string, double> impulses;  // by time and body
  for (size_t row = 0; row < table.num_rows(); ++row) {
    impulses[table.Text("time")[row] + table.Text("body")[row]] +=
        table.Numbers("area")[row] * table.Numbers("pressure")[row];
  }
  for (size_t b = 0; b < 3; ++b) {
    for (const auto& [first, last, time] : {std::tuple(0, 2, "0.03"), {3, 5, "0.06"}, {6, 6, "0.07"}}) {
      double sum = 0;
      for (int i = first; i <= last; ++i) sum += history.loads[static_cast<size_t>(i)][b].normal_force;
      const double mean = sum / (last - first + 1);
      RC_ASSERT(std::abs(impulses[time + character.bodies[b].name] - mean) <= 1e-6 * mean);
    }
  }
}

TEST(PressureMap, CanBeOfChosenBodies) {
  const Character character = SmallCharacter();
  Trajectory trajectory = Still(character, 1);
  trajectory.contacts[0] = {OnGround(0, Vec3(0, 0.7, 0), Vec3(0, 1, 0)),
                            OnGround(1, Vec3(0.25, 0.75, 0), Vec3(0, 1, 0))};
  const ContactHistory history = TraceContacts(character, trajectory);
  const Table arm = ParseTable(FormatPressure(character, history, {1}), "t");
  EXPECT_GT(arm.num_rows(), 0u);
  for (const std::string& body : arm.Text("body")) EXPECT_EQ(body, "left_arm");
  EXPECT_GT(ParseTable(FormatPressure(character, history), "t").num_rows(), arm.num_rows());
}

TEST(ContactSummaryTable, IsOfTheStepsInContact) {
  const Character character = SmallCharacter();
  Trajectory trajectory = Still(character, 6);
  const Vec3 sole(0, 0.7, 0);
  trajectory.contacts[1] = {OnGround(0, sole, Vec3(0, 10, 0))};
  trajectory.contacts[2] = {OnGround(0, sole, Vec3(0, 20, 0)), OnGround(0, sole, Vec3(0, 30, 0))};
  trajectory.contacts[4] = {OnGround(0, sole, Vec3(0, 40, 0))};
  const auto summaries = Summarize(TraceContacts(character, trajectory));
  ASSERT_EQ(summaries.size(), 2u) << "only what is pressed on, and all";
  const ContactSummary& trunk = summaries[0];
  EXPECT_EQ(trunk.body, 0);
  EXPECT_DOUBLE_EQ(trunk.first_contact, 0.02);
  EXPECT_DOUBLE_EQ(trunk.last_contact, 0.05);
  EXPECT_DOUBLE_EQ(trunk.contact_time, 0.03);
  EXPECT_DOUBLE_EQ(trunk.peak_force, 50);
  EXPECT_DOUBLE_EQ(trunk.peak_time, 0.03);
  EXPECT_DOUBLE_EQ(trunk.impulse, 1.0);
  EXPECT_DOUBLE_EQ(trunk.impulse_time, (0.1 * 0.02 + 0.5 * 0.03 + 0.4 * 0.05) / 1.0);
  EXPECT_DOUBLE_EQ(trunk.mean_points, 4.0 / 3);
  EXPECT_DOUBLE_EQ(trunk.force_per_point, 25);
  EXPECT_EQ(summaries[1].body, -1);
  EXPECT_DOUBLE_EQ(summaries[1].impulse, trunk.impulse);
  const Table table = ParseTable(FormatContactSummary(character, Summarize(TraceContacts(character, trajectory))), "t");
  EXPECT_THAT(table.Text("body"), ElementsAre("trunk", "all"));
  EXPECT_THAT(table.Numbers("peak_force"), ElementsAre(50, 50));
}

TEST(ContactTables, OfNothingAreHeadersAndARowForAll) {
  const Character character = SmallCharacter();
  const ContactHistory history = TraceContacts(character, Still(character, 0));
  EXPECT_EQ(ParseTable(FormatBodyContacts(character, history), "t").num_rows(), 0u);
  EXPECT_EQ(ParseTable(FormatPressure(character, history), "t").num_rows(), 0u);
  EXPECT_THAT(ParseTable(FormatContactSummary(character, Summarize(history)), "t").Numbers("impulse"), ElementsAre(0));
}

TEST(ContactTables, NeedTheContactsOfEveryStep) {
  const Character character = SmallCharacter();
  Trajectory trajectory = Still(character, 3);
  trajectory.contacts.pop_back();
  EXPECT_EQ(ErrorOf(character, trajectory), "a trajectory without the contacts of every step");
}

// ---- simulations

/// The human driven at the poses of a clip, open loop, in a world, from `lift` over where the clip starts [m].
ContactHistory Track(const Character& human, const std::string& clip_name, const simulation::WorldOptions& world,
                     double lift = 0) {
  const std::string file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/" + clip_name;
  character::ReferenceReport report;
  const character::ReferenceMotion reference = character::MakeReference(human, motion::ReadBvh(file), file, {}, report);
  control::OpenLoopControl control;
  control.world = world;
  reference.StateAt(0, control.start);
  for (character::BodyState& body : control.start) body.position.y() += lift;
  const int steps = static_cast<int>(0.1 / world.time_step + 0.5);
  for (int f = 0; 0.1 * (f + 1) <= reference.duration(); ++f) {
    character::Pose pose;
    reference.PoseAt(0.1 * (f + 1), pose);
    control.fragments.push_back({f * steps, steps, {pose.joint_rotations}});
  }
  const Trajectory trajectory = control::Replay(human, control);
  EXPECT_FALSE(trajectory.diverged);
  return TraceContacts(human, trajectory);
}

Character Human() {
  return character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/human.json");
}

TEST(InsideView, AStandingBodyIsCarriedThroughItsSoles) {
  const Character human = Human();
  const ContactHistory history = Track(human, "stand.bvh", {});
  // Centered over the feet while it has not yet begun to fall.
  double force = 0;
  const size_t steps = 120;
  for (size_t i = 120; i < 120 + steps; ++i) force += history.totals[i].normal_force / static_cast<double>(steps);
  EXPECT_NEAR(force, human.total_mass() * 9.81, 0.05 * human.total_mass() * 9.81);
  for (const PressureCell& cell : history.cells[200]) {
    EXPECT_THAT(human.bodies[static_cast<size_t>(cell.body)].name, testing::HasSubstr("foot"));
    EXPECT_STREQ(FaceName(cell.face), "bottom");
  }
}

/// A roll on a shipped world's ground, the mean over starts that differ by millimeters: their spread is below 1 %.
ContactSummary Roll(const std::string& world) {
  const Character human = Human();
  simulation::WorldOptions options;
  if (!world.empty()) {
    const std::string file = std::string(RETRACE_SOURCE_DIR) + "/data/worlds/" + world + ".json";
    const io::Json document = io::ReadJson(file);
    options.environment = simulation::ReadEnvironment(io::JsonView(document, file)["environment"]);
  }
  constexpr int kStarts = 4;
  ContactSummary mean;
  for (int i = 0; i < kStarts; ++i) {
    const ContactSummary roll = Summarize(Track(human, "roll_sideways.bvh", options, 0.002 * i)).back();
    mean.mean_points += roll.mean_points / kStarts;
    mean.force_per_point += roll.force_per_point / kStarts;
    mean.mean_pressure += roll.mean_pressure / kStarts;
    mean.impulse_time += roll.impulse_time / kStarts;
  }
  return mean;
}

/// Figure 6 of the paper: on its springy crash pad a roll has more contact points of less pressure each, a little
/// later. With its numbers in its own steps (the mat) the pad is so stiff that nothing is later; in steps of 1/240 s it
/// is.
TEST(InsideView, RollingOnSoftMaterialShowsMoreContactPointsOfLessPressureLater) {
  const ContactSummary floor = Roll("");
  const ContactSummary mat = Roll("mat");
  const ContactSummary pad = Roll("crash_pad");
  // Floor, mat and pad: 6.0, 6.2 and 8.6 points of 104, 99 and 71 N at 51, 47 and 23 kPa; the pad 3 ms later.
  EXPECT_GT(mat.mean_points, 1.03 * floor.mean_points);
  EXPECT_LT(mat.force_per_point, 0.97 * floor.force_per_point);
  EXPECT_LT(mat.mean_pressure, 0.95 * floor.mean_pressure);
  EXPECT_GT(pad.mean_points, 1.2 * mat.mean_points);
  EXPECT_LT(pad.force_per_point, 0.8 * mat.force_per_point);
  EXPECT_LT(pad.mean_pressure, 0.8 * mat.mean_pressure);
  EXPECT_GT(pad.impulse_time, floor.impulse_time + 0.002);
}

}  // namespace
}  // namespace retrace::results
