#include "retrace/methods/sampling/rollout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <memory>

#include "retrace/character/kinematics.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/parallel/bytes.h"

namespace retrace::sampling {
namespace {

using character::Joint;
using character::JointType;

double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

Offsets NoOffsets(const Problem& problem) {
  return Offsets(problem.task.character->joints.size(), Quat::Identity());
}

control::Fragment MakeFragment(const Problem& problem, int index, const Offsets& offsets, const Offsets& previous) {
  control::Fragment fragment;
  fragment.first_step = problem.task.schedule.steps[static_cast<size_t>(index)];
  fragment.num_steps = problem.task.schedule.steps[static_cast<size_t>(index) + 1] - fragment.first_step;
  const int knots = problem.options.target_knots;
  const double ramp = previous.empty() ? 0 : problem.options.smoothing.ramp;
  character::Pose pose;
  for (int k = 0; k < knots; ++k) {
    const double along = knots == 1 ? 1.0 : static_cast<double>(k) / (knots - 1);
    problem.task.reference->PoseAt((fragment.first_step + along * fragment.num_steps) * problem.time_step(), pose);
    for (size_t j = 0; j < offsets.size(); ++j) {
      const Quat offset = along < ramp ? Nlerp(previous[j], offsets[j], along / ramp) : offsets[j];
      pose.joint_rotations[j] = offset * pose.joint_rotations[j];
      pose.joint_rotations[j].normalize();
    }
    fragment.targets.push_back(pose.joint_rotations);
  }
  return fragment;
}

Offsets SampleOffsets(const Problem& problem, int iteration, int sample, const Offsets& feedforward,
                      const std::vector<Vec3>& kept) {
  const double rho = problem.options.correlation;
  const double fresh = kept.empty() ? 1 : std::sqrt(1 - rho * rho);
  Offsets offsets = feedforward;
  RandomStream random(problem.options.seed, RandomStage::kSampling, static_cast<uint32_t>(iteration),
                      static_cast<uint32_t>(sample));
  for (size_t j = 0; j < offsets.size(); ++j) {
    const Joint& joint = problem.task.character->joints[j];
    Vec3 displacement = Vec3::Zero();
    bool displaced = false;
    for (int a = 0; a < 3; ++a) {
      if (joint.window[a] == 0) continue;
      displacement[a] = fresh * problem.options.window_scale * joint.window[a] * random.Uniform(-1, 1);
      if (!kept.empty()) displacement[a] += rho * kept[j][a];
      displaced = true;
    }
    if (displaced) offsets[j] = FromRotationVector(displacement) * offsets[j];
  }
  return offsets;
}

Offsets DrawOffsets(const Problem& problem, int iteration, int sample, const OffsetDistribution& distribution,
                    const std::vector<Vec3>& kept) {
  const double rho = problem.options.correlation;
  const double fresh = kept.empty() ? 1 : std::sqrt(1 - rho * rho);
  Offsets offsets;
  RandomStream random(problem.options.seed, RandomStage::kSampling, static_cast<uint32_t>(iteration),
                      static_cast<uint32_t>(sample));
  for (size_t j = 0; j < distribution.mean.size(); ++j) {
    Vec3 turn = distribution.mean[j];
    for (int a = 0; a < 3; ++a) {
      if (distribution.deviation[j][a] > 0) turn[a] += fresh * distribution.deviation[j][a] * random.Normal();
      if (!kept.empty()) turn[a] += rho * kept[j][a];
    }
    offsets.push_back(FromRotationVector(turn));
  }
  return offsets;
}

OffsetDistribution WithMean(const OffsetDistribution& distribution, const Offsets& means) {
  OffsetDistribution moved = distribution;
  for (size_t j = 0; j < means.size(); ++j) moved.mean[j] = RotationVector(means[j]);
  return moved;
}

Offsets MeanOffsets(const OffsetDistribution& distribution) {
  Offsets offsets;
  for (const Vec3& mean : distribution.mean) offsets.push_back(FromRotationVector(mean));
  return offsets;
}

RolloutWorker::RolloutWorker(const Problem& problem)
    : problem_(problem),
      world_(*problem.task.character, problem.task.world),
      gate_steps_(std::max(1, static_cast<int>(std::lround(kGateInterval / problem.time_step())))) {
  character::State state;
  for (size_t i = 0; i + 1 < problem.task.schedule.steps.size(); ++i) {
    reference_states_.emplace_back();
    reference_rates_.emplace_back();
    for (int step = problem.task.schedule.steps[i + 1]; step > problem.task.schedule.steps[i]; step -= gate_steps_) {
      problem.task.reference->StateAt(step * problem.time_step(), state);
      reference_states_.back().push_back(state);
      RatesOf(state, reference_rates_.back().emplace_back());
    }
    problem.task.reference->StateAt(problem.task.schedule.steps[i] * problem.time_step(), state);
    RatesOf(state, reference_rates_.back().emplace_back());
    references_.emplace_back(*problem.task.character, reference_states_.back().front(), problem.task.cost);
  }
}

/// Liu et al. 2010, section 3.2.3, "Approximating Feedforward Torques": the pose that the servos miss when they drive
/// at the reference is put on top of it.
Offsets RolloutWorker::Feedforward(const control::Fragment& undisplaced, const character::State& end) const {
  Offsets offsets = NoOffsets(problem_);
  for (size_t j = 0; j < offsets.size(); ++j) {
    const Joint& joint = problem_.task.character->joints[j];
    Vec3 missed = RotationVector(undisplaced.targets.back()[j] * character::JointRotation(joint, end).conjugate());
    if (joint.type == JointType::kHinge) missed = Vec3::Unit(joint.axis) * missed[joint.axis];
    missed *= problem_.options.feedforward_gain;
    const double angle = missed.norm();
    if (angle > problem_.options.feedforward_limit) missed *= problem_.options.feedforward_limit / angle;
    offsets[j] = FromRotationVector(missed);
  }
  return offsets;
}

Offsets RolloutWorker::CorrectedMeans(const OffsetDistribution& distribution, const Offsets& means,
                                      const character::State& end) const {
  Offsets corrected;
  for (size_t j = 0; j < means.size(); ++j) {
    const Joint& joint = problem_.task.character->joints[j];
    Vec3 missed = RotationVector(distribution.goal[j] * character::JointRotation(joint, end).conjugate());
    if (joint.type == JointType::kHinge) missed = Vec3::Unit(joint.axis) * missed[joint.axis];
    corrected.push_back(FromRotationVector(problem_.options.correction * missed) * means[j]);
  }
  return corrected;
}

void RolloutWorker::RatesOf(const character::State& state, Rates& rates) const {
  rates.clear();
  for (const Joint& joint : problem_.task.character->joints) rates.push_back(character::RelativeRate(joint, state));
}

/// The smoothness term: mean distance of the joints' angular accelerations from the reference's, as differences over
/// kGateInterval [rad/s^2].
void RolloutWorker::Simulate(const RolloutTask& task, const control::Fragment& fragment, RolloutSample& sample) {
  sample = {};
  const size_t i = static_cast<size_t>(task.fragment);
  const size_t num_joints = problem_.task.character->joints.size();
  RatesOf(task.start, rates_before_);
  size_t before = reference_rates_[i].size() - 1;
  double changes = 0;  // of rates, against the reference's [rad/s]
  const auto watch = [&](int step) {
    const int left = fragment.num_steps - 1 - step;
    if (left % gate_steps_ != 0) return;
    world_.GetState(now_);
    const auto instant = static_cast<size_t>(left / gate_steps_);
    const character::State& reference = reference_states_[i][instant];
    sample.gate_ratio = std::max(
        sample.gate_ratio, metrics::LargestGateRatio(*problem_.task.character, now_, reference, problem_.task.gates));
    RatesOf(now_, rates_now_);
    const Rates& there = reference_rates_[i][instant];
    const Rates& there_before = reference_rates_[i][before];
    for (size_t j = 0; j < num_joints; ++j) {
      changes += (rates_now_[j] - rates_before_[j] - (there[j] - there_before[j])).norm();
    }
    std::swap(rates_now_, rates_before_);
    before = instant;
  };
  sample.diverged = !control::SimulateFragment(world_, task.start, fragment, scratch_, sample.end, watch);
  if (sample.diverged) {
    sample.end.clear();  // never used, and not to be sent
    return;
  }
  sample.terms = references_[i].Evaluate(sample.end);
  sample.terms.smoothness = changes / (static_cast<double>(num_joints) * fragment.num_steps * problem_.time_step());
}

void RolloutWorker::Run(const RolloutTask& task, RolloutResult& result) {
  const double before = ThreadCpuSeconds();
  const bool known = !task.feedforward.empty();
  result.feedforward = known ? task.feedforward : NoOffsets(problem_);
  result.samples.clear();
  OffsetDistribution distribution = task.distribution;
  if (distribution.fitted()) {
    const Offsets means = MeanOffsets(distribution);
    const bool correct = !distribution.goal.empty();
    if (!known) result.feedforward = means;
    if (task.has_undisplaced || (correct && !known)) {
      RolloutSample sample;
      Simulate(task, MakeFragment(problem_, task.fragment, means, task.previous), sample);
      result.feedforward = correct && !sample.diverged ? CorrectedMeans(distribution, means, sample.end) : means;
      if (task.has_undisplaced) result.samples.push_back(std::move(sample));
    }
    if (correct) distribution = WithMean(distribution, result.feedforward);
  } else if (task.has_undisplaced || (problem_.options.feedforward && !known)) {
    const control::Fragment undisplaced = MakeFragment(problem_, task.fragment, NoOffsets(problem_));
    RolloutSample sample;
    Simulate(task, undisplaced, sample);
    if (problem_.options.feedforward && !sample.diverged) result.feedforward = Feedforward(undisplaced, sample.end);
    if (task.has_undisplaced) result.samples.push_back(std::move(sample));
  }
  while (result.samples.size() < static_cast<size_t>(task.num_samples)) {
    const int sample = task.first_sample + static_cast<int>(result.samples.size());
    const Offsets offsets = distribution.fitted()
                                ? DrawOffsets(problem_, task.iteration, sample, distribution, task.kept)
                                : SampleOffsets(problem_, task.iteration, sample, result.feedforward, task.kept);
    Simulate(task, MakeFragment(problem_, task.fragment, offsets, task.previous), result.samples.emplace_back());
  }
  if (known) result.feedforward.clear();
  result.cpu_seconds = ThreadCpuSeconds() - before;
}

parallel::Bytes Pack(const RolloutTask& task) {
  parallel::Bytes bytes;
  const int32_t numbers[] = {task.iteration,
                             task.fragment,
                             task.first_sample,
                             task.num_samples,
                             task.has_undisplaced,
                             static_cast<int32_t>(task.distribution.mean.size()),
                             static_cast<int32_t>(task.distribution.goal.size()),
                             static_cast<int32_t>(task.previous.size()),
                             static_cast<int32_t>(task.kept.size()),
                             static_cast<int32_t>(task.feedforward.size())};
  parallel::Put(bytes, numbers, std::size(numbers));
  parallel::Put(bytes, task.kept.data(), task.kept.size());
  parallel::Put(bytes, task.start.data(), task.start.size());
  parallel::Put(bytes, task.distribution.mean.data(), task.distribution.mean.size());
  parallel::Put(bytes, task.distribution.deviation.data(), task.distribution.deviation.size());
  parallel::Put(bytes, task.distribution.goal.data(), task.distribution.goal.size());
  parallel::Put(bytes, task.previous.data(), task.previous.size());
  parallel::Put(bytes, task.feedforward.data(), task.feedforward.size());
  return bytes;
}

RolloutTask UnpackTask(std::span<const std::byte> bytes, size_t num_bodies) {
  parallel::Reader reader(bytes);
  RolloutTask task;
  int32_t numbers[10];
  reader.Take(numbers, std::size(numbers));
  task.kept.resize(static_cast<size_t>(numbers[8]));
  reader.Take(task.kept.data(), task.kept.size());
  task.iteration = numbers[0];
  task.fragment = numbers[1];
  task.first_sample = numbers[2];
  task.num_samples = numbers[3];
  task.has_undisplaced = numbers[4] != 0;
  task.start.resize(num_bodies);
  reader.Take(task.start.data(), num_bodies);
  const auto joints = static_cast<size_t>(numbers[5]);  // 0: not learned
  task.distribution.mean.resize(joints);
  task.distribution.deviation.resize(joints);
  reader.Take(task.distribution.mean.data(), joints);
  reader.Take(task.distribution.deviation.data(), joints);
  task.distribution.goal.resize(static_cast<size_t>(numbers[6]));
  reader.Take(task.distribution.goal.data(), task.distribution.goal.size());
  task.previous.resize(static_cast<size_t>(numbers[7]));
  reader.Take(task.previous.data(), task.previous.size());
  task.feedforward.resize(static_cast<size_t>(numbers[9]));
  reader.Take(task.feedforward.data(), task.feedforward.size());
  return task;
}

void Pack(const RolloutResult& result, parallel::Bytes& bytes) {
  bytes.clear();
  parallel::Put(bytes, &result.cpu_seconds, 1);
  const auto joints = static_cast<uint64_t>(result.feedforward.size());
  parallel::Put(bytes, &joints, 1);
  parallel::Put(bytes, result.feedforward.data(), result.feedforward.size());
  for (const RolloutSample& sample : result.samples) {
    const auto diverged = static_cast<uint64_t>(sample.diverged);
    parallel::Put(bytes, &diverged, 1);
    parallel::Put(bytes, &sample.terms, 1);
    parallel::Put(bytes, &sample.gate_ratio, 1);
    if (!sample.diverged) parallel::Put(bytes, sample.end.data(), sample.end.size());
  }
}

RolloutResult UnpackResult(std::span<const std::byte> bytes, size_t num_bodies) {
  parallel::Reader reader(bytes);
  RolloutResult result;
  reader.Take(&result.cpu_seconds, 1);
  uint64_t joints = 0;
  reader.Take(&joints, 1);
  result.feedforward.resize(joints);
  reader.Take(result.feedforward.data(), joints);
  while (!reader.empty()) {
    RolloutSample& sample = result.samples.emplace_back();
    uint64_t diverged = 0;
    reader.Take(&diverged, 1);
    sample.diverged = diverged != 0;
    reader.Take(&sample.terms, 1);
    reader.Take(&sample.gate_ratio, 1);
    if (sample.diverged) continue;
    sample.end.resize(num_bodies);
    reader.Take(sample.end.data(), num_bodies);
  }
  return result;
}

parallel::WorkerFactory MakeWorkerFactory(const Problem& problem) {
  return [&problem]() -> parallel::Worker {
    auto worker = std::make_shared<RolloutWorker>(problem);
    auto result = std::make_shared<RolloutResult>();
    return [&problem, worker, result](std::span<const std::byte> task, parallel::Bytes& bytes) {
      worker->Run(UnpackTask(task, problem.task.start.size()), *result);
      Pack(*result, bytes);
    };
  };
}

}  // namespace retrace::sampling
