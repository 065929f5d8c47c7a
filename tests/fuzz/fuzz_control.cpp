#include "read_back.h"
#include "retrace/control/control_file.h"

// The bytes are a control file of either version.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::IsReadBack(text, [](const std::string& document) {
    return control::FormatControl(control::ParseScene(document, "fuzz.json"));
  });
  // The reader of a single character says the same of it, or refuses version 2.
  fuzz::IsReadBack(text, [](const std::string& document) {
    const control::LoadedControl loaded = control::ParseControl(document, "fuzz.json");
    return control::FormatControl(loaded.character, loaded.control);
  });
  return 0;
}
