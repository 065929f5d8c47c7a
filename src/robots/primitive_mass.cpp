#include "primitive_mass.h"

#include <cmath>

#include "retrace/math/rotation.h"

namespace retrace::robots {

RobotMass MassOfShape(const RobotShape& shape, double density) {
  RobotMass mass;
  const double r = shape.radius, l = shape.length;
  const auto around_z = [&](double across, double along) { mass.inertia = Vec3(across, across, along).asDiagonal(); };
  switch (shape.kind) {
    case RobotShape::Kind::kBox: {
      mass.mass = density * shape.size.prod();
      const Vec3 squares = shape.size.cwiseProduct(shape.size);
      mass.inertia = (mass.mass / 12 * (Vec3::Constant(squares.sum()) - squares)).asDiagonal();
      break;
    }
    case RobotShape::Kind::kSphere:
      mass.mass = density * 4 / 3 * kPi * r * r * r;
      around_z(0.4 * mass.mass * r * r, 0.4 * mass.mass * r * r);
      break;
    case RobotShape::Kind::kCylinder:
      mass.mass = density * kPi * r * r * l;
      around_z(mass.mass * (3 * r * r + l * l) / 12, 0.5 * mass.mass * r * r);
      break;
    case RobotShape::Kind::kCapsule: {
      const double cylinder = density * kPi * r * r * l, ball = density * 4 / 3 * kPi * r * r * r;
      mass.mass = cylinder + ball;
      // Each half ball has its center 3/8 r beyond the end of the cylinder.
      const double across = cylinder * (3 * r * r + l * l) / 12 + ball * (0.4 * r * r + l * l / 4 + 3.0 / 8 * l * r);
      around_z(across, 0.5 * cylinder * r * r + 0.4 * ball * r * r);
      break;
    }
    case RobotShape::Kind::kEllipsoid: {
      mass.mass = density * 4 / 3 * kPi * shape.size.prod();
      const Vec3 squares = shape.size.cwiseProduct(shape.size);
      mass.inertia = (mass.mass / 5 * (Vec3::Constant(squares.sum()) - squares)).asDiagonal();
      break;
    }
    case RobotShape::Kind::kMesh: {
      const MassProperties solid = SolidOf(shape.mesh);
      const double sign = solid.volume < 0 ? -1 : 1;  // a surface that is turned inside out
      mass = {sign * density * solid.volume, solid.center, sign * density * solid.inertia};
      break;
    }
  }
  return mass;
}

}  // namespace retrace::robots
