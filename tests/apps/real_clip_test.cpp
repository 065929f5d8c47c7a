/// A real recording, as far as it is there.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

TEST_F(CommandLine, ReconstructsTheBeginningOfAWalk) {
  const std::string clip = std::string(RETRACE_SHARED_DIR) + "/mocap/clips/walk_m_games105.bvh";
  if (!std::filesystem::exists(clip)) GTEST_SKIP() << clip << " is missing";
  const std::string run = Path("run");
  const Outcome outcome = Execute(kReconstruct + " " + clip + kSmall + "--output " + run);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(io::ReadJson(run + "/manifest.json")["preparation"]["motion"]["kind"], "locomotion");
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
}

}  // namespace
}  // namespace retrace::apps
