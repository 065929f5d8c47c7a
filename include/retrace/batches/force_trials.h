/// A folder of trials as a laboratory keeps them: which files are motions, which forces belong to them, and one table
/// of all that was estimated.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/jobs/estimated_forces.h"

namespace retrace::runs {

/// A motion with its measured forces.
struct ForceTrial {
  std::string name;              ///< that of the motion's file, without its ending where no other trial has it
  std::filesystem::path motion;  ///< a recording
  std::filesystem::path forces;  ///< empty: none is there
};

/// The trials of a folder, by name. Recordings are motions unless their name says that they are forces (grf, forces,
/// in any case). Forces belong to a motion of the same name without its last word: walk_grf.mot to walk_ik.mot and to
/// walk.trc, walk.forces.csv to walk.bvh. Throws InputError for a folder without a motion.
std::vector<ForceTrial> FindForceTrials(const std::filesystem::path& folder);

/// What came of a trial.
struct TrialResult {
  std::string name;
  std::string error;  ///< why it was refused; empty: it was not
  double seconds = 0;
  double mass = 0;  ///< [kg]
  ForceEstimate estimate;
};

/// A row for each trial: trial, status (estimated, compared, refused), seconds, mass, for the total and the feet
/// COMPONENT_PART_percent and vertical_PART_r after the low-pass of tables, center_along_mm, center_across_mm,
/// delay_ms, residual_force and residual_moment where residuals were reduced and reduced_residual_... of the same
/// afterwards [N, N m], warnings (their number), message (of one that was refused).
std::string FormatTrials(const std::vector<TrialResult>& results);

}  // namespace retrace::runs
