#include "retrace/runs/world_input.h"

#include "retrace/io/json.h"
#include "retrace/runs/data_files.h"

namespace retrace::runs {

std::vector<std::filesystem::path> WorldFiles(const std::vector<std::string>& worlds) {
  std::vector<std::filesystem::path> files;
  for (const std::string& world : worlds) files.push_back(FindWorld(world));
  return files;
}

task::AlteredWorld ReadWorlds(const std::vector<std::string>& worlds) {
  task::AlteredWorld all;
  for (const std::filesystem::path& file : WorldFiles(worlds)) {
    const io::Json document = io::ReadJson(file);
    task::Combine(all, task::ReadAlteredWorld(io::JsonView(document, file.string()), file.stem().string()));
  }
  return all;
}

}  // namespace retrace::runs
