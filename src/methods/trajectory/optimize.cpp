#include "retrace/methods/trajectory/optimize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "retrace/io/cpu_time.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/optimization/cma_es.h"
#include "retrace/parallel/bytes.h"
#include "retrace/parallel/scheduler.h"

namespace retrace::trajectory {
namespace {

constexpr double kKeptShare =
    0.25;  // of their iterations that windows to come keep where an earlier one is optimized again

using Eigen::Index;
using Eigen::VectorXd;

/// The samples of one iteration as work for a farm.
class Samples final : public parallel::Work {
 public:
  Samples(const Plan& plan, int window, const character::State& start, const Spline& spline,
          const Eigen::MatrixXd& offsets, int workers)
      : plan_(plan),
        window_(window),
        start_(start),
        spline_(spline),
        offsets_(offsets),
        results(static_cast<size_t>(offsets.cols())) {
    const std::vector<size_t> samples(results.size(), 1);
    for (const auto& task : parallel::CutGroups(samples, static_cast<size_t>(workers), {kMost, kMost})) {
      tasks_.push_back({static_cast<Index>(task.front().group), static_cast<Index>(task.size())});
    }
  }

  size_t num_tasks() const override { return tasks_.size(); }
  parallel::Bytes Pack(size_t task) override {
    return PackTask(plan_, window_, start_, spline_, offsets_.middleCols(tasks_[task].first, tasks_[task].count));
  }
  void Handle(size_t task, std::span<const std::byte> bytes) override {
    double cpu = 0;
    const std::vector<SampleResult> some = UnpackResults(bytes, cpu);
    std::copy(some.begin(), some.end(), results.begin() + tasks_[task].first);
    cpu_seconds += cpu;
  }

 private:
  static constexpr size_t kMost = 64;  // samples of a task
  struct Task {
    Index first;  // sample
    Index count;
  };

  const Plan& plan_;
  int window_;
  const character::State& start_;
  const Spline& spline_;
  const Eigen::MatrixXd& offsets_;
  std::vector<Task> tasks_;

 public:
  std::vector<SampleResult> results;
  double cpu_seconds = 0;
};

/// What the store keeps of an iteration: where it was, its CPU time, and the result of each sample.
parallel::Bytes Store(const IterationRecord& record, const std::vector<SampleResult>& results) {
  parallel::Bytes bytes;
  const uint64_t numbers[] = {static_cast<uint64_t>(record.window), static_cast<uint64_t>(record.iteration),
                              results.size()};
  parallel::Put(bytes, numbers, std::size(numbers));
  parallel::Put(bytes, &record.cpu_seconds, 1);
  for (const SampleResult& result : results) {
    const double figures[] = {result.cost(), result.gate_ratio};
    parallel::Put(bytes, figures, std::size(figures));
  }
  return bytes;
}

struct Costs {
  std::vector<double> cost, gate_ratio;  // (samples)
};

Costs Restore(const parallel::Bytes& bytes, size_t samples, IterationRecord& record) {
  Costs costs;
  try {
    parallel::Reader reader(bytes);
    uint64_t numbers[3];
    reader.Take(numbers, std::size(numbers));
    if (numbers[0] != static_cast<uint64_t>(record.window) || numbers[1] != static_cast<uint64_t>(record.iteration) ||
        numbers[2] != samples) {
      throw std::logic_error("an iteration of another run");
    }
    reader.Take(&record.cpu_seconds, 1);
    for (size_t k = 0; k < samples; ++k) {
      double figures[2];
      reader.Take(figures, 2);
      costs.cost.push_back(figures[0]);
      costs.gate_ratio.push_back(figures[1]);
    }
    if (!reader.empty()) throw std::logic_error("too many bytes");
  } catch (const std::logic_error& error) {
    throw InputError("checkpoint", error.what(), "what this run has stored");
  }
  record.restored = true;
  return costs;
}

class Optimizer {
 public:
  Optimizer(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks)
      : problem_(problem), farm_(farm), hooks_(hooks), plan_(problem), worker_(problem, plan_) {
    spline_.points = Eigen::MatrixXd::Zero(num_axes(), plan_.num_points);
  }

  Summary Run() {
    summary_.control = {problem_.task.world, problem_.task.start, {}};
    summary_.end = problem_.task.start;
    const double duration = problem_.task.duration();
    const int population = problem_.options.population;
    // What is kept of each window is simulated once more.
    iterations_ = static_cast<int>(
        std::min(1e9, (problem_.options.budget - 1) * duration / (plan_.SecondsPerSample(problem_) * population)));
    if (iterations_ < 1) {
      summary_.ending = task::Ending::kBudget;
      return std::move(summary_);
    }
    passes_.assign(plan_.windows.size(), 1);
    for (int w = 0; w < num_windows();) {
      if (Optimize(w)) {
        ++w;
      } else if (!GoBack(w)) {
        break;
      }
    }
    if (furthest_ && furthest_->windows.size() > summary_.windows.size()) {
      summary_.control.fragments = std::move(furthest_->fragments);
      summary_.windows = std::move(furthest_->windows);
      summary_.end = furthest_->end;
      summary_.ending = furthest_->ending;
    }
    return std::move(summary_);
  }

 private:
  /// The longest motion so far.
  struct Progress {
    std::vector<control::Fragment> fragments;
    std::vector<WindowRecord> windows;
    character::State end;
    task::Ending ending;
  };

  Index num_axes() const { return static_cast<Index>(plan_.axes.size()); }
  int num_windows() const { return static_cast<int>(plan_.windows.size()); }

  /// What one iteration of some windows simulates [s].
  double SecondsOf(int first, int end) const {
    double steps = 0;
    for (int w = first; w < end; ++w) {
      const Window& window = plan_.windows[static_cast<size_t>(w)];
      steps += window.last_step - window.first_step;
    }
    return steps * problem_.time_step() * problem_.options.population;
  }
  /// What the budget still allows [s].
  double Left() const { return problem_.options.budget * problem_.task.duration() - summary_.simulated_seconds; }

  /// Iterations of a window: the first time its share, or of what is left after going back, else as many times more.
  int IterationsOf(int window) const {
    const int passes = passes_[static_cast<size_t>(window)];
    if (passes > 1) return iterations_ * passes;
    const double share = Left() / SecondsOf(window, num_windows());
    return summary_.returns == 0 ? iterations_ : std::clamp(static_cast<int>(share), 1, iterations_);
  }

  /// A window has left the tolerances. Goes back to an earlier one, farther each time, which is optimized with those
  /// after it from the offsets that were found, with more iterations each time. False where the budget does not allow
  /// it: those to come keep `kKeptShare` of theirs.
  bool GoBack(int& lost) {
    const int passes = passes_[static_cast<size_t>(lost)];
    const int first = std::max(0, lost - passes);
    const double again = SecondsOf(first, lost + 1) * iterations_ * (passes + 1);
    const double later = kKeptShare * SecondsOf(lost + 1, num_windows()) * iterations_;
    if (summary_.returns >= problem_.options.returns || again + later > Left()) return false;
    if (!furthest_ || furthest_->windows.size() < summary_.windows.size()) {
      furthest_ = {summary_.control.fragments, summary_.windows, summary_.end, summary_.ending};
    }
    for (int w = first; w <= lost; ++w) passes_[static_cast<size_t>(w)] = passes + 1;
    summary_.control.fragments.resize(static_cast<size_t>(first));
    summary_.windows.resize(static_cast<size_t>(first));
    summary_.end = starts_[static_cast<size_t>(first)];
    summary_.ending = task::Ending::kReachedEnd;
    starts_.resize(static_cast<size_t>(first));
    ++summary_.returns;
    lost = first;
    return true;
  }

  /// The offsets of a window as one vector, point by point.
  VectorXd OffsetsOf(const Window& window) const {
    const Eigen::MatrixXd points = spline_.points.middleCols(window.first_point, window.num_points);
    return Eigen::Map<const VectorXd>(points.data(), points.size());
  }
  void SetOffsets(const Window& window, const VectorXd& offsets) {
    spline_.points.middleCols(window.first_point, window.num_points) =
        Eigen::Map<const Eigen::MatrixXd>(offsets.data(), num_axes(), window.num_points);
  }

  optimization::CmaOptions CmaOptionsOf(const Window& window) const {
    const Options& o = problem_.options;
    optimization::CmaOptions cma;
    cma.population = o.population;
    cma.deviation = o.deviation;
    cma.separable = !o.full_covariance;
    cma.scale.resize(num_axes() * window.num_points);
    for (Index i = 0; i < cma.scale.size(); ++i) cma.scale[i] = plan_.axes[static_cast<size_t>(i % num_axes())].scale;
    cma.seed = o.seed;
    cma.stage = RandomStage::kWindows;
    cma.first_iteration = static_cast<uint32_t>(summary_.iterations.size());
    return cma;
  }

  /// Returns whether the next window can begin.
  bool Optimize(int number) {
    const Window& window = plan_.windows[static_cast<size_t>(number)];
    const double h = problem_.time_step();
    starts_.push_back(summary_.end);
    WindowRecord found;
    found.start = window.first_step * h;
    found.kept_until = window.kept_step * h;
    found.end = window.last_step * h;
    found.iterations = window.num_points > 0 && num_axes() > 0 ? IterationsOf(number) : 0;
    found.offsets = static_cast<size_t>(num_axes() * window.num_points);
    if (found.iterations > 0) {
      optimization::CmaEs search(OffsetsOf(window), CmaOptionsOf(window));
      while (static_cast<int>(search.iteration()) < found.iterations) Iterate(number, window, found, search);
      found.best_cost = search.best_cost();
      SetOffsets(window, search.best());
    }
    // The terms of the best, and then what is kept of it.
    const double before = io::ThreadCpuSeconds();
    SimulatedWindow simulated;
    worker_.Run(window, summary_.end, spline_, false, simulated);
    found.terms = simulated.result.terms;
    worker_.Run(window, summary_.end, spline_, true, simulated);
    found.gate_ratio = simulated.result.gate_ratio;
    summary_.simulated_seconds += (window.kept_step - window.first_step) * h;
    summary_.cpu_seconds += io::ThreadCpuSeconds() - before;
    summary_.windows.push_back(found);
    if (simulated.result.diverged) {
      summary_.ending = task::Ending::kDiverged;
      return false;
    }
    summary_.control.fragments.push_back(MakeFragment(problem_, plan_, spline_, window.first_step, window.kept_step));
    summary_.end = simulated.end;
    if (found.gate_ratio <= 1) return true;
    summary_.ending = task::Ending::kLeftGates;
    return false;
  }

  void Iterate(int number, const Window& window, WindowRecord& found, optimization::CmaEs& search) {
    const double begin = io::ThreadCpuSeconds();
    IterationRecord record;
    record.window = number;
    record.windows = static_cast<int>(plan_.windows.size());
    record.iteration = static_cast<int>(search.iteration());
    record.iterations = found.iterations;
    record.start = found.start;
    record.end = found.end;
    const Eigen::MatrixXd& offsets = search.Ask();
    record.samples = static_cast<size_t>(offsets.cols());
    summary_.master_cpu_seconds += io::ThreadCpuSeconds() - begin;
    const Costs costs = Evaluate(number, window, offsets, record);
    const double told = io::ThreadCpuSeconds();
    search.Tell(costs.cost);
    summary_.master_cpu_seconds += io::ThreadCpuSeconds() - told;
    if (record.iteration == 0) found.start_cost = costs.cost[0];
    record.start_cost = found.start_cost;
    record.cost = *std::min_element(costs.cost.begin(), costs.cost.end());
    record.best_cost = search.best_cost();
    record.deviation = search.deviation();
    for (size_t k = 0; k < record.samples; ++k) {
      if (std::isinf(costs.cost[k])) ++record.diverged;
      if (!std::isinf(costs.cost[k]) && costs.gate_ratio[k] <= 1) ++record.inside_gates;
    }
    summary_.rollouts += record.samples;
    summary_.simulated_seconds += static_cast<double>(record.samples) * (found.end - found.start);
    summary_.cpu_seconds += record.cpu_seconds;
    if (hooks_.on_iteration) hooks_.on_iteration(record);
    const bool stops = !record.restored && hooks_.stop && hooks_.stop();
    summary_.iterations.push_back(record);
    if (stops) throw StoppedError("stopped after iteration " + std::to_string(summary_.iterations.size()));
  }

  /// Simulates the samples of an iteration, or takes what an earlier run stored.
  Costs Evaluate(int number, const Window& /*window*/, const Eigen::MatrixXd& offsets, IterationRecord& record) {
    parallel::Bytes stored;
    restoring_ = restoring_ && hooks_.store != nullptr && hooks_.store->Next(stored);
    if (restoring_) return Restore(stored, record.samples, record);
    Samples samples(plan_, number, summary_.end, spline_, offsets, farm_.num_workers());
    farm_.Run(samples);
    record.cpu_seconds = samples.cpu_seconds;
    if (hooks_.store != nullptr) hooks_.store->Append(Store(record, samples.results));
    Costs costs;
    for (const SampleResult& result : samples.results) {
      costs.cost.push_back(result.cost());
      costs.gate_ratio.push_back(result.gate_ratio);
    }
    return costs;
  }

  const Problem& problem_;
  parallel::TaskFarm& farm_;
  const Hooks& hooks_;
  Plan plan_;
  RolloutWorker worker_;  // for what is kept
  Spline spline_;
  int iterations_ = 0;                    // of each window, the first time
  std::vector<int> passes_;               // (windows) as many times the iterations; grows where it is returned to
  std::vector<character::State> starts_;  // of each window that was optimized
  std::optional<Progress> furthest_;
  bool restoring_ = true;
  Summary summary_;
};

}  // namespace

bool Summary::resumed() const {
  return std::any_of(iterations.begin(), iterations.end(), [](const auto& record) { return record.restored; });
}

std::string Summary::BriefReport() const {
  std::string text = Name(ending);
  text.append(": ").append(std::to_string(windows.size())).append(windows.size() == 1 ? " window" : " windows");
  double start = 0, best = 0;
  for (const WindowRecord& window : windows) {
    start += window.start_cost;
    best += window.best_cost;
  }
  text.append(", cost from ").append(io::Fixed(start, 1)).append(" to ").append(io::Fixed(best, 1)).append("; ");
  text.append(std::to_string(iterations.size())).append(" iterations, ").append(std::to_string(rollouts));
  if (returns > 0)
    text.append(" samples, ").append(std::to_string(returns)).append(returns == 1 ? " return" : " returns");
  if (returns == 0) text.append(" samples");
  return text.append(", ").append(io::Fixed(simulated_seconds, 1)).append(" simulated seconds");
}

Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks) {
  if (const std::optional<std::string> wrong = problem.options.Validate()) throw UsageError(*wrong);
  return Optimizer(problem, farm, hooks).Run();
}

}  // namespace retrace::trajectory
