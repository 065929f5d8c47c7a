#include "retrace/runs/reconstruction.h"

#include <stdexcept>

#include "retrace/control/control_file.h"
#include "retrace/io/file.h"
#include "retrace/runs/ranks.h"
#include "retrace/runs/run_files.h"

namespace retrace::runs {

Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks) {
  const sampling::Problem& problem = job.problem;
  Reconstruction result;
  result.search = sampling::Run(problem, farm, hooks);
  const control::OpenLoopControl& control = result.search.control;
  result.trajectory = control::Replay(job.character, control);
  if (!control.fragments.empty() &&
      control::Fingerprint(result.trajectory.states.back()) != control::Fingerprint(result.search.end)) {
    throw std::logic_error("the replay does not end in the state that the search found");
  }
  const double expected = problem.task.schedule.steps.back() * problem.time_step();
  result.evaluation =
      metrics::Evaluate(job.character, result.trajectory, job.reference, expected, job.configuration.task.gates);
  return result;
}

Reconstruction Reconstruct(const Job& job, int threads, const sampling::Hooks& hooks) {
  const auto farm = MakeThreadFarm(threads, sampling::MakeWorkerFactory(job.problem));
  return Reconstruct(job, *farm, hooks);
}

void WriteRun(results::RunFolder& folder, const Job& job, const Reconstruction& result, const RunContext& context,
              KeptFiles kept, const io::Json& more) {
  const sampling::Summary& search = result.search;
  folder.Write(results::kControlFile, control::FormatControl(job.character, search.control));
  if (kept == KeptFiles::kAll) {
    const std::string title = job.options.clip.file.stem().string();
    WriteMotion(folder, "", {job.character, search.control.world, result.trajectory, &job.reference, title});
    folder.Write(results::kCostsFile, results::FormatCosts(CostsOf(search)));
  }
  io::Json all = io::Json::object();
  if (kept == KeptFiles::kControl) {
    // What `replay --verify` compares with where the tables themselves are not kept.
    for (const NamedTable& table : StateTables(job.character, result.trajectory)) {
      all["tables_sha256"][table.name] = io::Sha256(table.text);
    }
  }
  all.update(more);
  FinishWith(folder, ReconstructionManifest(job, result, context, all));
}

void WriteRun(const std::filesystem::path& folder, const Job& job, const Reconstruction& result) {
  results::RunFolder run(folder, false);
  WriteRun(run, job, result, RunContext{});
}

}  // namespace retrace::runs
