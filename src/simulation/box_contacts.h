/// Points at which two boxes touch.
#pragma once

#include <ode/ode.h>

namespace retrace::simulation {

/// dCollide of two boxes, with more points where two edges meet. There ODE returns one point. A face that is nearly
/// flat on an edge, or two edges that are nearly parallel, touch along a piece: the one point is at another end of it
/// in each step, and a light body that lies there rocks for ever. Added are the ends of the piece of each edge that is
/// beside the other box, where they are inside it or no farther away than the margin: there the depth is negative.
/// @param found room for `most` points
/// @param margin [m]
int CollideBoxes(dGeomID a, dGeomID b, int most, double margin, dContactGeom* found);

}  // namespace retrace::simulation
