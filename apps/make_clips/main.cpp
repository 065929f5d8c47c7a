/// make_clips: writes the clips that come with the toolkit (data/clips).
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "clips.h"
#include "common/generated_files.h"
#include "common/number_option.h"
#include "common/program.h"
#include "retrace/io/error.h"

namespace retrace::make_clips_program {

int Main(int argc, char** argv) {
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
                  "Write long_walk.bvh alone: the walk, repeated for so long, in whole gait cycles [s]");
  bool force = false;
  apps::AddForce(app, force);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("make_clips", true, [&] {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);
    if (failure) throw OutputError(output + ": " + failure.message());
    std::vector<apps::GeneratedFile> files;
    for (make_clips::ClipText& file : walk ? std::vector{make_clips::MakeLongWalk(*walk)} : make_clips::MakeFiles()) {
      files.push_back({std::filesystem::path(output) / file.name, std::move(file.text)});
    }
    apps::WriteGeneratedFiles(files, force);
    return 0;
  });
}

}  // namespace retrace::make_clips_program
