/// The search against its definition, and against all that must not change what it finds.
#include "retrace/matching/window_search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "matching/any_motion.h"
#include "matching/window_kernel.h"
#include "retrace/character/kinematics.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "task/synthetic_motion.h"

namespace retrace::matching {
namespace {

/// The distance as it is defined, from the states.
double DefinedDistance(const character::ReferenceMotion& a, size_t first_a, const character::ReferenceMotion& b,
                       size_t first_b, const WindowOptions& options) {
  const character::Character& human = task::Human();
  character::State at_a, at_b, now_a, now_b;
  const auto time = [](size_t frame) { return static_cast<double>(frame) * kFrameTime; };
  a.StateAt(time(first_a), at_a);
  b.StateAt(time(first_b), at_b);
  const auto root = static_cast<size_t>(human.root);
  const Quat turn = Heading(at_a[root].orientation) * Heading(at_b[root].orientation).conjugate();
  Vec3 move = at_a[root].position - turn * at_b[root].position;
  move.y() = 0;
  std::vector<double> weights = BodyWeights(human, options);
  weights[static_cast<size_t>(SupportOf(human, at_a))] += options.support_weight;
  double all_weights = 0, all_frames = 0, sum = 0;
  for (const double weight : weights) all_weights += weight;
  for (int k = 0; k < options.frames; ++k) {
    const double left = 1 - static_cast<double>(k) / options.frames;
    a.StateAt(time(first_a + static_cast<size_t>(k)), now_a);
    b.StateAt(time(first_b + static_cast<size_t>(k)), now_b);
    double term =
        options.velocity_time *
        (character::CenterOfMassVelocity(human, now_a) - turn * character::CenterOfMassVelocity(human, now_b)).norm();
    for (size_t body = 0; body < weights.size(); ++body) {
      const double away = (now_a[body].position - turn * now_b[body].position - move).norm();
      const double turned = AngleBetween(now_a[body].orientation, turn * now_b[body].orientation);
      term += weights[body] / all_weights * (away + options.turn_weight * turned);
    }
    sum += left * left * term;
    all_frames += left * left;
  }
  return sum / all_frames;
}

TEST(WindowSearch, DistanceIsAsItIsDefined) {
  const MotionLibrary library = AnyLibrary(1, 4);
  const character::ReferenceMotion query = task::Motion(AnyMotion(77), 2);
  WindowOptions plain;
  plain.velocity_time = 0;
  WindowOptions other;
  other.frames = 4;
  other.support_weight = 3;
  for (const WindowOptions& options : {WindowOptions(), plain, other}) {
    const WindowSearch search(library, FramesOf(query), {3, 20, 41}, options);
    for (const size_t frame : {0, 17, 100, 170}) {
      const MotionLibrary::Motion& motion = library.motions()[library.MotionOf(frame)];
      const double defined =
          DefinedDistance(query, 20, library.ReferenceOf(library.MotionOf(frame)), frame - motion.first, options);
      EXPECT_NEAR(search.Distance(1, frame), defined, 2e-4) << frame;
    }
  }
}

TEST(WindowSearch, FindsWhatBruteForceFindsOnAnyNumberOfThreads) {
  const MotionLibrary library = AnyLibrary(2, 40, 3);  // 3640 frames, two blocks of the farm
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<Frame> query = FramesOf(task::Motion(AnyMotion(500 + seed), 1.5));
    std::vector<size_t> starts;
    for (size_t start = 0; start < 10; ++start) starts.push_back(3 * start);
    const WindowSearch search(library, query, starts);
    const auto brute = search.NearestByBruteForce(), found = search.Nearest();
    const auto one = parallel::MakeThreadFarm(1, search.MakeWorkerFactory());
    const auto three = parallel::MakeThreadFarm(3, search.MakeWorkerFactory());
    const auto on_one = search.Nearest(*one), on_three = search.Nearest(*three);
    for (size_t s = 0; s < starts.size(); ++s) {
      for (const auto* matches : {&found, &on_one, &on_three}) {
        ASSERT_TRUE((*matches)[s]);
        EXPECT_EQ((*matches)[s]->start, starts[s]);
        EXPECT_EQ((*matches)[s]->motion, brute[s]->motion);
        EXPECT_EQ((*matches)[s]->frame, brute[s]->frame);
        EXPECT_EQ((*matches)[s]->distance, brute[s]->distance);
      }
    }
  }
}

RC_GTEST_PROP(WindowSearchProperty, FindsAPlantedMotionWhereverItStandsAndLooks, ()) {
  const auto seed = *rc::gen::inRange<uint64_t>(1, 1000000);
  RandomStream random(seed, RandomStage::kTest, 1, 0);
  MotionLibrary library = AnyLibrary(seed, 6);
  const size_t motion = seed % 6, start = 5 + seed % 40;
  const Quat turn = AxisRotation(1, random.Uniform(-3, 3));
  const Vec3 move(random.Uniform(-5, 5), 0, random.Uniform(-5, 5));
  std::vector<character::Pose> poses = library.ReferenceOf(motion).poses();
  for (character::Pose& pose : poses) {
    pose.root_orientation = turn * pose.root_orientation;
    pose.root_position = turn * pose.root_position + move;
    for (Quat& joint : pose.joint_rotations) {
      joint = FromRotationVector(
                  Vec3(random.Uniform(-0.03, 0.03), random.Uniform(-0.03, 0.03), random.Uniform(-0.03, 0.03))) *
              joint;
    }
  }
  const std::vector<Frame> query = FramesOf(library.ReferenceOf(motion).WithPoses(poses));
  const auto found = WindowSearch(library, query, {start}).Nearest();
  RC_ASSERT(found[0]);
  RC_ASSERT(found[0]->motion == motion);
  RC_ASSERT(found[0]->frame + 1 >= start);
  RC_ASSERT(found[0]->frame <= start + 1);
}

TEST(WindowSearch, DoesNotChangeWhenTheLibraryIsMovedAndTurned) {
  MotionLibrary library(task::Human()), elsewhere(task::Human());
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const AnyMotion motion(seed);
    const Quat turn = AxisRotation(1, 0.9 * static_cast<double>(seed));
    library.Add("motion", task::Motion(motion, 2));
    elsewhere.Add("motion", task::Motion(
                                [&](double time) {
                                  character::Pose pose = motion(time);
                                  pose.root_orientation = turn * pose.root_orientation;
                                  pose.root_position = turn * pose.root_position + Vec3(2, 0, 5);
                                  return pose;
                                },
                                2));
  }
  const std::vector<Frame> query = FramesOf(task::Motion(AnyMotion(99), 2));
  const auto here = WindowSearch(library, query, {0, 10, 20, 30}).Nearest(),
             there = WindowSearch(elsewhere, query, {0, 10, 20, 30}).Nearest();
  for (size_t s = 0; s < here.size(); ++s) {
    EXPECT_EQ(here[s]->motion, there[s]->motion);
    EXPECT_EQ(here[s]->frame, there[s]->frame);
    EXPECT_NEAR(here[s]->distance, there[s]->distance, 1e-5);
  }
}

TEST(WindowSearch, TakesTheFirstOfTwoThatAreAlikeAndNoneThatIsLeftOut) {
  MotionLibrary library(task::Human());
  for (int k = 0; k < 3; ++k) library.Add("the same", task::Motion(AnyMotion(5), 2));
  const std::vector<Frame> query = FramesOf(task::Motion(AnyMotion(5), 2));
  WindowSearch search(library, query, {12});
  EXPECT_EQ(search.Nearest()[0]->motion, 0);
  EXPECT_EQ(search.Nearest()[0]->frame, 12);
  EXPECT_NEAR(search.Nearest()[0]->distance, 0, 1e-3);
  search.LeaveOut(0);
  EXPECT_EQ(search.Nearest()[0]->motion, 1);
  search.LeaveOut(1);
  search.LeaveOut(2);
  EXPECT_FALSE(search.Nearest()[0]);
}

TEST(WindowSearch, FindsTheNearestMotions) {
  for (const uint64_t seed : {1, 2, 3}) {
    const MotionLibrary library = AnyLibrary(seed, 12);
    const std::vector<Frame> query = FramesOf(task::Motion(AnyMotion(seed + 50), 2));
    const std::vector<size_t> starts = {3, 9, 11, 20};
    const WindowSearch search(library, query, starts);
    std::vector<Match> each;  // by the distance of each pair
    for (size_t m = 0; m < library.motions().size(); ++m) {
      const MotionLibrary::Motion& motion = library.motions()[m];
      Match& nearest = each.emplace_back(Match{0, m, 0, 1e9});
      for (size_t frame = 0; frame + 10 <= motion.num_frames; ++frame) {
        for (size_t s = 0; s < starts.size(); ++s) {
          const double distance = search.Distance(s, motion.first + frame);
          if (distance < nearest.distance) nearest = {starts[s], m, frame, distance};
        }
      }
    }
    std::stable_sort(each.begin(), each.end(), [](const Match& a, const Match& b) { return a.distance < b.distance; });
    for (const size_t most : {size_t{0}, size_t{1}, size_t{5}, size_t{12}, size_t{50}}) {
      const std::vector<Match> found = search.NearestMotions(most);
      ASSERT_EQ(found.size(), std::min(most, each.size()));
      for (size_t k = 0; k < found.size(); ++k) {
        EXPECT_EQ(found[k].motion, each[k].motion);
        EXPECT_EQ(found[k].frame, each[k].frame);
        EXPECT_EQ(found[k].start, each[k].start);
        EXPECT_EQ(found[k].distance, each[k].distance);
      }
      // In one pass with the nearest of each start.
      const WindowSearch::NearestOfBoth both = search.NearestWithMotions(most);
      ASSERT_EQ(both.of_motions.size(), found.size());
      for (size_t k = 0; k < found.size(); ++k) {
        EXPECT_EQ(both.of_motions[k].motion, found[k].motion);
        EXPECT_EQ(both.of_motions[k].frame, found[k].frame);
        EXPECT_EQ(both.of_motions[k].start, found[k].start);
        EXPECT_EQ(both.of_motions[k].distance, found[k].distance);
      }
      const std::vector<std::optional<Match>> of_starts = search.Nearest();
      for (size_t s = 0; s < starts.size(); ++s) {
        EXPECT_EQ(both.of_starts[s]->motion, of_starts[s]->motion);
        EXPECT_EQ(both.of_starts[s]->frame, of_starts[s]->frame);
        EXPECT_EQ(both.of_starts[s]->distance, of_starts[s]->distance);
      }
    }
  }
}

TEST(WindowSearch, HasNoMatchInMotionsThatAreShorterThanAWindow) {
  MotionLibrary library(task::Human());
  library.Add("short", task::Motion(AnyMotion(5), 0.25));
  const std::vector<Frame> query = FramesOf(task::Motion(AnyMotion(5), 2));
  EXPECT_FALSE(WindowSearch(library, query, {0}).Nearest()[0]);
  library.Add("ten frames", task::Motion(AnyMotion(6), 0.3));
  EXPECT_EQ(WindowSearch(library, query, {0}).Nearest()[0]->motion, 1);
}

TEST(WindowSearch, RefusesAWindowThatIsLongerThanItsMotion) {
  const MotionLibrary library = AnyLibrary(3, 1);
  const std::vector<Frame> query = FramesOf(task::Motion(AnyMotion(5), 1));
  EXPECT_NO_THROW(WindowSearch(library, query, {21}));
  EXPECT_THROW(WindowSearch(library, query, {22}), std::invalid_argument);
  EXPECT_THROW(WindowSearch(library, query, {}), std::invalid_argument);
}

TEST(WindowKernel, HasTheSameBitsWithEveryInstructionSet) {
  const WindowKernels* const avx2 = kWindowKernels.Find(simd::InstructionSet::kAvx2);
  if (avx2 == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  constexpr size_t kBodies = 17, kLanes = 24, kRows = kBodyRows * kBodies + kVelocityRows;
  RandomStream random(9, RandomStage::kTest, 0, 0);
  const auto any = [&](size_t size) {
    std::vector<float> numbers(size);
    for (float& number : numbers) number = static_cast<float>(random.Uniform(-1, 1));
    return numbers;
  };
  const std::vector<float> query = any(kRows * kLanes), frame = any(kRows), weights = any(kBodies * kLanes);
  std::vector<float> fast = any(kLanes), slow = fast;
  const FramePair pair = {query.data(), frame.data(), weights.data(), kBodies, kLanes, 0.3F, 0.2F, 0.7F};
  avx2->add(pair, fast.data());
  kWindowKernels.baseline.add(pair, slow.data());
  for (size_t lane = 0; lane < kLanes; ++lane) EXPECT_EQ(fast[lane], slow[lane]) << lane;
}

}  // namespace
}  // namespace retrace::matching
