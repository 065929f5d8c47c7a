/// What is recognized in a recording before anything is simulated: everything of `inspect` but its options and what it
/// prints.
#pragma once

#include <string>
#include <vector>

#include "retrace/metrics/clip_checks.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/task/motion_kind.h"
#include "retrace/task/schedule.h"

namespace retrace::runs {

struct ClipFindings {
  /// `files` are those of ClipInputs of the options, and `recording`, which must outlive this, is what ParseClip makes
  /// of them. `name` is a file, the name of one that comes with the toolkit, or subject (character_input.h).
  /// Throws InputError when the recording cannot be mapped onto the character.
  ClipFindings(const ClipOptions& options, std::span<const InputFile> files, const std::string& name,
               const motion::Clip& recording);
  ClipFindings(const ClipFindings&) = delete;
  ClipFindings& operator=(const ClipFindings&) = delete;

  const motion::Clip& clip;
  character::ReferenceReport report;
  character::Character character;
  character::ReferenceMotion reference;
  task::MotionKindReport kind;
  std::vector<task::Boundary> boundaries;
  metrics::ClipChecks checks;

  /// The factor on durations at which the motion falls as fast as bodies do; 1 where no flight is of another speed.
  double SuggestedTimeScale() const;

  /// {"clip", "frames", "frame_rate", "frame_rate_known", "duration", "joints", "mapping", "reference", "segments",
  ///  "motion", "checks"}
  io::Json ToJson() const;

 private:
  std::string file_;
};

}  // namespace retrace::runs
