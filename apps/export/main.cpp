/// export: the motion of a run in the formats of other programs.
#include <cstdio>
#include <set>
#include <utility>

#include "common/program.h"
#include "retrace/exports/formats.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored_run.h"

namespace {

using namespace retrace;
namespace fs = std::filesystem;

struct Options {
  std::string folder;
  std::vector<std::string> formats;
  std::string output;
  double rate = 0;  // 0: the format's own [1/s]
  bool force = false;
};

/// A file to be written.
struct Target {
  exports::ExportFormat format;
  fs::path path;
};

/// Where everything goes. Throws UsageError where one of the user's own files would be lost.
std::vector<Target> TargetsOf(const Options& o) {
  const auto formats = exports::ParseFormats(o.formats);
  const fs::path output = o.output.empty() ? fs::path(o.folder) / results::kExportFolder : fs::path(o.output);
  std::vector<Target> targets;
  const std::vector<std::string> first = exports::FilesOf(formats.front());
  const bool one_file = formats.size() == 1 && first.size() == 1 && !fs::is_directory(output) &&
                        output.extension() == fs::path(first[0]).extension();
  for (const exports::ExportFormat format : formats) {
    for (const std::string& name : exports::FilesOf(format))
      targets.push_back({format, one_file ? output : output / name});
  }
  if (o.output.empty() || o.force) return targets;  // what is in the run's own `export` is ours
  for (const Target& target : targets) {
    if (!fs::exists(target.path)) continue;
    throw UsageError(target.path.string() + ": found a file, expected none (--force overwrites it)");
  }
  return targets;
}

int Export(const Options& o) {
  const std::vector<Target> targets = TargetsOf(o);
  const fs::path folder = o.folder;
  const runs::ReplayedRun run(folder);
  const control::LoadedControl& loaded = run.loaded;
  const control::Trajectory& trajectory = run.trajectory;
  const fs::path canonical = fs::weakly_canonical(folder);
  const std::string name = canonical.filename().empty() ? canonical.parent_path().filename() : canonical.filename();
  const exports::ExportedMotion motion{loaded.character, loaded.control, trajectory, name};
  std::printf("%s: %s for %s s, %zu steps of %s ms%s%s\n", o.folder.c_str(), loaded.character.name.c_str(),
              io::Fixed(motion.duration(), 2).c_str(), trajectory.num_steps(),
              io::Fixed(1000 * trajectory.time_step, 3).c_str(), run.pushes.empty() ? "" : ", under its pushes",
              trajectory.diverged ? ", until it diverged" : "");
  size_t next = 0;
  while (next < targets.size()) {
    const exports::ExportFormat format = targets[next].format;
    const double rate = o.rate > 0 ? o.rate : exports::DefaultRate(format);
    for (const std::string& bytes : exports::Format(format, motion, rate)) {
      const fs::path& path = targets[next++].path;
      std::error_code error;
      if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
      if (error) throw OutputError(path.parent_path().string() + ": cannot be created: " + error.message());
      io::WriteFile(path, bytes);
      std::printf("  %s (%zu kB%s)\n", path.string().c_str(), (bytes.size() + 999) / 1000,
                  exports::HasRate(format) ? (", " + io::Number(rate) + " frames per second").c_str() : "");
    }
  }
  if (run.difference.empty()) return 0;
  std::fprintf(stderr, "export: %s; what was written is the replay\n", run.difference.c_str());
  return static_cast<int>(ExitCode::kBelowGate);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the motion of a run in the formats of other programs. The control is simulated again.",
               "export");
  Options options;
  app.add_option("folder", options.folder, "Folder of a run")->type_name("DIR")->required();
  app.add_option(
         "--to", options.formats,
         "glb (3D scenes), bvh (animation), csv (tables), npz (numpy), sto (OpenSim: motion, ground forces), trc "
         "(markers), or all; repeatable, or with commas between")
      ->type_name("FORMAT")
      ->allow_extra_args(false)
      ->required();
  app.add_option("--output", options.output,
                 "Folder for the files, or the file itself where there is one only [DIR/export]")
      ->type_name("PATH");
  app.add_option("--rate", options.rate,
                 "Frames per second [glb 60; bvh, csv, trc 120]; npz and sto have every simulation step")
      ->check(CLI::Range(1.0, 10000.0));
  app.add_flag("--force", options.force, "Overwrite files in --output");
  app.set_version_flag("--version", "export " + results::Version());
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("export", true, [&] { return Export(options); });
}
