#include "iteration.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "retrace/math/rotation.h"
#include "retrace/parallel/bytes.h"

namespace retrace::sampling {
namespace {

/// Samples per task: few enough to keep all workers busy when the first iteration has one start state only, many enough
/// that the feedforward simulation, which tasks repeat that begin before it is known, hardly counts.
constexpr int kMaxSamplesPerTask = 32;

}  // namespace

Iteration::Iteration(const Problem& problem, Draw draw, const std::vector<Node>& starts)
    : problem_(problem), draw_(std::move(draw)), starts_(starts) {
  record.iteration = draw_.iteration;
  record.fragment = draw_.fragment;
  record.fitted = draw_.distributions.front().fitted();
  record.start = problem.task.schedule.steps[static_cast<size_t>(draw_.fragment)] * problem.time_step();
  record.end = problem.task.schedule.steps[static_cast<size_t>(draw_.fragment) + 1] * problem.time_step();
  record.samples.resize(static_cast<size_t>(draw_.samples));
  simulated_.ends.resize(record.samples.size());
  // What the first task of a start state simulates to learn its offsets is its candidate 0; others do so in addition.
  // That is what is counted, whatever farms spare or repeat: the budget must not depend on where samples were
  // simulated.
  const bool corrects = record.fitted ? !draw_.distributions.front().goal.empty() : problem.options.feedforward;
  // Every start state gets nSample/nSave samples; where that leaves a rest, the cheapest ones get one more.
  const int num_starts = static_cast<int>(starts.size());
  int sample = 0;
  for (int s = 0; s < num_starts; ++s) {
    int count = draw_.samples / num_starts + (s < draw_.samples % num_starts ? 1 : 0);
    for (bool first = true; count > 0; first = false) {
      const int now = std::min(count, kMaxSamplesPerTask);
      if (first) {
        undisplaced_.push_back(static_cast<size_t>(sample));
      } else if (corrects) {
        ++record.rollouts;
      }
      tasks_.push_back({static_cast<size_t>(s), static_cast<size_t>(sample), static_cast<size_t>(now), first});
      sample += now;
      count -= now;
    }
  }
  simulated_.feedforward.resize(starts.size());
  record.rollouts += record.samples.size();
}

void Iteration::Simulate(parallel::TaskFarm& farm, const std::function<void()>& while_busy) {
  while_busy_ = while_busy;
  farm.Run(*this);
}

parallel::Bytes Iteration::Pack(const parallel::Part& part) {
  const Task& task = tasks_[part.task];
  const Node& start = starts_[task.start];
  RolloutTask rollouts;
  rollouts.iteration = draw_.iteration;
  rollouts.fragment = draw_.fragment;
  rollouts.first_sample = static_cast<int>(task.first + part.first);
  rollouts.num_samples = static_cast<int>(part.count);
  rollouts.has_undisplaced = task.undisplaced && part.first == 0;
  rollouts.start = start.end;
  rollouts.distribution = DistributionOf(task.start);
  rollouts.kept = KeptOf(start);
  if (draw_.continuous) rollouts.previous = start.offsets;
  rollouts.feedforward = simulated_.feedforward[task.start];
  return sampling::Pack(rollouts);
}

void Iteration::Handle(const parallel::Part& part, std::span<const std::byte> bytes) {
  const Task& task = tasks_[part.task];
  RolloutResult result = UnpackResult(bytes, problem_.task.start.size());
  if (!result.feedforward.empty()) simulated_.feedforward[task.start] = std::move(result.feedforward);
  record.cpu_seconds += result.cpu_seconds;
  for (size_t s = 0; s < result.samples.size(); ++s) {
    const size_t sample = task.first + part.first + s;
    SampleRecord& entry = record.samples[sample];
    entry.start = task.start;
    entry.diverged = result.samples[s].diverged;
    entry.terms = result.samples[s].terms;
    entry.gate_ratio = result.samples[s].gate_ratio;
    entry.cost = CostOf(entry);
    simulated_.ends[sample] = std::move(result.samples[s].end);
  }
}

parallel::Bytes Store(const IterationRecord& record, const Simulated& simulated) {
  parallel::Bytes bytes;
  bytes.reserve(1 << 20);
  const uint64_t sizes[] = {static_cast<uint64_t>(record.iteration), static_cast<uint64_t>(record.fragment),
                            record.samples.size(), simulated.feedforward.size()};
  parallel::Put(bytes, sizes, std::size(sizes));
  parallel::Put(bytes, &record.cpu_seconds, 1);
  for (const Offsets& offsets : simulated.feedforward) parallel::Put(bytes, offsets.data(), offsets.size());
  for (size_t s = 0; s < record.samples.size(); ++s) {
    const SampleRecord& entry = record.samples[s];
    const uint8_t flags = (entry.diverged ? 1 : 0) | (entry.saved ? 2 : 0);
    parallel::Put(bytes, &entry.terms, 1);
    parallel::Put(bytes, &entry.gate_ratio, 1);
    parallel::Put(bytes, &flags, 1);
    if (entry.saved) parallel::Put(bytes, simulated.ends[s].data(), simulated.ends[s].size());
  }
  return bytes;
}

double Iteration::CostOf(const SampleRecord& entry) const {
  return entry.diverged ? std::numeric_limits<double>::infinity() : entry.terms.Total(draw_.weights);
}

void Iteration::Restore(const parallel::Bytes& bytes) {
  parallel::Reader reader(bytes);
  uint64_t sizes[4];
  reader.Take(sizes, std::size(sizes));
  if (sizes[0] != static_cast<uint64_t>(record.iteration) || sizes[1] != static_cast<uint64_t>(record.fragment) ||
      sizes[2] != record.samples.size() || sizes[3] != simulated_.feedforward.size()) {
    throw std::logic_error("an iteration of another search");
  }
  reader.Take(&record.cpu_seconds, 1);
  for (Offsets& offsets : simulated_.feedforward) {
    offsets = NoOffsets(problem_);
    reader.Take(offsets.data(), offsets.size());
  }
  size_t task = 0;
  for (size_t s = 0; s < record.samples.size(); ++s) {
    while (tasks_[task].first + tasks_[task].count <= s) ++task;
    SampleRecord& entry = record.samples[s];
    entry.start = tasks_[task].start;
    uint8_t flags = 0;
    reader.Take(&entry.terms, 1);
    reader.Take(&entry.gate_ratio, 1);
    reader.Take(&flags, 1);
    entry.diverged = (flags & 1) != 0;
    entry.cost = CostOf(entry);
    if ((flags & 2) == 0) continue;
    simulated_.ends[s].resize(starts_[entry.start].end.size());
    reader.Take(simulated_.ends[s].data(), simulated_.ends[s].size());
  }
  if (!reader.empty()) throw std::logic_error("bytes of an iteration are too many");
  record.restored = true;
}

std::vector<Node> Iteration::Select() {
  std::vector<double> costs;
  for (const SampleRecord& entry : record.samples) {
    costs.push_back(entry.cost);
    record.inside_gates += Inside(entry);
  }
  record.best_cost = *std::min_element(costs.begin(), costs.end());
  if (problem_.options.keep_inside_gates && record.inside_gates > 0) {
    for (size_t s = 0; s < costs.size(); ++s) {
      if (!Inside(record.samples[s])) costs[s] = std::numeric_limits<double>::infinity();
    }
  }
  record.selection = SelectSamples(costs, draw_.selection);
  record.diverged = static_cast<size_t>(
      std::count_if(record.samples.begin(), record.samples.end(), [](const SampleRecord& s) { return s.diverged; }));
  std::vector<Node> nodes;
  for (const size_t sample : record.selection.samples) {
    SampleRecord& entry = record.samples[sample];
    entry.saved = true;
    Node node;
    node.parent = entry.start;
    node.iteration = static_cast<size_t>(record.iteration);
    node.sample = sample;
    node.path_cost = starts_[entry.start].path_cost + entry.cost;
    node.offsets = OffsetsOf(sample);
    if (problem_.options.correlation > 0 && undisplaced_[entry.start] != sample) {
      const OffsetDistribution& d = DistributionOf(entry.start);
      const Offsets& centre = simulated_.feedforward[entry.start];
      for (size_t j = 0; j < node.offsets.size(); ++j) {
        node.displacement.push_back(d.fitted() ? Vec3(RotationVector(node.offsets[j]) - RotationVector(centre[j]))
                                               : RotationVector(node.offsets[j] * centre[j].conjugate()));
      }
    }
    node.continuous = draw_.continuous;
    node.terms = entry.terms;
    node.end = simulated_.ends[sample];
    nodes.push_back(std::move(node));
  }
  return nodes;
}

bool Iteration::Inside(const SampleRecord& entry) const {
  return !entry.diverged && entry.gate_ratio <= 1 - problem_.options.gate_margin;
}

std::vector<Vec3> Iteration::KeptOf(const Node& start) const {
  return draw_.continuous ? std::vector<Vec3>{} : start.displacement;
}

const OffsetDistribution& Iteration::DistributionOf(size_t start) const {
  return draw_.distributions[start % draw_.distributions.size()];
}

Offsets Iteration::OffsetsOf(size_t sample) const {
  const size_t start = record.samples[sample].start;
  const bool candidate_0 = undisplaced_[start] == sample;
  const Offsets& feedforward = simulated_.feedforward[start];
  const int number = static_cast<int>(sample);
  const OffsetDistribution& distribution = DistributionOf(start);
  if (!distribution.fitted()) {
    return candidate_0 ? NoOffsets(problem_)
                       : SampleOffsets(problem_, record.iteration, number, feedforward, KeptOf(starts_[start]));
  }
  if (candidate_0) return MeanOffsets(distribution);
  return DrawOffsets(problem_, record.iteration, number,
                     distribution.goal.empty() ? distribution : WithMean(distribution, feedforward),
                     KeptOf(starts_[start]));
}

}  // namespace retrace::sampling
