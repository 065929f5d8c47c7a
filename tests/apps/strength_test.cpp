/// Torques that are limited, as a user meets them: --strength, --servos, and the limits of a character's file.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The largest size of a number in the columns of a joint's torques.
double LargestTorque(const std::string& run, const std::string& joint) {
  const results::Table torques = results::ReadTable(run + "/torques.csv");
  double largest = 0;
  for (const char* axis : {"_x", "_y", "_z"}) {
    if (!torques.Has(joint + axis)) continue;
    for (const double torque : torques.Numbers(joint + axis)) largest = std::max(largest, std::abs(torque));
  }
  return largest;
}

class Strength : public CommandLine {};

TEST_F(Strength, LimitsHoldWithEveryMethodAndInAFreshProcess) {
  const std::string walk = " " + kWalkClip + " --end 0.6 --check-continuation 0 --strength 60 --strength ankle=25";
  for (const std::string method :
       {"tracking", "sampling --samples 60 --saved 12", "trajectory --set /trajectory/budget=200"}) {
    const std::string run = Path("run-" + method.substr(0, 5));
    const Outcome outcome =
        Execute(kReconstruct + walk + " --verbose --set /gates/saturation=1 --method " + method + " --output " + run);
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("largest torques: all joints 60 N m, ankle 25 N m"));
    EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0) << "the same bytes in a fresh process";
    EXPECT_LE(LargestTorque(run, "left_ankle"), 25);
    EXPECT_LE(LargestTorque(run, "left_hip"), 60);
    const io::Json manifest = io::ReadJson(run + "/manifest.json");
    EXPECT_TRUE(manifest["evaluation"]["saturation"].contains("left_ankle")) << method;
    EXPECT_TRUE(manifest["evaluation"]["gates"].contains("saturation")) << method;
  }
}

TEST_F(Strength, ALimitThatIsNotReachedChangesNoByteOfASearch) {
  const std::string walk = kReconstruct + " " + kWalkClip +
                           " --end 0.5 --method sampling --set /run/baseline=reference --samples 40 --saved 8 "
                           "--check-continuation 0 --set /refinement/passes=0 --output ";
  ASSERT_EQ(Execute(walk + Path("any")).code, 0);
  ASSERT_EQ(Execute(walk + Path("strong") + " --strength 5000").code, 0);
  EXPECT_EQ(io::ReadFile(Path("any") + "/trajectory.csv"), io::ReadFile(Path("strong") + "/trajectory.csv"));
  EXPECT_FALSE(io::ReadJson(Path("any") + "/manifest.json")["evaluation"].contains("saturation"));
}

TEST_F(Strength, ServosOfASubjectAreChosen) {
  const std::string subject = kTrack + " " + kWalkClip + " --end 0.3 --character subject --dry-run --servos ";
  EXPECT_THAT(Execute(subject + "kept").text, HasSubstr("the servos are those of adult"));
  EXPECT_THAT(Execute(subject + "paper").text, HasSubstr("Al Borno et al. 2018"));
  EXPECT_THAT(Execute(subject + "scaled").text, Not(HasSubstr("servos are")));
}

TEST_F(Strength, WrongOnesAreRefused) {
  ExpectRefusals(kTrack, {{kWalkClip + " --strength strong", 2, "found \"strong\", expected a torque in N m"},
                          {kWalkClip + " --strength left_kne=50", 2, "did you mean \"left_knee\"?"},
                          {kWalkClip + " --servos weak", 2, "weak"}});
}

}  // namespace
}  // namespace retrace::apps
