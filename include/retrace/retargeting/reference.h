/// A recorded clip becomes a reference motion of a character.
#pragma once

#include <string>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// Makes the reference of a character from a clip. `name` stands for the clip in messages. `report` receives what was
/// recognized and changed. Throws InputError for a clip that cannot be interpreted and UsageError for a time range
/// outside it.
ReferenceMotion MakeReference(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, ReferenceReport& report);

}  // namespace retrace::character
