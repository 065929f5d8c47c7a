/// make-body: a skinned body mesh in, a character file out.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "common/generated_files.h"
#include "common/number_option.h"
#include "common/program.h"
#include "retrace/body_fitting/character_of_mesh.h"
#include "retrace/character/builder.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::make_body_program {
namespace {

constexpr size_t kLargestMesh = size_t{200} << 20;  // [bytes]

struct Options {
  std::string mesh;
  std::string output;
  std::string map;
  std::string human = "human";
  bodies::BodyOptions body = {"", {}, {}, 1000};
  bool force = false;
};

void AddOptions(CLI::App& app, Options& o) {
  app.add_option("mesh", o.mesh, "Mesh of a body with a skin, as a binary glTF file")->required()->type_name("GLB");
  app.add_option("--output", o.output, "Character file")->required()->type_name("FILE");
  app.add_option("--name", o.body.name, "Name of the character [that of the output file]")->type_name("NAME");
  app.add_option("--map", o.map, "JSON file that says which joint moves which segment, as for recordings")
      ->type_name("FILE");
  apps::AddNumber(app, "--height", o.body.height, io::OptionalReal(bodies::kBodyHeights),
                  "Scale the mesh to this height [m] [that of the mesh, in metres]");
  apps::AddNumber(app, "--mass", o.body.mass, io::OptionalReal(bodies::kBodyMasses),
                  "Mass of the whole body [kg] [volume times density]");
  apps::AddNumber(app, "--density", o.body.density, io::Real{bodies::kDensities}, "Density without --mass [kg/m^3]");
  app.add_option("--like", o.human, "Human character that gives joints, servos and contact presets")
      ->type_name("CHARACTER")
      ->capture_default_str();
  apps::AddForce(app, o.force);
  app.set_version_flag("--version", "make-body " + results::Version());
}

std::string DescribeShape(const character::Shape& shape) {
  const auto cm = [](double length) { return io::Fixed(100 * length, 1); };
  if (shape.kind == character::Shape::Kind::kBox) {
    return "box " + cm(shape.size.x()) + " x " + cm(shape.size.y()) + " x " + cm(shape.size.z()) + " cm";
  }
  return std::string("capsule along ") + static_cast<char>('x' + shape.axis) + ", radius " + cm(shape.radius) +
         " cm, length " + cm(shape.length) + " cm";
}

void Print(const Options& o, const bodies::BodyOfMesh& made, size_t triangles) {
  const bodies::BodyReport& r = made.report;
  std::printf("%s: %zu triangles, joints recognised by: %s\n", o.mesh.c_str(), triangles, r.joints_by.c_str());
  std::printf("  height  %s m", io::Fixed(r.height, 3).c_str());
  if (std::abs(r.turned) > Radians(0.5)) {
    std::printf("; turned by %s degrees about the vertical, so that it faces z",
                io::Fixed(Degrees(r.turned), 0).c_str());
  }
  std::printf("\n  mass    %s kg\n", io::Fixed(r.mass, 2).c_str());
  std::printf("  volume  %s litres in the mesh, %s in all shapes together (what they share counted once)\n",
              io::Fixed(1000 * r.mesh_volume, 2).c_str(), io::Fixed(1000 * r.shape_volume, 2).c_str());
  std::printf("          %s by their distances from the skin alone; for the volume all surfaces moved by %s mm\n",
              io::Fixed(1000 * r.fitted_volume, 2).c_str(), io::Fixed(1000 * r.moved, 1).c_str());
  std::printf("  servos  times %s\n", io::Fixed(r.servo_scale, 3).c_str());
  std::printf("  %-17s %8s %8s %9s %9s  %s\n", "part", "litres", "kg", "off [mm]", "back [mm]", "shape");
  for (const bodies::PartReport& part : r.parts) {
    const auto body = static_cast<size_t>(made.character.FindBody(part.segment));
    bool first = true;
    for (const bodies::Fit& fit : part.fits) {
      std::printf("  %-17s %8s %8s %9s %9s  %s\n", first ? part.segment.c_str() : "",
                  first ? io::Fixed(1000 * part.volume, 3).c_str() : "",
                  first ? io::Fixed(made.character.bodies[body].mass, 3).c_str() : "",
                  io::Fixed(1000 * fit.to_shape, 1).c_str(), io::Fixed(1000 * fit.to_surface, 1).c_str(),
                  DescribeShape(fit.shape).c_str());
      first = false;
    }
  }
  std::printf("  off: of the skin from the shape, back: of the shape from the skin, roots of mean squares\n");
  if (!r.passing.empty()) {
    std::string list;
    for (const auto& [a, b] : r.passing) list += (list.empty() ? "" : "; ") + a + " and " + b;
    std::printf("  touch at rest, and pass through each other: %s\n", list.c_str());
  }
  std::printf("written to %s; reconstruct CLIP --character %s\n", o.output.c_str(), apps::ShellWord(o.output).c_str());
}

int MakeBody(Options o) {
  if (o.body.name.empty()) o.body.name = std::filesystem::path(o.output).stem().string();
  if (!io::IsName(o.body.name)) throw UsageError("--name: found \"" + o.body.name + "\", expected a name");
  const character::Character human = character::LoadCharacter(runs::FindCharacter(o.human));
  std::optional<io::Json> map;
  std::optional<io::JsonView> map_view;
  if (!o.map.empty()) map_view.emplace(map.emplace(io::ReadJson(o.map)), o.map);
  const bodies::SkinnedMesh mesh = bodies::ParseSkinnedGlb(io::ReadFile(o.mesh, kLargestMesh), o.mesh);
  const bodies::BodyOfMesh made = bodies::MakeCharacter(mesh, human, o.body, o.mesh, map_view ? &*map_view : nullptr);
  const std::array files = {apps::GeneratedFile{o.output, character::FormatCharacter(made.character)}};
  apps::WriteGeneratedFiles(files, o.force);
  Print(o, made, mesh.surface.triangles.size());
  return 0;
}

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Makes a physical character of a body mesh with a skin: shapes, masses, joints and servos", "make-body");
  AddOptions(app, options);
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("make-body", true, [&] { return MakeBody(options); });
}

}  // namespace retrace::make_body_program
