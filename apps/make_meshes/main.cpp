/// make_meshes: writes skinned body meshes from numbers, slim, medium and heavy, as a user's own mesh would be.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "body_mesh.h"
#include "common/generated_files.h"
#include "common/number_option.h"
#include "common/program.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"

namespace retrace::make_meshes_program {

int Main(int argc, char** argv) {
  CLI::App app("Makes closed body meshes with skin weights from numbers: slim, medium and heavy", "make_meshes");
  std::string output;
  double arms = 0;
  double spacing = 0.02;
  app.add_option("--output", output, "Folder for slim.glb, medium.glb and heavy.glb")->required()->type_name("DIR");
  apps::AddNumber(app, "--arms", arms, io::Real{{0, 80}}, "Angle of the arms below the horizontal [degrees]");
  apps::AddNumber(app, "--spacing", spacing, io::Real{{0.01, 0.05}}, "Grid on which the surfaces are found [m]");
  bool force = false;
  apps::AddForce(app, force);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("make_meshes", true, [&] {
    std::error_code failure;
    std::filesystem::create_directories(output, failure);
    if (failure) throw OutputError(output + ": " + failure.message());
    std::vector<apps::GeneratedFile> files;
    for (const make_meshes::BodyNumbers& body : make_meshes::Bodies()) {
      files.push_back({std::filesystem::path(output) / (body.name + ".glb"),
                       bodies::FormatSkinnedGlb(make_meshes::MakeBodyMesh(body, Radians(arms), spacing), body.name)});
    }
    apps::WriteGeneratedFiles(files, force);
    return 0;
  });
}

}  // namespace retrace::make_meshes_program
