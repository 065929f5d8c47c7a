#include "retrace/results/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/remedy.h"

namespace retrace::results {

namespace fs = std::filesystem;

RunFolder::RunFolder(fs::path path, bool force) : path_(std::move(path)) {
  if (path_.empty()) throw UsageError("the output folder has an empty name");
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    throw OutputError(path_.string() + ": found a file, expected a folder or nothing");
  }
  if (fs::is_directory(status)) {
    const bool empty = fs::is_empty(path_, error);
    if (error) throw OutputError(path_.string() + ": cannot be read: " + error.message());
    if (!empty && !force) {
      throw Curable<UsageError>({Remedy::kOverwrite},
                                path_.string() + ": found a folder with files in it, expected a new or empty one");
    }
  }
  fs::create_directories(path_, error);
  if (error) throw OutputError(path_.string() + ": cannot be created: " + error.message());
  std::string probe = (path_ / ".retrace-XXXXXX").string();
  const int file = ::mkstemp(probe.data());
  if (file < 0) throw OutputError(path_.string() + ": no files can be made there: " + std::strerror(errno));
  ::close(file);
  ::unlink(probe.c_str());
}

void RunFolder::Remove(std::string_view name) const {
  std::error_code error;
  fs::remove(path_ / name, error);
  if (error) throw OutputError((path_ / name).string() + ": cannot be removed: " + error.message());
}

void RunFolder::Write(std::string_view name, std::string_view bytes) {
  if (!begun_) Remove(kManifestFile);
  begun_ = true;
  io::WriteFile(path_ / name, bytes);
  std::erase_if(files_, [&](const File& file) { return file.name == name; });
  files_.push_back({std::string(name), bytes.size(), io::Sha256(bytes)});
}

io::Json RunFolder::Files() const {
  io::Json list = io::Json::array();
  for (const File& file : files_) {
    list.push_back(io::Json{{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return list;
}

void RunFolder::Finish(const io::Json& manifest) {
  Remove(kManifestFile);
  for (const std::string_view name : kRunFiles) {
    const auto is_it = [&](const File& file) { return file.name == name; };
    if (std::none_of(files_.begin(), files_.end(), is_it)) Remove(name);
  }
  std::error_code has_other_files;
  fs::remove(path_ / kExportFolder, has_other_files);
  io::WriteFile(path_ / kManifestFile, manifest.dump(2, ' ', false, io::Json::error_handler_t::replace) + "\n");
}

}  // namespace retrace::results
