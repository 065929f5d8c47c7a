#include "common/world_input.h"

#include "common/data_files.h"
#include "retrace/io/json.h"

namespace retrace::apps {

void AddWorldOption(CLI::App& app, std::vector<std::string>& worlds) {
  app.add_option("--world", worlds, "Name of a world or its JSON file (repeatable: they are put together)")
      ->type_name("NAME|FILE")
      ->allow_extra_args(false);
}

std::vector<std::filesystem::path> WorldFiles(const std::vector<std::string>& worlds) {
  std::vector<std::filesystem::path> files;
  for (const std::string& world : worlds) files.push_back(FindWorld(world));
  return files;
}

reconstruction::AlteredWorld ReadWorlds(const std::vector<std::string>& worlds) {
  reconstruction::AlteredWorld all;
  for (const std::filesystem::path& file : WorldFiles(worlds)) {
    const io::Json document = io::ReadJson(file);
    reconstruction::Combine(
        all, reconstruction::ReadAlteredWorld(io::JsonView(document, file.string()), file.stem().string()));
  }
  return all;
}

}  // namespace retrace::apps
