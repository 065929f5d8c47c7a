/// make_clips: writes the clips that come with the toolkit (data/clips).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "clips.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"

int main(int argc, char** argv) {
  using namespace retrace;
  CLI::App app(
      "Synthesises the clips that come with Retrace: walk, sideways roll, squat, quiet standing, and the trot of a "
      "quadruped",
      "make_clips");
  std::string output;
  app.add_option("--output", output, "Folder for the clips, made where it does not exist")
      ->required()
      ->type_name("DIR");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = app.exit(error) == 0;  // --help
    return static_cast<int>(asked ? ExitCode::kSuccess : ExitCode::kUsage);
  }
  try {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);
    if (failure) throw OutputError(output + ": " + failure.message());
    for (const make_clips::GeneratedFile& file : make_clips::MakeFiles()) {
      io::WriteFile(std::filesystem::path(output) / file.name, file.text);
    }
    return static_cast<int>(ExitCode::kSuccess);
  } catch (const Error& error) {
    std::fprintf(stderr, "make_clips: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_clips: internal error, please report it: %s\n", error.what());
    return static_cast<int>(ExitCode::kBug);
  }
}
