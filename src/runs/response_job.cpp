/// What strikes, and whom: the inputs of a response.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "retrace/character/approach.h"
#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/response.h"
#include "retrace/runs/touching.h"
#include "retrace/runs/world_input.h"

namespace retrace::runs {
namespace {

constexpr size_t kStatesApart = 8;  // between which a closest approach is looked for

}  // namespace

ResponseJob::ResponseJob(const ResponseOptions& o) : options(o), run(o.run), library(o.library, o.mirrored) {
  if (o.struck >= run.characters.size()) {
    throw UsageError("--struck: found " + std::to_string(o.struck + 1) + ", expected one of the " +
                     std::to_string(run.characters.size()) + " characters of " + o.run.string());
  }
  run.RequirePhysical("a response is simulated");
  const std::string file = run.controls[0].file.string();
  if (has_others() && !run.AllPushes().empty()) {
    throw UsageError(o.run.string() + ": found several characters and pushes, expected a blow of one of them alone");
  }
  if (has_others()) PutFirst(o.struck);
  if (!run.characters[kStruck].reference) {
    throw InputError(file, "no reference beside it", "reference.bvh, as runs keep it");
  }
  if (run.scene.first_step() != 0) throw InputError(file, "a control that begins later", "one from step 0 on");
  if (control::CharacterSha256(character()) != control::CharacterSha256(library.character())) {
    throw InputError(o.library.string(), "motions of the character " + library.character().name,
                     "motions of that of " + file + ", " + character().name);
  }
  if (has_others() && !(o.push.empty() && o.worlds.empty())) {
    throw UsageError(o.run.string() + ": found several characters and " + (o.push.empty() ? "--world" : "--push") +
                     ", expected a blow of one of them alone");
  }
  if (!has_others() && o.push.empty() == o.worlds.empty()) {
    throw UsageError("what strikes is a push or a thing of a world: found " +
                     std::string(o.push.empty() ? "neither --push nor --world" : "--push and --world") +
                     ", expected one");
  }
  if (!o.worlds.empty()) run.PutInto(ReadWorlds(o.worlds));
  simulation::Environment fixed = run.scene.world.environment;
  fixed.bodies.clear();
  if (!fixed.empty()) {
    throw InputError(o.worlds.empty() ? file : io::List(o.worlds), "another ground or fixed things",
                     "plain ground, with free bodies at most: recorded motions know of nothing else");
  }
  if (o.kinematic && o.open_loop) {
    throw UsageError("found a kinematic transition and an open loop, expected one of the two");
  }
  if (o.kinematic && (has_others() || run.scene.layout().num_free_bodies() > 0)) {
    throw InputError(o.worlds.empty() ? file : io::List(o.worlds),
                     has_others() ? "several characters" : "bodies that move freely",
                     "none: after a kinematic transition nothing is simulated");
  }
  run.pushes = run.AllPushes();  // here they are given to whatever is simulated
  run.scene.pushes.clear();
  control = control::ControlOf(run.scene, kStruck);
  pushes = run.pushes;
  if (has_others()) {
    FindBlow();
  } else if (o.push.empty()) {
    FindTouch();
  } else {
    const control::Push push = ParsePush(o.push, run.scene);
    pushes.push_back(push);
    blow = {push.start, push.duration, Describe(run.scene, push), push.force.norm() * push.duration};
  }
  for (const control::Push& earlier : run.AllPushes()) {
    if (earlier.end() > blow.start) {
      throw UsageError("--push: found the start " + io::Fixed(blow.start, 2) +
                       " s, expected one after the run's own push " + Describe(run.scene, earlier));
    }
  }
  if (o.latest < std::max({o.earliest, o.delay, blow.duration})) {
    throw UsageError("--latest: found " + io::Fixed(o.latest, 2) +
                     " s, expected no less than --earliest, --delay and the duration of the blow");
  }
}

/// The character of that index changes places with the first one.
void ResponseJob::PutFirst(size_t index) {
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

/// The first blow of another character. Where the two do not part, one does not wait for that.
void ResponseJob::FindBlow() {
  const control::Scene& scene = run.scene;
  const simulation::Layout layout = scene.layout();
  const control::Trajectory whole = control::Replay(scene, pushes);
  if (const std::optional<Touching> found = FirstBlow(whole, layout, kStruck, options.after)) {
    blow = {found->start, std::min(found->duration(), options.earliest), Describe(scene, *found),
            found->impulse.norm()};
    return;
  }
  character::BodyPair nearest{std::numeric_limits<double>::infinity(), -1, -1};
  double when = 0;
  size_t who = 0;
  for (size_t s = 0; s < whole.states.size(); s += kStatesApart) {
    if (whole.TimeOf(s) < options.after) continue;
    const character::State own = layout.StateOf(whole.states[s], kStruck);
    for (size_t c = 0; c < scene.characters.size(); ++c) {
      if (c == kStruck) continue;
      const character::BodyPair pair =
          character::NearestBodies(character(), own, scene.characters[c], layout.StateOf(whole.states[s], c));
      if (pair.distance >= nearest.distance) continue;
      nearest = pair;
      when = whole.TimeOf(s);
      who = c;
    }
  }
  std::string found = "a blow that never touches";
  if (nearest.first >= 0) {
    found.append(": ").append(BodyName(scene, layout.BodyOf(who, nearest.second))).append(" comes no nearer than ");
    found.append(io::Fixed(nearest.distance, 3)).append(" m to ");
    found.append(BodyName(scene, layout.BodyOf(kStruck, nearest.first)));
    found.append(", at ").append(io::Fixed(when, 2)).append(" s");
  }
  throw InputError(run.controls[0].file.string(), found, "another character that strikes");
}

/// The first touch of a free body, until the two part for a while.
void ResponseJob::FindTouch() {
  const simulation::Environment& environment = run.scene.world.environment;
  const std::string worlds = io::List(options.worlds);
  if (environment.bodies.empty()) throw InputError(worlds, "no body that moves freely", "one that strikes");
  const control::Trajectory own = control::Replay(character(), control, pushes);
  if (const std::optional<Touching> found = FirstBlowOfThing(own, environment.ObjectOfFreeBody(0))) {
    const std::string& thing = own.objects[static_cast<size_t>(found->object)];
    blow = {found->start, found->duration(), thing + ", which meets " + BodyName(run.scene, found->body),
            found->impulse.norm()};
    return;
  }
  double least = std::numeric_limits<double>::infinity(), when = 0;
  std::string what;
  const size_t num_bodies = character().bodies.size();
  for (size_t s = 0; s < own.states.size(); ++s) {
    for (size_t f = num_bodies; f < own.states[s].size(); ++f) {
      for (size_t b = 0; b < num_bodies; ++b) {
        const double distance = (own.states[s][f].position - own.states[s][b].position).norm();
        if (distance >= least) continue;
        least = distance;
        when = own.TimeOf(s);
        what = "that of " + environment.bodies[f - num_bodies].name + " comes no nearer than " + io::Fixed(least, 2) +
               " m to that of " + character().bodies[b].name;
      }
    }
  }
  throw InputError(worlds,
                   "nothing that touches the character (of the centres, " + what + ", at " + io::Fixed(when, 2) + " s)",
                   "a body that strikes it");
}

}  // namespace retrace::runs
