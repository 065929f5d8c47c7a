#include "retrace/response_model/features.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/response_model/example.h"

namespace retrace::response_model {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Heel and toe of a foot: the ends, along z, of the underside of the box about its shapes.
void AppendFoot(const character::Body& body, int index, std::vector<ObservedPoint>& points) {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (const character::Shape& shape : body.shapes) {
    low = low.cwiseMin(Vec3(shape.offset - shape.HalfExtents()));
    high = high.cwiseMax(Vec3(shape.offset + shape.HalfExtents()));
  }
  const double middle = 0.5 * (low.x() + high.x());
  points.push_back({index, Vec3(middle, low.y(), low.z()), true});
  points.push_back({index, Vec3(middle, low.y(), high.z()), true});
}

std::vector<ObservedPoint> PointsOf(const character::Character& character) {
  std::vector<ObservedPoint> points;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Body& body = character.bodies[b];
    if (body.part == character::Part::kFoot && !body.shapes.empty()) {
      AppendFoot(body, static_cast<int>(b), points);
    } else {
      points.push_back({static_cast<int>(b), Vec3::Zero(), false});
    }
  }
  return points;
}

/// The derivative of the heading by a rotation vector in world axes.
Vec3 HeadingGradient(const Quat& q) {
  const double size = q.w() * q.w() + q.y() * q.y();
  // dq = (0, w) q / 2, and the heading is 2 atan2(y, w).
  const Vec3 dw = -0.5 * q.vec();
  const Vec3 dy = 0.5 * Vec3(-q.z(), q.w(), q.x());
  return 2 / size * (q.w() * dy - q.y() * dw);
}

double Wrapped(double angle) {
  return std::remainder(angle, 2 * kPi);
}

}  // namespace

double HeadingAngle(const Quat& orientation) {
  return 2 * std::atan2(orientation.y(), orientation.w());
}

double ShareOf(const Push& push, double time, double frame_time) {
  // The integral of a triangle of height 1 / frame_time: from -1 to x frames about the middle.
  const auto below = [](double x) {
    x = std::clamp(x, -1.0, 1.0);
    return x < 0 ? 0.5 * (1 + x) * (1 + x) : 1 - 0.5 * (1 - x) * (1 - x);
  };
  return below((push.end() - time) / frame_time) - below((push.start - time) / frame_time);
}

FeatureMap::FeatureMap(const character::Character& character, const FeatureOptions& options)
    : options_(options), points_(PointsOf(character)), dynamics_(character) {
  if (!(options.frame_time > 0) || !(options.velocity_time >= 0) || !(options.root_time > 0)) {
    throw std::invalid_argument("features with options that are none");
  }
  for (size_t p = 0; p < points_.size(); ++p) {
    if (points_[p].body == character.root) root_point_ = static_cast<Index>(p);
  }
  if (root_point_ < 0) throw std::invalid_argument("a character whose root is a foot");
  rest_.setZero(dynamics_.size());
  point_jacobian_.resize(3, dynamics_.size());
}

std::vector<std::string> FeatureMap::Names() const {
  const character::Character& character = coordinates().character();
  std::vector<std::string> places;
  for (size_t p = 0; p < points_.size(); ++p) {
    const std::string& body = character.bodies[static_cast<size_t>(points_[p].body)].name;
    const char* const end = !points_[p].foot ? "" : p > 0 && points_[p - 1].body == points_[p].body ? "_toe" : "_heel";
    for (int axis = 0; axis < 3; ++axis) {
      if (static_cast<Index>(p) == root_point_ && axis != 1) continue;
      places.push_back(body + end + "_" + "xyz"[axis]);
    }
  }
  std::vector<std::string> names = places;
  for (const std::string& name : places) names.push_back(name + (options_.velocity_time > 0 ? "_velocity" : "_before"));
  for (const char* const when : {"", "_before"}) {
    for (const char* const what : {"root_velocity_x", "root_velocity_z", "yaw_rate"})
      names.push_back(what + std::string(when));
  }
  return names;
}

void FeatureMap::Observe(const character::Pose& pose, bool with_jacobian, Posture& posture) {
  dynamics_.SetMotion(pose, rest_);
  const Index n = dynamics_.size();
  posture.root = pose.root_position;
  posture.heading = HeadingAngle(pose.root_orientation);
  const Quat turned = AxisRotation(1, -posture.heading);
  posture.places.resize(num_places());
  posture.feet.clear();
  posture.feet_jacobians.clear();
  if (with_jacobian) {
    posture.jacobian.resize(num_places(), n);
    posture.turn.setZero(n);
    posture.turn.segment<3>(3) = HeadingGradient(pose.root_orientation);
  } else {
    posture.jacobian.resize(0, 0);
  }
  const Mat3 to_heading = turned.toRotationMatrix();
  Index row = 0;
  for (size_t p = 0; p < points_.size(); ++p) {
    const ObservedPoint& point = points_[p];
    const Vec3 world = dynamics_.CenterOf(point.body) + dynamics_.RotationOf(point.body) * point.place;
    if (point.foot) posture.feet.push_back(world);
    const Vec3 local = to_heading * Vec3(world - Vec3(pose.root_position.x(), 0, pose.root_position.z()));
    const bool root = static_cast<Index>(p) == root_point_;
    if (with_jacobian) {
      dynamics_.PointJacobian(point.body, world, point_jacobian_);
      if (point.foot) posture.feet_jacobians.push_back(point_jacobian_);
      point_jacobian_(0, 0) -= 1;
      point_jacobian_(2, 2) -= 1;
      point_jacobian_ = to_heading * point_jacobian_;
      // The frame turns by dh about y: the position in it by -dh.
      point_jacobian_.row(0) -= local.z() * posture.turn.transpose();
      point_jacobian_.row(2) += local.x() * posture.turn.transpose();
      if (root) {
        posture.jacobian.row(row) = point_jacobian_.row(1);
      } else {
        posture.jacobian.middleRows<3>(row) = point_jacobian_;
      }
    }
    if (root) {
      posture.places[row++] = local.y();
    } else {
      posture.places.segment<3>(row) = local;
      row += 3;
    }
  }
}

void FeatureMap::Combine(const Posture& first, const Posture& second, const Posture& last, VectorXd& features) const {
  const Index places = num_places();
  const double dt = options_.frame_time;
  features.resize(size());
  features.head(places) = last.places;
  if (options_.velocity_time > 0) {
    features.segment(places, places) = (options_.velocity_time / dt) * (last.places - second.places);
  } else {
    features.segment(places, places) = second.places;
  }
  const auto set_velocity = [&](const Posture& from, const Posture& to, Index at) {
    const Vec3 way = AxisRotation(1, -from.heading) * Vec3(to.root - from.root);
    features[at] = options_.root_time / dt * way.x();
    features[at + 1] = options_.root_time / dt * way.z();
    features[at + 2] = options_.root_time / dt * Wrapped(to.heading - from.heading);
  };
  set_velocity(second, last, 2 * places);
  set_velocity(first, second, 2 * places + 3);
}

void FeatureMap::CombineJacobian(const Posture& second, const Posture& last, MatrixXd& jacobian) const {
  const Index places = num_places();
  const double rate = options_.root_time / options_.frame_time;
  jacobian.setZero(size(), last.jacobian.cols());
  jacobian.topRows(places) = last.jacobian;
  if (options_.velocity_time > 0) {
    jacobian.middleRows(places, places) = (options_.velocity_time / options_.frame_time) * last.jacobian;
  }
  const Mat3 turned = AxisRotation(1, -second.heading).toRotationMatrix();
  jacobian.block<1, 3>(2 * places, 0) = rate * turned.row(0);
  jacobian.block<1, 3>(2 * places + 1, 0) = rate * turned.row(2);
  jacobian.row(2 * places + 2) = rate * last.turn.transpose();
}

MatrixXd FeatureMap::ObserveAll(const std::vector<character::Pose>& poses) {
  const auto count = static_cast<Index>(poses.size());
  MatrixXd all(size(), std::max<Index>(0, count - 2));
  Posture postures[3];
  VectorXd features;
  for (Index i = 0; i < count; ++i) {
    Observe(poses[static_cast<size_t>(i)], false, postures[i % 3]);
    if (i < 2) continue;
    Combine(postures[(i - 2) % 3], postures[(i - 1) % 3], postures[i % 3], features);
    all.col(i - 2) = features;
  }
  return all;
}

}  // namespace retrace::response_model
