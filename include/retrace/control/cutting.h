/// Controls that are cut at other steps than those at which their fragments begin. What they command stays the same.
#pragma once

#include <vector>

#include "retrace/control/fragment.h"

namespace retrace::control {

/// What of these is before a step; of a fragment that goes on beyond it, the commands of its steps.
std::vector<Fragment> Truncate(int step, const std::vector<Fragment>& fragments);

/// The same commands in fragments that begin at all of these steps, too, from the first fragment on; `steps` are in
/// order. Beyond the last fragment its last command holds until the last of the steps.
std::vector<Fragment> SplitAt(const std::vector<int>& steps, const std::vector<Fragment>& fragments);

}  // namespace retrace::control
