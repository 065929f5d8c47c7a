/// Legs over the gait cycle, as the page shows them.
#pragma once

#include <optional>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gait_cycles.h"
#include "retrace/metrics/ground_forces.h"
#include "retrace/results/cycle_table.h"

namespace retrace::report {

/// Angles, moments and powers of hips, knees and ankles and the vertical force of both feet in each step of a simulated
/// motion that comes in parts; of its first two minutes.
class LegRecord {
 public:
  explicit LegRecord(const character::Character& character);

  void Add(const control::Trajectory& part);

  /// Mean and standard deviation over the strides of each side: from a strike of the foot to its next one, while the
  /// other foot strikes once. With the mean of the reference's angles, where there is a reference. Null where such
  /// strides take less than a quarter of the motion: steps of a get-up or of a fight are no gait.
  /// @param reference or null
  io::Json ToJson(const character::ReferenceMotion* reference) const;

 private:
  struct Leg {
    metrics::ForcePlate foot;
    std::vector<float> vertical;  // force on it (states) [N]
    std::vector<float> angles;    // (states x kAngles) [degrees]
    std::vector<float> loads;     // (states x columns of `sources`)
    std::vector<results::CycleSource> sources;
  };

  Eigen::VectorXd VerticalOf(const Leg& leg) const;
  std::vector<metrics::GaitCycle> Strides() const;
  io::Json SideToJson(const Leg& leg, bool left, const std::vector<metrics::GaitCycle>& strides,
                      const character::ReferenceMotion* reference) const;

  const character::Character& character_;
  std::vector<Leg> legs_;  // left, right; none: the character has not both
  size_t num_states_ = 0;
  double time_step_ = 0;
};

}  // namespace retrace::report
