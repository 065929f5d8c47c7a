#include "clip_laws.h"
#include "retrace/recordings/asf_amc.h"

// The bytes are a skeleton; a motion that gives a few bones of the corpus goes with it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* amc : {":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 1 0 10 20 30\n",
                          ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 1 0 10 20 30\na 1 2 3\nb 4\n"}) {
    motion::Clip clip;
    if (!fuzz::ReadsClip([&] { return clip = motion::ParseAsfAmc(text, "fuzz.asf", amc, "fixed.amc"); })) continue;
    const motion::Clip again =
        motion::ParseAsfAmc(motion::FormatAsf(clip), "again.asf", motion::FormatAmc(clip), "again.amc");
    fuzz::Require(again.frames.size() == clip.frames.size(), "written frames are read back");
  }
  return 0;
}
