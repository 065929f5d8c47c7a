#include "retrace/methods/sampling/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "cross_entropy.h"
#include "iteration.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "tree.h"

namespace retrace::sampling {
namespace {

/// How many samples an iteration draws and saves.
struct IterationSize {
  int samples = 0;
  SelectionOptions selection;

  IterationSize Scaled(double share) const {
    IterationSize size = *this;
    size.samples = std::max(1, static_cast<int>(share * samples));
    size.selection.saved = std::max(1, static_cast<int>(share * selection.saved));
    return size;
  }
};

bool CheaperPath(const Node& a, const Node& b) {
  return a.path_cost < b.path_cost;
}

/// The leaf of the cheapest path.
size_t CheapestLeaf(const Tree& tree) {
  const auto& last = tree.back();
  return static_cast<size_t>(std::min_element(last.begin(), last.end(), CheaperPath) - last.begin());
}

/// Follows the path with the least sum of costs back from the last fragment (section 3.2.2) and writes it down.
void TraceBack(const Problem& problem, const Tree& tree, Summary& result) {
  size_t node = CheapestLeaf(tree);
  result.path_cost = tree.back()[node].path_cost;
  result.end = tree.back()[node].end;
  result.control.world = problem.task.world;
  result.control.start = problem.task.start;
  for (size_t level = tree.size() - 1; level > 0; --level) {
    const Node& here = tree[level][node];
    result.control.fragments.push_back(
        MakeFragment(problem, static_cast<int>(level) - 1, here.offsets, here.ramp_from));
    result.iterations[here.iteration].samples[here.sample].chosen = true;
    node = here.parent;
  }
  std::reverse(result.control.fragments.begin(), result.control.fragments.end());
}

/// Decides how far a search goes back when no sample is inside the gates. A fall begins long before it can be seen, so
/// that the states from which it can still be avoided may be any distance back. The distance doubles until the search
/// gets past the place.
class Rewinder {
 public:
  explicit Rewinder(const Problem& problem)
      : steps_(problem.task.schedule.steps),
        shortest_(std::max(1, static_cast<int>(std::lround(problem.options.rewind / problem.time_step())))),
        distance_(shortest_) {}

  /// The fragment to draw again after `failed` had no sample inside the gates.
  int Target(int failed) {
    // After it went back to the start, it begins with the shortest distance again, which may suffice now that the
    // distributions have been fitted.
    const bool from_start = distance_ >= steps_[static_cast<size_t>(std::max(0, furthest_))];
    distance_ = failed > furthest_ || from_start ? shortest_ : 2 * distance_;
    furthest_ = std::max(furthest_, failed);
    const int latest = steps_[static_cast<size_t>(failed)] - distance_;
    int target = failed;
    while (target > 0 && steps_[static_cast<size_t>(target)] > latest) --target;
    return target;
  }

 private:
  const std::vector<int>& steps_;
  int shortest_;  // [simulation steps]
  int distance_;
  int furthest_ = -1;
};

/// The whole search: a pass as in 2010, which goes back when no sample is inside the gates, and then draws from
/// distributions that are fitted to the samples whose descendants got furthest.
class Search {
 public:
  Search(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks)
      : problem_(problem),
        farm_(farm),
        hooks_(hooks),
        size_{problem.options.samples, problem.options.selection},
        refit_size_(size_.Scaled(problem.options.refit_samples)),
        smooth_size_(size_.Scaled(problem.options.smoothing.samples)),
        rewinder_(problem),
        attempts_(static_cast<size_t>(problem.task.schedule.num_iterations()), 0),
        model_(problem) {}

  Summary Run() {
    Tree tree = Root();
    Tree furthest;  // of all attempts that failed, as far as they were inside the gates
    while (!AtEnd(tree)) {
      const Step step = Advance(tree);
      if (step == Step::kTooDear) {
        result_.status = Status::kBudget;
        break;
      }
      const bool inside = step == Step::kInside;
      if (inside || (!tree.back().empty() && !problem_.options.keep_inside_gates)) continue;
      NoteFailure(tree);
      const int target = result_.iterations.back().rewound_to;
      Tree back;
      if (target >= 0) {
        if (problem_.options.refit) model_.Fit(tree, target);
        back.assign(tree.begin(), tree.begin() + target + 1);
      }
      // The distributions are fitted to what was saved outside the gates too, but it is no part of a result.
      const bool diverged = tree.back().empty();
      tree.pop_back();
      if (target < 0) {
        result_.status = diverged ? Status::kDiverged : Status::kLost;
        break;
      }
      ++result_.rewinds;
      if (tree.size() > furthest.size()) furthest = std::move(tree);
      tree = std::move(back);
    }
    if (furthest.size() > tree.size()) tree = std::move(furthest);
    result_.search_seconds = result_.simulated_seconds;
    if (AtEnd(tree)) {
      result_.status = Status::kReachedEnd;
      result_.failure = {};
      Smooth(tree);
    }
    Keep();
    TraceBack(problem_, tree, result_);
    return std::move(result_);
  }

 private:
  /// A tree of the start state alone, which the reference's own targets lead up to.
  Tree Root() const {
    Tree tree(1, std::vector<Node>(1));
    tree[0][0].offsets = NoOffsets(problem_);
    tree[0][0].end = problem_.task.start;
    return tree;
  }

  /// The best path of a tree that reached the end, from its first fragment to its last.
  static std::vector<Node> BestPath(const Tree& tree) {
    std::vector<Node> path;
    size_t node = CheapestLeaf(tree);
    for (size_t level = tree.size() - 1; level > 0; --level) {
      path.push_back(tree[level][node]);
      node = tree[level][node].parent;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  static double Roughness(const std::vector<Node>& path) {
    double sum = 0;
    for (const Node& node : path) sum += node.terms.smoothness;
    return sum / static_cast<double>(path.size());
  }

  /// Passes of SmoothingOptions. One that is given up, or whose path is no smoother, leaves the tree as it is.
  void Smooth(Tree& tree) {
    const SmoothingOptions& smoothing = problem_.options.smoothing;
    double deviation = smoothing.deviation;
    for (int tried = 0, accepted = 0; accepted < smoothing.passes && tried < 3 * smoothing.passes; ++tried) {
      if (!Affords(smooth_size_.samples * duration())) break;
      const std::vector<Node> path = BestPath(tree);
      Tree smoother;
      SmoothingPass pass;
      pass.roughness_before = Roughness(path);
      pass.deviation = deviation;
      if (RunSmoothingPass(path, deviation, smoother)) {
        pass.completed = true;
        pass.roughness = Roughness(BestPath(smoother));
        pass.accepted = pass.roughness < pass.roughness_before;
        deviation *= smoothing.decay;
        ++accepted;
      } else {
        deviation = std::min(1.0, 1.3 * deviation);  // the pass failed: it needs more freedom
      }
      if (pass.accepted) tree = std::move(smoother);
      result_.smoothing.push_back(pass);
    }
  }

  /// A search around a path. When no sample is inside the gates, it goes back and draws more widely around the path
  /// itself. Returns false when it has cost more than SmoothingOptions::cost_limit or the budget allows.
  bool RunSmoothingPass(const std::vector<Node>& path, double deviation, Tree& tree) {
    const SmoothingOptions& smoothing = problem_.options.smoothing;
    const double limit = result_.simulated_seconds + smoothing.cost_limit * smooth_size_.samples * duration();
    std::vector<double> deviations(path.size(), deviation);
    std::vector<double> blends(path.size(), smoothing.blend);
    Rewinder rewinder(problem_);
    tree = Root();
    while (!AtEnd(tree)) {
      const size_t k = tree.size() - 1;
      IterationPlan plan = PlanOf(static_cast<int>(k), smooth_size_);
      plan.weights.smoothness = smoothing.weight;
      plan.weights.drift = std::max(plan.weights.drift, smoothing.drift);
      plan.ramps = true;
      plan.distributions = {AroundPath(path, k, blends[k], deviations[k]),
                            AroundPath(path, k, 0.5 * blends[k], deviations[k])};
      Iteration iteration(problem_, std::move(plan), tree.back());
      const double cost = CostOf(iteration);
      if (result_.simulated_seconds + cost > limit || !Affords(cost)) return false;
      tree.push_back(Perform(iteration));
      iteration.record.smoothing = true;
      if (iteration.record.inside_gates == 0) {
        iteration.record.rewound_to = rewinder.Target(static_cast<int>(k));
        for (auto f = static_cast<size_t>(iteration.record.rewound_to); f <= k; ++f) {
          deviations[f] = std::min(1.0, 1.4 * deviations[f]);
          blends[f] *= 0.5;
        }
        tree.resize(static_cast<size_t>(iteration.record.rewound_to) + 1);
      }
      Record(std::move(iteration.record));
    }
    return true;
  }

  /// Offsets around those of a path, mixed with those of the fragments before and after.
  NormalOffsets AroundPath(const std::vector<Node>& path, size_t fragment, double blend, double deviation) const {
    const Offsets& here = path[fragment].offsets;
    const Offsets& before = path[fragment == 0 ? 0 : fragment - 1].offsets;
    const Offsets& after = path[std::min(fragment + 1, path.size() - 1)].offsets;
    NormalOffsets distribution;
    for (size_t j = 0; j < here.size(); ++j) {
      const character::Joint& joint = problem_.task.character->joints[j];
      distribution.mean.push_back((1 - blend) * RotationVector(here[j]) +
                                  0.5 * blend * (RotationVector(before[j]) + RotationVector(after[j])));
      distribution.deviation.push_back(deviation * problem_.options.window_scale * joint.window);
    }
    distribution.goal = GoalOf(problem_, static_cast<int>(fragment), path[fragment].end);
    return distribution;
  }

  bool AtEnd(const Tree& tree) const { return static_cast<int>(tree.size()) > problem_.task.schedule.num_iterations(); }

  /// What an iteration that is about to be simulated costs [s].
  static double CostOf(const Iteration& iteration) {
    return static_cast<double>(iteration.record.rollouts) * (iteration.record.end - iteration.record.start);
  }

  double duration() const { return problem_.task.schedule.steps.back() * problem_.time_step(); }

  /// Whether the budget has room for so many simulated seconds.
  bool Affords(double seconds) const {
    return problem_.options.budget == 0 || result_.simulated_seconds + seconds <= problem_.options.budget * duration();
  }

  IterationPlan PlanOf(int fragment, const IterationSize& size) const {
    IterationPlan plan;
    plan.iteration = static_cast<int>(result_.iterations.size());
    plan.fragment = fragment;
    plan.samples = size.samples;
    plan.selection = size.selection;
    plan.weights = problem_.task.weights;
    return plan;
  }

  /// Simulates an iteration, or takes what an earlier search simulated; returns the saved samples.
  std::vector<Node> Perform(Iteration& iteration) {
    parallel::Bytes simulated;
    if (hooks_.store != nullptr && hooks_.store->Next(simulated)) {
      iteration.Restore(simulated);
      return iteration.Select();
    }
    iteration.Simulate(farm_, [&] { Keep(); });
    std::vector<Node> saved = iteration.Select();
    if (hooks_.store != nullptr) unkept_ = iteration.TakeSimulated();
    stopping_ = hooks_.stop && hooks_.stop();
    return saved;
  }

  /// Appends the latest iteration to the store. This happens while the workers are busy with the next one, so that they
  /// do not wait for a file system, and before anything ends the search.
  void Keep() {
    if (!unkept_) return;
    hooks_.store->Append(Store(result_.iterations.back(), *unkept_));
    unkept_.reset();
  }

  void Record(IterationRecord&& record) {
    record.attempt = attempts_[static_cast<size_t>(record.fragment)]++;
    result_.rollouts += record.rollouts;
    result_.cpu_seconds += record.cpu_seconds;
    result_.simulated_seconds += static_cast<double>(record.rollouts) * (record.end - record.start);
    if (hooks_.on_iteration) hooks_.on_iteration(record);
    result_.iterations.push_back(std::move(record));
    if (!stopping_) return;
    Keep();
    throw StoppedError("stopped after iteration " + std::to_string(result_.iterations.size()));
  }

  /// Describes the furthest failure: no sample of the last level of the tree is inside the gates.
  void NoteFailure(const Tree& tree) {
    const IterationRecord& record = result_.iterations.back();
    Failure& failure = result_.failure;
    if (record.fragment < failure.fragment) return;
    failure = {};
    failure.fragment = record.fragment;
    failure.start = record.start;
    failure.end = record.end;
    failure.attempts = attempts_[static_cast<size_t>(record.fragment)];
    failure.samples = static_cast<int>(record.samples.size());
    failure.diverged = record.diverged;
    if (tree.back().empty()) return;
    const auto share = [&](const Node& node) { return record.samples[node.sample].gate_ratio; };
    const auto& nodes = tree.back();
    const Node& nearest = *std::min_element(nodes.begin(), nodes.end(),
                                            [&](const Node& a, const Node& b) { return share(a) < share(b); });
    character::State reference;
    problem_.task.reference->StateAt(record.end, reference);
    failure.nearest = metrics::ComputeGateRatios(*problem_.task.character, nearest.end, reference, problem_.task.gates);
    failure.nearest_ratio = share(nearest);
    const Node* cheapest = &*std::min_element(nodes.begin(), nodes.end(), CheaperPath);
    failure.terms = record.samples[cheapest->sample].terms.Weighted(record.weights);
    for (size_t level = tree.size() - 2; level > 0; --level) {
      cheapest = &tree[level][cheapest->parent];
      const IterationRecord& there = result_.iterations[cheapest->iteration];
      failure.terms_before += there.samples[cheapest->sample].terms.Weighted(there.weights);
      ++failure.fragments_before;
    }
  }

  enum class Step { kInside, kLost, kTooDear };

  /// Draws the next fragment. kLost: no sample ended inside the gates; the tree has been extended all the same.
  /// kTooDear: the budget does not allow for it, and nothing was done.
  Step Advance(Tree& tree) {
    const int fragment = static_cast<int>(tree.size()) - 1;
    const OffsetDistribution& distribution = model_[fragment];
    const bool fitted = std::holds_alternative<NormalOffsets>(distribution);
    IterationPlan plan = PlanOf(fragment, fitted ? refit_size_ : size_);
    plan.distributions = {distribution};
    Iteration iteration(problem_, std::move(plan), tree.back());
    if (!Affords(CostOf(iteration))) return Step::kTooDear;
    tree.push_back(Perform(iteration));
    const bool failed = iteration.record.inside_gates == 0;
    if (failed && result_.rewinds < problem_.options.max_rewinds) {
      iteration.record.rewound_to = rewinder_.Target(fragment);
    }
    Record(std::move(iteration.record));
    return failed ? Step::kLost : Step::kInside;
  }

  const Problem& problem_;
  parallel::TaskFarm& farm_;
  const Hooks& hooks_;
  IterationSize size_;
  IterationSize refit_size_;
  IterationSize smooth_size_;
  Rewinder rewinder_;
  std::vector<int> attempts_;  // (fragments)
  OffsetDistributions model_;
  Summary result_;
  bool stopping_ = false;            // after this iteration
  std::optional<Simulated> unkept_;  // what the latest iteration simulated, for the store
};

}  // namespace

std::string Name(Status ending) {
  switch (ending) {
    case Status::kReachedEnd:
      return "reached_end";
    case Status::kLost:
      return "lost";
    case Status::kBudget:
      return "budget";
    case Status::kDiverged:
      return "diverged";
  }
  return "";
}

std::string Summary::BriefReport() const {
  const auto count = [](size_t n, const char* one, const char* many) {
    return std::to_string(n).append(" ").append(n == 1 ? one : many);
  };
  std::string text = Name(status).append(": ");
  text.append(count(control.fragments.size(), "fragment", "fragments")).append(" of control with path cost ");
  text.append(io::Fixed(path_cost, 2)).append("; ");
  text.append(count(iterations.size(), "iteration", "iterations")).append(", ");
  text.append(count(rollouts, "rollout", "rollouts")).append(", ");
  text.append(io::Fixed(simulated_seconds, 1)).append(" simulated seconds, ");
  text.append(count(static_cast<size_t>(rewinds), "rewind", "rewinds"));
  if (smoothing.empty()) return text;
  const auto accepted = std::count_if(smoothing.begin(), smoothing.end(), [](const auto& p) { return p.accepted; });
  text.append(", ").append(std::to_string(accepted)).append(" of ");
  return text.append(count(smoothing.size(), "smoothing pass", "smoothing passes")).append(" accepted");
}

Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks) {
  if (const std::optional<std::string> wrong = problem.options.Validate()) throw UsageError(*wrong);
  return Search(problem, farm, hooks).Run();
}

}  // namespace retrace::sampling
