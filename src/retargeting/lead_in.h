/// The frames of a recording that are its motion. Internal to the module.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// The frames of a motion in its recording, from `first` to before `end`; the others are left out.
struct UsedFrames {
  size_t first = 0;
  size_t end = 0;
  std::vector<std::string> notes;  ///< why, for the report
};
/// Fills the report's numbers of frames that are left out. Throws InputError where fewer than two are used.
/// @param unit meters per file unit
/// @param size meters per file unit of a body of usual size, whatever the unit of the file is
UsedFrames FindUsedFrames(const motion::Clip& clip, double unit, double size, const std::string& name,
                          const ReferenceOptions& options, ReferenceReport& report);

}  // namespace retrace::character
