#include <string_view>

#include "clip_laws.h"
#include "retrace/recordings/opensim.h"

// The bytes are a motion up to the first byte of 0, and a model behind it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\0'), size);
  const std::string_view model = end == size ? std::string_view() : bytes.substr(end + 1);
  fuzz::ReadsClip([&] { return recordings::ParseOpenSim(model, "a.osim", bytes.substr(0, end), "a.mot"); });
  return 0;
}
