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
};

/// Those arrays of an archive that are of numbers. What holds Python objects or texts is left out. `name` stands for
/// the archive in messages. Nothing is allocated on the word of a size alone; at most `kMostNumbers` are read in all.
/// Throws InputError with the place `name: array`.
inline constexpr size_t kMostNumbers = 200'000'000;
std::map<std::string, Array> ParseNpz(std::string_view bytes, const std::string& name);

}  // namespace retrace::recordings
