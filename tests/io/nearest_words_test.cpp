/// Words that were meant by misspelled ones.
#include "retrace/io/nearest_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrace::io {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WordDistance, CountsTheLettersThatChange) {
  EXPECT_EQ(WordDistance("", ""), 0u);
  EXPECT_EQ(WordDistance("", "abc"), 3u);
  EXPECT_EQ(WordDistance("track", "track"), 0u);
  EXPECT_EQ(WordDistance("track", "trick"), 1u) << "replaced";
  EXPECT_EQ(WordDistance("track", "trak"), 1u) << "removed";
  EXPECT_EQ(WordDistance("track", "traack"), 1u) << "inserted";
  EXPECT_EQ(WordDistance("track", "tarck"), 1u) << "exchanged";
  EXPECT_EQ(WordDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(WordDistance("ca", "abc"), 3u) << "no letter is edited twice";
}

TEST(WordDistance, IsTheSameBothWays) {
  const std::vector<std::string> words = {"", "a", "ab", "ba", "reconstruct", "recnostruct", "replay", "report"};
  for (const std::string& a : words) {
    for (const std::string& b : words) EXPECT_EQ(WordDistance(a, b), WordDistance(b, a)) << a << " " << b;
  }
}

TEST(WordDistance, TakesCapitalsAndUnderscoresForTheSame) {
  EXPECT_EQ(WordDistance("Time_Step", "time-step"), 0u);
}

TEST(NearestWords, AreThoseAtTheSmallestDistance) {
  const std::vector<std::string> commands = {"reconstruct", "replay", "report", "respond", "track", "export"};
  EXPECT_THAT(NearestWords("recnstruct", commands), ElementsAre("reconstruct"));
  EXPECT_THAT(NearestWords("Track", commands), ElementsAre("track"));
  EXPECT_THAT(NearestWords("repot", commands), ElementsAre("report"));
  EXPECT_THAT(NearestWords("eport", commands), ElementsAre("report", "export"));
  EXPECT_THAT(NearestWords("recon", commands), ElementsAre("reconstruct")) << "a beginning";
  EXPECT_THAT(NearestWords("xyz", commands), IsEmpty());
  EXPECT_THAT(NearestWords("x", {"y"}), IsEmpty());
  EXPECT_THAT(NearestWords("", commands), IsEmpty());
}

TEST(NearestWords, AreAsked) {
  EXPECT_EQ(DidYouMean("trak", {"track", "report"}), "did you mean \"track\"?");
  EXPECT_EQ(DidYouMean("eport", {"report", "export"}), "did you mean \"report\" or \"export\"?");
  EXPECT_EQ(DidYouMean("nothing", {"report"}), "");
}

}  // namespace
}  // namespace retrace::io
