#include <nlohmann/json.hpp>

#include "read_back.h"
#include "retrace/runs/configuration/configuration.h"

// The bytes are a configuration file, or else one setting as --set takes it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto rewritten = [](const std::string& document) {
    const io::Json json = io::ParseJson(document, "fuzz.json");
    runs::Configuration configuration;
    configuration.Read(io::JsonView(json, "fuzz.json"));
    if (const auto problem = configuration.Validate()) fuzz::Require(!problem->empty(), "a problem is said");
    return configuration.ToCommentedJson();
  };
  fuzz::IsReadBack(text, rewritten);
  runs::Configuration configuration;
  try {
    configuration.Set(text);
  } catch (const UsageError& error) {
    fuzz::Require(std::string_view(error.what()).find("expected ") != std::string_view::npos,
                  "a refusal says what was expected");
    return 0;
  }
  fuzz::Require(fuzz::IsReadBack(configuration.ToCommentedJson(), rewritten), "what was set is read");
  return 0;
}
