/// Expressions of users are found in names, and none takes long.
#include "retrace/io/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "retrace/io/error.h"

namespace retrace::io {
namespace {

std::string RefusalOfPattern(const std::string& expression) {
  try {
    Pattern("the clips", expression);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Pattern, IsFoundAnywhereInAText) {
  EXPECT_TRUE(Pattern("", "").IsFoundIn("walk"));
  EXPECT_TRUE(Pattern("", "al").IsFoundIn("walk"));
  EXPECT_FALSE(Pattern("", "^al").IsFoundIn("walk"));
  EXPECT_TRUE(Pattern("", "^(walk|run)_0[1-3]$").IsFoundIn("run_02"));
  EXPECT_TRUE(Pattern("", "\\d+").IsFoundIn("take 12"));
}

TEST(Pattern, WhatIsNoExpressionIsRefusedWithTheReason) {
  EXPECT_EQ(RefusalOfPattern("a("), "the clips \"a(\": expected a regular expression: missing ): a(");
  EXPECT_THAT(RefusalOfPattern("[z-a]"),
              testing::HasSubstr("expected a regular expression: invalid character class range"));
  EXPECT_THAT(RefusalOfPattern("*"), testing::HasSubstr("expected a regular expression"));
  EXPECT_THAT(RefusalOfPattern("(a)\\1"), testing::HasSubstr("expected a regular expression"));
}

// Expressions on which others take a time that is exponential in the length, or a stack as deep as the nesting.
TEST(Pattern, NoneTakesLong) {
  const std::string many(100000, 'a');
  const auto begun = std::chrono::steady_clock::now();
  for (const char* expression : {"(a*)*b", "(a+)+$b", "(a|aa)+b", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)b", "(a?){1000}b"}) {
    EXPECT_FALSE(Pattern("", expression).IsFoundIn(many)) << expression;
  }
  EXPECT_NE(RefusalOfPattern(std::string(20000, '(')), "");
  const std::string nested = std::string(20000, '(') + "b" + std::string(20000, ')');
  if (RefusalOfPattern(nested).empty()) {
    EXPECT_FALSE(Pattern("", nested).IsFoundIn(many));
  }
  EXPECT_NE(RefusalOfPattern(std::string(20000, '[')), "");
  EXPECT_NE(RefusalOfPattern("((a{1000}){1000}){1000}"), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

}  // namespace
}  // namespace retrace::io
