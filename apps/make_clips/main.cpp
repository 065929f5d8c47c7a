/// make_clips: writes the clips that come with the toolkit (data/clips).
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "clips.h"
#include "common/number_option.h"
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
  std::optional<double> walk;
  apps::AddNumber(app, "--long-walk", walk, io::OptionalReal{{1, 1200}},
                  "Write long_walk.bvh alone: the walk, going on for so long, in whole gait cycles [s]");
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("make_clips", true, [&] {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);
    if (failure) throw OutputError(output + ": " + failure.message());
    const auto files = walk ? std::vector{make_clips::MakeLongWalk(*walk)} : make_clips::MakeFiles();
    for (const make_clips::GeneratedFile& file : files) {
      io::WriteFile(std::filesystem::path(output) / file.name, file.text);
    }
    return 0;
  });
}
