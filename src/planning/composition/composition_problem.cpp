#include "retrace/planning/composition/composition_problem.h"

#include <algorithm>

#include "retrace/io/number.h"

namespace retrace::runs {

std::vector<size_t> CompositionProblem::OfAnswers() const {
  std::vector<size_t> answers;
  for (size_t c = begins ? 1 : 0; c < controls.size(); ++c) {
    const bool stands =
        controls[c].succeeded() && controls[c].EndsStanding() && !controls[c].GetsUp() && !FallsAtEnd(c);
    if (c < num_played || stands) answers.push_back(c);
  }
  return answers;
}

std::vector<size_t> CompositionProblem::OfFalls() const {
  std::vector<size_t> entered;
  for (size_t c = begins ? 1 : 0; c < controls.size(); ++c) {
    if (controls[c].succeeded()) entered.push_back(c);
  }
  return entered;
}

bool CompositionProblem::FallsAtEnd(size_t control) const {
  return std::find(falling_ends.begin(), falling_ends.end(), control) != falling_ends.end();
}

std::string Describe(const CompositionProblem& problem, const CompositionPart& part) {
  const LibraryControl& control = problem.controls[part.control];
  const double h = control.control.world.time_step;
  const std::string start = io::Fixed(part.first_step * h, 2) + " s: ";
  const std::string distance = io::Fixed(part.distance, 2) + " m off";
  switch (part.event) {
    case CompositionEvent::kFall:
      return start + "falls, after a push";
    case CompositionEvent::kDrive:
      return start + "servos go to " + control.name + " at " + io::Fixed(part.cut_step * h, 2) + " s, state " +
             distance;
    case CompositionEvent::kPlan:
    case CompositionEvent::kAnswer:
    case CompositionEvent::kBreakFall:
    case CompositionEvent::kGetUp:
    case CompositionEvent::kResume:
      break;
  }
  if (part.tries == 0) return start + control.name;
  std::string text = start + control.name;
  text.append(" from ").append(io::Fixed(part.cut_step * h, 2)).append(" s on, state ").append(distance);
  text.append(", at try ").append(std::to_string(part.tries));
  if (part.event == CompositionEvent::kAnswer) text.append(", after a push");
  if (part.event == CompositionEvent::kBreakFall) text.append(", in the fall");
  if (part.event == CompositionEvent::kResume) text.append(", on with the plan");
  if (part.transition == Transition::kKinematic) {
    text.append("; kinematic, for an impulse of ").append(io::Fixed(part.hidden_impulse, 0)).append(" N s");
  }
  return text;
}

std::string Describe(const CompositionProblem& problem, const CompositionTry& tried) {
  const LibraryControl& control = problem.controls[tried.control];
  const double h = control.control.world.time_step;
  std::string text = io::Fixed(tried.exit_step * h, 2) + " s: " + control.name;
  text.append(" from ").append(io::Fixed(tried.cut_step * h, 2)).append(" s on, ");
  text.append(io::Fixed(tried.distance, 2)).append(" m off");
  if (tried.effort > 1) text.append(", with ").append(std::to_string(tried.effort)).append(" times the samples");
  if (tried.found) return text.append(": found, and ends ").append(io::Fixed(tried.end_distance, 2)).append(" m off");
  text.append(": lost after ").append(io::Fixed(tried.reached, 2)).append(" of ");
  return text.append(io::Fixed(tried.duration, 2)).append(" s");
}

}  // namespace retrace::runs
