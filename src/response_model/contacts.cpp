#include "retrace/response_model/contacts.h"

#include <algorithm>
#include <cmath>

namespace retrace::response_model {

using Eigen::Index;

namespace {

constexpr double kLowest = 0.05;  // quantile of heights

/// Gives runs of a value that are at most so long the value around them; those at an end stay.
void RemoveShort(Eigen::Ref<Eigen::ArrayXi> row, int value, Index longest) {
  Index begin = 0;
  while (begin < row.size()) {
    Index end = begin;
    while (end < row.size() && row[end] == row[begin]) ++end;
    if (row[begin] == value && end - begin <= longest && begin > 0 && end < row.size()) {
      row.segment(begin, end - begin).setConstant(1 - value);
    }
    begin = end;
  }
}

}  // namespace

Eigen::ArrayXXi StandingPoints(FeatureMap& features, const std::vector<character::Pose>& poses,
                               const FootContactOptions& options) {
  const double dt = features.options().frame_time;
  std::vector<std::vector<Vec3>> feet;
  Posture posture;
  for (const character::Pose& pose : poses) {
    features.Observe(pose, false, posture);
    feet.push_back(posture.feet);
  }
  const auto count = static_cast<Index>(poses.size());
  const auto points = static_cast<Index>(feet.empty() ? 0 : feet[0].size());
  Eigen::ArrayXXi stands = Eigen::ArrayXXi::Zero(points, count);
  const auto longest = static_cast<Index>(std::floor(options.longest_gap / dt + 1e-6));
  for (Index p = 0; p < points; ++p) {
    const auto point = [&](Index i) -> const Vec3& { return feet[static_cast<size_t>(i)][static_cast<size_t>(p)]; };
    std::vector<double> heights;
    for (Index i = 0; i < count; ++i) heights.push_back(point(i).y());
    const auto quantile = heights.begin() + static_cast<long>(kLowest * static_cast<double>(count));
    std::nth_element(heights.begin(), quantile, heights.end());
    const double highest = *quantile + options.height;
    for (Index i = 0; i < count; ++i) {
      const Index before = std::max<Index>(i - 1, 0), after = std::min(i + 1, count - 1);
      if (after == before) continue;
      const Vec3 moved = point(after) - point(before);
      const double speed = std::hypot(moved.x(), moved.z()) / (static_cast<double>(after - before) * dt);
      stands(p, i) = point(i).y() <= highest && speed <= options.speed ? 1 : 0;
    }
    Eigen::ArrayXi row = stands.row(p);
    RemoveShort(row, 0, longest);
    RemoveShort(row, 1, longest);
    stands.row(p) = row;
  }
  return stands;
}

}  // namespace retrace::response_model
