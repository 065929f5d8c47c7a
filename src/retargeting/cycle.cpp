#include "retrace/retargeting/cycle.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

constexpr double kLongest = 2;    // [s]
constexpr double kAround = 0.03;  // before and after the ends, where they must fit as well [s]

/// Sum of the squared angles between two poses, headings apart [rad^2].
double Misfit(const Pose& a, const Pose& b) {
  const auto tilt = [](const Pose& pose) { return Heading(pose.root_orientation).conjugate() * pose.root_orientation; };
  const double root = AngleBetween(tilt(a), tilt(b));
  double sum = root * root;
  for (size_t j = 0; j < a.joint_rotations.size(); ++j) {
    const double angle = AngleBetween(a.joint_rotations[j], b.joint_rotations[j]);
    sum += angle * angle;
  }
  return sum;
}

double TurnBetween(const Pose& a, const Pose& b) {
  return AngleBetween(Heading(a.root_orientation), Heading(b.root_orientation));
}

}  // namespace

std::optional<Cycle> FindCycle(const std::vector<Pose>& poses, double frame_time, double shortest_time) {
  const auto frames = [&](double seconds) { return static_cast<size_t>(std::lround(seconds / frame_time)); };
  const size_t shortest = std::max<size_t>(frames(shortest_time), 2), longest = frames(kLongest);
  const size_t around = std::max<size_t>(frames(kAround), 1);
  std::optional<Cycle> best;
  for (size_t first = around; first + shortest + around < poses.size(); ++first) {
    for (size_t length = shortest; length <= longest && first + length + around < poses.size(); ++length) {
      const double turn = TurnBetween(poses[first], poses[first + length]);
      if (turn > kLargestTurn) continue;
      double misfit = Misfit(poses[first], poses[first + length]);
      const double angles = 3 * static_cast<double>(poses[first].joint_rotations.size() + 1);
      if (best && misfit >= best->seam * best->seam * angles) continue;
      misfit += Misfit(poses[first - around], poses[first + length - around]);
      misfit += Misfit(poses[first + around], poses[first + length + around]);
      const double seam = std::sqrt(misfit / angles);
      if (!best || seam < best->seam) best = Cycle{first, length, seam, turn};
    }
  }
  return best;
}

std::vector<Pose> Repeat(const std::vector<Pose>& poses, const Cycle& cycle, size_t count) {
  const Pose& begin = poses[cycle.first];
  const Pose& end = poses[cycle.first + cycle.length];
  Vec3 round = end.root_position - begin.root_position;
  const double rise = round.y();
  round.y() = 0;
  const Vec3 root_misfit = RotationVector(begin.root_orientation * end.root_orientation.conjugate());
  std::vector<Vec3> misfits;
  for (size_t j = 0; j < begin.joint_rotations.size(); ++j) {
    misfits.push_back(RotationVector(begin.joint_rotations[j] * end.joint_rotations[j].conjugate()));
  }
  std::vector<Pose> repeated;
  for (size_t k = 0; k < count; ++k) {
    const size_t place = k % cycle.length;
    const double share = static_cast<double>(place) / static_cast<double>(cycle.length) - 0.5;
    Pose& pose = repeated.emplace_back(poses[cycle.first + place]);
    const size_t rounds = k / cycle.length;
    pose.root_position += static_cast<double>(rounds) * round;
    pose.root_position.y() -= share * rise;
    pose.root_orientation = (FromRotationVector(share * root_misfit) * pose.root_orientation).normalized();
    for (size_t j = 0; j < misfits.size(); ++j) {
      Quat& rotation = pose.joint_rotations[j];
      rotation = (FromRotationVector(share * misfits[j]) * rotation).normalized();
    }
  }
  return repeated;
}

}  // namespace retrace::character
