#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "read_back.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/stored_run.h"
#include "retrace/simulation/world_options.h"

namespace {

using namespace retrace;
namespace fs = std::filesystem;

const char kControl[] = R"({
"format": "retrace-control", "version": 1, "units": "SI",
"world": WORLD,
"joints": ["waist"],
"start_state": [
  {"body": "pelvis", "position": [0, 1, 0], "orientation": [1, 0, 0, 0], "linear_velocity": [0, 0, 0],
   "angular_velocity": [0, 0, 0]},
  {"body": "trunk", "position": [0, 1.3, 0], "orientation": [1, 0, 0, 0], "linear_velocity": [0, 0, 0],
   "angular_velocity": [0, 0, 0]}],
"fragments": [],
"character": {
  "format": "retrace-character", "version": 1, "name": "two", "height": 1.2,
  "bodies": [
    {"name": "pelvis", "mass": 3, "inertia": [0.02, 0.03, 0.02], "position": [0, 1, 0],
     "shapes": [{"box": [0.2, 0.1, 0.3]}]},
    {"name": "trunk", "mass": 4, "inertia": [0.03, 0.03, 0.03], "position": [0, 1.3, 0],
     "shapes": [{"box": [0.2, 0.1, 0.3]}]}],
  "joints": [{"name": "waist", "parent": "pelvis", "child": "trunk", "type": "ball", "anchor": [0, 1.1, 0], "kp": 300,
              "kd": 30, "strength_scale": [1, 1, 1], "window": [0.1, 0.1, 0.1]}],
  "end_effectors": ["trunk"], "no_self_collision": [], "contact_presets": {}}
}
)";

void Write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  fuzz::Require(stream.good(), "files can be written");
}

/// A folder with a control, which goes when the program ends.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "fuzz_manifest_XXXXXX").string();
    fuzz::Require(::mkdtemp(name.data()) != nullptr, "folders can be made");
    path = name;
    std::string control = kControl;
    control.replace(control.find("WORLD"), 5, simulation::WorldOptions().ToJson().dump());
    Write(path / results::kControlFile, control);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

}  // namespace

// The bytes are the manifest of a run.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  fuzz::IsReadBack(std::string(reinterpret_cast<const char*>(data), size), [](const std::string& manifest) {
    Write(folder.path / results::kManifestFile, manifest);
    return runs::StoredRun(folder.path).manifest->dump();
  });
  return 0;
}
