#include "retrace/jobs/response_job.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "retrace/control/feedback.h"
#include "retrace/control/push_text.h"
#include "retrace/io/error.h"
#include "retrace/io/field_error.h"
#include "retrace/io/number.h"
#include "retrace/planning/response/impact_detection.h"
#include "retrace/runs/inputs/world_input.h"
#include "retrace/runs/stored/stored_scene.h"

namespace retrace::runs {
namespace {

constexpr size_t kReceiver = ResponseProblem::kReceiver;
constexpr double kLongestImpact = 2;  // [s]
constexpr double kAfterImpact = 0.5;  // for which instants of entry are looked at after an impact, at least [s]

/// Swaps the character of that index with the first one.
void PutFirst(size_t index, StoredRun& run) {
  if (index == 0) return;
  std::vector<size_t> order(run.characters.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::swap(order[0], order[index]);
  control::Scene scene;
  for (const size_t c : order) {
    const control::OpenLoopControl own = control::ControlOf(run.scene, c);
    if (scene.characters.empty()) {
      scene = control::MakeScene(run.scene.characters[c], own);
    } else {
      control::AddToScene(run.scene.characters[c], own, Quat::Identity(), Vec3::Zero(), scene);
    }
  }
  run.scene = std::move(scene);
  std::swap(run.characters[0], run.characters[index]);
  for (size_t c = 0; c < run.characters.size(); ++c) {
    auto& reference = run.characters[c].reference;
    if (reference) reference = reference->Of(run.scene.characters[c]);
  }
}

/// What it needs in both kinds of calls.
std::string WhyUnused(const std::string& setting, bool kinematic) {
  const auto in = [&](const char* section) { return setting.starts_with(section); };
  if (in("/run/")) return "a response is found by feedback, then by a search";
  if (in("/trajectory/")) return "no response is found by trajectory optimization";
  if (setting == "/tracking/perturbation" || setting == "/tracking/candidates" || setting == "/tracking/seed") {
    return "feedback begins where the impact left the body, without perturbations";
  }
  if (kinematic && (in("/search/") || in("/restart/") || in("/refinement/") || in("/cost/") || in("/schedule/"))) {
    return "nothing is searched for a kinematic transition";
  }
  return "";
}

}  // namespace

std::string WhyWithoutEffect(const std::string& setting, bool kinematic) {
  if (setting.starts_with("/simulation/") || setting.starts_with("/contacts/")) return "the world is that of the run";
  if (setting.starts_with("/reference/") && setting != "/reference/velocity_interval") {
    return "the reference is that of the run";
  }
  return WhyUnused(setting, kinematic);
}

std::string WhyWithoutEffectOnFilm(const std::string& setting, bool kinematic) {
  return WhyUnused(setting, kinematic);
}

ResponseJob::ResponseJob(const ResponseOptions& o)
    : options(o), problem{o, StoredRun(o.run), StoredMotionLibrary(o.library, o.mirrored)} {
  StoredRun& run = problem.run;
  const StoredMotionLibrary& library = problem.library;
  Impact& impact = problem.impact;
  if (o.struck >= run.characters.size()) {
    throw FieldError("struck", "found " + std::to_string(o.struck + 1) + ", expected one of the " +
                                   std::to_string(run.characters.size()) + " characters of " + o.run.string());
  }
  run.RequirePhysical("a response is simulated");
  const std::string file = run.controls[0].file.string();
  if (problem.has_others() && !run.AllPushes().empty()) {
    throw UsageError(o.run.string() + ": found several characters and pushes, expected an impact of one of them alone");
  }
  if (problem.has_others()) PutFirst(o.struck, run);
  if (!run.characters[kReceiver].reference) {
    throw InputError(file, "no reference beside it", "reference.bvh, as runs keep it");
  }
  if (run.scene.first_step() != 0) throw InputError(file, "a control that begins later", "one from step 0 on");
  if (control::CharacterSha256(problem.character()) != control::CharacterSha256(library.character())) {
    throw InputError(o.library.string(), "motions of the character " + library.character().name,
                     "motions of that of " + file + ", " + problem.character().name);
  }
  if (problem.has_others() && !(o.push.empty() && o.worlds.empty())) {
    throw UsageError(o.run.string() + ": found several characters and " + (o.push.empty() ? "a world" : "a push") +
                     ", expected an impact of one of them alone");
  }
  if (!problem.has_others() && o.push.empty() == o.worlds.empty()) {
    throw UsageError("what strikes is a push or a thing of a world: found " +
                     std::string(o.push.empty() ? "neither" : "both") + ", expected one");
  }
  if (!o.worlds.empty()) PutInto(ReadWorlds(o.worlds), run);
  simulation::Environment fixed = run.scene.world.environment;
  fixed.bodies.clear();
  if (!fixed.empty()) {
    throw InputError(o.worlds.empty() ? file : io::List(o.worlds), "another ground or fixed things",
                     "plain ground, with free bodies at most: recorded motions know of nothing else");
  }
  if (!problem.has_others() && o.after != 0) {
    throw FieldError("after", "found " + io::Fixed(o.after, 2) +
                                  " s for a single character, expected a scene in which another one strikes");
  }
  if (o.kinematic && o.open_loop) {
    throw UsageError("found a kinematic transition and an open loop, expected one of the two");
  }
  run.pushes = run.AllPushes();  // here they are given to whatever is simulated
  run.scene.pushes.clear();
  problem.control = control::ControlOf(run.scene, kReceiver);
  problem.pushes = run.pushes;
  if (problem.has_others()) {
    impact = FindImpact(problem, o.after);
  } else if (o.push.empty()) {
    impact = FindImpactOfObject(problem, io::List(o.worlds));
  } else {
    const control::Push push = control::ParsePush(o.push, run.scene);
    problem.pushes.push_back(push);
    impact = {push.start, push.duration, Describe(run.scene, push), push.force.norm() * push.duration};
  }
  for (const control::Push& earlier : run.AllPushes()) {
    if (earlier.end() > impact.start) {
      throw FieldError("push", "found the start " + io::Fixed(impact.start, 2) +
                                   " s, expected one after the run's own push " + Describe(run.scene, earlier));
    }
  }
  if (o.latest < std::max(o.earliest, o.delay)) {
    throw FieldError(
        "latest", "found " + io::Fixed(o.latest, 2) + " s, expected no less than the earliest instant and the delay");
  }
  if (impact.duration > kLongestImpact) {
    throw FieldError("push", "found an impact of " + io::Fixed(impact.duration, 2) + " s, expected one of at most " +
                                 io::Fixed(kLongestImpact, 0) + " s");
  }
  // Another motion is entered after an impact, however long that is.
  problem.settings.latest = impact.duration < o.latest ? o.latest : impact.duration + kAfterImpact;
}

}  // namespace retrace::runs
