// A sideways roll of a whole turn: from the back over the left side onto the chest, and over the right side onto the
// back again.
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

// What moves besides the roll itself; rotation vectors of the left side, mirrored for the right.
enum Channel {
  kTilt,                         // of the pelvis about its lateral and sagittal axes
  kWaist = kTilt + 2,            // rotation vector
  kLower = kWaist + 3,           // limbs of the side that is rolled over: arm, elbow, hip, knee
  kUpper = kLower + 8,           // the same of the side that swings over
  kChannels = kUpper + 8
};
constexpr int kInnerKeys = 3;
using Keys = std::array<std::array<double, kChannels>, kInnerKeys>;

constexpr std::array<double, 8> kLyingLimb = {0, 0, 1.30, 0.25, -0.12, 0, 0.06, 0.2};

Keys RestKeys() {
  Keys keys{};
  for (auto& key : keys)
    for (int c = 0; c < 8; ++c) key[kLower + c] = key[kUpper + c] = kLyingLimb[c];
  return keys;
}

struct HalfRoll {
  Keys keys;
  double haste;  // how much of the turn comes earlier than in the minimum-jerk profile
};

// The first half at s in [0, 1]: from the back (turn 0, head towards -z) to the chest, rolling towards +x.
class HalfRollPose {
 public:
  explicit HalfRollPose(const HalfRoll& roll) : haste_(roll.haste) {
    for (int c = 0; c < kChannels; ++c) {
      const double rest = c < kLower ? 0 : kLyingLimb[(c - kLower) % 8];
      std::vector<double> times{0}, values{rest};
      for (int k = 0; k < kInnerKeys; ++k) {
        times.push_back((k + 1.0) / (kInnerKeys + 1));
        values.push_back(roll.keys[k][c]);
      }
      times.push_back(1);
      values.push_back(rest);
      channels_.emplace_back(times, values);
    }
  }
  motion::Frame operator()(double s) const {
    const double turn = kPi * (MinimumJerk(s, 0, 1) + haste_ * 64 * std::pow(s * (1 - s), 3));
    const auto vec = [&](int c) { return Vec3(channels_[c](s), channels_[c + 1](s), channels_[c + 2](s)); };
    motion::Frame frame = RestFrame();
    frame.translations[kHips].setZero();
    frame.rotations[kHips] = AxisRotation(2, -turn) * AxisRotation(0, -0.5 * kPi) *
                             FromRotationVector({channels_[kTilt](s), 0, channels_[kTilt + 1](s)});
    frame.rotations[kSpine] = FromRotationVector(vec(kWaist));
    for (const Side side : kSides) {
      const int c = side == kLeft ? kLower : kUpper;
      const int leg = kLeftUpLeg + side * kSideJoints, arm = kLeftArm + side * kSideJoints;
      frame.rotations[arm - 1] = Mirrored(side, AxisRotation(2, 0.2));
      frame.rotations[arm] = Mirrored(side, FromRotationVector(vec(c)));
      frame.rotations[arm + 1] = Mirrored(side, AxisRotation(1, -channels_[c + 3](s)));
      frame.rotations[leg] = Mirrored(side, FromRotationVector(vec(c + 4)));
      frame.rotations[leg + 1] = AxisRotation(0, channels_[c + 7](s));
      frame.rotations[leg + 2] = AxisRotation(0, 0.6);
    }
    return frame;
  }

 private:
  double haste_;
  std::vector<Spline> channels_;
};

// Puts poses on the floor one after the other, without sliding.
class RollingContact {
 public:
  // Moves the root so that the body rests on the floor, and so that what rests on it stays where it is.
  void Place(motion::Frame& frame) {
    const motion::GlobalPose pose = Globals(frame);
    std::vector<Vec3> points;
    for (const Segment& segment : Segments())
      for (const Vec3& rim : segment.rim)
        points.push_back(pose.positions[segment.joint] + pose.orientations[segment.joint] * rim -
                         segment.radius * Vec3::UnitY());
    double lowest = std::numeric_limits<double>::infinity();
    for (const Vec3& point : points) lowest = std::min(lowest, point.y());
    // Log-sum-exp: a smooth bound of the greatest depth, above it by at most log(points)/sharpness, so that the body
    // passes from one supporting corner to the next without a jolt and never below the floor.
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
  static constexpr double kSharpness = 400;  // [1/m]: 2 mm between two corners
  Vec3 offset_ = Vec3::Zero();
  std::vector<Vec3> points_;
  std::vector<double> loads_;
};

#ifndef ROLL_TABLE
const HalfRoll kRoll{RestKeys(), 0};
#else
#include ROLL_TABLE
#endif

motion::Frame MirroredFrame(const motion::Frame& frame) {
  motion::Frame m = frame;
  for (int j = 0; j < kJointCount; ++j) {
    int from = j;
    if (j >= kLeftShoulder && j <= kRightHandEnd) from = j < kRightShoulder ? j + kSideJoints : j - kSideJoints;
    if (j >= kLeftUpLeg) from = j < kRightUpLeg ? j + kSideJoints : j - kSideJoints;
    m.rotations[j] = Mirrored(kRight, frame.rotations[from]);
  }
  return m;
}

}  // namespace

motion::Clip MakeRoll() {
  constexpr int kFrames = 181, kSub = 4;
  const HalfRollPose half(kRoll);
  RollingContact contact;
  motion::Clip clip = NewClip();
  for (int i = 0; i <= (kFrames - 1) * kSub; ++i) {
    const double time = i * kFrameTime / kSub;
    const double s = (time - 0.15) / 1.35;
    motion::Frame frame = s <= 1 ? half(std::max(s, 0.0)) : MirroredFrame(half(std::max(2 - s, 0.0)));
    contact.Place(frame);
    if (i % kSub == 0) clip.frames.push_back(frame);
  }
  return clip;
}

}  // namespace retrace::make_clips
