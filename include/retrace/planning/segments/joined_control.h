/// What motions that are made of parts have in common, whether they are composed of controls (composition.h) or answer
/// an impact (response.h): frames of their references, the purpose of each part, and how one becomes the next.
#pragma once

#include <string>

#include "retrace/runs/configuration/configuration.h"

namespace retrace::runs {

/// Between the poses of what the parts follow [s].
inline constexpr double kCompositionFrame = 1.0 / 120;

/// How one control becomes the next.
enum class Transition {
  kSearched,   ///< the next motion is searched anew from the state at hand
  kPlain,      ///< the next control goes on as it is: nearly always a fall, and there to be compared with
  kKinematic,  ///< that of the paper: the next control goes on from its own state, and the pose is blended. Not
               ///< physical
};
std::string Name(Transition transition);

/// What a part of a composed motion is there for.
enum class CompositionEvent {
  kPlan,       ///< a control of the plan
  kAnswer,     ///< after a push one does not fall
  kFall,       ///< a semi-ragdoll with reflexes, until it lies still or enters a control
  kBreakFall,  ///< a control that is entered during the fall, such as a roll
  kDrive,      ///< servos go to the pose with which a get-up is entered
  kGetUp,      ///< a get-up of the library
  kResume,     ///< on with the plan after it
};
std::string Name(CompositionEvent event);

/// The default configuration with fewer samples and less patience: a motion that was found before needs fewer to be
/// found again, and there are other cuts to try.
Configuration CompositionConfiguration();

}  // namespace retrace::runs
