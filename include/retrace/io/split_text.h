/// What the readers of lists and of options share.
#pragma once

#include <string>
#include <vector>

namespace retrace::io {

/// The parts of a text between separators: one more than there are separators.
inline std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace retrace::io
