/// Whether a character can stand where a control ends.
#pragma once

#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/libraries/control_library.h"

namespace retrace::runs {

/// A motion may be high enough at its end and fall from there. It can stand if feedback keeps it on its feet for 1 s in
/// its last pose, while its root comes to rest. One that walks at its end, faster than 0.5 m/s, cannot rest there and
/// goes on with its next step: it counts as standing by its height alone. False for a control that ends low.
bool CanStandAtEnd(const LibraryControl& control, const Configuration& configuration);

}  // namespace retrace::runs
