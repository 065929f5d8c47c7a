/// Numbers as text: shortest form that reads back to the same double, independent of the locale.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace retrace::io {

/// Appends the shortest decimal form of `value` that reads back to exactly `value` (`nan`, `inf` for the rest).
inline void AppendNumber(std::string& text, double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  text.append(buffer, end);
}

inline std::string Number(double value) {
  std::string text;
  AppendNumber(text, value);
  return text;
}

/// Appends `value` with a fixed number of decimals (for files that people read).
inline void AppendFixed(std::string& text, double value, int decimals) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr;
  text.append(buffer, end);
}

inline std::string Fixed(double value, int decimals) {
  std::string text;
  AppendFixed(text, value, decimals);
  return text;
}

/// Reads a whole token as a double; false when any part of it is not a number. A leading '+' is accepted, as in C.
inline bool ParseNumber(std::string_view token, double& value) {
  if (token.starts_with('+') && !token.starts_with("+-")) token.remove_prefix(1);
  const auto result = std::from_chars(token.data(), token.data() + token.size(), value);
  return result.ec == std::errc() && result.ptr == token.data() + token.size();
}

}  // namespace retrace::io
