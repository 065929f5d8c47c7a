/// The motion of a stored run as files of other programs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "retrace/exports/formats.h"
#include "retrace/runs/stored/replay.h"
#include "retrace/runs/stored/verification.h"
#include "retrace/skin/body_skin.h"

namespace retrace::runs {

struct ExportOptions {
  std::filesystem::path folder;                ///< of the run
  std::vector<exports::ExportFormat> formats;  ///< at least one
  std::filesystem::path output =
      {};                           ///< folder for the files, or the file itself where there is one; empty: in the run
  std::optional<double> rate = {};  ///< frames per second; none: the format's own
  bool force = false;               ///< overwrite files in `output`
  /// (characters) What GLB files have instead of the shapes that collide; an empty one, or none: these.
  std::vector<skin::BodySkin> skins = {};
};

/// A file of an export.
struct ExportTarget {
  exports::ExportFormat format;
  std::filesystem::path path;
};

/// Where everything goes. Throws UsageError where one of the user's own files would be overwritten, and where the
/// output is one file while the format has one for each character.
std::vector<ExportTarget> ExportTargets(const ExportOptions& options, size_t num_characters);

/// A run and what its exports are made of, which points into it. Stays where it was made.
struct ExportableRun {
  explicit ExportableRun(StoredRun stored);
  ExportableRun(const ExportableRun&) = delete;
  ExportableRun& operator=(const ExportableRun&) = delete;

  ReplayedRun run;
  std::vector<control::OpenLoopControl> controls;  ///< (characters)
  std::vector<exports::ExportedMotion> motions;    ///< (characters)
};

/// Generated skins of all characters. Throws UsageError where one has none, since it is not a human.
std::vector<skin::BodySkin> GeneratedSkins(const ExportableRun& run);

/// Writes the files. `on_file` is called after each with its bytes and its rate. Throws OutputError.
void WriteExports(const ExportableRun& run, const ExportOptions& options, const std::vector<ExportTarget>& targets,
                  const std::function<void(const ExportTarget& target, size_t bytes, double rate)>& on_file);

}  // namespace retrace::runs
