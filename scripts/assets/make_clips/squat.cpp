// Motions on two planted feet: a squat and quiet standing. The center of mass is held above the soles by moving the
// pelvis; the legs follow by inverse kinematics.
#include <cmath>

#include "body.h"
#include "clips.h"
#include "curve.h"
#include "retrace/math/rotation.h"

namespace retrace::make_clips {

namespace {

struct Stance {
  double half_width;  ///< from the mid-line to the ankles [m]
  double toe_out;     ///< [rad]
};

void PlaceFeet(motion::Frame& frame, const Stance& stance) {
  for (const Side side : kSides)
    PlaceFoot(frame, side, Mirrored(side, Vec3(stance.half_width, kAnkleHeight, 0)),
              Mirrored(side, AxisRotation(1, stance.toe_out)));
}

// Balances the pose above the feet: the root at `height`, the center of mass at x, z of `center`.
void Balance(motion::Frame& frame, const Stance& stance, double height, const Vec3& center) {
  frame.translations[kHips] = {center.x(), height, center.z()};
  PlaceCenterOfMass(frame, center, Vec3(1, 0, 1), [&](motion::Frame& f) { PlaceFeet(f, stance); });
}

// Quietly standing people keep their center of mass 4 to 5 cm in front of the ankles (Winter 1995), near the middle of
// the sole.
constexpr double kForward = 0.045;
constexpr double kStandingHeight = 0.938;  // of the root, with the knees bent by a few degrees [m]

}  // namespace

motion::Clip MakeSquat() {
  constexpr int kFrames = 181;  // 3 s
  const Stance stance{0.13, Radians(12)};
  motion::Clip clip = NewClip();
  for (int i = 0; i < kFrames; ++i) {
    const double time = i * kFrameTime;
    const double depth = MinimumJerk(time, 0.2, 1.4) - MinimumJerk(time, 1.6, 2.8);
    motion::Frame frame = RestFrame();
    // Thighs nearly level at the bottom. The trunk leans, and the arms are held out, to keep the balance over the
    // soles while the pelvis goes back.
    const Quat pelvis = AxisRotation(0, depth * Radians(32)),
               thorax = AxisRotation(0, Radians(1) + depth * Radians(38));
    frame.rotations[kHips] = pelvis;
    frame.rotations[kSpine] = pelvis.conjugate() * thorax;
    frame.rotations[kNeck] = AxisRotation(0, -depth * Radians(25));
    for (const Side side : kSides)
      PoseArm(frame, side, {Radians(3) + depth * Radians(100), Radians(12), Radians(15) + depth * Radians(5)});
    Balance(frame, stance, kStandingHeight - 0.33 * depth, {0, 0, kForward});
    clip.frames.push_back(std::move(frame));
  }
  return clip;
}

motion::Clip MakeStand() {
  constexpr int kFrames = 121;  // 2 s
  const Stance stance{0.10, Radians(8)};
  motion::Clip clip = NewClip();
  for (int i = 0; i < kFrames; ++i) {
    const double time = i * kFrameTime;
    const auto wave = [&](double frequency, double phase) { return std::sin(2 * kPi * (frequency * time + phase)); };
    // Sway of a few millimeters below 1 Hz; a breath of four seconds lifts chest and shoulders.
    const double breath = wave(0.25, -0.1);
    motion::Frame frame = RestFrame();
    frame.rotations[kSpine] = AxisRotation(0, Radians(1) - Radians(0.5) * breath);
    frame.rotations[kNeck] = AxisRotation(0, Radians(0.4) * breath);
    for (const Side side : kSides) {
      frame.rotations[kLeftShoulder + side * kSideJoints] = Mirrored(side, AxisRotation(2, Radians(0.8) * breath));
      PoseArm(frame, side, {Radians(3) + Radians(0.5) * wave(0.5, 0.2), Radians(12), Radians(15)});
    }
    Balance(frame, stance, kStandingHeight,
            {0.004 * wave(0.35, 0), 0, kForward + 0.004 * wave(0.45, 0.3) + 0.002 * wave(0.8, 0)});
    clip.frames.push_back(std::move(frame));
  }
  return clip;
}

}  // namespace retrace::make_clips
