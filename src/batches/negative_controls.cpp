#include "retrace/batches/negative_controls.h"

#include <algorithm>

#include "retrace/control/control_file.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/sampling/rollout.h"

namespace retrace::runs {
namespace {

constexpr double kIce = 0.05;      // friction coefficient
constexpr double kWeakness = 0.1;  // of servo gains, and of the torques that a tracked control gives

metrics::Evaluation Judge(const Job& job, const control::Trajectory& trajectory,
                          const character::ReferenceMotion& reference) {
  const sampling::Problem& problem = job.problem;
  const double expected = problem.task.schedule.steps.back() * problem.time_step();
  return metrics::Evaluate(job.character(), trajectory, reference, expected, job.configuration.task.gates);
}

/// The servos driven at the reference itself.
control::OpenLoopControl NaiveTracking(sampling::Problem problem) {
  problem.baseline = nullptr;
  control::OpenLoopControl control{problem.task.world, problem.task.start, {}};
  const sampling::Offsets none = sampling::NoOffsets(problem);
  for (int i = 0; i < problem.task.schedule.num_iterations(); ++i) {
    control.fragments.push_back(sampling::MakeFragment(problem, i, none));
  }
  return control;
}

character::Character Weak(character::Character character) {
  for (character::Joint& joint : character.joints) {
    joint.kp *= kWeakness;
    joint.kd *= kWeakness;
  }
  return character;
}

control::OpenLoopControl WithWeakTorques(control::OpenLoopControl control) {
  for (control::Fragment& fragment : control.fragments) {
    for (std::vector<simulation::JointCommand>& step : fragment.commands) {
      for (simulation::JointCommand& command : step) command.torque *= kWeakness;
    }
  }
  return control;
}

character::ReferenceMotion UpsideDown(const character::ReferenceMotion& reference, double velocity_interval) {
  std::vector<character::Pose> poses = reference.poses();
  for (character::Pose& pose : poses) pose.root_orientation = pose.root_orientation * AxisRotation(2, kPi);
  return {reference.character(), reference.frame_time(), std::move(poses), velocity_interval};
}

void TestClip(const Batch& batch, const PlannedRun& run, bool succeeded, std::vector<NegativeControl>& controls) {
  const std::string& name = batch.clips[run.clip].name;
  const auto add = [&](const char* control, const metrics::Evaluation& evaluation) {
    controls.push_back({name, control, true, evaluation.success(), evaluation, ""});
  };
  const Job job(JobOptionsOf(batch, run.clip, run.seed));
  add("naive_tracking", Judge(job, control::Replay(job.character(), NaiveTracking(job.problem)), job.reference()));
  if (!succeeded) {
    for (const char* control : {"friction_0.05", "gains_0.1", "reference_upside_down"}) {
      controls.push_back({name, control, false, false, {}, "no successful control of this seed"});
    }
    return;
  }
  const control::LoadedControl loaded = control::LoadControl(run.folder / results::kControlFile);
  control::OpenLoopControl slippery = loaded.control;
  slippery.world.friction = kIce;
  add("friction_0.05", Judge(job, control::Replay(job.character(), slippery), job.reference()));
  add("gains_0.1",
      Judge(job, control::Replay(Weak(job.character()), WithWeakTorques(loaded.control)), job.reference()));
  const control::Trajectory trajectory = control::Replay(job.character(), loaded.control);
  add("reference_upside_down",
      Judge(job, trajectory, UpsideDown(job.reference(), job.configuration.task.reference.velocity_interval)));
}

}  // namespace

std::vector<NegativeControl> TestNegativeControls(const Batch& batch, const std::vector<results::RunRow>& rows) {
  std::vector<NegativeControl> controls;
  for (const PlannedRun& run : batch.runs) {
    if (run.seed != 1 || !run.selected) continue;
    const std::string& name = batch.clips[run.clip].name;
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const results::RunRow& r) { return r.clip == name && r.seed == run.seed; });
    if (row == rows.end() || !row->ran()) continue;
    TestClip(batch, run, row->levels.main, controls);
  }
  return controls;
}

std::string FormatNegativeControls(const std::vector<NegativeControl>& controls) {
  io::CsvWriter csv;
  for (const char* column : {"clip", "control", "accepted", "violated", "violated_at_s", "message"}) csv.Text(column);
  csv.EndRow();
  for (const NegativeControl& control : controls) {
    results::RunRow row;
    row.Take(control.evaluation, {});
    const bool fell = control.tested && !control.accepted && row.violated.empty();
    csv.Text(control.clip);
    csv.Text(control.control);
    csv.Text(!control.tested ? "" : control.accepted ? "1" : "0");
    csv.Text(fell ? "completion" : row.violated);
    csv.Text(row.violated.empty() ? "" : io::Number(row.violated_at));
    csv.Text(control.message);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace retrace::runs
