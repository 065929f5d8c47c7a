#include "retrace/planning/response/impact_detection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/response/sample_response.h"
#include "retrace/io/error.h"
#include "retrace/planning/response/contact_episodes.h"

namespace retrace::runs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Responding, TheImpactOfAnotherCharacterIsThatOfTheReplay) {
  const ResponseJob job(ResponseSamples::Get().Struck());
  const control::Scene& scene = job.problem.run.scene;
  const auto touch = FirstImpact(control::Replay(scene), scene.layout(), 0);
  ASSERT_TRUE(touch);
  const Impact impact = FindImpact(job.problem, 0);
  EXPECT_EQ(impact.start, touch->start);
  EXPECT_EQ(impact.duration, std::min(touch->duration(), job.problem.settings.earliest));
  EXPECT_EQ(impact.impulse, touch->impulse.norm());
  EXPECT_THAT(impact.what, AllOf(testing::StartsWith("2:"), HasSubstr(", which meets 1:")));
  EXPECT_EQ(impact.end(), impact.start + impact.duration);
  // There is no later one.
  EXPECT_THAT([&] { FindImpact(job.problem, 100); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("control.json: found an impact that never touches, expected "
                                                        "another character that strikes"))));
}

TEST(Responding, ACharacterThatMissesIsNamedWithItsDistance) {
  ResponseJob job(ResponseSamples::Get().Struck());
  const size_t count = job.problem.character().bodies.size();
  for (size_t b = count; b < 2 * count; ++b) job.problem.run.scene.start[b].position += Vec3(20, 0, 0);
  EXPECT_THAT([&] { FindImpact(job.problem, 0); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("found an impact that never touches: 2:"),
                                              HasSubstr(" comes no nearer than 1"), HasSubstr(" m to 1:"))));
}

TEST(Responding, TheImpactOfAThingLastsUntilTheTwoPart) {
  const ResponseJob job(ResponseSamples::Get().Thrown());
  const ResponseProblem& problem = job.problem;
  const control::Trajectory own = control::Replay(problem.character(), problem.control);
  const auto touch = FirstImpactOfObject(own, 0);
  ASSERT_TRUE(touch);
  const Impact impact = FindImpactOfObject(problem, "ball.json");
  EXPECT_EQ(impact.start, touch->start);
  EXPECT_EQ(impact.duration, touch->duration());
  EXPECT_THAT(impact.what, testing::StartsWith("ball, which meets "));
  // The ball loses about what the character gains.
  const size_t ball = problem.character().bodies.size();
  const auto at = [&](double time) { return static_cast<size_t>(std::lround(time / own.time_step)); };
  const Vec3 lost =
      6 * (own.states[at(touch->start)][ball].linear_velocity - own.states[at(touch->end)][ball].linear_velocity) -
      6 * kStandardGravity * touch->duration() * Vec3::UnitY();
  EXPECT_LT((lost - touch->impulse).norm(), 1e-6 * touch->impulse.norm());
}

TEST(Responding, AThingThatMissesIsNamedWithItsDistance) {
  const auto missing = [](const std::string& position) {
    const ResponseJob job(ResponseSamples::Get().Thrown(position));
  };
  EXPECT_THAT(
      [&] { missing("[5, 1, 4.4]"); },
      ThrowsMessage<InputError>(
          AllOf(HasSubstr("ball.json: found nothing that touches the character (of the centers, that of ball comes no "
                          "nearer than "),
                HasSubstr("expected a body that strikes it"))));
  const ResponseJob pushed(ResponseSamples::Get().Pushed());
  EXPECT_THAT([&] { FindImpactOfObject(pushed.problem, "none.json"); },
              ThrowsMessage<InputError>(HasSubstr("none.json: found no body that moves freely, expected one")));
}

}  // namespace
}  // namespace retrace::runs
