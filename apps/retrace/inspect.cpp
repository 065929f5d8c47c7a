/// inspect: what is recognized in a recorded clip, before anything is simulated.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/generated_files.h"
#include "cli/program.h"
#include "commands.h"
#include "common/clip_options.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/motion_editing/repair.h"
#include "retrace/results/provenance.h"
#include "retrace/results/required_forces_table.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/clip_checks_text.h"
#include "retrace/task/recorded_world.h"

namespace retrace::apps::inspect_command {
namespace {

struct Options {
  ClipArguments clip;
  std::string character = "human";
  bool json = false;
  std::string forces;  // file; empty: none
  bool force = false;
  bool repair = false;
  std::string world_file;  // empty: none
};

/// The command that reconstructs the clip as it was recognized.
std::string Command(const runs::ClipFindings& findings, const Options& o) {
  return "reconstruct " + ClipCommand(o.clip, o.clip.numbers.time_scale * findings.SuggestedTimeScale(), o.character);
}

/// @param report null before the skeleton is recognized
void PrintTree(const motion::Clip& clip, const character::ReferenceReport* report) {
  const auto& joints = clip.skeleton.joints;
  std::vector<std::vector<size_t>> children(joints.size());
  for (size_t j = 1; j < joints.size(); ++j) children[static_cast<size_t>(joints[j].parent)].push_back(j);
  struct Item {
    size_t joint;
    int depth;
  };
  std::vector<Item> stack = {{0, 0}};
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    const motion::Joint& joint = joints[item.joint];
    if (!joint.end_site) {
      std::string segments;
      for (const auto& [segment, source] :
           report != nullptr ? report->map.segments : decltype(report->map.segments)()) {
        if (source.position == static_cast<int>(item.joint)) segments += (segments.empty() ? "" : ", ") + segment;
      }
      const std::string indent(static_cast<size_t>(4 + 2 * item.depth), ' ');
      const double length = joint.offset.norm() * (report != nullptr ? report->unit : 1);
      std::printf("%s%-*s %8.3f %s  %s\n", indent.c_str(), std::max(1, 40 - 2 * item.depth),
                  cli::Shown(joint.name).c_str(), length, report != nullptr ? "m" : "units",
                  cli::Shown(segments).c_str());
    }
    const auto& below = children[item.joint];
    for (auto it = below.rbegin(); it != below.rend(); ++it) stack.push_back({*it, item.depth + 1});
  }
}

/// What is printed of a clip that cannot be mapped onto the character.
void PrintUnderstood(const motion::Clip& clip, const Options& o) {
  std::printf("%s\n  recording   %zu frames, %s per second\n  skeleton\n", cli::Shown(o.clip.clip).c_str(),
              clip.frames.size(), io::Fixed(1 / clip.frame_time, 2).c_str());
  PrintTree(clip, nullptr);
  std::fflush(stdout);
}

std::string TimeSpan(const metrics::Interval& interval) {
  return std::string(1, ' ').append(io::Fixed(interval.start, 2)).append("-").append(io::Fixed(interval.end, 2));
}

/// What the motion stands on beside the floor.
void PrintGround(const metrics::RecordedGround& ground) {
  for (const metrics::RecordedSurface& surface : ground.surfaces) {
    std::string tilt;
    if (surface.kind == metrics::SurfaceKind::kSlope) {
      tilt = " in its middle, tilted by " + io::Fixed(Degrees(surface.tilt()), 1) + " degrees";
    }
    std::printf("  ground      %s at %.2f m%s: bears %.0f %% of the weight for %.1f s from %.2f to %.2f s%s\n",
                Name(surface.kind).c_str(), surface.center.y(), cli::Shown(tilt).c_str(), 100 * surface.borne,
                surface.seconds, surface.interval.start, surface.interval.end,
                surface.strong() ? "" : " (too little evidence: not used)");
  }
}

void Print(const runs::ClipFindings& f, const Options& o) {
  const motion::Clip& clip = f.clip;
  const auto& joints = clip.skeleton.joints;
  const auto ends = std::count_if(joints.begin(), joints.end(), [](const motion::Joint& j) { return j.end_site; });
  std::printf("%s\n", cli::Shown(o.clip.clip).c_str());
  std::printf("  recording   %zu frames, %s per second%s: %.2f s; used: %.2f s\n", clip.frames.size(),
              io::Fixed(f.report.frame_rate, 2).c_str(),
              o.clip.numbers.frame_rate ? " as given"
              : clip.frame_time_known   ? ""
                                        : " (the file has no rate)",
              static_cast<double>(clip.frames.size() - 1) / f.report.frame_rate, f.reference.duration());
  std::printf("  performer   %.2f m tall; one unit is %s m (%s)\n", f.report.height, io::Number(f.report.unit).c_str(),
              cli::Shown(f.report.unit_from).c_str());
  std::printf("  axes        %s points up; faces %.0f degrees about it at the start\n",
              cli::Shown(f.report.up_axis).c_str(),
              std::round(Degrees(f.report.facing)) + 0.0);  // 0 instead of -0
  std::printf("  sides       left and right are %s (%s)\n",
              f.report.handedness.mirrored ? "EXCHANGED: --mirror corrects it" : "as they are called",
              cli::Shown(f.report.handedness.Votes()).c_str());
  std::printf(
      "  floor       at %.3f m, tilted by %.2f degrees%s\n", f.report.floor_height, Degrees(f.report.floor_tilt),
      f.report.floor_shown ? "" : " (nobody stands on it: under the lowest feet; --floor-height gives another)");
  for (const character::StandingLevel& level : f.report.levels) {
    std::printf("  level       feet stand %.2f m over the floor for %.1f s\n", level.height, level.seconds);
  }
  if (f.report.belt) {
    const character::Belt& belt = *f.report.belt;
    std::printf("  treadmill   %.3f m/s%s, taken out: the motion goes over ground\n", belt.speed,
                belt.given ? " as given" : "");
  }
  PrintGround(f.checks.ground);
  std::printf("  skeleton    %zu joints and %td ends; joints recognized by: %s\n",
              joints.size() - static_cast<size_t>(ends), ends, cli::Shown(f.report.map.family).c_str());
  PrintTree(clip, &f.report);
  std::printf("  character   its joints are %.3f m from the recorded ones on average, hips on hips\n",
              f.report.joint_distance);
  std::printf("  changed\n");
  for (const std::string& note : f.report.notes) std::printf("    %s\n", cli::Shown(note).c_str());
  std::printf("  contacts [s]\n");
  for (const auto& [body, intervals] : f.checks.contacts) {
    std::string text;
    for (const metrics::Interval& interval : intervals) {
      text.append(TimeSpan(interval));
    }
    std::printf("    %-12s%s\n", cli::Shown(body).c_str(), text.empty() ? " never" : cli::Shown(text).c_str());
  }
  std::string flights;
  for (const metrics::FreeFlight& flight : f.checks.flights) {
    flights.append(TimeSpan(flight.interval)).append(" (").append(io::Fixed(flight.acceleration, 1)).append(" m/s2)");
  }
  std::printf("    %-12s%s\n", "free flight", flights.empty() ? " none" : cli::Shown(flights).c_str());
  for (const metrics::Support& support : f.checks.supports) {
    std::printf("    %-12s%s, pelvis %.2f m over the floor\n", "seat", TimeSpan(support.interval).c_str(),
                support.height);
  }
  std::printf("  segments [s]\n   ");
  for (const task::Boundary& b : f.boundaries) std::printf(" %.2f (%s)", b.time, cli::Shown(b.reason).c_str());
  std::printf("\n  motion      %s\n", Name(f.kind.kind).c_str());
  for (const metrics::ClipWarning& warning : f.checks.warnings)
    std::printf("  warning     %s\n", cli::Shown(warning.text).c_str());
  std::printf("  reconstruct it with\n    %s\n", cli::Shown(Command(f, o)).c_str());
}

/// Writes the forces and torques that the motion requires.
void WriteForces(const runs::ClipFindings& findings, std::span<const runs::InputFile> inputs, const Options& o) {
  std::vector<std::filesystem::path> paths;
  for (const runs::InputFile& input : inputs) paths.push_back(input.record.name.path);
  io::CheckOutput(o.forces, paths);
  const auto forces = metrics::RequiredForcesOf(findings.reference);
  const cli::GeneratedFile table = {o.forces, results::FormatRequiredForces(findings.character, forces)};
  cli::WriteGeneratedFiles({&table, 1}, o.force);
}

/// Writes the world that the recording shows.
void WriteWorld(const runs::ClipFindings& findings, std::span<const runs::InputFile> inputs, const Options& o) {
  std::vector<std::filesystem::path> paths;
  for (const runs::InputFile& input : inputs) paths.push_back(input.record.name.path);
  io::CheckOutput(o.world_file, paths);
  const task::WorldVariation world = task::MakeRecordedWorld(findings.checks.ground, findings.reference);
  if (world.empty()) {
    throw InputError(o.clip.clip, "a motion on a plain floor",
                     "one that stands or sits on something, for --world-file");
  }
  const cli::GeneratedFile file = {o.world_file, io::Dump(task::WorldDocument(world), 1) + "\n"};
  cli::WriteGeneratedFiles({&file, 1}, o.force);
}

void AddOptions(cli::Command& command, Options& o) {
  AddClipOptions(command, o.clip);
  command
      .Add("--character", o.character,
           "Name of a character or its JSON file, or subject: of the size of the recorded person")
      .ShowDefault();
  command.AddFlag("--json", o.json, "The same for scripts");
  command
      .Add("--forces", o.forces,
           "Write what the motion requires by inverse dynamics, without a simulation: forces of the ground, torques "
           "and powers of the joints, as a CSV table")
      .Type("FILE.csv");
  command
      .Add("--world-file", o.world_file,
           "Write the world that the recording shows: steps, slopes, seats and tables under the motion, to be edited "
           "and used "
           "with --world")
      .Type("FILE.json");
  cli::AddForce(command, o.force);
  command.AddFlag("--repair", o.repair,
                  "Also print what --repair of reconstruct would change in the motion, without a simulation");
}

int Inspect(const Options& o) {
  RequireClip(o.clip);
  const runs::ClipOptions clip_options = ParseClip(o.clip);
  runs::CheckClip(clip_options);
  std::vector<runs::InputName> names = runs::ClipInputs(clip_options);
  names.push_back({"character", runs::CharacterFile(o.character)});  // joint angles need the robot
  const std::vector<runs::InputFile> files = runs::ReadInputs(names);
  const motion::Clip clip = runs::ParseClip(files, clip_options.choice);
  const runs::ClipFindings findings = [&] {
    try {
      return runs::ClipFindings(clip_options, files, o.character, clip);
    } catch (const InputError&) {  // what was read is printed all the same: a map is made from it
      if (!o.json) PrintUnderstood(clip, o);
      throw;
    }
  }();
  if (!o.forces.empty()) WriteForces(findings, files, o);
  if (!o.world_file.empty()) WriteWorld(findings, files, o);
  const auto repair = [&] {
    return repair::RepairReference(findings.reference, kStandardGravity, clip_options.file.string());
  };
  if (o.json) {
    io::Json json = findings.ToJson();
    json["command"] = Command(findings, o);
    if (o.repair) json["repair"] = repair().ToJson();
    std::printf("%s\n", io::Dump(json, 1).c_str());
  } else {
    Print(findings, o);
    if (o.repair) {
      std::fflush(stdout);  // before what cannot be repaired is told
      std::printf("  repair\n");
      for (const std::string& note : repair().Notes()) std::printf("    %s\n", cli::Shown(note).c_str());
    }
  }
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call&) { return Inspect(*options); };
}

}  // namespace retrace::apps::inspect_command
