#include "retrace/rendering/picture.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "retrace/math/rotation.h"

namespace retrace::rendering {
namespace {

float Linear(int value) {
  const double share = value / 255.0;
  return static_cast<float>(share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
}

}  // namespace

Color ColorOf(const char* screen) {
  const std::string text = screen;
  if (text.size() != 7 || text[0] != '#' || text.find_first_not_of("0123456789abcdef", 1) != std::string::npos) {
    throw std::invalid_argument("found " + text + ", expected a color such as #1a2b3c");
  }
  Color color;
  for (size_t k = 0; k < 3; ++k) color[k] = Linear(std::stoi(text.substr(1 + 2 * k, 2), nullptr, 16));
  return color;
}

Solid MeshSolid(const TriangleMesh& mesh, const Color& color) {
  return {mesh.vertices, mesh.triangles, {color}, false};
}

Solid BoxSolid(const Vec3& size, const Color& color) {
  return MeshSolid(BoxMesh(size), color);
}

Solid CapsuleSolid(double radius, double length, int axis, const Color& color) {
  constexpr int kAround = 24, kCap = 7;
  Solid solid;
  solid.colors = {color};
  solid.smooth = true;
  const auto place = [&](double along, double out, int k) {
    const double angle = 2 * kPi * k / kAround;
    Vec3 p;
    p[axis] = along;
    p[(axis + 1) % 3] = out * std::cos(angle);
    p[(axis + 2) % 3] = out * std::sin(angle);
    return p;
  };
  // Rings from the lower pole to the upper one; the poles are rings without width.
  for (int ring = 0; ring < 2 * kCap; ++ring) {
    const bool upper = ring >= kCap;
    const double angle = 0.5 * kPi * (upper ? ring - kCap : ring - kCap + 1) / (kCap - 1);
    const double along = radius * std::sin(angle) + (upper ? 0.5 : -0.5) * length;
    for (int k = 0; k < kAround; ++k) solid.vertices.push_back(place(along, radius * std::cos(angle), k));
  }
  for (int ring = 0; ring + 1 < 2 * kCap; ++ring) {
    for (int k = 0; k < kAround; ++k) {
      const int next = (k + 1) % kAround, below = ring * kAround, above = below + kAround;
      solid.triangles.push_back({below + k, below + next, above + next});
      solid.triangles.push_back({below + k, above + next, above + k});
    }
  }
  return solid;
}

Solid Placed(Solid solid, const Quat& turn, const Vec3& place) {
  const Mat3 matrix = turn.toRotationMatrix();
  for (Vec3& vertex : solid.vertices) vertex = matrix * vertex + place;
  return solid;
}

}  // namespace retrace::rendering
