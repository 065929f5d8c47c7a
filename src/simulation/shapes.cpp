#include "shapes.h"

namespace retrace::simulation {

void PlaceGeom(dGeomID geom, const Vec3& position, const Quat& q) {
  dGeomSetPosition(geom, position.x(), position.y(), position.z());
  const dQuaternion to = {q.w(), q.x(), q.y(), q.z()};
  dGeomSetQuaternion(geom, to);
}

}  // namespace retrace::simulation
