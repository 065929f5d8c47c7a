/// The functions of ODE that tests call, in the copy that the library has (src/cmake/OwnNames.cmake). A shared ODE
/// would be another one, with other handlers.
#pragma once

#include <ode/ode.h>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
int retrace_dCollide(dGeomID a, dGeomID b, int flags, dContactGeom* contacts, int skip);
dGeomID retrace_dCreateBox(dSpaceID space, dReal x, dReal y, dReal z);
void retrace_dGeomDestroy(dGeomID geom);
void retrace_dGeomSetPosition(dGeomID geom, dReal x, dReal y, dReal z);
void retrace_dGeomSetQuaternion(dGeomID geom, const dQuaternion orientation);
void retrace_dGeomSetRotation(dGeomID geom, const dMatrix3 rotation);
void retrace_dSetMessageHandler(dMessageFunction* handler);
}
// NOLINTEND(readability-identifier-naming)
