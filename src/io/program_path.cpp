#include "retrace/io/program_path.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

extern char** environ;

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

int StartProgram(std::vector<std::string> words, const posix_spawn_file_actions_t& actions, short flags, pid_t& child) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags | POSIX_SPAWN_SETSIGDEF));
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal_number);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int failure = ::posix_spawn(&child, words.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return failure;
}

}  // namespace retrace::io
