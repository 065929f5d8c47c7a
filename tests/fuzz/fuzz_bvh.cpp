#include "clip_laws.h"
#include "retrace/recordings/bvh.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  motion::Clip clip;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!fuzz::ReadsClip([&] { return clip = motion::ParseBvh(text, "fuzz.bvh"); })) return 0;
  // What was understood can be written, and is then understood again.
  const motion::Clip again = motion::ParseBvh(motion::FormatBvh(clip), "again.bvh");
  fuzz::Require(again.skeleton.joints.size() == clip.skeleton.joints.size(), "written joints are read back");
  fuzz::Require(again.frames.size() == clip.frames.size(), "written frames are read back");
  return 0;
}
