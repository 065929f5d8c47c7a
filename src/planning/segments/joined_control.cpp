#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {

std::string Name(CompositionEvent event) {
  switch (event) {
    case CompositionEvent::kPlan:
      return "plan";
    case CompositionEvent::kAnswer:
      return "answer";
    case CompositionEvent::kFall:
      return "fall";
    case CompositionEvent::kBreakFall:
      return "break_fall";
    case CompositionEvent::kDrive:
      return "drive";
    case CompositionEvent::kGetUp:
      return "get_up";
    case CompositionEvent::kResume:
      break;
  }
  return "resume";
}

std::string Name(Transition transition) {
  if (transition == Transition::kKinematic) return "kinematic";
  return transition == Transition::kSearched ? "searched" : "plain";
}

Configuration CompositionConfiguration() {
  Configuration configuration;
  configuration.sampling.samples = 200;
  configuration.sampling.selection.saved = 40;
  configuration.sampling.growth = 1;  // a part that fails is searched for elsewhere
  configuration.sampling.refinement.samples = 0.5;
  configuration.sampling.budget = 1000;
  return configuration;
}

}  // namespace retrace::runs
