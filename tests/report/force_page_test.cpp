/// The page of an estimate of forces.
#include "retrace/report/force_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrace::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ForcePage, BeginsWithTheVerdictAndEscapesTexts) {
  ForcePage page;
  page.title = "a & b";
  page.verdict = "Off by 3 %.";
  page.notes = {"a note"};
  page.sections.push_back({"Errors", "In % < 5.", {{"force", "total"}, {{"vertical", "2.8"}}}, ""});
  page.sections.push_back({"Forces", "", {}, "<?xml version=\"1.0\"?>\n<svg><path/></svg>\n"});
  const std::string html = FormatForcePage(page);
  EXPECT_THAT(html, HasSubstr("<h1>Forces of a &amp; b</h1>\n<p class=\"verdict\">Off by 3 %.</p>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">vertical</th>\n<td>2.8</td>"));
  EXPECT_THAT(html, HasSubstr("In % &lt; 5."));
  EXPECT_THAT(html, HasSubstr("<figure>\n<svg><path/></svg>"));
  EXPECT_THAT(html, Not(HasSubstr("<?xml")));
  EXPECT_THAT(html, Not(HasSubstr("doubtful\"")));
  page.warnings = {"the plates are late"};
  EXPECT_THAT(FormatForcePage(page),
              HasSubstr("<p class=\"verdict doubtful\">Off by 3 %.</p>\n<ul class=\"warnings\">"));
}

}  // namespace
}  // namespace retrace::report
