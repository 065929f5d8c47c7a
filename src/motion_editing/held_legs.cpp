#include "held_legs.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/gates.h"

namespace retrace::repair {
namespace {

// A foot is held fully up to the first height over the floor, and not at all from the second on; of the human [m].
constexpr double kHeld = 0.03;
constexpr double kFree = 0.1;
constexpr double kNegligible = 2e-4;  // [m]

}  // namespace

void HoldFeet(const character::Character& character, const std::vector<character::Pose>& unmoved,
              const std::vector<double>& floor, const std::vector<double>& flies,
              const std::vector<std::vector<double>>& beside, std::vector<character::Pose>& moved) {
  const double size = character.height / metrics::kHumanHeight;
  std::vector<character::State> before(unmoved.size()), after(unmoved.size());
  for (size_t i = 0; i < unmoved.size(); ++i) {
    character::ForwardKinematics(character, unmoved[i], before[i]);
    character::ForwardKinematics(character, moved[i], after[i]);
  }
  for (character::Leg leg : character::LegsOf(character)) {
    leg.folding = character::FoldingOf(character, leg, before);
    const character::Joint& ankle = character.joints[static_cast<size_t>(leg.ankle)];
    const auto foot = static_cast<size_t>(ankle.child);
    for (size_t i = 0; i < unmoved.size(); ++i) {
      const Vec3 shift = moved[i].root_position - unmoved[i].root_position;
      const double height = character::LowestPoint(character.bodies[foot], before[i][foot]) + floor[i];
      const double high = SmoothStep(std::clamp((height / size - kHeld) / (kFree - kHeld), 0.0, 1.0));
      const double free = std::max(high, flies[i]);
      const double low = beside[foot].empty() ? 0 : beside[foot][i];
      const Vec3 wanted = free * shift + (1 - free) * Vec3(0, floor[i], 0) - Vec3(0, low, 0);
      if ((wanted - shift).norm() < kNegligible) continue;
      const Vec3 place = character::JointPosition(character, ankle, before[i]) + wanted;
      character::BendLeg(character, leg, after[i], {place, Quat::Identity()}, moved[i]);
    }
  }
}

}  // namespace retrace::repair
