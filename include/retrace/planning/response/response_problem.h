/// What a response to an impact is planned from, and what comes out: values, without files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/matching/window_search.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/libraries/recording_library.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// The default configuration with the samples of CompositionConfiguration.
Configuration ResponseConfiguration();

/// How a kinematic transition hides that no force leads into the motion.
enum class Blend {
  kMatched,  ///< the simulation is shown up to T; the motion begins with its pose and velocity, whose differences fade
             ///< away
  kLinear,   ///< that of the paper: from the impact to T the simulation goes over to the motion by even shares
};
std::string Name(Blend blend);

/// How a response is planned.
struct ResponseSettings {
  double delay = 0.15;            ///< after the beginning of the push the run's control goes on for so long [s]
  double earliest = 0.27;         ///< start time of the first window; not before the push ends [s]
  double latest = 1;              ///< of the last one [s]
  double seconds = 3;             ///< from the push on, at least; then until the body has stood for half a second [s]
  double stand = 3;               ///< for which it then stands or walks on [s]
  int candidates = 3;             ///< motions that are tried; of get-ups after a fall, where these fail, as many
  bool search_anyway = false;     ///< also where the run's own control stays within tolerance under the push
  bool open_loop = false;         ///< the targets are the reference alone, nothing is searched: to be compared with
  bool any_motion = false;        ///< positions of the library are drawn at random: to be compared with
  bool kinematic = false;         ///< the recorded motion is blended in, and nothing is searched: not physical
  Blend blend = Blend::kMatched;  ///< of that
  bool feedback_first = false;    ///< of that among others: where feedback leads on, nothing is blended in
  bool paper = false;             ///< set by UseRuleOfPaper alone
  bool leave_out = true;          ///< where nothing is found among other characters, it is looked for without them
  matching::WindowOptions window;
  Configuration configuration = ResponseConfiguration();
};

/// The rule of the paper to the letter: a first simulation without strength on a floor with a friction of 1; the window
/// that is nearest to it of all from 0.1 s on, and while the impact lasts from up to 0.25 s on, is entered, by its
/// distance without velocities, whether its motion stands at the end or not, where the first simulation is; no second
/// simulations choose. The second simulation begins with the impact; its servos go over to the window after the delay.
/// The transition is kinematic with a linear blend.
void UseRuleOfPaper(ResponseSettings& settings);

/// When the body is hit.
struct Impact {
  double start = 0;     ///< [s]
  double duration = 0;  ///< of a thing that touches it: until the two part [s]
  std::string what;     ///< for people: the push, or the thing and the body that it meets
  double impulse = 0;   ///< size of the sum of its forces over time [N s]
  double end() const { return start + duration; }
};

/// A run, an impact that meets one of its characters, and the recorded motions with which that character may answer.
struct ResponseProblem {
  static constexpr size_t kReceiver = 0;  ///< index of the character that responds

  const character::Character& character() const { return run.scene.characters[kReceiver]; }
  bool has_others() const { return run.scene.characters.size() > 1; }

  ResponseSettings settings;
  StoredRun run;
  StoredMotionLibrary library;
  control::OpenLoopControl control = {};   ///< of that character in the run
  std::vector<control::Push> pushes = {};  ///< those of the run, then the new one, where there is one
  Impact impact = {};
};

/// A position at which a recorded motion may be entered.
struct ResponseCandidate {
  bool own = false;     ///< of the run's own motion, which goes on
  size_t motion = 0;    ///< of the library
  double time = 0;      ///< of that motion, at the start time [s]
  double start = 0;     ///< T [s]
  double distance = 0;  ///< of the windows (matching::WindowSearch)
  double gap = 0;       ///< at T between the second simulation and the motion (metrics::StateDistance) [m]
  double limp_gap = 0;  ///< between a body without strength and the motion, of those that may be tried; else 0 [m]
  double hidden_impulse = 0;  ///< at T, of the center of mass, that a blend would have to hide [N s]
  double end = 0;             ///< of the motion, where it has stood for half a second [s]
  double last = 0;            ///< until which it goes on standing or walking; then it comes to rest [s]
  double rest = 0;            ///< of what is between the two, when it is slowest: there it may come to rest, too [s]
  /// It falls before, and lies from then on; servos then go to the motion until T [s]. Negative: it does not fall.
  double lies_at = -1;
  bool tried = false;      ///< searched
  double reached = 0;      ///< from the push on, where it was tried [s]
  bool up = false;         ///< as far as to `end`
  bool found = false;      ///< and all that follows it
  double cpu_seconds = 0;  ///< of its search
  /// When feedback takes over from the search, while it stands, or from the run's own control [s]; negative: it does
  /// not.
  double feedback_from = -1;
  bool blended = false;       ///< its motion is blended in
  double touched_again = -1;  ///< when another character touches it after the delay [s]; negative: none does
};

/// Another character of the scene, after the impact.
struct OtherCharacter {
  size_t character = 0;
  bool undisturbed = false;  ///< its own control stays within tolerance; else it is led back to its own motion
  double from = 0;           ///< from when on, the last time [s]
  bool by_feedback = false;  ///< tracking recovers its motion; else a search
  double reached = 0;        ///< until when a control was found for it alone [s]
  double cpu_seconds = 0;
  std::vector<character::Pose> reference;  ///< what it follows: (frames) of kCompositionFrame
  metrics::Evaluation evaluation;          ///< in the world of all
  double own_end = 0;                      ///< of its own motion; then it comes to rest [s]

  /// It stays within tolerance to the end of its own motion.
  bool within() const;
};

/// What a kinematic transition hides, and how much of it shows.
struct ResponseBlend {
  double from = 0, to = 0;  ///< [s]
  /// Difference in momentum of the center of mass at T between the simulation and the motion [N s]; and its share of
  /// the impact's.
  double hidden_impulse = 0, hidden_share = 0;
  /// Largest of a body, between what is shown and what it is to be there: the simulation where the blend begins, the
  /// motion where it ends [m].
  double position_jump = 0;
  /// Largest change of the velocity of a body from one step to the next where the blend begins and where it ends, less
  /// that of the simulation, if this goes on, or at the end of the motion alone [m/s].
  double begin_velocity_jump = 0, end_velocity_jump = 0;
  double foot_slide = 0, motion_foot_slide = 0;    ///< in the blend (metrics::FootSlide); of the motion alone [m/s]
  double penetration = 0, motion_penetration = 0;  ///< into the floor (metrics::DeepestPoint), likewise [m]

  double deepest = 0;  ///< of a point in the floor from the beginning of the blend to the end of the motion [m]
  double through = 0;  ///< for how long a body of another character is in one of this one after T [s]
  double lifted = 0;   ///< by how much the motion is raised at most, where it would be in the floor [m]

  /// What cannot be seen: jumps below 1 mm and 0.3 m/s.
  bool smooth() const { return position_jump < 0.001 && begin_velocity_jump < 0.3 && end_velocity_jump < 0.3; }
  /// By how much it is worse than what is acceptable: 2 cm in the floor, feet that slide at 0.2 m/s, half of the
  /// impulse hidden, bodies through one another for 0.1 s; each as a share of that. 0: it is acceptable.
  double fault() const;
  /// The same but for bodies through one another: another motion may be no remedy for what others do.
  double own_fault() const;
  bool acceptable() const { return smooth() && fault() == 0; }
};

struct Response {
  control::OpenLoopControl control;        ///< with the pushes under which it was found
  std::vector<character::Pose> reference;  ///< what is followed: (frames) of kCompositionFrame
  /// How long the run's own control stays within tolerance under the push [s].
  double own_until = 0;
  bool goes_on = false;                       ///< it stays within them to its end, and is the response
  std::vector<ResponseCandidate> candidates;  ///< in the order in which they are tried
  int chosen = -1;                            ///< of these
  int exit_step = 0;                          ///< at which the run's own control ends
  std::string ending = "completed";           ///< or why there is no response
  bool stopped = false;
  std::optional<ResponseBlend> blend;  ///< of a kinematic transition: what follows it is not simulated
  metrics::Evaluation evaluation;      ///< of all of it
  double cpu_seconds = 0;              ///< of the response alone, with its library in memory
  results::RunTimer timer;

  bool physical() const { return control.physical(); }
  /// The same impact without a response: from the exit on servos have a hundredth of their strength, for as long as the
  /// response lasts; others do what they do in the response. To be compared with.
  control::Scene ragdoll;

  // For a scene.
  std::vector<OtherCharacter> others;
  std::optional<control::Scene> scene;  ///< of all characters, in which `control` is that of the one that responds
  /// No response was found with the others in the world. So they are left out from the end of the delay on: `control`
  /// begins there, from the state that the impact left, and is that of a single character. This is no success.
  bool others_left_out = false;

  /// The character that responds is within tolerance to its end, and each other one to the end of its own motion.
  bool success() const;
};

struct ResponseHooks {
  std::function<void(const std::string& line)> on_line = {};  ///< what was found, for people
  std::function<bool()> stop = {};                            ///< true: what there is by then is the result
};

/// What remains other than in the paper with its rule: a sentence.
std::string DifferencesFromPaper(const ResponseProblem& problem);

/// A line for people.
std::string Describe(const ResponseProblem& problem, const ResponseCandidate& candidate);
std::string Describe(const ResponseBlend& blend);

}  // namespace retrace::runs
