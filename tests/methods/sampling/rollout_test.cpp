/// One sample: how targets are displaced, simulated, and sent.
#include "retrace/methods/sampling/rollout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "methods/sampling/small_problem.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/math/rotation.h"

namespace retrace::sampling {
namespace {

using character::Joint;

Offsets NoOffsets() {
  return Offsets(task::Human().joints.size(), Quat::Identity());
}

/// Uniform in the windows around these offsets.
Proposal UniformAround(const Offsets& center) {
  Proposal proposal;
  proposal.center = center;
  return proposal;
}

/// The tests below draw from the uniform distribution.
Offsets SampleOffsets(const Problem& problem, int iteration, int sample, const Offsets& center) {
  return UniformAround(center).Draw(problem, iteration, sample);
}

/// Displacement of each joint in a sample, in the axes of its parent [rad].
std::vector<Vec3> Displacements(const Problem& problem, int iteration, int sample, const Offsets& feedforward) {
  const Proposal proposal = UniformAround(feedforward);
  return proposal.Displacement(proposal.Draw(problem, iteration, sample));
}

parallel::Bytes BytesOf(const RolloutTask& task) {
  parallel::Bytes bytes;
  Pack(task, bytes);
  return bytes;
}
RolloutTask SentAndRead(const RolloutTask& task, const Problem& problem) {
  return UnpackTasks(BytesOf(task), problem).at(0);
}

bool SameBits(const Offsets& a, const Offsets& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Quat)) == 0;
}

TEST(Sample, IsAPureFunctionOfSeedIterationAndIndex) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  Problem problem = small.problem();
  const Offsets offsets = SampleOffsets(problem, 3, 7, NoOffsets());
  SampleOffsets(problem, 1, 2, NoOffsets());
  EXPECT_TRUE(SameBits(offsets, SampleOffsets(problem, 3, 7, NoOffsets())));
  EXPECT_FALSE(SameBits(offsets, SampleOffsets(problem, 3, 8, NoOffsets())));
  EXPECT_FALSE(SameBits(offsets, SampleOffsets(problem, 4, 7, NoOffsets())));
  problem.options.samples = 1000;
  EXPECT_TRUE(SameBits(offsets, SampleOffsets(problem, 3, 7, NoOffsets())));
  problem.options.seed += 1;
  EXPECT_FALSE(SameBits(offsets, SampleOffsets(problem, 3, 7, NoOffsets())));
  problem.options.seed = 1 + (uint64_t{1} << 32);
  EXPECT_FALSE(SameBits(offsets, SampleOffsets(problem, 3, 7, NoOffsets()))) << "the upper half of the seed counts too";
}

TEST(Sample, StaysInTheWindowsAndFillsThem) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  for (const double scale : {1.0, 0.5, 2.0}) {
    Problem problem = small.problem();
    problem.options.window_scale = scale;
    constexpr int kSamples = 2000;
    std::vector<Vec3> least(task::Human().joints.size(), Vec3::Constant(10));
    std::vector<Vec3> most(task::Human().joints.size(), Vec3::Constant(-10));
    std::vector<Vec3> mean(task::Human().joints.size(), Vec3::Zero());
    std::vector<Vec3> square(task::Human().joints.size(), Vec3::Zero());
    double correlation = 0;  // of two axes of one joint
    Offsets feedforward = NoOffsets();
    for (size_t j = 0; j < feedforward.size(); ++j) feedforward[j] = AxisRotation(static_cast<int>(j % 3), 0.1);
    const size_t hip = task::JointIndex("left_hip");
    for (int s = 1; s <= kSamples; ++s) {
      const std::vector<Vec3> displacements = Displacements(problem, 1, s, feedforward);
      for (size_t j = 0; j < displacements.size(); ++j) {
        least[j] = least[j].cwiseMin(displacements[j]);
        most[j] = most[j].cwiseMax(displacements[j]);
        mean[j] += displacements[j] / kSamples;
        square[j] += displacements[j].cwiseAbs2() / kSamples;
      }
      correlation += displacements[hip].x() * displacements[hip].y() / kSamples;
    }
    for (size_t j = 0; j < task::Human().joints.size(); ++j) {
      const Joint& joint = task::Human().joints[j];
      for (int a = 0; a < 3; ++a) {
        SCOPED_TRACE(joint.name + " axis " + std::to_string(a));
        const double window = scale * (joint.UsesAxis(a) ? joint.window[a] : 0.0);
        EXPECT_LE(most[j][a], window + 1e-12);
        EXPECT_GE(least[j][a], -window - 1e-12);
        EXPECT_GE(most[j][a], 0.99 * window - 1e-12);
        EXPECT_LE(least[j][a], -0.99 * window + 1e-12);
        // Uniform: mean 0 and mean square w^2/3, to four standard errors.
        EXPECT_LE(std::abs(mean[j][a]), 4 * window / std::sqrt(3.0 * kSamples) + 1e-12);
        EXPECT_NEAR(square[j][a], window * window / 3, 4 * window * window * std::sqrt(4.0 / 45 / kSamples) + 1e-12);
      }
    }
    const Vec3 window = scale * task::Human().joints[hip].window;
    EXPECT_LE(std::abs(correlation), 4 * window.x() * window.y() / (3 * std::sqrt(1.0 * kSamples)));
  }
}

TEST(Sample, LeavesJointsWithoutAWindowExactlyAlone) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  Offsets feedforward = NoOffsets();
  for (Quat& q : feedforward) q = FromRotationVector(Vec3(0.1, -0.2, 0.3));
  for (int s = 1; s < 50; ++s) {
    const Offsets offsets = SampleOffsets(small.problem(), 0, s, feedforward);
    for (const char* name : {"left_elbow", "right_elbow", "left_wrist", "right_wrist"}) {
      const size_t j = task::JointIndex(name);
      EXPECT_EQ(offsets[j].coeffs(), feedforward[j].coeffs());
    }
  }
}

TEST(Fragment, PutsOffsetsOnTheReference) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  Problem problem = small.problem();
  Offsets offsets = NoOffsets();
  offsets[2] = FromRotationVector(Vec3(0.1, 0.2, 0.3));
  for (const int knots : {1, 2, 5}) {
    problem.options.target_knots = knots;
    for (int i = 0; i < problem.task.schedule.num_iterations(); ++i) {
      const control::Fragment fragment = MakeFragment(problem, i, offsets);
      EXPECT_EQ(fragment.first_step, problem.task.schedule.steps[static_cast<size_t>(i)]);
      EXPECT_EQ(fragment.first_step + fragment.num_steps, problem.task.schedule.steps[static_cast<size_t>(i) + 1]);
      ASSERT_EQ(fragment.targets.size(), static_cast<size_t>(knots));
      for (int k = 0; k < knots; ++k) {
        const double along = knots == 1 ? 1.0 : static_cast<double>(k) / (knots - 1);
        character::Pose pose;
        small.reference().PoseAt((fragment.first_step + along * fragment.num_steps) * problem.time_step(), pose);
        for (size_t j = 0; j < offsets.size(); ++j) {
          const Quat& target = fragment.targets[static_cast<size_t>(k)][j];
          EXPECT_LT(AngleBetween(target, offsets[j] * pose.joint_rotations[j]), 1e-12);
          EXPECT_NEAR(target.norm(), 1, 1e-15);
        }
      }
    }
  }
}

TEST(Worker, FeedforwardIsAMultipleOfWhatTheServosMissed) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.feedforward_gain = 1.5;
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const Problem& problem = small.problem();
  RolloutWorker worker(problem);
  RolloutResult result;
  worker.Run({0, 0, 0, 2, problem.task.start}, result);
  simulation::World world(task::Human(), problem.task.world);
  control::SimulationScratch scratch;
  const control::Fragment plain = MakeFragment(problem, 0, NoOffsets());
  character::State end;
  ASSERT_TRUE(control::SimulateFragment(world, problem.task.start, plain, scratch, end));
  double largest = 0;
  for (size_t j = 0; j < task::Human().joints.size(); ++j) {
    const Joint& joint = task::Human().joints[j];
    const Vec3 missed = RotationVector(plain.targets.back()[j] * character::JointRotation(joint, end).conjugate());
    const Vec3 offset = RotationVector((*result.center)[j]);
    for (int a = 0; a < 3; ++a) EXPECT_NEAR(offset[a], joint.UsesAxis(a) ? 1.5 * missed[a] : 0, 1e-6) << joint.name;
    largest = std::max(largest, offset.norm());
  }
  EXPECT_GT(largest, 0.01) << "gravity must have been missed somewhere";
  // That simulation is candidate 0; the next one is displaced on top of what was missed.
  EXPECT_EQ(control::Fingerprint(result.samples[0].end), control::Fingerprint(end));
  const Offsets offsets = SampleOffsets(problem, 0, 1, (*result.center));
  ASSERT_TRUE(control::SimulateFragment(world, problem.task.start, MakeFragment(problem, 0, offsets), scratch, end));
  EXPECT_EQ(control::Fingerprint(result.samples[1].end), control::Fingerprint(end));
}

/// Sum over joints of the angle by which the servos miss the reference, after the feedforward offset.
double MissedWithGain(double gain) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.feedforward_gain = gain;
  const SmallProblem small(configuration, task::Squatting, 0.6);
  const Problem& problem = small.problem();
  RolloutWorker worker(problem);
  simulation::World world(task::Human(), problem.task.world);
  control::SimulationScratch scratch;
  double sum = 0;
  for (int i = 1; i < problem.task.schedule.num_iterations(); ++i) {
    RolloutTask task{i, i, 0, 1, {}};
    small.reference().StateAt(problem.task.schedule.steps[static_cast<size_t>(i)] * problem.time_step(), task.start);
    RolloutResult result;
    worker.Run(task, result);
    character::State end;
    EXPECT_TRUE(control::SimulateFragment(world, task.start, MakeFragment(problem, i, (*result.center)), scratch, end));
    const control::Fragment plain = MakeFragment(problem, i, NoOffsets());
    for (size_t j = 0; j < task::Human().joints.size(); ++j)
      sum += AngleBetween(plain.targets.back()[j], character::JointRotation(task::Human().joints[j], end));
  }
  return sum;
}

TEST(Worker, AnOffsetOfWhatWasMissedOnceLeavesAboutHalfOfIt) {
  const double without = MissedWithGain(0);
  const double once = MissedWithGain(1);
  const double twice = MissedWithGain(2);
  RecordProperty("once_of_without", std::to_string(once / without));
  RecordProperty("twice_of_without", std::to_string(twice / without));
  EXPECT_LT(once, 0.8 * without);
  EXPECT_LT(twice, 0.8 * once) << once << " " << twice << " of " << without;
}

TEST(Worker, FeedforwardIsLimitedAndCanBeTurnedOff) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.feedforward_limit = 0.005;
  const SmallProblem limited(configuration, task::Squatting, 0.3);
  RolloutResult result;
  RolloutWorker(limited.problem()).Run({0, 0, 0, 2, limited.problem().task.start}, result);
  double largest = 0;
  for (const Quat& q : (*result.center)) largest = std::max(largest, RotationVector(q).norm());
  EXPECT_NEAR(largest, 0.005, 1e-12);
  configuration.sampling.feedforward = false;
  const SmallProblem off(configuration, task::Squatting, 0.3);
  RolloutWorker(off.problem()).Run({0, 0, 0, 2, off.problem().task.start}, result);
  EXPECT_TRUE(SameBits(*result.center, NoOffsets()));
}

TEST(Worker, DoesNotCareHowSamplesAreDealtOut) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  RolloutWorker worker(problem);
  RolloutResult all;
  Proposal proposal;
  proposal.undisplaced = 10;
  worker.Run({1, 1, 10, 6, problem.task.start, proposal}, all);
  RolloutWorker other(problem);
  for (int s = 5; s >= 0; --s) {
    RolloutResult one;
    other.Run({1, 1, 10 + s, 1, problem.task.start, proposal}, one);
    const RolloutSample& expected = all.samples[static_cast<size_t>(s)];
    EXPECT_EQ(control::Fingerprint(one.samples[0].end), control::Fingerprint(expected.end));
    EXPECT_EQ(one.samples[0].terms.Total({}), expected.terms.Total({}));
    EXPECT_EQ(one.samples[0].gate_ratio, expected.gate_ratio);
  }
}

/// Samples of several start states share the lanes of a processor's vectors: what is simulated beside what does not
/// matter.
TEST(Worker, DoesNotCareWhatIsSimulatedBesideWhat) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  RolloutWorker worker(problem);
  std::vector<RolloutTask> tasks;
  for (int t = 0; t < 5; ++t) {
    RolloutTask& task = tasks.emplace_back(RolloutTask{1, 1, 3 * t, 1 + t % 3, problem.task.start});
    task.proposal.undisplaced = t == 3 ? 0 : 3 * t;  // one of them begins in the middle of its start state's samples
    for (auto& body : task.start) body.linear_velocity.x() += 0.1 * t;
  }
  std::vector<RolloutResult> together;
  worker.Run(tasks, together);
  ASSERT_EQ(together.size(), tasks.size());
  for (size_t t = 0; t < tasks.size(); ++t) {
    RolloutResult alone;
    RolloutWorker(problem).Run(tasks[t], alone);
    EXPECT_TRUE(SameBits(*alone.center, *together[t].center));
    ASSERT_EQ(together[t].samples.size(), alone.samples.size());
    for (size_t s = 0; s < alone.samples.size(); ++s) {
      EXPECT_EQ(control::Fingerprint(together[t].samples[s].end), control::Fingerprint(alone.samples[s].end));
      EXPECT_EQ(together[t].samples[s].terms.Total({}), alone.samples[s].terms.Total({}));
      EXPECT_EQ(together[t].samples[s].terms.smoothness, alone.samples[s].terms.smoothness);
      EXPECT_EQ(together[t].samples[s].gate_ratio, alone.samples[s].gate_ratio);
    }
  }
}

TEST(Worker, EvaluatesAgainstTheReferenceAtTheEndOfTheFragment) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  RolloutResult result;
  RolloutWorker(problem).Run({2, 2, 0, 3, problem.task.start}, result);
  character::State reference;
  small.reference().StateAt(problem.task.schedule.steps[3] * problem.time_step(), reference);
  for (const RolloutSample& sample : result.samples) {
    EXPECT_EQ(sample.terms.Total({}), task::CostReference(task::Human(), reference).Evaluate(sample.end).Total({}));
    EXPECT_GE(sample.gate_ratio, metrics::LargestGateRatio(task::Human(), sample.end, reference, problem.task.gates));
  }
}

/// Candidate 0 of a fragment from the start state, and the same by its replay: states of simulation and reference at
/// the instants at which a worker looks.
struct WatchedCandidate {
  explicit WatchedCandidate(const SmallProblem& small) {
    const Problem& problem = small.problem();
    RolloutResult result;
    RolloutWorker(problem).Run({1, 1, 0, 1, problem.task.start}, result);
    sample = result.samples[0];
    control::OpenLoopControl control;
    control.world = problem.task.world;
    control.start = problem.task.start;
    control.fragments = {MakeFragment(problem, 1, NoOffsets())};
    const control::Trajectory trajectory = control::Replay(task::Human(), control);
    const int last = control.fragments[0].num_steps;
    const int apart = static_cast<int>(std::lround(kGateInterval / problem.time_step()));
    duration = last * problem.time_step();
    std::vector<int> steps = {0};
    for (int step = last; step > 0; step -= apart) steps.insert(steps.begin() + 1, step);
    for (const int step : steps) {
      simulated.push_back(trajectory.states[static_cast<size_t>(step)]);
      small.reference().StateAt((control.fragments[0].first_step + step) * problem.time_step(),
                                reference.emplace_back());
    }
  }
  RolloutSample sample;
  double duration = 0;                      // of the fragment [s]
  std::vector<character::State> simulated;  // the fragment's start, then each instant
  std::vector<character::State> reference;
};

TEST(Worker, ComparesWithTheGatesOnTheWayToo) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const WatchedCandidate watched(small);
  ASSERT_GT(watched.simulated.size(), 2u);
  double share = 0;
  for (size_t i = 1; i < watched.simulated.size(); ++i) {
    share = std::max(share, metrics::LargestGateRatio(task::Human(), watched.simulated[i], watched.reference[i],
                                                      small.problem().task.gates));
  }
  EXPECT_EQ(watched.sample.gate_ratio, share);
}

TEST(Worker, MeasuresHowMuchAccelerationsDifferFromTheReferences) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const WatchedCandidate watched(small);
  const auto change = [](const Joint& joint, const std::vector<character::State>& states, size_t i) {
    return Vec3(character::RelativeRate(joint, states[i]) - character::RelativeRate(joint, states[i - 1]));
  };
  double sum = 0;
  for (size_t i = 1; i < watched.simulated.size(); ++i) {
    for (const Joint& joint : task::Human().joints) {
      sum += (change(joint, watched.simulated, i) - change(joint, watched.reference, i)).norm();
    }
  }
  EXPECT_NEAR(watched.sample.terms.smoothness,
              sum / (static_cast<double>(task::Human().joints.size()) * watched.duration), 1e-9);
}

TEST(Fragment, GoesOverFromTheOffsetsBefore) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.ramp = 0.5;
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const Problem& problem = small.problem();
  Offsets before = NoOffsets();
  Offsets after = NoOffsets();
  before[0] = FromRotationVector(Vec3(0.2, 0, 0));
  after[0] = FromRotationVector(Vec3(0.4, 0, 0));
  const control::Fragment plain = MakeFragment(problem, 1, NoOffsets());
  const control::Fragment fragment = MakeFragment(problem, 1, after, before);
  ASSERT_EQ(fragment.targets.size(), 5u);
  const double expected[] = {0.2, 0.3, 0.4, 0.4, 0.4};  // [rad] over the reference, at each knot
  for (size_t k = 0; k < 5; ++k) {
    const Vec3 offset = RotationVector(fragment.targets[k][0] * plain.targets[k][0].conjugate());
    EXPECT_NEAR(offset.x(), expected[k], 1e-4) << k;
    EXPECT_LT(AngleBetween(fragment.targets[k][1], plain.targets[k][1]), 1e-7);
  }
}

/// A normal distribution without scatter around one set of offsets, and the pose that the fragment should end with.
NormalOffsets Around(const Offsets& offsets, const character::State& goal) {
  NormalOffsets normal;
  normal.goal.emplace();
  for (size_t j = 0; j < offsets.size(); ++j) {
    normal.mean.push_back(RotationVector(offsets[j]));
    normal.deviation.push_back(Vec3::Zero());
    normal.goal->push_back(character::JointRotation(task::Human().joints[j], goal));
  }
  return normal;
}

TEST(Worker, CorrectsMeansByWhatTheyMiss) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  RolloutResult plain;
  RolloutWorker(problem).Run({1, 1, 0, 1, problem.task.start}, plain);
  // Nothing is missed where the goal is what the mean leads to.
  NormalOffsets normal = Around(NoOffsets(), plain.samples[0].end);
  RolloutTask task{1, 1, 0, 3, problem.task.start};
  task.proposal.distribution = normal;
  RolloutResult result;
  RolloutWorker(problem).Run(task, result);
  for (const Quat& q : *result.center) EXPECT_LT(RotationVector(q).norm(), 1e-9);
  EXPECT_EQ(control::Fingerprint(result.samples[0].end), control::Fingerprint(plain.samples[0].end));
  // A goal that is turned by a little is missed by that, and the offset is `correction` times as much.
  const size_t neck = static_cast<size_t>(task::Human().FindJoint("neck"));
  const Vec3 turn(0.03, 0, 0);
  (*normal.goal)[neck] = FromRotationVector(turn) * (*normal.goal)[neck];
  task.proposal.distribution = normal;
  RolloutWorker(problem).Run(task, result);
  EXPECT_LT((RotationVector((*result.center)[neck]) - problem.options.correction * turn).norm(), 1e-9);
  // Samples that another worker simulates are the same.
  RolloutTask rest = task;
  rest.first_sample = 1;
  rest.num_samples = 2;
  RolloutResult others;
  RolloutWorker(problem).Run(rest, others);
  for (size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(control::Fingerprint(others.samples[s].end), control::Fingerprint(result.samples[s + 1].end));
  }
  // So they are when the center is known.
  EXPECT_TRUE(SameBits(*others.center, *result.center));
  rest.proposal.center = result.center;
  RolloutResult known;
  RolloutWorker(problem).Run(rest, known);
  EXPECT_FALSE(known.center.has_value());
  for (size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(control::Fingerprint(known.samples[s].end), control::Fingerprint(result.samples[s + 1].end));
  }
}

TEST(Worker, TakesACenterThatIsKnown) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  RolloutResult whole;
  RolloutWorker(small.problem()).Run({0, 1, 0, 5, small.problem().task.start}, whole);
  ASSERT_TRUE(whole.center.has_value());
  RolloutTask rest{0, 1, 3, 2, small.problem().task.start, UniformAround(*whole.center)};
  RolloutResult known;
  RolloutWorker(small.problem()).Run(rest, known);
  EXPECT_FALSE(known.center.has_value()) << "it is not sent back";
  ASSERT_EQ(known.samples.size(), 2u);
  for (size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(control::Fingerprint(known.samples[s].end), control::Fingerprint(whole.samples[s + 3].end));
  }
}

/// What the worker simulates is what the master draws from the same proposal, for every kind of it.
TEST(Proposal, GivesTheTargetsThatTheWorkerSimulated) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.correlation = 0.5;
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const Problem& problem = small.problem();
  const size_t joints = task::Human().joints.size();
  NormalOffsets aimed = Around(NoOffsets(), problem.task.start);
  aimed.deviation.assign(joints, Vec3(0.02, 0.03, 0.04));
  NormalOffsets plain = aimed;
  plain.goal.reset();
  std::vector<Proposal> proposals(4);
  proposals[1].distribution = plain;
  proposals[2].distribution = aimed;
  proposals[3].distribution = aimed;
  proposals[3].ramp_from = Offsets(joints, FromRotationVector(Vec3(0.05, 0, 0)));
  for (size_t p = 0; p < 3; ++p) proposals[p].kept = std::vector<Vec3>(joints, Vec3(0.01, 0, -0.01));
  simulation::World world(task::Human(), problem.task.world);
  control::SimulationScratch scratch;
  for (size_t p = 0; p < proposals.size(); ++p) {
    SCOPED_TRACE(p);
    Proposal& proposal = proposals[p];
    proposal.undisplaced = 4;
    RolloutResult result;
    RolloutWorker(problem).Run({2, 1, 4, 3, problem.task.start, proposal}, result);
    proposal.center = result.center;
    for (int s = 0; s < 3; ++s) {
      const Offsets offsets = proposal.Draw(problem, 2, 4 + s);
      character::State end;
      ASSERT_TRUE(control::SimulateFragment(world, problem.task.start,
                                            MakeFragment(problem, 1, offsets, proposal.ramp_from), scratch, end));
      EXPECT_EQ(control::Fingerprint(end), control::Fingerprint(result.samples[static_cast<size_t>(s)].end));
    }
    EXPECT_TRUE(SameBits(proposal.Draw(problem, 2, 4), proposal.Undisplaced(problem)));
    EXPECT_FALSE(SameBits(proposal.Draw(problem, 2, 5), proposal.Draw(problem, 2, 6)));
  }
}

/// Another human stands so near that the two touch, with a control whose fragments begin at other steps. In a replay of
/// both the samples of one fragment after the other end in the same state, to the bit.
TEST(Worker, SamplesAmongOthersAreThoseOfAScene) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  Problem problem = small.problem();
  character::State other = problem.task.start;
  character::Place(AxisRotation(1, kPi), Vec3(0.02, 0, 0.3), other);
  const control::OpenLoopControl alone{problem.task.world, problem.task.start, {}};
  control::OpenLoopControl beside{problem.task.world, other, {}};
  for (int first = 0; first < problem.task.schedule.steps.back() - 20; first += 17) {
    control::Fragment& fragment = beside.fragments.emplace_back();
    fragment.first_step = first;
    fragment.num_steps = 17;
    character::Pose pose;
    for (const int step : {0, 8, 17}) {
      small.reference().PoseAt((first + step) * problem.time_step(), pose);
      fragment.targets.push_back(pose.joint_rotations);
    }
  }
  control::Scene scene = control::MakeScene(task::Human(), alone);
  control::AddToScene(task::Human(), beside, Quat::Identity(), Vec3::Zero(), scene);
  problem.task.world = scene.world;
  problem.task.start = scene.start;
  problem.companions = {{&task::Human(), control::SplitAt({problem.task.schedule.steps.back()}, beside.fragments)}};
  RolloutWorker worker(problem);
  RolloutTask task{0, 0, 0, 2, problem.task.start};
  for (int i = 0; i < problem.task.schedule.num_iterations(); ++i) {
    task.fragment = i;
    RolloutResult result;
    worker.Run(task, result);
    ASSERT_FALSE(result.samples[1].diverged) << i;
    const Offsets offsets = SampleOffsets(problem, 0, 1, *result.center);
    scene.fragments[0].push_back(MakeFragment(problem, i, offsets));
    task.start = result.samples[1].end;
    std::vector<int> steps(problem.task.schedule.steps.begin(), problem.task.schedule.steps.begin() + i + 2);
    control::Scene cut = scene;
    cut.fragments[1] = control::SplitAt(steps, scene.fragments[1]);
    const control::Trajectory whole = control::Replay(cut);
    bool touch = false;
    for (const auto& contacts : whole.contacts) {
      for (const simulation::Contact& contact : contacts) touch = touch || (contact.body < 16 && contact.other >= 16);
    }
    EXPECT_TRUE(touch);
    EXPECT_EQ(control::Fingerprint(whole.states[static_cast<size_t>(steps.back())]),
              control::Fingerprint(result.samples[1].end))
        << i;
  }
}

TEST(Proposal, KeepsAShareOfTheDisplacement) {
  Configuration configuration = SmallConfiguration();
  configuration.sampling.correlation = 0.6;
  const SmallProblem small(configuration, task::Squatting, 0.5);
  const size_t hip = task::JointIndex("left_hip");
  Proposal fresh = UniformAround(NoOffsets());
  Proposal mixed = fresh;
  mixed.kept = std::vector<Vec3>(task::Human().joints.size(), Vec3(0.01, 0.02, -0.03));
  const Vec3 alone = fresh.Displacement(fresh.Draw(small.problem(), 1, 5))[hip];
  const Vec3 both = mixed.Displacement(mixed.Draw(small.problem(), 1, 5))[hip];
  EXPECT_LT((both - (0.8 * alone + 0.6 * Vec3(0.01, 0.02, -0.03))).norm(), 1e-9);
}

TEST(Proposal, OfADisplacedSampleNeedsItsCenter) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  EXPECT_NO_THROW(Proposal().Draw(small.problem(), 0, 0));
  EXPECT_THROW(Proposal().Draw(small.problem(), 0, 1), std::bad_optional_access);
}

TEST(Worker, DivergenceIsAValue) {
  Configuration configuration = SmallConfiguration();
  configuration.task.world.servo = simulation::Servo::kExplicit;
  configuration.task.world.time_step = 0.01;
  const SmallProblem small(configuration, task::Squatting, 0.3);
  RolloutResult result;
  RolloutWorker(small.problem()).Run({0, 0, 0, 5, small.problem().task.start}, result);
  for (const RolloutSample& sample : result.samples) EXPECT_TRUE(sample.diverged);
  EXPECT_EQ(result.samples.size(), 5u);
}

// ---- messages

TEST(Messages, CarryTheWholeProposal) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  NormalOffsets normal = Around(NoOffsets(), problem.task.start);
  normal.deviation[1] = Vec3(1, 2, 3);
  RolloutTask task{3, 2, 14, 5, problem.task.start};
  task.proposal.distribution = normal;
  task.proposal.undisplaced = 12;
  task.proposal.ramp_from = NoOffsets();
  (*task.proposal.ramp_from)[2] = FromRotationVector(Vec3(0.1, 0.2, 0.3));
  const Proposal ramped = SentAndRead(task, problem).proposal;
  const auto& read = std::get<NormalOffsets>(ramped.distribution);
  EXPECT_TRUE(SameBits(*ramped.ramp_from, *task.proposal.ramp_from));
  EXPECT_TRUE(SameBits(*read.goal, *normal.goal));
  EXPECT_EQ(read.mean, normal.mean);
  EXPECT_EQ(read.deviation, normal.deviation);
  EXPECT_EQ(ramped.undisplaced, 12);
  EXPECT_FALSE(ramped.kept.has_value());
  EXPECT_FALSE(ramped.center.has_value());

  task.proposal = UniformAround(*task.proposal.ramp_from);
  task.proposal.kept = normal.deviation;
  const Proposal uniform = SentAndRead(task, problem).proposal;
  EXPECT_FALSE(uniform.fitted());
  EXPECT_TRUE(SameBits(*uniform.center, *task.proposal.center));
  EXPECT_EQ(*uniform.kept, normal.deviation);
  EXPECT_FALSE(uniform.ramp_from.has_value());
}

TEST(Messages, ComeOutAsTheyWentIn) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  const RolloutTask task{3, 2, 14, 5, problem.task.start};
  const RolloutTask read = SentAndRead(task, problem);
  EXPECT_EQ(read.iteration, 3);
  EXPECT_EQ(read.fragment, 2);
  EXPECT_EQ(read.first_sample, 14);
  EXPECT_EQ(read.num_samples, 5);
  EXPECT_EQ(control::Fingerprint(read.start), control::Fingerprint(task.start));

  RolloutResult result;
  RolloutWorker(problem).Run(task, result);
  result.samples[2].diverged = true;
  result.samples[2].end.clear();
  parallel::Bytes packed;
  Pack(result, packed);
  std::vector<RolloutResult> results;
  UnpackResults(packed, problem, results);
  const RolloutResult unpacked = results.at(0);
  EXPECT_TRUE(SameBits(*unpacked.center, *result.center));
  EXPECT_EQ(unpacked.cpu_seconds, result.cpu_seconds);
  ASSERT_EQ(unpacked.samples.size(), result.samples.size());
  for (size_t s = 0; s < result.samples.size(); ++s) {
    const RolloutSample& a = unpacked.samples[s];
    const RolloutSample& b = result.samples[s];
    EXPECT_EQ(a.diverged, b.diverged);
    EXPECT_EQ(std::vector<double>({a.terms.pose, a.terms.root, a.terms.end_effector, a.terms.balance, a.gate_ratio}),
              std::vector<double>({b.terms.pose, b.terms.root, b.terms.end_effector, b.terms.balance, b.gate_ratio}));
    EXPECT_EQ(control::Fingerprint(a.end), control::Fingerprint(b.end));
  }
  parallel::Bytes again;
  Pack(unpacked, again);
  EXPECT_EQ(again, packed);
}

TEST(Messages, CarrySeveralTasksAndResults) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const Problem& problem = small.problem();
  parallel::Bytes bytes;
  for (const int samples : {3, 0, 2}) Pack({1, 1, 5, samples, problem.task.start}, bytes);
  const std::vector<RolloutTask> tasks = UnpackTasks(bytes, problem);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[2].num_samples, 2);
  std::vector<RolloutResult> results;
  RolloutWorker(problem).Run(tasks, results);
  parallel::Bytes packed;
  for (const RolloutResult& result : results) Pack(result, packed);
  std::vector<RolloutResult> unpacked(7);  // what is there is overwritten
  UnpackResults(packed, problem, unpacked);
  ASSERT_EQ(unpacked.size(), 3u);
  for (size_t r = 0; r < 3; ++r) {
    ASSERT_EQ(unpacked[r].samples.size(), results[r].samples.size());
    EXPECT_EQ(unpacked[r].samples.size(), static_cast<size_t>(tasks[r].num_samples));
    for (size_t s = 0; s < results[r].samples.size(); ++s) {
      EXPECT_EQ(control::Fingerprint(unpacked[r].samples[s].end), control::Fingerprint(results[r].samples[s].end));
    }
  }
}

TEST(Messages, TakeLessThanFourKilobytesPerSample) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  const RolloutTask task{0, 0, 0, 1400 / 200,
                         small.problem().task.start};  // as many as share a start state in the paper
  RolloutResult result;
  RolloutWorker(small.problem()).Run(task, result);
  parallel::Bytes bytes;
  Pack(result, bytes);
  EXPECT_LT((bytes.size() + BytesOf(task).size()) / static_cast<size_t>(task.num_samples), 4096u);
}

TEST(Messages, OfAnotherLengthAreABug) {
  const SmallProblem small(SmallConfiguration(), task::Squatting, 0.5);
  parallel::Bytes bytes = BytesOf({0, 0, 0, 1, small.problem().task.start});
  bytes.pop_back();
  EXPECT_THROW(UnpackTasks(bytes, small.problem()), std::logic_error);
  bytes.resize(bytes.size() + 2);
  EXPECT_THROW(UnpackTasks(bytes, small.problem()), std::logic_error);
}

TEST(Rollout, JointWeightsAreDrawnAnewForEachSeed) {
  character::Character character = task::Human();
  character.joints[1].cost_weight = 3;
  Options options;
  const std::vector<double> even = JointWeights(character, options);
  ASSERT_EQ(even.size(), character.joints.size());
  EXPECT_EQ(even[0], 1);
  EXPECT_EQ(even[1], 3);
  options.joint_weight_spread = 1;
  const std::vector<double> first = JointWeights(character, options);
  EXPECT_EQ(JointWeights(character, options), first);
  double least = 1, most = 1;
  for (options.seed = 2; options.seed < 200; ++options.seed) {
    const std::vector<double> other = JointWeights(character, options);
    EXPECT_NE(other, first);
    least = std::min(least, other[0]);
    most = std::max(most, other[0]);
  }
  EXPECT_GE(least, 0.5);
  EXPECT_LT(least, 0.53);
  EXPECT_LE(most, 2);
  EXPECT_GT(most, 1.9);
}

}  // namespace
}  // namespace retrace::sampling
