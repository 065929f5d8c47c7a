/// make_robot: writes the Asimo-like robot that comes with the toolkit (data/characters/asimo*.json).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "robot.h"

int main(int argc, char** argv) {
  using namespace retrace;
  CLI::App app("Makes the Asimo-like robot of Liu et al. 2010: meshes, masses, joints and servos", "make_robot");
  std::string output;
  int neck = 1;
  app.add_option("--neck", neck, "Axes of the neck: 1, or 3 as for the paper's backward roll")
      ->check(CLI::IsMember({1, 3}))
      ->capture_default_str();
  app.add_option("--output", output, "Character file")->required()->type_name("FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = app.exit(error) == 0;  // --help
    return static_cast<int>(asked ? ExitCode::kSuccess : ExitCode::kUsage);
  }
  try {
    io::WriteFile(output, make_robot::FormatCharacter(make_robot::MakeRobot(), neck));
    return static_cast<int>(ExitCode::kSuccess);
  } catch (const Error& error) {
    std::fprintf(stderr, "make_robot: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_robot: internal error, please report it: %s\n", error.what());
    return static_cast<int>(ExitCode::kBug);
  }
}
