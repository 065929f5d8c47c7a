#include "retrace/batches/library_making.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "retrace/batches/batch.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/io/remedy.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/results/folder_mark.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/checkpoint.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using results::RunRow;

constexpr int kDefaultSeeds = 3;

/// Names of the controls that the folder has, or was to have, from an earlier call.
std::vector<std::string> EarlierNames(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const bool run = fs::exists(entry.path() / results::kManifestFile) || Checkpoint::Exists(entry.path());
    if (run) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The folder may hold a library, but nothing else: a wrong name must not fill a home folder. What another list has
/// made stays in it and in its index unless the user says otherwise.
void PrepareFolder(const LibraryOptions& o, const Batch& batch) {
  const auto listed = [&](const std::string& name) {
    return std::any_of(batch.clips.begin(), batch.clips.end(),
                       [&](const ListedClip& clip) { return clip.name == name; });
  };
  results::ClaimedFolder folder(o.output, {"control library", o.list}, [&] {
    const std::vector<std::string> names = EarlierNames(o.output);
    return fs::exists(o.output / kLibraryFile) || std::any_of(names.begin(), names.end(), listed);
  });
  const std::array inputs = {o.list};
  io::CheckOutput(o.output / kLibraryFile, inputs);
  const std::vector<std::string> names = EarlierNames(o.output);
  const auto missing = std::find_if_not(names.begin(), names.end(), listed);
  // Nothing says from which list a library without a mark is: one that shares a name with it, probably.
  const bool other = folder.earlier() ? folder.FromAnotherSource() : std::none_of(names.begin(), names.end(), listed);
  if (other && missing != names.end() && !o.force) {
    throw WithHint<UsageError>({Remedy::kOverwrite, Remedy::kOtherOutput},
                               o.output.string() + ": found a library of another list" +
                                   (folder.earlier() ? " (" + folder.earlier()->source.string() + ")" : "") +
                                   ", which has " + *missing + ", expected one of " + o.list.string());
  }
  folder.Mark();
}

/// Takes the index away. It comes back last, when all that it names is there.
void RemoveIndex(const LibraryOptions& o) {
  std::error_code error;
  fs::remove(o.output / kLibraryFile, error);
  if (error) throw OutputError((o.output / kLibraryFile).string() + ": cannot be removed: " + error.message());
}

/// The seed of the run that an earlier call left, as long as it is one of those that may be tried.
uint64_t FirstSeed(const fs::path& folder, int seeds) {
  const fs::path path = folder / results::kManifestFile;
  if (!fs::exists(path)) return 1;
  const io::Json manifest = io::ReadJson(path);
  const io::JsonView view(manifest, path.string());
  if (!view.Has("seed")) return 1;
  const auto seed = static_cast<uint64_t>(view["seed"].Number({0, 1e15}));
  return seed >= 1 && seed <= static_cast<uint64_t>(seeds) ? seed : 1;
}

}  // namespace

ExitCode MadeLibrary::Judge() const {
  const ExitCode code = EvaluationResult{rows, results::Summarize(rows), {}}.Judge(1);
  const bool all = std::all_of(rows.begin(), rows.end(), [](const RunRow& row) { return row.levels.main; });
  return code == ExitCode::kSuccess && !all ? ExitCode::kBelowGate : code;
}

MadeLibrary MakeLibrary(const LibraryOptions& o, const MadeCallback& on_run) {
  EvaluationOptions plan;
  plan.list = o.list;
  plan.clips = o.clips;
  plan.job = o.job;
  plan.samples = o.samples;
  plan.saved = o.saved;
  plan.seeds = o.seeds;
  plan.only = o.only;
  plan.output = o.output;
  plan.kept = KeptFiles::kAll;
  plan.command = o.command;
  Batch batch = PlanBatch(plan);
  batch.program = "make-library";
  if (batch.clips.size() > kMostLibraryControls) {
    throw InputError(o.list.string(), std::to_string(batch.clips.size()) + " clips",
                     "at most " + std::to_string(kMostLibraryControls) + " in a library");
  }
  PrepareFolder(o, batch);
  std::vector<PlannedRun> round;
  std::vector<int> seeds(batch.clips.size(), 0);  // that may be tried; 0: what there is of this clip is taken
  for (const PlannedRun& run : batch.runs) {
    const ListedClip& clip = batch.clips[run.clip];
    if (run.seed > 1) continue;
    const int most = o.seeds > 0 ? o.seeds : clip.seeds > 0 ? clip.seeds : kDefaultSeeds;
    if (run.selected) seeds[run.clip] = most;
    const fs::path folder = o.output / clip.name;
    round.push_back({run.clip, FirstSeed(folder, most), run.selected, folder});
  }
  MadeLibrary made;
  std::vector<std::optional<RunRow>> latest(batch.clips.size());
  std::once_flag index_removed;
  for (bool again = false; !round.empty(); again = true) {
    batch.runs = std::exchange(round, {});
    const auto begin = [&] {  // a run, which the index may name
      std::call_once(index_removed, RemoveIndex, o);
      return std::make_shared<ProcessGroup>(batch);
    };
    const auto farm = parallel::MakeThreadFarm(o.threads, MakeRunFactory(begin));
    const auto note = [&](const RunRow& row, const std::vector<RunRow>&, size_t) {
      if (on_run) on_run(row);
    };
    try {  // a try that failed makes room for the next
      for (RunRow& row : RunBatch(batch, *farm, o.force || again, note)) {
        const auto clip = std::find_if(batch.clips.begin(), batch.clips.end(),
                                       [&](const ListedClip& listed) { return listed.name == row.clip; });
        latest[static_cast<size_t>(clip - batch.clips.begin())] = std::move(row);
      }
    } catch (const StoppedError& error) {
      throw StoppedError(std::string(error.what()) + ": stopped, the same command resumes from " + o.output.string());
    }
    for (const PlannedRun& run : batch.runs) {
      const std::optional<RunRow>& row = latest[run.clip];
      if (!row || !row->ran() || row->levels.main || run.seed >= static_cast<uint64_t>(seeds[run.clip])) continue;
      round.push_back({run.clip, run.seed + 1, true, run.folder});
    }
  }
  std::vector<LibraryControl> controls;
  for (size_t c = 0; c < latest.size(); ++c) {
    if (!latest[c]) continue;
    if (seeds[c] > 0) made.rows.push_back(*latest[c]);
    if (latest[c]->levels.main) controls.push_back(ReadLibraryControl(o.output / batch.clips[c].name));
  }
  if (controls.empty()) return made;
  std::sort(controls.begin(), controls.end(),
            [](const LibraryControl& a, const LibraryControl& b) { return a.name < b.name; });
  made.index = IndexOf(controls);
  io::WriteFile(o.output / kLibraryFile, FormatLibrary(made.index, controls));
  return made;
}

}  // namespace retrace::runs
