#include "retrace/jobs/reconstruction_files.h"

#include <nlohmann/json.hpp>

#include "retrace/control/control_file.h"
#include "retrace/jobs/control_files.h"
#include "retrace/jobs/reconstruction_manifest.h"

namespace retrace::runs {
namespace {

/// What was asked for, what found the control, and what else was tried.
io::Json MethodMember(const Job& job, const Reconstruction& result) {
  io::Json member = {{"asked", Name(job.configuration.run.method)}, {"used", Name(result.method)}};
  if (result.method != Method::kTracking && result.tracking) member["tracking"] = result.tracking->Ending();
  return member;
}

}  // namespace

void WriteRun(results::RunFolder& folder, const Job& job, const Reconstruction& result, const RunContext& context,
              KeptFiles kept, const io::Json& more) {
  if (kept != KeptFiles::kControl && result.end && result.end->verdict == ViableEnd::Verdict::kViable) {
    control::WriteControl(job.character(), result.end->control,
                          [&](std::string_view piece) { folder.Append(results::kContinuationFile, piece); });
    folder.FinishFiles();
  }
  if (result.method == Method::kTracking) {
    io::Json all = {{"program", "reconstruct"}, {"method", MethodMember(job, result)}};
    if (result.end) all["end"] = result.end->ToJson();
    if (result.against_recording) all["against_recording"] = result.against_recording->ToJson();
    all.update(more);
    return WriteTracking(folder, job, *result.tracking, context, kept, all);
  }
  io::Json all = WriteControlAndMotion(folder, job, {result.control(), {}, result.num_steps}, kept);
  if (kept != KeptFiles::kControl && result.method == Method::kTrajectory) {
    folder.Write(results::kWindowsFile, FormatWindows(result.optimization));
  } else if (kept != KeptFiles::kControl && result.method == Method::kSampling) {
    folder.Write(results::kCostsFile, results::FormatCosts(CostsOf(result.search)));
    if (kept == KeptFiles::kAllAndSamples) {
      folder.Write(results::kSamplesFile, results::FormatSamples(SamplesOf(result.search)));
    }
  }
  if (result.hybrid) all["hybrid"] = result.hybrid->ToJson();
  all["method"] = MethodMember(job, result);
  if (result.end) all["end"] = result.end->ToJson();
  if (result.stay) all["best_effort"] = result.stay->ToJson();
  if (result.against_recording) all["against_recording"] = result.against_recording->ToJson();
  all.update(more);
  FinishWith(folder, ReconstructionManifest(job, result, context, all));
}

void WriteRun(const std::filesystem::path& folder, const Job& job, const Reconstruction& result) {
  results::RunFolder run(folder, false);
  WriteRun(run, job, result, RunContext{});
}

}  // namespace retrace::runs
