#include "retrace/jobs/response_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "planning/response/sample_response.h"
#include "retrace/control/control.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"
#include "retrace/planning/response/response.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;

std::string Refusal(const ResponseOptions& options) {
  try {
    const ResponseJob job(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ResponseJob, APushIsTheImpact) {
  const ResponseOptions options = ResponseSamples::Get().Pushed();
  const ResponseJob job(options);
  EXPECT_EQ(job.problem.impact.start, 0.6);
  EXPECT_EQ(job.problem.impact.duration, 0.1);
  EXPECT_NEAR(job.problem.impact.impulse, 25, 1e-9);
  EXPECT_THAT(job.problem.impact.what, HasSubstr("trunk"));
  ASSERT_EQ(job.problem.pushes.size(), 1u);
  EXPECT_EQ(job.problem.pushes[0].force, Vec3(0, 0, -250));
  EXPECT_TRUE(job.problem.control.pushes.empty());
  EXPECT_FALSE(job.problem.has_others());
  EXPECT_NEAR(job.problem.control.duration(), 2.4, 1e-9);
  // Mirrored motions follow, unless they are not wanted.
  EXPECT_EQ(job.problem.library.motions().motions().size(), 4u);
  ResponseOptions plain = options;
  plain.mirrored = false;
  EXPECT_EQ(ResponseJob(plain).problem.library.motions().motions().size(), 2u);
  EXPECT_THAT(job.Files(), testing::Contains(options.run / "control.json"));
}

TEST(ResponseJob, TheReceiverBecomesTheFirstCharacter) {
  ResponseOptions options = ResponseSamples::Get().Struck();
  const ResponseJob first(options);
  options.struck = 1;
  const ResponseJob second(options);
  const size_t count = first.problem.character().bodies.size();
  ASSERT_EQ(second.problem.run.scene.start.size(), 2 * count);
  for (size_t b = 0; b < count; ++b) {
    EXPECT_EQ(second.problem.run.scene.start[b].position, first.problem.run.scene.start[count + b].position);
    EXPECT_EQ(second.problem.run.scene.start[count + b].position, first.problem.run.scene.start[b].position);
  }
  EXPECT_EQ(&second.problem.run.characters[0].reference->character(), &second.problem.run.scene.characters[0]);
  // The impact is the same.
  EXPECT_EQ(second.problem.impact.start, first.problem.impact.start);
  EXPECT_NEAR(second.problem.impact.impulse, first.problem.impact.impulse, 1e-6 * first.problem.impact.impulse);
  EXPECT_THAT(second.problem.impact.what, HasSubstr(", which meets 1:"));
}

TEST(ResponseJob, RefusesInputsWithoutAnImpact) {
  const ResponseSamples& samples = ResponseSamples::Get();
  ResponseOptions neither = samples.Pushed("");
  EXPECT_THAT(Refusal(neither), HasSubstr("found neither, expected one"));
  ResponseOptions both = samples.Pushed();
  both.worlds = {"crates"};
  EXPECT_THAT(Refusal(both), HasSubstr("found both, expected one"));
  ResponseOptions third = samples.Struck();
  third.struck = 2;
  EXPECT_THAT(Refusal(third), HasSubstr("struck: found 3, expected one of the 2 characters"));
  ResponseOptions pushed = samples.Struck();
  pushed.push = "1:trunk,0:0:9,0.1,0.1";
  EXPECT_THAT(Refusal(pushed),
              HasSubstr("found several characters and a push, expected an impact of one of them alone"));
  ResponseOptions open_loop = samples.Pushed();
  open_loop.kinematic = open_loop.open_loop = true;
  EXPECT_THAT(Refusal(open_loop), HasSubstr("found a kinematic transition and an open loop"));
  ResponseOptions kinematic = samples.Struck();
  kinematic.kinematic = true;
  EXPECT_NO_THROW(ResponseJob{kinematic});
  ResponseOptions early = samples.Pushed();
  early.latest = 0.1;
  EXPECT_THAT(Refusal(early), HasSubstr("latest: found 0.10 s"));
  ResponseOptions ice = samples.Pushed("");
  ice.worlds = {"ice"};
  EXPECT_THAT(Refusal(ice), HasSubstr("found another ground or fixed things"));
  ResponseOptions nowhere = samples.Pushed();
  nowhere.run = "nowhere";
  EXPECT_THAT(Refusal(nowhere), HasSubstr("nowhere"));
  ResponseOptions no_library = samples.Pushed();
  no_library.library = no_library.run;
  EXPECT_THAT(Refusal(no_library), HasSubstr("library.json"));
}

/// Every number and every switch of the configuration that is said to be without effect on a response is without
/// effect, all of them changed at once; and of those that are not, a change shows.
TEST(ResponseJob, WhatIsSaidToBeWithoutEffectIsSo) {
  ResponseOptions options = ResponseSamples::Get().Pushed();
  options.search_anyway = true;
  const auto control = [](const ResponseOptions& o) {
    const ResponseJob job(o);
    return control::Fingerprint(
        control::Replay(job.problem.character(), Respond(job.problem, 1).control).states.back());
  };
  for (const bool kinematic : {false, true}) {
    options.kinematic = kinematic;
    ResponseOptions changed = options;
    size_t without = 0, with = 0;
    const io::Json all = options.configuration.ToJson();
    for (const auto& [section, settings] : all.items()) {
      for (const auto& [name, value] : settings.items()) {
        const std::string setting = "/" + section + "/" + name;
        if (WhyWithoutEffect(setting, kinematic).empty()) {
          ++with;
          continue;
        }
        ++without;
        std::vector<std::string> others;  // the next legal value
        if (value.is_boolean()) others = {value.get<bool>() ? "false" : "true"};
        if (value.is_number_integer()) others = {std::to_string(value.get<int64_t>() + 1)};
        if (value.is_number_float()) {
          for (const double factor : {0.97, 1.03}) others.push_back(io::Number(factor * value.get<double>()));
        }
        for (const std::string& other : others) {
          Configuration tried = changed.configuration;
          try {
            tried.Set(setting + "=" + other);
          } catch (const Error&) {
            continue;
          }
          if (tried.Validate()) continue;
          changed.configuration = tried;
          break;
        }
      }
    }
    EXPECT_GT(without, 20u);
    EXPECT_GT(with, 20u);
    const uint64_t before = control(options);
    EXPECT_EQ(control(changed), before) << kinematic;
    if (kinematic) continue;
    ResponseOptions effective = options;
    effective.configuration.Set("/tracking/stiffness=0.06");
    EXPECT_NE(control(effective), before);
  }
}

}  // namespace
}  // namespace retrace::runs
