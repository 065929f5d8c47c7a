#include "retrace/io/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace retrace::io {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> MakeValues() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  for (size_t i = 0; i < kDigits.size(); ++i) values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr std::array<int8_t, 256> kValues = MakeValues();

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const size_t digits = text.size() - padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int8_t value = i < digits ? kValues[static_cast<unsigned char>(text[i])] : int8_t{0};
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(value);
    if (i % 4 < 3) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(group >> shift & 255);
    group = 0;
  }
  // Bits that the padding cuts off must be zero: every text of bytes is then the only one.
  for (size_t k = 0; k < padding; ++k) {
    if (bytes.back() != 0) return std::nullopt;
    bytes.pop_back();
  }
  return bytes;
}

}  // namespace retrace::io
