/// A stored run in another world, together with other runs, or with other targets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/runs/stored/stored_run.h"
#include "retrace/task/world_variation.h"

namespace retrace::runs {

/// Puts the motion of a run's only character into other worlds, one after the other: loads on bodies, gravity, things
/// around. Returns where they are. Throws InputError where no reference tells that, UsageError for a scene.
task::PlacedWorld PutInto(const task::WorldVariation& world, StoredRun& run);

/// The characters of another run join this one's world, with their references. These are moved as kinematics alone:
/// they take no account of the other characters. Returns what the user should know, as sentences. Throws UsageError for
/// another time step, and for a run whose world has things of its own.
std::vector<std::string> Join(const StoredRun& other, const Placement& placement, StoredRun& run);

/// The scene with the references' own poses as targets, where there are references: the tracking without feedback that
/// the paper starts from.
control::Scene NaiveTracking(const StoredRun& run);
/// That becomes the scene. Throws InputError for a character without a reference.
void TrackReference(StoredRun& run);

/// A run that joins another one.
struct JoiningRun {
  std::filesystem::path folder;
  Placement placement;
};
/// Reads OTHER, OTHER,X,Z or OTHER,X,Z,HEADING (meters and degrees). Throws UsageError saying what was found and
/// expected.
JoiningRun ParseJoiningRun(const std::string& text);

}  // namespace retrace::runs
