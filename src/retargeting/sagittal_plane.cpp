#include "sagittal_plane.h"

#include <algorithm>
#include <cmath>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

/// Between the root's left side and that of the plane: a motion that turns farther is not one in a plane.
const double kMostTurned = Radians(60);

}  // namespace

double HeadingOf(const Pose& pose) {
  const Vec3 left = pose.root_orientation * Vec3::UnitX();
  return std::atan2(-left.z(), left.x());
}

void PutIntoSagittalPlane(const std::string& name, double rate, size_t first, size_t last, std::vector<Pose>& poses,
                          ReferenceReport& report) {
  report.facing = HeadingOf(poses[first]);
  Vec3 left = Vec3::Zero();
  double middle = 0;
  for (size_t f = first; f <= last; ++f) left += poses[f].root_orientation * Vec3::UnitX();
  const double heading = std::atan2(-left.z(), left.x());
  const Quat turn = AxisRotation(1, -heading);
  double most_turned = 0, most_sideways = 0;
  size_t at = first;
  for (size_t f = 0; f < poses.size(); ++f) {
    Pose& pose = poses[f];
    pose.root_position = turn * pose.root_position;
    pose.root_orientation = turn * pose.root_orientation;
    if (f < first || f > last) continue;
    middle += pose.root_position.x() / static_cast<double>(last - first + 1);
    const double cosine = (pose.root_orientation * Vec3::UnitX()).x();
    const double turned = std::acos(std::clamp(cosine, -1.0, 1.0));
    if (turned > most_turned) at = f;
    most_turned = std::max(most_turned, turned);
  }
  if (most_turned > kMostTurned) {
    throw InputError(
        name,
        "a motion that turns by " + io::Fixed(Degrees(most_turned), 0) + " degrees from its mean heading at " +
            io::Fixed(static_cast<double>(at) / rate, 2) + " s",
        "one that stays within " + io::Fixed(Degrees(kMostTurned), 0) + " degrees of it, for a planar character");
  }
  for (size_t f = 0; f < poses.size(); ++f) {
    Pose& pose = poses[f];
    if (f >= first && f <= last) most_sideways = std::max(most_sideways, std::abs(pose.root_position.x() - middle));
    pose.root_position.x() = 0;
    pose.root_orientation = Twist(pose.root_orientation, Vec3::UnitX());
  }
  std::string note = "a planar character: the motion is put into the plane of its mean heading, ";
  note.append(io::Fixed(std::round(10 * Degrees(heading)) / 10 + 0.0, 1))
      .append(" degrees about y from z, and turned along z; left out are up to ");
  note.append(io::Fixed(most_sideways, 3)).append(" m of the root's way sideways, up to ");
  note.append(io::Fixed(Degrees(most_turned), 1));
  report.notes.push_back(note.append(" degrees of its turn out of the plane, and what limbs do out of theirs"));
}

}  // namespace retrace::character
