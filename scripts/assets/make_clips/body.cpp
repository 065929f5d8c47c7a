#include "body.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "retrace/math/rotation.h"

namespace retrace::make_clips {

namespace {

motion::Skeleton MakeSkeleton() {
  motion::Skeleton skeleton;
  // Positions in the T-pose. What the character has no joint for (Spine1, Head, toes) is where mocap skeletons have it.
  std::vector<Vec3> places;
  const auto add = [&](const char* name, int parent, const Vec3& place, bool end_site = false) {
    const Vec3 offset = parent < 0 ? place : Vec3(place - places[parent]);
    places.push_back(place);
    // Differences of decimals carry rounding noise; tenths of a millimeter are all that was meant.
    skeleton.joints.push_back({name, parent, (offset * 1e4).array().round().matrix() / 1e4, end_site});
  };
  add("Hips", -1, {0, 0.95, 0});
  add("Spine", kHips, {0, 1.02, 0});
  add("Spine1", kSpine, {0, 1.20, 0});
  add("Neck", kSpine1, {0, 1.45, 0});
  add("Head", kNeck, {0, 1.52, 0.01});
  add("Head_end", kHead, {0, 1.70, 0.01}, true);
  for (const Side side : kSides) {
    const std::string prefix = side == kLeft ? "Left" : "Right";
    const double s = Sign(side);
    const int shoulder = kLeftShoulder + side * kSideJoints;
    add((prefix + "Shoulder").c_str(), kSpine1, {s * 0.02, 1.385, 0});
    add((prefix + "Arm").c_str(), shoulder, {s * 0.195, 1.385, 0});
    add((prefix + "ForeArm").c_str(), shoulder + 1, {s * 0.455, 1.385, 0});
    add((prefix + "Hand").c_str(), shoulder + 2, {s * 0.695, 1.385, 0});
    add((prefix + "Hand_end").c_str(), shoulder + 3, {s * 0.875, 1.385, 0}, true);
  }
  for (const Side side : kSides) {
    const std::string prefix = side == kLeft ? "Left" : "Right";
    const double x = Sign(side) * kHipHalfWidth;
    const int thigh = kLeftUpLeg + side * kSideJoints;
    add((prefix + "UpLeg").c_str(), kHips, {x, 0.90, 0});
    add((prefix + "Leg").c_str(), thigh, {x, 0.48, 0});
    add((prefix + "Foot").c_str(), thigh + 1, {x, kAnkleHeight, 0});
    add((prefix + "Toe").c_str(), thigh + 2, {x, 0.02, 0.10});
    add((prefix + "Toe_end").c_str(), thigh + 3, {x, 0.02, kToeFront}, true);
  }
  return skeleton;
}

std::vector<Vec3> BoxCorners(const Vec3& center, const Vec3& size) {
  std::vector<Vec3> corners;
  for (int k = 0; k < 8; ++k) {
    const Vec3 sign(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5);
    corners.push_back(center + sign.cwiseProduct(size));
  }
  return corners;
}

// Masses and inertias: Liu et al. 2010, Table 1; shapes: physics.md, section 0 (a capsule stands for each limb and the
// head).
std::vector<Segment> MakeSegments() {
  std::vector<Segment> segments;
  const auto box = [&](int joint, double mass, const Vec3& inertia, const Vec3& center, const Vec3& size) {
    segments.push_back({static_cast<JointIndex>(joint), mass, inertia, center, BoxCorners(center, size), 0});
  };
  const auto capsule = [&](int joint, double mass, const Vec3& inertia, const Vec3& center, int axis, double length,
                           double radius) {
    const Vec3 half = 0.5 * length * Vec3::Unit(axis);
    segments.push_back({static_cast<JointIndex>(joint), mass, inertia, center, {center - half, center + half}, radius});
  };
  // Centers relative to the joint that carries the segment.
  box(kHips, 4.836, {1.620e-2, 4.732e-2, 4.022e-2}, {0, 0, 0}, {0.297, 0.106, 0.170});
  box(kSpine1, 14.31, {1.300e-1, 1.601e-1, 2.122e-1}, {0, -0.02, 0}, {0.319, 0.276, 0.181});
  capsule(kHead, 5.494, {3.441e-2, 2.210e-2, 3.441e-2}, {0, 0.065, 0}, 1, 0.06, 0.085);
  for (const Side side : kSides) {
    const double s = Sign(side);
    const int arm = side * kSideJoints;
    box(kLeftShoulder + arm, 2.399, {5.062e-3, 8.265e-3, 8.265e-3}, {s * 0.085, 0, 0}, {0.150, 0.100, 0.112});
    capsule(kLeftArm + arm, 1.814, {2.173e-3, 9.104e-3, 9.104e-3}, {s * 0.13, 0, 0}, 0, 0.18, 0.042);
    capsule(kLeftForeArm + arm, 1.526, {1.640e-3, 6.753e-3, 6.753e-3}, {s * 0.12, 0, 0}, 0, 0.16, 0.038);
    box(kLeftHand + arm, 0.4588, {3.766e-4, 1.597e-3, 1.274e-3}, {s * 0.09, 0, 0}, {0.180, 0.026, 0.096});
    const int leg = side * kSideJoints;
    capsule(kLeftUpLeg + leg, 6.524, {8.714e-2, 1.709e-2, 8.714e-2}, {0, -0.21, 0}, 1, 0.29, 0.065);
    capsule(kLeftLeg + leg, 4.612, {5.565e-2, 8.931e-3, 5.565e-2}, {0, -0.20, 0}, 1, 0.29, 0.052);
    box(kLeftFoot + leg, 1.612, {9.479e-3, 9.706e-3, 1.714e-3}, {0, -0.045, 0.045}, {0.09, 0.06, 0.25});
  }
  return segments;
}

}  // namespace

Quat Mirrored(Side side, const Quat& left) {
  return side == kLeft ? left : Quat(left.w(), left.x(), -left.y(), -left.z());
}

Vec3 Mirrored(Side side, const Vec3& left) {
  return {Sign(side) * left.x(), left.y(), left.z()};
}

const motion::Skeleton& HumanSkeleton() {
  static const motion::Skeleton skeleton = MakeSkeleton();
  return skeleton;
}

motion::Clip NewClip() {
  motion::Clip clip;
  clip.skeleton = HumanSkeleton();
  clip.frame_time = kFrameTime;
  clip.unit = 1;
  return clip;
}

motion::Frame RestFrame() {
  motion::Frame frame;
  for (const motion::Joint& joint : HumanSkeleton().joints) frame.translations.push_back(joint.offset);
  frame.rotations.assign(kJointCount, Quat::Identity());
  return frame;
}

const std::vector<Segment>& Segments() {
  static const std::vector<Segment> segments = MakeSegments();
  return segments;
}

double TotalMass() {
  double mass = 0;
  for (const Segment& segment : Segments()) mass += segment.mass;
  return mass;
}

Vec3 CenterOfMass(const motion::GlobalPose& pose) {
  Vec3 sum = Vec3::Zero();
  for (const Segment& s : Segments()) sum += s.mass * (pose.positions[s.joint] + pose.orientations[s.joint] * s.center);
  return sum / TotalMass();
}

motion::GlobalPose Globals(const motion::Frame& frame) {
  motion::GlobalPose pose;
  motion::ForwardKinematics(HumanSkeleton(), frame, pose);
  return pose;
}

double LowestPoint(const Segment& segment, const motion::GlobalPose& pose) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Vec3& point : segment.rim)
    lowest = std::min(lowest, (pose.positions[segment.joint] + pose.orientations[segment.joint] * point).y());
  return lowest - segment.radius;
}

double LowestPoint(const motion::GlobalPose& pose) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Segment& segment : Segments()) lowest = std::min(lowest, LowestPoint(segment, pose));
  return lowest;
}

double PlaceFoot(motion::Frame& frame, Side side, const Vec3& ankle, const Quat& foot) {
  const int thigh = kLeftUpLeg + side * kSideJoints;
  const Quat pelvis = frame.rotations[kHips];
  const Vec3 hip = frame.translations[kHips] + pelvis * HumanSkeleton().joints[thigh].offset;
  const double reach = (ankle - hip).norm();
  if (!(reach < kThighLength + kShinLength) || reach < 0.2)
    throw std::logic_error("the leg does not reach: " + std::to_string(reach) + " m from hip to ankle");
  const Vec3 down = (ankle - hip) / reach;
  // Law of cosines in the triangle of hip, knee and ankle.
  const double knee_cos =
      (reach * reach - kThighLength * kThighLength - kShinLength * kShinLength) / (2 * kThighLength * kShinLength);
  const double knee = std::acos(knee_cos);
  const double at_hip = std::atan2(kShinLength * std::sin(knee), kThighLength + kShinLength * knee_cos);
  const Vec3 lateral = pelvis * Vec3::UnitX() + foot * Vec3::UnitX();
  const Vec3 hinge = (lateral - lateral.dot(down) * down).normalized();
  const Quat leg = FromAxes(hinge, -down, hinge.cross(-down));
  const Quat thigh_world = leg * AxisRotation(0, -at_hip);
  const Quat shin_world = thigh_world * AxisRotation(0, knee);
  frame.rotations[thigh] = pelvis.conjugate() * thigh_world;
  frame.rotations[thigh + 1] = AxisRotation(0, knee);
  frame.rotations[thigh + 2] = shin_world.conjugate() * foot;
  return knee;
}

void PlaceCenterOfMass(motion::Frame& frame, const Vec3& target, const Vec3& axes,
                       const std::function<void(motion::Frame&)>& pose) {
  // The feet stay, so the center of mass follows the root not quite one to one, and each round leaves about a fifth of
  // the error. A fixed number of rounds: a test of convergence could end one round sooner on another machine.
  for (int i = 0; i < 24; ++i) {
    pose(frame);
    frame.translations[kHips] += axes.cwiseProduct(target - CenterOfMass(Globals(frame)));
  }
  pose(frame);
}

void PoseArm(motion::Frame& frame, Side side, const ArmPose& arm) {
  const int joint = kLeftArm + side * kSideJoints;
  frame.rotations[joint] = Mirrored(side, AxisRotation(0, -arm.flexion) * AxisRotation(2, arm.abduction - 0.5 * kPi));
  frame.rotations[joint + 1] = Mirrored(side, AxisRotation(1, -arm.elbow));
}

std::vector<Vec3> ZeroMomentPoints(const std::vector<motion::Frame>& frames, double dt, bool periodic,
                                   const Vec3& period_shift) {
  const int count = static_cast<int>(frames.size());
  std::vector<motion::GlobalPose> poses;
  for (const motion::Frame& frame : frames) poses.push_back(Globals(frame));
  const auto center = [&](const Segment& s, int i) -> Vec3 {
    const int wrapped = (i + count) % count;
    const motion::GlobalPose& pose = poses[wrapped];
    return pose.positions[s.joint] + pose.orientations[s.joint] * s.center + ((i - wrapped) / count) * period_shift;
  };
  const auto orientation = [&](const Segment& s, int i) { return poses[(i + count) % count].orientations[s.joint]; };
  // Angular momentum about the segment's own center, half a sample after i.
  const auto spin = [&](const Segment& s, int i) -> Vec3 {
    const Quat a = orientation(s, i), b = orientation(s, i + 1);
    const Vec3 rate = RotationVector(b * a.conjugate()) / dt;
    const Quat middle = Nlerp(a, b, 0.5);
    return middle * s.inertia.cwiseProduct(middle.conjugate() * rate);
  };
  std::vector<Vec3> points(frames.size(), Vec3::Zero());
  const int begin = periodic ? 0 : 1, end = periodic ? count : count - 1;
  for (int i = begin; i < end; ++i) {
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();  // of all that the floor must supply, about the origin
    for (const Segment& s : Segments()) {
      const Vec3 c = center(s, i);
      const Vec3 a = (center(s, i + 1) - 2 * c + center(s, i - 1)) / (dt * dt);
      const Vec3 f = s.mass * (a + kGravity * Vec3::UnitY());
      force += f;
      moment += c.cross(f) + (spin(s, i) - spin(s, i - 1)) / dt;
    }
    points[i] = Vec3(moment.z(), 0, -moment.x()) / force.y();
  }
  if (!periodic && count > 2) {
    points.front() = points[1];
    points.back() = points[count - 2];
  }
  return points;
}

}  // namespace retrace::make_clips
