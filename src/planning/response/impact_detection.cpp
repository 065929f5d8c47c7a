#include "retrace/planning/response/impact_detection.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "retrace/character/approach.h"
#include "retrace/control/feedback.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/planning/response/contact_episodes.h"

namespace retrace::runs {
namespace {

constexpr size_t kStatesApart = 8;  // between which a closest approach is looked for

}  // namespace

/// The first impact of another character. Where the two do not part, one does not wait for that.
Impact FindImpact(const ResponseProblem& problem, double after) {
  const StoredRun& run = problem.run;
  const control::Scene& scene = run.scene;
  const simulation::Layout layout = scene.layout();
  const control::Trajectory whole = control::Replay(scene, problem.pushes);
  if (const std::optional<ContactEpisode> found = FirstImpact(whole, layout, ResponseProblem::kReceiver, after)) {
    return {found->start, std::min(found->duration(), problem.settings.earliest), Describe(scene, *found),
            found->impulse.norm()};
  }
  character::BodyPair nearest{std::numeric_limits<double>::infinity(), -1, -1};
  double when = 0;
  size_t who = 0;
  for (size_t s = 0; s < whole.states.size(); s += kStatesApart) {
    if (whole.TimeOf(s) < after) continue;
    const character::State own = layout.StateOf(whole.states[s], ResponseProblem::kReceiver);
    for (size_t c = 0; c < scene.characters.size(); ++c) {
      if (c == ResponseProblem::kReceiver) continue;
      const character::BodyPair pair =
          character::NearestBodies(problem.character(), own, scene.characters[c], layout.StateOf(whole.states[s], c));
      if (pair.distance >= nearest.distance) continue;
      nearest = pair;
      when = whole.TimeOf(s);
      who = c;
    }
  }
  std::string found = "a blow that never touches";
  if (nearest.first >= 0) {
    found.append(": ")
        .append(control::BodyName(scene, layout.BodyOf(who, nearest.second)))
        .append(" comes no nearer than ");
    found.append(io::Fixed(nearest.distance, 3)).append(" m to ");
    found.append(control::BodyName(scene, layout.BodyOf(ResponseProblem::kReceiver, nearest.first)));
    found.append(", at ").append(io::Fixed(when, 2)).append(" s");
  }
  throw InputError(run.controls[0].file.string(), found, "another character that strikes");
}

/// The first touch of a free body, until the two part for a while.
Impact FindImpactOfObject(const ResponseProblem& problem, const std::string& worlds) {
  const StoredRun& run = problem.run;
  const character::Character& character = problem.character();
  const simulation::Environment& environment = run.scene.world.environment;
  if (environment.bodies.empty()) throw InputError(worlds, "no body that moves freely", "one that strikes");
  const control::Trajectory own = control::Replay(character, problem.control, problem.pushes);
  if (const std::optional<ContactEpisode> found = FirstImpactOfObject(own, environment.ObjectOfFreeBody(0))) {
    const std::string& thing = own.objects[static_cast<size_t>(found->object)];
    return {found->start, found->duration(), thing + ", which meets " + control::BodyName(run.scene, found->body),
            found->impulse.norm()};
  }
  double least = std::numeric_limits<double>::infinity(), when = 0;
  std::string what;
  const size_t num_bodies = character.bodies.size();
  for (size_t s = 0; s < own.states.size(); ++s) {
    for (size_t f = num_bodies; f < own.states[s].size(); ++f) {
      for (size_t b = 0; b < num_bodies; ++b) {
        const double distance = (own.states[s][f].position - own.states[s][b].position).norm();
        if (distance >= least) continue;
        least = distance;
        when = own.TimeOf(s);
        what = "that of " + environment.bodies[f - num_bodies].name + " comes no nearer than " + io::Fixed(least, 2) +
               " m to that of " + character.bodies[b].name;
      }
    }
  }
  throw InputError(worlds,
                   "nothing that touches the character (of the centers, " + what + ", at " + io::Fixed(when, 2) + " s)",
                   "a body that strikes it");
}

}  // namespace retrace::runs
