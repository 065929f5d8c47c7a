#include "retrace/methods/sampling/rollout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "retrace/character/kinematics.h"
#include "retrace/control/time_grid.h"
#include "retrace/io/cpu_time.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/parallel/bytes.h"

namespace retrace::sampling {
namespace {

using character::Joint;

/// The task's character, then the other characters.
std::vector<const character::Character*> CharactersOf(const Problem& problem) {
  std::vector<const character::Character*> characters = {problem.task.character};
  for (const CoSimulated& companion : problem.companions) characters.push_back(companion.character);
  return characters;
}

void NoteTurns(const Proposal& proposal, const Offsets& offsets, RolloutSample& sample) {
  const GuidedOffsets* const guided = proposal.guided();
  for (size_t j = 0; guided != nullptr && j < offsets.size(); ++j) {
    sample.turns.push_back(RotationVector(offsets[j] * guided->path[j].conjugate()));
  }
}

}  // namespace

std::vector<double> JointWeights(const character::Character& character, const Options& options) {
  RandomStream random(options.seed, RandomStage::kJointWeights, 0, 0);
  const double spread = std::log(1 + options.joint_weight_spread);
  std::vector<double> weights;
  for (const Joint& joint : character.joints) {
    const double factor = spread > 0 ? std::exp(random.Uniform(-spread, spread)) : 1;
    weights.push_back(factor * joint.cost_weight);
  }
  return weights;
}

control::Fragment MakeFragment(const Problem& problem, int index, const Offsets& offsets,
                               const std::optional<Offsets>& ramp_from) {
  control::Fragment fragment;
  fragment.first_step = problem.task.schedule.steps[static_cast<size_t>(index)];
  fragment.num_steps = problem.task.schedule.steps[static_cast<size_t>(index) + 1] - fragment.first_step;
  const int knots = problem.options.target_knots;
  const double ramp = ramp_from ? problem.options.ramp : 0;
  const character::ReferenceMotion& baseline =
      problem.baseline != nullptr ? *problem.baseline : *problem.task.reference;
  character::Pose pose;
  for (int k = 0; k < knots; ++k) {
    const double along = knots == 1 ? 1.0 : static_cast<double>(k) / (knots - 1);
    baseline.PoseAt((fragment.first_step + along * fragment.num_steps) * problem.time_step(), pose);
    for (size_t j = 0; j < offsets.size(); ++j) {
      const Quat offset = along < ramp ? Nlerp((*ramp_from)[j], offsets[j], along / ramp) : offsets[j];
      pose.joint_rotations[j] = offset * pose.joint_rotations[j];
      pose.joint_rotations[j].normalize();
    }
    fragment.targets.push_back(pose.joint_rotations);
  }
  return fragment;
}

RolloutWorker::RolloutWorker(const Problem& problem)
    : problem_(problem),
      world_(CharactersOf(problem), problem.task.world),
      joint_weights_(JointWeights(*problem.task.character, problem.options)),
      gate_steps_(control::TimeGrid{problem.time_step()}.PartSteps(kGateInterval)) {
  for (const CoSimulated& companion : problem.companions) open_loops_.emplace_back(companion.fragments);
  for (control::OpenLoop& open_loop : open_loops_) companions_.push_back(&open_loop);
}

void RolloutWorker::FindReference(int fragment) {
  if (fragment == fragment_) return;
  const std::vector<int>& steps = problem_.task.schedule.steps;
  const auto i = static_cast<size_t>(fragment);
  const task::Task& task = problem_.task;
  gates_.clear();
  reference_rates_.clear();
  for (int step = steps[i + 1]; step > steps[i]; step -= gate_steps_) {
    task.reference->StateAt(step * problem_.time_step(), now_);
    gates_.emplace_back(*task.character, now_, task.gates);
    RatesOf(now_, reference_rates_.emplace_back());
    if (step == steps[i + 1]) reference_.emplace(*task.character, now_, task.cost, joint_weights_);
  }
  task.reference->StateAt(steps[i] * problem_.time_step(), now_);
  RatesOf(now_, reference_rates_.emplace_back());
  fragment_ = fragment;
}

void RolloutWorker::RatesOf(const character::State& state, Rates& rates) const {
  rates.clear();
  for (const Joint& joint : problem_.task.character->joints) rates.push_back(character::RelativeRate(joint, state));
}

void RolloutWorker::Begin(const Job& job, Watch& watch) {
  RatesOf(job.task->start, watch.rates);
  watch.before = reference_rates_.size() - 1;
  watch.changes = 0;
}

void RolloutWorker::Observe(const Job& job, const simulation::World& world, int step, Watch& watch) {
  const int left = job.fragment.num_steps - 1 - step;
  if (left % gate_steps_ != 0) return;
  world.GetState(now_);
  const auto instant = static_cast<size_t>(left / gate_steps_);
  const double ratio = gates_[instant].Ratios(now_).largest();
  if (!(ratio <= job.sample->gate_ratio)) job.sample->gate_ratio = ratio;
  RatesOf(now_, rates_now_);
  const Rates& there = reference_rates_[instant];
  const Rates& there_before = reference_rates_[watch.before];
  for (size_t j = 0; j < rates_now_.size(); ++j) {
    watch.changes += (rates_now_[j] - watch.rates[j] - (there[j] - there_before[j])).norm();
  }
  std::swap(rates_now_, watch.rates);
  watch.before = instant;
}

/// The smoothness term: mean distance of the joints' angular accelerations from the reference's, as differences over
/// kGateInterval [rad/s^2].
void RolloutWorker::End(const Job& job, const Watch& watch) {
  RolloutSample& sample = *job.sample;
  if (sample.diverged) {
    sample.end.clear();  // never used, and not to be sent
    sample.turns.clear();
    return;
  }
  const auto num_joints = static_cast<double>(problem_.task.character->joints.size());
  sample.terms = reference_->Evaluate(sample.end);
  sample.terms.smoothness = watch.changes / (num_joints * job.fragment.num_steps * problem_.time_step());
}

/// As control::SimulateFragment, with the companions in the world where there are any. False when the simulation
/// diverged.
template <typename Observer>
bool RolloutWorker::SimulateOne(const character::State& start, const control::Fragment& fragment, character::State& end,
                                const Observer& observe) {
  if (companions_.empty()) return control::SimulateFragment(world_, start, fragment, scratch_, end, observe);
  world_.SetState(start, fragment.first_step);
  control::OpenLoop open_loop({&fragment, 1});
  std::vector<control::Controller*> controllers = {&open_loop};
  controllers.insert(controllers.end(), companions_.begin(), companions_.end());
  if (!control::Simulate(world_, controllers, fragment.first_step, fragment.num_steps, {}, scratch_,
                         [&](int step) { observe(step - fragment.first_step); })) {
    return false;
  }
  world_.GetState(end);
  return true;
}

void RolloutWorker::SimulateAlone(const Job& job) {
  Watch& watch = watches_.front();
  Begin(job, watch);
  job.sample->diverged = !SimulateOne(job.task->start, job.fragment, job.sample->end,
                                      [&](int step) { Observe(job, world_, step, watch); });
  End(job, watch);
}

size_t RolloutWorker::Lanes(size_t runs) {
  if (!companions_.empty()) return 1;
  if (runs > 1 && !lanes_) lanes_.emplace(CharactersOf(problem_), problem_.task.world);
  return lanes_ ? lanes_->num_lanes() : 1;
}

void RolloutWorker::SimulateEnds(std::span<control::FragmentRun> runs) {
  const size_t lanes = Lanes(runs.size());
  while (!runs.empty()) {
    const size_t count = std::min(lanes, runs.size());
    if (simulation::FillsLanes(count, lanes)) {
      control::SimulateFragments(*lanes_, runs.first(count), lanes_scratch_, [](size_t, int) {});
    } else {
      for (control::FragmentRun& run : runs.first(count)) {
        run.diverged = !SimulateOne(*run.start, *run.fragment, *run.end, [](int) {});
      }
    }
    runs = runs.subspan(count);
    parallel::PassMessages();
  }
}

void RolloutWorker::SimulateTogether(std::span<const Job> jobs) {
  runs_.clear();
  for (size_t j = 0; j < jobs.size(); ++j) {
    Begin(jobs[j], watches_[j]);
    runs_.push_back({&jobs[j].task->start, &jobs[j].fragment, &jobs[j].sample->end});
  }
  control::SimulateFragments(*lanes_, runs_, lanes_scratch_,
                             [&](size_t j, int step) { Observe(jobs[j], lanes_->world(j), step, watches_[j]); });
  for (size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].sample->diverged = runs_[j].diverged;
    End(jobs[j], watches_[j]);
  }
}

void RolloutWorker::Simulate(std::span<const Job> jobs) {
  const size_t lanes = Lanes(jobs.size());
  watches_.resize(std::max(lanes, watches_.size()));
  while (!jobs.empty()) {
    const size_t count = std::min(lanes, jobs.size());
    if (simulation::FillsLanes(count, lanes)) {
      SimulateTogether(jobs.first(count));
    } else {
      for (const Job& job : jobs.first(count)) SimulateAlone(job);
    }
    jobs = jobs.subspan(count);
    parallel::PassMessages();
  }
}

void RolloutWorker::Run(const RolloutTask& task, RolloutResult& result) {
  std::vector<RolloutResult> results;
  Run({&task, 1}, results);
  result = std::move(results.front());
}

void RolloutWorker::Run(std::span<const RolloutTask> tasks, std::vector<RolloutResult>& results) {
  const double before = io::ThreadCpuSeconds();
  FindReference(tasks.front().fragment);
  results.assign(tasks.size(), {});
  // First the undisplaced samples, from which the centers follow.
  std::vector<Proposal> proposals;
  std::vector<RolloutSample> undisplaced(tasks.size());
  std::vector<size_t> task_of_job;
  jobs_.clear();
  for (size_t t = 0; t < tasks.size(); ++t) {
    const RolloutTask& task = tasks[t];
    results[t].samples.resize(static_cast<size_t>(task.num_samples));
    Proposal& proposal = proposals.emplace_back(task.proposal);
    const bool drawn = task.first_sample == proposal.undisplaced;
    const bool finds_center = !proposal.center;
    if (finds_center) proposal.center = proposal.Undisplaced(problem_);
    if (!drawn && !(finds_center && proposal.CenterNeedsSimulation(problem_.options))) continue;
    const Offsets offsets = proposal.Undisplaced(problem_);
    jobs_.push_back({&task, MakeFragment(problem_, task.fragment, offsets, proposal.ramp_from),
                     drawn ? results[t].samples.data() : &undisplaced[t]});
    NoteTurns(proposal, offsets, *jobs_.back().sample);
    task_of_job.push_back(t);
  }
  Simulate(jobs_);
  for (size_t j = 0; j < jobs_.size(); ++j) {
    const size_t t = task_of_job[j];
    const Job& job = jobs_[j];
    if (tasks[t].proposal.center || job.sample->diverged) continue;
    proposals[t].center = proposals[t].FindCenter(problem_, job.fragment, job.sample->end);
  }
  jobs_.clear();
  for (size_t t = 0; t < tasks.size(); ++t) {
    const RolloutTask& task = tasks[t];
    for (int s = 0; s < task.num_samples; ++s) {
      const int sample = task.first_sample + s;
      if (sample == proposals[t].undisplaced && s == 0) continue;
      const Offsets offsets = proposals[t].Draw(problem_, task.iteration, sample);
      jobs_.push_back({&task, MakeFragment(problem_, task.fragment, offsets, proposals[t].ramp_from),
                       &results[t].samples[static_cast<size_t>(s)]});
      NoteTurns(proposals[t], offsets, *jobs_.back().sample);
    }
    if (!task.proposal.center) results[t].center = proposals[t].center;
  }
  Simulate(jobs_);
  results.front().cpu_seconds = io::ThreadCpuSeconds() - before;
}

namespace {

template <typename T>
void PutOptional(parallel::Bytes& bytes, const std::optional<std::vector<T>>& values) {
  const auto present = static_cast<uint8_t>(values.has_value());
  parallel::Put(bytes, &present, 1);
  if (values) parallel::Put(bytes, values->data(), values->size());
}

/// Takes what PutOptional put; there are `count` values where there are any.
template <typename T>
void TakeOptional(parallel::Reader& reader, size_t count, const T& fill, std::optional<std::vector<T>>& values) {
  uint8_t present = 0;
  reader.Take(&present, 1);
  values.reset();
  if (present == 0) return;
  values.emplace(count, fill);
  reader.Take(values->data(), count);
}

void Put(parallel::Bytes& bytes, const Proposal& proposal) {
  const auto* normal = std::get_if<NormalOffsets>(&proposal.distribution);
  const auto kind = static_cast<uint8_t>(proposal.distribution.index());
  parallel::Put(bytes, &kind, 1);
  if (const GuidedOffsets* const guided = proposal.guided()) {
    parallel::Put(bytes, guided->path.data(), guided->path.size());
    parallel::Put(bytes, guided->feedback.data(), guided->feedback.size());
    parallel::Put(bytes, guided->correction.data(), guided->correction.size());
    parallel::Put(bytes, &guided->noise, 1);
  }
  if (normal != nullptr) {
    parallel::Put(bytes, normal->mean.data(), normal->mean.size());
    parallel::Put(bytes, normal->deviation.data(), normal->deviation.size());
    PutOptional(bytes, normal->goal);
  }
  const auto undisplaced = static_cast<int32_t>(proposal.undisplaced);
  parallel::Put(bytes, &undisplaced, 1);
  PutOptional(bytes, proposal.kept);
  PutOptional(bytes, proposal.ramp_from);
  PutOptional(bytes, proposal.center);
}

Proposal TakeProposal(parallel::Reader& reader, size_t joints) {
  const Vec3 zero = Vec3::Zero();
  const Quat none = Quat::Identity();
  Proposal proposal;
  uint8_t kind = 0;
  reader.Take(&kind, 1);
  if (kind == 2) {
    GuidedOffsets guided{Offsets(joints, none), std::vector<Vec3>(joints, zero), std::vector<Vec3>(joints, zero)};
    reader.Take(guided.path.data(), joints);
    reader.Take(guided.feedback.data(), joints);
    reader.Take(guided.correction.data(), joints);
    reader.Take(&guided.noise, 1);
    proposal.distribution = std::move(guided);
  } else if (kind == 1) {
    NormalOffsets normal{std::vector<Vec3>(joints, zero), std::vector<Vec3>(joints, zero)};
    reader.Take(normal.mean.data(), joints);
    reader.Take(normal.deviation.data(), joints);
    TakeOptional(reader, joints, none, normal.goal);
    proposal.distribution = std::move(normal);
  }
  int32_t undisplaced = 0;
  reader.Take(&undisplaced, 1);
  proposal.undisplaced = undisplaced;
  TakeOptional(reader, joints, zero, proposal.kept);
  TakeOptional(reader, joints, none, proposal.ramp_from);
  TakeOptional(reader, joints, none, proposal.center);
  return proposal;
}

}  // namespace

void Pack(const RolloutTask& task, parallel::Bytes& bytes) {
  const int32_t numbers[] = {task.iteration, task.fragment, task.first_sample, task.num_samples};
  parallel::Put(bytes, numbers, std::size(numbers));
  parallel::Put(bytes, task.start.data(), task.start.size());
  Put(bytes, task.proposal);
}

std::vector<RolloutTask> UnpackTasks(std::span<const std::byte> bytes, const Problem& problem) {
  parallel::Reader reader(bytes);
  std::vector<RolloutTask> tasks;
  do {
    RolloutTask& task = tasks.emplace_back();
    int32_t numbers[4];
    reader.Take(numbers, std::size(numbers));
    task.iteration = numbers[0];
    task.fragment = numbers[1];
    task.first_sample = numbers[2];
    task.num_samples = numbers[3];
    task.start.resize(problem.task.start.size());
    reader.Take(task.start.data(), task.start.size());
    task.proposal = TakeProposal(reader, problem.task.character->joints.size());
  } while (!reader.empty());
  return tasks;
}

void Pack(const RolloutResult& result, parallel::Bytes& bytes) {
  parallel::Put(bytes, &result.cpu_seconds, 1);
  PutOptional(bytes, result.center);
  const auto samples = static_cast<uint64_t>(result.samples.size());
  parallel::Put(bytes, &samples, 1);
  for (const RolloutSample& sample : result.samples) {
    const auto diverged = static_cast<uint64_t>(sample.diverged);
    parallel::Put(bytes, &diverged, 1);
    parallel::Put(bytes, &sample.terms, 1);
    parallel::Put(bytes, &sample.gate_ratio, 1);
    if (!sample.diverged) parallel::Put(bytes, sample.end.data(), sample.end.size());
    const auto turns = static_cast<uint64_t>(sample.turns.size());
    parallel::Put(bytes, &turns, 1);
    parallel::Put(bytes, sample.turns.data(), sample.turns.size());
  }
}

void UnpackResults(std::span<const std::byte> bytes, const Problem& problem, std::vector<RolloutResult>& results) {
  parallel::Reader reader(bytes);
  const Quat none = Quat::Identity();
  size_t count = 0;
  for (; !reader.empty(); ++count) {
    if (count == results.size()) results.emplace_back();
    RolloutResult& result = results[count];
    reader.Take(&result.cpu_seconds, 1);
    TakeOptional(reader, problem.task.character->joints.size(), none, result.center);
    uint64_t samples = 0;
    reader.Take(&samples, 1);
    if (samples > bytes.size()) throw std::logic_error("too few bytes");
    result.samples.resize(samples);
    for (RolloutSample& sample : result.samples) {
      uint64_t diverged = 0;
      reader.Take(&diverged, 1);
      sample.diverged = diverged != 0;
      reader.Take(&sample.terms, 1);
      reader.Take(&sample.gate_ratio, 1);
      sample.end.resize(sample.diverged ? 0 : problem.task.start.size());
      reader.Take(sample.end.data(), sample.end.size());
      uint64_t turns = 0;
      reader.Take(&turns, 1);
      if (turns > bytes.size()) throw std::logic_error("too few bytes");
      sample.turns.assign(turns, Vec3::Zero());
      reader.Take(sample.turns.data(), turns);
    }
  }
  results.resize(count);
}

}  // namespace retrace::sampling
