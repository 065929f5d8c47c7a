#include "retrace/reconstruction/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "learning.h"
#include "tree.h"

namespace retrace::reconstruction {
namespace {

/// Samples per task: few enough to keep all workers busy when the first iteration has one start state only, many enough
/// that the feedforward simulation, which each task repeats, hardly counts.
constexpr int kMaxSamplesPerTask = 32;

/// How many samples an iteration draws and saves.
struct IterationSize {
  int samples = 0;
  SelectionOptions selection;
};

/// One iteration: which samples start from which saved state, simulated and selected.
class Iteration {
 public:
  Iteration(const Problem& problem, int iteration, int fragment, const std::vector<Node>& starts,
            const IterationSize& size, const OffsetDistribution& distribution)
      : problem_(problem), starts_(starts), selection_(size.selection), distribution_(distribution) {
    record.iteration = iteration;
    record.fragment = fragment;
    record.start = problem.schedule.steps[static_cast<size_t>(fragment)] * problem.time_step();
    record.end = problem.schedule.steps[static_cast<size_t>(fragment) + 1] * problem.time_step();
    record.samples.resize(static_cast<size_t>(size.samples));
    ends_.resize(record.samples.size());
    // Every start state gets nSample/nSave samples; where that leaves a rest, the cheapest ones get one more.
    const int num_starts = static_cast<int>(starts.size());
    int sample = 0;
    for (int s = 0; s < num_starts; ++s) {
      int count = size.samples / num_starts + (s < size.samples % num_starts ? 1 : 0);
      for (bool first = true; count > 0; first = false) {
        const int now = std::min(count, kMaxSamplesPerTask);
        if (first) {
          undisplaced_.push_back(static_cast<size_t>(sample));
        } else if (problem.search.feedforward && !distribution.learned()) {
          ++record.rollouts;
        }
        task_start_.push_back(static_cast<size_t>(s));
        task_first_.push_back(sample);
        tasks_.push_back(Pack(
            RolloutTask{iteration, fragment, sample, now, first, starts[static_cast<size_t>(s)].end, distribution}));
        sample += now;
        count -= now;
      }
    }
    feedforward_.resize(tasks_.size());
    record.rollouts += record.samples.size();
    task_of_sample_.resize(record.samples.size());
  }

  void Simulate(parallel::TaskFarm& farm) {
    const size_t joints = problem_.character->joints.size();
    const size_t bodies = problem_.character->bodies.size();
    farm.Run(tasks_, [&](size_t task, std::span<const std::byte> bytes) {
      RolloutResult result = UnpackResult(bytes, joints, bodies);
      feedforward_[task] = std::move(result.feedforward);
      record.cpu_seconds += result.cpu_seconds;
      for (size_t s = 0; s < result.samples.size(); ++s) {
        const size_t sample = static_cast<size_t>(task_first_[task]) + s;
        SampleRecord& entry = record.samples[sample];
        task_of_sample_[sample] = task;
        entry.start = task_start_[task];
        entry.diverged = result.samples[s].diverged;
        entry.terms = result.samples[s].terms;
        entry.gate_share = result.samples[s].gate_share;
        entry.cost = entry.diverged ? std::numeric_limits<double>::infinity() : entry.terms.Total(problem_.weights);
        ends_[sample] = std::move(result.samples[s].end);
      }
    });
  }

  std::vector<Node> Select() {
    std::vector<double> costs;
    for (const SampleRecord& entry : record.samples) {
      costs.push_back(entry.cost);
      record.inside_gates += !entry.diverged && Inside(entry);
    }
    record.best_cost = *std::min_element(costs.begin(), costs.end());
    if (problem_.search.keep_inside_gates && record.inside_gates > 0) {
      for (size_t s = 0; s < costs.size(); ++s) {
        if (!Inside(record.samples[s])) costs[s] = std::numeric_limits<double>::infinity();
      }
    }
    record.selection = SelectSamples(costs, selection_);
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
      node.offsets = OffsetsOf(sample, undisplaced_[entry.start] == sample);
      node.end = ends_[sample];
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  IterationRecord record;

 private:
  bool Inside(const SampleRecord& entry) const { return entry.gate_share <= 1 - problem_.search.gate_margin; }

  Offsets OffsetsOf(size_t sample, bool candidate_0) const {
    const int number = static_cast<int>(sample);
    if (distribution_.learned()) {
      return candidate_0 ? MeanOffsets(distribution_) : DrawOffsets(problem_, record.iteration, number, distribution_);
    }
    return candidate_0 ? NoOffsets(problem_)
                       : SampleOffsets(problem_, record.iteration, number, feedforward_[task_of_sample_[sample]]);
  }

  const Problem& problem_;
  const std::vector<Node>& starts_;
  const SelectionOptions selection_;
  const OffsetDistribution& distribution_;
  std::vector<parallel::Bytes> tasks_;
  std::vector<size_t> undisplaced_;     // (start states) their candidate 0
  std::vector<size_t> task_start_;      // (tasks) index of the start state
  std::vector<int> task_first_;         // (tasks) first sample
  std::vector<Offsets> feedforward_;    // (tasks)
  std::vector<size_t> task_of_sample_;  // (samples)
  std::vector<character::State> ends_;  // (samples)
};

bool CheaperPath(const Node& a, const Node& b) {
  return a.path_cost < b.path_cost;
}

/// Follows the path with the least sum of costs back from the last fragment (section 3.2.2) and writes it down.
void TraceBack(const Problem& problem, const Tree& tree, SearchResult& result) {
  const auto& last = tree.back();
  size_t node = static_cast<size_t>(std::min_element(last.begin(), last.end(), CheaperPath) - last.begin());
  result.path_cost = last[node].path_cost;
  result.end = last[node].end;
  result.control.world = problem.world;
  result.control.start = problem.start;
  for (size_t level = tree.size() - 1; level > 0; --level) {
    const Node& here = tree[level][node];
    result.control.fragments.push_back(MakeFragment(problem, static_cast<int>(level) - 1, here.offsets));
    result.iterations[here.iteration].samples[here.sample].chosen = true;
    node = here.parent;
  }
  std::reverse(result.control.fragments.begin(), result.control.fragments.end());
}

/// Decides how far a search that got lost goes back. A fall begins long before it shows, so that the states from which
/// it can still be avoided may be any distance back; the distance doubles until the search gets past the place.
class Rewinder {
 public:
  explicit Rewinder(const Problem& problem)
      : steps_(problem.schedule.steps),
        shortest_(std::max(1, static_cast<int>(std::lround(problem.search.rewind / problem.time_step())))),
        distance_(shortest_) {}

  /// The fragment to draw again after `lost` had no sample inside the gates.
  int Target(int lost) {
    distance_ = lost > furthest_ ? shortest_ : std::min(2 * distance_, steps_.back());
    furthest_ = std::max(furthest_, lost);
    const int latest = steps_[static_cast<size_t>(lost)] - distance_;
    int target = lost;
    while (target > 0 && steps_[static_cast<size_t>(target)] > latest) --target;
    return target;
  }

 private:
  const std::vector<int>& steps_;
  int shortest_;  // [simulation steps]
  int distance_;
  int furthest_ = -1;
};

/// The whole search: a pass as in 2010, which goes back where it gets lost and learns from how far it got.
class Search {
 public:
  Search(const Problem& problem, parallel::TaskFarm& farm, const IterationCallback& on_iteration)
      : problem_(problem),
        farm_(farm),
        on_iteration_(on_iteration),
        size_{problem.search.samples, problem.search.selection},
        learned_size_(size_),
        rewinder_(problem),
        attempts_(static_cast<size_t>(problem.schedule.num_iterations()), 0),
        model_(problem) {
    const double share = problem.search.learned_samples;
    learned_size_.samples = std::max(1, static_cast<int>(share * size_.samples));
    learned_size_.selection.saved = std::max(1, static_cast<int>(share * size_.selection.saved));
  }

  SearchResult Run() {
    Tree tree(1);
    tree[0].resize(1);
    tree[0][0].end = problem_.start;
    Tree furthest;  // of all attempts that got lost; its last level holds what was saved outside the gates
    while (!AtEnd(tree)) {
      if (!Affords(static_cast<int>(tree.size()) - 1)) {
        result_.ending = Ending::kBudget;
        break;
      }
      const bool inside = Advance(tree);
      if (inside || (tree.back().size() > 0 && !problem_.search.keep_inside_gates)) continue;
      NoteLoss(tree);
      const int target = result_.iterations.back().rewound_to;
      Tree back;
      if (target >= 0) {
        if (problem_.search.learn) model_.Learn(tree, target);
        back.assign(tree.begin(), tree.begin() + target + 1);
      }
      // What was saved outside the gates is worth learning from, but is no part of a result.
      const bool diverged = tree.back().empty();
      tree.pop_back();
      if (target < 0) {
        result_.ending = diverged ? Ending::kDiverged : Ending::kLost;
        break;
      }
      ++result_.rewinds;
      if (tree.size() > furthest.size()) furthest = std::move(tree);
      tree = std::move(back);
    }
    if (furthest.size() > tree.size()) tree = std::move(furthest);
    result_.reached_end = AtEnd(tree);
    if (result_.reached_end) {
      result_.ending = Ending::kReachedEnd;
      result_.loss = {};
    }
    TraceBack(problem_, tree, result_);
    return std::move(result_);
  }

 private:
  bool AtEnd(const Tree& tree) const { return static_cast<int>(tree.size()) > problem_.schedule.num_iterations(); }

  /// Whether the budget has room for drawing a fragment.
  bool Affords(int fragment) const {
    if (problem_.search.budget == 0) return true;
    const std::vector<int>& steps = problem_.schedule.steps;
    const int samples = (model_[fragment].learned() ? learned_size_ : size_).samples;
    const double needed = static_cast<double>(samples) *
                          (steps[static_cast<size_t>(fragment) + 1] - steps[static_cast<size_t>(fragment)]);
    return result_.simulated_seconds + needed * problem_.time_step() <=
           problem_.search.budget * steps.back() * problem_.time_step();
  }

  /// Keeps what is known of the furthest place where no sample stayed inside the gates: the last level of the tree.
  void NoteLoss(const Tree& tree) {
    const IterationRecord& record = result_.iterations.back();
    Loss& loss = result_.loss;
    if (record.fragment < loss.fragment) return;
    loss = {};
    loss.fragment = record.fragment;
    loss.start = record.start;
    loss.end = record.end;
    loss.attempts = attempts_[static_cast<size_t>(record.fragment)];
    loss.samples = static_cast<int>(record.samples.size());
    loss.diverged = record.diverged;
    if (tree.back().empty()) return;
    const auto share = [&](const Node& node) { return record.samples[node.sample].gate_share; };
    const auto& nodes = tree.back();
    const Node& nearest = *std::min_element(nodes.begin(), nodes.end(),
                                            [&](const Node& a, const Node& b) { return share(a) < share(b); });
    character::State reference;
    problem_.reference->StateAt(record.end, reference);
    loss.nearest = metrics::SharesOfGates(*problem_.character, nearest.end, reference, problem_.gates);
    loss.nearest_share = share(nearest);
    const Node* cheapest = &*std::min_element(nodes.begin(), nodes.end(), CheaperPath);
    loss.terms = record.samples[cheapest->sample].terms.Weighted(problem_.weights);
    for (size_t level = tree.size() - 2; level > 0; --level) {
      cheapest = &tree[level][cheapest->parent];
      const IterationRecord& there = result_.iterations[cheapest->iteration];
      loss.terms_before += there.samples[cheapest->sample].terms.Weighted(problem_.weights);
      ++loss.fragments_before;
    }
  }

  /// Draws the next fragment. False when no sample ended inside the gates; the tree has been extended all the same.
  bool Advance(Tree& tree) {
    const int fragment = static_cast<int>(tree.size()) - 1;
    const OffsetDistribution& distribution = model_[fragment];
    Iteration iteration(problem_, static_cast<int>(result_.iterations.size()), fragment, tree.back(),
                        distribution.learned() ? learned_size_ : size_, distribution);
    IterationRecord& record = iteration.record;
    record.attempt = attempts_[static_cast<size_t>(fragment)]++;
    record.learned = distribution.learned();
    iteration.Simulate(farm_);
    tree.push_back(iteration.Select());
    result_.rollouts += record.rollouts;
    result_.cpu_seconds += record.cpu_seconds;
    result_.simulated_seconds += static_cast<double>(record.rollouts) * (record.end - record.start);
    const bool lost = record.inside_gates == 0;
    if (lost && result_.rewinds < problem_.search.max_rewinds) record.rewound_to = rewinder_.Target(fragment);
    if (on_iteration_) on_iteration_(record);
    result_.iterations.push_back(std::move(record));
    return !lost;
  }

  const Problem& problem_;
  parallel::TaskFarm& farm_;
  const IterationCallback& on_iteration_;
  IterationSize size_;
  IterationSize learned_size_;
  Rewinder rewinder_;
  std::vector<int> attempts_;  // (fragments)
  OffsetModel model_;
  SearchResult result_;
};

}  // namespace

std::string Name(Ending ending) {
  switch (ending) {
    case Ending::kReachedEnd:
      return "reached_end";
    case Ending::kLost:
      return "lost";
    case Ending::kBudget:
      return "budget";
    case Ending::kDiverged:
      return "diverged";
  }
  return "";
}

SearchResult RunSearch(const Problem& problem, parallel::TaskFarm& farm, const IterationCallback& on_iteration) {
  return Search(problem, farm, on_iteration).Run();
}

}  // namespace retrace::reconstruction
