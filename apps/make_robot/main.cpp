/// make_robot: writes the Asimo-like robot that comes with the toolkit (data/characters/asimo*.json).
#include <array>
#include <string>

#include "common/generated_files.h"
#include "common/program.h"
#include "robot.h"

namespace retrace::make_robot_program {

int Main(int argc, char** argv) {
  CLI::App app("Makes the Asimo-like robot of Liu et al. 2010: meshes, masses, joints and servos", "make_robot");
  std::string output;
  std::string neck = "1";
  app.add_option("--neck", neck, "Axes of the neck: 1, or 3 as for the paper's backward roll")
      ->check(CLI::IsMember({"1", "3"}))
      ->capture_default_str();
  app.add_option("--output", output, "Character file")->required()->type_name("FILE");
  bool force = false;
  apps::AddForce(app, force);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("make_robot", true, [&] {
    const std::array files = {
        apps::GeneratedFile{output, make_robot::FormatCharacter(make_robot::MakeRobot(), neck == "3" ? 3 : 1)}};
    apps::WriteGeneratedFiles(files, force);
    return 0;
  });
}

}  // namespace retrace::make_robot_program
