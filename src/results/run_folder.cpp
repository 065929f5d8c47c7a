#include "retrace/results/run_folder.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"
#include "retrace/results/run_readme.h"

namespace retrace::results {

namespace fs = std::filesystem;
namespace {

constexpr std::string_view kCharacterFolder = "character_";  // before the number of a character

/// What the names of files in folders of characters begin with, whatever their numbers. Links are not such folders.
std::vector<std::string> CharacterPrefixesIn(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool numbered = name.starts_with(kCharacterFolder) && name.size() > kCharacterFolder.size() &&
                          name.find_first_not_of("0123456789", kCharacterFolder.size()) == std::string::npos;
    if (numbered && fs::is_directory(entry->symlink_status(error))) found.push_back(name + "/");
  }
  return found;
}

/// Removes what killed runs left of files that they were writing.
void SweepRun(const fs::path& folder) {
  for (const fs::path& parent : {folder, folder / kExportFolder}) {
    io::SweepTemporaryFiles(parent);
    for (const std::string& prefix : CharacterPrefixesIn(parent)) io::SweepTemporaryFiles(parent / prefix);
  }
}

void Remove(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error) throw OutputError(file.string() + ": cannot be removed: " + error.message());
}

}  // namespace

std::string CharacterPrefix(size_t character, size_t num_characters) {
  if (num_characters == 1) return "";
  std::string prefix(kCharacterFolder);
  return prefix.append(std::to_string(character + 1)).append("/");
}

std::vector<std::string> RunFileNames(const fs::path& folder) {
  const std::string exported = std::string(kExportFolder) + "/";
  std::vector<std::string> names(kRunFiles.begin(), kRunFiles.end());
  for (const std::string& prefix : CharacterPrefixesIn(folder)) {
    for (const std::string_view name : kRunFiles) names.push_back(prefix + std::string(name));
  }
  for (const std::string& prefix : CharacterPrefixesIn(folder / kExportFolder)) {
    for (const std::string_view name : kRunFiles) {
      if (name.starts_with(exported)) names.push_back(exported + prefix + std::string(name.substr(exported.size())));
    }
  }
  return names;
}

void RemoveRunFiles(const fs::path& folder, std::span<const std::string> kept) {
  std::vector<fs::path> folders;
  for (const fs::path& parent : {folder, folder / kExportFolder}) {
    for (const std::string& prefix : CharacterPrefixesIn(parent))
      folders.push_back(parent / prefix.substr(0, prefix.size() - 1));
  }
  folders.push_back(folder / kExportFolder);
  for (const std::string& name : RunFileNames(folder)) {
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) Remove(folder / name);
  }
  if (IsReadme(folder / kReadmeFile)) Remove(folder / kReadmeFile);
  std::error_code has_other_files;
  for (const fs::path& part : folders) fs::remove(part, has_other_files);
}

std::string NameOf(const fs::path& folder) {
  const fs::path canonical = fs::weakly_canonical(folder);
  return canonical.filename().empty() ? canonical.parent_path().filename() : canonical.filename();
}

std::vector<fs::path> FilesOfRun(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const std::string& name : RunFileNames(folder)) {
    if (name != kReportFile && !name.starts_with(kExportFolder)) files.push_back(folder / name);
  }
  return files;
}

namespace {

constexpr const char* kSeal = "seal";
/// In a manifest: a scene has a dozen for each of its characters.
constexpr size_t kMostFiles = 10000;

std::string SealOf(io::Json manifest) {
  manifest.erase(kSeal);
  return io::Sha256(io::Dump(manifest));
}

}  // namespace

io::Json Seal(io::Json manifest) {
  // As it will be read: what JSON cannot hold has become something else by then.
  manifest = io::ParseJson(io::Dump(manifest), "manifest");
  manifest[kSeal] = SealOf(manifest);
  return manifest;
}

std::string FirstChange(const fs::path& folder, const io::Json& manifest) {
  const std::string name = (folder / kManifestFile).string();
  const io::JsonView view(manifest, name);
  if (!view.Has("format") || view["format"].json() != kRunFormat || !view.Has("version")) {
    return name + ": is not the manifest of a run";
  }
  constexpr int kFirstSealedVersion = 2;
  if (!view.Has(kSeal)) {
    if (view["version"].Integer(1, 1000) >= kFirstSealedVersion) return name + ": has no seal";
  } else if (view[kSeal].String() != SealOf(manifest)) {
    return name + ": was changed since the run was written";
  }
  if (!view.Has("files")) return "";
  for (const io::JsonView& file : view["files"].Elements(kMostFiles)) {
    const fs::path path = folder / file["name"].String();
    if (!fs::exists(path)) return path.string() + ": was removed since the run was written";
    if (io::Sha256OfFile(path) != file["sha256"].String()) {
      return path.string() + ": was changed since the run was written";
    }
  }
  return "";
}

RunFolder::RunFolder(fs::path path, bool force, std::span<const fs::path> inputs) : path_(std::move(path)) {
  io::CheckOutputFolder(path_);
  std::error_code error;
  if (fs::is_directory(path_, error)) {
    SweepRun(path_);  // what killed runs left is none of the files that are in the way
    const bool empty = fs::is_empty(path_, error);
    if (error) throw OutputError(path_.string() + ": cannot be read: " + error.message());
    if (!empty && !force) {
      throw WithHint<UsageError>({Remedy::kOverwrite},
                                 path_.string() + ": found a folder with files in it, expected a new or empty one");
    }
  }
  for (const std::string& name : RunFileNames(path_)) io::CheckOutput(path_ / name, inputs);
  fs::create_directories(path_, error);
  if (error) throw OutputError(path_.string() + ": cannot be created: " + error.message());
  io::CheckFolder(path_);
}

void RunFolder::Write(std::string_view name, std::string_view bytes) {
  Append(name, bytes);
  FinishFiles();
}

void RunFolder::Append(std::string_view name, std::string_view bytes) {
  const auto has_name = [&](const GrowingFile& file) { return file.name == name; };
  auto file = std::find_if(growing_.begin(), growing_.end(), has_name);
  if (file == growing_.end()) {
    growing_.push_back(Begin(name));
    file = std::prev(growing_.end());
  }
  file->writer.Write(bytes);
  file->sum.Add(bytes);
  file->bytes += bytes.size();
}

RunFolder::GrowingFile RunFolder::Begin(std::string_view name) {
  if (!begun_) Remove(path_ / kManifestFile);
  begun_ = true;
  const fs::path path = path_ / name;
  std::error_code error;
  if (fs::create_directories(path.parent_path(), error); error) {
    throw OutputError(path.parent_path().string() + ": cannot be created: " + error.message());
  }
  return {std::string(name), io::FileWriter(path)};
}

void RunFolder::FinishFiles() {
  for (GrowingFile& growing : growing_) {
    growing.writer.Finish();
    std::erase_if(files_, [&](const File& file) { return file.name == growing.name; });
    files_.push_back({growing.name, growing.bytes, growing.sum.Finish()});
  }
  growing_.clear();
}

io::Json RunFolder::Files() const {
  io::Json list = io::Json::array();
  for (const File& file : files_) {
    list.push_back(io::Json{{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return list;
}

void RunFolder::Finish(const io::Json& manifest) {
  if (!growing_.empty()) throw std::logic_error(growing_.front().name + " of a run was begun and not finished");
  Remove(path_ / kManifestFile);
  std::vector<std::string> written;
  for (const File& file : files_) written.push_back(file.name);
  RemoveRunFiles(path_, written);
  // A folder of two files, of which an evaluation makes thousands, needs no words. A user's own file stays.
  if (written.size() > 1 && !fs::exists(path_ / kReadmeFile)) {
    io::WriteFile(path_ / kReadmeFile, FormatReadme(written));
  }
  io::WriteFile(path_ / kManifestFile, io::Dump(Seal(manifest), 2) + "\n");
}

}  // namespace retrace::results
