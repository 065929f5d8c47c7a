/// What is doubtful in a recording, for the report. Internal to the module.
#pragma once

#include "retrace/character/character.h"
#include "retrace/retargeting/handedness.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// Reports the mean distance of the joints from the recorded ones [m], and doubts a character whose joints are far.
void ReportDistance(const Character& character, double distance, ReferenceReport& report);

/// Reports what the body shows of its left and right.
void ReportHandedness(const Handedness& handedness, const ReferenceOptions& options, ReferenceReport& report);

}  // namespace retrace::character
