/// What ODE takes of libccd, for the collisions of cylinders and of convex hulls. No world of the project has such
/// bodies (src/simulation/convex_polyhedron.cpp is its own), so that libccd is not linked.
#include <stdexcept>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

[[noreturn]] void retrace_ccdFirstDirDefault() {
  throw std::logic_error("ODE without libccd cannot collide cylinders or convex hulls");
}

[[noreturn]] void retrace_ccdMPRIntersect() {
  retrace_ccdFirstDirDefault();
}

[[noreturn]] void retrace_ccdMPRPenetration() {
  retrace_ccdFirstDirDefault();
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
