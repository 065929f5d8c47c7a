/// How far legs reach whose feet are put down. Internal to the module.
#pragma once

#include <vector>

#include "retrace/math/types.h"

namespace retrace::task {

/// A leg along a motion, by its poses.
struct ReachingLeg {
  double upper = 0, lower = 0;   ///< lengths of thigh and shin [m]
  std::vector<Vec3> wanted;      ///< from the hip to where the ankle should be [m]
  std::vector<double> support;   ///< from 0, in the air, to 1, standing
  std::vector<double> recorded;  ///< bend of the knee, negative where it is hyperextended [rad]
};

struct LegReach {
  std::vector<double> lowering;            ///< of the hips (poses) [m]
  std::vector<std::vector<double>> reach;  ///< from the lowered hip to the ankle (legs x poses) [m]
};

/// Bends of the knees and heights of the hips that are smooth in time. A standing foot is where it should be: its knee
/// stays bent, and the hips come down for it. A foot in the air may stay short of its position by some millimeters. One
/// sparse least-squares problem over the whole motion: a limit of each pose on its own would stop a knee at once where
/// the leg gets straight, since there a millimeter of reach is several degrees.
/// @param size of the character, as a share of the human's
LegReach ReachSmoothly(const std::vector<ReachingLeg>& legs, double frame_time, double size);

}  // namespace retrace::task
