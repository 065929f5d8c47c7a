#include "retrace/runs/reconstruction.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "replayed_control.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/runs/ranks.h"
#include "retrace/runs/run_files.h"

namespace retrace::runs {
Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks) {
  Reconstruction result;
  result.search = sampling::Run(job.problem, farm, hooks);
  const control::OpenLoopControl& control = result.search.control;
  const ReplayedControl replayed = EvaluateReplay(job, control, {});
  result.num_steps = replayed.num_steps;
  result.diverged = replayed.diverged;
  result.evaluation = replayed.evaluation;
  if (!control.fragments.empty() && control::Fingerprint(replayed.end) != control::Fingerprint(result.search.end)) {
    const char* const difference = "the replay does not end in the state that the search found";
    const std::vector<sampling::IterationRecord>& iterations = result.search.iterations;
    if (std::any_of(iterations.begin(), iterations.end(), [](const auto& record) { return record.restored; })) {
      throw InputError("checkpoint", difference, "what this search has stored");
    }
    throw std::logic_error(difference);
  }
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
    MotionWriter writer(folder, "", {job.character, search.control.world, &job.reference, title, result.num_steps});
    ReplayInParts(job, search.control, {}, [&](const control::Trajectory& part) { writer.Add(part); });
    writer.Finish();
    folder.Write(results::kCostsFile, results::FormatCosts(CostsOf(search)));
  }
  io::Json all = io::Json::object();
  if (kept == KeptFiles::kControl) {
    // What `replay --verify` compares with where the tables themselves are not kept.
    std::map<std::string, io::Sha256Sum> sums;
    ReplayInParts(job, search.control, {}, [&](const control::Trajectory& part) {
      for (const NamedTable& table : StateTables(job.character, part)) sums[table.name].Add(table.text);
    });
    for (auto& [name, sum] : sums) all["tables_sha256"][name] = sum.Finish();
  }
  all.update(more);
  FinishWith(folder, ReconstructionManifest(job, result, context, all));
}

void WriteRun(const std::filesystem::path& folder, const Job& job, const Reconstruction& result) {
  results::RunFolder run(folder, false);
  WriteRun(run, job, result, RunContext{});
}

}  // namespace retrace::runs
