#include "replayed_control.h"

#include <map>

#include "retrace/control/control_file.h"
#include "retrace/io/file.h"

namespace retrace::runs {

void ReplayInParts(const Job& job, const control::OpenLoopControl& control, std::span<const control::Push> pushes,
                   const std::function<void(const control::Trajectory& part)>& observe) {
  control::ReplayInParts(control::MakeScene(job.character, control), pushes, StepsPerPart(control.world.time_step),
                         observe);
}

ReplayedControl EvaluateReplay(const Job& job, const control::OpenLoopControl& control,
                               std::span<const control::Push> pushes) {
  ReplayedControl replayed;
  metrics::Evaluator evaluator(job.character, job.reference, job.configuration.task.gates);
  const std::optional<character::ReferenceMotion> unrepaired = job.Unrepaired();
  std::optional<metrics::Evaluator> against;
  std::optional<metrics::StayObserver> stay;
  if (job.configuration.sampling.best_effort) stay.emplace(job.character, job.reference, job.configuration.task.gates);
  if (unrepaired) against.emplace(job.character, *unrepaired, job.configuration.task.gates);
  ReplayInParts(job, control, pushes, [&](const control::Trajectory& part) {
    evaluator.Add(part);
    if (against) against->Add(part);
    if (stay) stay->Add(part);
    replayed.num_steps += part.num_steps();
    replayed.diverged = part.diverged;
    replayed.end = part.states.back();
  });
  const double duration = job.problem.task.schedule.steps.back() * job.problem.time_step();
  replayed.evaluation = evaluator.Finish(duration);
  if (stay) replayed.stay = stay->Finish(duration);
  if (against) replayed.against_recording = against->Finish(duration);
  return replayed;
}

io::Json WriteControlAndMotion(results::RunFolder& folder, const Job& job, const WrittenControl& written,
                               KeptFiles kept) {
  const control::OpenLoopControl& control = written.control;
  control::WriteControl(job.character, control,
                        [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  io::Json members = io::Json::object();
  if (kept != KeptFiles::kControl) {
    const std::string title = job.options.clip.file.stem().string();
    const std::optional<character::ReferenceMotion> unrepaired = job.Unrepaired();
    if (unrepaired) {
      folder.Write(results::kRepairFile, repair::FormatRepair(*job.repaired, job.recorded.frame_time()));
    }
    MotionWriter writer(
        folder, "",
        {job.character, control.world, &job.reference, title, written.num_steps, unrepaired ? &*unrepaired : nullptr});
    ReplayInParts(job, control, written.pushes, [&](const control::Trajectory& part) { writer.Add(part); });
    writer.Finish();
  } else {
    std::map<std::string, io::Sha256Sum> sums;
    ReplayInParts(job, control, written.pushes, [&](const control::Trajectory& part) {
      for (const NamedTable& table : StateTables(job.character, part)) sums[table.name].Add(table.text);
    });
    for (auto& [name, sum] : sums) members["tables_sha256"][name] = sum.Finish();
  }
  return members;
}

}  // namespace retrace::runs
