/// Worlds side by side move with the bytes of worlds by themselves.
#include "retrace/simulation/world_lanes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "math/any_stream.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

bool SameBytes(const character::State& a, const character::State& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

/// A character somewhere about the ground, in any pose, and what its joints are to do.
struct Start {
  Start(const character::Character& character, uint32_t number) {
    RandomStream random(11, RandomStage::kTest, number, 0);
    character::Pose pose = RestPose(character);
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      const Vec3 turn = AnyVector(random, 0.4);
      pose.joint_rotations[j] = character.joints[j].type == character::JointType::kHinge
                                    ? AxisRotation(character.joints[j].axis, turn.x())
                                    : FromRotationVector(turn);
      JointCommand& command = commands.emplace_back();
      command.target = pose.joint_rotations[j];
      if (random.Uniform() < 0.1) command.gain = 0;
      if (number % 3 == 0) command.torque = AnyVector(random, 10);
    }
    pose.root_orientation = FromRotationVector(AnyVector(random, number % 2 == 0 ? 3 : 0.1));
    pose.root_position = Vec3(0, 1, 0);
    state = StateOf(character, pose);
    double lowest = std::numeric_limits<double>::infinity();
    for (size_t b = 0; b < state.size(); ++b) {
      lowest = std::min(lowest, character::LowestPoint(character.bodies[b], state[b]));
    }
    const double height = number % 4 == 3 ? 1 : random.Uniform(-0.01, 0.02);
    for (auto& body : state) body.position.y() += height - lowest;
    SetRigidMotion(character, AnyVector(random, 1), AnyVector(random, 2), state);
    force = AnyVector(random, 100);
  }
  character::State state;
  std::vector<JointCommand> commands;
  Vec3 force;
};

class Lanes : public testing::TestWithParam<int> {
 protected:
  /// Steps of starts of each lane, side by side and each by itself, to the same bytes.
  void ExpectTheSame(const character::Character& character, const WorldOptions& options, int rounds, int steps) {
    const auto lanes = static_cast<size_t>(GetParam());
    const character::Character* const characters[] = {&character};
    std::unique_ptr<WorldLanes> worlds;
    try {
      worlds = std::make_unique<WorldLanes>(characters, options, GetParam());
    } catch (const std::invalid_argument&) {
      GTEST_SKIP() << "this processor has no vectors of " << lanes << " numbers";
    }
    ASSERT_EQ(worlds->num_lanes(), lanes);
    World alone(character, options);
    size_t with_contacts = 0;
    for (int round = 0; round < rounds; ++round) {
      std::vector<Start> starts;
      std::vector<std::span<const JointCommand>> commands;
      for (size_t l = 0; l < lanes; ++l) {
        starts.emplace_back(character, static_cast<uint32_t>(round) * 8 + static_cast<uint32_t>(l));
        if (round == 1 && l == 1) starts.back().state[2].linear_velocity.x() = 1e9;  // diverges
      }
      for (size_t l = 0; l < lanes; ++l) {
        worlds->world(l).SetState(starts[l].state);
        commands.push_back(starts[l].commands);
      }
      std::array<bool, 8> moving;
      moving.fill(true);
      if (round == 2 && lanes > 2) moving[2] = false;  // idle
      std::vector<character::State> ends(lanes);
      for (int step = 0; step < steps; ++step) {
        for (size_t l = 0; l < lanes; ++l) {
          if (step == 3 && l % 2 == 0 && moving[l]) worlds->world(l).ApplyForce(1, starts[l].force);
        }
        worlds->Step(commands, std::span(moving).first(lanes));
        for (size_t l = 0; l < lanes; ++l) with_contacts += worlds->world(l).contacts().size();
      }
      for (size_t l = 0; l < lanes; ++l) {
        worlds->world(l).GetState(ends[l]);
        alone.SetState(starts[l].state);
        bool expected = true;
        const bool idle = round == 2 && l == 2;
        for (int step = 0; step < steps && expected && !idle; ++step) {
          if (step == 3 && l % 2 == 0) alone.ApplyForce(1, starts[l].force);
          expected = alone.Step(starts[l].commands);
        }
        EXPECT_EQ(moving[l], expected && !idle) << "round " << round << " lane " << l;
        if (!expected) continue;
        character::State end;
        alone.GetState(end);
        EXPECT_TRUE(SameBytes(ends[l], end)) << "round " << round << " lane " << l;
      }
    }
    EXPECT_GT(with_contacts, 0u);
  }
};
INSTANTIATE_TEST_SUITE_P(OfWorlds, Lanes, testing::Values(1, 4, 8),
                         [](const auto& test) { return std::to_string(test.param); });

TEST_P(Lanes, MoveAsByThemselves) {
  WorldOptions options;
  options.contact_scale.assign(Human().joints.size(), 1.5);
  ExpectTheSame(Human(), options, 8, 24);
}

/// Some servos are at their limits in some lanes, and let go again.
TEST_P(Lanes, MoveAsByThemselvesWhereTorquesAreLimited) {
  character::Character human = Human();
  for (size_t j = 0; j < human.joints.size(); ++j) human.joints[j].effort = Vec3(20, j % 3 == 0 ? 0 : 4, 10);
  WorldOptions options;
  options.contact_scale.assign(human.joints.size(), 1.5);
  ExpectTheSame(human, options, 8, 48);
}

TEST_P(Lanes, MoveAsByThemselvesWithExplicitServos) {
  WorldOptions options;
  options.servo = Servo::kExplicit;
  options.time_step = 0.0005;
  ExpectTheSame(Human(), options, 4, 48);
}

TEST_P(Lanes, MoveAsByThemselvesWhereTheRootIsHeldInAPlane) {
  character::Character human = Human();
  human.planar = true;
  ExpectTheSame(human, {}, 4, 24);
}

TEST_P(Lanes, MoveAsByThemselvesWithMeshes) {
  ExpectTheSame(character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json"), {}, 4, 24);
}

/// Balls and boxes that are pushed, and come to rest in some lanes before they do in others.
TEST_P(Lanes, MoveAsByThemselvesAmongFreeBodies) {
  WorldOptions options;
  for (int i = 0; i < 6; ++i) {
    FreeBody& body = options.environment.bodies.emplace_back();
    body.name = "box_" + std::to_string(i);
    body.shape.size = Vec3(0.1, 0.06, 0.1);
    body.mass = 0.5;
    body.position = Vec3(0.2 * (i % 3 - 1), i < 3 ? 0.03 : 0.4, 0.2 * (i / 3) - 0.1);
  }
  ExpectTheSame(Human(), options, 4, 120);
}

TEST_P(Lanes, MoveAsByThemselvesWithTheSolverOfOde) {
  WorldOptions options;
  options.solver = Solver::kStock;
  ExpectTheSame(Human(), options, 3, 12);
}

TEST(Lanes, AreAsManyAsAProcessorHas) {
  const character::Character human = Human();
  const character::Character* const characters[] = {&human};
  EXPECT_GE(WorldLanes(characters, {}).num_lanes(), 1u);
  EXPECT_THROW(WorldLanes(characters, {}, 3), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::simulation
