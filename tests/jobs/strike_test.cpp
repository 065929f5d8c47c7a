#include "retrace/jobs/strike.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/control/controller.h"
#include "retrace/io/error.h"
#include "simulation/sample_characters.h"

namespace retrace::runs {
namespace {

using character::Character;
using character::State;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string Clip(const std::string& name) {
  return std::string(RETRACE_SOURCE_DIR) + "/data/clips/" + name + ".bvh";
}

StrikeOptions WalkIntoStand(double ahead) {
  StrikeOptions options;
  options.receiver.file = Clip("stand");
  options.attacker.file = Clip("walk");
  options.stance.ahead = ahead;
  options.seconds = 0.5;
  return options;
}

Vec3 MomentumOf(const Character& character, const State& state) {
  return character.total_mass() * character::CenterOfMassVelocity(character, state);
}

/// Two humans without weight, far above the ground: the one flies into the other, and the servos of both are at work.
TEST(FirstImpact, ThePairKeepsItsMomentum) {
  const Character human = simulation::Human();
  simulation::WorldOptions world;
  world.gravity = 0;
  State a = simulation::Scenes(human)[1].start, b = simulation::Scenes(human)[2].start;
  character::Translate(a, Vec3(0, 20, 0));
  character::Translate(b, Vec3(0.1, 20, 0.9));
  for (character::BodyState& body : b) body.linear_velocity += Vec3(0, 0, -4);
  State start = a;
  start.insert(start.end(), b.begin(), b.end());
  const std::array<const Character*, 2> characters = {&human, &human};
  control::OpenLoop rest({}), rest_too({});
  const std::array<control::Controller*, 2> controllers = {&rest, &rest_too};
  const control::Trajectory whole = control::Simulate(characters, world, start, controllers, 0, 120);
  ASSERT_FALSE(whole.diverged);
  const simulation::Layout layout(characters, world.environment);
  const std::optional<ContactEpisode> blow = FirstImpact(whole, layout, 0);
  ASSERT_TRUE(blow);
  EXPECT_GT(blow->impulse.norm(), 1);
  const auto gain_of = [&](size_t c) {
    return Vec3(MomentumOf(human, layout.StateOf(whole.states.back(), c)) -
                MomentumOf(human, layout.StateOf(whole.states.front(), c)));
  };
  const double scale = human.total_mass() * 4;  // [N s]
  EXPECT_LT((gain_of(0) + gain_of(1)).norm(), 1e-12 * scale);
  // What the receiver gained is the impulse of all contacts between the two.
  Vec3 gained = Vec3::Zero();
  for (double from = 0; const std::optional<ContactEpisode> next = FirstImpact(whole, layout, 0, from);) {
    gained += next->impulse;
    from = next->end;
  }
  EXPECT_LT((gain_of(0) - gained).norm(), 1e-9 * scale);
}

/// A block of 2 kg flies into another one at 3 m/s; 0.6 m are between them.
TEST(FirstImpact, IsThatOfTwoBlocks) {
  const Character block = simulation::Block();
  simulation::WorldOptions world;
  world.gravity = 0;
  State start = simulation::StateOf(block, simulation::RestPose(block));
  start.push_back(start[0]);
  start[0].position = Vec3(0, 3, 0);
  start[1].position = Vec3(1, 3, 0);
  start[1].linear_velocity = Vec3(-3, 0, 0);
  const std::array<const Character*, 2> characters = {&block, &block};
  control::OpenLoop rest({}), rest_too({});
  const std::array<control::Controller*, 2> controllers = {&rest, &rest_too};
  const control::Trajectory whole = control::Simulate(characters, world, start, controllers, 0, 120);
  const simulation::Layout layout(characters, world.environment);
  for (const size_t c : {0u, 1u}) {
    const std::optional<ContactEpisode> blow = FirstImpact(whole, layout, c);
    ASSERT_TRUE(blow);
    EXPECT_NEAR(blow->start, 0.2, 2.5 * world.time_step);
    EXPECT_NEAR(blow->closing_speed, 3, 1e-9);
    EXPECT_EQ(blow->body, static_cast<int>(c));
    EXPECT_EQ(blow->other, static_cast<int>(1 - c));
    const size_t body = c;
    const Vec3 gained = 2 * (whole.states.back()[body].linear_velocity - whole.states.front()[body].linear_velocity);
    EXPECT_LT((blow->impulse - gained).norm(), 1e-9);
    EXPECT_LT(blow->impulse.x() * (c == 0 ? 1 : -1), -2.9);
    EXPECT_FALSE(blow->at_end);
  }
  EXPECT_FALSE(FirstImpact(whole, layout, 0, 0.4));
}

TEST(Strike, StandsTheAttackerWhereItIsAsked) {
  StrikeOptions options = WalkIntoStand(2);
  options.stance = {.ahead = 2, .left = 0.3, .heading = Radians(170)};
  const StrikeJob job(options);
  State receiver, attacker;
  job.motions[0].StateAt(0, receiver);
  job.motions[1].StateAt(0, attacker);
  const auto root = static_cast<size_t>(job.character.root);
  const Quat faces = Heading(receiver[root].orientation);
  const Vec3 seen = faces.conjugate() * Vec3(attacker[root].position - receiver[root].position);
  EXPECT_NEAR(seen.z(), 2, 1e-9);
  EXPECT_NEAR(seen.x(), 0.3, 1e-9);
  EXPECT_NEAR(AngleBetween(faces * AxisRotation(1, Radians(170)), Heading(attacker[root].orientation)), 0, 1e-9);
}

TEST(Strike, BothAreSimulatedFromAFrameBeforeTheTouch) {
  const StrikeJob job(WalkIntoStand(1.6));
  EXPECT_TRUE(job.touch.touch);
  EXPECT_NEAR(job.touch.time - job.start, 1 / std::min(job.reports[0].frame_rate, job.reports[1].frame_rate), 1e-9);
  const Strike strike = SimulateStrike(job);
  ASSERT_TRUE(strike.blow);
  EXPECT_LT(strike.blow->start, 0.15);
  EXPECT_EQ(strike.scene.characters.size(), 2u);
  // The same bytes again.
  const Strike again = SimulateStrike(StrikeJob(WalkIntoStand(1.6)));
  EXPECT_EQ(control::Fingerprint(control::Replay(strike.scene).states.back()),
            control::Fingerprint(control::Replay(again.scene).states.back()));
}

TEST(Strike, RefusesWhatIsNoBlow) {
  EXPECT_THAT([] { StrikeJob job(WalkIntoStand(9)); },
              ThrowsMessage<InputError>(HasSubstr("a blow that never touches: the attacker's ")));
  EXPECT_THAT([] { StrikeJob job(WalkIntoStand(9)); }, ThrowsMessage<InputError>(HasSubstr(" come no nearer than 6.")));
  EXPECT_THAT([] { StrikeJob job(WalkIntoStand(0.1)); },
              ThrowsMessage<InputError>(HasSubstr("characters that begin inside one another")));
  StrikeOptions pair = WalkIntoStand(1);
  pair.attacker.file = pair.receiver.file;
  pair.pair = true;
  EXPECT_THAT([&] { StrikeJob job(pair); }, ThrowsMessage<InputError>(HasSubstr("begin inside one another")));
  StrikeOptions subject = WalkIntoStand(1);
  subject.character = "subject";
  EXPECT_THAT([&] { StrikeJob job(subject); }, ThrowsMessage<UsageError>(HasSubstr("one character for both")));
}

TEST(Strike, ReadsAStance) {
  const Stance stance = ParseStance("0.8,-0.1,90");
  EXPECT_EQ(stance.ahead, 0.8);
  EXPECT_EQ(stance.left, -0.1);
  EXPECT_NEAR(stance.heading, kPi / 2, 1e-12);
  EXPECT_NEAR(ParseStance("2").heading, kPi, 1e-12);
  for (const char* text : {"", "a", "1,2,3,4", "1,,3", "101", "1,0,400", "nan"}) {
    EXPECT_THAT([&] { ParseStance(text); }, ThrowsMessage<UsageError>(HasSubstr("expected AHEAD"))) << text;
  }
}

}  // namespace
}  // namespace retrace::runs
