/// Points that stand for the surface of a body.
#pragma once

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::character {

/// Calls `visit` with the center, in the world, and the radius of each ball that represents a body: corners of boxes,
/// vertices, ends of capsules.
template <typename Function>
void ForEachPoint(const Body& body, const BodyState& state, const Function& visit) {
  const auto place = [&](const Vec3& in_body) -> Vec3 { return state.position + state.orientation * in_body; };
  for (const Shape& shape : body.shapes) {
    switch (shape.kind) {
      case Shape::Kind::kBox:
        for (const Vec3& corner : BoxMesh(shape.size).vertices) visit(place(shape.offset + corner), 0.0);
        break;
      case Shape::Kind::kCapsule:
        for (const double end : {-0.5, 0.5}) {
          visit(place(shape.offset + end * shape.length * Vec3::Unit(shape.axis)), shape.radius);
        }
        break;
      case Shape::Kind::kMesh:
        for (const Vec3& vertex : shape.mesh.vertices) visit(place(shape.offset + vertex), 0.0);
        break;
    }
  }
}

}  // namespace retrace::character
