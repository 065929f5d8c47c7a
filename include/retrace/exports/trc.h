/// Joint centers as markers in a TRC file (Motion Analysis; OpenSim and most tools of biomechanics read it).
#pragma once

#include <string>

#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

/// Text of a TRC file: PathFileType 4, millimeters, in OpenSim's ground frame: x forward, y up, z to the right (ours:
/// z, y, -x). Markers: `root`, the root body's center of mass; each joint's position, with its name; and per body
/// without a further joint its tip, BODY_end, as in the BVH file. Numbers have 6 decimals.
/// @param rate frames per second
std::string FormatTrc(const ExportedMotion& motion, double rate);

}  // namespace retrace::exports
