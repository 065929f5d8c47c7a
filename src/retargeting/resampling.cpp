#include "retrace/retargeting/resampling.h"

#include "pose_signal.h"
#include "retrace/math/filter.h"

namespace retrace::character {

std::vector<Pose> PosesAt(const std::vector<Pose>& poses, std::span<const double> places) {
  const Eigen::MatrixXd signal = ToSignal(poses);
  std::vector<Pose> result;
  for (const double place : places) result.push_back(ToPose(CubicSample(signal, place)));
  return result;
}

std::vector<Pose> SmoothPoses(const std::vector<Pose>& poses, double deviation) {
  const Eigen::MatrixXd smooth = GaussianSmooth(ToSignal(poses), deviation);
  std::vector<Pose> result;
  for (Eigen::Index k = 0; k < smooth.rows(); ++k) result.push_back(ToPose(smooth.row(k)));
  return result;
}

}  // namespace retrace::character
