#include "batch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "common/checkpoint.h"
#include "common/data_files.h"
#include "common/identity.h"
#include "common/stop.h"
#include "common/world_input.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/metrics/motion_metrics.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using results::RunRow;
using results::RunStatus;

/// The member of a manifest that this program adds.
constexpr const char* kBatchMember = "batch";

metrics::MotionClass ClassOf(reconstruction::MotionKind kind) {
  return kind == reconstruction::MotionKind::kLocomotion || kind == reconstruction::MotionKind::kFlight
             ? metrics::MotionClass::kOnFeet
             : metrics::MotionClass::kOnGround;
}

/// Whether a control that went through its file gives the same states.
bool ReplaysFromFile(const Job& job, const Reconstruction& result) {
  const std::string text = control::FormatControl(job.character, result.search.control);
  const control::LoadedControl loaded = control::ParseControl(text, "control.json");
  const control::Trajectory again = control::Replay(loaded.character, loaded.control);
  const auto& states = result.trajectory.states;
  return std::equal(again.states.begin(), again.states.end(), states.begin(), states.end(),
                    [](const character::State& a, const character::State& b) {
                      return control::Fingerprint(a) == control::Fingerprint(b);
                    });
}

RunStatus StatusOf(reconstruction::Ending ending) {
  switch (ending) {
    case reconstruction::Ending::kReachedEnd:
      return RunStatus::kCompleted;
    case reconstruction::Ending::kLost:
      return RunStatus::kLost;
    case reconstruction::Ending::kBudget:
      return RunStatus::kBudget;
    case reconstruction::Ending::kDiverged:
      break;
  }
  return RunStatus::kDiverged;
}

void TakeCosts(const reconstruction::SearchResult& search, double duration, const results::RunTimer& timer,
               RunRow& row) {
  const auto set = [&](size_t figure, double value) { row.figures[figure] = value; };
  set(results::FigureIndex("duration_s"), duration);
  set(results::FigureIndex("iterations"), static_cast<double>(search.iterations.size()));
  set(results::FigureIndex("rewinds"), search.rewinds);
  set(results::FigureIndex("rollouts"), static_cast<double>(search.rollouts));
  set(results::FigureIndex("simulated_s_per_s"), search.simulated_seconds / duration);
  set(results::FigureIndex("search_s_per_s"), search.search_seconds / duration);
  set(results::FigureIndex("cpu_s_per_s"), search.cpu_seconds / duration);
  set(results::FigureIndex("wall_s"), timer.WallSeconds());
}

void Reconstruct(const Batch& batch, const PlannedRun& run, RunRow& row) {
  const results::RunTimer timer;
  StopRequest stop(batch.time_limit, batch.start);
  if (stop()) throw StoppedError(stop.reason());
  const JobOptions options = JobOptionsOf(batch, run.clip, run.seed);
  const io::Json identity = Identity(options);
  const Job job(options);
  const auto farm = parallel::MakeThreadFarm(1, reconstruction::MakeWorkerFactory(job.preparation.problem));
  results::RunFolder folder(run.folder, true);
  Checkpoint checkpoint(run.folder, identity, Checkpoint::Earlier::kResumeIfSame);
  reconstruction::SearchHooks hooks;
  hooks.store = &checkpoint;
  hooks.stop = [&] { return stop(); };
  const Reconstruction result = [&] {
    try {
      return Reconstruct(job, *farm, hooks);
    } catch (const StoppedError&) {
      checkpoint.Flush();
      throw StoppedError(stop.reason());
    }
  }();
  const metrics::MotionMetrics figures = metrics::MeasureMotion(job.character, result.trajectory, job.reference,
                                                                job.preparation.problem.world.environment);
  row.status = StatusOf(result.search.ending);
  row.Take(result.evaluation, figures);
  row.levels =
      metrics::JudgeLevels(result.evaluation, figures, ClassOf(job.preparation.kind.kind), job.character.height);
  row.replayed = ReplaysFromFile(job, result);
  if (!row.replayed) row.levels = {};  // a control that does not repeat itself is none
  TakeCosts(result.search, job.reference.duration(), timer, row);
  const io::Json more = {{"program", "evaluate"},
                         {"metrics", figures.ToJson(job.character)},
                         {kBatchMember, {{"identity", identity}, {"row", row.ToJson()}}}};
  WriteRun(folder, job, result, {batch.command, {{"kind", "threads"}, {"count", 1}}, &timer}, batch.kept, more);
  checkpoint.Remove();
}

/// The row of a run that was finished earlier, when it was made of the same things. Otherwise `difference` tells in
/// what they differ, or is empty when there is no finished run.
std::optional<RunRow> FinishedRow(const PlannedRun& run, const io::Json& identity, std::string& difference) {
  const fs::path path = run.folder / results::kManifestFile;
  if (!fs::exists(path)) return std::nullopt;
  const io::Json manifest = io::ReadJson(path);
  const io::JsonView view(manifest, path.string());
  if (!view.Has(kBatchMember)) {
    difference = "it was not made by evaluate";
    return std::nullopt;
  }
  const io::JsonView batch = view[kBatchMember];
  if (batch["identity"].json() != identity) {
    difference = Differences(batch["identity"].json(), identity);
    return std::nullopt;
  }
  return results::ReadRunRow(batch["row"]);
}

RunRow EmptyRow(const Batch& batch, const PlannedRun& run) {
  RunRow row;
  row.clip = batch.clips[run.clip].name;
  row.group = batch.clips[run.clip].group;
  row.seed = run.seed;
  return row;
}

parallel::Bytes Pack(const std::string& text) {
  parallel::Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
std::string Unpack(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

JobOptions JobOptionsOf(const Batch& batch, size_t clip, uint64_t seed) {
  JobOptions options = batch.job;
  const ListedClip& listed = batch.clips[clip];
  options.clip = listed.clip;
  options.worlds.insert(options.worlds.end(), listed.worlds.begin(), listed.worlds.end());
  if (!listed.character.empty()) options.character = listed.character;
  options.sets.insert(options.sets.end(), listed.settings.begin(), listed.settings.end());
  options.seed = static_cast<int64_t>(seed);
  return options;
}

void CheckSettings(const Batch& batch) {
  JobOptions without = batch.job;
  MakeConfiguration(without);  // what is wrong for all is not the list's fault
  FindCharacter(without.character);
  for (size_t c = 0; c < batch.clips.size(); ++c) {
    try {
      const JobOptions options = JobOptionsOf(batch, c, 1);
      MakeConfiguration(options);
      ReadWorlds(options.worlds);
      FindCharacter(options.character);
    } catch (const UsageError& error) {
      throw InputError(std::string(batch.clips[c].place).append(": ").append(error.what()));
    }
  }
}

RunRow RunOne(const Batch& batch, const PlannedRun& run) {
  RunRow row = EmptyRow(batch, run);
  try {
    Reconstruct(batch, run, row);
    return row;
  } catch (const OutputError&) {
    throw;
  } catch (const StoppedError&) {
    throw;
  } catch (const Error& error) {
    row = EmptyRow(batch, run);
    row.status = RunStatus::kFailedInput;
    row.message = error.what();
  } catch (const std::exception& error) {
    row = EmptyRow(batch, run);
    row.status = RunStatus::kFailed;
    row.message = error.what();
  }
  return row;
}

parallel::WorkerFactory MakeRunFactory(const Batch& batch) {
  return [&batch] {
    return [&batch](std::span<const std::byte> task, parallel::Bytes& result) {
      const size_t index = std::stoul(Unpack(task));
      result = Pack(RunOne(batch, batch.runs.at(index)).ToJson().dump());
    };
  };
}

std::vector<RunRow> RunBatch(const Batch& batch, parallel::TaskFarm& farm, bool force, const RowCallback& on_row) {
  std::map<size_t, io::Json> identities;  // of clips, with seed 1
  std::vector<std::optional<RunRow>> rows(batch.runs.size());
  std::vector<size_t> open;
  for (size_t r = 0; r < batch.runs.size(); ++r) {
    const PlannedRun& run = batch.runs[r];
    const JobOptions options = JobOptionsOf(batch, run.clip, run.seed);
    const std::vector<fs::path> files = InputFiles(options.clip);
    const auto missing =
        std::find_if(files.begin(), files.end(), [](const fs::path& file) { return !fs::exists(file); });
    if (missing != files.end()) {
      if (!run.selected) continue;
      rows[r] = EmptyRow(batch, run);
      rows[r]->message = missing->string().append(" is missing");
      continue;
    }
    if (!identities.contains(run.clip)) {
      try {
        identities[run.clip] = Identity(JobOptionsOf(batch, run.clip, 1));
      } catch (const InputError&) {  // the run will tell
        identities[run.clip] = nullptr;
      }
    }
    io::Json identity = identities[run.clip];
    if (!identity.is_null()) identity["configuration"]["search"]["seed"] = run.seed;
    std::string difference;
    rows[r] = FinishedRow(run, identity, difference);
    if (rows[r]) {
      rows[r]->group = batch.clips[run.clip].group;
    } else if (run.selected) {
      if (!difference.empty() && !force) {
        throw UsageError(run.folder.string()
                             .append(": found another run: ")
                             .append(difference)
                             .append("; --force runs it again, another --output keeps it"));
      }
      open.push_back(r);
    }
  }
  // An overview of all clips comes early, and clips that take long do not all come last.
  std::stable_sort(open.begin(), open.end(),
                   [&](size_t a, size_t b) { return batch.runs[a].seed < batch.runs[b].seed; });
  std::vector<parallel::Bytes> tasks;
  for (const size_t r : open) tasks.push_back(Pack(std::to_string(r)));
  const auto finished_rows = [&] {
    std::vector<RunRow> finished;
    for (const auto& row : rows) {
      if (row) finished.push_back(*row);
    }
    return finished;
  };
  size_t left = open.size();
  farm.Run(tasks, [&](size_t task, std::span<const std::byte> result) {
    const io::Json json = io::ParseJson(Unpack(result), "row of a run");
    const size_t r = open[task];
    rows[r] = results::ReadRunRow(io::JsonView(json, "row of a run"));
    on_row(*rows[r], finished_rows(), --left);
  });
  return finished_rows();
}

}  // namespace retrace::apps
