/// Masses that a recording's file states, on the bodies of a character.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/skeleton_map.h"

namespace retrace::character {

/// The character with the mass of the clip, and with its moments of inertia and its centers of mass of pelvis, trunk
/// and head: each body has those of the joints that move its segment, and of the ones between that are nearest to it.
/// Centers are where the clip has them on average, whatever the two skeletons differ in. A body of which the clip
/// states nothing (the head of a model whose torso ends there) gets a part of what the body states that carries it, so
/// that both together are what is stated. Shares of mass and the centers of limbs stay the character's. Nothing where
/// the clip states no masses, or none for the body that carries all others.
/// @param map of the clip
std::optional<Character> WithStatedMasses(const Character& character, const motion::Clip& clip, const SkeletonMap& map,
                                          const std::string& name, const ReferenceOptions& options);

}  // namespace retrace::character
