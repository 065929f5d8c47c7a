#include <cmath>
#include <nlohmann/json.hpp>

#include "read_back.h"
#include "retrace/task/world_variation.h"

// The bytes are a world. What is written of it is its environment, as it stands in a control file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string environment;
  const bool is_world = fuzz::Reads([&] {
    const io::Json document = io::ParseJson(text, "fuzz.json");
    const task::WorldVariation world = task::ReadAlteredWorld(io::JsonView(document, "fuzz.json"), "fuzz");
    fuzz::Require(!world.gravity || std::isfinite(*world.gravity), "gravity is finite");
    for (const task::Load& load : world.loads) {
      fuzz::Require(std::isfinite(load.mass) && load.mass >= 0, "loads have a mass");
      fuzz::Require(std::isfinite(load.radius) && load.radius > 0, "loads have a size");
    }
    environment = world.environment.ToJson().dump();
  });
  if (!is_world) return 0;
  const bool accepted = fuzz::IsReadBack(environment, [](const std::string& written) {
    const io::Json json = io::ParseJson(written, "environment.json");
    return simulation::ReadEnvironment(io::JsonView(json, "environment.json")).ToJson().dump();
  });
  fuzz::Require(accepted, "an environment that was written is read");
  return 0;
}
