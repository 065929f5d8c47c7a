/// make_clips: writes the clips that come with the toolkit (data/clips).
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/generated_files.h"
#include "cli/number_option.h"
#include "cli/program.h"
#include "clips.h"
#include "retrace/io/error.h"

namespace retrace {

int Main(int argc, char** argv) {
  cli::Command command(
      "make_clips",
      "Synthesizes the clips that come with Retrace: walk, sideways roll, squat, quiet standing, and the trot of a "
      "quadruped");
  std::string output;
  command.Add("--output", output, "Folder for the clips, made where it does not exist").Required().Type("DIR");
  std::optional<double> walk;
  cli::AddNumber(command, "--long-walk", walk, io::OptionalReal{{1, 1200}},
                 "Write long_walk.bvh alone: the walk, repeated for so long, in whole gait cycles [s]");
  bool force = false;
  cli::AddForce(command, force);
  int exit_code = 0;
  if (!command.Parse(cli::Arguments(argc, argv), true, exit_code)) return exit_code;
  return cli::RunProgram("make_clips", true, [&] {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);
    if (failure) throw OutputError(output + ": " + failure.message());
    std::vector<cli::GeneratedFile> files;
    for (make_clips::ClipText& file : walk ? std::vector{make_clips::MakeLongWalk(*walk)} : make_clips::MakeFiles()) {
      files.push_back({std::filesystem::path(output) / file.name, std::move(file.text)});
    }
    cli::WriteGeneratedFiles(files, force);
    return 0;
  });
}

}  // namespace retrace

int main(int argc, char** argv) {
  return retrace::Main(argc, argv);
}
