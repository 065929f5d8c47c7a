/// Binary glTF 2.0 (GLB): the container, and accessors, which are numbers of the JSON document in the buffer. The
/// caller decides what the document says.
///
/// The container is twenty bytes around a JSON document and one buffer; a glTF library would write these, and leave all
/// that is worth having one for, geometry and accessors, to us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/io/json.h"

namespace retrace::io::glb {

// Numbers that the specification gives meanings (glTF 2.0, sections 3.6.2.2, 3.7.2.1, 5.1 and 5.11).
enum ComponentType {
  kByte = 5120,
  kUnsignedByte = 5121,
  kShort = 5122,
  kUnsignedShort = 5123,
  kUnsignedInt = 5125,
  kFloat = 5126
};
enum Target { kNoTarget = 0, kArrayBuffer = 34962, kElementArrayBuffer = 34963 };
inline constexpr int kTriangles = 4;

/// A file that was read. All functions throw InputError.
class Reader {
 public:
  Reader(const std::string& bytes, std::string name);

  JsonView root() const { return {document_, name_}; }
  const std::string& name() const { return name_; }

  /// The numbers of an accessor, one row after another. Normalized integers become numbers of 0 to 1, or -1 to 1.
  struct Numbers {
    size_t columns = 0;
    size_t rows = 0;
    std::vector<double> values;
    double At(size_t row, size_t column) const { return values[row * columns + column]; }
  };
  /// @param index of the accessor, as a value of the document @param type such as "VEC3" @param components types of
  /// components that are legal here @param most rows
  Numbers Read(const JsonView& index, const std::string& type, std::initializer_list<ComponentType> components,
               size_t most) const;

 private:
  std::string name_;
  std::string_view buffer_;
  Json document_;
};

/// The element of a list of the document that an index, which is a value of the document, chooses.
JsonView Chosen(const JsonView& root, const char* list, const JsonView& index);

/// A document and its buffer as they grow.
class Writer {
 public:
  /// An empty scene. @param generator name of the program, for the document
  explicit Writer(const std::string& generator);

  /// Adds numbers to the buffer and returns the number of their accessor. `values` are the components of one element
  /// after another, `components` in each: 1 to 4, or 16 for a matrix by columns. `Value` is float, uint32_t, uint16_t
  /// or uint8_t. @param bounds whether smallest and largest of each component are stated
  template <typename Value>
  int AddAccessor(const std::vector<Value>& values, int components, Target target = kNoTarget, bool bounds = false,
                  bool normalized = false);

  /// Adds an entry to a list of the document and returns its number there.
  int Push(const char* list, Json entry);
  Json& json() { return json_; }

  /// The file, when nothing is added any more.
  std::string Bytes();

 private:
  Json json_;
  std::string bytes_;
};

}  // namespace retrace::io::glb
