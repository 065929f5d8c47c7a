#include "retrace/runs/report_page.h"

#include <set>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/report/report.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/data_files.h"
#include "retrace/runs/evaluation.h"
#include "retrace/runs/variations.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

/// The last parts of a path, as many as it takes for all to differ.
std::vector<std::string> NamesOf(const std::vector<fs::path>& paths) {
  std::vector<fs::path> rest;
  std::vector<std::string> names(paths.size());
  for (const fs::path& path : paths) {
    fs::path clean = fs::absolute(path).lexically_normal();
    rest.push_back(clean.has_filename() ? clean : clean.parent_path());
  }
  for (size_t round = 0; round < 20; ++round) {
    for (size_t i = 0; i < rest.size(); ++i) {
      const std::string part = rest[i].filename().string();
      if (part.empty()) continue;
      names[i] = names[i].empty() ? part : part + "/" + names[i];
      rest[i] = rest[i].parent_path();
    }
    if (std::set<std::string>(names.begin(), names.end()).size() == names.size()) break;
  }
  for (size_t i = 0; i < names.size(); ++i) {  // a number alone, as of a variation, says nothing
    const bool number = names[i].find_first_not_of("0123456789") == std::string::npos;
    if (number && !rest[i].filename().empty()) names[i] = rest[i].filename().string() + "/" + names[i];
  }
  return names;
}

}  // namespace

io::Json DescribeStoredRun(const ReplayedRun& run, const std::string& name) {
  const character::Character& character = run.loaded.character;
  report::ReportRun report;
  report.name = name;
  report.character = &character;
  report.world = &run.loaded.control.world;
  report.trajectory = &run.trajectory;
  report.evaluation = run.evaluation;
  report.manifest = run.manifest;
  control::Trajectory tracking;
  if (run.reference) {
    report.reference = &*run.reference;
    control::OpenLoopControl naive = run.loaded.control;
    SetTargetsToReference(*run.reference, naive);
    tracking = control::Replay(character, naive, run.pushes);
    report.tracking = &tracking;
    report.tracking_evaluation = run.Evaluate(tracking);
  }
  results::CostTable costs;
  if (fs::exists(run.folder / results::kCostsFile)) {
    costs = results::ReadCosts(run.folder / results::kCostsFile);
    if (!costs.fragments.empty()) report.costs = &costs;
  }
  if (!run.pushes.empty()) report.notes.emplace_back("Pushed: this motion is no result of the control alone.");
  if (!run.difference.empty()) {
    report.notes.emplace_back(
        "The motion shown is not the stored one: this program replays the control to other bits.");
  }
  return report::DescribeRun(report);
}

std::vector<fs::path> RunsOf(const fs::path& folder) {
  if (fs::exists(folder / results::kControlFile) || !fs::exists(folder / kVariationsFile)) return {folder};
  std::vector<fs::path> runs;
  for (int k = 1; fs::exists(folder / std::to_string(k) / results::kControlFile); ++k) {
    runs.push_back(folder / std::to_string(k));
  }
  if (runs.empty()) throw InputError(folder.string(), "no variation", "folders 1, 2, ... with a control each");
  return runs;
}

GatheredReport GatherReport(const std::vector<std::string>& folders) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders) {
    if (fs::exists(fs::path(folder) / kRunsFile)) {
      paths.emplace_back(folder);
    } else {
      for (fs::path& run : RunsOf(folder)) paths.push_back(std::move(run));
    }
  }
  const std::vector<std::string> names = NamesOf(paths);
  GatheredReport gathered;
  std::vector<io::Json> parts;
  for (size_t i = 0; i < paths.size(); ++i) {
    const fs::path table = paths[i] / kRunsFile;
    if (fs::exists(table)) {
      parts.push_back(report::DescribeEvaluation(names[i], results::ParseRuns(io::ReadFile(table), table.string())));
      continue;
    }
    const ReplayedRun run(paths[i]);
    if (!run.difference.empty()) gathered.differing.push_back(run.difference);
    parts.push_back(DescribeStoredRun(run, names[i]));
  }
  std::string title = names.front();
  for (size_t i = 1; i < names.size(); ++i) title += ", " + names[i];
  gathered.document = report::ReportDocument(title, std::move(parts));
  return gathered;
}

void CheckReportOutput(const fs::path& file, const std::vector<std::string>& folders, bool force) {
  std::vector<fs::path> inputs;
  for (const std::string& folder : folders) {
    for (const std::string_view table : {kRunsFile, kVariationsFile}) inputs.push_back(fs::path(folder) / table);
    for (const fs::path& run : RunsOf(folder)) {
      for (fs::path& input : results::FilesOfRun(run)) inputs.push_back(std::move(input));
    }
  }
  io::CheckOutput(file, inputs);
  if (force || !fs::exists(file) || report::IsReportPage(io::ReadFile(file))) return;
  throw UsageError(file.string() + ": found a file that report did not make, expected none or --force");
}

std::string MakeReportPage(const io::Json& document) {
  const fs::path page = FindReportPage();
  return report::FillReportPage(io::ReadFile(page), page.string(), document);
}

}  // namespace retrace::runs
