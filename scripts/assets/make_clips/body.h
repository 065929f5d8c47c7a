/// The person whose motions are made up: a usual motion-capture skeleton with the proportions, the segment masses and
/// the segment shapes of the simulated character (data/characters/human.json), so that what is planned here (balance,
/// contact with the floor) still holds after the clip has been fitted to the character.
/// Frames: y up, z forward, x to the left; at rest (T-pose) all joint frames are aligned with the world.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "retrace/math/types.h"
#include "retrace/motion/clip.h"

namespace retrace::make_clips {

inline constexpr double kFrameTime = 1.0 / 60;  ///< [s]
inline constexpr double kGravity = 9.81;        ///< [m/s2]

/// Joints of the skeleton, in the order of the hierarchy. Those of one side are `kLeft... + side * kSideJoints`.
enum JointIndex : int {
  kHips,
  kSpine,
  kSpine1,
  kNeck,
  kHead,
  kHeadEnd,
  kLeftShoulder,
  kLeftArm,
  kLeftForeArm,
  kLeftHand,
  kLeftHandEnd,
  kRightShoulder,
  kRightArm,
  kRightForeArm,
  kRightHand,
  kRightHandEnd,
  kLeftUpLeg,
  kLeftLeg,
  kLeftFoot,
  kLeftToe,
  kLeftToeEnd,
  kRightUpLeg,
  kRightLeg,
  kRightFoot,
  kRightToe,
  kRightToeEnd,
  kJointCount
};
inline constexpr int kSideJoints = 5;

/// The sagittal plane mirrors the left side onto the right.
enum Side : int { kLeft = 0, kRight = 1 };
inline constexpr std::array<Side, 2> kSides = {kLeft, kRight};
inline constexpr double Sign(Side side) {
  return side == kLeft ? 1 : -1;
}
Quat Mirrored(Side side, const Quat& left);
Vec3 Mirrored(Side side, const Vec3& left);

/// Leg geometry [m]. The foot is one rigid block, as in the character, so the toe joint of the skeleton never turns.
inline constexpr double kHipHalfWidth = 0.09;
inline constexpr double kThighLength = 0.42;
inline constexpr double kShinLength = 0.405;
inline constexpr double kAnkleHeight = 0.075;
inline constexpr double kHeelBack = 0.08;  ///< from the ankle to the back edge of the sole
inline constexpr double kToeFront = 0.17;  ///< from the ankle to the front edge of the sole
inline constexpr double kSoleHalfWidth = 0.045;

const motion::Skeleton& HumanSkeleton();
/// A clip of that skeleton in meters, without frames.
motion::Clip NewClip();
/// The T-pose.
motion::Frame RestFrame();

/// One rigid segment: what moves with a joint.
struct Segment {
  JointIndex joint;
  double mass;            ///< [kg]
  Vec3 inertia;           ///< principal moments about the axes of the joint's frame [kg m2]
  Vec3 center;            ///< center of mass, in the joint's frame [m]
  std::vector<Vec3> rim;  ///< the shape is the convex hull of spheres around these points, in the joint's frame [m]
  double radius;          ///< of those spheres: 0 for a box, the capsule's radius for a capsule [m]
};
const std::vector<Segment>& Segments();
double TotalMass();

Vec3 CenterOfMass(const motion::GlobalPose& pose);
motion::GlobalPose Globals(const motion::Frame& frame);

/// Height of the lowest point of a segment's shape above the floor.
double LowestPoint(const Segment& segment, const motion::GlobalPose& pose);
double LowestPoint(const motion::GlobalPose& pose);

/// Turns hip, knee and ankle of `frame` so that the ankle is at `ankle` and the foot oriented as `foot` in the world.
/// The knee is a hinge; its axis lies half-way between the lateral axes of the pelvis and of the foot. Returns the knee
/// flexion [rad]. The leg must reach: throws std::logic_error otherwise, for that is a mistake in a motion's design.
double PlaceFoot(motion::Frame& frame, Side side, const Vec3& ankle, const Quat& foot);

/// Moves the root of `frame` along `axes` until the center of mass is at `target` along these axes. `pose` rebuilds
/// whatever depends on the root's position (the legs).
void PlaceCenterOfMass(motion::Frame& frame, const Vec3& target, const Vec3& axes,
                       const std::function<void(motion::Frame&)>& pose);

/// Arms relative to hanging straight down, palms towards the thighs [rad].
struct ArmPose {
  double flexion = 0;    ///< of the shoulder, forward
  double abduction = 0;  ///< of the shoulder, away from the trunk
  double elbow = 0;      ///< flexion
};
void PoseArm(motion::Frame& frame, Side side, const ArmPose& arm);

/// Zero moment points of a motion sampled every `dt`: where the resultant of the floor's forces must act (x and z; y is
/// 0) for the floor to be able to supply it. From the segments' accelerations by central differences; the samples wrap
/// around with an offset of `period_shift` per round when `periodic`, else the first and last point repeat their
/// neighbor.
std::vector<Vec3> ZeroMomentPoints(const std::vector<motion::Frame>& frames, double dt, bool periodic,
                                   const Vec3& period_shift = Vec3::Zero());

}  // namespace retrace::make_clips
