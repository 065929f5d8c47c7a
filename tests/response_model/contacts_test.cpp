#include "retrace/response_model/contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "response_model/sample_walk.h"
#include "retrace/response_model/judge.h"
#include "retrace/response_model/synthesizer.h"

namespace retrace::response_model {
namespace {

TEST(StandingPoints, FeetTakeTurnsInAWalk) {
  FeatureMap features(dynamics::Bundled("human"), {});
  const Eigen::ArrayXXi stands = StandingPoints(features, SampleWalk(96));
  ASSERT_EQ(stands.rows(), 4);  // heel and toe of two feet
  for (Eigen::Index p = 0; p < 4; ++p) {
    const double share = stands.row(p).cast<double>().mean();
    EXPECT_GT(share, 0.3) << p;
    EXPECT_LT(share, 0.8) << p;
  }
  // Somewhere one stands all the time, and never do both feet swing.
  EXPECT_EQ(stands.colwise().maxCoeff().minCoeff(), 1);
  // It is the same walk over another floor.
  std::vector<character::Pose> higher = SampleWalk(96);
  for (character::Pose& pose : higher) pose.root_position.y() += 0.1;
  EXPECT_TRUE((StandingPoints(features, higher) == stands).all());
}

TEST(Judge, SeesFeetThatSlideAtAnySpeed) {
  const ResponseModel& model = SampleModel();
  const std::vector<character::Pose> walk = SampleWalk(200);
  const FeetFigures plain = Judge(model, walk).feet;
  EXPECT_LT(plain.skating, 0.05);
  EXPECT_LT(plain.unsupported, 0.02);
  // Drawn aside at 0.7 m/s, for half of the time: no point of a foot is slow then, and each would be left out by its
  // speed.
  std::vector<character::Pose> drawn = walk;
  for (size_t i = 0; i < drawn.size(); ++i) {
    drawn[i].root_position.x() += 0.7 * kFrame * static_cast<double>(std::min<size_t>(i, 100));
  }
  const FeetFigures skating = Judge(model, drawn).feet;
  EXPECT_NEAR(skating.skating, 0.5, 0.06);
  EXPECT_NEAR(skating.unsupported, 0.5, 0.06);
}

TEST(Synthesizer, HoldsFeetThatStand) {
  const ResponseModel& model = SampleModel();
  FeatureMap features(*model.character, model.options.features);
  Synthesizer synthesizer(model, {});
  synthesizer.Start(model.examples.front(), 10);
  std::vector<bool> held(4, false);
  Posture before, posture;
  int count = 0;
  double sum = 0;
  for (int i = 0; i < 300; ++i) {
    const SynthesisRecord& record = synthesizer.Step({});
    features.Observe(synthesizer.pose(), false, posture);
    ASSERT_EQ(record.held.size(), 4u);  // heel and toe of two feet
    for (size_t p = 0; p < 4; ++p) {
      if (!record.held[p] || !held[p]) continue;
      const Vec3 move = posture.feet[p] - before.feet[p];
      sum += std::hypot(move.x(), move.z());
      ++count;
    }
    held = record.held;
    std::swap(before, posture);
  }
  EXPECT_GT(count, 300);  // of 300 frames, in which one foot or both stand
  EXPECT_LT(sum / count, 0.001);
  // Without the hold, no point is held.
  SynthesisOptions free;
  free.holds_feet = false;
  Synthesizer loose(model, free);
  loose.Start(model.examples.front(), 10);
  const SynthesisRecord& record = loose.Step({});
  EXPECT_TRUE(std::none_of(record.held.begin(), record.held.end(), [](bool is) { return is; }));
}

}  // namespace
}  // namespace retrace::response_model
