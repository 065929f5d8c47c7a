/// Text as files hold it.
#pragma once

#include <string_view>

namespace retrace::io {

/// A text in UTF-8 without the byte-order mark with which some tools begin one.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

}  // namespace retrace::io
