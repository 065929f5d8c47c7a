/// Recordings of planar characters: they are put into a plane.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {

/// Heading of a pose: where its left side's normal points, about y from z [rad].
double HeadingOf(const Pose& pose);

/// Turns the poses of a planar character so that the mean heading of those that are used is along z, and puts their
/// roots into the plane x = 0: they keep their displacement along z, their height, and their turn about x. Joints stay
/// as they are. Throws InputError for a motion that turns away from its mean heading too far; `name` stands for the
/// file.
/// @param first of the poses that are used @param last of these @param rate poses per second
void PutIntoSagittalPlane(const std::string& name, double rate, size_t first, size_t last, std::vector<Pose>& poses,
                          ReferenceReport& report);

}  // namespace retrace::character
