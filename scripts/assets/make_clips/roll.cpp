// A sideways roll of a whole turn: from the back over the left side onto the chest, and over the right side onto the
// back again. The second half is the first one mirrored and run backwards: what the laws of motion and the floor allow
// in one direction of time they allow in the other.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "body.h"
#include "clips.h"
#include "curve.h"
#include "retrace/math/rotation.h"

namespace retrace::make_clips {

namespace {

constexpr int kFrames = 181;    // 3 s
constexpr double kStart = 0.1;  // lying still before and after [s]
constexpr double kHalf = 1.4;   // half a turn [s]

// Arm and leg of one side at one time, as if it were the left side: rotation vectors and angles of flexion [rad].
struct Limbs {
  std::array<double, 3> shoulder;
  double elbow;
  std::array<double, 3> hip;
  double knee;
};
struct Key {
  double pitch, yaw;  // of the pelvis, about its lateral and its front-to-back axis [rad]
  std::array<double, 3> waist;
  Limbs lower;  // of the side that the body rolls over
  Limbs upper;  // of the side that swings over
};

// Half a turn at equal distances of time, with the arms raised, out of the way of the trunk. A stiff log does not start
// to roll: the floor pushes at its rolling edge only, beyond the center of mass. What starts the body, lifts it over
// its edge and slows it down again are the limbs. These numbers come from a search (CMA-ES over all of them) for small
// departures from lying straight that keep, as far as possible,
// - the zero moment point within what touches the floor (up to 12 mm above it; the hands do not count),
// - the vertical acceleration within 0.4 g and the horizontal force within half of the weight,
// - the limbs within their ranges and clear of the trunk, the head and each other.
constexpr std::array<Key, 5> kKeys = {{
    {0,
     0,
     {0, 0, 0},
     {{-0.133, 0.098, 1.026}, 0.256, {-0.609, 0.341, -0.049}, 0.105},
     {{-0.133, 0.098, 1.026}, 0.256, {-0.609, 0.341, -0.049}, 0.105}},
    {-0.032,
     0.187,
     {0.012, -0.261, -0.250},
     {{-0.135, -0.275, 1.208}, 1.632, {-1.186, 0.556, 0.447}, 1.090},
     {{0.426, -1.970, 0.924}, 0.747, {-0.187, 0.067, 0.053}, 0.457}},
    {0.094,
     0.216,
     {-0.219, 0.014, -0.084},
     {{-0.204, 0.115, 1.343}, 0.543, {-0.222, 0.414, -0.288}, 1.347},
     {{-0.378, -0.957, 0}, 0.708, {-0.541, -0.137, 0.161}, 0.949}},
    {0.157,
     0.120,
     {-0.285, 0.243, -0.352},
     {{-0.812, 0.409, 0.209}, 0.053, {-0.111, -0.269, 0.283}, 0.881},
     {{-0.833, 0.392, 0.305}, 0.046, {-0.251, 0.231, -0.221}, 1.651}},
    {0,
     0,
     {0, 0, 0},
     {{-0.341, 0.227, 0.498}, 0.241, {0.154, 0.169, 0.066}, 0.461},
     {{-0.341, 0.227, 0.498}, 0.241, {0.154, 0.169, 0.066}, 0.461}},
}};
constexpr double kHaste = -0.0039;  // part of the half turn that is done earlier at its middle than with minimum jerk
constexpr double kPlantarFlexion = 1.0;  // feet stretched: the toes do not prop up the legs [rad]
constexpr double kShoulderLift = 0.2;    // of the collar bones, as the arms are raised [rad]

// The keys as smooth curves over the half turn, s from 0 to 1.
class HalfRoll {
 public:
  HalfRoll() : pitch_(Curve([](const Key& k) { return k.pitch; })), yaw_(Curve([](const Key& k) { return k.yaw; })) {
    waist_ = Curves([](const Key& k) { return k.waist; });
    for (const Side side : kSides) {
      const auto limbs = [side](const Key& k) -> const Limbs& { return side == kLeft ? k.lower : k.upper; };
      shoulder_[side] = Curves([&](const Key& k) { return limbs(k).shoulder; });
      elbow_.push_back(Curve([&](const Key& k) { return limbs(k).elbow; }));
      hip_[side] = Curves([&](const Key& k) { return limbs(k).hip; });
      knee_.push_back(Curve([&](const Key& k) { return limbs(k).knee; }));
    }
  }

  // From the back, the head towards -z, over the left side onto the chest, rolling towards +x. The root is at 0.
  motion::Frame operator()(double s) const {
    const double turn = kPi * (MinimumJerk(s, 0, 1) + kHaste * 64 * std::pow(s * (1 - s), 3));
    motion::Frame frame = RestFrame();
    frame.translations[kHips].setZero();
    frame.rotations[kHips] =
        AxisRotation(2, -turn) * AxisRotation(0, -0.5 * kPi) * FromRotationVector({pitch_(s), 0, yaw_(s)});
    frame.rotations[kSpine] = Rotation(waist_, s);
    for (const Side side : kSides) {
      const int leg = kLeftUpLeg + side * kSideJoints, arm = kLeftArm + side * kSideJoints;
      frame.rotations[arm - 1] = Mirrored(side, AxisRotation(2, kShoulderLift));
      frame.rotations[arm] = Mirrored(side, Rotation(shoulder_[side], s));
      frame.rotations[arm + 1] = Mirrored(side, AxisRotation(1, -elbow_[side](s)));
      frame.rotations[leg] = Mirrored(side, Rotation(hip_[side], s));
      frame.rotations[leg + 1] = AxisRotation(0, knee_[side](s));
      frame.rotations[leg + 2] = AxisRotation(0, kPlantarFlexion);
    }
    return frame;
  }

 private:
  template <typename Get>
  static Spline Curve(Get get) {
    std::vector<double> times, values;
    for (size_t k = 0; k < kKeys.size(); ++k) {
      times.push_back(static_cast<double>(k) / (kKeys.size() - 1));
      values.push_back(get(kKeys[k]));
    }
    return Spline(times, values);
  }
  template <typename Get>
  static std::vector<Spline> Curves(Get get) {
    std::vector<Spline> curves;
    for (size_t axis = 0; axis < 3; ++axis) curves.push_back(Curve([&](const Key& k) { return get(k)[axis]; }));
    return curves;
  }
  static Quat Rotation(const std::vector<Spline>& vector, double s) {
    return FromRotationVector({vector[0](s), vector[1](s), vector[2](s)});
  }

  Spline pitch_, yaw_;
  std::vector<Spline> waist_;
  std::array<std::vector<Spline>, 2> shoulder_, hip_;
  std::vector<Spline> elbow_, knee_;
};

// Left and right exchanged.
motion::Frame MirroredFrame(const motion::Frame& frame) {
  motion::Frame mirrored = frame;
  for (int j = 0; j < kJointCount; ++j) {
    int other = j;
    if (j >= kLeftShoulder) {
      const bool left = j < kRightShoulder || (j >= kLeftUpLeg && j < kRightUpLeg);
      other = left ? j + kSideJoints : j - kSideJoints;
    }
    mirrored.rotations[j] = Mirrored(kRight, frame.rotations[other]);
  }
  return mirrored;
}

// Puts poses on the floor one after the other, without sliding.
class RollingContact {
 public:
  // Moves the root so that the body rests on the floor, and so that what it rests on stays where it is.
  void Place(motion::Frame& frame) {
    const motion::GlobalPose pose = Globals(frame);
    std::vector<Vec3> points;
    for (const Segment& segment : Segments()) {
      for (const Vec3& rim : segment.rim) {
        points.push_back(pose.positions[segment.joint] + pose.orientations[segment.joint] * rim -
                         segment.radius * Vec3::UnitY());
      }
    }
    double lowest = std::numeric_limits<double>::infinity();
    for (const Vec3& point : points) lowest = std::min(lowest, point.y());
    // Log-sum-exp: a smooth upper bound of the greatest depth, so that the body passes from one supporting corner to
    // the next without a jolt, and never below the floor.
    std::vector<double> loads;
    double sum = 0;
    for (const Vec3& point : points) {
      loads.push_back(std::exp(-kSharpness * (point.y() - lowest)));
      sum += loads.back();
    }
    for (double& load : loads) load /= sum;
    const double height = -lowest + std::log(sum) / kSharpness;
    for (size_t k = 0; k < points_.size(); ++k) {
      const Vec3 slide = 0.5 * (loads[k] + loads_[k]) * (points[k] - points_[k]);
      offset_ -= Vec3(slide.x(), 0, slide.z());
    }
    points_ = points;
    loads_ = loads;
    frame.translations[kHips] += offset_ + height * Vec3::UnitY();
  }

 private:
  static constexpr double kSharpness = 800;  // [1/m]: two corners that bear the same are lifted by 1 mm
  Vec3 offset_ = Vec3::Zero();
  std::vector<Vec3> points_;   // of the pose before
  std::vector<double> loads_;  // the part of the weight on each
};

}  // namespace

motion::Clip MakeRoll() {
  constexpr int kSteps = 4;  // of the rolling contact in a frame
  const HalfRoll half;
  RollingContact contact;
  // Lying along x rather than z keeps the pelvis away from the lock of the ZXY angles of BVH files. Rolls towards +z.
  const Quat heading = AxisRotation(1, -0.5 * kPi);
  motion::Clip clip = NewClip();
  for (int i = 0; i <= (kFrames - 1) * kSteps; ++i) {
    const double s = std::clamp((i * kFrameTime / kSteps - kStart) / kHalf, 0.0, 2.0);
    motion::Frame frame = s <= 1 ? half(s) : MirroredFrame(half(2 - s));
    contact.Place(frame);
    if (i % kSteps != 0) continue;
    frame.translations[kHips] = heading * frame.translations[kHips];
    frame.rotations[kHips] = heading * frame.rotations[kHips];
    clip.frames.push_back(std::move(frame));
  }
  return clip;
}

}  // namespace retrace::make_clips
