/// make_meshes: writes skinned body meshes from numbers, slim, medium and heavy, as a user's own mesh would be.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "body_mesh.h"
#include "cli/generated_files.h"
#include "cli/number_option.h"
#include "cli/program.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"

namespace retrace {

int Main(int argc, char** argv) {
  cli::Command command("make_meshes",
                       "Makes closed body meshes with skin weights from numbers: slim, medium and heavy");
  std::string output;
  double arms = 0;
  double spacing = 0.02;
  command.Add("--output", output, "Folder for slim.glb, medium.glb and heavy.glb").Required().Type("DIR");
  cli::AddNumber(command, "--arms", arms, io::Real{{0, 80}}, "Angle of the arms below the horizontal [degrees]");
  cli::AddNumber(command, "--spacing", spacing, io::Real{{0.01, 0.05}}, "Grid on which the surfaces are found [m]");
  bool force = false;
  cli::AddForce(command, force);
  int exit_code = 0;
  if (!command.Parse(cli::Arguments(argc, argv), true, exit_code)) return exit_code;
  return cli::RunProgram("make_meshes", true, [&] {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);
    if (failure) throw OutputError(output + ": " + failure.message());
    std::vector<cli::GeneratedFile> files;
    for (const make_meshes::BodyNumbers& body : make_meshes::Bodies()) {
      files.push_back(
          {std::filesystem::path(output) / (body.name + ".glb"),
           body_fitting::FormatSkinnedGlb(make_meshes::MakeBodyMesh(body, Radians(arms), spacing), body.name)});
    }
    cli::WriteGeneratedFiles(files, force);
    return 0;
  });
}

}  // namespace retrace

int main(int argc, char** argv) {
  return retrace::Main(argc, argv);
}
