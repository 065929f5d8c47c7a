/// Archives of arrays as numpy.savez writes them (NPZ: a zip archive of NPY files).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace retrace::recordings {

/// An array of numbers, the last index first to change.
struct Array {
  std::vector<size_t> shape;  ///< empty: a single number
  std::vector<double> values;
  std::string unread;  ///< the type of an array that is not of numbers (Python objects, texts), which has no values
};

/// The arrays of an archive. `name` stands for it in messages. Nothing is allocated because of a stated size alone; at
/// most `kMostNumbers` are read in all. Throws InputError with the position `name: array`, also for one that is longer
/// or shorter than its shape says, or whose bytes are not those of which the archive states the CRC-32.
inline constexpr size_t kMostNumbers = 200'000'000;
std::map<std::string, Array> ParseNpz(std::string_view bytes, const std::string& name);

}  // namespace retrace::recordings
