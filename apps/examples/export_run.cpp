/// Writes the motion of a run for other programs: GLB for Blender and game engines, NPZ for NumPy.
///
/// usage: export_run results/walk FOLDER
#include <retrace/retrace.h>

#include <cstdio>
#include <utility>

int main(int argc, char** argv) try {
  if (argc != 3) throw retrace::UsageError("usage: export_run RUN FOLDER");
  retrace::runs::ExportOptions options;
  options.folder = argv[1];
  options.formats = {retrace::exports::ExportFormat::kGlb, retrace::exports::ExportFormat::kNpz};
  options.output = argv[2];
  const retrace::runs::ExportableRun run{retrace::runs::StoredRun(options.folder)};
  const auto targets = retrace::runs::ExportTargets(options, run.motions.size());
  retrace::runs::WriteExports(run, options, targets, [](const auto& target, size_t bytes, double rate) {
    std::printf("%s: %zu bytes, %.0f frames per second\n", target.path.c_str(), bytes, rate);
  });
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "export_run: %s\n", error.what());
  return 1;
}
