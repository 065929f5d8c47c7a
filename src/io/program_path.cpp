#include "retrace/io/program_path.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace retrace::io {

std::filesystem::path FindProgram(const std::string& name) {
  const auto is_program = [](const std::filesystem::path& file) {
    return ::access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file);
  };
  if (name.find('/') != std::string::npos)
    return is_program(name) ? std::filesystem::path(name) : std::filesystem::path();
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    std::filesystem::path file = std::filesystem::path(folders.substr(begin, end - begin)) / name;
    if (is_program(file)) return file;
    begin = end + 1;
  }
  return {};
}

}  // namespace retrace::io
