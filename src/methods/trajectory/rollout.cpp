#include "retrace/methods/trajectory/rollout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cost.h"
#include "retrace/control/simulate.h"
#include "retrace/io/cpu_time.h"
#include "retrace/parallel/bytes.h"

namespace retrace::trajectory {
namespace {

/// Points before those of a window on which its targets depend.
constexpr Eigen::Index kKnown = 3;

}  // namespace

double SampleResult::cost() const {
  const double sum = std::accumulate(terms.begin(), terms.end(), 0.0);
  return diverged || !std::isfinite(sum) ? std::numeric_limits<double>::infinity() : sum;
}

struct RolloutWorker::Impl {
  Impl(const Problem& of, const Plan& divided)
      : problem(of), plan(divided), world(*of.task.character, of.task.world), costs(1, MotionCost(of)) {
    world.set_recording(records());
  }

  bool records() const { return problem.options.torque_limit > 0; }

  void Observe(const simulation::World& of, int after, MotionCost& cost) {
    if (!cost.IsInstant(after)) return;
    of.GetState(now);
    cost.Add(after, now, records() ? std::span(of.torques()) : std::span<const Vec3>());
  }

  bool Simulate(const control::Fragment& fragment, const character::State& start, character::State& reached) {
    return control::SimulateFragment(world, start, fragment, scratch, reached,
                                     [&](int step) { Observe(world, fragment.first_step + step + 1, costs.front()); });
  }

  void Begin(const Window& window, int last, const character::State& start, MotionCost& cost) const {
    cost.SetRange(window.first_step, last);
    cost.Begin(start);
  }
  static void End(const MotionCost& cost, SampleResult& result) {
    result.terms = cost.terms();
    result.gate_ratio = cost.gate_ratio();
  }

  void PrepareLanes() {
    if (lanes) return;
    lanes.emplace(std::span(&problem.task.character, 1), problem.task.world);
    for (size_t l = 0; l < lanes->num_lanes(); ++l) lanes->world(l).set_recording(records());
    while (costs.size() < lanes->num_lanes()) costs.emplace_back(problem);
    ends.resize(2 * lanes->num_lanes());
  }

  /// The part of each window from one step to another. `of_lane` are the samples that take part.
  void SimulateTogether(std::span<const Spline> splines, int first_step, int end_step,
                        const std::vector<const character::State*>& starts, character::State* reached,
                        std::vector<size_t>& of_lane) {
    fragments.clear();
    runs.clear();
    for (const size_t s : of_lane) fragments.push_back(MakeFragment(problem, plan, splines[s], first_step, end_step));
    for (size_t l = 0; l < of_lane.size(); ++l)
      runs.push_back({starts[of_lane[l]], &fragments[l], reached + of_lane[l]});
    control::SimulateFragments(*lanes, runs, lanes_scratch, [&](size_t l, int step) {
      Observe(lanes->world(l), first_step + step + 1, costs[of_lane[l]]);
    });
    std::vector<size_t> left;
    for (size_t l = 0; l < of_lane.size(); ++l) {
      if (!runs[l].diverged) left.push_back(of_lane[l]);
    }
    of_lane = std::move(left);
  }

  /// Rolls out at most as many samples as there are lanes.
  void RunTogether(const Window& window, const character::State& start, std::span<const Spline> splines,
                   std::span<SampleResult> results) {
    std::vector<size_t> of_lane(splines.size());
    std::iota(of_lane.begin(), of_lane.end(), size_t{0});
    std::vector<const character::State*> starts(splines.size(), &start);
    for (size_t s = 0; s < splines.size(); ++s) Begin(window, window.last_step, start, costs[s]);
    SimulateTogether(splines, window.first_step, window.kept_step, starts, ends.data(), of_lane);
    if (window.last_step > window.kept_step && !of_lane.empty()) {
      for (size_t s = 0; s < splines.size(); ++s) starts[s] = &ends[s];
      SimulateTogether(splines, window.kept_step, window.last_step, starts, ends.data() + lanes->num_lanes(), of_lane);
    }
    for (size_t s = 0; s < splines.size(); ++s) {
      results[s].diverged = std::ranges::find(of_lane, s) == of_lane.end();
      End(costs[s], results[s]);
    }
  }

  const Problem& problem;
  const Plan& plan;
  simulation::World world;
  std::optional<simulation::WorldLanes> lanes;  // from the first time on that samples run side by side
  std::vector<MotionCost> costs;                // (samples side by side)
  control::SimulationScratch scratch;
  control::LanesScratch lanes_scratch;
  character::State now, end;
  std::vector<character::State> ends;  // (samples side by side) of what is kept, and of the rest
  std::vector<control::Fragment> fragments;
  std::vector<control::FragmentRun> runs;
};

RolloutWorker::RolloutWorker(const Problem& problem, const Plan& plan) : impl_(std::make_unique<Impl>(problem, plan)) {}
RolloutWorker::~RolloutWorker() = default;

void RolloutWorker::Run(const Window& window, const character::State& start, const Spline& spline, bool kept_alone,
                        SimulatedWindow& simulated) {
  Impl& impl = *impl_;
  const int last = kept_alone ? window.kept_step : window.last_step;
  impl.Begin(window, last, start, impl.costs.front());
  SampleResult& result = simulated.result;
  result = {};
  // What is kept is a fragment of its own, so that it is the same to the bit with and without what follows.
  result.diverged = !impl.Simulate(MakeFragment(impl.problem, impl.plan, spline, window.first_step, window.kept_step),
                                   start, simulated.end);
  if (!result.diverged && last > window.kept_step) {
    result.diverged =
        !impl.Simulate(MakeFragment(impl.problem, impl.plan, spline, window.kept_step, last), simulated.end, impl.end);
  }
  Impl::End(impl.costs.front(), result);
}

void RolloutWorker::Run(const Window& window, const character::State& start, std::span<const Spline> splines,
                        std::vector<SampleResult>& results) {
  Impl& impl = *impl_;
  results.assign(splines.size(), {});
  if (splines.size() > 1) impl.PrepareLanes();
  const size_t lanes = impl.lanes ? impl.lanes->num_lanes() : 1;
  for (size_t s = 0; s < splines.size();) {
    const size_t count = std::min(lanes, splines.size() - s);
    if (simulation::FillsLanes(count, lanes)) {
      impl.RunTogether(window, start, splines.subspan(s, count), std::span(results).subspan(s, count));
    } else {
      SimulatedWindow simulated;
      for (size_t k = s; k < s + count; ++k) {
        Run(window, start, splines[k], false, simulated);
        results[k] = simulated.result;
      }
    }
    s += count;
    parallel::PassMessages();
  }
}

parallel::Bytes PackTask(const Plan& plan, int window, const character::State& start, const Spline& spline,
                         const Eigen::Ref<const Eigen::MatrixXd>& samples) {
  const Window& of = plan.windows.at(static_cast<size_t>(window));
  parallel::Bytes bytes;
  const int64_t numbers[] = {window, static_cast<int64_t>(start.size()), samples.cols()};
  parallel::Put(bytes, numbers, std::size(numbers));
  parallel::Put(bytes, start.data(), start.size());
  const Eigen::Index known = std::min<Eigen::Index>(kKnown, of.first_point);
  const Eigen::MatrixXd before = spline.points.middleCols(of.first_point - known, known);
  parallel::Put(bytes, before.data(), static_cast<size_t>(before.size()));
  for (Eigen::Index k = 0; k < samples.cols(); ++k) {
    const Eigen::VectorXd sample = samples.col(k);
    parallel::Put(bytes, sample.data(), static_cast<size_t>(sample.size()));
  }
  return bytes;
}

std::vector<SampleResult> UnpackResults(std::span<const std::byte> bytes, double& cpu_seconds) {
  parallel::Reader reader(bytes);
  reader.Take(&cpu_seconds, 1);
  std::vector<SampleResult> results;
  while (!reader.empty()) {
    SampleResult& result = results.emplace_back();
    uint64_t diverged = 0;
    reader.Take(&diverged, 1);
    result.diverged = diverged != 0;
    reader.Take(result.terms.data(), result.terms.size());
    reader.Take(&result.gate_ratio, 1);
  }
  return results;
}

parallel::WorkerFactory MakeWorkerFactory(const Problem& problem) {
  return [&problem]() -> parallel::Worker {
    const auto plan = std::make_shared<Plan>(problem);
    const auto worker = std::make_shared<RolloutWorker>(problem, *plan);
    return [&problem, plan, worker](std::span<const std::byte> bytes, parallel::Bytes& packed) {
      const double before = io::ThreadCpuSeconds();
      parallel::Reader reader(bytes);
      int64_t numbers[3];
      reader.Take(numbers, std::size(numbers));
      const Window& window = plan->windows.at(static_cast<size_t>(numbers[0]));
      character::State start(static_cast<size_t>(numbers[1]));
      reader.Take(start.data(), start.size());
      const auto axes = static_cast<Eigen::Index>(plan->axes.size());
      Spline spline;
      // At the end of the window the point after it has no weight, but it must be a number.
      spline.points = Eigen::MatrixXd::Zero(axes, plan->num_points);
      // Columns of points lie one behind the other, like the offsets of a sample.
      const Eigen::Index known = std::min<Eigen::Index>(kKnown, window.first_point);
      reader.Take(spline.points.col(window.first_point - known).data(), static_cast<size_t>(axes * known));
      std::vector<Spline> splines(static_cast<size_t>(numbers[2]), spline);
      for (Spline& sample : splines) {
        reader.Take(sample.points.col(window.first_point).data(), static_cast<size_t>(axes * window.num_points));
      }
      std::vector<SampleResult> results;
      worker->Run(window, start, splines, results);
      const double cpu = io::ThreadCpuSeconds() - before;
      packed.clear();
      parallel::Put(packed, &cpu, 1);
      for (const SampleResult& result : results) {
        const auto diverged = static_cast<uint64_t>(result.diverged);
        parallel::Put(packed, &diverged, 1);
        parallel::Put(packed, result.terms.data(), result.terms.size());
        parallel::Put(packed, &result.gate_ratio, 1);
      }
    };
  };
}

}  // namespace retrace::trajectory
