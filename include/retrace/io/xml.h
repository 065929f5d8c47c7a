/// Text inside XML, SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace retrace::io {

/// The text as the content of an element or inside an attribute's quotation marks: `&`, `<`, `>`, `"` and `'` become
/// entities. Control characters other than tab and line ends, which XML 1.0 does not allow in any form, are left out.
std::string EscapeXml(std::string_view text);

}  // namespace retrace::io
