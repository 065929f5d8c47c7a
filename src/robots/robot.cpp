#include "retrace/robots/robot.h"

namespace retrace::robots {
namespace {

/// What a mass at a distance adds to the inertia.
Mat3 ParallelAxes(double mass, const Vec3& arm) {
  return mass * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
}

}  // namespace

RobotMass& RobotMass::operator+=(const RobotMass& other) {
  const double sum = mass + other.mass;
  const Vec3 middle = sum > 0 ? Vec3((mass * center + other.mass * other.center) / sum) : center;
  inertia += ParallelAxes(mass, center - middle) + other.inertia + ParallelAxes(other.mass, other.center - middle);
  mass = sum;
  center = middle;
  return *this;
}

RobotMass RobotMass::In(const LinkFrame& frame) const {
  const Mat3 turn = frame.rotation.toRotationMatrix();
  return {mass, frame * center, turn * inertia * turn.transpose()};
}

void MergeFixedLinks(Robot& robot) {
  std::vector<RobotLink> kept;
  std::vector<int> index;            // (links) of the kept link that holds it
  std::vector<LinkFrame> in_holder;  // (links)
  for (RobotLink& link : robot.links) {
    const auto parent = static_cast<size_t>(link.parent);
    const LinkFrame placement = link.parent < 0 ? LinkFrame() : in_holder[parent] * link.placement;
    if (link.parent < 0 || !link.joints.empty()) {
      if (link.parent >= 0) {
        link.parent = index[parent];
        link.placement = placement;
      }
      index.push_back(static_cast<int>(kept.size()));
      in_holder.emplace_back();
      kept.push_back(std::move(link));
      continue;
    }
    const int holder = index[parent];
    RobotLink& into = kept[static_cast<size_t>(holder)];
    into.mass += link.mass.In(placement);
    for (RobotShape& shape : link.shapes) {
      shape.placement = placement * shape.placement;
      into.shapes.push_back(std::move(shape));
    }
    index.push_back(holder);
    in_holder.push_back(placement);
  }
  robot.links = std::move(kept);
}

}  // namespace retrace::robots
