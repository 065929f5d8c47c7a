/// Key poses at rest on the furniture.
#pragma once

#include <vector>

#include "retrace/methods/idling/problem.h"
#include "retrace/methods/idling/support.h"

namespace retrace::idling {

/// The pose at rest. Throws InputError with the key's position when it cannot be simulated: it diverges, or it settles
/// farther than Options::settling_limit from where it was put.
RelaxedKey Relax(const Problem& problem, const KeyPose& key);

/// What carries the character in relaxed keys.
Support FindSupport(const Problem& problem, const std::vector<RelaxedKey>& keys);

}  // namespace retrace::idling
