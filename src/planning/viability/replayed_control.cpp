#include "retrace/planning/viability/replayed_control.h"

#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {

void ReplayInParts(const task::PreparedClip& clip, const control::OpenLoopControl& control,
                   std::span<const control::Push> pushes,
                   const std::function<void(const control::Trajectory& part)>& observe) {
  control::ReplayInParts(control::MakeScene(clip.character, control), pushes, StepsPerPart(control.world.time_step),
                         observe);
}

ReplayedControl EvaluateReplay(const task::PreparedClip& clip, const control::OpenLoopControl& control,
                               std::span<const control::Push> pushes, bool best_effort) {
  ReplayedControl replayed;
  metrics::Evaluator evaluator(clip.character, clip.reference(), clip.options.gates);
  const std::optional<character::ReferenceMotion> unrepaired = clip.Unrepaired();
  std::optional<metrics::Evaluator> against;
  std::optional<metrics::StayObserver> stay;
  if (best_effort) stay.emplace(clip.character, clip.reference(), clip.options.gates);
  if (unrepaired) against.emplace(clip.character, *unrepaired, clip.options.gates);
  ReplayInParts(clip, control, pushes, [&](const control::Trajectory& part) {
    evaluator.Add(part);
    if (against) against->Add(part);
    if (stay) stay->Add(part);
    replayed.num_steps += part.num_steps();
    replayed.diverged = part.diverged;
    replayed.end = part.states.back();
  });
  const double duration = clip.preparation.task.duration();
  replayed.evaluation = evaluator.Finish(duration);
  if (stay) replayed.stay = stay->Finish(duration);
  if (against) replayed.against_recording = against->Finish(duration);
  return replayed;
}

}  // namespace retrace::runs
