#include "retrace/methods/windows/rollout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "cost.h"
#include "retrace/control/simulate.h"
#include "retrace/io/cpu_time.h"
#include "retrace/parallel/bytes.h"

namespace retrace::windows {
namespace {

/// Points before those of a window on which its targets depend.
constexpr Eigen::Index kKnown = 3;

}  // namespace

std::array<const char*, kNumTerms> TermNames(Cost cost) {
  if (cost == Cost::kPaper) return {"com", "com_velocity", "pose", "velocity", "root", "jerk", "gates", "torque"};
  std::array<const char*, kNumTerms> names{};
  for (size_t i = 0; i < task::kCostTerms.size(); ++i) names[i] = task::kCostTerms[i].name;
  names[kGateTerm] = "gates";
  names[kTorqueTerm] = "torque";
  return names;
}
static_assert(task::kCostTerms.size() == kGateTerm);

double SampleResult::cost() const {
  const double sum = std::accumulate(terms.begin(), terms.end(), 0.0);
  return diverged || !std::isfinite(sum) ? std::numeric_limits<double>::infinity() : sum;
}

struct RolloutWorker::Impl {
  Impl(const Problem& of, const Plan& divided)
      : problem(of), plan(divided), world(*of.task.character, of.task.world), cost(of) {
    world.set_recording(of.options.torque_limit > 0);
  }

  bool Simulate(const control::Fragment& fragment, const character::State& start, character::State& reached) {
    return control::SimulateFragment(world, start, fragment, scratch, reached, [&](int step) {
      const int after = fragment.first_step + step + 1;
      if (!cost.IsInstant(after)) return;
      world.GetState(now);
      cost.Add(after, now, problem.options.torque_limit > 0 ? std::span(world.torques()) : std::span<const Vec3>());
    });
  }

  const Problem& problem;
  const Plan& plan;
  simulation::World world;
  MotionCost cost;
  control::SimulationScratch scratch;
  character::State now, end;
};

RolloutWorker::RolloutWorker(const Problem& problem, const Plan& plan) : impl_(std::make_unique<Impl>(problem, plan)) {}
RolloutWorker::~RolloutWorker() = default;

void RolloutWorker::Run(const Window& window, const character::State& start, const Spline& spline, bool kept_alone,
                        SimulatedWindow& simulated) {
  Impl& impl = *impl_;
  const int last = kept_alone ? window.kept_step : window.last_step;
  impl.cost.SetRange(window.first_step, last);
  impl.cost.Begin(start);
  SampleResult& result = simulated.result;
  result = {};
  // What is kept is a fragment of its own, so that it is the same to the bit with and without what follows.
  result.diverged = !impl.Simulate(MakeFragment(impl.problem, impl.plan, spline, window.first_step, window.kept_step),
                                   start, simulated.end);
  if (!result.diverged && last > window.kept_step) {
    result.diverged =
        !impl.Simulate(MakeFragment(impl.problem, impl.plan, spline, window.kept_step, last), simulated.end, impl.end);
  }
  result.terms = impl.cost.terms();
  result.gate_ratio = impl.cost.gate_ratio();
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
      parallel::Bytes results;
      SimulatedWindow simulated;
      for (int64_t k = 0; k < numbers[2]; ++k) {
        reader.Take(spline.points.col(window.first_point).data(), static_cast<size_t>(axes * window.num_points));
        worker->Run(window, start, spline, false, simulated);
        const auto diverged = static_cast<uint64_t>(simulated.result.diverged);
        parallel::Put(results, &diverged, 1);
        parallel::Put(results, simulated.result.terms.data(), simulated.result.terms.size());
        parallel::Put(results, &simulated.result.gate_ratio, 1);
      }
      const double cpu = io::ThreadCpuSeconds() - before;
      packed.clear();
      parallel::Put(packed, &cpu, 1);
      parallel::Put(packed, results.data(), results.size());
    };
  };
}

}  // namespace retrace::windows
