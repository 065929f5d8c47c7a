/// The manuals: their option tables are those of --help, and links lead to pages that are there.
#include "apps/command_line.h"

namespace retrace::apps {
namespace {

using testing::HasSubstr;

const std::string kScript =
    "python3 " RETRACE_SOURCE_DIR "/scripts/check/manual-options --program " RETRACE_PROGRAM " ";

class Manuals : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    if (Execute("python3 --version").code != 0)
      GTEST_SKIP() << "no python3, which scripts/check/manual-options is written in";
  }

  /// A repository with one generator, whose manual has nothing but `text`.
  std::string Repository(const std::string& text) const {
    std::filesystem::create_directories(folder_ / "scripts/assets/make_robot");
    Write("scripts/assets/make_robot/README.md", text);
    return "--root " + folder_.string() + " ";
  }
};

TEST_F(Manuals, HaveTheOptionsOfHelpAndLinksThatLeadSomewhere) {
  const Outcome outcome = Execute(kScript + "--check");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

TEST_F(Manuals, OptionsThatDifferAreNamedWithTheCommandThatWritesThem) {
  const std::string root = Repository("# make_robot\n<!-- options -->\n<!-- /options -->\nThe end.\n");
  Outcome outcome = Execute(kScript + root + "--check");
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("| `--neck` | `1`, `3` | 1 |"));
  EXPECT_THAT(outcome.text, HasSubstr("run scripts/check/manual-options to write them anew"));

  outcome = Execute(kScript + root);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  outcome = Execute(kScript + root + "--check");
  EXPECT_EQ(outcome.code, 0) << outcome.text;

  std::string manual = io::ReadFile(Path("scripts/assets/make_robot/README.md"));
  EXPECT_THAT(manual, HasSubstr("<!-- /options -->\nThe end.\n"));
  const size_t row = manual.find("| `--neck`");
  ASSERT_NE(row, std::string::npos) << manual;
  manual.erase(row, manual.find('\n', row) + 1 - row);
  Write("scripts/assets/make_robot/README.md", manual);
  outcome = Execute(kScript + root + "--check");
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("+| `--neck`"));
}

TEST_F(Manuals, LinksThatLeadNowhereAreNamed) {
  const std::string root = Repository("# make_robot\n<!-- options -->\n<!-- /options -->\n");
  Write("README.md",
        "# Front page\n[a](#front-page) [b](scripts/assets/make_robot/README.md#make_robot) "
        "[c](https://example.org/none.md)\n"
        "`[code](none.md)`\n\n    [code](none.md)\n");
  Outcome outcome = Execute(kScript + root);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("2 links"));

  Write("README.md",
        "# Front page\n[a](none.md) ![b](pictures/none.svg)\n[c](scripts/assets/make_robot/README.md#robot)\n");
  outcome = Execute(kScript + root);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("README.md: none.md: no such file"));
  EXPECT_THAT(outcome.text, HasSubstr("README.md: pictures/none.svg: no such file"));
  EXPECT_THAT(outcome.text, HasSubstr("README.md: scripts/assets/make_robot/README.md#robot: no such heading"));
  EXPECT_THAT(outcome.text, HasSubstr("3 of 3 links"));
}

TEST_F(Manuals, CommandsWithoutOneAreNamed) {
  std::filesystem::create_directories(folder_ / "apps/manual");
  Write("apps/manual/feedback-add.md", "# feedback add\n<!-- options -->\n<!-- /options -->\n");
  const Outcome outcome = Execute(kScript + "--root " + folder_.string());
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("the manual of `retrace track` is missing"));
  EXPECT_THAT(outcome.text, HasSubstr("apps/manual/feedback-add.md: written"));
  EXPECT_THAT(io::ReadFile(Path("apps/manual/feedback-add.md")), HasSubstr("| `--rank-timeout` |"));
}

}  // namespace
}  // namespace retrace::apps
