/// Feeds a fuzz target with every file of a folder, in builds without libFuzzer. A broken law aborts; the last file
/// that was named is then the one that broke it.
///
/// usage: replay_corpus TARGET DIR
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "retrace/io/file.h"

/// Takes the bytes of one input, as LLVMFuzzerTestOneInput of libFuzzer does.
using FuzzTarget = int (*)(const uint8_t* data, size_t size);

#include "fuzz_targets.h"  // made by CMake: includes all targets, and lists them in kFuzzTargets

int main(int argc, char** argv) try {
  const auto target = argc == 3 ? kFuzzTargets.find(argv[1]) : kFuzzTargets.end();
  if (target == kFuzzTargets.end()) {
    std::fprintf(stderr, "usage: %s TARGET DIR, where TARGET is a file tests/fuzz/fuzz_*.cpp\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    const std::string bytes = retrace::io::ReadFile(file);
    target->second(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs, none breaks a law\n", files.size());
  return files.empty() ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
