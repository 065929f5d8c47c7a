/// What can stand in XML, SVG and HTML, written out.
#include "retrace/io/xml.h"

#include <gtest/gtest.h>

namespace retrace::io {
namespace {

TEST(EscapeXml, LeavesPlainTextAlone) {
  EXPECT_EQ(EscapeXml(""), "");
  EXPECT_EQ(EscapeXml("a walk, 2.5 m/s; caf\u00e9"), "a walk, 2.5 m/s; caf\u00e9");
}

TEST(EscapeXml, KeepsMarkupOutOfContentAndAttributes) {
  EXPECT_EQ(EscapeXml("<b a=\"1\" c='2'>&amp;</b>"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
}

/// XML 1.0, production 2 (Char): of the characters below U+0020 only tab, line feed and carriage return.
TEST(EscapeXml, DropsWhatXmlCannotHold) {
  for (int c = 0; c < 0x20; ++c) {
    const std::string text = {'a', static_cast<char>(c), 'b'};
    const bool allowed = c == '\t' || c == '\n' || c == '\r';
    EXPECT_EQ(EscapeXml(text), allowed ? text : "ab") << c;
  }
}

}  // namespace
}  // namespace retrace::io
