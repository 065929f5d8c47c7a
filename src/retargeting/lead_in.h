/// What a recording has before its motion. Internal to the character module.
#pragma once

#include <cstddef>
#include <string>

#include "retrace/retargeting/reference_options.h"
#include "retrace/motion/clip.h"

namespace retrace::character {

/// Frames before the motion, which are skipped.
struct LeadIn {
  size_t frames = 0;
  std::string note;  ///< why, for the report; empty for none
};
/// @param unit metres per file unit
LeadIn FindLeadIn(const motion::Clip& clip, double unit, const ReferenceOptions& options);

}  // namespace retrace::character
