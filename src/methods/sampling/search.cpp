#include "retrace/methods/sampling/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cross_entropy.h"
#include "guidance.h"
#include "iteration.h"
#include "linearization.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/time_grid.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "search_state.h"

namespace retrace::sampling {
namespace {

/// Factor on the weight of changes of offsets where a pass took too large steps.
constexpr double kMoreCaution = 8;

/// Fragments that are linearized before the next chance to stop.
constexpr int kFragmentsPerModelRecord = 32;

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

/// Marks the sample of a node in the record of its iteration, which may not have it any more.
void Choose(const Node& node, IterationRecord& record) {
  if (!record.samples.empty()) {
    record.samples[node.sample].chosen = true;
    return;
  }
  SampleRecord& sample = record.samples.emplace_back();
  sample.sample = node.sample;
  sample.start = node.start;
  sample.terms = node.terms;
  sample.cost = node.terms.Total(record.weights);
  sample.saved = true;
  sample.chosen = true;
}

std::vector<Node> CompletePath(const Problem& problem, const Tree& tree) {
  std::vector<Node> path = BestPath(tree);
  Complete(problem, path);
  return path;
}

/// Follows the path with the least sum of costs back from the last fragment (section 3.2.2) and writes it down.
void TraceBack(const Problem& problem, const Tree& tree, Summary& result) {
  const Node& leaf = tree.back()[CheapestLeaf(tree)];
  result.path_cost = leaf.path_cost;
  result.end = *leaf.end;
  result.control.world = problem.task.world;
  result.control.start = problem.task.start;
  for (const Node& node : CompletePath(problem, tree)) {
    const int fragment = static_cast<int>(result.control.fragments.size());
    result.control.fragments.push_back(MakeFragment(problem, fragment, node.offsets, node.ramp_from));
    Choose(node, result.iterations[node.iteration]);
  }
}

/// Decides how far a search goes back when no sample is within tolerance. A fall begins long before it can be seen, so
/// that the states from which it can still be avoided may be any distance back. The distance doubles until the search
/// gets past the position, up to Options::back_off_limit.
class BackOff {
 public:
  explicit BackOff(const Problem& problem)
      : steps_(problem.task.schedule.steps),
        shortest_(std::max(1, StepsOf(problem, problem.options.back_off))),
        longest_(std::max(shortest_, StepsOf(problem, problem.options.back_off_limit))) {}

  BackOffState Begin() const { return {shortest_, -1}; }

  /// The fragment to draw again after `failed` had no sample within tolerance.
  int Target(int failed, BackOffState& state) const {
    // After it went back as far as it may, it begins with the shortest distance again, which may suffice now that the
    // distributions have been fitted.
    const int most = std::min(longest_, steps_[static_cast<size_t>(std::max(0, state.furthest))]);
    const bool went_back_all_the_way = state.distance >= most;
    const bool begins_again = failed > state.furthest || went_back_all_the_way;
    state.distance = begins_again ? shortest_ : std::min(longest_, 2 * state.distance);
    state.furthest = std::max(state.furthest, failed);
    return FragmentBefore(failed, state.distance);
  }

  /// The first fragment that can be drawn again when `failed` or a later one has no sample within tolerance.
  int Earliest(int failed) const { return FragmentBefore(failed, longest_); }

 private:
  static int StepsOf(const Problem& problem, double seconds) {
    return control::TimeGrid{problem.time_step()}.Nearest(seconds);
  }

  int FragmentBefore(int fragment, int distance) const {
    const int latest = steps_[static_cast<size_t>(fragment)] - distance;
    int target = fragment;
    while (target > 0 && steps_[static_cast<size_t>(target)] > latest) --target;
    return target;
  }

  const std::vector<int>& steps_;
  int shortest_;  // [simulation steps]
  int longest_;
};

/// The whole search: a pass as in 2010, which goes back when no sample is within tolerance, and then draws from
/// distributions that are fitted to the samples whose descendants got furthest.
class Search {
 public:
  Search(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks)
      : problem_(problem),
        farm_(farm),
        hooks_(hooks),
        refinement_size_(IterationSize{problem.options.samples, problem.options.selection}.Scaled(
            problem.options.refinement.samples)),
        back_off_(problem) {
    const auto fragments = static_cast<size_t>(problem.task.schedule.num_iterations());
    keeps_all_samples_ = fragments * static_cast<size_t>(problem.options.samples) <= hooks.most_samples_kept;
    state_.tree = Root();
    state_.back_off = back_off_.Begin();
    state_.attempts.assign(fragments, 0);
    state_.distributions.resize(fragments);
    state_.noise = problem.options.refinement.noise;
  }

  Summary Run() {
    GoOn();
    if (state_.phase == Phase::kSearch) {
      Reach();
      const bool lost = !AtEnd(state_.tree) && problem_.options.best_effort;
      state_.phase = lost ? Phase::kBeyondGates : Phase::kRefinement;
    }
    if (state_.phase == Phase::kBeyondGates) {
      ReachOutsideGates();
    } else if (AtEnd(state_.tree)) {
      Refine();
    }
    Keep();
    TraceBack(problem_, state_.tree, summary_);
    return std::move(summary_);
  }

 private:
  using Phase = SearchState::Phase;

  /// A tree of the start state alone, which the reference's own targets lead up to.
  Tree Root() const {
    Tree tree(1, std::vector<Node>(1));
    tree[0][0].offsets = NoOffsets(problem_);
    tree[0][0].end = std::make_shared<const character::State>(problem_.task.start);
    return tree;
  }

  /// Reads what the store has. What is not from this search, under a checksum that fits, is refused.
  template <typename Read>
  static void FromStore(Read read) {
    try {
      read();
    } catch (const std::logic_error& error) {
      throw InputError("checkpoint", error.what(), "what this search has stored");
    }
  }

  /// Takes what an earlier search knew, where the store has that.
  void GoOn() {
    if (hooks_.store == nullptr || !hooks_.store->Next(restored_.emplace())) {
      restored_.reset();
      return;
    }
    if (!IsSearchState(*restored_)) return;  // an iteration, which comes in its turn
    FromStore([&] { state_ = UnpackSearchState(*restored_, problem_); });
    restored_.reset();
  }

  /// Between two iterations.
  void LimitMemory(Tree& tree) {
    if (!tree.back().empty()) {
      const int next = std::min(static_cast<int>(tree.size()) - 1, problem_.task.schedule.num_iterations() - 1);
      Prune(tree, static_cast<size_t>(back_off_.Earliest(next)));
    }
    const bool restarts = hooks_.store != nullptr && !restoring_ && hooks_.store->IsFull();
    if (restarts) unkept_.reset();  // the state has it
    if (!unkept_) ForgetSamples();  // else once it is stored, for which its samples are needed
    if (!restarts) return;
    for (Tree* kept : {&state_.tree, &state_.furthest, &state_.pass.tree}) {
      for (std::vector<Node>& level : *kept) Complete(problem_, level);
    }
    hooks_.store->Restart([&](const io::Pieces& pieces) { Pack(state_, pieces); });
  }

  /// Record of the latest iteration, in a search that would keep too many.
  void ForgetSamples() {
    if (keeps_all_samples_ || summary_.iterations.empty()) return;
    IterationRecord& record = summary_.iterations.back();
    std::vector<SampleRecord>().swap(record.samples);
    std::vector<size_t>().swap(record.selection.samples);
  }

  /// The search proper: to the end of the reference, or as far as it gets.
  void Reach() {
    Tree& tree = state_.tree;
    while (!AtEnd(tree)) {
      LimitMemory(tree);
      const Step step = Advance(tree);
      if (step == Step::kOverBudget && MayRestart()) {
        Restart();
        continue;
      }
      if (step == Step::kOverBudget) {
        summary_.ending = task::Ending::kBudget;
        break;
      }
      const bool inside = step == Step::kInside;
      if (inside || (!tree.back().empty() && !problem_.options.keep_inside_gates)) continue;
      NoteFailure(tree);
      const int target = summary_.iterations.back().back_to;
      Tree back;
      if (target >= 0) {
        if (problem_.options.refit) FitDistributions(problem_, tree, target, state_.distributions);
        back.assign(tree.begin(), tree.begin() + target + 1);
      }
      // The distributions are fitted to what was saved out of tolerance too, but it is not part of a result.
      const bool diverged = tree.back().empty();
      tree.pop_back();
      if (target < 0) {
        summary_.ending = diverged ? task::Ending::kDiverged : task::Ending::kLeftGates;
        break;
      }
      ++summary_.back_offs;
      if (tree.size() > state_.furthest.size()) state_.furthest = TreeOfBestPath(tree);
      tree = std::move(back);
    }
    if (state_.furthest.size() > tree.size()) tree = std::move(state_.furthest);
    summary_.search_seconds = summary_.simulated_seconds;
    state_.furthest.clear();
    if (!AtEnd(tree)) return;
    summary_.ending = task::Ending::kReachedEnd;
    summary_.failure = {};
    tree = TreeOfBestPath(tree);
  }

  /// Whether the search has yet to begin once more where it does not reach the end in time.
  bool MayRestart() const {
    const Options& o = problem_.options;
    return state_.phase == Phase::kSearch && !summary_.restarted() && o.restart.samples > o.samples &&
           (o.budget == 0 || o.restart.after < o.budget);
  }

  /// Begins once more, knowing nothing but how far it got.
  void Restart() {
    if (state_.tree.size() > state_.furthest.size()) state_.furthest = TreeOfBestPath(state_.tree);
    state_.tree = Root();
    state_.back_off = back_off_.Begin();
    state_.distributions.assign(state_.distributions.size(), OffsetDistribution());
    summary_.restarted_at = static_cast<int>(summary_.iterations.size());
    state_.reached_at = summary_.simulated_seconds;
  }

  /// Whether the search, begun once more, may go on with an iteration: whether it can get further than it has been,
  /// without going back any more, before it has spent what RestartOptions::patience allows.
  bool IsPatient(const Iteration& iteration) const {
    const double patience = problem_.options.restart.patience;
    if (patience == 0 || !summary_.restarted()) return true;
    const std::vector<int>& steps = problem_.task.schedule.steps;
    double seconds = CostOf(iteration);
    for (int f = iteration.record.fragment + 1; f <= state_.reached; ++f) {
      const auto k = static_cast<size_t>(f);
      seconds += SizeOf(f).samples * (steps[k + 1] - steps[k]) * problem_.time_step();
    }
    const double reached = steps[static_cast<size_t>(std::max(1, state_.reached))] * problem_.time_step();
    return summary_.simulated_seconds + seconds <= state_.reached_at + patience * reached;
  }

  /// What an iteration of the search draws that goes back to no fragment.
  IterationSize Size() const {
    IterationSize size{problem_.options.samples, problem_.options.selection};
    if (!summary_.restarted()) return size;
    size.samples = problem_.options.restart.samples;
    size.selection.saved = problem_.options.restart.saved;
    return size;
  }

  /// From the furthest state of a search that was lost to the end of the reference, wherever the tolerances are:
  /// samples inside are still preferred to others, so that the motion comes back where it can.
  void ReachOutsideGates() {
    Tree& tree = state_.tree;
    while (!AtEnd(tree)) {
      LimitMemory(tree);
      const int fragment = static_cast<int>(tree.size()) - 1;
      IterationPlan plan = PlanOf(fragment, Size());
      plan.distributions = {OffsetDistribution()};  // around the reference: what was fitted led astray
      Iteration iteration(problem_, std::move(plan), tree.back(), memory_);
      tree.push_back(Perform(iteration));
      Record(std::move(iteration.record));
      if (!tree.back().empty()) continue;
      tree.pop_back();
      tree = TreeOfBestPath(tree);
      summary_.ending = task::Ending::kDiverged;
      return;
    }
    tree = TreeOfBestPath(tree);
    summary_.ending = task::Ending::kReachedEnd;
  }

  /// Passes of RefinementOptions.
  void Refine() {
    const RefinementOptions& o = problem_.options.refinement;
    RefinementPassState& pass = state_.pass;
    std::vector<RefinementPass>& passes = summary_.refinement;
    for (;;) {
      if (state_.phase == Phase::kRefinement) {
        const auto pays = [&](size_t back) {
          return passes.size() < back || passes[passes.size() - back].gain() >= o.least_gain;
        };
        // One that gains little by a model of its own path took too large steps; one that gains little by that of an
        // earlier path needs another model. Where the next does not help, nothing will.
        const bool too_large = !pays(1) && passes.back().linearized;
        const bool new_model =
            pass.models.empty() || !(pays(1) || too_large) || (pays(1) && pass.passes_of_models >= o.passes_per_model);
        if (static_cast<int>(passes.size()) >= o.passes || (!pays(1) && !pays(2)) ||
            !Affords(SecondsOfPass(new_model))) {
          return;
        }
        state_.caution *= too_large ? kMoreCaution : 1;
        pass.report.caution = state_.caution;
        pass.path = CompletePath(problem_, state_.tree);
        pass.report.noise = state_.noise;
        pass.report.linearized = new_model;
        pass.tree = Root();
        if (new_model) pass.models.clear();
        pass.passes_of_models = new_model ? 1 : pass.passes_of_models + 1;
        state_.phase = Phase::kRefinementPass;
      }
      FindModels();
      RunRefinementPass();
      state_.noise *= o.noise_decay;
      if (pass.report.cost < pass.report.cost_before) state_.tree = TreeOfBestPath(pass.tree);
      passes.push_back(pass.report);
      pass.report = {};
      pass.path.clear();
      pass.tree.clear();
      state_.phase = Phase::kRefinement;
    }
  }

  /// What a refinement pass simulates [s].
  double SecondsOfPass(bool new_model) const {
    const size_t rollouts = static_cast<size_t>(refinement_size_.samples) + (new_model ? RolloutsOfModel(problem_) : 0);
    return static_cast<double>(rollouts) * duration();
  }

  /// Linearizes the fragments of the path that is refined, as far as their models are missing.
  void FindModels() {
    RefinementPassState& pass = state_.pass;
    const std::vector<int>& steps = problem_.task.schedule.steps;
    const auto fragments = static_cast<int>(pass.path.size());
    while (static_cast<int>(pass.models.size()) < fragments) {
      LimitMemory(pass.tree);
      const auto first = static_cast<int>(pass.models.size());
      const int end = std::min(fragments, first + kFragmentsPerModelRecord);
      if (restored_ || TakeNext()) {
        const auto size = static_cast<size_t>(2 * dynamics::Coordinates(*problem_.task.character).size());
        FromStore([&] { Restore(*restored_, first, end, size, pass.models, summary_.cpu_seconds); });
        restored_.reset();
      } else {
        Keep();
        double cpu_seconds = 0;
        Linearize(problem_, pass.path, first, end, farm_, pass.models, cpu_seconds);
        summary_.cpu_seconds += cpu_seconds;
        if (hooks_.store != nullptr) {
          Store(pass.models, first, cpu_seconds, bytes_);
          hooks_.store->Append(bytes_);
        }
        stopping_ = hooks_.stop && hooks_.stop();
      }
      for (int f = first; f < end; ++f) {
        const auto k = static_cast<size_t>(f);
        const auto rollouts = static_cast<size_t>(RolloutsOfModel(problem_));
        summary_.rollouts += rollouts;
        summary_.simulated_seconds += static_cast<double>(rollouts) * (steps[k + 1] - steps[k]) * problem_.time_step();
      }
      if (stopping_) Stop();
    }
  }

  /// A search around a path, guided by its model.
  void RunRefinementPass() {
    RefinementPassState& pass = state_.pass;
    const Guidance guidance(problem_, pass.path, pass.models, pass.report.noise, pass.report.caution);
    pass.report.cost_before = guidance.path_cost();
    pass.report.drift = guidance.largest_drift();
    Tree& tree = pass.tree;
    while (!AtEnd(tree)) {
      LimitMemory(tree);
      IterationPlan plan = PlanOf(static_cast<int>(tree.size()) - 1, refinement_size_);
      plan.guidance = &guidance;
      Iteration iteration(problem_, std::move(plan), tree.back(), memory_);
      tree.push_back(Perform(iteration));
      iteration.record.refinement = true;
      Record(std::move(iteration.record));
    }
    pass.report.cost = tree.back()[CheapestLeaf(tree)].path_cost;
  }

  bool AtEnd(const Tree& tree) const { return static_cast<int>(tree.size()) > problem_.task.schedule.num_iterations(); }

  /// What the next iteration of a fragment draws in the search.
  IterationSize SizeOf(int fragment) const {
    const OffsetDistribution& distribution = state_.distributions[static_cast<size_t>(fragment)];
    const bool fitted = std::holds_alternative<NormalOffsets>(distribution);
    return Grown(fragment, fitted ? Size().Scaled(problem_.options.refit_samples) : Size());
  }

  /// `size`, grown by each of the earlier draws of a fragment.
  IterationSize Grown(int fragment, const IterationSize& size) const {
    const Options& o = problem_.options;
    const double most = std::max(1.0, static_cast<double>(o.most_samples) / Size().samples);
    double growth = 1;
    for (int n = 0; n < state_.attempts[static_cast<size_t>(fragment)] && growth < most; ++n) growth *= o.growth;
    return growth == 1 ? size : size.Scaled(std::min(growth, most));
  }

  /// What an iteration that is about to be simulated costs [s].
  static double CostOf(const Iteration& iteration) {
    return static_cast<double>(iteration.record.rollouts) * (iteration.record.end - iteration.record.start);
  }

  double duration() const { return problem_.task.schedule.steps.back() * problem_.time_step(); }

  /// Whether the budget has room for so many simulated seconds; before a restart, what may be spent up to it.
  bool Affords(double seconds) const {
    const Options& o = problem_.options;
    const double budget = MayRestart() ? o.restart.after : o.budget;
    return budget == 0 || summary_.simulated_seconds + seconds <= budget * duration();
  }

  IterationPlan PlanOf(int fragment, const IterationSize& size) const {
    IterationPlan plan;
    plan.iteration = static_cast<int>(summary_.iterations.size());
    plan.fragment = fragment;
    plan.samples = size.samples;
    plan.selection = size.selection;
    plan.weights = problem_.task.weights;
    return plan;
  }

  /// Simulates an iteration, or takes what an earlier search simulated; returns the saved samples.
  std::vector<Node> Perform(Iteration& iteration) {
    if (restored_ || TakeNext()) {
      FromStore([&] { iteration.Restore(*restored_); });
      restored_.reset();
      return iteration.Select();
    }
    iteration.Simulate(farm_, [&] {
      Keep();
      ForgetSamples();
    });
    std::vector<Node> saved = iteration.Select();
    if (hooks_.store != nullptr) unkept_ = iteration.TakeSimulated();
    stopping_ = hooks_.stop && hooks_.stop();
    return saved;
  }

  /// The next iteration of an earlier search, where there is one.
  bool TakeNext() {
    restoring_ = restoring_ && hooks_.store != nullptr && hooks_.store->Next(restored_.emplace());
    if (!restoring_) restored_.reset();
    return restoring_;
  }

  /// Appends the latest iteration to the store. This happens while the workers are busy with the next one, so that they
  /// do not wait for a file system, and before anything ends the search.
  void Keep() {
    if (!unkept_) return;
    Store(summary_.iterations.back(), *unkept_, bytes_);
    hooks_.store->Append(bytes_);
    unkept_.reset();
  }

  void Record(IterationRecord&& record) {
    record.restart = record.iteration == summary_.restarted_at;
    record.attempt = state_.attempts[static_cast<size_t>(record.fragment)]++;
    summary_.rollouts += record.rollouts;
    summary_.cpu_seconds += record.cpu_seconds;
    summary_.simulated_seconds += static_cast<double>(record.rollouts) * (record.end - record.start);
    if (hooks_.on_iteration) hooks_.on_iteration(record);
    summary_.iterations.push_back(std::move(record));
    if (stopping_) Stop();
  }

  [[noreturn]] void Stop() {
    Keep();
    throw StoppedError("stopped after iteration " + std::to_string(summary_.iterations.size()));
  }

  /// Describes the furthest failure: no sample of the last level of the tree is within tolerance.
  void NoteFailure(const Tree& tree) {
    const IterationRecord& record = summary_.iterations.back();
    Failure& failure = summary_.failure;
    if (record.fragment < failure.fragment) return;
    failure = {};
    failure.fragment = record.fragment;
    failure.start = record.start;
    failure.end = record.end;
    failure.attempts = state_.attempts[static_cast<size_t>(record.fragment)];
    failure.samples = static_cast<int>(record.samples.size());
    failure.diverged = record.diverged;
    if (tree.back().empty()) return;
    const auto share = [&](const Node& node) { return record.samples[node.sample].gate_ratio; };
    const auto& nodes = tree.back();
    const Node& nearest = *std::min_element(nodes.begin(), nodes.end(),
                                            [&](const Node& a, const Node& b) { return share(a) < share(b); });
    character::State reference;
    problem_.task.reference->StateAt(record.end, reference);
    failure.nearest =
        metrics::ComputeGateRatios(*problem_.task.character, *nearest.end, reference, problem_.task.gates);
    failure.nearest_ratio = share(nearest);
    const Node* cheapest = &*std::min_element(nodes.begin(), nodes.end(), CheaperPath);
    failure.terms = cheapest->terms.Weighted(record.weights);
    for (size_t level = tree.size() - 2; level > 0; --level) {
      cheapest = &tree[level][cheapest->parent];
      failure.terms_before += cheapest->terms.Weighted(summary_.iterations[cheapest->iteration].weights);
      ++failure.fragments_before;
    }
  }

  enum class Step { kInside, kOutside, kOverBudget };

  /// Draws the next fragment. kOutside: no sample ended within tolerance; the tree has been extended all the same.
  /// kOverBudget: the budget does not allow for it, and nothing was done.
  Step Advance(Tree& tree) {
    const int fragment = static_cast<int>(tree.size()) - 1;
    IterationPlan plan = PlanOf(fragment, SizeOf(fragment));
    plan.distributions = {state_.distributions[static_cast<size_t>(fragment)]};
    Iteration iteration(problem_, std::move(plan), tree.back(), memory_);
    if (!Affords(CostOf(iteration)) || !IsPatient(iteration)) return Step::kOverBudget;
    tree.push_back(Perform(iteration));
    const bool failed = iteration.record.inside_gates == 0;
    const bool further = !failed && fragment >= state_.reached;
    if (failed && summary_.back_offs < problem_.options.max_back_offs) {
      iteration.record.back_to = back_off_.Target(fragment, state_.back_off);
    }
    Record(std::move(iteration.record));
    if (further) {
      state_.reached = fragment + 1;
      state_.reached_at = summary_.simulated_seconds;
    }
    return failed ? Step::kOutside : Step::kInside;
  }

  const Problem& problem_;
  parallel::TaskFarm& farm_;
  const Hooks& hooks_;
  IterationSize refinement_size_;
  BackOff back_off_;
  bool keeps_all_samples_;
  SearchState state_;
  Summary& summary_ = state_.summary;
  bool stopping_ = false;                    // after this iteration
  bool restoring_ = true;                    // the store may have more of an earlier search
  std::optional<parallel::Bytes> restored_;  // what the store returned and no iteration has taken yet
  std::optional<Simulated> unkept_;          // what the latest iteration simulated, for the store
  IterationMemory memory_;
  parallel::Bytes bytes_;  // scratch
};

void CheckSizeOfIterations(const Problem& problem) {
  const std::vector<int>& steps = problem.task.schedule.steps;
  int longest = 1;
  for (size_t i = 0; i + 1 < steps.size(); ++i) longest = std::max(longest, steps[i + 1] - steps[i]);
  const int most = kMostStepsPerIteration / longest;
  const Options& o = problem.options;
  const char* setting = "/search/samples";
  int samples = o.samples;
  const auto draws = [&](const char* by, int number) {
    if (number <= samples) return;
    setting = by;
    samples = number;
  };
  if (o.growth > 1) draws("/search/most_samples", o.most_samples);
  draws("/restart/samples", o.restart.samples);
  if (samples <= most) return;
  throw UsageError(std::string(setting) + ": found " + std::to_string(samples) + " samples of " +
                   std::to_string(longest) + " simulation steps, expected at most " + std::to_string(most) +
                   ": an iteration takes at most " + std::to_string(kMostStepsPerIteration) + " steps");
}

}  // namespace

parallel::WorkerFactory MakeWorkerFactory(const Problem& problem) {
  return [&problem]() -> parallel::Worker {
    auto worker = std::make_shared<RolloutWorker>(problem);
    auto results = std::make_shared<std::vector<RolloutResult>>();
    return [&problem, worker, results](std::span<const std::byte> tasks, parallel::Bytes& bytes) {
      if (IsLinearization(tasks)) {
        RunLinearization(problem, tasks, *worker, bytes);
        return;
      }
      worker->Run(UnpackTasks(tasks, problem), *results);
      bytes.clear();
      for (const RolloutResult& result : *results) Pack(result, bytes);
    };
  };
}

Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks) {
  if (const std::optional<std::string> wrong = problem.options.Validate()) throw UsageError(*wrong);
  CheckSizeOfIterations(problem);
  return Search(problem, farm, hooks).Run();
}

}  // namespace retrace::sampling
