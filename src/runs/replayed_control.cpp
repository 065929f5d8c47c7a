#include "replayed_control.h"

#include "retrace/runs/run_files.h"

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
  ReplayInParts(job, control, pushes, [&](const control::Trajectory& part) {
    evaluator.Add(part);
    replayed.num_steps += part.num_steps();
    replayed.diverged = part.diverged;
    replayed.end = part.states.back();
  });
  replayed.evaluation = evaluator.Finish(job.problem.task.schedule.steps.back() * job.problem.time_step());
  return replayed;
}

}  // namespace retrace::runs
