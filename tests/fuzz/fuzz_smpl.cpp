#include <string>

#include "clip_laws.h"
#include "recordings/npz_writer.h"
#include "retrace/recordings/smpl.h"

// The bytes are an archive, or, because most changes to an archive only spoil its sums, arrays that are put into one:
// a letter for the name, two bytes for the length, the bytes of the array.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("PK")) {
    fuzz::ReadsClip([&] { return recordings::ParseSmpl(bytes, "a.npz"); });
    return 0;
  }
  recordings::NpzWriter writer;
  while (bytes.size() >= 3) {
    const char* names[] = {"poses", "trans", "fps", "mocap_framerate", "root_orient", "pose_body", "betas"};
    const char* name = names[static_cast<unsigned char>(bytes[0]) % std::size(names)];
    const size_t length = static_cast<unsigned char>(bytes[1]) + 256u * static_cast<unsigned char>(bytes[2]);
    bytes.remove_prefix(3);
    writer.AddFile(name, std::string(bytes.substr(0, length)));
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  fuzz::ReadsClip([&] { return recordings::ParseSmpl(writer.Bytes(), "a.npz"); });
  return 0;
}
