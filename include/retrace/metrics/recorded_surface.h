/// A surface beside the floor that bears a recorded body (recorded_ground.h finds them).
#pragma once

#include <string>

#include "retrace/io/json.h"
#include "retrace/math/types.h"
#include "retrace/metrics/intervals.h"

namespace retrace::metrics {

enum class SurfaceKind { kStep, kSlope, kSeat, kTable };
/// step, slope, seat or table.
std::string Name(SurfaceKind kind);

/// A surface that bears the body.
struct RecordedSurface {
  SurfaceKind kind = SurfaceKind::kStep;
  Vec3 center = Vec3::Zero();           ///< of the rectangle that was touched [m]
  Quat orientation = Quat::Identity();  ///< of the rectangle, whose sides are x and z; y points away from it
  double size_x = 0;                    ///< of the rectangle [m]
  double size_z = 0;
  int contacts = 0;    ///< stances of feet on it, or rests of the pelvis or of hands
  Interval interval;   ///< from the first contact to the last one
  double seconds = 0;  ///< for which it bears what the floor cannot
  double borne = 0;  ///< of the weight, in the mean of that time; of a seat: as it follows from the center of pressure

  /// How sure it is that something is there: 1 is certain, one half that it bore for kStrongEvidence.
  double confidence() const;
  /// Whether the evidence suffices to stand a simulated body on it.
  bool strong() const;
  double tilt() const;  ///< against the horizontal [rad]

  io::Json ToJson() const;
};

/// A surface that bears for so long is there [s].
inline constexpr double kStrongEvidence = 0.25;
inline constexpr double kStrongRest = 0.5;  ///< the same of a seat and a table

}  // namespace retrace::metrics
