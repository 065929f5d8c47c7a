/// Which joint of a recorded skeleton moves which segment of a body.
#pragma once

#include <map>
#include <string>

namespace retrace::character {

/// Where a segment is read from in a recorded skeleton.
struct SegmentSource {
  int position = -1;     ///< joint at the segment's proximal end
  int orientation = -1;  ///< joint whose rotation turns the segment (another one where a wrist is split in two)
};

/// Segments by name: pelvis, trunk, head, and with the prefix left_ or right_: clavicle, upper_arm, lower_arm, hand,
/// thigh, shin, foot, toe. Clavicles, hands and toes may be missing.
struct SkeletonMap {
  std::string family;  ///< naming family that was recognized
  std::map<std::string, SegmentSource> segments;

  bool Has(const std::string& segment) const { return segments.contains(segment); }
};

}  // namespace retrace::character
