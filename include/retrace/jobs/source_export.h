/// The motion of a stored run on the skeleton of the recording that the run was made from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/retargeting/source_motion.h"
#include "retrace/runs/stored/run_export.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// A format of such files.
enum class SourceFormat { kBvh, kGlb };

/// Those of names as the user gave them, separated by commas; `all` for all. Throws UsageError for a name that is none,
/// and for fbx with the reason why it is not written.
std::vector<SourceFormat> ParseSourceFormats(const std::vector<std::string>& names);

struct SourceExportOptions {
  std::filesystem::path folder;       ///< of the run
  std::vector<SourceFormat> formats;  ///< at least one
  std::filesystem::path output =
      {};  ///< folder for the files, or the file itself where there is one; empty: in the run
  std::filesystem::path recording = {};  ///< where it is no longer where the run was made from; empty: there
  bool force = false;                    ///< overwrite files in `output`
};

/// The files, as ExportTargets has them: source_skeleton.bvh, source_skeleton.glb. Throws UsageError where one of the
/// user's own files would be overwritten.
std::vector<std::filesystem::path> SourceExportTargets(const SourceExportOptions& options);

/// What became of a run, and of its recording.
struct SourceExport {
  character::SourceMotion motion;
  std::filesystem::path recording;
  double lost_angle = 0;     ///< largest rotation for which a BVH file has no channels [rad]
  double lost_distance = 0;  ///< the same of translations [m]
};

/// Reads the recording of a run again, which must be what the run was made from, byte by byte, and writes the files.
/// Throws InputError and UsageError for a run whose recording cannot be had or that has none, of several characters, or
/// of a robot that followed a person; OutputError.
SourceExport WriteSourceExports(const ExportableRun& exportable, const SourceExportOptions& options,
                                const std::vector<std::filesystem::path>& targets);

}  // namespace retrace::runs
