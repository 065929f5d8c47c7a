/// BioVision hierarchy files (BVH).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/motion/clip.h"

namespace retrace::motion {

/// Reads a BVH file: any channel order, also mixed; rotation-first roots; position channels on any joint (they replace
/// the offset); several words in a name; rows wrapped over lines; CRLF, tabs, blank lines, byte-order mark. The channel
/// order is the order of the rotation product, R = R_first R_second R_third, in degrees.
///
/// Refused is all that would otherwise give wrong numbers in silence: a count of frames that the rows do not bear out,
/// a row with a value too many or too few (a frame may be wrapped, but ends where a line ends), channels or names that
/// occur twice, a second root, numbers that are not finite or above 1e9, a skeleton of zero size, no frames. Names have
/// at most 255 bytes, chains at most 500 joints. Nothing is allocated on the word of a count alone.
/// End sites are named `<parent>_end`, further ones of the same parent `<parent>_end2` and so on.
/// Throws InputError with file, line and column, what was found and what was expected.
Clip ReadBvh(const std::filesystem::path& path);

/// The same from text already in memory; `name` stands for the file in messages.
Clip ParseBvh(std::string_view text, const std::string& name);

/// Text of a BVH file: root with position and ZXY rotation channels, other joints with ZXY rotations (and positions
/// where a joint's translation ever differs from its offset). Lengths are the clip's own: Blender takes them for
/// meters. They read back to the same double; angles are safe at gimbal lock, so that rotations read back to rounding.
/// End sites stay at their offset in all frames.
std::string FormatBvh(const Clip& clip);

/// The same text piece by piece: the head, and a row for each frame.
class BvhText {
 public:
  /// @param moves (joints) which joints have translations in their frames; the root has them anyway
  BvhText(const Skeleton& skeleton, std::vector<bool> moves);
  /// What stands above the rows of so many frames.
  std::string Head(size_t frames, double frame_time) const;
  void AppendRow(const Frame& frame, std::string& text) const;

 private:
  std::vector<bool> moves_;
  std::vector<size_t> order_;  // joints with channels, as their columns stand in a row
  std::string hierarchy_;
};

/// How a BVH file is laid out: what another motion needs to be written as a file of the same kind.
struct BvhLayout {
  /// One number of a row.
  struct Channel {
    int joint = 0;
    int axis = 0;  ///< 0 x, 1 y, 2 z
    bool rotation = false;
  };
  std::string hierarchy;          ///< to the letter, up to MOTION; lines end with LF
  std::vector<Channel> channels;  ///< in the order of the rows
};

/// The layout of a BVH file that ParseBvh reads. Throws InputError as ParseBvh does.
BvhLayout ParseBvhLayout(std::string_view text, const std::string& name);

/// What the channels of a layout have no room for.
struct BvhLoss {
  double angle = 0;     ///< largest of any joint and frame, where a joint has fewer than three rotations [rad]
  double distance = 0;  ///< the same of translations, of joints without positions [file units]
};

/// Text of a BVH file with the hierarchy and the channels of another one. Angles go on from frame to frame without
/// jumps. The clip's skeleton must be that of the other file, as ParseBvh gives it.
std::string FormatBvh(const Clip& clip, const BvhLayout& layout, BvhLoss& loss);

}  // namespace retrace::motion
