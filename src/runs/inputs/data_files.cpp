#include "retrace/runs/inputs/data_files.h"

#include <set>
#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"

namespace retrace::runs {
namespace {

std::vector<std::filesystem::path>& AddedFolders() {
  static std::vector<std::filesystem::path> folders;
  return folders;
}

/// Where data may be: in folders that were added, beside an installed program (also one that was moved), where it was
/// installed, in the sources.
std::vector<std::filesystem::path> DataFolders() {
  std::vector<std::filesystem::path> folders = AddedFolders();
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) folders.push_back(program.parent_path().parent_path() / "share" / "retrace");
  folders.emplace_back(RETRACE_INSTALLED_DATA_DIR);
  folders.emplace_back(RETRACE_SOURCE_DATA_DIR);
  return folders;
}

std::filesystem::path FindData(const std::string& kind, const std::string& name_or_file) {
  return FindDataIn(DataFolders(), kind, name_or_file);
}

}  // namespace

std::filesystem::path FindDataIn(const std::vector<std::filesystem::path>& folders, const std::string& kind,
                                 const std::string& name_or_file) {
  if (name_or_file.ends_with(".json") || name_or_file.find('/') != std::string::npos) return name_or_file;
  std::set<std::string> names;
  for (const auto& folder : folders) {
    auto path = folder / (kind + "s") / (name_or_file + ".json");
    if (std::filesystem::exists(path)) return path;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder / (kind + "s"), ignored)) {
      if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
    }
  }
  if (names.empty()) {
    std::string places;
    for (const auto& folder : folders) places += (places.empty() ? "" : ", ") + (folder / (kind + "s")).string();
    throw UsageError("the " + kind + " \"" + name_or_file + "\": the data of this program are missing (" + places +
                     "): install it again, or move its folder share along with bin; expected a JSON file");
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  const std::string meant = io::DidYouMean(name_or_file, {names.begin(), names.end()});
  throw UsageError("the " + kind + " \"" + name_or_file + "\": " + meant + (meant.empty() ? "expected" : " Expected") +
                   " a JSON file or one of: " + list);
}

bool AddDataFolder(const std::filesystem::path& folder) {
  AddedFolders().push_back(folder);
  return true;
}

std::filesystem::path FindCharacter(const std::string& name_or_file) {
  return FindData("character", name_or_file);
}

std::filesystem::path FindWorld(const std::string& name_or_file) {
  return FindData("world", name_or_file);
}

std::filesystem::path FindKeys(const std::string& name_or_file) {
  return FindData("key", name_or_file);
}

std::optional<std::filesystem::path> FindBundledClip(const std::string& file_name) {
  for (const auto& folder : DataFolders()) {
    auto path = folder / "clips" / file_name;
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

std::filesystem::path FindReportPage() {
  for (const auto& folder : DataFolders()) {
    auto path = folder / "report_page.html";
    if (std::filesystem::exists(path)) return path;
  }
  throw UsageError(
      "the report page was not built, because npm or a network is missing: install npm (scripts/install-dependencies), "
      "then configure and build again");
}

}  // namespace retrace::runs
