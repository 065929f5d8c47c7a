#include "retrace/io/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "retrace/io/error.h"

namespace retrace::io {

enum class Grind { kFine, kCoarse };

struct Mill {
  double speed = 2;
  int stones = 2;
  Grind grind = Grind::kFine;
  std::string miller = "Anna";
};

void Describe(Mill& mill, FieldVisitor& v) {
  v.Section({"drive", "What turns it"}, [&](FieldVisitor& section) {
    section.Field({"speed", "Turns per second", "1/s", {"rate"}}, mill.speed, Real{{0, 10}});
    section.Field({"stones", "Number of stones"}, mill.stones, Integer{1, 4});
  });
  v.Section({"flour", "What it makes"}, [&](FieldVisitor& section) {
    section.Field({"grind", "How fine"}, mill.grind,
                  Words<Grind>{{{Grind::kFine, "fine"}, {Grind::kCoarse, "coarse"}}});
    section.Field({"miller", "Name on the sack"}, mill.miller, Text{});
  });
}

namespace {

Mill With(const std::string& assignment) {
  Mill mill;
  TakeAssignment(assignment, mill);
  return mill;
}

std::string RefusalOf(const std::string& assignment) {
  Mill mill;
  try {
    TakeAssignment(assignment, mill);
  } catch (const UsageError& error) {
    EXPECT_EQ(Write(mill), Write(Mill())) << "a refused assignment changes nothing";
    return error.what();
  }
  return "not refused";
}

TEST(Assignment, SetsOneSettingAndKeepsTheOthers) {
  const Mill mill = With("/drive/speed=3.5");
  EXPECT_EQ(mill.speed, 3.5);
  EXPECT_EQ(mill.stones, 2);
  EXPECT_EQ(With("/drive/rate=4").speed, 4) << "an old key";
}

TEST(Assignment, WordsNeedNoQuotes) {
  EXPECT_EQ(With("/flour/grind=coarse").grind, Grind::kCoarse);
  EXPECT_EQ(With("/flour/grind=\"coarse\"").grind, Grind::kCoarse);
  EXPECT_EQ(With("/flour/miller=12").miller, "12") << "a setting that is a text takes digits as a text";
}

TEST(Assignment, IsADocumentWithThatSettingAlone) {
  const Json document = ParseAssignment(Mill(), "/drive/stones=3");
  EXPECT_EQ(document, (Json{{"drive", {{"stones", 3}}}}));
}

TEST(Assignment, RefusesABadValueByItsPointer) {
  EXPECT_EQ(RefusalOf("/drive/speed=11"), "/drive/speed: found 11, expected a number from 0 to 10");
  EXPECT_EQ(RefusalOf("/drive/stones=two"), "/drive/stones: found \"two\", expected a whole number from 1 to 4");
}

TEST(Assignment, NamesTheNearestSettingOfTheSectionAndThenOfAll) {
  EXPECT_EQ(RefusalOf("/drive/stone=3"),
            "/drive/stone: there is no such setting, did you mean \"/drive/stones\", expected one of /drive/speed, "
            "/drive/stones");
  EXPECT_EQ(RefusalOf("/flour/speed=3"),
            "/flour/speed: there is no such setting, did you mean \"/drive/speed\", expected one of /flour/grind, "
            "/flour/miller");
  EXPECT_EQ(
      RefusalOf("/drive=3"),
      "/drive: there is no such setting, did you mean \"/drive/speed\" or \"/drive/stones\", expected one of /drive, "
      "/flour")
      << "a section is not a setting";
}

TEST(Assignment, RefusesATextOfAnotherForm) {
  EXPECT_EQ(RefusalOf("drive/speed=3"), "found \"drive/speed=3\", expected /section/name=value");
  EXPECT_EQ(RefusalOf("/drive/speed"), "found \"/drive/speed\", expected /section/name=value");
  EXPECT_EQ(RefusalOf(""), "found \"\", expected /section/name=value");
  EXPECT_EQ(RefusalOf("/drive~2=1"), "/drive~2: found a text that is not a JSON pointer, expected /section/name");
}

}  // namespace
}  // namespace retrace::io
