/// Runs of clips that come with the toolkit.
#pragma once

#include <filesystem>
#include <string>

#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_files.h"
#include "sample_folder.h"

namespace retrace::runs {

inline std::filesystem::path SampleClip(const std::string& name) {
  return std::filesystem::path(RETRACE_SOURCE_DIR) / "data" / "clips" / (name + ".bvh");
}

/// Tracking of a clip up to `end` [s], without a search for a continuation.
inline JobOptions TrackedOptions(const std::string& clip, double end) {
  JobOptions options;
  options.clip.file = SampleClip(clip);
  options.clip.end = end;
  options.configuration.run.method = Method::kTracking;
  options.configuration.run.tail = 0;
  return options;
}

/// Tracks it, which takes a tenth of a second, and writes the folder of the run.
inline void WriteTrackedRun(const std::filesystem::path& folder, const JobOptions& options) {
  const Job job(options);
  WriteRun(folder, job, Reconstruct(job, 1));
}

}  // namespace retrace::runs
