#include "retrace/jobs/report_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/remedy.h"
#include "retrace/jobs/learned_response.h"
#include "retrace/jobs/variations.h"
#include "retrace/planning/response/response.h"
#include "retrace/report/report.h"
#include "retrace/results/run_folder.h"
#include "retrace/results/run_table.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/runs/stored/stored_scene.h"
#include "retrace/runs/stored/verification.h"
#include "retrace/simulation/solver_in_use.h"

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
  for (size_t i = 0; i < names.size(); ++i) {  // a number alone, as of a variation, is not a title
    const bool number = names[i].find_first_not_of("0123456789") == std::string::npos;
    if (number && !rest[i].filename().empty()) names[i] = rest[i].filename().string() + "/" + names[i];
  }
  return names;
}

std::string NoteOfEnding(const control::KinematicEnding& ending, double h) {
  const double first = ending.first_step * h, end = ending.step * h;
  std::string note = "Not physical: after " + io::Fixed(end, 2) + " s nothing is simulated";
  if (first < end)
    note += ", and from " + io::Fixed(first, 2) + " s on what is simulated is blended with recorded poses";
  return note + ". Poses are shown, to which no force leads; contacts and torques are none there.";
}

/// Tracking without feedback of the references, where there are any.
void DescribeTracking(const StoredRun& run, std::vector<report::ReportRun>& reports,
                      std::vector<report::RunDescriber>& describers) {
  const auto has_reference = [](const RunCharacter& character) { return character.reference.has_value(); };
  if (std::none_of(run.characters.begin(), run.characters.end(), has_reference)) return;
  std::vector<std::optional<metrics::Evaluator>> evaluators;
  for (size_t c = 0; c < run.characters.size(); ++c) evaluators.push_back(run.EvaluatorOf(c));
  ReplayInParts(NaiveTracking(run), run.pushes, [&](size_t c, const control::Trajectory& part) {
    if (!evaluators[c]) return;
    evaluators[c]->Add(part);
    describers[c].Add(report::Beside::kTracking, part);
  });
  for (size_t c = 0; c < run.characters.size(); ++c) {
    if (evaluators[c]) reports[c].tracking_evaluation = evaluators[c]->Finish(run.expected_duration(c));
  }
}

/// The body without strength of a response, where its control is kept.
void DescribeRagdoll(const StoredRun& run, std::vector<report::RunDescriber>& describers) {
  const fs::path file = run.folder / results::kRagdollFile;
  if (!fs::exists(file)) return;
  control::Scene ragdoll = control::LoadScene(file);
  const auto bodies_of = [](const control::Scene& scene) { return scene.characters.front().bodies.size(); };
  if (ragdoll.characters.size() != run.characters.size() || bodies_of(ragdoll) != bodies_of(run.scene) ||
      ragdoll.world.time_step != run.scene.world.time_step) {
    throw InputError(file.string(), "other characters or another time step",
                     "those of the " + std::string(results::kControlFile) + " beside it");
  }
  ragdoll.world.solver = simulation::SolverInUse(ragdoll.world);
  ReplayInParts(ragdoll, {}, [&](size_t c, const control::Trajectory& part) {
    if (c == ResponseProblem::kReceiver) describers[c].Add(report::Beside::kRagdoll, part);
  });
}

/// Why the motion of a response model is doubtful, where it is one.
void AppendDoubts(const fs::path& file, std::vector<std::string>& notes) {
  if (!fs::exists(file)) return;
  const io::Json json = io::ReadJson(file);
  if (!json.is_object() || !json.contains("doubts") || !json["doubts"].is_array()) return;
  for (const io::Json& doubt : json["doubts"]) {
    if (doubt.is_string()) notes.push_back("Doubtful: " + doubt.get<std::string>() + ".");
  }
}

/// Those of the scene's pushes that act on one character, with bodies counted from its first.
std::vector<control::Push> PushesOn(const StoredRun& run, size_t character) {
  std::vector<control::Push> pushes;
  const simulation::Layout layout = run.scene.layout();
  for (control::Push push : run.AllPushes()) {
    const int first = layout.BodyOf(character, 0);
    push.body -= first;
    if (push.body >= 0 && push.body < static_cast<int>(run.scene.characters[character].bodies.size())) {
      pushes.push_back(push);
    }
  }
  return pushes;
}

/// In a scene of several characters, too, candidates are those of the receiver, and in the folder of the run.
fs::path CandidatesOf(const StoredRun& run, size_t character) {
  return character == ResponseProblem::kReceiver ? run.folder / results::kCandidatesFile
                                                 : run.PathOf(character, results::kCandidatesFile);
}

}  // namespace

io::Json DescribeStoredRun(const StoredRun& run, const std::string& name, std::string& difference) {
  const size_t num_characters = run.characters.size();
  std::vector<results::CostTable> costs(num_characters);
  std::vector<results::Table> solutions(num_characters);
  std::vector<results::Table> foot_forces(num_characters);
  std::vector<results::Table> compositions(num_characters), candidates(num_characters), repairs(num_characters);
  std::vector<std::optional<character::ReferenceMotion>> recordings(num_characters);
  std::vector<report::ReportRun> reports(num_characters);
  std::vector<report::RunDescriber> describers;
  for (size_t c = 0; c < num_characters; ++c) {
    report::ReportRun& report = reports[c];
    report.name = name;
    report.character = &run.scene.characters[c];
    report.world = &run.scene.world;
    report.manifest = run.manifest;
    report.pushes = PushesOn(run, c);
    if (num_characters > 1) {
      report.name.append(", character ").append(std::to_string(c + 1));
      report.name.append(" (").append(report.character->name).append(")");
    }
    if (run.characters[c].reference) report.reference = &*run.characters[c].reference;
    recordings[c] = run.Recording(c);
    if (recordings[c]) report.recording = &*recordings[c];
    if (const fs::path file = run.PathOf(c, results::kCostsFile); fs::exists(file)) {
      costs[c] = results::ReadCosts(file);
      if (!costs[c].iterations.empty()) report.costs = &costs[c];
    }
    if (const fs::path file = run.PathOf(c, results::kTrackingFile); fs::exists(file)) {
      solutions[c] = results::ReadTable(file);
      if (solutions[c].num_rows() > 0) report.solutions = &solutions[c];
    }
    if (const fs::path file = run.PathOf(c, results::kSmoothFootForcesFile); fs::exists(file)) {
      foot_forces[c] = results::ReadTable(file);
      if (foot_forces[c].num_rows() > 0) report.foot_forces = &foot_forces[c];
    }
    if (const fs::path file = run.PathOf(c, results::kCompositionFile); fs::exists(file)) {
      compositions[c] = results::ReadTable(file);
      if (compositions[c].num_rows() > 0) report.composition = &compositions[c];
    }
    if (const fs::path file = CandidatesOf(run, c); fs::exists(file)) {
      candidates[c] = results::ReadTable(file);
      if (candidates[c].num_rows() > 0) report.candidates = &candidates[c];
    }
    if (const fs::path file = run.PathOf(c, results::kRepairFile); fs::exists(file)) {
      repairs[c] = results::ReadTable(file);
      if (repairs[c].num_rows() > 0) report.repair = &repairs[c];
      report.notes.emplace_back(
          "The reference was repaired: its clock, height or legs are not those of the recording. The gates compare "
          "with the repaired one.");
      if (recordings[c]) report.notes.back() += " The recording stands beside it, on the new clock.";
    }
    if (const fs::path file = run.PathOf(c, results::kLatentPictureFile); fs::exists(file)) {
      report.latent_picture = io::ReadFile(file);
    }
    describers.emplace_back(report, run.control_duration(c));
  }
  const Verification verification =
      ReplayAndCompare(run, [&](size_t c, const control::Trajectory& part) { describers[c].Add(part); });
  difference = verification.difference;
  for (size_t c = 0; c < num_characters; ++c) {
    reports[c].evaluation = verification.evaluations[c];
    if (!run.pushes.empty())
      reports[c].notes.emplace_back("Pushed: this motion is not the result of the control alone.");
    if (run.scene.beginning) {
      reports[c].notes.push_back("As recorded up to " +
                                 io::Fixed(run.scene.first_step() * run.scene.world.time_step, 2) +
                                 " s: poses are shown, and nothing is simulated.");
    }
    if (c == 0) AppendDoubts(run.folder / kSynthesisFile, reports[c].notes);
    if (const control::KinematicEnding* const ending = run.scene.EndingOf(c)) {
      reports[c].notes.push_back(NoteOfEnding(*ending, run.scene.world.time_step));
    }
    if (!run.scene.transitions.empty()) {
      reports[c].notes.emplace_back("Not physical: " + std::to_string(run.scene.transitions.size()) +
                                    " of its transitions are kinematic. There the simulation goes on from another "
                                    "state, to which no force leads, and the pose is blended; contacts and torques "
                                    "are those of the simulation behind the blend.");
    }
    if (difference.empty()) continue;
    reports[c].notes.emplace_back(
        "The motion shown is not the stored one: this program replays the control to other bits.");
  }
  DescribeTracking(run, reports, describers);
  DescribeRagdoll(run, describers);
  return num_characters == 1 ? describers[0].Finish() : report::DescribeScene(name, describers);
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

std::vector<fs::path> EvaluatedRuns(const std::vector<std::string>& folders) {
  std::vector<fs::path> runs;
  for (const std::string& folder : folders) {
    const fs::path table = fs::path(folder) / results::kRunsFile;
    if (!fs::exists(table)) continue;
    for (const results::RunRow& row : results::ParseRuns(io::ReadFile(table), table.string())) {
      fs::path run = results::FolderOfRun(folder, row.clip, row.seed);
      if (fs::exists(run / results::kControlFile)) runs.push_back(std::move(run));
    }
  }
  return runs;
}

GatheredReport GatherReport(const std::vector<std::string>& folders, const fs::path& page) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders) {
    if (fs::exists(fs::path(folder) / results::kRunsFile)) {
      paths.emplace_back(folder);
    } else {
      for (fs::path& run : RunsOf(folder)) paths.push_back(std::move(run));
    }
  }
  const std::vector<std::string> names = NamesOf(paths);
  const fs::path page_folder = page.empty() ? fs::path(folders.front()) : fs::absolute(page).parent_path();
  GatheredReport gathered;
  std::vector<io::Json> parts;
  for (size_t i = 0; i < paths.size(); ++i) {
    const fs::path table = paths[i] / results::kRunsFile;
    if (fs::exists(table)) {
      const auto link_of = [&](const results::RunRow& row) {
        const fs::path run = results::FolderOfRun(paths[i], row.clip, row.seed);
        if (!fs::exists(run)) return std::string();
        const fs::path target = fs::exists(run / results::kReportFile) ? run / results::kReportFile : run / "";
        return fs::proximate(target, fs::absolute(page_folder)).generic_string();
      };
      parts.push_back(
          report::DescribeEvaluation(names[i], results::ParseRuns(io::ReadFile(table), table.string()), link_of));
      continue;
    }
    std::string difference;
    parts.push_back(DescribeStoredRun(StoredRun(paths[i]), names[i], difference));
    if (!difference.empty()) gathered.differing.push_back(difference);
  }
  std::string title = names.front();
  for (size_t i = 1; i < names.size(); ++i) title += ", " + names[i];
  gathered.document = report::ReportDocument(title, std::move(parts));
  return gathered;
}

void CheckReportOutput(const fs::path& file, const std::vector<std::string>& folders, bool force) {
  std::vector<fs::path> inputs;
  for (const std::string& folder : folders) {
    for (const std::string_view table : {results::kRunsFile, kVariationsFile})
      inputs.push_back(fs::path(folder) / table);
    for (const fs::path& run : RunsOf(folder)) {
      for (fs::path& input : results::FilesOfRun(run)) inputs.push_back(std::move(input));
    }
  }
  io::CheckOutput(file, inputs);
  if (force || !fs::exists(file) || report::IsReportPage(io::ReadFile(file))) return;
  throw WithHint<UsageError>({Remedy::kOverwrite},
                             file.string() + ": found a file that report did not make, expected none");
}

void WriteReportPage(const io::Json& document, const fs::path& file) {
  const fs::path page = FindReportPage();
  io::FileWriter writer(file);
  report::FillReportPage(io::ReadFile(page), page.string(), document,
                         [&](std::string_view piece) { writer.Write(piece); });
  writer.Finish();
}

}  // namespace retrace::runs
