/// Where the floor of a recording is: found under the feet that stand on it.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// A floor as a plane: height(x, z) = height + slope_x x + slope_z z.
struct Plane {
  double slope_x = 0;
  double slope_z = 0;
  double height = 0;  ///< at the origin [m]

  double Tilt() const { return std::atan(std::hypot(slope_x, slope_z)); }  ///< [rad]
  double At(const Vec3& place) const { return height + slope_x * place.x() + slope_z * place.z(); }
};

/// The floor under planted feet: feet that are slow, while the body is upright and is not in free flight.
///
///  - Feet mostly stand on the floor, so that it is first looked for around the median of their heights.
///  - Feet that stand flat and well under that plane for some time show that the median was that of steps, rungs or
///    slopes: then the lowest level at which feet stand is the floor. But ground that the body walks along and that
///    falls by a few degrees throughout is one floor, though it may be uneven.
///  - Where the body is carried far under that floor at one height, the floor is there, whether feet are planted or
///  not.
///  - Where feet also stand over the floor, on steps or a slope, the floor is taken to be level.
///  - A weak prior keeps the plane level where the feet cover little ground: half the standard deviation of a step
///    sideways decides nothing about a slope.
class FloorFit {
 public:
  /// @param rate poses per second
  FloorFit(const Character& character, const std::vector<Pose>& poses, double rate);

  /// Whether feet stand long enough to show the floor.
  bool has_stance() const;
  /// @param tilted whether the plane may be tilted
  Plane Fit(bool tilted) const;
  /// Where feet stand beside the floor, from below to above. Heights are over the plane.
  std::vector<StandingLevel> LevelsOver(const Plane& plane) const;

 private:
  struct Planted {
    Vec3 point;           // the lowest of a foot
    bool flat = true;     // the sole is about level
    bool level = true;    // the sole is as level as on a floor
    bool carries = true;  // the body does not fall freely
  };
  /// To points within so much of a height.
  Plane FitAround(double height, double reach, bool tilted) const;
  /// The lowest level under a plane at which feet stand for a while; nothing where they do not.
  std::optional<double> LevelUnder(const Plane& plane, double depth) const;
  /// Whether feet walk along ground that falls by a few degrees throughout.
  bool FallsEvenly() const;
  /// A level far under a plane at which the lowest foot stays while something carries the body: feet that land in a
  /// crouch slide and are not planted, but it is the floor that stops the body.
  std::optional<double> CarriedUnder(const Plane& plane) const;
  /// Whether feet stand long over a plane, on steps or on a slope: the tilt is then theirs rather than the floor's.
  bool StandsOver(const Plane& plane) const;
  /// The level floor under the feet that stand on a plane.
  Plane LevelThrough(const Plane& plane) const;
  size_t Enough(double seconds) const;

  std::vector<Planted> planted_;
  std::vector<double> carried_lows_;  // heights of the lowest foot of a body that is upright and carried
  double fallback_height_ = 0;        // of feet that never stand
  double rate_;
  bool planar_;
};

}  // namespace retrace::character
