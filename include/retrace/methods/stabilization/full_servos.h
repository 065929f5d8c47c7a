/// Converts the control of a run with weak servos, as tracking leaves it, to servos of full strength. They drive at the
/// poses of the motion itself; additional torques compensate for what they would change.
#pragma once

#include <span>
#include <vector>

#include "retrace/control/control.h"

namespace retrace::stabilization {

/// Whether a control has commands of single steps, whose servos may be weak. Servos of target poses are at full
/// strength already.
bool MayHaveWeakServos(const control::OpenLoopControl& control);

/// Commands that make the same motion as the control, but for rounding, and resist disturbances with servos at full
/// strength. The fragments begin where those of the control do.
std::vector<control::Fragment> WithFullServos(const character::Character& character,
                                              const control::OpenLoopControl& control,
                                              std::span<const control::Push> pushes);

}  // namespace retrace::stabilization
