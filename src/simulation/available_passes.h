/// The passes of forward dynamics (tree_passes.h) that this processor has. Internal to the simulation module.
#pragma once

#include "tree_passes.h"

namespace retrace::simulation {

/// One simulation at a time.
extern const TreePasses kScalarPasses;
/// As many as this processor takes at once.
const TreePasses& WidestPasses();
/// Null where this processor has none with so many lanes.
const TreePasses* FindPasses(int lanes);

}  // namespace retrace::simulation
