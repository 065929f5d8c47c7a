#include "retrace/jobs/run_pipeline.h"

#include <nlohmann/json.hpp>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/jobs/report_page.h"
#include "retrace/methods/sampling/seeds.h"
#include "retrace/runs/stored/checkpoint.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;

/// The folder of a run that goes on or begins. A checkpoint goes before everything else in it; without one, a folder
/// whose run has finished is left as it is, and nothing is returned.
std::optional<results::RunFolder> OpenFolder(const RunOptions& o, const std::vector<fs::path>& inputs) {
  const bool resumes = o.resume && Checkpoint::Exists(o.output);
  if (o.resume && !resumes) {
    for (const std::string_view name : {results::kManifestFile, kVariationsFile}) {
      if (fs::exists(o.output / name)) return std::nullopt;
    }
  }
  if (!o.force && !resumes && Checkpoint::Exists(o.output)) {
    throw WithHint<UsageError>({Remedy::kResume, Remedy::kOverwrite},
                               o.output.string() + ": found the checkpoint of a run that was stopped");
  }
  return std::optional<results::RunFolder>(std::in_place, o.output, o.force || resumes, inputs);
}

/// What came of the run that finished in the folder. Throws UsageError when it is another one.
RunOutcome OutcomeOfFinished(const fs::path& output, const std::string& identity_sha256) {
  const fs::path manifest = output / results::kManifestFile;
  const io::Json earlier = io::ReadJson(fs::exists(manifest) ? manifest : output / kVariationsFile);
  const io::JsonView view(earlier, output.string());
  if (!view.Has("identity_sha256") || view["identity_sha256"].String() != identity_sha256) {
    throw WithHint<UsageError>(
        {Remedy::kOverwrite},
        output.string() + ": found the results of another run, with another clip, character, configuration or version");
  }
  RunOutcome outcome;
  outcome.finished_before = true;
  outcome.success = view["success"].Boolean();
  if (outcome.success && view.Has("evaluation") && view["evaluation"].Has("doubts")) {
    for (const io::Json& doubt : view["evaluation"]["doubts"].json()) outcome.doubts.push_back(doubt);
  }
  return outcome;
}

void CheckMethod(Method method, const RunOptions& o) {
  const bool samples = method == Method::kAuto || method == Method::kSampling;
  if (o.variations.count > 0 && !samples) {
    throw UsageError("found the method " + Name(method) + " for several controls, expected sampling: " + Name(method) +
                     " finds one");
  }
  if (o.forces.controls > 0 && !samples && method != Method::kTracking) {
    throw UsageError("found the method " + Name(method) +
                     " for the forces of a recording, expected auto, tracking or sampling");
  }
  if (o.samples && !samples) {
    throw UsageError("found the method " + Name(method) + " for the costs of samples, expected auto or sampling");
  }
}

/// Writes the page of a run, or of all variations. Returns its path.
fs::path WriteReport(const fs::path& folder) {
  if (fs::exists(folder / kVariationsFile) && !fs::exists(folder / "1")) {
    return {};  // no variation was found: there is nothing to show
  }
  fs::path file = folder / results::kReportFile;
  WriteReportPage(GatherReport({folder.string()}).document, file);
  return file;
}

}  // namespace

void CheckOptions(const RunOptions& o) {
  if (o.variations.count > 0 && o.forces.controls > 0) {
    throw UsageError("found variations and forces of a recording, expected one or the other");
  }
  if (o.variations.count > 0 && o.variations.max_tries > 0 && o.variations.max_tries < o.variations.count) {
    throw UsageError("found at most " + std::to_string(o.variations.max_tries) +
                     " tries, expected at least as many as variations, " + std::to_string(o.variations.count));
  }
}

parallel::WorkerFactory MakeWorkersOf(const Job& job, const RunOptions& o) {
  return o.variations.count > 0 || o.forces.controls > 0 ? sampling::MakeSeededWorkerFactory(job.problem)
                                                         : MakeWorkerFactory(job);
}

RunOutcome Run(Job& job, parallel::TaskFarm& farm, const RunOptions& o, const RunSetting& setting) {
  CheckOptions(o);
  CheckMethod(job.configuration.run.method, o);
  const bool many = o.variations.count > 0;
  const bool forces = o.forces.controls > 0;
  const KeptFiles kept = o.samples ? KeptFiles::kAllAndSamples : KeptFiles::kAll;
  const RunObserver& observer = setting.observer;
  io::Json identity = job.identity;
  if (many) identity["variations"] = {{"count", o.variations.count}, {"max_tries", o.variations.max_tries}};
  if (forces) identity["forces"] = {{"controls", o.forces.controls}, {"perturbation", o.forces.perturbation}};
  const io::Json more = {{"identity_sha256", io::Sha256(io::Dump(identity))}};
  RunOutcome outcome;
  std::optional<results::RunFolder> folder = OpenFolder(o, PathsOf(job.inputs));
  if (!folder) {
    outcome = OutcomeOfFinished(o.output, more["identity_sha256"].get<std::string>());
    if (o.report) outcome.report = WriteReport(o.output);
    return outcome;
  }
  using Earlier = Checkpoint::Earlier;
  Checkpoint checkpoint(o.output, identity, o.resume ? Earlier::kResume : Earlier::kReplace,
                        many || forces ? Checkpoint::Kept::kAll : Checkpoint::Kept::kBounded);
  ReconstructionHooks hooks;
  hooks.on_iteration = observer.on_iteration;
  hooks.on_window_iteration = observer.on_window_iteration;
  hooks.store = &checkpoint;
  if (setting.stop != nullptr) hooks.stop = [&] { return (*setting.stop)(); };
  if (observer.on_begin) observer.on_begin();
  try {
    if (many) {
      outcome.variations = FindVariations(job, farm, o.variations,
                                          {&*folder, o.force || checkpoint.Resumes(), setting.context, hooks, more,
                                           observer.on_search_end, observer.report, kept});
      outcome.success = outcome.variations->success();
    } else if (forces) {
      outcome.forces = FindForces(job, farm, o.forces, {hooks, observer.on_search_end, observer.report});
      WriteForces(*folder, job, *outcome.forces, setting.context, more);
      outcome.success = outcome.forces->success();
    } else {
      outcome.reconstruction = Reconstruct(job, farm, hooks);
      if (observer.on_search_end) observer.on_search_end();
      WriteRun(*folder, job, *outcome.reconstruction, setting.context, kept, more);
      outcome.success = outcome.reconstruction->success();
      if (outcome.success) outcome.doubts = DoubtsOf(job, outcome.reconstruction->evaluation);
    }
  } catch (const StoppedError& error) {
    checkpoint.Flush();
    const std::string reason = setting.stop != nullptr ? setting.stop->ReasonFor(error) : error.what();
    throw WithHint<StoppedError>({Remedy::kResume}, reason + ": stopped with a checkpoint in " + o.output.string());
  }
  checkpoint.Remove();
  if (o.report) outcome.report = WriteReport(o.output);
  return outcome;
}

}  // namespace retrace::runs
