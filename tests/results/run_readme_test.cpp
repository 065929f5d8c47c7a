/// README.txt of a run folder.
#include "retrace/results/run_readme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/io/file.h"
#include "retrace/results/run_folder.h"

namespace retrace::results {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunReadme, DescribesEveryFileThatARunCanHave) {
  for (const std::string_view name : kRunFiles) EXPECT_FALSE(DescribeRunFile(name).empty()) << name;
  EXPECT_TRUE(DescribeRunFile("notes.txt").empty());
}

TEST(RunReadme, NamesWhatIsThereOnce) {
  const std::string names[] = {"control.json", "filmstrip.svg", "character_1/motion.bvh", "character_2/motion.bvh"};
  const std::string text = FormatReadme(names);
  EXPECT_EQ(text.find("motion.bvh"), text.rfind("motion.bvh"));
  EXPECT_THAT(text, HasSubstr("character_1, character_2"));
  EXPECT_THAT(text, HasSubstr("manifest.json"));
  EXPECT_THAT(text, Not(HasSubstr("torques.csv")));
}

TEST(RunReadme, OfTheUserIsNoneOfOurs) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "retrace_run_readme_test.txt";
  io::WriteFile(file, "Notes of mine\n");
  EXPECT_FALSE(IsReadme(file));
  io::WriteFile(file, FormatReadme({}));
  EXPECT_TRUE(IsReadme(file));
  std::filesystem::remove(file);
  EXPECT_FALSE(IsReadme(file));
}

}  // namespace
}  // namespace retrace::results
