/// The world that a recording shows: boxes under the feet and the seat of a motion.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/metrics/recorded_ground.h"
#include "retrace/task/world_variation.h"

namespace retrace::task {

/// The name of the world that MakeRecordedWorld returns.
inline constexpr const char* kRecordedWorld = "recording";

/// A box for each surface whose evidence is strong (RecordedSurface::strong), in the frame of the motion: its top is
/// the surface, and it reaches down to the floor. Sides are as far beyond what was touched as furniture is, midway to
/// where feet stand lower, and no farther than the motion leaves room; where legs are under a seat it is a board. An
/// empty world where no surface is strong.
WorldVariation MakeRecordedWorld(const metrics::RecordedGround& ground, const character::ReferenceMotion& recorded);

/// Whether it is part of a world.
bool IsRecorded(const WorldVariation& world);

/// The file of a world that has an environment alone (data/worlds/README.md).
io::Json WorldDocument(const WorldVariation& world);

/// Whether a world has a ground of its own, so that what a recording shows is not added to it: objects, another height,
/// no ground, or a reference that is changed for it.
bool ShapesGround(const WorldVariation& world);

/// Where the ground of an environment is not at the height of a surface whose evidence is strong, as sentences. Both in
/// the frame of the motion.
std::vector<std::string> Contradictions(const metrics::RecordedGround& ground,
                                        const simulation::Environment& environment);

}  // namespace retrace::task
