/// Capsules and boxes for parts of a body's surface, by the two-sided distance of Al Borno, Righetti, Black, Delp,
/// Fiume and Romero, Robust Physics-based Motion Retargeting with Realistic Body Shapes, 2018, equation 10.
#pragma once

#include <vector>

#include "retrace/body_fitting/surface_distance.h"
#include "retrace/character/character.h"

namespace retrace::body_fitting {

/// Points of a surface, each for an area of it. Exporters put most vertices into faces and hands: without areas, these
/// would decide.
struct SurfacePoints {
  std::vector<Vec3> places;   ///< [m]
  std::vector<double> areas;  ///< [m^2]
};

struct FitOptions {
  /// Weight of the distance from the shape to the surface, beside that from the surface to the shape.
  double lambda = 0.5;
  int most_iterations = 100;
};

struct Fit {
  character::Shape shape;   ///< its offset is the position of its center
  double to_shape = 0;      ///< root of the mean squared distance of the points from the shape [m]
  double to_surface = 0;    ///< the same of the shape's surface from the mesh [m]
  double energy = 0;        ///< what was minimized: to_shape^2 + lambda to_surface^2 [m^2]
  double first_energy = 0;  ///< before the first step [m^2]
  int iterations = 0;
};

/// Distance of a point from the surface of a shape, negative inside [m].
double SignedDistance(const character::Shape& shape, const Vec3& point);

/// Points of the surface of a shape, with the area that each stands for.
SurfacePoints SurfaceOf(const character::Shape& shape);

/// The shape with its surface moved outwards by a distance, inwards where that is negative [m].
character::Shape MovedOutwards(character::Shape shape, double distance);

/// A shape as it is, with its distances.
Fit Compare(const character::Shape& shape, const SurfacePoints& points, const SurfaceDistance& surface,
            const FitOptions& options = {});

/// Radius, length and center of the capsule along an axis, by the method of Levenberg and Marquardt. In the paper the
/// center is given by the joints; hips and bellies are not in the middle between joints, so that it is found as well.
/// The squares of the distances are summed, because their gradient is smooth, and both sums are means over the area, so
/// that the resolutions of mesh and capsule do not weigh.
/// @param points of the part @param surface of the whole body: a cap inside of a neighbor has its distance to the skin
Fit FitCapsule(const SurfacePoints& points, const SurfaceDistance& surface, int axis, const FitOptions& options = {});
/// The same of the axis with the smallest energy.
Fit FitCapsule(const SurfacePoints& points, const SurfaceDistance& surface, const FitOptions& options = {});

/// Size and center of the box with sides along the axes.
Fit FitBox(const SurfacePoints& points, const SurfaceDistance& surface, const FitOptions& options = {});

}  // namespace retrace::body_fitting
