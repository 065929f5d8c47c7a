#include "iteration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "retrace/parallel/bytes.h"
#include "retrace/parallel/scheduler.h"

namespace retrace::sampling {
namespace {

/// Samples of a start state in one share: few enough to keep all workers busy when the first iteration has one start
/// state only, many enough that the feedforward simulation, which is counted once for each share, hardly counts.
constexpr int kMaxSamplesPerShare = 32;

/// The selection of the best alone: ranks that foresee the rest of the motion need no others beside them.
SelectionOptions BestOf(const std::vector<double>& ranks, int saved) {
  const auto usable = std::count_if(ranks.begin(), ranks.end(), [](double rank) { return std::isfinite(rank); });
  SelectionOptions options;
  options.saved = saved;
  options.discarded = usable > saved ? 1 - (saved + 0.5) / static_cast<double>(usable) : 0;
  options.exponent = 1;
  return options;
}

}  // namespace

Iteration::Iteration(const Problem& problem, IterationPlan plan, const std::vector<Node>& starts,
                     IterationMemory& memory)
    : problem_(problem), plan_(std::move(plan)), starts_(starts), memory_(memory) {
  record.iteration = plan_.iteration;
  record.fragment = plan_.fragment;
  record.drawn = plan_.samples;
  record.weights = plan_.weights;
  record.start = problem.task.schedule.steps[static_cast<size_t>(plan_.fragment)] * problem.time_step();
  record.end = problem.task.schedule.steps[static_cast<size_t>(plan_.fragment) + 1] * problem.time_step();
  // Every start state gets nSample/nSave samples; where that leaves a rest, the cheapest ones get one more. When there
  // are fewer samples than start states, the last of these get none.
  const int num_starts = static_cast<int>(starts.size());
  int sample = 0;
  for (int s = 0; s < num_starts; ++s) {
    int count = plan_.samples / num_starts + (s < plan_.samples % num_starts ? 1 : 0);
    if (count == 0) break;
    Proposal& proposal = *proposals_.emplace_back(std::make_shared<Proposal>());
    const Node& start = starts[static_cast<size_t>(s)];
    proposal.undisplaced = sample;
    if (problem.options.ramp > 0) proposal.ramp_from = OffsetsOf(problem, start);
    if (plan_.guidance != nullptr) {
      const auto fragment = static_cast<size_t>(plan_.fragment);
      guided_starts_.push_back(plan_.guidance->StartOf(fragment, *start.end, OffsetsOf(problem, start)));
      proposal.distribution = plan_.guidance->ProposalFrom(fragment, guided_starts_.back());
    } else {
      proposal.distribution = plan_.distributions[static_cast<size_t>(s) % plan_.distributions.size()];
      proposal.kept = start.displacement;
    }
    // The first task of a start state finds the center from its candidate 0; others simulate that in addition. This is
    // what is counted, whether or not a farm spares or repeats it: the budget must not depend on where samples were
    // simulated.
    for (bool first = true; count > 0; first = false) {
      const int now = std::min(count, kMaxSamplesPerShare);
      if (!first && proposal.CenterNeedsSimulation(problem.options)) ++record.rollouts;
      shares_.push_back({static_cast<size_t>(s), static_cast<size_t>(sample), static_cast<size_t>(now)});
      sample += now;
      count -= now;
    }
  }
  record.fitted = proposals_.front()->fitted();
  record.rollouts += static_cast<size_t>(plan_.samples);
}

void Iteration::MakeRoom() {
  record.samples.resize(static_cast<size_t>(plan_.samples));
  for (size_t s = 0; s < record.samples.size(); ++s) record.samples[s].sample = s;
  memory_.ends.resize(record.samples.size());
  saved_.resize(record.samples.size());
}

void Iteration::Simulate(parallel::TaskFarm& farm, const std::function<void()>& while_busy) {
  while_busy_ = while_busy;
  std::vector<size_t> samples;
  for (const Share& share : shares_) samples.push_back(share.count);
  tasks_ = parallel::CutGroups(samples, static_cast<size_t>(farm.num_workers()));
  farm.Run(*this);
}

std::vector<Iteration::Share> Iteration::SharesOf(size_t task) const {
  std::vector<Share> shares;
  for (const parallel::Part& part : tasks_[task]) {
    const Share& whole = shares_[part.group];
    shares.push_back({whole.start, whole.first + part.first, part.count});
  }
  return shares;
}

parallel::Bytes Iteration::Pack(size_t task) {
  parallel::Bytes bytes;
  for (const Share& share : SharesOf(task)) {
    RolloutTask rollouts;
    rollouts.iteration = plan_.iteration;
    rollouts.fragment = plan_.fragment;
    rollouts.first_sample = static_cast<int>(share.first);
    rollouts.num_samples = static_cast<int>(share.count);
    rollouts.start = *starts_[share.start].end;
    rollouts.proposal = *proposals_[share.start];
    sampling::Pack(rollouts, bytes);
  }
  return bytes;
}

void Iteration::Handle(size_t task, std::span<const std::byte> bytes) {
  UnpackResults(bytes, problem_, memory_.results);
  const std::vector<Share> shares = SharesOf(task);
  for (size_t r = 0; r < shares.size(); ++r) {
    const Share& share = shares[r];
    RolloutResult& result = memory_.results[r];
    if (result.center) proposals_[share.start]->center = result.center;
    record.cpu_seconds += result.cpu_seconds;
    for (size_t s = 0; s < result.samples.size(); ++s) {
      const size_t sample = share.first + s;
      SampleRecord& entry = record.samples[sample];
      entry.start = share.start;
      entry.diverged = result.samples[s].diverged;
      entry.terms = result.samples[s].terms;
      entry.gate_ratio = result.samples[s].gate_ratio;
      if (plan_.guidance != nullptr && !entry.diverged) {
        const Guidance::Score score =
            plan_.guidance->Judge(static_cast<size_t>(plan_.fragment), guided_starts_[share.start],
                                  result.samples[s].end, entry.terms, result.samples[s].turns);
        entry.path_cost = score.cost;
        entry.rank = starts_[share.start].path_cost + score.cost + score.cost_to_go;
      }
      SetCost(entry);
      memory_.ends[sample].swap(result.samples[s].end);
    }
  }
}

Simulated Iteration::TakeSimulated() {
  return {{proposals_.begin(), proposals_.end()}, std::move(saved_)};
}

void Store(const IterationRecord& record, const Simulated& simulated, parallel::Bytes& bytes) {
  bytes.clear();
  const uint64_t sizes[] = {static_cast<uint64_t>(record.iteration), static_cast<uint64_t>(record.fragment),
                            record.samples.size(), simulated.proposals.size()};
  parallel::Put(bytes, sizes, std::size(sizes));
  parallel::Put(bytes, &record.cpu_seconds, 1);
  for (const auto& proposal : simulated.proposals) {
    const Offsets& center = proposal->center.value();
    parallel::Put(bytes, center.data(), center.size());
  }
  for (size_t s = 0; s < record.samples.size(); ++s) {
    const SampleRecord& entry = record.samples[s];
    const uint8_t flags = (entry.diverged ? 1 : 0) | (entry.saved ? 2 : 0);
    parallel::Put(bytes, &entry.terms, 1);
    parallel::Put(bytes, &entry.gate_ratio, 1);
    parallel::Put(bytes, &entry.path_cost, 1);
    parallel::Put(bytes, &entry.rank, 1);
    parallel::Put(bytes, &flags, 1);
    if (entry.saved) parallel::Put(bytes, simulated.saved[s]->data(), simulated.saved[s]->size());
  }
}

void Iteration::SetCost(SampleRecord& entry) const {
  entry.cost = entry.terms.Total(plan_.weights);
  // A motion that has no finite cost, or whose distance from the tolerances is none, has diverged, whatever its bodies
  // do.
  if (!std::isfinite(entry.cost) || !std::isfinite(entry.gate_ratio) || !std::isfinite(entry.path_cost) ||
      !std::isfinite(entry.rank)) {
    entry.diverged = true;
  }
  if (entry.diverged) entry.cost = std::numeric_limits<double>::infinity();
}

void Iteration::Restore(const parallel::Bytes& bytes) {
  MakeRoom();
  parallel::Reader reader(bytes);
  uint64_t sizes[4];
  reader.Take(sizes, std::size(sizes));
  if (sizes[0] != static_cast<uint64_t>(record.iteration) || sizes[1] != static_cast<uint64_t>(record.fragment) ||
      sizes[2] != record.samples.size() || sizes[3] != proposals_.size()) {
    throw std::logic_error("an iteration of another search");
  }
  reader.Take(&record.cpu_seconds, 1);
  for (size_t s = 0; s < proposals_.size(); ++s) {
    Offsets& center = proposals_[s]->center.emplace(NoOffsets(problem_));
    reader.Take(center.data(), center.size());
  }
  size_t share = 0;
  for (size_t s = 0; s < record.samples.size(); ++s) {
    while (shares_[share].first + shares_[share].count <= s) ++share;
    SampleRecord& entry = record.samples[s];
    entry.start = shares_[share].start;
    uint8_t flags = 0;
    reader.Take(&entry.terms, 1);
    reader.Take(&entry.gate_ratio, 1);
    reader.Take(&entry.path_cost, 1);
    reader.Take(&entry.rank, 1);
    reader.Take(&flags, 1);
    entry.diverged = (flags & 1) != 0;
    SetCost(entry);
    if ((flags & 2) == 0) continue;
    memory_.ends[s].resize(starts_[entry.start].end->size());
    reader.Take(memory_.ends[s].data(), memory_.ends[s].size());
  }
  if (!reader.empty()) throw std::logic_error("too many bytes");
  record.restored = true;
}

std::vector<Node> Iteration::Select() {
  std::vector<double> costs;
  costs.reserve(record.samples.size());
  for (const SampleRecord& entry : record.samples) {
    costs.push_back(entry.cost);
    record.inside_gates += Inside(entry);
  }
  record.best_cost = *std::min_element(costs.begin(), costs.end());
  const bool guided = plan_.guidance != nullptr;
  for (size_t s = 0; guided && s < costs.size(); ++s) {
    if (std::isfinite(costs[s])) costs[s] = record.samples[s].rank;
  }
  // A refinement needs no sample inside: it keeps its path.
  if (problem_.options.keep_inside_gates && (guided || record.inside_gates > 0)) {
    for (size_t s = 0; s < costs.size(); ++s) {
      if (!Inside(record.samples[s])) costs[s] = std::numeric_limits<double>::infinity();
    }
  }
  record.selection = SelectSamples(costs, guided ? BestOf(costs, plan_.selection.saved) : plan_.selection);
  record.diverged = static_cast<size_t>(
      std::count_if(record.samples.begin(), record.samples.end(), [](const SampleRecord& s) { return s.diverged; }));
  std::vector<Node> nodes;
  nodes.reserve(record.selection.samples.size());
  for (const size_t sample : record.selection.samples) {
    SampleRecord& entry = record.samples[sample];
    entry.saved = true;
    Node node;
    node.parent = entry.start;
    node.start = entry.start;
    node.iteration = static_cast<size_t>(record.iteration);
    node.sample = sample;
    node.path_cost = starts_[entry.start].path_cost + (guided ? entry.path_cost : entry.cost);
    node.proposal = proposals_[entry.start];
    if (problem_.options.correlation > 0 && static_cast<int>(sample) != node.proposal->undisplaced) {
      node.displacement = node.proposal->Displacement(OffsetsOf(problem_, node));
    }
    node.terms = entry.terms;
    std::shared_ptr<const character::State>& end = saved_[sample];
    if (end == nullptr) end = std::make_shared<const character::State>(std::move(memory_.ends[sample]));
    node.end = end;
    nodes.push_back(std::move(node));
  }
  if (guided) nodes.push_back(PathNode());
  SummarizeCosts();
  return nodes;
}

Node Iteration::PathNode() const {
  const auto fragment = static_cast<size_t>(plan_.fragment);
  Node node = plan_.guidance->PathNode(fragment);
  node.parent = starts_.size() - 1;
  node.path_cost = plan_.guidance->PathCost(fragment);
  return node;
}

void Iteration::SummarizeCosts() {
  std::vector<double> drawn, saved;
  drawn.reserve(record.samples.size());
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
