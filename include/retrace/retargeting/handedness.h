/// Whether left and right of a recording are what its joints are called.
///
/// A file that a tool of left-handed axes wrote, a scale of -1 above a skeleton, or names that were exchanged, give a
/// body whose left limbs are on its right side. As nothing else in a file says which side is which, the body itself
/// does: by which side of the line from the right hip to the left one it shows its front.
#pragma once

#include <string>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/skeleton_map.h"

namespace retrace::character {

/// What one part of a body says.
struct SideVote {
  std::string of;     ///< toes, knees, elbows, way
  double value = 0;   ///< from 1, left and right are as they are called, to -1, exchanged
  double weight = 0;  ///< how much of it is seen: 0 nothing, 1 as much as can be
};

struct Handedness {
  std::vector<SideVote> votes;
  bool mirrored = false;  ///< left and right are exchanged

  /// The votes in words: "toes +0.98, knees +1.00, elbows +0.75, way +0.99".
  std::string Votes() const;
  io::Json ToJson() const;
};

/// The votes of toes, knees and elbows, and of the direction in which the body moves, over the frames from `first` to
/// before `end`. A body can walk backwards, turn its feet and overstretch a knee: it is mirrored where at least two
/// votes of some weight say so, all votes together do, and neither toes nor knees clearly say the opposite.
Handedness JudgeHandedness(const motion::Clip& clip, const SkeletonMap& map, size_t first, size_t end);

}  // namespace retrace::character
