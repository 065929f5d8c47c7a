#include "retrace/io/stop_request.h"

#include <gtest/gtest.h>

#include <csignal>

namespace retrace::io {
namespace {

using Clock = StopRequest::Clock;

TEST(Durations, AreWrittenAsBatchSystemsDo) {
  EXPECT_EQ(ParseDuration("90"), 90);
  EXPECT_EQ(ParseDuration("0.5"), 0.5);
  EXPECT_EQ(ParseDuration("15:00"), 900);
  EXPECT_EQ(ParseDuration("1:30:00"), 5400);
  EXPECT_EQ(ParseDuration("2-12:00:00"), 2.5 * 86400);
  EXPECT_EQ(ParseDuration("1-0"), 86400);
  EXPECT_EQ(ParseDuration("1000-0"), 1000 * 86400.0);
}

TEST(Durations, OtherTextsAreRefused) {
  for (const char* text : {"", "0", "-5", "a", "1:", ":1", "1:2:3:4", "1e3", "1 h", "1.2.3", "1000-1", "nan", "1-"}) {
    EXPECT_THROW(ParseDuration(text), UsageError) << text;
  }
}

TEST(StopRequests, WithoutALimitNothingStops) {
  StopRequest stop(0, Clock::now() - std::chrono::hours(100));
  EXPECT_FALSE(stop());
  EXPECT_EQ(stop.reason(), "");
  EXPECT_EQ(stop.ReasonFor(StoppedError("a rank hangs")), "a rank hangs");
}

/// As long as the time since the question before still fits into the limit, another iteration may begin.
TEST(StopRequests, StopBeforeTheIterationThatWouldEndAfterTheLimit) {
  StopRequest early(3600);
  EXPECT_FALSE(early());
  StopRequest late(100, Clock::now() - std::chrono::seconds(101));
  EXPECT_TRUE(late());
  EXPECT_EQ(late.reason(), "the time limit of 100 s");
  EXPECT_EQ(late.ReasonFor(StoppedError("a rank hangs")), "the time limit of 100 s");
  EXPECT_TRUE(late());
}

TEST(StopRequests, ASignalIsARequest) {
  const auto before = std::signal(SIGUSR1, SIG_DFL);
  HandleStopSignals();
  StopRequest stop(0);
  EXPECT_FALSE(stop());
  std::raise(SIGUSR1);
  EXPECT_TRUE(stop());
  EXPECT_NE(stop.reason().find("signal "), std::string::npos);
  std::signal(SIGUSR1, before);
}

}  // namespace
}  // namespace retrace::io
