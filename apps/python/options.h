/// The options of a job as Python gives them.
#pragma once

#include <string>

#include "retrace/jobs/job_options.h"

namespace retrace::python {

/// Reads a JSON object: `clip`, the file; the numbers of runs::ClipOptions by their names; and skeleton, animation,
/// performer, map, up, level_floor, seconds, character, world, ground, config, set (["/search/budget=100"]), method,
/// quality, samples, saved, seed, continuation, best_effort, repair, paper, solver, mass, force_plates,
/// force_plates_heading [degrees], force_plates_delay [s], force_plates_sides, strength (["100", "left_knee=60"]),
/// servos. They mean what the options of the same name mean to the program. Throws InputError with the field for a bad
/// value, and UsageError for what contradicts itself. @param defaults that the settings begin with
runs::JobOptions JobOptionsOf(const std::string& json, const runs::Configuration& defaults);

}  // namespace retrace::python
