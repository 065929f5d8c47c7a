#include "iteration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "retrace/parallel/bytes.h"

namespace retrace::sampling {
namespace {

/// Samples per task: few enough to keep all workers busy when the first iteration has one start state only, many enough
/// to fill the lanes of a worker, and that the feedforward simulation, which tasks repeat that begin before it is
/// known, hardly counts.
constexpr int kMaxSamplesPerTask = 32;

}  // namespace

Iteration::Iteration(const Problem& problem, IterationPlan plan, const std::vector<Node>& starts)
    : problem_(problem), plan_(std::move(plan)), starts_(starts) {
  record.iteration = plan_.iteration;
  record.fragment = plan_.fragment;
  record.drawn = plan_.samples;
  record.weights = plan_.weights;
  record.start = problem.task.schedule.steps[static_cast<size_t>(plan_.fragment)] * problem.time_step();
  record.end = problem.task.schedule.steps[static_cast<size_t>(plan_.fragment) + 1] * problem.time_step();
  record.samples.resize(static_cast<size_t>(plan_.samples));
  for (size_t s = 0; s < record.samples.size(); ++s) record.samples[s].sample = s;
  ends_.resize(record.samples.size());
  // Every start state gets nSample/nSave samples; where that leaves a rest, the cheapest ones get one more. When there
  // are fewer samples than start states, the last of these get none.
  const int num_starts = static_cast<int>(starts.size());
  int sample = 0;
  for (int s = 0; s < num_starts; ++s) {
    int count = plan_.samples / num_starts + (s < plan_.samples % num_starts ? 1 : 0);
    if (count == 0) break;
    Proposal& proposal = proposals_.emplace_back();
    proposal.distribution = plan_.distributions[static_cast<size_t>(s) % plan_.distributions.size()];
    proposal.undisplaced = sample;
    if (plan_.ramps) {
      proposal.ramp_from = starts[static_cast<size_t>(s)].offsets;
    } else {
      proposal.kept = starts[static_cast<size_t>(s)].displacement;
    }
    // The first task of a start state finds the centre from its candidate 0; others simulate that in addition. This is
    // what is counted, whether or not a farm spares or repeats it: the budget must not depend on where samples were
    // simulated.
    for (bool first = true; count > 0; first = false) {
      const int now = std::min(count, kMaxSamplesPerTask);
      if (!first && proposal.CentreNeedsSimulation(problem.options)) ++record.rollouts;
      shares_.push_back({static_cast<size_t>(s), static_cast<size_t>(sample), static_cast<size_t>(now)});
      sample += now;
      count -= now;
    }
  }
  for (size_t s = 0; s < shares_.size(); ++s) {
    const size_t count = shares_[s].count;
    if (tasks_.empty() || tasks_.back().count + count > size_t{kMaxSamplesPerTask}) tasks_.push_back({s, 0, 0});
    ++tasks_.back().num_shares;
    tasks_.back().count += count;
  }
  record.fitted = proposals_.front().fitted();
  record.rollouts += record.samples.size();
}

void Iteration::Simulate(parallel::TaskFarm& farm, const std::function<void()>& while_busy) {
  while_busy_ = while_busy;
  farm.Run(*this);
}

std::vector<Iteration::Share> Iteration::SharesOf(const parallel::Part& part) const {
  const Task& task = tasks_[part.task];
  std::vector<Share> shares;
  size_t before = 0;  // units of the task
  for (size_t s = task.first_share; s < task.first_share + task.num_shares; ++s) {
    const Share& share = shares_[s];
    const size_t begin = std::max(before, part.first);
    const size_t end = std::min(before + share.count, part.first + part.count);
    if (begin < end) shares.push_back({share.start, share.first + (begin - before), end - begin});
    before += share.count;
  }
  return shares;
}

parallel::Bytes Iteration::Pack(const parallel::Part& part) {
  parallel::Bytes bytes;
  for (const Share& share : SharesOf(part)) {
    RolloutTask rollouts;
    rollouts.iteration = plan_.iteration;
    rollouts.fragment = plan_.fragment;
    rollouts.first_sample = static_cast<int>(share.first);
    rollouts.num_samples = static_cast<int>(share.count);
    rollouts.start = starts_[share.start].end;
    rollouts.proposal = proposals_[share.start];
    sampling::Pack(rollouts, bytes);
  }
  return bytes;
}

void Iteration::Handle(const parallel::Part& part, std::span<const std::byte> bytes) {
  std::vector<RolloutResult> results = UnpackResults(bytes, problem_);
  const std::vector<Share> shares = SharesOf(part);
  for (size_t r = 0; r < shares.size(); ++r) {
    const Share& share = shares[r];
    RolloutResult& result = results[r];
    if (result.centre) proposals_[share.start].centre = std::move(result.centre);
    record.cpu_seconds += result.cpu_seconds;
    for (size_t s = 0; s < result.samples.size(); ++s) {
      const size_t sample = share.first + s;
      SampleRecord& entry = record.samples[sample];
      entry.start = share.start;
      entry.diverged = result.samples[s].diverged;
      entry.terms = result.samples[s].terms;
      entry.gate_ratio = result.samples[s].gate_ratio;
      SetCost(entry);
      ends_[sample] = std::move(result.samples[s].end);
    }
  }
}

Simulated Iteration::TakeSimulated() {
  Simulated simulated;
  for (Proposal& proposal : proposals_) simulated.centres.push_back(std::move(proposal.centre.value()));
  simulated.ends = std::move(ends_);
  return simulated;
}

parallel::Bytes Store(const IterationRecord& record, const Simulated& simulated) {
  parallel::Bytes bytes;
  bytes.reserve(1 << 20);
  const uint64_t sizes[] = {static_cast<uint64_t>(record.iteration), static_cast<uint64_t>(record.fragment),
                            record.samples.size(), simulated.centres.size()};
  parallel::Put(bytes, sizes, std::size(sizes));
  parallel::Put(bytes, &record.cpu_seconds, 1);
  for (const Offsets& offsets : simulated.centres) parallel::Put(bytes, offsets.data(), offsets.size());
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

void Iteration::SetCost(SampleRecord& entry) const {
  entry.cost = entry.terms.Total(plan_.weights);
  // A motion that has no finite cost, or whose distance from the gates is none, has diverged, whatever its bodies do.
  if (!std::isfinite(entry.cost) || !std::isfinite(entry.gate_ratio)) entry.diverged = true;
  if (entry.diverged) entry.cost = std::numeric_limits<double>::infinity();
}

void Iteration::Restore(const parallel::Bytes& bytes) {
  parallel::Reader reader(bytes);
  uint64_t sizes[4];
  reader.Take(sizes, std::size(sizes));
  if (sizes[0] != static_cast<uint64_t>(record.iteration) || sizes[1] != static_cast<uint64_t>(record.fragment) ||
      sizes[2] != record.samples.size() || sizes[3] != proposals_.size()) {
    throw std::logic_error("an iteration of another search");
  }
  reader.Take(&record.cpu_seconds, 1);
  for (Proposal& proposal : proposals_) {
    proposal.centre = NoOffsets(problem_);
    reader.Take(proposal.centre->data(), proposal.centre->size());
  }
  size_t share = 0;
  for (size_t s = 0; s < record.samples.size(); ++s) {
    while (shares_[share].first + shares_[share].count <= s) ++share;
    SampleRecord& entry = record.samples[s];
    entry.start = shares_[share].start;
    uint8_t flags = 0;
    reader.Take(&entry.terms, 1);
    reader.Take(&entry.gate_ratio, 1);
    reader.Take(&flags, 1);
    entry.diverged = (flags & 1) != 0;
    SetCost(entry);
    if ((flags & 2) == 0) continue;
    ends_[s].resize(starts_[entry.start].end.size());
    reader.Take(ends_[s].data(), ends_[s].size());
  }
  if (!reader.empty()) throw std::logic_error("too many bytes");
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
  record.selection = SelectSamples(costs, plan_.selection);
  record.diverged = static_cast<size_t>(
      std::count_if(record.samples.begin(), record.samples.end(), [](const SampleRecord& s) { return s.diverged; }));
  std::vector<Node> nodes;
  for (const size_t sample : record.selection.samples) {
    SampleRecord& entry = record.samples[sample];
    entry.saved = true;
    Node node;
    node.parent = entry.start;
    node.start = entry.start;
    node.iteration = static_cast<size_t>(record.iteration);
    node.sample = sample;
    node.path_cost = starts_[entry.start].path_cost + entry.cost;
    const Proposal& proposal = proposals_[entry.start];
    const int number = static_cast<int>(sample);
    node.offsets = proposal.Draw(problem_, record.iteration, number);
    if (problem_.options.correlation > 0 && number != proposal.undisplaced) {
      node.displacement = proposal.Displacement(node.offsets);
    }
    node.ramp_from = proposal.ramp_from;
    node.terms = entry.terms;
    node.end = ends_[sample];
    nodes.push_back(std::move(node));
  }
  SummarizeCosts();
  return nodes;
}

void Iteration::SummarizeCosts() {
  std::vector<double> drawn, saved;
  for (const SampleRecord& entry : record.samples) {
    if (entry.diverged) continue;
    drawn.push_back(entry.cost);
    if (entry.saved) saved.push_back(entry.cost);
  }
  record.drawn_costs = metrics::FiveNumbersOf(std::move(drawn));
  record.saved_costs = metrics::FiveNumbersOf(std::move(saved));
}

bool Iteration::Inside(const SampleRecord& entry) const {
  return !entry.diverged && entry.gate_ratio <= 1 - problem_.options.gate_margin;
}

}  // namespace retrace::sampling
