#include "retrace/io/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrace {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ErrorMessage, IsOneLineWhateverIsInNamesAndFiles) {
  EXPECT_STREQ(InputError("a\nb.json", "\"\x1b[31m\"", "a \tname").what(),
               "a\\nb.json: found \"\\x1b[31m\", expected a \\tname");
  EXPECT_STREQ(UsageError(std::string("zero\0byte, \x7f", 12)).what(), "zero\\x00byte, \\x7f");
  EXPECT_STREQ(UsageError("\xc2\x9b"
                          "31m\xc2\xa0")
                   .what(),
               "\\x9b"
               "31m\xc2\xa0")
      << "a control sequence of one character";
  EXPECT_STREQ(OutputError("größe/ü: cannot be written").what(), "größe/ü: cannot be written");
}

TEST(ErrorMessage, KeepsBeginAndEndOfALongText) {
  const std::string message = InputError("run.json", std::string(100000, 'x'), "a name").what();
  EXPECT_LT(message.size(), 9000U);
  EXPECT_THAT(message, StartsWith("run.json: found xxx"));
  EXPECT_THAT(message, HasSubstr("x [...] x"));
  EXPECT_THAT(message, EndsWith("xxx, expected a name"));
}

}  // namespace
}  // namespace retrace
