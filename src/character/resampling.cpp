#include "retrace/character/resampling.h"

#include "pose_signal.h"
#include "retrace/math/filter.h"

namespace retrace::character {

std::vector<Pose> PosesAt(const std::vector<Pose>& poses, std::span<const double> places) {
  const Eigen::MatrixXd signal = ToSignal(poses);
  std::vector<Pose> result;
  for (const double place : places) result.push_back(ToPose(CubicSample(signal, place)));
  return result;
}

}  // namespace retrace::character
