/// Rows of a CSV table (RFC 4180 with '\n' line ends).
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "retrace/io/number.h"
#include "retrace/math/types.h"

namespace retrace::io {

inline constexpr const char* kAxes[] = {"x", "y", "z"};

/// Appends cells to one growing text.
class CsvWriter {
 public:
  void Number(double value) {
    Separate();
    io::AppendNumber(text_, value);
  }
  void Short(double value) {
    Separate();
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 7).ptr;
    text_.append(buffer, end);
  }
  void Integer(int value) {
    Separate();
    char buffer[16];
    text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  void Hex(uint64_t value) {
    Separate();
    for (int shift = 60; shift >= 0; shift -= 4) text_ += "0123456789abcdef"[(value >> shift) & 15];
  }
  void Text(std::string_view cell) {
    Separate();
    if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
      text_ += cell;
      return;
    }
    text_ += '"';
    for (const char c : cell) text_.append(c == '"' ? 2 : 1, c);
    text_ += '"';
  }
  void Vector(const Vec3& v) {
    for (int axis = 0; axis < 3; ++axis) Number(v[axis]);
  }
  void Names(const std::string& prefix) {
    for (const char* axis : kAxes) Text(prefix + axis);
  }
  void EndRow() {
    text_ += '\n';
    row_start_ = text_.size();
  }
  void Reserve(size_t bytes) { text_.reserve(bytes); }
  std::string Take() { return std::move(text_); }

 private:
  void Separate() {
    if (text_.size() != row_start_) text_ += ',';
  }
  std::string text_;
  size_t row_start_ = 0;
};

}  // namespace retrace::io
