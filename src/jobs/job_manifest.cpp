#include "retrace/jobs/job_manifest.h"

#include <nlohmann/json.hpp>

#include "retrace/simulation/solver_in_use.h"

namespace retrace::runs {
namespace {

io::Json ClipMember(const Job& job) {
  const ClipOptions& clip = job.options.clip;
  io::Json member = {{"file", clip.file.string()},
                     {"start", clip.start},
                     {"end", clip.end.value_or(-1)},
                     {"time_scale", clip.time_scale},
                     {"options", job.configuration.task.reference.ToJson()},
                     {"duration", job.reference().duration()}};
  AddChoice(clip.choice, member);
  return member;
}

}  // namespace

void AddJob(const Job& job, uint64_t seed, const RunContext& context, io::Json& manifest) {
  manifest["command"] = context.command;
  manifest["clip"] = ClipMember(job);
  manifest["configuration"] = job.configuration.ToJson();
  manifest["seed"] = seed;
  manifest["inputs"] = ToJson(job.inputs);
  manifest["reference"] = job.prepared->report.ToJson();
  manifest["clip_checks"] = job.prepared->checks.ToJson();
  if (job.prepared->repaired) manifest["repair"] = job.prepared->repaired->ToJson();
  if (!job.prepared->world.empty()) manifest["world"] = job.prepared->placed.ToJson(job.prepared->world);
  manifest["preparation"] = job.prepared->preparation.ToJson();
  manifest["solver"] = simulation::DescribeSolver(job.configuration.task.world);
}

}  // namespace retrace::runs
