#include "retrace/planning/composition/standing_end.h"

#include <cmath>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/rest.h"
#include "retrace/planning/segments/segment_tracking.h"

namespace retrace::runs {
namespace {

constexpr double kStandingTime = 1;    // [s]
constexpr double kWalkingSpeed = 0.5;  // of the center of mass along the ground [m/s]

}  // namespace

bool CanStandAtEnd(const LibraryControl& control, const Configuration& configuration) {
  if (!control.EndsStanding()) return false;
  const character::Character& character = control.character();
  const character::State& end = control.states.back();
  Vec3 velocity = character::CenterOfMassVelocity(character, end);
  velocity.y() = 0;
  if (velocity.norm() > kWalkingSpeed) return true;
  velocity = end[static_cast<size_t>(character.root)].linear_velocity;
  velocity.y() = 0;
  std::vector<character::Pose> poses(NumCompositionFrames(kStandingTime));
  for (size_t f = 0; f < poses.size(); ++f) {
    character::PoseOf(character, end, poses[f]);
    poses[f].root_position += PathToRest(velocity, static_cast<double>(f) * kCompositionFrame);
  }
  return TrackSegment({character, control.control.world, end, control.control.num_steps(), poses, configuration})
      .reached_end;
}

}  // namespace retrace::runs
