#include "runs/stored/motion_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/sample_control.h"
#include "retrace/io/error.h"
#include "sample_folder.h"

namespace retrace::runs {
namespace {

using testing::EndsWith;

/// What is stored of a table that comes in these pieces.
std::string DifferenceFrom(const std::string& stored, const std::vector<std::string>& pieces) {
  const SampleFolder samples;
  io::WriteFile(samples / "table.csv", stored);
  StoredTable table("table.csv", samples / "table.csv");
  for (const std::string& piece : pieces) table.Compare(piece);
  return table.Finish();
}

TEST(MotionComparison, ATableIsComparedPieceByPiece) {
  const std::string text = "a,b\n1,2\n3,4\n";
  EXPECT_EQ(DifferenceFrom(text, {text}), "");
  EXPECT_EQ(DifferenceFrom(text, {"a,b\n1", ",2\n3,4", "\n"}), "");
  EXPECT_EQ(DifferenceFrom("", {}), "");
  // The line is the first one that differs, in whatever piece it is.
  EXPECT_THAT(DifferenceFrom(text, {"a,b\n1,2\n3,5\n"}),
              EndsWith("table.csv:3: the replay differs from what is stored"));
  EXPECT_THAT(DifferenceFrom(text, {"a,b\n", "1,3\n", "3,4\n"}),
              EndsWith("table.csv:2: the replay differs from what is stored"));
  EXPECT_THAT(DifferenceFrom(text, {"a,b\n1,3\n3,5\n"}),
              EndsWith("table.csv:2: the replay differs from what is stored"));
}

TEST(MotionComparison, ALongerOrShorterTableDiffers) {
  const std::string text = "a,b\n1,2\n3,4\n";
  EXPECT_THAT(DifferenceFrom(text, {"a,b\n1,2\n"}), EndsWith("table.csv:3: the replay differs from what is stored"));
  EXPECT_THAT(DifferenceFrom("a,b\n1,2\n", {text}), EndsWith("table.csv:3: the replay differs from what is stored"));
}

TEST(MotionComparison, OfATableThatIsNotThereTheHashIsCompared) {
  const std::string text = "a,b\n1,2\n3,4\n";
  const auto difference = [&](const std::vector<std::string>& pieces) {
    StoredTable table("table.csv", "manifest.json: /files/3", io::Sha256(text));
    EXPECT_EQ(table.name(), "table.csv");
    for (const std::string& piece : pieces) table.Compare(piece);
    return table.Finish();
  };
  EXPECT_EQ(difference({text}), "");
  EXPECT_EQ(difference({"a,b\n1,2", "\n3,4\n"}), "");
  EXPECT_EQ(difference({"a,b\n1,2\n"}), "manifest.json: /files/3: the replay differs from what was found");
}

TEST(MotionComparison, TheFirstStoredTableThatDiffersIsNamed) {
  const SampleFolder samples;
  const control::Trajectory motion = control::Replay(control::Human(), control::Standing(1));
  const std::vector<NamedTable> tables = StateTables(control::Human(), motion);
  ASSERT_EQ(tables.size(), 3u);
  const auto difference = [&] {
    std::vector<StoredTable> stored;
    for (const NamedTable& table : tables) stored.emplace_back(table.name, samples / table.name);
    MotionComparison comparison(control::Human(), std::move(stored));
    comparison.Add(motion);
    return comparison.Finish();
  };
  for (const NamedTable& table : tables) io::WriteFile(samples / table.name, table.text);
  EXPECT_EQ(difference(), "");
  io::WriteFile(samples / tables[2].name, tables[2].text + "\n");
  EXPECT_THAT(difference(), testing::HasSubstr(tables[2].name));
  std::string changed = tables[1].text;
  changed.back() = ' ';
  io::WriteFile(samples / tables[1].name, changed);
  EXPECT_THAT(difference(), testing::HasSubstr(tables[1].name));
  std::filesystem::remove(samples / tables[0].name);
  EXPECT_THROW(difference(), InputError);
}

}  // namespace
}  // namespace retrace::runs
