/// A folder for the files of a test that is removed afterwards.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace retrace {

class SampleFolder {
 public:
  SampleFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "samples-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~SampleFolder() { std::filesystem::remove_all(path_); }
  SampleFolder(const SampleFolder&) = delete;
  SampleFolder& operator=(const SampleFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace retrace
