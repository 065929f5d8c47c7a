#include "planning/composition/composition_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "jobs/sample_runs.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/composition/composition_problem.h"
#include "retrace/planning/segments/frame_sequence.h"

namespace retrace::runs {
namespace {

/// A tracked walk of 2.4 s, made once in a process.
const LibraryControl& TheWalk() {
  static const SampleFolder folder;
  static const LibraryControl walk = [] {
    WriteTrackedRun(folder / "walk", TrackedOptions("walk", 2.4));
    return ReadLibraryControl(folder / "walk");
  }();
  return walk;
}

/// A composition that begins with the walk.
struct Building {
  explicit Building(Transition transition = Transition::kPlain) {
    problem.settings.transition = transition;
    problem.controls.push_back(ReadLibraryControl(TheWalk().run.folder));
    problem.num_played = 1;
    problem.play = {0};
  }
  const LibraryControl& walk() const { return problem.controls[0]; }
  const character::Character& human() const { return walk().character(); }

  /// The transition of a cut, without a search.
  Way WayFrom(const CompositionBuilder& builder, const Cut& cut) const {
    return {cut, {}, builder.ReferenceFrom(cut), builder.FragmentsFrom(cut)};
  }

  CompositionProblem problem;
};

bool SameStates(const std::vector<character::State>& a, const std::vector<character::State>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const character::State& x, const character::State& y) {
    return control::Fingerprint(x) == control::Fingerprint(y);
  });
}

TEST(CompositionBuilding, BeginsWithTheFirstControlAndItsReference) {
  const Building building;
  CompositionBuilder builder(building.problem);
  EXPECT_EQ(builder.num_steps(), 576);
  EXPECT_NEAR(builder.duration(), 2.4, 1e-12);
  EXPECT_EQ(builder.StepsIn(0.5), 120);
  EXPECT_TRUE(SameStates(builder.actual(), building.walk().states));
  ASSERT_EQ(builder.parts().size(), 1u);
  EXPECT_EQ(builder.parts()[0].tries, 0);
  EXPECT_FALSE(builder.parts()[0].transition);
  const Composition composition = builder.Finish("completed", false);
  EXPECT_TRUE(composition.success());
  ASSERT_EQ(composition.reference.size(), NumCompositionFrames(2.4));
  character::Pose pose;
  building.walk().run.characters[0].reference->PoseAt(1, pose);
  EXPECT_LT((composition.reference[120].root_position - pose.root_position).norm(), 1e-12);
}

TEST(CompositionBuilding, TheStateOfAStepStaysAfterTheLastOne) {
  EXPECT_EQ(&StateOf(TheWalk(), 3), &TheWalk().states[3]);
  EXPECT_EQ(&StateOf(TheWalk(), 100000), &TheWalk().states.back());
}

TEST(CompositionBuilding, AReferenceBeginsWithTheStateAtHandAndEndsInTheControl) {
  const Building building;
  const CompositionBuilder builder(building.problem);
  const Cut cut{400, 0, 150, 0};
  const std::vector<character::Pose> poses = builder.ReferenceFrom(cut);
  ASSERT_EQ(poses.size(), NumCompositionFrames((576 - 150) / 240.0));
  character::State first;
  character::ForwardKinematics(building.human(), poses.front(), first);
  const character::State& here = builder.actual()[400];
  for (size_t b = 0; b < first.size(); ++b) EXPECT_LT((first[b].position - here[b].position).norm(), 0.005);
  // After the blend it is the motion of the control, turned and moved along the ground.
  const auto [heading, offset] = metrics::AlignOnGround(building.human(), here, StateOf(building.walk(), 150));
  character::Pose pose;
  for (size_t f = 36; f < poses.size(); ++f) {
    character::PoseOf(building.human(), StateOf(building.walk(), 150 + static_cast<int>(2 * f)), pose);
    EXPECT_LT((poses[f].root_position - (heading * pose.root_position + offset)).norm(), 1e-9);
    EXPECT_LT(AngleBetween(poses[f].joint_rotations[0], pose.joint_rotations[0]), 1e-9);
  }
}

TEST(CompositionBuilding, TheFragmentsOfACutBeginWhereItLeavesTheMotion) {
  const Building building;
  const CompositionBuilder builder(building.problem);
  const int cut_step = builder.fragments()[3].first_step;
  const std::vector<control::Fragment> fragments = builder.FragmentsFrom({500, 0, cut_step, 0});
  ASSERT_EQ(fragments.size(), builder.fragments().size() - 3);
  EXPECT_EQ(fragments.front().first_step, 500);
  EXPECT_EQ(fragments.back().end_step(), 500 + 576 - cut_step);
}

/// A transition from a state into the same state of the same control.
TEST(CompositionBuilding, ATransitionIntoTheSameStateChangesNothing) {
  const Building building;
  CompositionBuilder builder(building.problem);
  const std::vector<character::State> before = builder.actual();
  const int step = builder.fragments()[5].first_step;
  const Cut cut{step, 0, step, 0};
  builder.Append(building.WayFrom(builder, cut));
  EXPECT_TRUE(SameStates(builder.actual(), before));
  EXPECT_EQ(builder.num_steps(), 576);
}

TEST(CompositionBuilding, ComesBackToASnapshotAndOnAgain) {
  const Building building;
  CompositionBuilder builder(building.problem);
  const int exit = builder.fragments()[20].first_step;
  builder.CutOff(exit, exit * builder.h());
  EXPECT_EQ(builder.num_steps(), exit);
  EXPECT_EQ(builder.actual().size(), static_cast<size_t>(exit) + 1);
  const CompositionBuilder::Snapshot before = builder.Take();
  const control::TargetPose rest(building.human().joints.size(), Quat::Identity());
  for (const int step : {exit, exit + 24}) ASSERT_TRUE(builder.Play({step, 24, {rest}}));
  const std::vector<character::State> longer = builder.actual();
  const CompositionBuilder::Piece piece = builder.Since(before);
  EXPECT_EQ(piece.actual.size(), 48u);
  EXPECT_EQ(piece.fragments.size(), 2u);
  builder.BackTo(before);
  EXPECT_EQ(builder.num_steps(), exit);
  EXPECT_TRUE(SameStates(builder.actual(), before.actual));
  builder.Again(before, piece);
  EXPECT_TRUE(SameStates(builder.actual(), longer));
  EXPECT_EQ(builder.num_steps(), exit + 48);
}

TEST(CompositionBuilding, WhatIsPlayedIsWhatAReplayHas) {
  for (const Transition transition : {Transition::kPlain, Transition::kKinematic}) {
    const Building building(transition);
    CompositionBuilder builder(building.problem);
    const control::TargetPose rest(building.human().joints.size(), Quat::Identity());
    ASSERT_TRUE(builder.Play({576, 24, {rest}}));
    EXPECT_EQ(builder.num_steps(), 600);
    const std::vector<character::State> played = builder.actual();
    const Composition composition = builder.Finish("completed", false);
    EXPECT_TRUE(SameStates(control::Replay(building.human(), composition.control).states, played));
    EXPECT_EQ(composition.reference.size(), NumCompositionFrames(2.5));
  }
}

TEST(CompositionBuilding, WhatDivergesIsNotPlayed) {
  Building building;
  building.problem.pushes = {{building.human().root, Vec3(1e9, 0, 0), 2.4, 1}};
  CompositionBuilder builder(building.problem);
  const control::TargetPose rest(building.human().joints.size(), Quat::Identity());
  EXPECT_FALSE(builder.Play({576, 24, {rest}}));
  EXPECT_EQ(builder.num_steps(), 576);
}

TEST(CompositionBuilding, AJumpHidesTheChangeOfMomentum) {
  const Building building(Transition::kKinematic);
  CompositionBuilder builder(building.problem);
  EXPECT_LT(builder.Jump({300, 0, 300, 0}), 1e-9);  // into the state at hand
  const auto velocity = [&](int step) {
    const character::State& state = StateOf(building.walk(), step);
    return Vec3(character::CenterOfMassVelocity(building.human(), state));
  };
  const Quat heading =
      metrics::AlignOnGround(building.human(), StateOf(building.walk(), 300), StateOf(building.walk(), 150)).heading;
  const Cut cut{300, 0, 150, 0};
  EXPECT_NEAR(builder.Jump(cut), building.human().total_mass() * (heading * velocity(150) - velocity(300)).norm(),
              1e-9);
  builder.Append(building.WayFrom(builder, cut));
  const Composition composition = builder.Finish("completed", false);
  ASSERT_EQ(composition.num_kinematic(), 1u);
  EXPECT_EQ(composition.control.transitions[0].step, 300);
  EXPECT_FALSE(composition.control.physical());
}

TEST(CompositionBuilding, KnowsUntilWhenItIsPushed) {
  Building building;
  building.problem.pushes = {{building.human().root, Vec3(1, 0, 0), 0.5, 0.1}};
  CompositionBuilder builder(building.problem);
  EXPECT_TRUE(builder.PushedAfter(0));
  EXPECT_TRUE(builder.PushedAfter(143));
  EXPECT_FALSE(builder.PushedAfter(144));
  EXPECT_EQ(builder.Finish("stopped", true).control.pushes.size(), 1u);
}

TEST(CompositionBuilding, ASearchedTransitionEndsInTheStateOfTheSearch) {
  const Building building(Transition::kSearched);
  CompositionBuilder builder(building.problem);
  const int step = builder.fragments()[5].first_step;
  Way way = building.WayFrom(builder, {step, 0, step, 0});
  way.end = control::Fingerprint(builder.actual().back());
  EXPECT_NO_THROW(builder.Append(way));
  ++way.end;
  EXPECT_THROW(builder.Append(way), std::logic_error);
}

TEST(CompositionBuilding, WhatIsNotWholeIsNoSuccess) {
  const Building building;
  CompositionBuilder builder(building.problem);
  const Composition composition = builder.Finish("nothing leads on", true);
  EXPECT_TRUE(composition.evaluation.success());
  EXPECT_FALSE(composition.success());
  EXPECT_TRUE(composition.stopped);
}

// ---- the problem

TEST(CompositionProblem, AnswersAreThePlansControlsAndThoseThatStand) {
  Building building;
  CompositionProblem& problem = building.problem;
  for (int more = 0; more < 3; ++more) problem.controls.push_back(ReadLibraryControl(TheWalk().run.folder));
  const auto root = static_cast<size_t>(building.human().root);
  const double rest = building.human().bodies[root].rest_position.y();
  problem.controls[0].states.back()[root].position.y() = 0.2 * rest;   // of the plan, however it ends
  problem.controls[2].states.back()[root].position.y() = 0.2 * rest;   // lies at the end
  problem.controls[3].states.front()[root].position.y() = 0.2 * rest;  // gets up
  EXPECT_EQ(problem.OfAnswers(), (std::vector<size_t>{0, 1}));
  problem.num_played = 3;
  EXPECT_EQ(problem.OfAnswers(), (std::vector<size_t>{0, 1, 2}));
  problem.begins = true;
  EXPECT_EQ(problem.OfAnswers(), (std::vector<size_t>{1, 2}));
}

TEST(CompositionProblem, APartIsDescribedByWhatItIsThereFor) {
  const Building building;
  CompositionPart part{480, 0, 120, 0.123, 2, CompositionEvent::kPlan, 0};
  const auto described = [&](CompositionEvent event) {
    part.event = event;
    return Describe(building.problem, part);
  };
  const std::string entered = "2.00 s: walk from 0.50 s on, state 0.12 m off, at try 2";
  EXPECT_EQ(described(CompositionEvent::kPlan), entered);
  EXPECT_EQ(described(CompositionEvent::kGetUp), entered);
  EXPECT_EQ(described(CompositionEvent::kAnswer), entered + ", after a push");
  EXPECT_EQ(described(CompositionEvent::kResume), entered + ", on with the plan");
  EXPECT_EQ(described(CompositionEvent::kFall), "2.00 s: falls, after a push");
  EXPECT_EQ(described(CompositionEvent::kDrive), "2.00 s: servos go to walk at 0.50 s, state 0.12 m off");
  part.transition = Transition::kKinematic;
  part.hidden_impulse = 41.6;
  EXPECT_EQ(described(CompositionEvent::kPlan), entered + "; kinematic, for an impulse of 42 N s");
  part.tries = 0;
  EXPECT_EQ(described(CompositionEvent::kPlan), "2.00 s: walk");
}

TEST(CompositionProblem, ATryIsDescribedByHowFarItGot) {
  const Building building;
  CompositionTry tried{CompositionEvent::kPlan, 0, 480, 120, 0.123, 1, 0.5, 1.9};
  EXPECT_EQ(Describe(building.problem, tried), "2.00 s: walk from 0.50 s on, 0.12 m off: lost after 0.50 of 1.90 s");
  tried.effort = 4;
  tried.found = true;
  tried.end_distance = 0.05;
  EXPECT_EQ(Describe(building.problem, tried),
            "2.00 s: walk from 0.50 s on, 0.12 m off, with 4 times the samples: found, and ends 0.05 m off");
}

}  // namespace
}  // namespace retrace::runs
