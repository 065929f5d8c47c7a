/// make-body: a skinned body mesh in, a character file out.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/generated_files.h"
#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "retrace/body_fitting/character_of_mesh.h"
#include "retrace/character/builder.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::apps::character_from_mesh_command {
namespace {

struct Options {
  std::string mesh;
  std::string output;
  std::string map;
  std::string human = "human";
  body_fitting::BodyOptions body = {"", {}, {}, 1000};
  bool force = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("mesh", o.mesh, "Mesh of a body with a skin, as a binary glTF file").Required().Type("GLB");
  command.Add("--output", o.output, "Character file").Required().Type("FILE");
  command.Add("--name", o.body.name, "Name of the character [that of the output file]").Type("NAME");
  command.Add("--map", o.map, "JSON file that says which joint moves which segment, as for recordings").Type("FILE");
  cli::AddNumber(command, "--height", o.body.height, io::OptionalReal(body_fitting::kBodyHeights),
                 "Scale the mesh to this height [m] [that of the mesh, in meters]");
  cli::AddNumber(command, "--mass", o.body.mass, io::OptionalReal(body_fitting::kBodyMasses),
                 "Mass of the whole body [kg] [volume times density]");
  cli::AddNumber(command, "--density", o.body.density, io::Real{body_fitting::kDensities},
                 "Density without --mass [kg/m^3]");
  cli::AddWord(command, "--servos", o.body.servos, character::ServosWords(),
               "Servos: scaled (those of the template times the ratio of mass times height), kept (as they are), or "
               "paper (kp 700, kd 1, at most 100 N m at every joint)");
  command.Add("--template,--like", o.human, "Human character that gives joints, servos and contact presets")
      .Type("CHARACTER")
      .ShowDefault();
  cli::AddForce(command, o.force);
}

std::string DescribeShape(const character::Shape& shape) {
  const auto cm = [](double length) { return io::Fixed(100 * length, 1); };
  if (shape.kind == character::Shape::Kind::kBox) {
    return "box " + cm(shape.size.x()) + " x " + cm(shape.size.y()) + " x " + cm(shape.size.z()) + " cm";
  }
  return std::string("capsule along ") + static_cast<char>('x' + shape.axis) + ", radius " + cm(shape.radius) +
         " cm, length " + cm(shape.length) + " cm";
}

void Print(const Options& o, const body_fitting::BodyOfMesh& made, size_t triangles) {
  const body_fitting::BodyReport& r = made.report;
  std::printf("%s: %zu triangles, joints recognized by: %s\n", cli::Shown(o.mesh).c_str(), triangles,
              cli::Shown(r.joints_by).c_str());
  std::printf("  height  %s m", io::Fixed(r.height, 3).c_str());
  if (std::abs(r.turned) > Radians(0.5)) {
    std::printf("; turned by %s degrees about the vertical, so that it faces z",
                io::Fixed(Degrees(r.turned), 0).c_str());
  }
  std::printf("\n  mass    %s kg\n", io::Fixed(r.mass, 2).c_str());
  std::printf("  volume  %s liters in the mesh, %s in all shapes together (what they share counted once)\n",
              io::Fixed(1000 * r.mesh_volume, 2).c_str(), io::Fixed(1000 * r.shape_volume, 2).c_str());
  std::printf("          %s by their distances from the skin alone; for the volume all surfaces moved by %s mm\n",
              io::Fixed(1000 * r.fitted_volume, 2).c_str(), io::Fixed(1000 * r.moved, 1).c_str());
  if (r.servos.empty()) std::printf("  servos  times %s\n", io::Fixed(r.servo_scale, 3).c_str());
  for (const std::string& servos : r.servos) std::printf("  servos  %s\n", cli::Shown(servos).c_str());
  std::printf("  %-17s %8s %8s %9s %9s  %s\n", "part", "liters", "kg", "off [mm]", "back [mm]", "shape");
  for (const body_fitting::PartReport& part : r.parts) {
    const auto body = static_cast<size_t>(made.character.FindBody(part.segment));
    bool first = true;
    for (const body_fitting::Fit& fit : part.fits) {
      std::printf("  %-17s %8s %8s %9s %9s  %s\n", first ? cli::Shown(part.segment).c_str() : "",
                  first ? io::Fixed(1000 * part.volume, 3).c_str() : "",
                  first ? io::Fixed(made.character.bodies[body].mass, 3).c_str() : "",
                  io::Fixed(1000 * fit.to_shape, 1).c_str(), io::Fixed(1000 * fit.to_surface, 1).c_str(),
                  cli::Shown(DescribeShape(fit.shape)).c_str());
      first = false;
    }
  }
  std::printf("  off: of the skin from the shape, back: of the shape from the skin, roots of mean squares\n");
  if (!r.passing.empty()) {
    std::string list;
    for (const auto& [a, b] : r.passing) list += (list.empty() ? "" : "; ") + a + " and " + b;
    std::printf("  touch at rest, and pass through each other: %s\n", cli::Shown(list).c_str());
  }
  std::printf("written to %s; reconstruct CLIP --character %s\n", cli::Shown(o.output).c_str(),
              cli::ShellWord(o.output).c_str());
}

int MakeBody(Options o) {
  if (o.body.name.empty()) o.body.name = std::filesystem::path(o.output).stem().string();
  if (!io::IsName(o.body.name)) throw UsageError("--name: found \"" + o.body.name + "\", expected a name");
  const character::Character human = character::LoadCharacter(runs::FindCharacter(o.human));
  std::optional<io::Json> map;
  std::optional<io::JsonView> map_view;
  if (!o.map.empty()) map_view.emplace(map.emplace(io::ReadJson(o.map)), o.map);
  const body_fitting::SkinnedMesh mesh =
      body_fitting::ParseSkinnedGlb(io::ReadFile(o.mesh, body_fitting::kLargestMesh), o.mesh);
  const body_fitting::BodyOfMesh made =
      body_fitting::MakeCharacter(mesh, human, o.body, o.mesh, map_view ? &*map_view : nullptr);
  const std::array files = {cli::GeneratedFile{o.output, character::FormatCharacter(made.character)}};
  cli::WriteGeneratedFiles(files, o.force);
  Print(o, made, mesh.surface.triangles.size());
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call&) { return MakeBody(*options); };
}

}  // namespace retrace::apps::character_from_mesh_command
