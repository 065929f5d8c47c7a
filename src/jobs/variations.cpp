#include "retrace/jobs/variations.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "retrace/control/control_file.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/methods/sampling/seeds.h"
#include "retrace/metrics/spread.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/failure_report.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTableFile = "variations.csv";
constexpr std::string_view kSpreadFile = "spread.csv";
const char* const kMember = "variation";  // of the manifests of such runs

/// One that was found.
struct Variation {
  uint64_t seed = 0;
  double joint_error = 0;        // [m]
  double drift = 0;              // [m]
  double cost = 0;               // of the path
  double simulated_seconds = 0;  // of its search
  std::string control_sha256;
};

/// The outcomes of the seeds.
struct Tries {
  io::Json list = io::Json::array();
  int failed = 0;
  int repeated = 0;
  int count() const { return static_cast<int>(list.size()); }
};

/// Removes what earlier runs left: a shorter list must not stand beside more folders, nor beside a single run.
void RemoveEarlier(const fs::path& output, const std::vector<fs::path>& inputs) {
  std::error_code error;
  const auto remove = [&](std::string_view name) {
    fs::remove(output / name, error);
    if (error) throw OutputError((output / name).string() + ": cannot be removed: " + error.message());
  };
  for (const std::string_view name : {kVariationsFile, kTableFile, kSpreadFile}) remove(name);
  results::RemoveRunFiles(output);
  for (int number = 1;; ++number) {
    const fs::path folder = output / std::to_string(number);
    const fs::path manifest = folder / results::kManifestFile;
    if (!fs::exists(manifest, error)) break;
    const io::Json earlier = io::ReadJson(manifest);
    if (!earlier.is_object() || !earlier.contains(kMember)) break;
    for (const std::string& name : results::RunFileNames(folder)) io::CheckOutput(folder / name, inputs);
    results::RemoveRunFiles(folder);
    fs::remove(folder, error);  // unless it holds other files
  }
}

std::string FormatTable(const std::vector<Variation>& found, double duration) {
  io::CsvWriter csv;
  for (const char* column :
       {"variation", "seed", "joint_error", "drift", "cost", "simulated_seconds", "simulated_seconds_per_second"}) {
    csv.Text(column);
  }
  csv.EndRow();
  for (size_t v = 0; v < found.size(); ++v) {
    csv.Text(std::to_string(v + 1));
    csv.Text(std::to_string(found[v].seed));
    for (const double value : {found[v].joint_error, found[v].drift, found[v].cost, found[v].simulated_seconds,
                               found[v].simulated_seconds / duration}) {
      csv.Number(value);
    }
    csv.EndRow();
  }
  return csv.Take();
}

/// The target's spread stands at the time of the state that its step led to, as torques do; the start has none.
std::string FormatSpread(const metrics::Spread& spread) {
  io::CsvWriter csv;
  for (const char* column : {"time", "joints", "root", "targets"}) csv.Text(column);
  csv.EndRow();
  for (size_t i = 0; i < spread.joints.size(); ++i) {
    csv.Number(static_cast<double>(i) * spread.time_step);
    for (const double value : {spread.joints[i], spread.root[i], i == 0 ? 0 : spread.targets[i - 1]}) csv.Number(value);
    csv.EndRow();
  }
  return csv.Take();
}

io::Json ToJson(const std::vector<Variation>& found) {
  io::Json list = io::Json::array();
  for (size_t v = 0; v < found.size(); ++v) {
    list.push_back({{"folder", std::to_string(v + 1)},
                    {"seed", found[v].seed},
                    {"joint_error", found[v].joint_error},
                    {"drift", found[v].drift},
                    {"cost", found[v].cost},
                    {"simulated_seconds", found[v].simulated_seconds},
                    {"control_sha256", found[v].control_sha256}});
  }
  return list;
}

/// The outcome of a try, as text for people.
std::string Line(uint64_t seed, const FailureReport& report, const std::string& kept) {
  std::string text = "seed " + std::to_string(seed);
  text.append(": ");
  if (!kept.empty()) return text.append(kept).append("\n");
  if (report.ending == task::Ending::kReachedEnd) {
    text.append("out of tolerance from ").append(io::Fixed(report.left_at, 2)).append(" s");
  } else {
    text.append(StatusOf(report.ending)).append(" after ").append(io::Fixed(report.reached, 2));
    text.append(" of ").append(io::Fixed(report.duration, 2)).append(" s");
  }
  return text.append("\n").append(report.Text());
}

std::string DescribeSpread(const metrics::Spread& spread, size_t count) {
  const io::Json json = spread.ToJson();
  const auto mean = [&](const char* figure) { return io::Fixed(json[figure]["mean"].get<double>(), 3); };
  std::string text = "  spread over time, mean: joints " + mean("joints");
  text.append(" m, root ").append(mean("root")).append(" m, targets ").append(mean("targets")).append(" rad\n");
  if (count < 2) return text;
  text.append("  mean joint distance of two: ").append(io::Fixed(spread.pair_smallest, 3)).append(" m at least (");
  text.append(std::to_string(spread.closest[0] + 1)).append(" and ").append(std::to_string(spread.closest[1] + 1));
  text.append("), median ").append(io::Fixed(spread.pair_median, 3)).append(" m, ");
  return text.append(io::Fixed(spread.pair_largest, 3)).append(" m at most\n");
}

/// The searches of one call and what they have found so far.
class Finder {
 public:
  Finder(Job& job, parallel::TaskFarm& farm, const VariationOptions& options, const VariationContext& context)
      : job_(job),
        farm_(farm),
        options_(options),
        context_(context),
        max_tries_(options.max_tries > 0 ? options.max_tries : 3 * options.count) {}

  bool Done() const { return Success() || tries_.count() >= max_tries_; }
  bool Success() const { return static_cast<int>(found_.size()) == options_.count; }

  /// One search. A control that is within tolerance and new becomes a variation with a folder of its own.
  void Try(uint64_t seed) {
    const results::RunTimer timer;
    job_.SetSeed(seed);
    sampling::SeededFarm seeded(farm_, seed);
    Reconstruction result = Search(job_, seeded, context_.hooks);
    if (context_.on_search_end) context_.on_search_end();
    const FailureReport report = ReportFailure(job_.problem, result.search, result.evaluation, job_.prepared->checks);
    io::Json entry = {{"seed", seed},
                      {"status", StatusOf(result.search.ending)},
                      {"success", result.success()},
                      {"simulated_seconds", result.search.simulated_seconds}};
    std::string kept;
    if (result.success()) {
      kept = Keep(seed, std::move(result), timer, entry);
    } else {
      ++tries_.failed;
      entry["failure"] = report.ToJson();
    }
    tries_.list.push_back(std::move(entry));
    Report(Line(seed, report, kept));
  }

  /// Tables and, last, the list.
  void WriteAll(const results::RunTimer& timer) const {
    const results::RunFolder& all = *context_.folder;
    io::Json list = {{"format", "retrace-variations"},
                     {"version", 1},
                     {"program", "reconstruct"},
                     {"success", Success()},
                     {"requested", options_.count},
                     {"found", found_.size()},
                     {"max_tries", max_tries_},
                     {"command", context_.run.command},
                     {"clip", job_.options.clip.file.string()},
                     {"duration", job_.reference().duration()},
                     {"variations", ToJson(found_)},
                     {"tries", tries_.list},
                     {"workers", context_.run.workers},
                     {"provenance", results::Provenance(timer, {})}};
    io::WriteFile(all.PathOf(kTableFile), FormatTable(found_, job_.reference().duration()));
    if (!found_.empty()) {
      std::vector<control::Trajectory> motions;
      for (const control::OpenLoopControl& control : controls_) {
        motions.push_back(control::Replay(job_.character(), control));
      }
      const metrics::Spread spread = metrics::MeasureSpread(job_.character(), motions, controls_, job_.reference());
      io::WriteFile(all.PathOf(kSpreadFile), FormatSpread(spread));
      list["spread"] = spread.ToJson();
      Report(DescribeSpread(spread, found_.size()));
    }
    list.update(context_.more);
    io::WriteFile(all.PathOf(kVariationsFile), io::Dump(list, 2) + "\n");
    Report("  results in " + MessageLine(all.path().string()) + "\n");
  }

  VariationsSummary Summary() const {
    VariationsSummary summary;
    summary.found = found_.size();
    summary.requested = options_.count;
    summary.tries = tries_.count();
    summary.failed = tries_.failed;
    summary.repeated = tries_.repeated;
    return summary;
  }

 private:
  void Report(const std::string& text) const {
    if (context_.report) context_.report(text);
  }

  /// Writes the folder of a control that is new. Returns the outcome, as text for people.
  std::string Keep(uint64_t seed, Reconstruction result, const results::RunTimer& timer, io::Json& entry) {
    const sampling::Summary& search = result.search;
    const std::string hash = io::Sha256(control::FormatControl(job_.character(), search.control));
    const auto [same, is_new] = known_.emplace(hash, found_.size());
    if (!is_new) {
      ++tries_.repeated;
      entry["same_as"] = std::to_string(same->second + 1);
      return "the same control as variation " + std::to_string(same->second + 1);
    }
    found_.push_back({seed, result.evaluation.mean_joint_error, result.evaluation.drift, search.path_cost,
                      search.simulated_seconds, hash});
    const std::string number = std::to_string(found_.size());
    results::RunFolder folder(context_.folder->PathOf(number), context_.force);
    const io::Json more = {{kMember, {{"number", found_.size()}, {"of", options_.count}}}};
    WriteRun(folder, job_, result, {context_.run.command, context_.run.workers, &timer}, context_.kept, more);
    entry["folder"] = number;
    controls_.push_back(std::move(result.search.control));
    std::string kept = "variation " + number;
    kept.append(" of ").append(std::to_string(options_.count)).append(", joint error ");
    kept.append(io::Fixed(found_.back().joint_error, 3)).append(" m, drift ");
    return kept.append(io::Fixed(found_.back().drift, 2)).append(" m, cost ").append(io::Fixed(found_.back().cost, 1));
  }

  Job& job_;
  parallel::TaskFarm& farm_;
  const VariationOptions& options_;
  const VariationContext& context_;
  int max_tries_;
  std::vector<Variation> found_;
  std::vector<control::OpenLoopControl> controls_;
  std::map<std::string, size_t> known_;  // controls by their hash
  Tries tries_;
};

}  // namespace

VariationsSummary FindVariations(Job& job, parallel::TaskFarm& farm, const VariationOptions& options,
                                 const VariationContext& context) {
  const results::RunTimer timer;
  RemoveEarlier(context.folder->path(), PathsOf(job.inputs));
  Finder finder(job, farm, options, context);
  for (uint64_t seed = job.configuration.sampling.seed; !finder.Done(); ++seed) finder.Try(seed);
  finder.WriteAll(timer);
  return finder.Summary();
}

}  // namespace retrace::runs
