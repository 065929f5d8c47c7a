#include <string_view>

#include "clip_laws.h"
#include "retrace/recordings/force_tables.h"
#include "retrace/recordings/markers.h"
#include "retrace/recordings/recording.h"

// The bytes are a TRC file, or a C3D file with its markers and its force plates.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("Path")) {
    fuzz::ReadsClip([&] { return recordings::ParseRecording({{bytes, "a.trc"}, {}, {}}); });
    return 0;
  }
  fuzz::ReadsClip([&] { return recordings::ParseRecording({{bytes, "a.c3d"}, {}, {}}); });
  fuzz::Reads([&] {
    const motion::MeasuredForces measured = recordings::ParseC3dForces(bytes, "a.c3d");
    fuzz::Require(measured.times.size() >= 2 && !measured.forces.empty(), "there are instants and forces");
    for (const motion::MeasuredForce& force : measured.forces) {
      for (const Vec3& v : force.forces) {
        fuzz::Require(v.cwiseAbs().maxCoeff() <= motion::kLargestMeasuredForce, "a force is within its limits");
      }
      for (const Vec3& v : force.moments) fuzz::Require(v.allFinite(), "a moment is a number");
    }
  });
  return 0;
}
