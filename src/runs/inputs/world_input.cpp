#include "retrace/runs/inputs/world_input.h"

#include <nlohmann/json.hpp>

#include "retrace/runs/inputs/data_files.h"

namespace retrace::runs {

std::vector<std::filesystem::path> WorldFiles(const std::vector<std::string>& worlds) {
  std::vector<std::filesystem::path> files;
  for (const std::string& world : worlds) files.push_back(FindWorld(world));
  return files;
}

task::WorldVariation ReadWorlds(const std::vector<std::string>& worlds) {
  std::vector<InputFile> files;
  for (const std::filesystem::path& file : WorldFiles(worlds)) {
    files.push_back(ReadInput({WorldRole(files.size() + 1), file}));
  }
  return ParseWorlds(files);
}

task::WorldVariation ParseWorlds(std::span<const InputFile> files) {
  task::WorldVariation all;
  for (size_t number = 1; const InputFile* file = FindInput(files, WorldRole(number)); ++number) {
    const std::filesystem::path& path = file->record.name.path;
    const io::Json document = file->Parse();
    task::Combine(all, task::ReadAlteredWorld(io::JsonView(document, path.string()), path.stem().string()));
  }
  return all;
}

std::string WorldRole(size_t number) {
  return std::string("world ").append(std::to_string(number));
}

}  // namespace retrace::runs
