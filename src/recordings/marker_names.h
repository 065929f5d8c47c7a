/// Names of markers in the sets of laboratories.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace retrace::recordings {

/// Names of a marker, in capitals, without separators: first ours, that of Plug-in Gait. Those with `*` are on both
/// sides, with L or R instead; those with `#` have LEFT or RIGHT there.
struct MarkerNames {
  const char* marker;
  std::vector<const char*> names;
};

/// On the skin, beside joints.
const std::vector<MarkerNames>& SkinMarkers();
/// In the middle of joints.
const std::vector<MarkerNames>& CenterMarkers();

/// Segments that carry groups of markers, which tell where joints are that have none.
enum class MarkerGroup { kThigh, kShank, kFoot };
/// Whether a marker of a side belongs to a group. @param plain as PlainMarker has it
bool IsInGroup(std::string_view plain, MarkerGroup group, size_t side);

/// Capital letters and digits of a name.
std::string PlainMarker(std::string_view name);
/// A name of a table on a side, 0 left and 1 right.
std::string OnSide(std::string name, size_t side);

}  // namespace retrace::recordings
