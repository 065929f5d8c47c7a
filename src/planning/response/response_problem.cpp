#include "retrace/planning/response/response_problem.h"

#include <algorithm>

#include "retrace/io/number.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

constexpr double kInstantOfAnEnd = 0.02;  // by which the last step of a motion may miss its end [s]

// What is acceptable of a kinematic transition.
constexpr double kDeepest = 0.02;        // [m]
constexpr double kFastestSlide = 0.2;    // [m/s]
constexpr double kMostHidden = 0.5;      // of the impulse
constexpr double kLongestThrough = 0.1;  // [s]

}  // namespace

Configuration ResponseConfiguration() {
  Configuration configuration = CompositionConfiguration();
  // More smoothing passes, which these replaced, took a third of the time, half of it for candidates that were given
  // up.
  configuration.sampling.refinement.passes = 1;
  return configuration;
}

bool OtherCharacter::within() const {
  const metrics::Gate* const left = evaluation.FirstViolated();
  const double held = left != nullptr ? left->first_violation : evaluation.simulated_duration;
  return held >= own_end - kInstantOfAnEnd;
}

bool Response::success() const {
  const bool all_within =
      std::all_of(others.begin(), others.end(), [](const OtherCharacter& other) { return other.within(); });
  return ending == "completed" && evaluation.success() && all_within && !others_left_out;
}

namespace {

double Beyond(double value, double limit) {
  return std::max(0.0, value / limit - 1);
}

}  // namespace

double ResponseBlend::own_fault() const {
  const double slide = foot_slide > motion_foot_slide ? foot_slide : 0;  // the motion's own is the recording's
  return Beyond(deepest, kDeepest) + Beyond(slide, kFastestSlide) + Beyond(hidden_share, kMostHidden);
}

double ResponseBlend::fault() const {
  return own_fault() + Beyond(through, kLongestThrough);
}

void UseRuleOfPaper(ResponseSettings& settings) {
  settings.paper = settings.kinematic = true;
  settings.blend = Blend::kLinear;
  settings.earliest = 0.1;
  settings.window.velocity_time = 0;
}

std::string DifferencesFromPaper(const ResponseProblem& problem) {
  const simulation::WorldOptions& world = problem.control.world;
  return "what differs from the paper: the second simulation has the friction of the run, " +
         io::Fixed(world.friction, 2) + ", not 0.5; servos of the character, not gains scaled by inertia; steps of " +
         io::Fixed(1000 * world.time_step, 2) + " ms, not 0.5; and no friction against turning of the feet";
}

std::string Name(Blend blend) {
  return blend == Blend::kLinear ? "linear" : "matched";
}

std::string Describe(const ResponseProblem& problem, const ResponseCandidate& candidate) {
  std::string text = candidate.own ? "its own motion" : problem.library.motions().motions()[candidate.motion].name;
  if (candidate.lies_at >= 0) text.insert(0, "falls, and gets up: ");
  text.append(" from ").append(io::Fixed(candidate.time, 2)).append(" s on, ");
  text.append(io::Fixed(candidate.start, 2)).append(" s after the push, ");
  text.append(io::Fixed(candidate.gap, 2)).append(" m off: ");
  if (candidate.blended) {
    return text + (candidate.feedback_from >= 0 ? "reached by feedback, " : "") + "blended in, for an impulse of " +
           io::Fixed(candidate.hidden_impulse, 0) + " N s";
  }
  if (candidate.found && candidate.feedback_from >= 0 && problem.settings.kinematic) {
    return text + "found by feedback, and nothing is blended in";
  }
  if (candidate.found && candidate.touched_again >= 0) {
    return text + "found, touched again at " + io::Fixed(candidate.touched_again, 2) + " s";
  }
  if (candidate.found) return text + "found";
  if (candidate.up) return text + "up, and lost " + io::Fixed(candidate.reached, 2) + " s after the push";
  return text + (candidate.tried ? "lost " + io::Fixed(candidate.reached, 2) + " s after the push" : "not tried");
}

std::string Describe(const ResponseBlend& blend) {
  std::string text = "not physical: from " + io::Fixed(blend.from, 2) + " to " + io::Fixed(blend.to, 2);
  text.append(" s a recorded motion is blended in, and then shown; hidden impulse ");
  text.append(io::Fixed(blend.hidden_impulse, 1)).append(" N s, ").append(io::Fixed(blend.hidden_share, 2));
  text.append(" of the impact's\n    jumps ").append(io::Fixed(1000 * blend.position_jump, 2)).append(" mm and ");
  text.append(io::Fixed(std::max(blend.begin_velocity_jump, blend.end_velocity_jump), 2));
  text.append(" m/s; feet slide at ").append(io::Fixed(blend.foot_slide, 2)).append(" m/s (the motion's own at ");
  text.append(io::Fixed(blend.motion_foot_slide, 2)).append("), ").append(io::Fixed(100 * blend.penetration, 1));
  text.append(" cm in the floor (").append(io::Fixed(100 * blend.motion_penetration, 1)).append("), ");
  text.append(io::Fixed(100 * blend.deepest, 1)).append(" cm at most later");
  if (blend.through > 0) text.append("; another body in it for ").append(io::Fixed(blend.through, 2)).append(" s");
  return text.append(blend.acceptable() ? "" : "; not acceptable, and no other candidate is");
}

}  // namespace retrace::runs
