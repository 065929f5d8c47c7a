/// Which joint of a recorded skeleton moves which segment of a body: by names, by the shape, or as the user says.
#pragma once

#include <string>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/skeleton_map.h"

namespace retrace::character {

/// Recognizes the joints by their names (CMU, HumanIK and its relatives, GAMES-105, BioVision, iClone). Prefixes as
/// `mixamorig:` or `Character1_` do not matter, nor do case and separators. Throws InputError listing what is missing
/// and which names there are; `name` stands for the clip in the message.
SkeletonMap MapSkeleton(const motion::Skeleton& skeleton, const std::string& name);

/// The same, and where names do not decide, by the shape of the skeleton: two pairs of mirrored limbs and a head.
/// `user` (or null) is a document that gives joints of its own, instead of or beside what was recognized:
///     {"pelvis": "Hips", "left_hand": {"position": "Wrist", "orientation": "Hand"}}
SkeletonMap MapClip(const motion::Clip& clip, const std::string& name, const io::JsonView* user);

/// A map for a character that is not human: segment and joint have the same name, case and separators aside
/// (left_hind_foot, LeftHindFoot). `segments` are the character's; those that are `needed` must be there. `user` as
/// above, with the character's segments. Throws InputError listing what is missing and which names there are.
SkeletonMap MapByNames(const motion::Clip& clip, const std::string& name, const std::vector<std::string>& segments,
                       const std::vector<std::string>& needed, const io::JsonView* user);

}  // namespace retrace::character
