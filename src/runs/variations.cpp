#include "retrace/runs/variations.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/methods/sampling/seeds.h"
#include "retrace/metrics/spread.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/failure_report.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;

const char* const kTableFile = "variations.csv";
const char* const kSpreadFile = "spread.csv";
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

/// What became of the seeds.
struct Tries {
  io::Json list = io::Json::array();
  int failed = 0;
  int repeated = 0;
  int count() const { return static_cast<int>(list.size()); }
};

/// Removes what earlier runs left: a shorter list must not stand beside more folders, nor beside a single run.
void RemoveEarlier(const fs::path& output) {
  std::error_code error;
  const auto remove = [&](std::string_view name) {
    fs::remove(output / name, error);
    if (error) throw OutputError((output / name).string() + ": cannot be removed: " + error.message());
  };
  for (const char* name : {kVariationsFile, kTableFile, kSpreadFile}) remove(name);
  for (const std::string_view name : results::kRunFiles) remove(name);
  for (int number = 1;; ++number) {
    const fs::path folder = output / std::to_string(number);
    const fs::path manifest = folder / results::kManifestFile;
    if (!fs::exists(manifest, error)) break;
    const io::Json earlier = io::ReadJson(manifest);
    if (!earlier.is_object() || !earlier.contains(kMember)) break;
    for (const std::string_view name : results::kRunFiles) fs::remove(folder / name, error);
    fs::remove(folder / results::kExportFolder, error);
    fs::remove(folder, error);  // unless somebody put other files there
  }
}

std::string FormatTable(const std::vector<Variation>& found, double duration) {
  std::string text = "variation,seed,joint_error,drift,cost,simulated_seconds,simulated_seconds_per_second\n";
  for (size_t v = 0; v < found.size(); ++v) {
    text.append(std::to_string(v + 1)).append(",").append(std::to_string(found[v].seed));
    for (const double value : {found[v].joint_error, found[v].drift, found[v].cost, found[v].simulated_seconds,
                               found[v].simulated_seconds / duration}) {
      text.append(",");
      io::AppendNumber(text, value);
    }
    text.append("\n");
  }
  return text;
}

/// The target's spread stands at the time of the state that its step led to, as torques do; the start has none.
std::string FormatSpread(const metrics::Spread& spread) {
  std::string text = "time,joints,root,targets\n";
  for (size_t i = 0; i < spread.joints.size(); ++i) {
    io::AppendNumber(text, static_cast<double>(i) * spread.time_step);
    for (const double value : {spread.joints[i], spread.root[i], i == 0 ? 0 : spread.targets[i - 1]}) {
      text.append(",");
      io::AppendNumber(text, value);
    }
    text.append("\n");
  }
  return text;
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

/// A try as a line for people.
std::string Line(uint64_t seed, const FailureReport& report, const std::string& kept) {
  std::string text = "seed " + std::to_string(seed);
  text.append(": ");
  if (!kept.empty()) return text.append(kept).append("\n");
  if (report.ending == sampling::Status::kReachedEnd) {
    text.append("outside the gates from ").append(io::Fixed(report.left_at, 2)).append(" s");
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

}  // namespace

VariationsSummary FindVariations(Job& job, parallel::TaskFarm& farm, const VariationOptions& options,
                                 const VariationContext& context) {
  const results::RunTimer timer;
  const auto say = [&](const std::string& text) {
    if (context.say) context.say(text);
  };
  const results::RunFolder& all = *context.folder;
  RemoveEarlier(all.path());
  const uint64_t first_seed = job.configuration.sampling.seed;
  const int max_tries = options.max_tries > 0 ? options.max_tries : 3 * options.count;
  std::vector<Variation> found;
  std::vector<control::Trajectory> motions;
  std::vector<control::OpenLoopControl> controls;
  std::map<std::string, size_t> known;  // controls by their hash
  Tries tries;
  while (static_cast<int>(found.size()) < options.count && tries.count() < max_tries) {
    const results::RunTimer run_timer;
    const uint64_t seed = first_seed + static_cast<uint64_t>(tries.count());
    job.SetSeed(seed);
    sampling::SeededFarm seeded(farm, seed);
    Reconstruction result = Reconstruct(job, seeded, context.hooks);
    if (context.on_search_end) context.on_search_end();
    const sampling::Summary& search = result.search;
    const FailureReport report = ReportFailure(job.problem, search, result.evaluation, job.checks);
    io::Json entry = {{"seed", seed},
                      {"status", StatusOf(search.status)},
                      {"success", result.evaluation.success()},
                      {"simulated_seconds", search.simulated_seconds}};
    std::string kept;
    if (result.evaluation.success()) {
      const std::string hash = io::Sha256(control::FormatControl(job.character, search.control));
      const auto [same, is_new] = known.emplace(hash, found.size());
      if (is_new) {
        found.push_back({seed, result.evaluation.mean_joint_error, result.evaluation.drift, search.path_cost,
                         search.simulated_seconds, hash});
        const std::string number = std::to_string(found.size());
        results::RunFolder folder(all.PathOf(number), context.force);
        const io::Json more = {{kMember, {{"number", found.size()}, {"of", options.count}}}};
        WriteRun(folder, job, result, {context.command, context.workers, &run_timer}, KeptFiles::kAll, more);
        entry["folder"] = number;
        kept = "variation " + number;
        kept.append(" of ").append(std::to_string(options.count)).append(", joint error ");
        kept.append(io::Fixed(found.back().joint_error, 3)).append(" m, drift ");
        kept.append(io::Fixed(found.back().drift, 2)).append(" m, cost ").append(io::Fixed(found.back().cost, 1));
        motions.push_back(std::move(result.trajectory));
        controls.push_back(std::move(result.search.control));
      } else {
        ++tries.repeated;
        entry["same_as"] = std::to_string(same->second + 1);
        kept = "the same control as variation " + std::to_string(same->second + 1);
      }
    } else {
      ++tries.failed;
      entry["failure"] = report.ToJson();
    }
    tries.list.push_back(std::move(entry));
    say(Line(seed, report, kept));
  }

  const bool success = static_cast<int>(found.size()) == options.count;
  io::Json list = {{"format", "retrace-variations"}, {"version", 1},
                   {"program", "reconstruct"},       {"success", success},
                   {"requested", options.count},     {"found", found.size()},
                   {"max_tries", max_tries},         {"command", context.command},
                   {"clip", job.options.clip.clip},  {"duration", job.reference.duration()},
                   {"variations", ToJson(found)},    {"tries", tries.list},
                   {"workers", context.workers},     {"provenance", results::Provenance(timer, {})}};
  io::WriteFile(all.PathOf(kTableFile), FormatTable(found, job.reference.duration()));
  if (!found.empty()) {
    const metrics::Spread spread = metrics::MeasureSpread(job.character, motions, controls, job.reference);
    io::WriteFile(all.PathOf(kSpreadFile), FormatSpread(spread));
    list["spread"] = spread.ToJson();
    say(DescribeSpread(spread, found.size()));
  }
  list.update(context.more);
  io::WriteFile(all.PathOf(kVariationsFile), list.dump(2, ' ', false, io::Json::error_handler_t::replace) + "\n");
  say("  results in " + all.path().string() + "\n");
  VariationsSummary summary;
  summary.found = found.size();
  summary.requested = options.count;
  summary.tries = tries.count();
  summary.failed = tries.failed;
  summary.repeated = tries.repeated;
  return summary;
}

}  // namespace retrace::runs
