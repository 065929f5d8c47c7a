/// Rows of a CSV table (RFC 4180 with '\n' line ends).
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "retrace/io/number.h"
#include "retrace/math/types.h"

namespace retrace::io {

inline constexpr const char* kAxes[] = {"x", "y", "z"};

/// Whether a spreadsheet evaluates a cell with this text.
inline bool IsFormula(std::string_view cell) {
  return cell.size() > 1 && std::string_view("=+-@\t\r").find(cell.front()) != std::string_view::npos;
}

/// Appends cells, each with the comma before it where it is not the first of its row, to one growing text.
class CsvWriter {
 public:
  /// The shortest text that reads back as the same number.
  void Number(double value) {
    Separate();
    io::AppendNumber(text_, value);
  }
  /// The same; an empty cell for not-a-number, which stands for a figure that could not be measured.
  void NumberOrEmpty(double value) {
    Separate();
    if (!std::isnan(value)) io::AppendNumber(text_, value);
  }
  /// Seven significant digits.
  void Short(double value) {
    Separate();
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 7).ptr;
    text_.append(buffer, end);
  }
  /// The same; an empty cell for not-a-number.
  void ShortOrEmpty(double value) {
    if (std::isnan(value)) return Separate();
    Short(value);
  }
  void Integer(int value) {
    Separate();
    char buffer[16];
    text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  /// Sixteen digits.
  void Hex(uint64_t value) {
    Separate();
    for (int shift = 60; shift >= 0; shift -= 4) text_ += "0123456789abcdef"[(value >> shift) & 15];
  }
  /// In quotation marks where it needs them. What spreadsheets would take for a formula begins with an apostrophe,
  /// which tells them that it is text; numbers stay as they are.
  void Text(std::string_view cell) {
    Separate();
    double number = 0;
    // And what already begins so, that one apostrophe can be taken away again.
    const bool formula =
        (IsFormula(cell) && !ParseNumber(cell, number)) || (cell.starts_with('\'') && IsFormula(cell.substr(1)));
    if (!formula && cell.find_first_of(",\"\r\n") == std::string_view::npos) {
      text_ += cell;
      return;
    }
    text_ += formula ? "\"'" : "\"";
    for (const char c : cell) text_.append(c == '"' ? 2 : 1, c);
    text_ += '"';
  }
  /// Three cells.
  void Vector(const Vec3& v) {
    for (int axis = 0; axis < 3; ++axis) Number(v[axis]);
  }
  /// Three names of columns: the prefix followed by x, y and z.
  void Names(const std::string& prefix) {
    for (const char* axis : kAxes) Text(prefix + axis);
  }
  void EndRow() {
    text_ += '\n';
    row_is_empty_ = true;
  }
  void Reserve(size_t bytes) { text_.reserve(bytes); }
  std::string Take() { return std::move(text_); }

 private:
  void Separate() {
    if (!row_is_empty_) text_ += ',';
    row_is_empty_ = false;
  }
  std::string text_;
  bool row_is_empty_ = true;  // an empty first cell leaves no other trace
};

}  // namespace retrace::io
