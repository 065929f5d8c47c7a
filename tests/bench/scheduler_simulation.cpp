/// How many ranks a search keeps busy: the real scheduler in a simulated job, with costs that are measured here, in a
/// search on this machine. Prints the tables of scripts/experiments/scaling/RESULTS.md.
///
/// usage: scheduler_simulation CLIP.bvh [--end SECONDS] [--set /POINTER=VALUE] ...
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/number_option.h"
#include "cli/program.h"
#include "cli/set_option.h"
#include "farm_model.h"
#include "retrace/io/error.h"
#include "retrace/io/journal.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/math/random.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/simulation/world_lanes.h"

namespace {

using namespace retrace;
using bench::FarmCosts;
using bench::FarmModel;
using bench::Network;

/// Processor time of this thread, which other programs do not lengthen [s].
double Now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// What an iteration draws: samples from each of its start states.
struct Draw {
  size_t starts = 0;
  size_t each = 0;
};

/// A farm of one that notes what everything costs. Of two iterations it computes one sample by sample and one in tasks
/// that are as large as they may be, which tells the cost of a result from that of its samples, and of samples side by
/// side from that of one alone. The first iteration, which has one start state, is not counted.
class MeasuringFarm final : public parallel::TaskFarm {
 public:
  MeasuringFarm(const parallel::WorkerFactory& factory, size_t lanes, const Draw& draw)
      : worker_(factory()), lanes_(lanes) {
    const auto tasks = parallel::CutGroups(std::vector<size_t>(draw.starts, draw.each), 1);
    for (const parallel::Part& part : tasks.front()) full_ += part.count;
  }

  using TaskFarm::Run;
  void Run(parallel::Work& work) override {
    const double begun = Now();
    if (left_ > 0 && !alone_) between_.push_back(begun - left_);
    work.WhileBusy();
    keep.push_back(Now() - begun);
    for (size_t t = 0; t < work.num_tasks(); ++t) Compute(work, t, keep.size() > 1 && t + 1 < work.num_tasks());
    alone_ = !alone_;
    left_ = Now();
  }

  int num_workers() const override { return alone_ ? kMany : 1; }

  FarmCosts Costs() const {
    FarmCosts costs;
    costs.rollouts = rollouts_;
    costs.together = together_;
    costs.lanes = lanes_;
    costs.pack = Mean(pack_);
    const double whole = Mean(handle_full_) / static_cast<double>(full_);
    costs.handle_sample = (Mean(handle_full_) - Mean(handle_one_)) / static_cast<double>(full_ - 1);
    costs.handle_sample = std::clamp(costs.handle_sample, 0.0, whole);
    costs.handle_part = std::max(0.0, Mean(handle_one_) - costs.handle_sample);
    costs.between = Median(between_);
    costs.keep = Median(keep);
    costs.task_bytes = Mean(task_bytes_);
    costs.sample_bytes = Mean(sample_bytes_);
    return costs;
  }

  std::vector<double> keep;

 private:
  static constexpr int kMany = 1000000;  // workers: each gets one sample

  void Compute(parallel::Work& work, size_t t, bool counts) {
    const double start = Now();
    const parallel::Bytes task = work.Pack(t);
    const double packed = Now();
    result_.clear();
    worker_(task, result_);
    const double computed = Now();
    work.Handle(t, result_);
    const double handled = Now();
    if (!counts) return;
    if (alone_) {
      pack_.push_back(packed - start);
      task_bytes_.push_back(static_cast<double>(task.size()));
      rollouts_.push_back(computed - packed);
      handle_one_.push_back(handled - computed);
    } else {
      together_.push_back((computed - packed) * static_cast<double>(lanes_) / static_cast<double>(full_));
      handle_full_.push_back(handled - computed);
      sample_bytes_.push_back(static_cast<double>(result_.size()) / static_cast<double>(full_));
    }
  }

  parallel::Worker worker_;
  size_t lanes_;
  size_t full_ = 0;  // samples of a task that is as large as it may be
  bool alone_ = false;
  parallel::Bytes result_;
  double left_ = 0;
  std::vector<double> rollouts_, together_, pack_, handle_one_, handle_full_, between_, task_bytes_, sample_bytes_;
};

/// The checkpoint of the search, in a file that goes away.
class JournalStore final : public sampling::IterationStore {
 public:
  explicit JournalStore(const std::filesystem::path& path) : journal_(io::Journal::Create(path, io::Json::object())) {}
  bool Next(parallel::Bytes& /*simulated*/) override { return false; }
  void Append(const parallel::Bytes& simulated) override {
    journal_.Append(simulated);
    bytes += static_cast<double>(simulated.size());
    ++count;
  }
  double bytes = 0;
  double count = 0;

 private:
  io::Journal journal_;
};

/// Seconds per iteration.
double Step(const FarmCosts& costs, const Draw& draw, const Network& network, size_t ranks, double& wasted,
            double& messages) {
  constexpr int kIterations = 40;
  constexpr uint64_t kJobs = 5;
  double seconds = 0;
  wasted = messages = 0;
  for (uint64_t job = 0; job < kJobs; ++job) {
    FarmModel model(costs, network, ranks, job);
    for (int i = 0; i < kIterations; ++i) seconds += model.Iterate(draw.starts, draw.each);
    wasted += model.wasted();
    messages += model.messages();
  }
  const double iterations = static_cast<double>(kJobs) * kIterations;
  wasted /= iterations;
  messages /= iterations;
  return seconds / iterations;
}

/// Share of the time of all groups that runs take until the last one has ended, when each group takes the next run as
/// soon as it is free, and runs differ in length as those of configs/paper.tsv do: by a factor of five.
double Balance(int groups, size_t runs) {
  RandomStream random(1, RandomStage::kSampling, static_cast<uint32_t>(groups), static_cast<uint32_t>(runs));
  std::vector<double> ends(static_cast<size_t>(groups), 0.0);
  double sum = 0;
  for (size_t run = 0; run < runs; ++run) {
    const double length = random.Uniform(1, 5);
    *std::min_element(ends.begin(), ends.end()) += length;
    sum += length;
  }
  return sum / (groups * *std::max_element(ends.begin(), ends.end()));
}

int Run(const runs::JobOptions& options) {
  const runs::Job job(options);
  const sampling::Problem& problem = job.problem;
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "retrace_scheduler_simulation";
  JournalStore store(path);
  const sampling::Options& o = problem.options;
  const auto starts = static_cast<size_t>(o.selection.saved);
  const Draw draw{starts, std::max<size_t>(1, static_cast<size_t>(o.samples) / starts)};
  MeasuringFarm farm(sampling::MakeWorkerFactory(problem),
                     simulation::WorldLanes(std::vector{&*problem.task.character}, problem.task.world).num_lanes(),
                     draw);
  sampling::Hooks hooks;
  hooks.store = &store;
  const double begun = Now();
  const auto result = sampling::Run(problem, farm, hooks);
  const double whole = Now() - begun;
  std::filesystem::remove(path);
  const FarmCosts costs = farm.Costs();

  std::vector<double> sorted = costs.rollouts;
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double q) {
    return 1e6 * sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
  };
  std::printf("Measured, processor time of one core (%s, %zu iterations):\n\n", options.clip.file.c_str(),
              result.iterations.size());
  std::printf("| what | cost |\n|---|---|\n");
  std::printf("| a sample alone | %.0f us; 1 %%, 50 %%, 99 %% and all of them within %.0f, %.0f, %.0f and %.0f us |\n",
              1e6 * Mean(costs.rollouts), quantile(0.01), quantile(0.5), quantile(0.99), quantile(1));
  std::printf("| %zu samples side by side | %.0f us |\n", costs.lanes, 1e6 * Mean(costs.together));
  std::printf("| start state in a message to a worker | %.0f bytes, %.1f us to make |\n", costs.task_bytes,
              1e6 * costs.pack);
  std::printf("| result | %.0f bytes and %.1f us per sample, %.1f us more per task |\n", costs.sample_bytes,
              1e6 * costs.handle_sample, 1e6 * costs.handle_part);
  std::printf("| selection, tree, next tasks | %.0f us per iteration, while the workers wait |\n", 1e6 * costs.between);
  std::printf("| checkpoint | %.0f us per iteration (%.0f kB), while they compute; %.2f %% of this search |\n\n",
              1e6 * costs.keep, 1e-3 * store.bytes / store.count,
              100 * std::accumulate(farm.keep.begin(), farm.keep.end(), 0.0) / whole);

  std::printf("Simulated, %zu samples from %zu start states per iteration:\n\n", draw.starts * draw.each, draw.starts);
  std::printf(
      "| ranks | latency, us | ms per iteration | efficiency | messages | repeated simulations |\n"
      "|---|---|---|---|---|---|\n");
  double wasted = 0;
  double messages = 0;
  Network quiet;
  quiet.delayed = quiet.slow_ranks = 0;
  const double one = Step(costs, draw, quiet, 1, wasted, messages);
  for (const size_t ranks : {1, 2, 4, 8, 16, 24, 32, 40, 80, 200, 1000}) {
    for (const double latency : {2e-6, 50e-6}) {
      Network network;
      network.latency = latency;
      const double step = Step(costs, draw, network, ranks, wasted, messages);
      std::printf("| %zu | %.0f | %.2f | %.1f %% | %.0f | %.0f |\n", ranks, 1e6 * latency, 1e3 * step,
                  100 * one / (step * static_cast<double>(ranks)), messages, wasted);
      if (ranks == 1) break;
    }
  }

  std::printf("\nMany runs at once, each on a group of ranks (evaluate; seeds of --best-of), latency 50 us:\n\n");
  std::printf(
      "| ranks | runs | ranks per run | busy while all groups have work | and to the end of the last run |\n"
      "|---|---|---|---|---|\n");
  Network far;
  far.latency = 50e-6;
  for (const int ranks : {80, 1000}) {
    for (const size_t runs : {1, 10, 16, 36, 180, 360, 1080, 5000}) {
      const int each = parallel::ChooseRanksPerRun(ranks, runs, problem.options.samples);
      const int groups = ranks / each;
      // Groups differ by one rank; all are given the mean here.
      const double size = static_cast<double>(ranks) / groups;
      const double low = Step(costs, draw, far, static_cast<size_t>(size), wasted, messages);
      const double high = Step(costs, draw, far, static_cast<size_t>(std::ceil(size)), wasted, messages);
      const double step = low + (high - low) * (size - std::floor(size));
      const double busy = one / (step * size);
      std::printf("| %d | %zu | %.1f | %.1f %% | %.1f %% |\n", ranks, runs, size, 100 * busy,
                  100 * busy * Balance(groups, runs));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = "scheduler_simulation";
  cli::Command command(name, "Measures what a search costs and simulates it on many ranks.");
  runs::JobOptions options;
  std::string clip;
  std::vector<std::string> settings;
  command.Add("clip", clip, "Recorded motion").Required();
  cli::AddNumber(command, "--end", options.clip.end, io::OptionalReal{character::kInstants},
                 "Last second of the clip to use [its end]");
  cli::AddSetOption(command, settings, "One setting",
                    [](const std::string& assignment) { runs::Configuration().Set(assignment); });
  int exit_code = 0;
  if (!command.Parse(cli::Arguments(argc, argv), true, exit_code)) return exit_code;
  return cli::RunProgram(name, true, [&] {
    options.clip.file = clip;
    for (const std::string& setting : settings) options.configuration.Set(setting);
    return Run(options);
  });
}
