#include <nlohmann/json.hpp>

#include "read_back.h"
#include "retrace/control/feedback.h"
#include "retrace/io/file.h"

namespace {

/// The bytes with the hash of their numbers, which nobody would find by chance.
std::string WithHash(const std::string& bytes) {
  using namespace retrace;
  const size_t end = bytes.find('\n');
  if (end == std::string::npos) return bytes;
  try {
    io::Json header = io::ParseJson(bytes.substr(0, end), "header");
    if (!header.is_object()) return bytes;
    header["numbers_sha256"] = io::Sha256(bytes.substr(end + 1));
    return io::Dump(header) + bytes.substr(end);
  } catch (const InputError&) {
    return bytes;
  }
}

}  // namespace

// The bytes are a feedback.bin, but for the hash of its numbers.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string bytes = WithHash(std::string(reinterpret_cast<const char*>(data), size));
  fuzz::IsReadBack(
      bytes, [](const std::string& file) { return control::FormatFeedback(control::ParseFeedback(file, "fuzz.bin")); });
  return 0;
}
