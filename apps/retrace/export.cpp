/// export: the motion of a run in the formats of other programs.
#include <cstdio>
#include <memory>
#include <utility>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/stored/run_export.h"

namespace retrace::apps::export_command {
namespace {

struct Options {
  std::string folder;
  std::vector<std::string> formats;
  std::string output;
  double rate = 0;  // 0: the format's own [1/s]
  bool force = false;
};

int Export(const Options& o, const Call& call) {
  runs::ExportOptions options;
  options.folder = o.folder;
  options.formats = exports::ParseFormats(o.formats);
  options.output = o.output;
  if (o.rate > 0) options.rate = o.rate;
  options.force = o.force;
  runs::StoredRun stored(options.folder);
  const std::vector<runs::ExportTarget> targets = runs::ExportTargets(options, stored.characters.size());
  const runs::ExportableRun exportable(std::move(stored));
  const auto& [run, replayed, difference] = exportable.run;
  std::string who;
  for (const exports::ExportedMotion& motion : exportable.motions) {
    who.append(who.empty() ? "" : ", ").append(motion.character.name);
  }
  const control::Trajectory& trajectory = replayed.first();
  std::printf("%s: %s for %s s, %zu steps of %s ms%s%s\n", cli::Shown(o.folder).c_str(), cli::Shown(who).c_str(),
              io::Fixed(exportable.motions[0].duration(), 2).c_str(), trajectory.num_steps(),
              io::Fixed(1000 * trajectory.time_step, 3).c_str(), run.AllPushes().empty() ? "" : ", under its pushes",
              trajectory.diverged ? ", until it diverged" : "");
  const auto on_file = [](const runs::ExportTarget& target, size_t bytes, double rate) {
    std::printf("  %s (%zu kB%s)\n", cli::Shown(target.path).c_str(), (bytes + 999) / 1000,
                exports::HasRate(target.format) ? (", " + io::Number(rate) + " frames per second").c_str() : "");
  };
  runs::WriteExports(exportable, options, targets, on_file);
  if (difference.empty()) return 0;
  std::fprintf(stderr, "%s: %s; what was written is the replay\n", cli::Shown(call.name).c_str(),
               cli::Shown(difference).c_str());
  return static_cast<int>(ExitCode::kBelowGate);
}

void AddOptions(cli::Command& command, Options& o) {
  command.Add("folder", o.folder, "Folder of a run").Type("DIR").Required();
  command
      .Add("--to", o.formats,
           "glb (3D scenes), bvh (animation), csv (tables), npz (numpy), sto (OpenSim: motion, ground forces), trc "
           "(markers), joints (robots: angles, targets, torques), or all; repeatable, or with commas between")
      .Type("FORMAT")
      .OneEach()
      .Required();
  command.Add("--output", o.output, "Folder for the files, or the file itself where there is one only [DIR/export]")
      .Type("PATH");
  cli::AddNumber(command, "--rate", o.rate, io::Real{{1, 10000}},
                 "Frames per second [glb 60; bvh, csv, trc, joints 120]; npz and sto have every simulation step");
  command.AddFlag("--force", o.force, "Overwrite files in --output");
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Export(*options, call); };
}

}  // namespace retrace::apps::export_command
