#include "retrace/control/control.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/character/limits.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/time_grid.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"

namespace retrace::control {
namespace {

std::vector<const character::Character*> PointersTo(const std::vector<character::Character>& characters) {
  std::vector<const character::Character*> pointers;
  for (const character::Character& character : characters) pointers.push_back(&character);
  return pointers;
}

using PartObserver = std::function<void(Trajectory part)>;

/// What is shown after a kinematic transition.
class Shown {
 public:
  /// @param shown the last state before it
  Shown(const character::Character& character, const KinematicTransition& transition, const character::State& shown)
      : character_(character), transition_(transition) {
    character::PoseOf(character, shown, shown_);
    character::State entered = transition.state;
    character::Place(transition.heading, transition.offset, entered);
    character::PoseOf(character, entered, entered_);
  }
  /// Takes the state that the simulation has after so many steps to the one that is shown.
  /// @param before the state that is shown a step earlier, `h` seconds
  void Apply(int step, double h, const character::State& before, character::State& state) const {
    character::Place(transition_.heading, transition_.offset, state);
    const double time = (step - transition_.step) * h;
    if (time >= transition_.duration) return;
    const double share = 1 - SmoothStep(time / transition_.duration);
    character::Pose pose;
    character::PoseOf(character_, state, pose);
    character::MoveTowards(entered_, shown_, share, pose);
    character::State shown = state;
    character::ForwardKinematics(character_, pose, shown);
    character::DifferenceVelocities(before, shown, h, shown);
    std::copy(shown.begin(), shown.end(), state.begin());
  }
  void Apply(std::vector<simulation::Contact>& contacts) const {
    for (simulation::Contact& contact : contacts) {
      contact.point = transition_.heading * contact.point + transition_.offset;
      contact.normal = transition_.heading * contact.normal;
      contact.force = transition_.heading * contact.force;
    }
  }
  /// Pushes as the simulation has them.
  std::vector<Push> Behind(std::span<const Push> pushes) const {
    std::vector<Push> behind(pushes.begin(), pushes.end());
    for (Push& push : behind) push.force = transition_.heading.conjugate() * push.force;
    return behind;
  }

 private:
  const character::Character& character_;
  const KinematicTransition& transition_;
  character::Pose shown_, entered_;
};

/// What is shown of a character whose end is not simulated.
class ShownEnding {
 public:
  ShownEnding(const character::Character& character, size_t first_body, const KinematicEnding& ending, double time_step)
      : character_(character),
        first_body_(static_cast<std::ptrdiff_t>(first_body)),
        ending_(ending),
        h_(time_step),
        motion_(character, ending.frame_time, ending.poses, ending.frame_time) {}

  const KinematicEnding& ending() const { return ending_; }

  /// Takes the state that the simulation has after so many steps to the one that is shown.
  /// @param before the state that is shown a step earlier
  void Apply(int step, const character::State& before, character::State& state) const {
    if (step <= ending_.first_step) return;
    character::Pose simulated, pose, shown;
    motion_.PoseAt((step - ending_.first_step) * h_, pose);
    character::State bodies = OwnOf(state);
    if (step < ending_.step) {
      const double share = static_cast<double>(step - ending_.first_step) / (ending_.step - ending_.first_step);
      character::PoseOf(character_, bodies, simulated);
      character::Interpolate(simulated, pose, share, shown);
      std::swap(shown, pose);
    }
    character::ForwardKinematics(character_, pose, bodies);
    character::DifferenceVelocities(OwnOf(before), bodies, h_, bodies);
    std::copy(bodies.begin(), bodies.end(), state.begin() + first_body_);
  }

 private:
  character::State OwnOf(const character::State& state) const {
    return {state.begin() + first_body_, state.begin() + first_body_ + std::ssize(character_.bodies)};
  }

  const character::Character& character_;
  std::ptrdiff_t first_body_;
  const KinematicEnding& ending_;
  double h_;
  character::ReferenceMotion motion_;
};

/// Commands of a character until its end is shown, and from there on none.
class UntilEnding final : public Controller {
 public:
  UntilEnding(Controller& controller, int step) : controller_(controller), step_(step) {}

  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override {
    controller_.Command(now, commands);
    if (now.step < step_) return;
    for (simulation::JointCommand& command : commands) {
      command.torque = Vec3::Zero();
      command.gain = 0;
    }
  }
  bool UsesState() const override { return controller_.UsesState(); }
  bool RestartsAt(int step) override { return controller_.RestartsAt(step); }

 private:
  Controller& controller_;
  int step_;
};

/// What is simulated.
struct Course {
  const simulation::WorldOptions& world;
  const character::State& start;
  int first_step = 0, num_steps = 0;
  std::span<const KinematicTransition> transitions = {};
  std::span<const KinematicEnding> endings = {};
  std::span<const Push> pushes = {};
  const KinematicBeginning* beginning = nullptr;
};

/// States of the steps before a simulation begins.
std::vector<character::State> StatesOf(std::span<const character::Character* const> characters, const Course& course,
                                       const simulation::Layout& layout) {
  const double h = course.world.time_step;
  std::vector<character::State> states(static_cast<size_t>(course.first_step), course.start);
  character::State bodies;
  character::Pose pose;
  for (size_t c = 0; c < characters.size(); ++c) {
    const double frame_time = course.beginning->frame_time;
    const character::ReferenceMotion motion(*characters[c], frame_time, course.beginning->poses[c], frame_time);
    const std::ptrdiff_t first = layout.BodyOf(c, 0);
    for (size_t step = 0; step < states.size(); ++step) {
      motion.StateAt(static_cast<double>(step) * h, bodies);
      std::copy(bodies.begin(), bodies.end(), states[step].begin() + first);
    }
  }
  return states;
}

void SimulateInParts(std::span<const character::Character* const> characters, std::span<Controller* const> given,
                     const Course& course, size_t steps_per_part, const PartObserver& observe) {
  const simulation::WorldOptions& options = course.world;
  const std::span<const Push> pushes = course.pushes;
  const int first_step = course.first_step;
  simulation::World world(characters, options);
  const simulation::Layout& layout = world.layout();
  world.set_recording(true);
  world.SetState(course.start, first_step);
  Trajectory part;
  part.time_step = options.time_step;
  const simulation::Environment& environment = options.environment;
  for (size_t i = 0; i < environment.num_objects(); ++i) part.objects.push_back(environment.ObjectName(i));
  SimulationScratch scratch;
  std::optional<Shown> shown;  // after a transition
  std::vector<Controller*> controllers(given.begin(), given.end());
  std::vector<ShownEnding> endings;
  std::vector<UntilEnding> until_endings;
  endings.reserve(course.endings.size());
  until_endings.reserve(course.endings.size());
  for (const KinematicEnding& ending : course.endings) {
    const size_t c = ending.character;
    endings.emplace_back(*characters[c], static_cast<size_t>(layout.BodyOf(c, 0)), ending, options.time_step);
    controllers[c] = &until_endings.emplace_back(*controllers[c], ending.step);
  }
  // Where an ending is shown the state is set at each step, and a restart normalizes it once more: to the bit the same
  // has to happen to a simulation that begins there.
  const bool begins_with_an_ending = std::any_of(course.endings.begin(), course.endings.end(),
                                                 [&](const auto& ending) { return ending.step <= first_step; });
  for (size_t c = 0; c < controllers.size() && begins_with_an_ending && first_step > 0; ++c) {
    if (controllers[c]->RestartsAt(first_step)) world.Restart(c);
  }
  std::vector<Push> behind(pushes.begin(), pushes.end());
  const auto pass_on = [&] {
    if (part.num_steps() < steps_per_part) return;
    Trajectory next;
    next.time_step = part.time_step;
    next.first_step = part.first_step + part.num_steps();
    next.states.push_back(part.states.back());
    next.objects = part.objects;
    observe(std::exchange(part, std::move(next)));
  };
  const auto without_contacts = [&](const character::State& state) {
    part.states.push_back(state);
    if (part.states.size() == 1) return;
    part.contacts.emplace_back();
    part.torques.emplace_back(layout.num_joints(), Vec3::Zero());
    pass_on();
  };
  if (course.beginning != nullptr) {
    for (const character::State& state : StatesOf(characters, course, layout)) without_contacts(state);
    without_contacts(course.start);
  } else {
    part.states.push_back(course.start);
  }
  const int last = first_step + course.num_steps;
  // After the ends of all of them there is nothing to be simulated, unless something else moves.
  int end = last;
  if (!endings.empty() && endings.size() == characters.size() && layout.num_free_bodies() == 0) {
    end = first_step;
    for (const KinematicEnding& ending : course.endings) end = std::max(end, std::min(ending.step, last));
  }
  const auto without_strength = [&](const KinematicEnding& ending) {
    for (Vec3& torque : layout.JointsOf(std::span(part.torques.back()), ending.character)) torque.setZero();
    std::erase_if(part.contacts.back(), [&](const simulation::Contact& contact) {
      const bool with_what_stands = contact.other < 0 && contact.object < environment.ObjectOfFreeBody(0);
      return with_what_stands && layout.CharacterOf(contact.body) == ending.character;
    });
  };
  const auto take = [&](int step) {
    character::State& state = part.states.emplace_back();
    world.GetState(state);
    part.contacts.push_back(world.contacts());
    const character::State& before = part.states[part.states.size() - 2];
    if (shown) {
      shown->Apply(step + 1, options.time_step, before, state);
      shown->Apply(part.contacts.back());
    }
    for (const ShownEnding& ending : endings) ending.Apply(step + 1, before, state);
    part.torques.push_back(world.torques());
    bool moved = false;
    for (const ShownEnding& ending : endings) {
      if (step + 1 > ending.ending().step) without_strength(ending.ending());
      moved = moved || step + 1 >= ending.ending().step;
    }
    if (moved && step + 1 < end) world.SetState(state, step + 1);
    pass_on();
  };
  int step = first_step;
  for (const KinematicTransition& transition : course.transitions) {
    if (transition.step < step || transition.step >= end) continue;
    part.diverged = !Simulate(world, controllers, step, transition.step - step, behind, scratch, take);
    if (part.diverged) break;
    step = transition.step;
    shown.emplace(*characters[0], transition, part.states.back());
    behind = shown->Behind(pushes);
    world.SetState(transition.state, step);
  }
  if (!part.diverged) part.diverged = !Simulate(world, controllers, step, end - step, behind, scratch, take);
  for (step = end; step < last && !part.diverged; ++step) {  // of endings
    const character::State before = part.states.back();
    character::State state = before;
    for (const ShownEnding& ending : endings) {
      if (step < ending.ending().end_step(options.time_step)) ending.Apply(step + 1, before, state);
    }
    without_contacts(state);
  }
  observe(std::move(part));
}

std::vector<Push> Joined(std::span<const Push> first, std::span<const Push> second) {
  std::vector<Push> pushes(first.begin(), first.end());
  pushes.insert(pushes.end(), second.begin(), second.end());
  return pushes;
}

void SimulateSceneInParts(const Scene& scene, std::span<const Push> pushes, size_t steps_per_part,
                          const PartObserver& observe) {
  std::vector<OpenLoop> open_loops;
  for (const std::vector<Fragment>& fragments : scene.fragments) open_loops.emplace_back(fragments);
  std::vector<Controller*> controllers;
  for (OpenLoop& open_loop : open_loops) controllers.push_back(&open_loop);
  SimulateInParts(
      PointersTo(scene.characters), controllers,
      {scene.world, scene.start, scene.first_step(), scene.num_steps() - scene.first_step(), scene.transitions,
       scene.endings, Joined(scene.pushes, pushes), scene.beginning ? &*scene.beginning : nullptr},
      steps_per_part, observe);
}

std::span<const KinematicEnding> EndingsOf(const OpenLoopControl& control) {
  if (!control.ending) return {};
  return {&*control.ending, 1};
}

/// More steps than a simulation has.
constexpr size_t kWhole = std::numeric_limits<size_t>::max();

}  // namespace

int KinematicEnding::end_step(double time_step) const {
  const double duration = static_cast<double>(poses.size() - 1) * frame_time;
  return first_step + TimeGrid{time_step}.Floor(duration);
}

int OpenLoopControl::num_steps() const {
  if (ending) return ending->end_step(world.time_step);
  return fragments.empty() ? 0 : fragments.back().end_step();
}

const KinematicEnding* Scene::EndingOf(size_t character) const {
  for (const KinematicEnding& ending : endings) {
    if (ending.character == character) return &ending;
  }
  return nullptr;
}

int Scene::num_steps_of(size_t character) const {
  if (const KinematicEnding* const ending = EndingOf(character)) return ending->end_step(world.time_step);
  return fragments[character].empty() ? 0 : fragments[character].back().end_step();
}

int Scene::num_steps() const {
  int steps = 0;
  for (size_t c = 0; c < fragments.size(); ++c) steps = std::max(steps, num_steps_of(c));
  return steps;
}

int Scene::first_step() const {
  int first = num_steps();
  for (const std::vector<Fragment>& control : fragments) {
    if (!control.empty()) first = std::min(first, control.front().first_step);
  }
  return first;
}

simulation::Layout Scene::layout() const {
  return simulation::Layout(PointersTo(characters), world.environment);
}

Scene WithBeginning(Scene scene, int steps, KinematicBeginning beginning) {
  for (std::vector<Fragment>& fragments : scene.fragments) {
    for (Fragment& fragment : fragments) fragment.first_step += steps;
  }
  for (KinematicEnding& ending : scene.endings) {
    ending.first_step += steps;
    ending.step += steps;
  }
  for (KinematicTransition& transition : scene.transitions) transition.step += steps;
  for (Push& push : scene.pushes) push.start += steps * scene.world.time_step;
  scene.beginning = std::move(beginning);
  return scene;
}

Scene MakeScene(const character::Character& character, const OpenLoopControl& control) {
  const std::span<const KinematicEnding> endings = EndingsOf(control);
  return {{character},         control.world,       control.start,
          {control.fragments}, control.transitions, {endings.begin(), endings.end()},
          control.pushes};
}

void AddToScene(const character::Character& character, const OpenLoopControl& control, const Quat& heading,
                const Vec3& offset, Scene& scene) {
  if (scene.characters.size() >= character::kMostCharacters) {
    throw UsageError("found one more than " + std::to_string(character::kMostCharacters) +
                     " characters, which is the most that a scene has");
  }
  if (control.world.time_step != scene.world.time_step) {
    throw UsageError("a character with another time step than that of the scene cannot be added to it");
  }
  if (!control.world.environment.empty()) {
    throw UsageError("a character from a world with things of its own cannot be added to a scene");
  }
  if (!control.physical() || !scene.physical()) {
    throw UsageError("a motion that is kinematic in parts cannot be one of several in a scene");
  }
  const bool scales = !control.world.contact_scale.empty() || !scene.world.contact_scale.empty();
  const size_t joints_before = scene.layout().num_joints();
  const auto free = scene.start.begin() + static_cast<std::ptrdiff_t>(scene.layout().num_character_bodies());
  character::State moved = control.start;
  character::Place(heading, offset, moved);
  scene.start.insert(free, moved.begin(), moved.end());
  if (scales) {
    scene.world.contact_scale.resize(joints_before, 1.0);
    character::ContactPreset added = control.world.contact_scale;
    added.resize(character.joints.size(), 1.0);
    scene.world.contact_scale.insert(scene.world.contact_scale.end(), added.begin(), added.end());
  }
  const auto first_free = static_cast<int>(scene.layout().num_character_bodies());
  for (Push& push : scene.pushes) {
    if (push.body >= first_free) push.body += static_cast<int>(character.bodies.size());
  }
  scene.characters.push_back(character);
  scene.fragments.push_back(control.fragments);
}

OpenLoopControl ControlOf(const Scene& scene, size_t character) {
  const simulation::Layout layout = scene.layout();
  OpenLoopControl control{scene.world, layout.StateOf(scene.start, character), scene.fragments[character],
                          scene.transitions};
  if (const KinematicEnding* const ending = scene.EndingOf(character)) {
    control.ending = *ending;
    control.ending->character = 0;
  }
  for (Push push : scene.pushes) {
    const bool is_free = layout.IsFree(push.body);
    if (!is_free && layout.CharacterOf(push.body) != character) continue;
    push.body = is_free ? static_cast<int>(scene.characters[character].bodies.size() + layout.FreeIndexOf(push.body))
                        : layout.LocalBody(push.body);
    control.pushes.push_back(push);
  }
  const character::State free = layout.FreeStateOf(scene.start);
  control.start.insert(control.start.end(), free.begin(), free.end());
  if (!scene.world.contact_scale.empty()) {
    const auto scales = layout.JointsOf(std::span(scene.world.contact_scale), character);
    control.world.contact_scale.assign(scales.begin(), scales.end());
  }
  return control;
}

Trajectory Simulate(std::span<const character::Character* const> characters, const simulation::WorldOptions& options,
                    const character::State& start, std::span<Controller* const> controllers, int first_step,
                    int num_steps, std::span<const Push> pushes, std::span<const KinematicEnding> endings) {
  Trajectory trajectory;
  SimulateInParts(characters, controllers, {options, start, first_step, num_steps, {}, endings, pushes}, kWhole,
                  [&](Trajectory whole) { trajectory = std::move(whole); });
  return trajectory;
}

Trajectory Replay(const character::Character& character, const OpenLoopControl& control, std::span<const Push> pushes) {
  OpenLoop open_loop(control.fragments);
  const character::Character* const only = &character;
  Controller* const controller = &open_loop;
  const int first_step = control.fragments.empty() ? 0 : control.fragments.front().first_step;
  Trajectory trajectory;
  SimulateInParts({&only, 1}, {&controller, 1},
                  {control.world, control.start, first_step, control.num_steps() - first_step, control.transitions,
                   EndingsOf(control), Joined(control.pushes, pushes)},
                  kWhole, [&](Trajectory whole) { trajectory = std::move(whole); });
  return trajectory;
}

Trajectory Replay(const Scene& scene, std::span<const Push> pushes) {
  Trajectory trajectory;
  SimulateSceneInParts(scene, pushes, kWhole, [&](Trajectory whole) { trajectory = std::move(whole); });
  return trajectory;
}

void ReplayInParts(const Scene& scene, std::span<const Push> pushes, size_t steps_per_part,
                   const std::function<void(Trajectory part)>& observe) {
  if (steps_per_part == 0) throw std::invalid_argument("a motion in parts without steps");
  SimulateSceneInParts(scene, pushes, steps_per_part, observe);
}

Trajectory TrajectoryOf(const Trajectory& trajectory, const simulation::Layout& layout, size_t character) {
  Trajectory own;
  own.time_step = trajectory.time_step;
  own.first_step = trajectory.first_step;
  own.diverged = trajectory.diverged;
  own.objects = trajectory.objects;
  std::vector<int> object_of(layout.num_characters(), -1);
  for (size_t c = 0; c < layout.num_characters(); ++c) {
    if (c == character) continue;
    object_of[c] = static_cast<int>(own.objects.size());
    own.objects.push_back("character " + std::to_string(c + 1));
  }
  for (const character::State& state : trajectory.states) {
    const character::State free = layout.FreeStateOf(state);
    character::State& to = own.states.emplace_back(layout.StateOf(state, character));
    to.insert(to.end(), free.begin(), free.end());
  }
  for (const std::vector<simulation::Contact>& contacts : trajectory.contacts) {
    std::vector<simulation::Contact>& to = own.contacts.emplace_back();
    for (simulation::Contact contact : contacts) {
      const size_t first = layout.CharacterOf(contact.body);
      const size_t second = contact.other < 0 ? first : layout.CharacterOf(contact.other);
      if (first != character && second != character) continue;
      if (first != character) {  // seen from the other side
        std::swap(contact.body, contact.other);
        contact.force = -contact.force;
        contact.normal = -contact.normal;
      }
      const size_t opposite = first == character ? second : first;
      contact.body = layout.LocalBody(contact.body);
      if (opposite != character) {
        contact.object = object_of[opposite];
        contact.other = -1;
      } else if (contact.other >= 0) {
        contact.other = layout.LocalBody(contact.other);
      }
      to.push_back(contact);
    }
  }
  for (const std::vector<Vec3>& torques : trajectory.torques) {
    const auto joints = layout.JointsOf(std::span(torques), character);
    own.torques.emplace_back(joints.begin(), joints.end());
  }
  return own;
}

uint64_t Fingerprint(const character::State& state) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(state.data());
  for (size_t i = 0; i < state.size() * sizeof(character::BodyState); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace retrace::control
