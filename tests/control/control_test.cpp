/// Targets between their knots, fingerprints, and replays that repeat to the bit.
#include "retrace/control/control.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "control/sample_control.h"
#include "math/any_stream.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"

namespace retrace::control {
namespace {

RC_GTEST_PROP(TargetsAtProperty, ASingleTargetHoldsThroughout, ()) {
  RandomStream random = AnyStream();
  Fragment fragment{7, 12, {RandomTargets(random)}};
  TargetPose pose(Human().joints.size());
  for (int step = 0; step < fragment.num_steps; ++step) {
    TargetsAt(fragment, step, pose);
    for (size_t j = 0; j < pose.size(); ++j) RC_ASSERT(pose[j].coeffs() == fragment.targets[0][j].coeffs());
  }
}

RC_GTEST_PROP(TargetsAtProperty, KnotsAreHitAndBetweenThemTheShorterArcIsTaken, ()) {
  RandomStream random = AnyStream();
  const int knots = *rc::gen::inRange(2, 6);
  const int each = *rc::gen::inRange(1, 10);
  Fragment fragment{0, (knots - 1) * each, {}};
  for (int k = 0; k < knots; ++k) fragment.targets.push_back(RandomTargets(random));
  TargetPose pose(Human().joints.size());
  for (int step = 0; step < fragment.num_steps; ++step) {
    TargetsAt(fragment, step, pose);
    // The target holds for the end of the step.
    const int knot = (step + 1) / each;
    const double t = static_cast<double>((step + 1) % each) / each;
    for (size_t j = 0; j < pose.size(); ++j) {
      const Quat& a = fragment.targets[static_cast<size_t>(knot)][j];
      const Quat expected = t == 0 ? a : Nlerp(a, fragment.targets[static_cast<size_t>(knot) + 1][j], t);
      RC_ASSERT(AngleBetween(pose[j], expected) < 1e-12);
      RC_ASSERT(std::abs(pose[j].norm() - 1) < 1e-14);
    }
  }
}

TEST(TargetsAt, TheLastStepEndsAtTheLastTarget) {
  RandomStream random(1, RandomStage::kTest, 0, 0);
  for (const int steps : {1, 5, 7, 12}) {
    Fragment fragment{0, steps, {RandomTargets(random), RandomTargets(random), RandomTargets(random)}};
    TargetPose pose(Human().joints.size());
    TargetsAt(fragment, steps - 1, pose);
    for (size_t j = 0; j < pose.size(); ++j) EXPECT_LT(AngleBetween(pose[j], fragment.targets[2][j]), 1e-12);
  }
}

TEST(OpenLoopControl, Durations) {
  OpenLoopControl control;
  EXPECT_EQ(control.num_steps(), 0);
  EXPECT_EQ(control.duration(), 0);
  control = Standing(3);
  EXPECT_EQ(control.num_steps(), 72);
  EXPECT_DOUBLE_EQ(control.duration(), 0.3);
}

RC_GTEST_PROP(FingerprintProperty, ChangesWithAnyBit, ()) {
  RandomStream random = AnyStream();
  character::State state = RandomState(random);
  const uint64_t before = Fingerprint(state);
  RC_ASSERT(Fingerprint(character::State(state)) == before);
  auto* bytes = reinterpret_cast<unsigned char*>(state.data());
  const auto byte = *rc::gen::inRange<size_t>(0, state.size() * sizeof(character::BodyState));
  const auto bit = *rc::gen::inRange(0, 8);
  bytes[byte] = static_cast<unsigned char>(bytes[byte] ^ (1u << bit));
  RC_ASSERT(Fingerprint(state) != before);
}

TEST(Fingerprint, IsFnv1a) {
  EXPECT_EQ(Fingerprint({}), 0xcbf29ce484222325u);
  // The identity state, byte by byte, by the definition of the hash.
  const character::State one(1);
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 13 * 8; ++i) {
    // The only bytes that are not zero: the double 1.0 of the quaternion's w, seventh of the thirteen numbers.
    const uint64_t byte = i == 6 * 8 + 6 ? 0xf0 : i == 6 * 8 + 7 ? 0x3f : 0;
    hash = (hash ^ byte) * 0x100000001b3u;
  }
  EXPECT_EQ(Fingerprint(one), hash);
}

TEST(Fingerprint, SwappedBodiesDiffer) {
  RandomStream random(2, RandomStage::kTest, 0, 0);
  character::State state = RandomState(random);
  const uint64_t before = Fingerprint(state);
  std::swap(state[0], state[1]);
  EXPECT_NE(Fingerprint(state), before);
}

/// Swaying targets, so that every joint and the ground have something to do.
OpenLoopControl Swaying() {
  OpenLoopControl control = Standing(4);
  RandomStream random(5, RandomStage::kTest, 0, 0);
  for (Fragment& fragment : control.fragments) {
    fragment.targets.clear();
    for (int k = 0; k < 3; ++k) {
      TargetPose pose;
      for (const character::Joint& joint : Human().joints) {
        Vec3 turn = character::RandomVector(random, 0.3);
        if (joint.type == character::JointType::kHinge) turn = Vec3::Unit(joint.axis) * turn[joint.axis];
        pose.push_back(FromRotationVector(turn));
      }
      fragment.targets.push_back(pose);
    }
  }
  return control;
}

TEST(Replay, TwiceGivesTheSameBits) {
  const OpenLoopControl control = Swaying();
  const Trajectory a = Replay(Human(), control);
  const Trajectory b = Replay(Human(), control);
  ASSERT_FALSE(a.diverged);
  ASSERT_EQ(a.num_steps(), static_cast<size_t>(control.num_steps()));
  ASSERT_EQ(b.num_steps(), a.num_steps());
  for (size_t i = 0; i < a.states.size(); ++i) ASSERT_EQ(Fingerprint(a.states[i]), Fingerprint(b.states[i])) << i;
}

TEST(Replay, CommandsOfEachStepDoWhatAControllerDid) {
  // A torque that comes and goes on one joint, beside targets and gains that change.
  class Wave final : public Controller {
   public:
    void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override {
      for (simulation::JointCommand& command : commands) {
        command.target = AxisRotation(0, 0.1 * std::sin(now.time));
        command.gain = 1 + 0.5 * std::cos(20 * now.time);
        command.torque = Vec3(3 * std::sin(30 * now.time), 0, 0);
      }
      given.emplace_back(commands.begin(), commands.end());
    }
    bool RestartsAt(int step) override { return step % 24 == 0; }
    std::vector<std::vector<simulation::JointCommand>> given;
  };
  OpenLoopControl control = Standing(2);
  Wave wave;
  Controller* const controller = &wave;
  const character::Character* const human = &Human();
  const Trajectory closed = Simulate({&human, 1}, control.world, control.start, {&controller, 1}, 0, 48);
  for (size_t f = 0; f < 2; ++f) {
    control.fragments[f].targets.clear();
    control.fragments[f].commands.assign(wave.given.begin() + static_cast<std::ptrdiff_t>(24 * f),
                                         wave.given.begin() + static_cast<std::ptrdiff_t>(24 * f + 24));
  }
  const Trajectory open = Replay(Human(), control);
  ASSERT_EQ(open.num_steps(), closed.num_steps());
  for (size_t i = 0; i < open.states.size(); ++i) ASSERT_TRUE(SameBits(open.states[i], closed.states[i])) << i;
  TargetPose pose(Human().joints.size());
  TargetsAt(control.fragments[1], 3, pose);
  EXPECT_EQ(pose[0].coeffs(), wave.given[27][0].target.coeffs());
}

TEST(Replay, TargetsAfterCommandsHaveTheFullGainAndNoTorque) {
  // The last torques and gains of the commands stayed in what followed.
  OpenLoopControl mixed = Swaying();
  Fragment& first = mixed.fragments[0];
  first.targets.clear();
  for (int step = 0; step < first.num_steps; ++step) {
    simulation::JointCommand command;
    command.gain = 0.1;
    command.torque = Vec3(2, 0, 0);
    first.commands.emplace_back(Human().joints.size(), command);
  }
  const Trajectory whole = Replay(Human(), mixed);
  OpenLoopControl rest = mixed;
  rest.fragments.erase(rest.fragments.begin());
  const auto begin = static_cast<size_t>(rest.fragments[0].first_step);
  rest.start = whole.states[begin];
  const Trajectory alone = Replay(MakeScene(Human(), rest));
  ASSERT_GT(alone.num_steps(), 0u);
  EXPECT_TRUE(SameBits(whole.states.back(), alone.states.back()));
}

TEST(Replay, ASingleCommandHoldsThroughoutItsFragment) {
  OpenLoopControl control = Swaying();
  Fragment& held = control.fragments[1];
  held.targets.clear();
  simulation::JointCommand command;
  command.gain = 0.3;
  command.torque = Vec3(1, 0, 0);
  held.commands.assign(1, std::vector(Human().joints.size(), command));
  const Trajectory once = Replay(Human(), control);
  held.commands.resize(static_cast<size_t>(held.num_steps), held.commands[0]);
  EXPECT_TRUE(SameBits(Replay(Human(), control).states.back(), once.states.back()));
  // Also where it is cut.
  held.commands.resize(1);
  const std::vector<Fragment> part = Truncate(held.first_step + 3, control.fragments);
  ASSERT_EQ(part.back().commands.size(), 3u);
  EXPECT_EQ(part.back().commands[2][0].gain, 0.3);
}

TEST(Replay, RecordsEveryStep) {
  const OpenLoopControl control = Swaying();
  const Trajectory trajectory = Replay(Human(), control);
  EXPECT_EQ(trajectory.time_step, control.world.time_step);
  EXPECT_TRUE(SameBits(trajectory.states.front(), control.start));
  EXPECT_EQ(trajectory.contacts.size(), trajectory.num_steps());
  ASSERT_EQ(trajectory.torques.size(), trajectory.num_steps());
  double largest = 0;
  size_t contacts = 0;
  for (size_t i = 0; i < trajectory.num_steps(); ++i) {
    ASSERT_EQ(trajectory.torques[i].size(), Human().joints.size());
    for (const Vec3& torque : trajectory.torques[i]) largest = std::max(largest, torque.norm());
    contacts += trajectory.contacts[i].size();
  }
  EXPECT_GT(largest, 1);
  EXPECT_GT(contacts, 0u);
}

TEST(Replay, IsTheFragmentsOneByOne) {
  const OpenLoopControl control = Swaying();
  const Trajectory trajectory = Replay(Human(), control);
  ASSERT_FALSE(trajectory.diverged);
  simulation::World world(Human(), control.world);
  SimulationScratch scratch;
  character::State state = control.start;
  character::State end;
  // In another order first: what a world did before must not show.
  ASSERT_TRUE(SimulateFragment(world, control.start, control.fragments[3], scratch, end));
  for (const Fragment& fragment : control.fragments) {
    ASSERT_TRUE(SimulateFragment(world, state, fragment, scratch, end));
    state = end;
    EXPECT_TRUE(SameBits(state, trajectory.states[static_cast<size_t>(fragment.first_step + fragment.num_steps)]));
  }
}

TEST(Replay, APushGivesItsImpulseWhereverItFallsBetweenTheSteps) {
  OpenLoopControl control = Standing(5);
  for (auto& body : control.start) body.position.y() += 20;
  const double gravity = 9.81;
  const double mass = Human().total_mass();
  const int hand = Human().FindBody("right_hand");
  const int head = Human().FindBody("head");
  const std::vector<Push> pushes = {{hand, Vec3(100, 0, -30), 0.101, 0.0517},
                                    {head, Vec3(0, -70, 10), 0.12, 0.001},
                                    {hand, Vec3(0, 5, 0), 0.1234, 0.3}};
  const Trajectory trajectory = Replay(Human(), control, pushes);
  ASSERT_FALSE(trajectory.diverged);
  for (size_t i = 0; i < trajectory.states.size(); ++i) {
    const double time = static_cast<double>(i) * trajectory.time_step;
    Vec3 momentum = mass * Vec3(0, -gravity * time, 0);
    for (const Push& push : pushes) momentum += std::clamp(time - push.start, 0.0, push.duration) * push.force;
    ASSERT_LT((mass * character::CenterOfMassVelocity(Human(), trajectory.states[i]) - momentum).norm(), 1e-7) << i;
  }
}

TEST(Replay, NoPushChangesNothingAndOneChangesWhatComesAfterIt) {
  const OpenLoopControl control = Standing(5);
  const Trajectory plain = Replay(Human(), control);
  const std::vector<Push> push = {{Human().FindBody("trunk"), Vec3(0, 0, 100), 0.25, 0.1}};
  const Trajectory pushed = Replay(Human(), control, push);
  ASSERT_EQ(pushed.states.size(), plain.states.size());
  const size_t start = 60;  // 0.25 s of 1/240 s
  EXPECT_TRUE(SameBits(pushed.states[start], plain.states[start]));
  EXPECT_FALSE(SameBits(pushed.states[start + 1], plain.states[start + 1]));
}

TEST(Replay, EndsWhereItDiverges) {
  OpenLoopControl control = Standing(2);
  control.start[3].linear_velocity = Vec3(1e7, 0, 0);
  const Trajectory trajectory = Replay(Human(), control);
  EXPECT_TRUE(trajectory.diverged);
  EXPECT_LT(trajectory.num_steps(), static_cast<size_t>(control.num_steps()));
  for (const character::BodyState& body : trajectory.states.back()) EXPECT_TRUE(body.position.allFinite());
}

/// Standing, that begins anew after a while and is shown a meter aside and turned; the blend lasts 0.1 s.
OpenLoopControl Jumping() {
  OpenLoopControl control = Standing(6);
  control.transitions = {
      {control.fragments[2].first_step, 0.1, control.start, AxisRotation(1, 0.5 * kPi), Vec3(1, 0, 0)}};
  return control;
}

TEST(Replay, AKinematicTransitionGoesOnFromItsStateBehindABlend) {
  const OpenLoopControl jumping = Jumping(), standing = Standing(6);
  const Trajectory motion = Replay(Human(), jumping), before = Replay(Human(), standing);
  OpenLoopControl after = standing;  // what is behind the blend
  after.start = jumping.transitions[0].state;
  after.fragments.erase(after.fragments.begin(), after.fragments.begin() + 2);
  const Trajectory behind = Replay(Human(), after);
  const auto jump = static_cast<size_t>(jumping.transitions[0].step);
  ASSERT_EQ(motion.states.size(), before.states.size());
  for (size_t i = 0; i <= jump; ++i) ASSERT_TRUE(SameBits(motion.states[i], before.states[i])) << i;
  const auto root = static_cast<size_t>(Human().root);
  double place = motion.states[jump][root].position.x();
  for (size_t i = jump + 1; i < jump + 24; ++i) {
    const double now = motion.states[i][root].position.x();
    EXPECT_GT(now, place - 1e-4) << i;
    EXPECT_NEAR(motion.states[i][root].linear_velocity.x(), (now - place) / motion.time_step, 1e-9) << i;
    place = now;
  }
  EXPECT_NEAR(motion.states[jump + 12][root].position.x(), 0.5, 0.01);  // half of the way in half of the time
  for (size_t i = jump + 24; i < motion.states.size(); ++i) {
    character::State placed = behind.states[i - jump];
    character::Place(jumping.transitions[0].heading, jumping.transitions[0].offset, placed);
    ASSERT_TRUE(SameBits(motion.states[i], placed)) << i;
  }
  ASSERT_FALSE(motion.contacts[jump + 30].empty());
  EXPECT_EQ(motion.contacts[jump + 30].size(), behind.contacts[30].size());
  EXPECT_NEAR((motion.contacts[jump + 30][0].point - Vec3(1, 0, 0)).norm(), behind.contacts[30][0].point.norm(), 1e-9);
  EXPECT_EQ(motion.torques[jump], behind.torques[0]);
  // A push acts along the axes of what is shown.
  const std::vector<Push> push = {{Human().FindBody("trunk"), Vec3(0, 0, 200), 0.5, 0.05}};
  const Trajectory pushed = Replay(Human(), jumping, push);
  const auto late = static_cast<size_t>(std::lround(0.55 / pushed.time_step));
  const Vec3 change = character::CenterOfMassVelocity(Human(), pushed.states[late]) -
                      character::CenterOfMassVelocity(Human(), motion.states[late]);
  EXPECT_GT(change.z(), 0.05);
  EXPECT_LT(std::abs(change.x()), 0.5 * change.z());
  // In parts, which may begin within the blend.
  ReplayInParts(MakeScene(Human(), jumping), {}, 7, [&](const Trajectory& part) {
    for (size_t i = 0; i < part.states.size(); ++i) {
      ASSERT_TRUE(SameBits(part.states[i], motion.states.at(part.first_step + i))) << part.first_step << " " << i;
    }
  });
  Scene scene = MakeScene(Human(), standing);
  EXPECT_THROW(AddToScene(Human(), jumping, Quat::Identity(), Vec3::Zero(), scene), UsageError);
}

TEST(Replay, HasThePushesOfTheControl) {
  OpenLoopControl control = Standing(3);
  const std::vector<Push> first = {{0, Vec3(0, 0, 200), 0.05, 0.1}}, second = {{2, Vec3(50, 0, 0), 0.1, 0.1}};
  const std::vector<Push> both = {first[0], second[0]};
  const Trajectory expected = Replay(Human(), control, both);
  control.pushes = first;
  const Trajectory replayed = Replay(Human(), control, second);
  ASSERT_EQ(replayed.states.size(), expected.states.size());
  EXPECT_TRUE(SameBits(replayed.states.back(), expected.states.back()));
  control.pushes = both;
  EXPECT_TRUE(SameBits(Replay(Human(), control).states.back(), expected.states.back()));
  EXPECT_TRUE(SameBits(Replay(MakeScene(Human(), control)).states.back(), expected.states.back()));
  // In a scene they meet the body that they met.
  Scene scene = MakeScene(Human(), control);
  AddToScene(Human(), Standing(3), Quat::Identity(), Vec3(5, 0, 0), scene);
  EXPECT_EQ(ControlOf(scene, 0).pushes.size(), 2u);
  EXPECT_TRUE(ControlOf(scene, 1).pushes.empty());
}

TEST(Replay, AKinematicEndingShowsItsPosesAlone) {
  const OpenLoopControl simulated = Standing(3);
  const Trajectory expected = Replay(Human(), simulated);
  for (const int first_step : {48, 72}) {
    OpenLoopControl control = simulated;
    character::Pose pose;
    character::PoseOf(Human(), expected.states[72], pose);
    control.ending = {first_step, 72, 1.0 / 120, {}};
    for (int p = 0; p <= 60; ++p) {
      pose.root_position.x() += 0.002;
      control.ending->poses.push_back(pose);
    }
    EXPECT_EQ(control.num_steps(), first_step + 120);
    const Trajectory shown = Replay(Human(), control);
    ASSERT_EQ(static_cast<int>(shown.num_steps()), control.num_steps());
    for (int s = 0; s <= first_step; ++s) {
      EXPECT_TRUE(SameBits(shown.states[static_cast<size_t>(s)], expected.states[static_cast<size_t>(s)])) << s;
    }
    const auto root = static_cast<size_t>(Human().root);
    // Halfway through the blend, half of the way to the pose; then the pose itself, with the speed of the poses.
    const auto x = [&](const Trajectory& t, size_t s) { return t.states[s][root].position.x(); };
    const auto pose_at = [&](size_t s) {
      return control.ending->poses[(s - static_cast<size_t>(first_step)) / 2].root_position.x();
    };
    if (first_step < 72) {
      EXPECT_NEAR(x(shown, 60), (x(expected, 60) + pose_at(60)) / 2, 1e-9);
    }
    EXPECT_NEAR(x(shown, 100), pose_at(100), 1e-12);
    EXPECT_NEAR(shown.states[100][root].linear_velocity.x(), 0.24, 1e-9);
    EXPECT_TRUE(shown.contacts[100].empty());
    EXPECT_EQ(shown.torques[100], std::vector<Vec3>(Human().joints.size(), Vec3::Zero()));
    EXPECT_EQ(shown.torques[71], expected.torques[71]);
    // In parts it is the same.
    size_t states = 0;
    ReplayInParts(MakeScene(Human(), control), {}, 7, [&](const Trajectory& part) {
      for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
        EXPECT_TRUE(SameBits(part.states[i], shown.states[part.first_step + i]));
        ++states;
      }
    });
    EXPECT_EQ(states, shown.states.size());
    Scene scene = MakeScene(Human(), simulated);
    EXPECT_THROW(AddToScene(Human(), control, Quat::Identity(), Vec3::Zero(), scene), UsageError);
  }
}

TEST(ReplayInParts, PutTogetherIsTheReplay) {
  const OpenLoopControl control = Swaying();
  const Trajectory whole = Replay(Human(), control);
  const Scene scene = MakeScene(Human(), control);
  for (const size_t steps : {size_t{1}, size_t{7}, whole.num_steps() / 2, whole.num_steps(), whole.num_steps() + 1}) {
    size_t states = 0;
    size_t contacts = 0;
    ReplayInParts(scene, {}, steps, [&](const Trajectory& part) {
      EXPECT_LE(part.num_steps(), steps);
      EXPECT_EQ(part.first_step, contacts);
      EXPECT_EQ(part.time_step, whole.time_step);
      EXPECT_EQ(part.objects, whole.objects);
      EXPECT_FALSE(part.diverged);
      ASSERT_EQ(part.contacts.size(), part.num_steps());
      ASSERT_EQ(part.torques.size(), part.num_steps());
      for (size_t i = 0; i < part.states.size(); ++i) {
        ASSERT_TRUE(SameBits(part.states[i], whole.states.at(part.first_step + i))) << part.first_step << " " << i;
        EXPECT_EQ(part.TimeOf(i), whole.TimeOf(part.first_step + i));
      }
      for (size_t i = 0; i < part.num_steps(); ++i) {
        ASSERT_EQ(part.contacts[i].size(), whole.contacts.at(part.first_step + i).size());
        ASSERT_EQ(part.torques[i], whole.torques.at(part.first_step + i));
      }
      states += part.states.size() - part.first_new_state();
      contacts += part.contacts.size();
    });
    EXPECT_EQ(states, whole.states.size());
  }
  EXPECT_THROW(ReplayInParts(scene, {}, 0, [](const Trajectory&) {}), std::invalid_argument);
}

TEST(ReplayInParts, TheLastPartSaysThatItDiverged) {
  OpenLoopControl control = Standing(2);
  control.start[3].linear_velocity = Vec3(1e7, 0, 0);
  const Trajectory whole = Replay(Human(), control);
  std::vector<bool> diverged;
  size_t steps = 0;
  ReplayInParts(MakeScene(Human(), control), {}, 1, [&](const Trajectory& part) {
    diverged.push_back(part.diverged);
    steps += part.num_steps();
  });
  EXPECT_EQ(steps, whole.num_steps());
  EXPECT_EQ(std::count(diverged.begin(), diverged.end(), true), 1);
  EXPECT_TRUE(diverged.back());
}

TEST(Replay, OfNothingIsTheStart) {
  OpenLoopControl control = Standing(0);
  const Trajectory trajectory = Replay(Human(), control);
  EXPECT_EQ(trajectory.states.size(), 1u);
  EXPECT_EQ(trajectory.num_steps(), 0u);
  EXPECT_FALSE(trajectory.diverged);
  EXPECT_EQ(Trajectory().num_steps(), 0u);
}

}  // namespace
}  // namespace retrace::control
