/// Pushes from outside, as text.
#pragma once

#include <string>

#include "retrace/control/control.h"
#include "retrace/control/pushes.h"

namespace retrace::control {

/// Reads a push in its text format, BODY,FX:FY:FZ,START,DURATION (newtons in world axes, seconds), for example
/// trunk,0:0:100,1.5,0.2. Throws UsageError that says what was found and what was expected: a body of the scene, a
/// force that is not one, a time outside the motion.
Push ParsePush(const std::string& text, const Scene& scene);
/// The same for a motion of another duration [s].
Push ParsePush(const std::string& text, const Scene& scene, double motion_duration);

/// "trunk by 0:0:100 N from 1.00 to 1.20 s"
std::string Describe(const Scene& scene, const Push& push);

}  // namespace retrace::control
