/// evaluate: many clips and seeds in, tables of success, quality and cost out.
#include <algorithm>
#include <cstdio>
#include <regex>
#include <set>
#include <utility>

#include "common/job_options.h"
#include "common/program.h"
#include "common/progress.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/runs/batch.h"
#include "retrace/runs/clip_list.h"
#include "retrace/runs/identity.h"
#include "retrace/runs/negative_controls.h"
#include "retrace/runs/stop_request.h"

namespace {

using namespace retrace;
namespace fs = std::filesystem;
using results::RunRow;
using results::RunStatus;

constexpr const char* kRunsFile = "runs.csv";
constexpr const char* kSummaryFile = "summary.csv";
constexpr const char* kSummaryPage = "summary.md";
constexpr const char* kControlsFile = "negative_controls.csv";
constexpr const char* kComparisonFile = "compare.csv";

struct Options {
  std::string list;
  runs::JobOptions job;
  std::string clips;
  int seeds = 0;
  std::string only;
  std::string share;
  int threads = 0;
  std::string output;
  std::string keep = "control";
  bool force = false;
  std::string time_limit;
  int ranks_per_run = 0;
  double hang_limit = 300;
  std::string progress = "auto";
  bool controls = false;
  double required = -1;
  std::vector<std::string> compare;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("list", o.list, "Tab-separated list of recordings, its columns named in the first row")
      ->type_name("LIST");
  app.add_option("--clips", o.clips, "Folder of the recordings [that of the list]")->type_name("DIR");
  app.add_option("--seeds", o.seeds, "Run seeds 1 to N of each clip [what the list says, else 5]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--only", o.only, "Run only clips in whose name this is found")->type_name("REGEX");
  apps::AddJobOptions(app, o.job);
  app.add_option(
         "--share", o.share,
         "I/N: run the I-th of N shares alone, e.g. in job I of an array of N jobs; afterwards the same command "
         "without it writes the tables of all")
      ->type_name("I/N");
  app.add_option("--threads", o.threads, "Runs at once [all cores]; under mpirun each rank has one")
      ->check(CLI::Range(1, 4096));
  app.add_option("--output", o.output, "Folder for the results [results/LIST]")->type_name("DIR");
  app.add_option("--keep", o.keep, "What a run leaves besides its manifest: control or all")
      ->capture_default_str()
      ->check(CLI::IsMember({"control", "all"}));
  app.add_option("--time-limit", o.time_limit,
                 "Stop with checkpoints (exit code 75) before so much time has passed: seconds or [D-][HH:]MM:SS; the "
                 "same command goes on")
      ->type_name("TIME");
  app.add_option("--ranks-per-run", o.ranks_per_run,
                 "Under mpirun: ranks that work on a run together [so many that all runs are done soonest]")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--hang-limit", o.hang_limit,
                 "Under mpirun: stop with checkpoints when a rank that has work gives no sign of life for so many "
                 "seconds; 0: never")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--force", o.force, "Run again what was made with another configuration or version");
  app.add_option("--progress", o.progress, "auto, plain, json or none")->capture_default_str();
  app.add_flag("--controls", o.controls, "Run seed 1 of each clip and test what the gates must refuse");
  app.add_option("--require", o.required, "Share of its runs in which every clip must succeed (else exit code 4)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--compare", o.compare, "Compare the runs of two output folders, paired by clip and seed")
      ->type_name("DIR_A DIR_B")
      ->expected(2);
  app.set_version_flag("--version", "evaluate " + results::Version());
}

fs::path OutputFolder(const Options& o) {
  return o.output.empty() ? fs::path("results") / fs::path(o.list).stem() : fs::path(o.output);
}

/// I and N of --share I/N; 1 and 1 without.
std::pair<size_t, size_t> ShareOf(const Options& o) {
  if (o.share.empty()) return {1, 1};
  size_t index = 0;
  size_t count = 0;
  char rest = 0;
  if (std::sscanf(o.share.c_str(), "%zu/%zu%c", &index, &count, &rest) != 2 || index < 1 || index > count) {
    throw UsageError("--share " + o.share + ": expected I/N with I from 1 to N");
  }
  return {index, count};
}

runs::Batch MakeBatch(const Options& o, const std::string& command) {
  runs::Batch batch;
  batch.job = o.job;
  batch.clips = runs::ReadClipList(o.list, o.clips);
  batch.kept = o.keep == "all" ? runs::KeptFiles::kAll : runs::KeptFiles::kControl;
  batch.command = command;
  runs::CheckSettings(batch);
  std::regex only;
  try {
    only = std::regex(o.only);
  } catch (const std::regex_error&) {
    throw UsageError("--only " + o.only + ": expected a regular expression");
  }
  const auto [share, shares] = ShareOf(o);
  bool any = false;
  for (size_t c = 0; c < batch.clips.size(); ++c) {
    const runs::ListedClip& clip = batch.clips[c];
    const bool selected = o.only.empty() || std::regex_search(clip.name, only);
    any = any || selected;
    const int seeds = o.seeds > 0 ? o.seeds : clip.seeds > 0 ? clip.seeds : 5;
    for (int seed = 1; seed <= seeds; ++seed) {
      const fs::path folder = OutputFolder(o) / "runs" / (clip.name + "." + std::to_string(seed));
      const bool mine = batch.runs.size() % shares + 1 == share;
      batch.runs.push_back({c, static_cast<uint64_t>(seed), selected && mine && (!o.controls || seed == 1), folder});
    }
  }
  if (!any) throw UsageError("--only " + o.only + ": no clip of " + o.list + " has such a name");
  return batch;
}

/// Groups of ranks, each of which works on one run at a time.
int NumGroups(const Options& o, const runs::Batch& batch, int ranks) {
  const auto runs = static_cast<size_t>(
      std::count_if(batch.runs.begin(), batch.runs.end(), [](const runs::PlannedRun& run) { return run.selected; }));
  const int each = o.ranks_per_run > 0 ? o.ranks_per_run : parallel::ChooseRanksPerRun(ranks, runs);
  return std::max(1, ranks / each);
}

/// The folder may hold earlier results of this program, but nothing else: a wrong name must not fill a home folder.
void PrepareFolder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw OutputError(folder.string() + ": found a file, expected a folder or nothing");
  }
  if (fs::is_directory(folder) && !fs::is_empty(folder) && !fs::exists(folder / "runs") &&
      !fs::exists(folder / kRunsFile)) {
    throw UsageError(folder.string() +
                     ": found a folder with other files in it, expected a new or empty one, or results of evaluate");
  }
  fs::create_directories(folder / "runs", error);
  if (error) throw OutputError(folder.string() + ": cannot be created: " + error.message());
}

/// A run as a line for people.
std::string Line(const RunRow& row) {
  std::string text = row.clip;
  text.append(" seed ").append(std::to_string(row.seed)).append(": ");
  if (!row.ran()) return text.append(Name(row.status)).append(": ").append(row.message);
  if (row.levels.main) {
    text.append(row.levels.strict ? "strict success" : "success");
  } else if (row.violated.empty()) {
    text.append(Name(row.status));
  } else {
    text.append(row.violated).append(" left at ").append(io::Fixed(row.violated_at, 2)).append(" s");
  }
  text.append(", joint error ").append(io::Fixed(row.figures[results::FigureIndex("joint_error_mm")], 0));
  text.append(" mm, ").append(io::Fixed(row.figures[results::FigureIndex("cpu_s_per_s")], 1)).append(" CPU s/s");
  return text;
}

int ExitCodeOf(const std::vector<RunRow>& rows, const std::vector<results::RunSummary>& summaries,
               const std::vector<runs::NegativeControl>& controls, const Options& o) {
  const auto any = [&](RunStatus status) {
    return std::any_of(rows.begin(), rows.end(), [&](const RunRow& row) { return row.status == status; });
  };
  ExitCode code = ExitCode::kSuccess;
  for (const results::RunSummary& summary : summaries) {
    if (summary.scope == results::RunSummary::Scope::kClip && summary.main.n > 0 &&
        summary.main.k < o.required * summary.main.n) {
      code = ExitCode::kBelowGate;
    }
  }
  for (const runs::NegativeControl& control : controls) {
    if (control.accepted) code = ExitCode::kBelowGate;
  }
  if (any(RunStatus::kFailedInput)) code = ExitCode::kInput;
  if (any(RunStatus::kFailed)) code = ExitCode::kBug;
  return static_cast<int>(code);
}

int Compare(const Options& o) {
  const auto read = [](const fs::path& folder) {
    const fs::path path = folder / kRunsFile;
    return results::ParseRuns(io::ReadFile(path), path.string());
  };
  const std::vector<RunRow> a = read(o.compare[0]);
  const std::vector<RunRow> b = read(o.compare[1]);
  const auto comparisons = results::CompareRuns(a, b);
  if (comparisons.back().pairs == 0) {
    throw InputError(fs::path(o.compare[1]) / kRunsFile, "no run of a clip and seed of " + o.compare[0], "some");
  }
  const fs::path output = o.output.empty() ? fs::path(o.compare[1]) : fs::path(o.output);
  fs::create_directories(output);
  io::WriteFile(output / kComparisonFile, results::FormatComparisons(comparisons));
  std::printf("A: %s\nB: %s\n\n%s", o.compare[0].c_str(), o.compare[1].c_str(),
              results::FormatComparisonPage(comparisons).c_str());
  return 0;
}

void PrintControls(const std::vector<runs::NegativeControl>& controls) {
  size_t tested = 0;
  size_t accepted = 0;
  for (const runs::NegativeControl& control : controls) {
    tested += control.tested;
    accepted += control.accepted;
    if (control.accepted) std::printf("accepted: %s, %s\n", control.clip.c_str(), control.control.c_str());
  }
  std::printf("%zu of %zu negative controls refused\n", tested - accepted, tested);
}

int Evaluate(const Options& o, const std::string& command, parallel::MpiSession& mpi) {
  const bool master = mpi.rank() == 0;
  if (!o.compare.empty()) return master ? Compare(o) : 0;
  if (o.list.empty()) throw UsageError("a list of clips is needed (--help lists the options)");
  const apps::ProgressStyle style = apps::ChooseProgress(o.progress, mpi.active());
  runs::Batch batch;
  runs::PrepareRanks(mpi, o.hang_limit, [&] {
    batch = MakeBatch(o, command);
    return io::Json{{"program", results::Version()},
                    {"list", io::Sha256(io::ReadFile(o.list))},
                    {"configuration", runs::MakeConfiguration(o.job).ToJson()}};
  });
  if (!o.time_limit.empty()) batch.time_limit = runs::ParseDuration(o.time_limit, "--time-limit");
  runs::HandleStopSignals();
  const parallel::RankGroups groups = mpi.Split(NumGroups(o, batch, mpi.size()));
  if (!groups.leaders) {
    groups.own->Serve(runs::MakeMemberFactory(batch));
    return 0;
  }
  if (mpi.active()) batch.report_alive = [&] { groups.leaders->ReportAlive(); };
  // Team and farm first: whatever goes wrong from here on, their destructors release the other ranks.
  const bool grouped = groups.own->size() > 1;
  const auto own_team = grouped ? std::make_shared<runs::Team>(batch, *groups.own, o.hang_limit) : nullptr;
  const parallel::WorkerFactory factory =
      runs::MakeRunFactory([&] { return own_team ? own_team : std::make_shared<runs::Team>(batch); });
  if (!master) {
    groups.leaders->Serve(factory);
    return 0;
  }
  const auto farm =
      mpi.active() ? groups.leaders->MakeFarm(factory, o.hang_limit) : apps::MakeFarm(mpi, o.threads, factory);
  const fs::path folder = OutputFolder(o);
  PrepareFolder(folder);
  size_t finished = 0;
  const auto on_row = [&](const RunRow& row, const std::vector<RunRow>& all, size_t left) {
    io::WriteFile(folder / kRunsFile, results::FormatRuns(all));
    ++finished;
    if (style == apps::ProgressStyle::kJson) {
      std::fprintf(stderr, "%s\n", row.ToJson().dump().c_str());
    } else if (style != apps::ProgressStyle::kNone) {
      std::fprintf(stderr, "[%zu/%zu] %s\n", finished, finished + left, Line(row).c_str());
    }
    std::fflush(stderr);
  };
  std::vector<RunRow> rows;
  try {
    rows = runs::RunBatch(batch, *farm, o.force, on_row);
  } catch (const StoppedError& error) {
    throw StoppedError(std::string(error.what()) + ": stopped, the same command goes on from " + folder.string());
  }
  const auto summaries = results::Summarize(rows);
  const std::string page = results::FormatSummaryPage(summaries);
  io::WriteFile(folder / kRunsFile, results::FormatRuns(rows));
  io::WriteFile(folder / kSummaryFile, results::FormatSummaries(summaries));
  io::WriteFile(folder / kSummaryPage, page);
  const bool speaks = style != apps::ProgressStyle::kNone && style != apps::ProgressStyle::kJson;
  if (speaks) std::fputs(page.c_str(), stdout);
  std::vector<runs::NegativeControl> controls;
  if (o.controls) {
    controls = runs::TestNegativeControls(batch, rows);
    io::WriteFile(folder / kControlsFile, runs::FormatNegativeControls(controls));
    if (speaks) PrintControls(controls);
  }
  return ExitCodeOf(rows, summaries, controls, o);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return apps::RunMpiProgram(
      "evaluate", "Reconstructs a list of clips with many seeds and tells how often, how well and at what cost.", argc,
      argv, [&](CLI::App& app) { AddOptions(app, options); },
      [&](const std::string& command, parallel::MpiSession& mpi) { return Evaluate(options, command, mpi); });
}
