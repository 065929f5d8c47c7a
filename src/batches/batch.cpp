#include "retrace/batches/batch.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json_difference.h"
#include "retrace/io/remedy.h"
#include "retrace/io/stop_request.h"
#include "retrace/jobs/identity.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/jobs/tracked_baseline.h"
#include "retrace/metrics/motion_metrics.h"
#include "retrace/parallel/keyed_farm.h"
#include "retrace/parallel/rank_report.h"
#include "retrace/parallel/scheduler.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/world_input.h"
#include "retrace/runs/stored/checkpoint.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/simulation/solver_in_use.h"
#include "retrace/task/ending.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using results::RunRow;
using results::RunStatus;

/// The member of a manifest that this program adds.
constexpr const char* kBatchMember = "batch";

metrics::MotionClass ClassOf(task::MotionKind kind) {
  return kind == task::MotionKind::kLocomotion || kind == task::MotionKind::kFlight ? metrics::MotionClass::kOnFeet
                                                                                    : metrics::MotionClass::kOnGround;
}

/// Whether a control that went through its file gives the same states.
bool ReplaysFromFile(const Job& job, const Reconstruction& result, const control::Trajectory& motion) {
  const std::string text = control::FormatControl(job.character(), result.control());
  const control::LoadedControl loaded = control::ParseControl(text, "control.json");
  const control::Trajectory again = control::Replay(loaded.character, loaded.control);
  const auto& states = motion.states;
  return std::equal(again.states.begin(), again.states.end(), states.begin(), states.end(),
                    [](const character::State& a, const character::State& b) {
                      return control::Fingerprint(a) == control::Fingerprint(b);
                    });
}

RunStatus RunStatusOf(const tracking::Summary& tracking) {
  if (tracking.reached_end()) return RunStatus::kCompleted;
  return tracking.status == tracking::Status::kDiverged ? RunStatus::kDiverged : RunStatus::kLeftGates;
}

RunStatus RunStatusOf(task::Ending ending) {
  switch (ending) {
    case task::Ending::kReachedEnd:
      return RunStatus::kCompleted;
    case task::Ending::kLeftGates:
      return RunStatus::kLeftGates;
    case task::Ending::kBudget:
      return RunStatus::kBudget;
    case task::Ending::kDiverged:
      break;
  }
  return RunStatus::kDiverged;
}

RunStatus RunStatusOf(const Reconstruction& result) {
  if (result.method == Method::kTracking) return RunStatusOf(result.tracking->summary);
  if (result.method == Method::kHybrid)
    return result.hybrid->reached_end ? RunStatus::kCompleted : RunStatus::kLeftGates;
  return RunStatusOf(result.method == Method::kTrajectory ? result.optimization.ending : result.search.ending);
}

void TakeCosts(const Reconstruction& result, double duration, const results::RunTimer& timer, RunRow& row) {
  const sampling::Summary& search = result.search;
  const auto set = [&](size_t figure, double value) { row.figures[figure] = value; };
  set(results::FigureIndex("duration_s"), duration);
  const trajectory::Summary& optimization = result.optimization;  // one of the two is empty
  set(results::FigureIndex("iterations"),
      static_cast<double>(search.iterations.size() + optimization.iterations.size()));
  set(results::FigureIndex("back_offs"), search.back_offs);
  set(results::FigureIndex("rollouts"), static_cast<double>(search.rollouts + optimization.rollouts));
  set(results::FigureIndex("simulated_s_per_s"),
      (search.simulated_seconds + optimization.simulated_seconds) / duration);
  set(results::FigureIndex("search_s_per_s"), (search.search_seconds + optimization.simulated_seconds) / duration);
  set(results::FigureIndex("cpu_s_per_s"), result.cpu_seconds() / duration);
  set(results::FigureIndex("wall_s"), timer.WallSeconds());
}

/// The row of a run that was finished earlier, when it was made of the same things. Otherwise `difference` says in what
/// they differ, or is empty when there is no finished run.
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
    difference = io::Differences(batch["identity"].json(), identity);
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

/// The key of a run in a team: its index, and in the upper half a part of the hash of its identity, so that members see
/// whether they read the files that their leader reads.
uint64_t KeyOf(size_t index, const io::Json& identity) {
  return index | std::stoull(io::Sha256(io::Dump(identity)).substr(0, 8), nullptr, 16) << 32U;
}

void TakeNumbers(const Batch& batch, Configuration& configuration) {
  if (batch.samples) configuration.sampling.samples = *batch.samples;
  if (batch.saved) configuration.sampling.selection.saved = *batch.saved;
}

}  // namespace

JobOptions JobOptionsOf(const Batch& batch, size_t clip, uint64_t seed) {
  JobOptions options = batch.job;
  const ListedClip& listed = batch.clips[clip];
  options.clip = listed.clip;
  options.worlds.insert(options.worlds.end(), listed.worlds.begin(), listed.worlds.end());
  if (!listed.character.empty()) options.character = listed.character;
  for (const std::string& setting : listed.settings) options.configuration.Set(setting);
  TakeNumbers(batch, options.configuration);
  options.configuration.SetSeed(seed);
  return options;
}

void CheckSettings(const Batch& batch) {
  JobOptions for_all = batch.job;
  TakeNumbers(batch, for_all.configuration);
  ConfigurationOf(for_all);  // what is wrong for all is not the list's fault
  CharacterFile(for_all.character);
  for (size_t c = 0; c < batch.clips.size(); ++c) {
    try {
      const JobOptions options = JobOptionsOf(batch, c, 1);
      ConfigurationOf(options);
      ReadWorlds(options.worlds);
      CharacterFile(options.character);
    } catch (const UsageError& error) {
      throw InputError(std::string(batch.clips[c].place).append(": ").append(error.what()));
    }
  }
}

io::Json IdentityOf(const Batch& batch) {
  JobOptions for_all = batch.job;
  TakeNumbers(batch, for_all.configuration);
  io::Json solvers = io::Json::array();
  for (size_t c = 0; c < batch.clips.size(); ++c) {
    solvers.push_back(simulation::NameOfSolver(JobOptionsOf(batch, c, 1).configuration.task.world));
  }
  return {{"program", results::Version()},
          {"list", batch.list_sha256},
          {"configuration", ConfigurationOf(for_all).ToJson()},
          {"solvers", solvers}};
}

ProcessGroup::ProcessGroup(const Batch& batch, parallel::RankGroup& group, double timeout) : batch_(batch) {
  if (group.size() == 1) return;
  // The leader has prepared the run itself.
  const auto make = [this](uint64_t) { return MakeWorkerFactory(*job_)(); };
  farm_ = group.MakeFarm(parallel::MakeKeyedFactory(make), timeout);
}

void ProcessGroup::Reconstruct(size_t index, RunRow& row) {
  const Batch& batch = batch_;
  const PlannedRun& run = batch.runs.at(index);
  const results::RunTimer timer;
  io::StopRequest stop(batch.time_limit, batch.start);
  if (stop()) throw StoppedError(stop.reason());
  const JobOptions options = JobOptionsOf(batch, run.clip, run.seed);
  const Job job = WithBaseline(Job(options));
  const io::Json& identity = job.identity;
  job_ = &job;
  std::unique_ptr<parallel::TaskFarm> farm;
  if (farm_) {
    farm = std::make_unique<parallel::KeyedFarm>(*farm_, KeyOf(index, identity));
  } else {
    farm = parallel::MakeThreadFarm(1, MakeWorkerFactory(job));
  }
  results::RunFolder folder(run.folder, true, PathsOf(job.inputs));
  Checkpoint checkpoint(run.folder, identity, Checkpoint::Earlier::kResumeIfSame);
  ReconstructionHooks hooks;
  hooks.store = &checkpoint;
  hooks.stop = [&] {
    if (batch.report_alive) batch.report_alive();
    return stop();
  };
  const Reconstruction result = [&] {
    try {
      return runs::Reconstruct(job, *farm, hooks);
    } catch (const StoppedError& error) {
      checkpoint.Flush();
      throw StoppedError(stop.ReasonFor(error));
    }
  }();
  const control::Trajectory motion = control::Replay(job.character(), result.control());
  const metrics::MotionMetrics figures = metrics::MeasureMotion(
      job.character(), motion, job.reference(), job.problem.task.world.environment, job.problem.task.world.gravity);
  row.status = RunStatusOf(result);
  row.method = Name(result.method);
  if (result.end) row.end = Name(result.end->verdict);
  row.Take(result.evaluation, figures);
  row.levels = metrics::JudgeLevels(result.evaluation, figures, ClassOf(job.prepared->preparation.kind.kind),
                                    job.character().height);
  row.replayed = ReplaysFromFile(job, result, motion);
  if (!row.replayed) row.levels = {};  // a control that does not repeat itself is none
  TakeCosts(result, job.reference().duration(), timer, row);
  const io::Json workers = DescribeWorkers(farm_ != nullptr, *farm);
  const io::Json more = {{"program", batch.program},
                         {"metrics", figures.ToJson(job.character())},
                         {kBatchMember, {{"identity", identity}, {"row", row.ToJson()}}}};
  WriteRun(folder, job, result, {batch.command, workers, &timer}, batch.kept, more);
  checkpoint.Remove();
}

RunRow ProcessGroup::Run(size_t index) {
  const PlannedRun& run = batch_.runs.at(index);
  RunRow row = EmptyRow(batch_, run);
  try {
    Reconstruct(index, row);
    return row;
  } catch (const OutputError&) {
    throw;
  } catch (const ResourceError&) {
    throw;
  } catch (const StoppedError&) {
    throw;
  } catch (const Error& error) {
    row = EmptyRow(batch_, run);
    row.status = RunStatus::kFailedInput;
    row.message = error.what();
  } catch (const std::exception& error) {
    if (!ExhaustedResource(error).empty()) throw;  // the next run would have no more of it
    row = EmptyRow(batch_, run);
    row.status = RunStatus::kFailed;
    row.message = error.what();
  }
  return row;
}

parallel::WorkerFactory MakeMemberFactory(const Batch& batch) {
  return parallel::MakeKeyedFactory([&batch](uint64_t key) -> parallel::Worker {
    const size_t index = key & 0xffffffffU;
    const PlannedRun& run = batch.runs.at(index);
    const JobOptions options = JobOptionsOf(batch, run.clip, run.seed);
    const auto job = std::make_shared<Job>(WithBaseline(Job(options)));  // which the worker refers to
    if (KeyOf(index, job->identity) != key) {
      throw InputError("found other files, or is another version of this program, than the rank that leads the run");
    }
    const parallel::Worker worker = MakeWorkerFactory(*job)();
    return [job, worker](std::span<const std::byte> task, parallel::Bytes& result) { worker(task, result); };
  });
}

parallel::WorkerFactory MakeRunFactory(const TeamFactory& make_team) {
  return [make_team]() -> parallel::Worker {
    const std::shared_ptr<ProcessGroup> team = make_team();
    return [team](std::span<const std::byte> task, parallel::Bytes& result) {
      result = parallel::ToBytes(io::Dump(team->Run(std::stoul(parallel::ToText(task))).ToJson()));
    };
  };
}

namespace {

/// Looks for runs that are finished and fills in their rows. Returns the indices of the runs that are left to do.
std::vector<size_t> FindOpenRuns(const Batch& batch, bool force, std::vector<std::optional<RunRow>>& rows) {
  std::map<size_t, io::Json> identities;  // of clips, with seed 1
  std::vector<size_t> open;
  for (size_t r = 0; r < batch.runs.size(); ++r) {
    const PlannedRun& run = batch.runs[r];
    const std::vector<InputName> files = ClipInputs(batch.clips[run.clip].clip);
    const auto missing =
        std::find_if(files.begin(), files.end(), [](const InputName& file) { return !fs::exists(file.path); });
    if (missing != files.end()) {
      if (!run.selected) continue;
      rows[r] = EmptyRow(batch, run);
      rows[r]->message = missing->path.string().append(" is missing");
      continue;
    }
    if (!identities.contains(run.clip)) {
      try {
        identities[run.clip] = Identity(JobOptionsOf(batch, run.clip, 1));
      } catch (const InputError&) {  // the run will report why
        identities[run.clip] = nullptr;
      }
    }
    io::Json identity = identities[run.clip];
    if (!identity.is_null()) {
      for (const char* section : {"search", "tracking", "trajectory"})
        identity["configuration"][section]["seed"] = run.seed;
    }
    std::string difference;
    rows[r] = FinishedRow(run, identity, difference);
    if (rows[r]) {
      rows[r]->group = batch.clips[run.clip].group;
    } else if (run.selected) {
      if (!difference.empty() && !force) {
        throw WithHint<UsageError>({Remedy::kOverwrite, Remedy::kOtherOutput},
                                   run.folder.string().append(": found another run: ").append(difference));
      }
      open.push_back(r);
    }
  }
  return open;
}

/// Groups of ranks, each of which works on one run at a time.
int NumGroups(const Batch& batch, const BatchWorkers& workers, int ranks) {
  const auto runs = static_cast<size_t>(
      std::count_if(batch.runs.begin(), batch.runs.end(), [](const PlannedRun& run) { return run.selected; }));
  if (workers.ranks_per_run > 0) return std::max(1, ranks / workers.ranks_per_run);
  JobOptions for_all = batch.job;
  TakeNumbers(batch, for_all.configuration);
  return std::max(1, ranks / parallel::ChooseRanksPerRun(ranks, runs, for_all.configuration.sampling.samples));
}

}  // namespace

std::vector<RunRow> RunBatch(const Batch& batch, parallel::TaskFarm& farm, bool force, const RowCallback& on_row) {
  std::vector<std::optional<RunRow>> rows(batch.runs.size());
  std::vector<size_t> open = FindOpenRuns(batch, force, rows);
  // An overview of all clips comes early, and clips that take long do not all come last.
  std::stable_sort(open.begin(), open.end(),
                   [&](size_t a, size_t b) { return batch.runs[a].seed < batch.runs[b].seed; });
  std::vector<parallel::Bytes> tasks;
  for (const size_t r : open) tasks.push_back(parallel::ToBytes(std::to_string(r)));
  const auto finished_rows = [&] {
    std::vector<RunRow> finished;
    for (const auto& row : rows) {
      if (row) finished.push_back(*row);
    }
    return finished;
  };
  size_t left = open.size();
  farm.Run(tasks, [&](size_t task, std::span<const std::byte> result) {
    const io::Json json = io::ParseJson(parallel::ToText(result), "row of a run");
    const size_t r = open[task];
    rows[r] = results::ReadRunRow(io::JsonView(json, "row of a run"));
    on_row(*rows[r], finished_rows(), --left);
  });
  return finished_rows();
}

bool WithRunFarm(Batch& batch, const BatchWorkers& workers, parallel::MpiSession& mpi,
                 const std::function<void(parallel::TaskFarm&)>& work) {
  const parallel::RankGroups groups = mpi.Split(NumGroups(batch, workers, mpi.size()));
  if (!groups.leaders) {
    groups.own->Serve(MakeMemberFactory(batch));
    return false;
  }
  if (mpi.active()) batch.report_alive = [&] { groups.leaders->ReportAlive(); };
  // ProcessGroup and farm first: whatever goes wrong from here on, their destructors release the other ranks.
  const bool grouped = groups.own->size() > 1;
  const auto own_team = grouped ? std::make_shared<ProcessGroup>(batch, *groups.own, workers.timeout) : nullptr;
  const parallel::WorkerFactory factory =
      MakeRunFactory([&] { return own_team ? own_team : std::make_shared<ProcessGroup>(batch); });
  if (mpi.rank() != 0) {
    groups.leaders->Serve(factory);
    return false;
  }
  const auto farm = mpi.active() ? groups.leaders->MakeFarm(factory, workers.timeout)
                                 : parallel::MakeThreadFarm(workers.threads, factory);
  work(*farm);
  return true;
}

}  // namespace retrace::runs
