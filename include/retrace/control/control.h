/// Open-loop controls, of one character or of several in one world, and what they do when they are simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/control/controller.h"
#include "retrace/control/fragment.h"
#include "retrace/control/simulate.h"
#include "retrace/io/json.h"
#include "retrace/simulation/world.h"

namespace retrace::control {

/// A jump of the simulation into another state, hidden by a blend: from this step on it goes on from `state`, and what
/// is shown begins with the pose that was reached, whose difference from that of `state` fades out within some time
/// (Liu et al. 2010, section 4). What is simulated from there on is shown turned about the vertical and moved along the
/// ground, so that it is the same wherever the character is. It is kinematic: no force leads from the one state to the
/// other. Contacts and torques are those of the simulation behind the blend.
struct KinematicTransition {
  int step = 0;
  double duration = 0;  ///< of the blend [s]
  character::State state;
  Quat heading = Quat::Identity();  ///< a point x of the simulation is shown at heading * x + offset
  Vec3 offset = Vec3::Zero();       ///< [m]
};
inline constexpr io::Range kBlendDurations{0, 10};

/// The end of a motion that is not simulated (Zordan et al. 2005, section 3): what is shown goes over from the
/// simulation to given poses, by shares that grow evenly from `first_step` to `step`, and from there on is the poses
/// alone, without contacts and torques. Where the two steps are one, nothing of what is simulated is blended. It is
/// kinematic: no force leads along it. What else is in the world is simulated on: to it, the character is a body that
/// moves along the poses whatever it meets.
struct KinematicEnding {
  int first_step = 0;
  int step = 0;                        ///< after which the character is not simulated
  double frame_time = 0;               ///< between two poses [s]
  std::vector<character::Pose> poses;  ///< from `first_step` on; at least two
  size_t character = 0;                ///< of a scene, whose end it is

  /// Time of the last step that the poses reach in a world with this time step [s].
  int end_step(double time_step) const;
};
inline constexpr io::Range kPoseFrameTimes{1e-4, 1};  ///< [s]

/// The beginning of a scene that is not simulated: up to the step at which the earliest fragment begins, what is shown
/// are given poses of each character, without contacts and torques (Zordan et al. 2005, section 5). Bodies that move
/// freely are where the simulation starts with them.
struct KinematicBeginning {
  double frame_time = 0;  ///< between two poses [s]
  /// (characters) from step 0 on, at least as far as the simulation begins; at least two of each.
  std::vector<std::vector<character::Pose>> poses;
};

/// Control of the only character of a world: everything that a replay needs besides the character.
struct OpenLoopControl {
  simulation::WorldOptions world;
  character::State start;
  std::vector<Fragment> fragments;
  std::vector<KinematicTransition> transitions = {};  ///< by their steps; none: all of the motion is simulated
  std::optional<KinematicEnding> ending = {};         ///< not in the same motion as transitions
  std::vector<Push> pushes = {};                      ///< under which it was found: every replay has them

  bool physical() const { return transitions.empty() && !ending; }
  int num_steps() const;
  double duration() const { return num_steps() * world.time_step; }
};

/// Several characters in one world, each with a control of its own: everything that a replay needs. A control that is
/// shorter than others holds its last targets.
struct Scene {
  std::vector<character::Character> characters;
  simulation::WorldOptions world;
  character::State start;                             ///< (bodies) as simulation::Layout counts them
  std::vector<std::vector<Fragment>> fragments;       ///< (characters)
  std::vector<KinematicTransition> transitions = {};  ///< by their steps, of a single character alone
  std::vector<KinematicEnding> endings = {};          ///< of a character at most one
  std::vector<Push> pushes = {};                      ///< under which it was found: every replay has them
  std::optional<KinematicBeginning> beginning = {};   ///< of all characters, up to first_step()

  bool physical() const { return transitions.empty() && endings.empty() && !beginning; }
  /// The ending of one character; nothing where it is simulated to its end.
  const KinematicEnding* EndingOf(size_t character) const;
  /// Number of the step after the last one of one character.
  int num_steps_of(size_t character) const;
  int num_steps() const;   ///< number of the step after the last one of the longest control
  int first_step() const;  ///< at which the earliest fragment begins
  double duration() const { return num_steps() * world.time_step; }
  simulation::Layout layout() const;
};

/// A scene whose simulation begins so much later, after poses that are shown up to there. In a world whose ground does
/// not move, what is simulated stays the same to the bit.
/// @param poses (characters) `frame_time` seconds apart, up to the start of the simulation at least
Scene WithBeginning(Scene scene, int steps, KinematicBeginning beginning);

/// A scene of a single character.
Scene MakeScene(const character::Character& character, const OpenLoopControl& control);
/// Adds the character of another run to a scene, turned about the vertical and moved. The world is that of the scene.
/// The other's pushes are left out. Throws UsageError when the time steps differ, when the other's world has things of
/// its own, and where one of the two is not physical.
void AddToScene(const character::Character& character, const OpenLoopControl& control, const Quat& heading,
                const Vec3& offset, Scene& scene);
/// The control of one character of a scene, which starts where it does in the scene; the world's free bodies are in it,
/// and those pushes of the scene that meet it or them.
OpenLoopControl ControlOf(const Scene& scene, size_t character);

/// A simulated motion, step by step, or a part of one.
struct Trajectory {
  double time_step = 0;                                    ///< [s]
  size_t first_step = 0;                                   ///< steps of the motion before this part; 0: its beginning
  std::vector<character::State> states;                    ///< (steps + 1), the start state first
  std::vector<std::vector<simulation::Contact>> contacts;  ///< (steps) of the step that led to states[i + 1]
  std::vector<std::vector<Vec3>> torques;                  ///< (steps x joints) of the same step [N m]
  std::vector<std::string> objects;                        ///< names of what Contact::object counts
  bool diverged = false;                                   ///< the last state is the last sane one

  size_t num_steps() const { return states.empty() ? 0 : states.size() - 1; }
  /// Time of a state of this part since the beginning of the motion [s].
  double TimeOf(size_t state) const { return static_cast<double>(first_step + state) * time_step; }
  /// The first state that the part before does not have: that part ends with the state with which this one begins.
  size_t first_new_state() const { return first_step == 0 ? 0 : 1; }
};

/// Simulates a whole control in a new world, under its own pushes, and records everything. With further pushes the
/// motion is another one: the control does not depend on them, only its servos react.
Trajectory Replay(const character::Character& character, const OpenLoopControl& control,
                  std::span<const Push> pushes = {});
Trajectory Replay(const Scene& scene, std::span<const Push> pushes = {});

/// The same in parts, so that a motion of any length takes the memory of one part. `observe` gets one part after the
/// other: `steps_per_part` steps each, the last one fewer, or none at all but its start state. Only the last one can
/// have diverged.
void ReplayInParts(const Scene& scene, std::span<const Push> pushes, size_t steps_per_part,
                   const std::function<void(Trajectory part)>& observe);

/// Simulates `num_steps` steps of characters under any controllers, one for each, in a new world from a start state,
/// which step number `first_step` takes on.
Trajectory Simulate(std::span<const character::Character* const> characters, const simulation::WorldOptions& options,
                    const character::State& start, std::span<Controller* const> controllers, int first_step,
                    int num_steps, std::span<const Push> pushes = {}, std::span<const KinematicEnding> endings = {});

/// What a trajectory of several characters is to one of them: its bodies, then the free ones; its contacts, in which
/// another character is an object, counted after those of the environment and named "character 2"; its torques.
Trajectory TrajectoryOf(const Trajectory& trajectory, const simulation::Layout& layout, size_t character);

/// 64-bit fingerprint of all bits of a state (FNV-1a).
uint64_t Fingerprint(const character::State& state);

}  // namespace retrace::control
