#include "variation.h"

#include <cmath>

namespace retrace::tracking {
namespace {

// Standard deviations. Factors are log-normal: e to the power of these.
constexpr double kLittle = 0.5, kSome = 0.7, kMuch = 1.4;
constexpr double kAhead = 0.01;    // [s]
constexpr double kCenter = 0.007;  // [m]
constexpr double kHeight = 0.004;  // [m]
constexpr double kPitch = 0.03;    // [rad]

/// The same of a small change.
constexpr double kSmall = 0.3;

}  // namespace

Options Varied(const Options& options, const Variation& variation) {
  Options varied = options;
  varied.guidance *= variation.guidance;
  varied.guidance_feedback *= variation.guidance_feedback;
  varied.standing_share *= variation.standing_share;
  varied.leg_weight *= variation.leg_weight;
  varied.foot_feedback *= variation.foot_feedback;
  varied.feedback *= variation.feedback;
  varied.root_rotation_weight *= variation.root_rotation_weight;
  varied.contact_weight *= variation.contact_weight;
  varied.stance_feedback *= variation.stance_feedback;
  varied.placement_distance *= variation.placement_distance;
  varied.placement_velocity *= variation.placement_velocity;
  return varied;
}

Variation DrawVariation(const Variation* near, RandomStream& random) {
  Variation drawn = near != nullptr ? *near : Variation();
  const double scale = near != nullptr ? kSmall : 1;
  const auto multiply = [&](double& factor, double deviation) {
    factor *= std::exp(scale * deviation * random.Normal());
  };
  const auto add = [&](double& value, double deviation) { value += scale * deviation * random.Normal(); };
  multiply(drawn.standing_share, kMuch);
  multiply(drawn.leg_weight, kSome);
  multiply(drawn.guidance, kMuch);
  multiply(drawn.guidance_feedback, kSome);
  multiply(drawn.foot_feedback, kSome);
  multiply(drawn.feedback, kLittle);
  multiply(drawn.root_rotation_weight, kSome);
  multiply(drawn.contact_weight, kMuch);
  multiply(drawn.stance_feedback, kSome);
  multiply(drawn.placement_distance, kLittle);
  multiply(drawn.placement_velocity, kLittle);
  add(drawn.ahead, kAhead);
  add(drawn.center_x, kCenter);
  add(drawn.center_z, kCenter);
  for (double& height : drawn.height) add(height, kHeight);
  for (double& pitch : drawn.pitch) add(pitch, kPitch);
  return drawn;
}

}  // namespace retrace::tracking
