/// A reference changed to suit other ground than the floor that it was recorded on.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"
#include "retrace/math/types.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// Where a motion begins and in which direction it goes.
struct Frame {
  Quat heading = Quat::Identity();
  Vec3 origin = Vec3::Zero();
  double length = 0;  ///< of the path [m]

  Vec3 Local(const Vec3& p) const { return heading.conjugate() * Vec3(p - origin); }
};
Frame FrameOf(const character::ReferenceMotion& reference);

/// A length as it is written in notes.
std::string Meters(double value);

/// The poses of a reference while they are edited. Every change is noted; see WorldVariation for what each
/// change is.
class AdaptedReference {
 public:
  explicit AdaptedReference(const character::ReferenceMotion& recorded);

  void FollowGround(const simulation::Environment& environment, double gravity);
  /// `world` stands for the world's name in messages. Throws InputError for a character without legs, and for a planar
  /// one.
  void PutLegsOnLine(const Frame& frame, const std::string& world);
  /// After FollowGround. Does nothing to a character without legs.
  void PutFeetOnGround(const simulation::Environment& environment);

  const std::vector<character::Pose>& poses() const { return poses_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// Moves the poses, and their states, sideways until the center of mass is over the line: feet on a line carry only
  /// what is over it, so that neither the path's bends nor the sway of a wider step can stay. Returns the largest
  /// distance [m].
  double CenterOverLine(const Frame& frame, std::vector<character::State>& states);

  const character::Character* character_;
  double frame_time_;
  std::vector<character::Pose> poses_;
  std::vector<double> raised_;  ///< by which each pose's root follows the ground [m]
  std::vector<std::string> notes_;
};

}  // namespace retrace::task
