#include "retrace/jobs/stabilize.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "retrace/control/pushes.h"
#include "retrace/io/assignment.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr const char* kOfOne = "feedback is of one";

}  // namespace

void Set(const std::string& assignment, stabilization::Options& options) {
  io::TakeAssignment(assignment, options);
}

StabilizationJob::StabilizationJob(const fs::path& folder, const stabilization::Options& options) : run(folder) {
  run.RequireOneCharacter(kOfOne);
  run.RequirePhysical("feedback is along forces");
  control = control::ControlOf(run.scene, 0);
  if (control.fragments.empty()) {
    throw InputError(run.controls[0].file.string(), "a control without any step", "one that can be replayed");
  }
  control.pushes.clear();
  problem = stabilization::MakeProblem(run.scene.characters[0], control, run.AllPushes(), options);
  if (problem.nominal.diverged) {
    throw InputError(run.controls[0].file.string(), "a control whose motion diverges", "one that can be replayed");
  }
}

io::Json StabilizationJob::Identity() const {
  return {{"version", results::Version()},
          {"control", run.controls[0].sha256},
          {"pushes", control::PushesToJson(run.scene, run.AllPushes())},
          {"options", io::Write(problem.options)},
          {"solver", run.solver}};
}

stabilization::Summary Stabilize(const StabilizationJob& job, parallel::TaskFarm& farm,
                                 const stabilization::Hooks& hooks) {
  stabilization::Summary summary = stabilization::Run(job.problem, farm, hooks);
  if (summary.status != stabilization::Status::kDone) return summary;
  summary.feedback.control_sha256 = job.run.controls[0].sha256;
  summary.feedback.character_sha256 = control::CharacterSha256(job.run.scene.characters[0]);
  control::FeedbackController controller(*job.problem.character, job.control.fragments, job.problem.disturbed(),
                                         summary.feedback);
  control::Controller* const controllers[] = {&controller};
  simulation::World world(*job.problem.character, job.control.world);
  const stabilization::Nominal& nominal = job.problem.nominal;
  world.SetState(job.control.start, nominal.first_step);
  control::SimulationScratch scratch;
  const bool sane = control::Simulate(world, controllers, nominal.first_step, nominal.num_steps, job.problem.pushes,
                                      scratch, [](int) {});
  world.GetState(scratch.state);
  if (!sane || control::Fingerprint(scratch.state) != control::Fingerprint(nominal.states.back())) {
    throw std::logic_error("feedback changes the motion that it is not to change");
  }
  return summary;
}

void CheckFeedbackOutput(const StoredRun& run, bool force) {
  const fs::path file = FeedbackFile(run);
  io::CheckOutput(file);
  if (!force && fs::exists(file)) {
    throw WithHint<UsageError>({Remedy::kOverwrite},
                               file.string() + ": found feedback that is there already, expected none");
  }
}

void WriteFeedback(const StabilizationJob& job, const stabilization::Summary& summary, bool force) {
  CheckFeedbackOutput(job.run, force);
  io::WriteFile(FeedbackFile(job.run), control::FormatFeedback(summary.feedback));
}

}  // namespace retrace::runs
