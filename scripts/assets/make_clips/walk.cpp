// Steady level walking. The feet are prescribed, the legs follow by inverse kinematics, and the horizontal path of the
// body is solved for, so that the resultant of the floor's forces lies inside the feet that stand on it.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "body.h"
#include "clips.h"
#include "curve.h"
#include "retrace/math/rotation.h"

namespace retrace::make_clips {

namespace {

// Times are fractions of the gait cycle, counted for each foot from its own heel strike; the right foot is half a cycle
// behind the left. Perry and Burnfield 2010, "Gait Analysis", give for free walking: cadence 113 steps/min, step 0.7 m,
// double support 2 x 10-12 % of the cycle, toe-off at 62 %, knee flexion 15 degrees in loading and 60 in swing, pelvic
// rotation +-5 degrees, obliquity +-4 degrees. The step here is shorter, as the person is (1.7 m) and because a rigid
// foot block has no toe joint to lengthen the trailing leg with.
constexpr int kFramesPerCycle = 64;
constexpr double kCycle = kFramesPerCycle * kFrameTime;  // 1.067 s, 112 steps/min
constexpr double kStep = 0.60;                           // [m], so 1.125 m/s
constexpr double kStride = 2 * kStep;
// Between the ankle and the mid-line [m]. Twice the human one: the calves of the character are straight capsules, which
// must pass each other.
constexpr double kFootOffset = 0.075;
constexpr double kToeOut = Radians(5);

constexpr double kDoubleSupport = 0.12;  // once per step
constexpr double kFootFlat = 0.10;       // the sole comes down within the double support
constexpr double kHeelOff = 0.36;
constexpr double kToeOff = 0.5 + kDoubleSupport;
constexpr double kStrikePitch = Radians(-16);  // toes up
constexpr double kStrikeHaste = 1.25;          // pitch rate at the strike over its mean until the sole is flat
constexpr double kToeOffPitch = Radians(40);
constexpr double kToeOffRate = Radians(200) * kCycle;             // [rad/cycle]
constexpr double kToeOffBrake = Radians(-300) * kCycle * kCycle;  // [rad/cycle2]
constexpr double kMidSwing = 0.80;
constexpr double kMidSwingForward = 0.53;  // [m]
constexpr double kMidSwingHeight = 0.155;  // of the ankle, to clear the floor with the toes [m]

constexpr double kHipHeight = 0.912;  // of the root (0.05 above the hip joints), mean [m]
constexpr double kBobbing = 0.017;    // amplitude [m]: lowest in mid double support, highest in mid stance

// Where the load is on a foot, ahead of the ankle [m], when it comes from the other foot and when it goes there, and
// how far from the mid-line.
constexpr double kFrontLoad = 0.0;
constexpr double kRearLoad = 0.16;
constexpr double kLoadOffset = 0.07;
constexpr double kCenterHeight = 0.93;  // of the center of mass, for the pendulum [m]

// Samples per frame when solving for the body's path: 240 Hz.
constexpr int kOversampling = 4;
constexpr int kSamples = kFramesPerCycle * kOversampling;
// Harmonics of the cycle in the body's path; what is above (over 7 Hz) is not bodily movement.
constexpr int kHarmonics = 12;

double Wave(double phase, double peak) {
  return std::cos(2 * kPi * (phase - peak));
}

// Place and pitch of one foot over its cycle, relative to where the ankle is while the sole is flat.
class FootPath {
 public:
  FootPath()
      : strike_(Join({State(0, kStrikePitch, kStrikeHaste * -kStrikePitch / kFootFlat), State(kFootFlat, 0)})),
        rise_(Join({State(kHeelOff, 0), State(kToeOff, kToeOffPitch, kToeOffRate, kToeOffBrake)})),
        swing_pitch_(Join({State(kToeOff, rise_(kToeOff), rise_(kToeOff, 1), rise_(kToeOff, 2)),
                           State(1, strike_(0), strike_(0, 1), strike_(0, 2))})),
        swing_{Polynomial(Join({ContactState(kToeOff, 0), ContactState(1, 0)})),
               Polynomial(Join({ContactState(kToeOff, 1), ContactState(1, 1), {{kMidSwing, 0, kMidSwingHeight}}})),
               Polynomial(Join({ContactState(kToeOff, 2), ContactState(1, 2), {{kMidSwing, 0, kMidSwingForward}}}))} {}

  /// Rotation about the foot's lateral axis, positive with the toes down.
  double Pitch(double phase) const {
    if (phase < kFootFlat) return strike_(phase);
    if (phase < kHeelOff) return 0;
    return phase < kToeOff ? rise_(phase) : swing_pitch_(phase);
  }
  /// Of the ankle: outward, up from the floor, forward.
  Vec3 Ankle(double phase) const {
    if (phase >= kToeOff) return {swing_[0](phase), swing_[1](phase), swing_[2](phase)};
    return InWorld(Contact(Pitch(phase), 0));
  }

 private:
  static std::vector<Condition> Join(const std::vector<std::vector<Condition>>& parts) {
    std::vector<Condition> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  static Vec3 InWorld(const Eigen::Vector2d& v) {
    return {std::sin(kToeOut) * v.x(), v.y(), std::cos(kToeOut) * v.x()};
  }
  // The ankle (along the foot and up) while the foot rolls without sliding over the edge of its heel (pitch < 0) or toe
  // (pitch > 0); of order 1 and 2 its derivatives by the pitch.
  static Eigen::Vector2d Contact(double pitch, int order) {
    const double lever = pitch < 0 ? -kHeelBack : kToeFront;
    const double c = std::cos(pitch), s = std::sin(pitch);
    // From the ankle to the edge, which stays where it is.
    const Eigen::Vector2d edge(lever * c - kAnkleHeight * s, -lever * s - kAnkleHeight * c);
    if (order == 0) return Eigen::Vector2d(lever, 0) - edge;
    return order == 1 ? Eigen::Vector2d(-edge.y(), edge.x()) : edge;
  }
  // Lets the swing leave (toe-off) and meet (heel strike) the floor with the velocity and acceleration of the rolling
  // foot.
  std::vector<Condition> ContactState(double time, int axis) const {
    const bool leaving = time < 1;
    const Polynomial& pitch = leaving ? rise_ : strike_;
    const double t = leaving ? time : 0;
    const double p = pitch(t), p1 = pitch(t, 1), p2 = pitch(t, 2);
    const Vec3 d0 = InWorld(Contact(p, 0)), d1 = InWorld(Contact(p, 1)), d2 = InWorld(Contact(p, 2));
    return State(time, d0[axis] + (axis == 2 && !leaving ? kStride : 0), d1[axis] * p1,
                 d2[axis] * p1 * p1 + d1[axis] * p2);
  }

  Polynomial strike_, rise_, swing_pitch_;
  std::array<Polynomial, 3> swing_;  // outward, up, forward
};

// Height and orientation of the pelvis and everything above it at a phase of the left foot's cycle.
motion::Frame UpperBody(double phase) {
  motion::Frame frame = RestFrame();
  frame.translations[kHips].y() = kHipHeight - kBobbing * Wave(2 * phase, kDoubleSupport);
  // At left heel strike the left side of the pelvis is forward and the thorax turned the other way; in left stance the
  // pelvis drops on the right.
  const Quat pelvis = AxisRotation(1, -Radians(4.5) * Wave(phase, 0.02)) *
                      AxisRotation(2, Radians(2.5) * Wave(phase, 0.22)) * AxisRotation(0, Radians(3));
  const Quat thorax = AxisRotation(1, Radians(4) * Wave(phase, 0.04)) *
                      AxisRotation(2, -Radians(1) * Wave(phase, 0.22)) * AxisRotation(0, Radians(1));
  frame.rotations[kHips] = pelvis;
  frame.rotations[kSpine] = pelvis.conjugate() * thorax;
  frame.rotations[kNeck] = thorax.conjugate();
  for (const Side side : kSides) {
    // Each arm is furthest forward with the heel strike of the other foot.
    const double swing = Wave(phase + 0.5 * int{side}, 0.53);
    PoseArm(frame, side, {Radians(2) + Radians(17) * swing, Radians(12), Radians(26) + Radians(9) * swing});
  }
  return frame;
}

void PlaceFeet(motion::Frame& frame, const FootPath& path, double cycles) {
  for (const Side side : kSides) {
    const double own = cycles - 0.5 * int{side};  // cycles since the first strike of this foot
    const double strikes = std::floor(own), phase = own - strikes;
    const Vec3 base(kFootOffset, 0, (strikes + 0.5 * int{side}) * kStride);
    const Vec3 ankle = Mirrored(side, Vec3(base + path.Ankle(phase)));
    PlaceFoot(frame, side, ankle, Mirrored(side, AxisRotation(1, kToeOut)) * AxisRotation(0, path.Pitch(phase)));
  }
}

// Where the resultant of the floor's forces should act: under the standing foot from heel to toe, and during the double
// support on the way from the toes of the trailing foot to the heel of the leading one.
Vec3 DesiredZeroMomentPoint(double cycles) {
  const double step = std::floor(2 * cycles), phase = cycles - 0.5 * step;  // since the last strike of either foot
  const double side = std::fmod(step, 2) == 0 ? 1 : -1;
  const double over = MinimumJerk(phase, -0.02, kDoubleSupport + 0.02);
  static const Spline forward({0.0, kDoubleSupport, 0.25, 0.38, 0.5},
                              {kRearLoad - kStep, kFrontLoad, 0.075, 0.135, kRearLoad});
  return {side * (2 * over - 1) * kLoadOffset, 0, step * kStep + forward(phase)};
}

using Path = std::vector<Vec3>;  // one cycle, kSamples points

// One cycle of a closed curve with each harmonic k multiplied by gain(k), up to kHarmonics.
template <typename Gain>
Path FilterHarmonics(const Path& curve, Gain gain) {
  Path result(curve.size(), Vec3::Zero());
  const int n = static_cast<int>(curve.size());
  for (int k = 0; k <= kHarmonics; ++k) {
    Vec3 cosine = Vec3::Zero(), sine = Vec3::Zero();
    for (int i = 0; i < n; ++i) {
      cosine += std::cos(2 * kPi * k * i / n) * curve[i];
      sine += std::sin(2 * kPi * k * i / n) * curve[i];
    }
    const double scale = gain(k) * (k == 0 ? 1.0 : 2.0) / n;
    for (int i = 0; i < n; ++i)
      result[i] += scale * (std::cos(2 * kPi * k * i / n) * cosine + std::sin(2 * kPi * k * i / n) * sine);
  }
  return result;
}

// One cycle of frames for a horizontal path of the center of mass.
std::vector<motion::Frame> Cycle(const FootPath& path, const Path& center) {
  std::vector<motion::Frame> frames;
  for (int i = 0; i < kSamples; ++i) {
    const double cycles = static_cast<double>(i) / kSamples;
    motion::Frame frame = UpperBody(cycles);
    frame.translations[kHips] += Vec3(center[i].x(), 0, center[i].z());
    PlaceCenterOfMass(frame, center[i], Vec3(1, 0, 1), [&](motion::Frame& f) { PlaceFeet(f, path, cycles); });
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace

motion::Clip MakeWalk(double duration) {
  const FootPath path;
  const Vec3 shift(0, 0, kStride);
  Path progress(kSamples), desired(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    const double cycles = static_cast<double>(i) / kSamples;
    progress[i] = cycles * shift;
    desired[i] = DesiredZeroMomentPoint(cycles) - progress[i];
  }
  // The linear inverted pendulum, c'' = g/h (c - p) (Kajita et al. 2003), answers harmonic k of the zero moment point
  // p with 1 / (1 + h/g (k w)^2) of it in the center of mass c. First for the whole of p; then, since the real body is
  // no point mass at constant height, repeatedly for what its true zero moment point still lacks.
  const double pendulum = kCenterHeight / kGravity * std::pow(2 * kPi / kCycle, 2);
  const auto answer = [&](const Path& p) {
    return FilterHarmonics(p, [&](int k) { return 1 / (1 + pendulum * k * k); });
  };
  Path center = answer(desired);
  std::vector<motion::Frame> frames;
  for (int round = 0; round < 12; ++round) {
    Path moving = center;
    for (int i = 0; i < kSamples; ++i) moving[i] += progress[i];
    frames = Cycle(path, moving);
    const std::vector<Vec3> actual = ZeroMomentPoints(frames, kCycle / kSamples, true, shift);
    Path lacking(kSamples);
    for (int i = 0; i < kSamples; ++i) lacking[i] = desired[i] + progress[i] - actual[i];
    const Path correction = answer(lacking);
    for (int i = 0; i < kSamples; ++i) center[i] += correction[i];
  }
  // The clip begins and ends in the middle of a stance, with one foot flat and the other passing it.
  motion::Clip clip = NewClip();
  const int first = kSamples / 4;
  const int cycles = std::max(1, static_cast<int>(std::ceil(duration / kCycle)));
  for (int i = 0; i <= cycles * kFramesPerCycle; ++i) {
    const int sample = first + i * kOversampling;
    motion::Frame frame = frames[sample % kSamples];
    frame.translations[kHips] += (sample / kSamples) * shift - Vec3(0, 0, 0.5 * kStep);
    clip.frames.push_back(std::move(frame));
  }
  return clip;
}

}  // namespace retrace::make_clips
