/// Bytes as text and back: base64 with padding and without line ends (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace retrace::io {

std::string EncodeBase64(std::string_view bytes);

/// Nothing for a text that is not such an encoding.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace retrace::io
