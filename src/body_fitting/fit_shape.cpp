#include "retrace/body_fitting/fit_shape.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "retrace/math/rotation.h"

namespace retrace::body_fitting {
namespace {

using character::Shape;

constexpr int kAround = 16;         // points around a capsule
constexpr int kRings = 4;           // rows of points on each cap
constexpr int kRows = 8;            // on the cylinder
constexpr int kBoxPoints = 8;       // along each side of a box
constexpr double kUnbounded = 1e9;  // [m]
constexpr double kThinnest = 1e-4;  // radius and side lengths [m]

/// The numbers that a fit may change: of a capsule radius, length, center; of a box size, center.
Eigen::VectorXd ParametersOf(const Shape& shape) {
  if (shape.kind == Shape::Kind::kCapsule) {
    Eigen::VectorXd p(5);
    p << shape.radius, shape.length, shape.offset;
    return p;
  }
  Eigen::VectorXd p(6);
  p << shape.size, shape.offset;
  return p;
}

/// @param within the box around the points: the caps' centers stay in it along the axis. Where limbs are cut, nothing
/// else would keep a thin capsule from growing through its neighbors.
Shape WithParameters(Shape shape, const Eigen::VectorXd& p, const Eigen::AlignedBox3d& within) {
  shape.offset = p.tail<3>();
  if (shape.kind == Shape::Kind::kCapsule) {
    shape.radius = std::max(p[0], kThinnest);
    const double middle = shape.offset[shape.axis];
    const double longest = 2 * std::min(middle - within.min()[shape.axis], within.max()[shape.axis] - middle);
    shape.length = std::max(std::min(p[1], longest), 0.0);
  } else {
    shape.size = p.head<3>().cwiseMax(kThinnest);
  }
  return shape;
}

void AddCapsulePoints(const Shape& capsule, SurfacePoints& points) {
  const Vec3 along = Vec3::Unit(capsule.axis);
  const Vec3 u = Vec3::Unit((capsule.axis + 1) % 3), v = Vec3::Unit((capsule.axis + 2) % 3);
  // A row around the axis. The half step makes rows their own mirror image in each plane of the axes.
  const auto add_row = [&](double place, double radius, double area) {
    for (int k = 0; k < kAround; ++k) {
      const double angle = 2 * kPi * (k + 0.5) / kAround;
      points.places.push_back(capsule.offset + place * along + radius * (std::cos(angle) * u + std::sin(angle) * v));
      points.areas.push_back(area / kAround);
    }
  };
  const double r = capsule.radius, half = 0.5 * capsule.length;
  for (const double end : {-1.0, 1.0}) {
    for (int ring = 0; ring < kRings; ++ring) {
      // Zones of equal height have equal areas (Archimedes).
      const double height = (ring + 0.5) / kRings;
      add_row(end * (half + r * height), r * std::sqrt(1 - height * height), 2 * kPi * r * r / kRings);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    add_row(half * (2 * (row + 0.5) / kRows - 1), r, 2 * kPi * r * capsule.length / kRows);
  }
}

void AddBoxPoints(const Shape& box, SurfacePoints& points) {
  for (int axis = 0; axis < 3; ++axis) {
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    for (const double end : {-0.5, 0.5}) {
      for (int i = 0; i < kBoxPoints; ++i) {
        for (int j = 0; j < kBoxPoints; ++j) {
          Vec3 place;
          place[axis] = end;
          place[a] = (i + 0.5) / kBoxPoints - 0.5;
          place[b] = (j + 0.5) / kBoxPoints - 0.5;
          points.places.push_back(box.offset + place.cwiseProduct(box.size));
          points.areas.push_back(box.size[a] * box.size[b] / (kBoxPoints * kBoxPoints));
        }
      }
    }
  }
}

/// Residuals of the two sums, each times the root of its weight, so that their squares add up to the energy.
struct Residuals {
  Eigen::VectorXd values;
  Eigen::MatrixXd jacobian;
  double to_shape_squared = 0;
  double to_surface_squared = 0;
};

class TwoSidedDistance {
 public:
  TwoSidedDistance(const SurfacePoints& points, const SurfaceDistance& surface, double lambda)
      : points_(points), surface_(surface), lambda_(lambda) {
    for (const double area : points.areas) area_ += area;
    for (const Vec3& place : points.places) within_.extend(place);
  }

  const Eigen::AlignedBox3d& within() const { return within_; }

  /// Both sums are means over the areas.
  Residuals Evaluate(const Shape& shape, bool with_jacobian) const {
    constexpr double kStep = 1e-6;
    const Eigen::VectorXd p = ParametersOf(shape);
    const SurfacePoints own = SurfaceOf(shape);
    double own_area = 0;
    for (const double area : own.areas) own_area += area;
    // The derivatives do not know the bounds.
    const Eigen::AlignedBox3d free(Vec3::Constant(-kUnbounded), Vec3::Constant(kUnbounded));
    std::vector<Shape> ahead, back;
    std::vector<SurfacePoints> own_ahead;
    for (Eigen::Index k = 0; with_jacobian && k < p.size(); ++k) {
      Eigen::VectorXd q = p;
      q[k] += kStep;
      ahead.push_back(WithParameters(shape, q, free));
      own_ahead.push_back(SurfaceOf(ahead.back()));
      q[k] = p[k] - kStep;
      back.push_back(WithParameters(shape, q, free));
    }
    Residuals r;
    const auto rows = static_cast<Eigen::Index>(points_.places.size() + own.places.size());
    r.values.resize(rows);
    if (with_jacobian) r.jacobian.resize(rows, p.size());
    Eigen::Index row = 0;
    for (size_t i = 0; i < points_.places.size(); ++i, ++row) {
      const double root = std::sqrt(points_.areas[i] / area_);
      r.values[row] = root * SignedDistance(shape, points_.places[i]);
      r.to_shape_squared += r.values[row] * r.values[row];
      for (size_t k = 0; k < ahead.size(); ++k) {
        // From where the shape is: a length of zero can only grow.
        const double difference =
            SignedDistance(ahead[k], points_.places[i]) - SignedDistance(back[k], points_.places[i]);
        const auto column = static_cast<Eigen::Index>(k);
        const double span = ParametersOf(ahead[k])[column] - ParametersOf(back[k])[column];
        r.jacobian(row, column) = root * difference / span;
      }
    }
    for (size_t i = 0; i < own.places.size(); ++i, ++row) {
      const double share = own.areas[i] / own_area;
      const double root = std::sqrt(lambda_ * share);
      const SurfaceDistance::Nearest nearest = surface_.Find(own.places[i]);
      r.values[row] = root * nearest.distance;
      r.to_surface_squared += share * nearest.distance * nearest.distance;
      if (!with_jacobian) continue;
      // The distance changes as the point moves away from its nearest position, which slides along the surface.
      const Vec3 away = own.places[i] - nearest.place;
      const Vec3 direction =
          nearest.distance > 1e-9 ? Vec3(away / nearest.distance) : surface_.NormalOf(nearest.triangle);
      for (size_t k = 0; k < own_ahead.size(); ++k) {
        r.jacobian(row, static_cast<Eigen::Index>(k)) =
            root * direction.dot(own_ahead[k].places[i] - own.places[i]) / kStep;
      }
    }
    return r;
  }

 private:
  const SurfacePoints& points_;
  const SurfaceDistance& surface_;
  double lambda_;
  double area_ = 0;
  Eigen::AlignedBox3d within_;
};

double EnergyOf(const Residuals& r, double lambda) {
  return r.to_shape_squared + lambda * r.to_surface_squared;
}

Fit Minimize(Shape shape, const SurfacePoints& points, const SurfaceDistance& surface, const FitOptions& options) {
  const TwoSidedDistance distance(points, surface, options.lambda);
  Fit fit;
  Residuals now = distance.Evaluate(shape, true);
  fit.first_energy = EnergyOf(now, options.lambda);
  double damping = 1e-3;
  constexpr double kMostDamping = 1e9;
  constexpr double kSmallStep = 1e-7;  // [m]
  while (fit.iterations < options.most_iterations && damping < kMostDamping) {
    ++fit.iterations;
    const Eigen::MatrixXd normal = now.jacobian.transpose() * now.jacobian;
    const Eigen::VectorXd gradient = now.jacobian.transpose() * now.values;
    bool accepted = false;
    double step_length = 0;
    while (!accepted && damping < kMostDamping) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() += damping * (normal.diagonal().array() + 1e-12).matrix();
      const Eigen::VectorXd before = ParametersOf(shape);
      const Shape tried = WithParameters(shape, before - damped.ldlt().solve(gradient), distance.within());
      step_length = (ParametersOf(tried) - before).lpNorm<Eigen::Infinity>();
      const Residuals then = distance.Evaluate(tried, false);
      accepted = EnergyOf(then, options.lambda) < EnergyOf(now, options.lambda);
      if (accepted) shape = tried;
      damping *= accepted ? 0.2 : 5;
      if (!accepted && step_length < kSmallStep) break;
    }
    if (accepted) now = distance.Evaluate(shape, true);
    if (!accepted || step_length < kSmallStep) break;
  }
  fit.shape = shape;
  fit.energy = EnergyOf(now, options.lambda);
  fit.to_shape = std::sqrt(now.to_shape_squared);
  fit.to_surface = std::sqrt(now.to_surface_squared);
  return fit;
}

/// Mean position, and the corners of the box around all.
struct Extent {
  Vec3 mean = Vec3::Zero();
  Eigen::AlignedBox3d box;
  double area = 0;
};

Extent ExtentOf(const SurfacePoints& points) {
  Extent extent;
  for (size_t i = 0; i < points.places.size(); ++i) {
    extent.mean += points.areas[i] * points.places[i];
    extent.area += points.areas[i];
    extent.box.extend(points.places[i]);
  }
  extent.mean /= extent.area;
  return extent;
}

}  // namespace

double SignedDistance(const Shape& shape, const Vec3& point) {
  Vec3 at = point - shape.offset;
  if (shape.kind == Shape::Kind::kCapsule) {
    const double half = 0.5 * shape.length;
    at[shape.axis] -= std::clamp(at[shape.axis], -half, half);
    return at.norm() - shape.radius;
  }
  const Vec3 beyond = at.cwiseAbs() - 0.5 * shape.size;
  return beyond.cwiseMax(0.0).norm() + std::min(beyond.maxCoeff(), 0.0);
}

SurfacePoints SurfaceOf(const Shape& shape) {
  SurfacePoints points;
  if (shape.kind == Shape::Kind::kCapsule) {
    AddCapsulePoints(shape, points);
  } else {
    AddBoxPoints(shape, points);
  }
  return points;
}

Shape MovedOutwards(Shape shape, double distance) {
  shape.radius = std::max(shape.radius + distance, kThinnest);
  shape.size = (shape.size.array() + 2 * distance).cwiseMax(kThinnest);
  return shape;
}

Fit Compare(const Shape& shape, const SurfacePoints& points, const SurfaceDistance& surface,
            const FitOptions& options) {
  FitOptions as_it_is = options;
  as_it_is.most_iterations = 0;
  return Minimize(shape, points, surface, as_it_is);
}

Fit FitCapsule(const SurfacePoints& points, const SurfaceDistance& surface, int axis, const FitOptions& options) {
  const Extent extent = ExtentOf(points);
  Shape start;
  start.kind = Shape::Kind::kCapsule;
  start.axis = axis;
  start.offset = extent.mean;
  start.offset[axis] = extent.box.center()[axis];
  for (size_t i = 0; i < points.places.size(); ++i) {
    Vec3 across = points.places[i] - start.offset;
    across[axis] = 0;
    start.radius += points.areas[i] / extent.area * across.norm();
  }
  start.radius = std::max(start.radius, kThinnest);
  start.length = std::max(extent.box.sizes()[axis] - 2 * start.radius, 0.1 * extent.box.sizes()[axis]);
  return Minimize(start, points, surface, options);
}

Fit FitCapsule(const SurfacePoints& points, const SurfaceDistance& surface, const FitOptions& options) {
  Fit best = FitCapsule(points, surface, 0, options);
  for (const int axis : {1, 2}) {
    const Fit fit = FitCapsule(points, surface, axis, options);
    if (fit.energy < best.energy) best = fit;
  }
  return best;
}

Fit FitBox(const SurfacePoints& points, const SurfaceDistance& surface, const FitOptions& options) {
  const Extent extent = ExtentOf(points);
  Shape start;
  start.kind = Shape::Kind::kBox;
  start.size = (0.9 * extent.box.sizes()).cwiseMax(kThinnest);
  start.offset = extent.box.center();
  return Minimize(start, points, surface, options);
}

}  // namespace retrace::body_fitting
