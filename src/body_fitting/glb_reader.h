/// The container of binary glTF 2.0 and its accessors: numbers by the JSON document from the buffer, each access within
/// the bytes that the file has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/io/json.h"

namespace retrace::bodies {

// Numbers that the specification gives meanings (glTF 2.0, sections 3.6.2.2 and 3.7.2.1).
enum ComponentType {
  kByte = 5120,
  kUnsignedByte = 5121,
  kShort = 5122,
  kUnsignedShort = 5123,
  kUnsignedInt = 5125,
  kFloat = 5126
};
inline constexpr int kTriangles = 4;

/// All throw InputError.
class GlbReader {
 public:
  GlbReader(const std::string& bytes, std::string name);

  io::JsonView root() const { return {document_, name_}; }
  const std::string& name() const { return name_; }

  /// The numbers of an accessor, one row after another. Normalised integers become numbers of 0 to 1, or -1 to 1.
  struct Numbers {
    size_t columns = 0;
    size_t rows = 0;
    std::vector<double> values;
    double At(size_t row, size_t column) const { return values[row * columns + column]; }
  };
  /// @param index of the accessor, as a value of the document @param type such as "VEC3" @param components types of
  /// components that are legal here @param most rows
  Numbers Read(const io::JsonView& index, const std::string& type, std::initializer_list<ComponentType> components,
               size_t most) const;

 private:
  std::string name_;
  std::string_view buffer_;
  io::Json document_;
};

/// The element of a list of the document that an index, which is a value of the document, chooses.
io::JsonView Chosen(const io::JsonView& root, const char* list, const io::JsonView& index);

}  // namespace retrace::bodies
