/// make_robot: writes the Asimo-like robot that comes with the toolkit (data/characters/asimo*.json).
#include <array>
#include <string>

#include "cli/generated_files.h"
#include "cli/program.h"
#include "robot.h"

namespace retrace {

int Main(int argc, char** argv) {
  cli::Command command("make_robot",
                       "Makes the Asimo-like robot of Liu et al. 2010: meshes, masses, joints and servos");
  std::string output;
  std::string neck = "1";
  command.Add("--neck", neck, "Axes of the neck: 1, or 3 as for the paper's backward roll")
      .OneOf({"1", "3"})
      .ShowDefault();
  command.Add("--output", output, "Character file").Required().Type("FILE");
  bool force = false;
  cli::AddForce(command, force);
  int exit_code = 0;
  if (!command.Parse(cli::Arguments(argc, argv), true, exit_code)) return exit_code;
  return cli::RunProgram("make_robot", true, [&] {
    const std::array files = {
        cli::GeneratedFile{output, make_robot::FormatCharacter(make_robot::MakeRobot(), neck == "3" ? 3 : 1)}};
    cli::WriteGeneratedFiles(files, force);
    return 0;
  });
}

}  // namespace retrace

int main(int argc, char** argv) {
  return retrace::Main(argc, argv);
}
