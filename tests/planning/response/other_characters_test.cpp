#include "planning/response/other_characters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/response/sample_response.h"
#include "retrace/planning/segments/frame_sequence.h"

namespace retrace::runs {
namespace {

/// An impact between two characters, from the view of the attacker.
struct Companions {
  Companions() : job(ResponseSamples::Get().Struck()) {
    job.problem.settings.seconds = job.problem.settings.stand = 0.2;
  }

  void LeadBack() {
    struck.emplace(job.problem);
    struck->Simulate(job.problem.control.num_steps());
    hooks.on_line = [&](const std::string& line) { lines.push_back(line); };
    OtherCharacters(*struck, 1, hooks, found).LeadBack();
  }
  const character::ReferenceMotion& own() const { return *job.problem.run.characters[1].reference; }

  ResponseJob job;
  std::optional<ImpactSimulation> struck;
  ResponseHooks hooks;
  std::vector<OtherCharacter> found;
  std::vector<std::string> lines;
};

TEST(Responding, ACharacterWithinItsTolerancesKeepsItsControl) {
  Companions companions;
  metrics::GateLimits& gates = companions.job.problem.run.characters[1].gates;
  gates.joint_position = gates.root_height = gates.root_orientation = 100;
  companions.LeadBack();
  ASSERT_EQ(companions.found.size(), 1u);
  const OtherCharacter& other = companions.found[0];
  EXPECT_EQ(other.character, 1u);
  EXPECT_TRUE(other.undisturbed);
  EXPECT_EQ(other.reached, companions.own().duration());
  EXPECT_EQ(other.reference.size(), NumCompositionFrames(companions.own().duration()));
  EXPECT_EQ(other.cpu_seconds, 0);
  EXPECT_THAT(companions.lines, testing::ElementsAre("character 2 goes on as it is"));
  EXPECT_EQ(companions.struck->others()[1].size(), companions.job.problem.run.scene.fragments[1].size());
}

TEST(Responding, ACharacterOutsideItsTolerancesGetsANewControlAfterTheImpact) {
  Companions companions;
  companions.job.problem.run.characters[1].gates.joint_position = 1e-6;
  const std::vector<control::Fragment> before = companions.job.problem.run.scene.fragments[1];
  companions.LeadBack();
  ASSERT_EQ(companions.found.size(), 1u);
  const OtherCharacter& other = companions.found[0];
  EXPECT_FALSE(other.undisturbed);
  EXPECT_GE(other.from, companions.job.problem.impact.start - 1e-9);
  EXPECT_GT(other.reached, other.from);
  EXPECT_GT(other.cpu_seconds, 0);
  ASSERT_EQ(companions.lines.size(), 1u);
  EXPECT_THAT(companions.lines[0], testing::StartsWith("character 2 is led back to its own motion as far as "));
  // The fragments have no gaps. Up to the end of the impact the control is unchanged.
  const std::vector<control::Fragment>& fragments = companions.struck->others()[1];
  int step = 0;
  for (const control::Fragment& fragment : fragments) {
    EXPECT_EQ(fragment.first_step, step);
    step = fragment.end_step();
  }
  EXPECT_GE(step * companions.struck->h(), other.reached - 1e-9);  // then it comes to rest
  const control::Trajectory was = control::Replay(companions.job.problem.run.scene);
  const auto from = static_cast<size_t>(companions.struck->StepOf(other.from));
  const control::Trajectory& is = companions.struck->whole();
  EXPECT_EQ(control::Fingerprint(is.states[from]), control::Fingerprint(was.states[from]));
  EXPECT_NE(control::Fingerprint(is.states[from + 5]), control::Fingerprint(was.states[from + 5]));
}

TEST(Responding, TheOtherCharactersAreListedWithTheirMotions) {
  Companions companions;
  companions.struck.emplace(companions.job.problem);
  OtherCharacters(*companions.struck, 1, companions.hooks, companions.found).ListAll();
  ASSERT_EQ(companions.found.size(), 1u);
  EXPECT_EQ(companions.found[0].character, 1u);
  EXPECT_FALSE(companions.found[0].undisturbed);
  EXPECT_EQ(companions.found[0].reached, companions.own().duration());
  EXPECT_EQ(companions.found[0].reference.size(), NumCompositionFrames(companions.own().duration()));
}

}  // namespace
}  // namespace retrace::runs
