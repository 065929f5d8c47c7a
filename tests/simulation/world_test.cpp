/// What the world promises apart from its mechanics: options, contact scales, self collision, divergence, recording.
#include "retrace/simulation/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"
#include "retrace/simulation/solver_proof.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

using character::Character;
using character::State;
using testing::HasSubstr;

// ---- options

io::Json Unusual() {
  WorldOptions options;
  options.time_step = 0.001;
  options.servo = Servo::kExplicit;
  options.solver = Solver::kStock;
  options.gravity = 1.62;
  options.friction = 0.3;
  options.contact_stiffness = 1e6;
  options.contact_damping = 1e3;
  options.contact_correcting_velocity = 0.25;
  options.joint_correction = 100;
  options.self_collision = false;
  options.speculative_contacts = false;
  options.ground_points_per_shape = 8;
  options.self_points_per_pair = 1;
  options.contact_scale = {1, 3.5};
  return options.ToJson();
}

WorldOptions Read(const io::Json& json, size_t num_joints = 2) {
  return ReadWorldOptions(io::JsonView(json, "world.json"), num_joints);
}

std::string Refusal(const io::Json& json, size_t num_joints = 2) {
  try {
    Read(json, num_joints);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(WorldOptions, ReadBackWhatTheyWrote) {
  const io::Json unusual = Unusual();
  EXPECT_EQ(Read(unusual).ToJson(), unusual);
  const io::Json usual = WorldOptions().ToJson();
  EXPECT_EQ(Read(usual).ToJson(), usual);
  for (const auto& [key, value] : usual.items()) EXPECT_NE(value, unusual[key]) << key << " is not tested";
}

TEST(WorldOptions, RefuseEveryMissingAndEveryUnknownKey) {
  const io::Json unusual = Unusual();
  for (const auto& [key, value] : unusual.items()) {
    io::Json json = unusual;
    json.erase(key);
    EXPECT_THAT(Refusal(json), HasSubstr("no \"" + key + "\""));
    json[key + "s"] = value;
    EXPECT_THAT(Refusal(json), HasSubstr("world.json: /" + key + "s: found the key \"" + key + "s\""));
  }
}

TEST(WorldOptions, RefuseEveryBadValueWithItsPointer) {
  const std::vector<std::pair<std::string, io::Json>> bad = {{"time_step", 0},
                                                             {"time_step", -0.01},
                                                             {"time_step", 0.2},
                                                             {"time_step", "fast"},
                                                             {"servo", "pd"},
                                                             {"servo", 1},
                                                             {"solver", "best"},
                                                             {"gravity", nullptr},
                                                             {"friction", -0.1},
                                                             {"contact_stiffness", 0},
                                                             {"contact_damping", -1},
                                                             {"contact_correcting_velocity", 0},
                                                             {"joint_correction", -1},
                                                             {"self_collision", 1},
                                                             {"speculative_contacts", "yes"},
                                                             {"ground_points_per_shape", 0},
                                                             {"ground_points_per_shape", 9},
                                                             {"self_points_per_pair", 1.5},
                                                             {"contact_scale", io::Json::array({1, 2, 3})},
                                                             {"contact_scale", 3}};
  for (const auto& [key, value] : bad) {
    io::Json json = Unusual();
    json[key] = value;
    EXPECT_THAT(Refusal(json), HasSubstr("world.json: /" + key + ": found ")) << value;
  }
  io::Json json = Unusual();
  json["contact_scale"] = {1, 0};
  EXPECT_THAT(Refusal(json), HasSubstr("world.json: /contact_scale/1: found 0"));
  json["contact_scale"] = io::Json::array();
  EXPECT_EQ(Refusal(json), "not refused");
}

// ---- contact scale

/// Torques of the first explicit step from a state at rest, with the targets away from it.
std::vector<Vec3> FirstTorques(const Character& human, const State& start, const std::string& preset) {
  WorldOptions options;
  options.servo = Servo::kExplicit;
  options.time_step = 0.0005;
  options.contact_scale = human.contact_presets.at(preset);
  World world(human, options);
  world.set_recording(true);
  world.SetState(start);
  EXPECT_TRUE(world.Step(SwayingTargets(human, 0.1, 0.1)));
  return world.torques();
}

/// Joints whose torques are `factor` times those without contact scales; all others must have the same torques.
std::vector<std::string> Scaled(const Character& human, const State& start, const std::string& preset, double factor) {
  const std::vector<Vec3> scaled = FirstTorques(human, start, preset);
  const std::vector<Vec3> plain = FirstTorques(human, start, "none");
  std::vector<std::string> names;
  for (size_t j = 0; j < plain.size(); ++j) {
    EXPECT_GT(plain[j].norm(), 0);
    if (scaled[j] == plain[j]) continue;
    names.push_back(human.joints[j].name);
    EXPECT_LT((scaled[j] - factor * plain[j]).norm(), 1e-9 * plain[j].norm()) << human.joints[j].name;
  }
  return names;
}

TEST(ContactScale, ActsOnJointsWhileWhatIsBeyondThemTouchesTheGround) {
  const Character human = Human();
  State state = StateOf(human, RestPose(human));
  character::Translate(state, Vec3(0, -1e-5, 0));
  EXPECT_THAT(Scaled(human, state, "flight", 5), testing::ElementsAre("left_ankle", "right_ankle"));
  EXPECT_THAT(Scaled(human, state, "hands", 3), testing::IsEmpty());
  character::Translate(state, Vec3(0, 1e-3, 0));
  EXPECT_THAT(Scaled(human, state, "hands_and_flight", 5), testing::IsEmpty());
}

TEST(ContactScale, ActsAllAlongALimbThatStandsOnItsTip) {
  const Character human = Human();
  // On one side: the left hand touches first, the shoulder and the elbow carry it too.
  character::Pose pose = RestPose(human);
  pose.root_orientation = AxisRotation(2, -kPi / 2);
  State state = StateOf(human, pose);
  const int hand = human.FindBody("left_hand");
  character::Translate(
      state,
      Vec3(0, -LowestPoint(human.bodies[static_cast<size_t>(hand)], state[static_cast<size_t>(hand)]) - 1e-4, 0));
  std::vector<std::string> names;
  const std::vector<Vec3> scaled = FirstTorques(human, state, "hands");
  const std::vector<Vec3> plain = FirstTorques(human, state, "none");
  for (size_t j = 0; j < plain.size(); ++j) {
    const double factor = human.contact_presets.at("hands")[j];
    const bool beyond = human.joints[j].name == "left_shoulder" || human.joints[j].name == "left_elbow" ||
                        human.joints[j].name == "left_wrist";
    EXPECT_LT((scaled[j] - (beyond ? factor : 1) * plain[j]).norm(), 1e-9) << human.joints[j].name;
  }
}

TEST(ContactScale, DoesNotTouchAFlightAtAll) {
  const Character human = Human();
  const Scene air = Scenes(human)[3];
  std::vector<State> ends;
  for (const char* preset : {"none", "hands_and_flight"}) {
    WorldOptions options;
    options.contact_scale = human.contact_presets.at(preset);
    World world(human, options);
    world.SetState(air.start);
    for (int n = 1; n <= 48; ++n) ASSERT_TRUE(world.Step(SwayingTargets(human, n / 240.0, 0.3)));
    world.GetState(ends.emplace_back());
  }
  EXPECT_TRUE(SameBits(ends[0], ends[1]));
}

TEST(ContactScale, StiffensTheImplicitServoToo) {
  const Character human = Human();
  std::vector<double> lean;
  for (const char* preset : {"none", "flight"}) {
    WorldOptions options;
    options.contact_scale = human.contact_presets.at(preset);
    World world(human, options);
    world.SetState(StateOf(human, RestPose(human)));
    State state;
    for (int n = 0; n < 960; ++n) ASSERT_TRUE(world.Step(RestTargets(human)));
    world.GetState(state);
    lean.push_back(AngleBetween(state[static_cast<size_t>(human.root)].orientation, Quat::Identity()));
  }
  // Weak ankles let the human fall.
  EXPECT_GT(lean[0], 0.3);
  EXPECT_LT(lean[1], 0.8 * lean[0]);
}

// ---- self collision

/// Least distance between the axes of two capsules along y.
double CapsuleDistance(const Character& human, const State& state, const char* first, const char* second) {
  const auto end = [&](const char* name, double along) {
    const auto b = static_cast<size_t>(human.FindBody(name));
    return Vec3(state[b].position + state[b].orientation * Vec3(0, along * human.bodies[b].shapes[0].length, 0));
  };
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 50; ++i) {
    for (int k = 0; k <= 50; ++k) {
      least = std::min(least, (end(first, 0.02 * i - 0.5) - end(second, 0.02 * k - 0.5)).norm());
    }
  }
  return least;
}

TEST(SelfCollision, KeepsThighAndThighApart) {
  const Character human = Human();
  State start = StateOf(human, RestPose(human));
  character::Translate(start, Vec3(0, 20, 0));
  std::vector<JointCommand> targets = RestTargets(human);
  targets[static_cast<size_t>(human.FindJoint("left_hip"))].target = AxisRotation(2, -0.4);
  targets[static_cast<size_t>(human.FindJoint("right_hip"))].target = AxisRotation(2, 0.4);
  const double apart = 2 * human.bodies[static_cast<size_t>(human.FindBody("left_thigh"))].shapes[0].radius;
  for (const bool collide : {true, false}) {
    WorldOptions options;
    options.self_collision = collide;
    World world(human, options);
    world.set_recording(true);
    world.SetState(start);
    State state;
    double least = std::numeric_limits<double>::infinity();
    double pushed = 0;
    for (int n = 0; n < 120; ++n) {
      ASSERT_TRUE(world.Step(targets));
      world.GetState(state);
      least = std::min(least, CapsuleDistance(human, state, "left_thigh", "right_thigh"));
      for (const Contact& contact : world.contacts()) {
        ASSERT_GE(contact.other, 0) << "there is no ground here";
        pushed = std::max(pushed, contact.force.norm());
      }
    }
    if (collide) {
      EXPECT_GT(least, apart - 0.03);
      EXPECT_GT(pushed, 10);
      // At rest against one another they hardly sink in.
      EXPECT_GT(CapsuleDistance(human, state, "left_thigh", "right_thigh"), apart - 0.002);
    } else {
      EXPECT_LT(least, apart - 0.06);
      EXPECT_EQ(pushed, 0);
    }
  }
}

// ---- divergence is a value

/// Ten steps from rest, as far as they are sane.
std::vector<State> TenSteps(const Character& human, World& world) {
  std::vector<State> states;
  world.SetState(StateOf(human, RestPose(human)));
  for (int n = 1; n <= 10 && world.Step(SwayingTargets(human, 0.01 * n, 0.1)); ++n)
    world.GetState(states.emplace_back());
  return states;
}

/// After whatever happened the world does the same as a new one, to the bit.
void IsAsGoodAsNew(const Character& human, World& world) {
  World fresh(human, world.options());
  const std::vector<State> expected = TenSteps(human, fresh);
  const std::vector<State> states = TenSteps(human, world);
  ASSERT_EQ(states.size(), expected.size());
  for (size_t i = 0; i < states.size(); ++i) EXPECT_TRUE(SameBits(states[i], expected[i])) << "step " << i;
}

TEST(Divergence, OfTheExplicitServoAtLongStepsIsReported) {
  const Character human = Human();
  WorldOptions options;
  options.servo = Servo::kExplicit;
  options.time_step = 0.01;
  World world(human, options);
  world.set_recording(true);
  for (int repeat = 0; repeat < 3; ++repeat) {
    world.SetState(StateOf(human, RestPose(human)));
    bool sane = true;
    for (int n = 1; n <= 400 && sane; ++n) sane = world.Step(SwayingTargets(human, 0.01 * n, 0.3));
    EXPECT_FALSE(sane);
    IsAsGoodAsNew(human, world);
  }
}

TEST(Divergence, OfAnInsaneStateIsReported) {
  const Character human = Human();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const Servo servo : {Servo::kImplicit, Servo::kExplicit}) {
    for (const Solver solver : {Solver::kReduced, Solver::kStock}) {
      WorldOptions options;
      options.servo = servo;
      options.solver = solver;
      if (servo == Servo::kExplicit) options.time_step = 0.0005;
      World world(human, options);
      for (const double bad : {nan, inf, 1e200, 1e6}) {
        for (int field = 0; field < 4; ++field) {
          SCOPED_TRACE(io::Number(bad) + " in field " + std::to_string(field));
          State state = StateOf(human, RestPose(human));
          auto& body = state[static_cast<size_t>(human.FindBody("left_shin"))];
          if (field == 0) body.position.x() = bad;
          if (field == 1) body.linear_velocity.y() = bad;
          if (field == 2) body.angular_velocity.z() = bad;
          if (field == 3) {
            if (bad == 1e6) continue;  // a quaternion that can be normalized
            body.orientation.x() = bad;
          }
          world.SetState(state);
          bool sane = true;
          for (int n = 0; n < 20 && sane; ++n) sane = world.Step(RestTargets(human));
          EXPECT_FALSE(sane);
          IsAsGoodAsNew(human, world);
        }
      }
    }
  }
}

TEST(Divergence, LeavesRecordingOn) {
  const Character human = Human();
  World world(human, WorldOptions());
  world.set_recording(true);
  State state = StateOf(human, RestPose(human));
  state[0].linear_velocity.y() = std::numeric_limits<double>::quiet_NaN();
  world.SetState(state);
  EXPECT_FALSE(world.Step(RestTargets(human)));
  world.SetState(StateOf(human, RestPose(human)));
  ASSERT_TRUE(world.Step(RestTargets(human)));
  double force = 0;
  for (const Contact& contact : world.contacts()) force += contact.force.y();
  EXPECT_GT(force, 0);
}

// ---- the rest

TEST(World, GivesBackTheStateThatWasSet) {
  const Character human = Human();
  World world(human, WorldOptions());
  for (const Scene& scene : Scenes(human)) {
    world.SetState(scene.start);
    State state;
    world.GetState(state);
    ASSERT_EQ(state.size(), scene.start.size());
    for (size_t b = 0; b < state.size(); ++b) {
      EXPECT_EQ(state[b].position, scene.start[b].position);
      EXPECT_EQ(state[b].linear_velocity, scene.start[b].linear_velocity);
      EXPECT_EQ(state[b].angular_velocity, scene.start[b].angular_velocity);
      EXPECT_LT(AngleBetween(state[b].orientation, scene.start[b].orientation), 1e-15);
    }
  }
}

/// Contacts are made ready when somebody asks for them: that changes neither them nor the motion.
TEST(World, TellsTheContactsOfItsLastStepWheneverItIsAsked) {
  const character::Character human = Human();
  World asked(human, WorldOptions()), unasked(human, WorldOptions());
  const std::vector<JointCommand> commands(human.joints.size());
  character::State state = StateOf(human, RestPose(human));
  asked.SetState(state);
  unasked.SetState(state);
  size_t largest = 0;
  for (int step = 0; step < 40; ++step) {
    ASSERT_TRUE(asked.Step(commands));
    ASSERT_TRUE(unasked.Step(commands));
    largest = std::max(largest, asked.contacts().size());
  }
  EXPECT_GT(largest, 3u);
  const std::vector<Contact> expected = asked.contacts();
  unasked.set_recording(true);  // too late for the forces of the last step
  const std::vector<Contact>& found = unasked.contacts();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t c = 0; c < found.size(); ++c) {
    EXPECT_EQ(found[c].point, expected[c].point);
    EXPECT_EQ(found[c].force, Vec3(Vec3::Zero()));
  }
  ASSERT_TRUE(asked.Step(commands));
  ASSERT_TRUE(unasked.Step(commands));
  character::State other;
  asked.GetState(state);
  unasked.GetState(other);
  for (size_t b = 0; b < state.size(); ++b) EXPECT_EQ(state[b].position, other[b].position);
}

TEST(World, UsesTheReducedSolverHere) {
  EXPECT_EQ(WhyStockSolver(), "");
  const Character human = Human();
  EXPECT_EQ(World(human, WorldOptions()).solver(), Solver::kReduced);
}

TEST(World, StopsFeetThatFallFastBeforeTheySinkIn) {
  const Character human = Human();
  for (const bool speculative : {true, false}) {
    WorldOptions options;
    options.speculative_contacts = speculative;
    World world(human, options);
    State state = StateOf(human, RestPose(human));
    character::Translate(state, Vec3(0, 0.018, 0));
    SetRigidMotion(human, Vec3(0, -4, 0), Vec3::Zero(), state);
    world.SetState(state);
    double lowest = 0;
    for (int n = 0; n < 12; ++n) {
      ASSERT_TRUE(world.Step(RestTargets(human)));
      world.GetState(state);
      for (size_t b = 0; b < state.size(); ++b) lowest = std::min(lowest, LowestPoint(human.bodies[b], state[b]));
    }
    if (speculative) {
      EXPECT_GT(lowest, -0.002);
    } else {
      EXPECT_LT(lowest, -0.01);
    }
  }
}

TEST(World, PushesApartNoFasterThanItsOptionsSay) {
  const Character block = Block();
  for (const double speed : {0.1, 1.0}) {
    WorldOptions options;
    options.contact_correcting_velocity = speed;
    World world(block, options);
    State state = StateOf(block, RestPose(block));
    state[0].position.y() -= 0.08;
    world.SetState(state);
    ASSERT_TRUE(world.Step({}));
    world.GetState(state);
    EXPECT_NEAR(state[0].linear_velocity.y(), speed, 0.01 * speed);
  }
}

}  // namespace
}  // namespace retrace::simulation
