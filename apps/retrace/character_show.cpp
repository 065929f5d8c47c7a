/// character show: what a character is made of, whatever its file: prints, draws and converts it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/generated_files.h"
#include "cli/program.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/character/builder.h"
#include "retrace/character/character.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/control.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/report/filmstrip.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/inputs/character_input.h"

namespace retrace::apps::character_show_command {
namespace {

struct Options {
  std::string character;
  std::string output;
  std::string svg;
  bool force = false;
  bool json = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("character", o.character, "A name, or a file: JSON of the toolkit, URDF or MJCF")
      .Required()
      .Type("CHARACTER");
  command.Add("--output", o.output, "Write it as a character file of the toolkit").Type("FILE");
  command.Add("--svg", o.svg, "Draw it at rest, from its left and from the front").Type("FILE");
  cli::AddForce(command, o.force);
  AddJsonOption(command, o.json);
}

const char* NameOf(character::Part part) {
  switch (part) {
    case character::Part::kBody:
      return "";
    case character::Part::kLowerLeg:
      return "lower leg";
    case character::Part::kFoot:
      return "foot";
    case character::Part::kLowerArm:
      return "lower arm";
    case character::Part::kHand:
      return "hand";
  }
  return "";
}

std::string AxisOf(const character::Joint& joint) {
  if (joint.type == character::JointType::kBall) return "ball";
  if (!joint.oblique) return {static_cast<char>('x' + joint.axis)};
  const Vec3& axis = *joint.oblique;
  if ((axis + Vec3(Vec3::Unit(joint.axis))).norm() < 1e-9) return {'-', static_cast<char>('x' + joint.axis)};
  std::string text;
  for (const double number : axis) {
    const double shown = std::abs(number) < 0.005 ? 0.0 : number;
    text += (text.empty() ? "" : " ") + io::Fixed(shown, 2);
  }
  return text;
}

std::string Known(double number, int decimals) {
  return number > 0 ? io::Fixed(number, decimals) : "-";
}

/// The character at rest, once as it is and once turned by a quarter.
std::string Draw(const character::Character& character) {
  character::Pose pose;
  pose.root_position = character.bodies[static_cast<size_t>(character.root)].rest_position;
  pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
  control::Trajectory trajectory;
  trajectory.time_step = 1;
  for (const double turn : {0.0, 90.0}) {
    pose.root_orientation = AxisRotation(1, Radians(turn));
    character::ForwardKinematics(character, pose, trajectory.states.emplace_back());
    for (character::BodyState& body : trajectory.states.back()) {
      body.position.z() += turn / 90 * 1e-6;  // the view is at right angles to the direction of travel
    }
  }
  report::FilmStripOptions options;
  options.figures = 2;
  options.width = 800;
  options.title = character.name;
  return report::FormatFilmStrip(character, trajectory, nullptr, options);
}

bool IsEndEffector(const character::Character& character, size_t body) {
  const auto& ends = character.end_effectors;
  return std::find(ends.begin(), ends.end(), static_cast<int>(body)) != ends.end();
}

/// The same as Print says, for scripts, in SI units; what is not known is null.
io::Json JsonOf(const character::Character& character, const std::vector<std::string>& notes) {
  const auto known = [](double number) { return number > 0 ? io::Json(number) : io::Json(); };
  io::Json bodies = io::Json::array(), joints = io::Json::array();
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Body& body = character.bodies[b];
    bodies.push_back({{"name", body.name},
                      {"mass", body.mass},
                      {"shapes", body.shapes.size()},
                      {"part", NameOf(body.part)},
                      {"end_effector", IsEndEffector(character, b)}});
  }
  for (const character::Joint& joint : character.joints) {
    io::Json range, axis;
    if (joint.range) range = {joint.range->first, joint.range->second};
    if (joint.type != character::JointType::kBall) {
      const Vec3 along = joint.oblique ? *joint.oblique : Vec3(Vec3::Unit(joint.axis));
      axis = {along.x(), along.y(), along.z()};
    }
    joints.push_back({{"name", joint.name},
                      {"type", joint.type == character::JointType::kBall ? "ball" : "hinge"},
                      {"axis", axis},
                      {"range", range},
                      {"effort", known(joint.effort.maxCoeff())},
                      {"speed", known(joint.speed)},
                      {"kp", joint.kp},
                      {"kd", joint.kd},
                      {"armature", known(joint.armature)}});
  }
  return {{"name", character.name},
          {"mass", character.total_mass()},
          {"height", character.height},
          {"degrees_of_freedom", character.dof()},
          {"planar", character.planar},
          {"bodies", bodies},
          {"joints", joints},
          {"self_pairs", character.self_pairs.size()},
          {"notes", notes}};
}

void Print(const character::Character& character, const std::vector<std::string>& notes) {
  std::printf("%s: %s kg, %s m high, %zu bodies, %d degrees of freedom%s\n", cli::Shown(character.name).c_str(),
              io::Fixed(character.total_mass(), 3).c_str(), io::Fixed(character.height, 3).c_str(),
              character.bodies.size(), character.dof(), character.planar ? ", in its sagittal plane" : "");
  std::printf("  %-30s %9s %7s  %-9s %s\n", "body", "kg", "shapes", "part", "end effector");
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Body& body = character.bodies[b];
    std::printf("  %-30s %9s %7zu  %-9s %s\n", cli::Shown(body.name).c_str(), io::Fixed(body.mass, 4).c_str(),
                body.shapes.size(), NameOf(body.part), IsEndEffector(character, b) ? "yes" : "");
  }
  std::printf("  %-30s %-18s %17s %7s %7s %8s %8s %8s\n", "joint", "axis", "range [degrees]", "N m", "rad/s", "kp",
              "kd", "armature");
  for (const character::Joint& joint : character.joints) {
    const std::string range =
        joint.range ? io::Fixed(Degrees(joint.range->first), 1) + " to " + io::Fixed(Degrees(joint.range->second), 1)
                    : "-";
    std::printf("  %-30s %-18s %17s %7s %7s %8s %8s %8s\n", cli::Shown(joint.name).c_str(),
                cli::Shown(AxisOf(joint)).c_str(), cli::Shown(range).c_str(),
                cli::Shown(Known(joint.effort.maxCoeff(), 1)).c_str(), cli::Shown(Known(joint.speed, 1)).c_str(),
                io::Fixed(joint.kp, 1).c_str(), io::Fixed(joint.kd, 2).c_str(),
                cli::Shown(Known(joint.armature, 4)).c_str());
  }
  std::printf("  %zu pairs of bodies may touch each other\n", character.self_pairs.size());
  for (const std::string& note : notes) std::printf("  %s\n", cli::Shown(note).c_str());
}

int Show(const Options& o) {
  std::vector<std::string> notes;
  const runs::InputFile file = runs::ReadInput({"character", runs::CharacterFile(o.character)});
  const character::Character character = runs::ParseCharacterFile(file, &notes);
  std::vector<cli::GeneratedFile> files;
  if (!o.output.empty()) files.push_back({o.output, character::FormatCharacter(character)});
  if (!o.svg.empty()) files.push_back({o.svg, Draw(character)});
  cli::WriteGeneratedFiles(files, o.force);
  if (o.json) {
    io::Json json = JsonOf(character, notes);
    json["files"] = io::Json::array();
    for (const cli::GeneratedFile& written : files) json["files"].push_back(written.path.string());
    PrintJson(json);
    return 0;
  }
  Print(character, notes);
  for (const cli::GeneratedFile& written : files) std::printf("written to %s\n", cli::Shown(written.path).c_str());
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call&) { return Show(*options); };
}

}  // namespace retrace::apps::character_show_command
