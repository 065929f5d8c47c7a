#include "clip_laws.h"
#include "retrace/recordings/asf_amc.h"

namespace {

const char kSkeleton[] = R"(:version 1.10
:name fuzz
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name a
    direction 0 1 0
    length 2
    axis 10 20 30 XYZ
    dof rx ry rz
    limits (-180 180)
           (-180 180)
           (-180 180)
  end
  begin
    id 2
    name b
    direction 1 0 0
    length 3
    axis 0 0 0 XYZ
    dof rx
    limits (-180 180)
  end
  begin
    id 3
    name c
    direction 0 0 1
    length 1
    axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root a
    a b c
  end
)";

}  // namespace

// The bytes are a motion of a fixed skeleton.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::ReadsClip([&] { return motion::ParseAsfAmc(kSkeleton, "fixed.asf", text, "fuzz.amc"); });
  return 0;
}
