/// make_clips: writes the clips that come with the toolkit (data/clips).
#include <filesystem>
#include <string>
#include <system_error>

#include "clips.h"
#include "common/program.h"
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
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("make_clips", true, [&] {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);
    if (failure) throw OutputError(output + ": " + failure.message());
    for (const make_clips::GeneratedFile& file : make_clips::MakeFiles()) {
      io::WriteFile(std::filesystem::path(output) / file.name, file.text);
    }
    return 0;
  });
}
