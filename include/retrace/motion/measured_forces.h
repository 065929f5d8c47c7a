/// Ground forces that were measured beside a recorded motion, with force plates or insoles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::motion {

enum class Side { kLeft, kRight };

/// One force over time: of a foot, or of a plate.
struct MeasuredForce {
  std::string name;          ///< what the names of its columns have in common, for messages
  std::optional<Side> side;  ///< none: the names do not tell
  std::vector<Vec3> forces;  ///< (instants) on the body [N]
  /// (instants) where it acts [m]; empty: not measured. Not a number where the file has none.
  std::vector<Vec3> points;
  std::vector<Vec3> moments;  ///< (instants) about the point [N m]; empty: not measured
};

/// x to the left where the motion faces z, y up.
struct MeasuredForces {
  std::vector<double> times;          ///< (instants) of the recording, each later than the one before; at least two [s]
  std::vector<bool> valid;            ///< (instants) all of the ground's force was measured
  std::vector<MeasuredForce> forces;  ///< at least one
};

}  // namespace retrace::motion
