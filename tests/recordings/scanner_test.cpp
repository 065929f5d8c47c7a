#include "recordings/scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "retrace/io/error.h"

namespace retrace::motion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> WordsOf(std::string_view text, Scanner::Braces braces = Scanner::Braces::kOrdinary) {
  Scanner scanner(text, "a.txt", braces);
  std::vector<std::string> words;
  for (Token token = scanner.Next(); !token.end(); token = scanner.Next()) words.emplace_back(token.text);
  return words;
}

std::string RefusalOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Scanner, SplitsAtBlanksAndLineEnds) {
  EXPECT_THAT(WordsOf("a  b\tc\r\nd\re\n"), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(WordsOf("\xef\xbb\xbfHIERARCHY"), ElementsAre("HIERARCHY"));
  EXPECT_THAT(WordsOf("joint{a}"), ElementsAre("joint{a}"));
  EXPECT_THAT(WordsOf("joint{a} {}", Scanner::Braces::kAlone), ElementsAre("joint", "{", "a", "}", "{", "}"));
  EXPECT_TRUE(WordsOf(" \n\t\r\n").empty());
}

TEST(Scanner, WordsHaveTheirPositions) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string text = "one two" + std::string(end) + "  three";
    Scanner scanner(text, "a.txt", Scanner::Braces::kOrdinary);
    const Token one = scanner.Next(), two = scanner.Next();
    EXPECT_TRUE(scanner.AtLineEnd());
    const Token three = scanner.Next();
    EXPECT_TRUE(one.starts_line);
    EXPECT_FALSE(two.starts_line);
    EXPECT_TRUE(three.starts_line);
    EXPECT_EQ(two.line, 1);
    EXPECT_EQ(two.column, 5);
    EXPECT_EQ(three.line, 2);
    EXPECT_EQ(three.column, 3);
    EXPECT_TRUE(scanner.Next().end());
    EXPECT_EQ(scanner.remaining(), 0u);
  }
}

TEST(Scanner, SkipsLinesAndSplitsAfterColons) {
  Scanner scanner("Frames:24 x\n# a comment\nb", "a.txt", Scanner::Braces::kOrdinary);
  scanner.SplitAfterColon();
  EXPECT_EQ(scanner.Next().text, "Frames:");
  EXPECT_EQ(scanner.Peek().text, "24");
  EXPECT_EQ(scanner.Next().text, "24");
  scanner.SkipLine();
  EXPECT_EQ(scanner.Next().text, "#");
  scanner.SkipLine();
  EXPECT_EQ(scanner.Next().text, "b");
}

TEST(Scanner, ReadsNumbersWithinTheirLimits) {
  Scanner scanner("1 -2.5e3 +.5 1e9\n7", "a.txt", Scanner::Braces::kOrdinary);
  EXPECT_EQ(scanner.Number("a number"), 1);
  EXPECT_EQ(scanner.Number("a number"), -2500);
  EXPECT_EQ(scanner.Number("a number"), 0.5);
  EXPECT_EQ(scanner.NumberInLine("a number"), 1e9);
  EXPECT_THAT(RefusalOf([&] { scanner.NumberInLine("the fifth number"); }),
              testing::AllOf(HasSubstr("a.txt:1:"), HasSubstr("the fifth number")));
  for (const char* text : {"nan", "inf", "1e400", "1.1e9", "0x10", "1,5", "12a", ""}) {
    EXPECT_THAT(RefusalOf([&] { Scanner(text, "a.txt", Scanner::Braces::kOrdinary).Number("a number"); }),
                HasSubstr("a.txt:1:1: found "))
        << text;
  }
}

/// The fast reader takes nothing that the careful one would refuse, and leaves what it does not take.
TEST(Scanner, ALookAtANumberIsTheSameNumber) {
  for (const char* text :
       {"0", "-0.25", "123456.789", "1e9", "2e9", "1.5e-3", "nan", "1.2.3", "-", "x", "99999999999"}) {
    Scanner looking(text, "a.txt", Scanner::Braces::kOrdinary), careful(text, "a.txt", Scanner::Braces::kOrdinary);
    double value = -7;
    if (looking.TryNumber(value)) {
      EXPECT_EQ(value, careful.Number("a number")) << text;
      EXPECT_TRUE(looking.Next().end());
    } else {
      EXPECT_EQ(looking.Next().text, text);
    }
  }
  Scanner line("1\n2", "a.txt", Scanner::Braces::kOrdinary);
  double value = 0;
  EXPECT_TRUE(line.TryNumber(value));
  EXPECT_FALSE(line.TryNumber(value));  // on the next line
}

TEST(Scanner, WordsInMessagesAreQuotedAndShortened) {
  EXPECT_EQ(Quoted("abc"), "'abc'");
  EXPECT_EQ(Quoted("a\x01\xff"), "'a\\x01\\xff'");
  EXPECT_THAT(Quoted(std::string(100, 'a')), testing::EndsWith("...'"));
  EXPECT_LT(Quoted(std::string(100, 'a')).size(), 60u);
}

TEST(Scanner, ComparesWordsAndReadsWholeNumbers) {
  EXPECT_TRUE(EqualsNoCase("Frames", "frames"));
  EXPECT_FALSE(EqualsNoCase("Frame", "frames"));
  int64_t value = 0;
  EXPECT_TRUE(ParseInteger("-42", value));
  EXPECT_EQ(value, -42);
  for (const char* text : {"", "4.2", "42 ", "99999999999999999999", "a"})
    EXPECT_FALSE(ParseInteger(text, value)) << text;
}

}  // namespace
}  // namespace retrace::motion
