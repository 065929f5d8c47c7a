#include "common/stored_run.h"

#include "common/pushes.h"
#include "common/run_files.h"
#include "retrace/io/file.h"
#include "retrace/results/run_folder.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;

/// The first place where two tables differ, for a message; empty when they are the same to the byte.
std::string FirstDifferentLine(const std::string& name, const std::string& stored, const std::string& simulated) {
  if (stored == simulated) return "";
  size_t line = 1;
  size_t i = 0;
  while (i < stored.size() && i < simulated.size() && stored[i] == simulated[i]) line += stored[i++] == '\n';
  return name + ":" + std::to_string(line) + ": the replay differs from what is stored";
}

}  // namespace

io::Json ReadManifest(const fs::path& folder) {
  const fs::path path = folder / results::kManifestFile;
  return fs::exists(path) ? io::ReadJson(path) : io::Json::object();
}

std::vector<control::Push> StoredPushes(const fs::path& folder, const character::Character& character) {
  const io::Json manifest = ReadManifest(folder);
  const io::JsonView view(manifest, (folder / results::kManifestFile).string());
  if (!manifest.is_object() || !view.Has("pushes")) return {};
  return ReadPushes(view["pushes"], character);
}

std::string FirstDifference(const fs::path& folder, const character::Character& character,
                            const control::Trajectory& trajectory, bool required) {
  const fs::path manifest_file = folder / results::kManifestFile;
  const io::Json manifest = ReadManifest(folder);
  const auto hashes = manifest.is_object() ? manifest.find("tables_sha256") : manifest.end();
  const bool hashed = hashes != manifest.end() && hashes->is_object();
  std::vector<NamedTable> tables = StateTables(character, trajectory);
  for (NamedTable& table : ContactTables(character, trajectory)) {
    if (fs::exists(folder / table.name)) tables.push_back(std::move(table));  // they follow from the others
  }
  for (const auto& [name, text] : tables) {
    if (!fs::exists(folder / name) && hashed && hashes->contains(name)) {
      if (hashes->at(name) == io::Sha256(text)) continue;
      return manifest_file.string() + ": /tables_sha256/" + name + ": the replay differs from what was found";
    }
    if (!required && !fs::exists(folder / name)) continue;
    const std::string difference = FirstDifferentLine((folder / name).string(), io::ReadFile(folder / name), text);
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace retrace::apps
