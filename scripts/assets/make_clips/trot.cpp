// A steady trot on four legs. The feet are prescribed, so that none slides; the legs follow by inverse kinematics.
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "body.h"
#include "clips.h"
#include "curve.h"
#include "retrace/math/rotation.h"

namespace retrace::make_clips {

namespace {

// Diagonal pairs of feet take turns (Hildebrand 1965: fore lag half a cycle, duty factor about a half). Froude number
// v^2 / (g hip height) 0.35: between the walk and the usual trot of dogs at 0.5 and above (Alexander and Jayes 1983).
constexpr int kFramesPerCycle = 30;
constexpr int kCycles = 5;
constexpr double kStride = 0.60;             // [m], so 1.2 m/s
constexpr double kDuty = 0.55;               // share of the cycle in which a foot stands
constexpr double kSwingHeight = 0.06;        // of the sole [m]
constexpr double kSwingPitch = Radians(25);  // toes down in mid swing

// Geometry of data/characters/quadruped.json [m].
constexpr double kHalfWidth = 0.075;
constexpr double kHindZ = -0.28;
constexpr double kForeZ = 0.24;
constexpr double kRestHip = 0.49;  // of hips and shoulders, legs straight
constexpr double kBone = 0.22;     // thigh and shin, upper and lower fore leg
constexpr double kAnkle = 0.05;    // over the sole

constexpr double kHip = 0.42;          // of hips and shoulders while trotting, mean
constexpr double kBobbing = 0.008;     // amplitude: lowest in mid stance, as on springs
constexpr double kFeetForward = 0.03;  // of the feet in mid stance before hips and shoulders: the head is heavy

enum TrotJoint : int { kPelvis, kTrunk, kNeckJoint, kHeadJoint, kHeadTip, kLegs };
constexpr int kLegJoints = 4;  // upper, lower, foot, tip

struct Leg {
  const char* name;
  double side;  // 1 left, -1 right
  bool hind;
  double offset;  // of its touch-down in the cycle
};
constexpr std::array<Leg, 4> kAllLegs = {
    {{"LeftHind", 1, true, 0}, {"RightHind", -1, true, 0.5}, {"LeftFore", 1, false, 0.5}, {"RightFore", -1, false, 0}}};

motion::Skeleton MakeSkeleton() {
  motion::Skeleton skeleton;
  std::vector<Vec3> places;
  const auto add = [&](const std::string& name, int parent, const Vec3& place, bool end_site = false) {
    const Vec3 offset = parent < 0 ? place : Vec3(place - places[static_cast<size_t>(parent)]);
    places.push_back(place);
    skeleton.joints.push_back({name, parent, (offset * 1e4).array().round().matrix() / 1e4, end_site});
    return static_cast<int>(places.size()) - 1;
  };
  add("Pelvis", -1, {0, 0.53, -0.22});
  const int trunk = add("Trunk", kPelvis, {0, 0.54, -0.11});
  const int neck = add("Neck", trunk, {0, 0.60, 0.28});
  const int head = add("Head", neck, {0, 0.78, 0.29});
  add("Head_end", head, {0, 0.81, 0.46}, true);
  for (const Leg& leg : kAllLegs) {
    const Vec3 hip(leg.side * kHalfWidth, kRestHip, leg.hind ? kHindZ : kForeZ);
    const std::string name = leg.name;
    const int upper = add(name + (leg.hind ? "Thigh" : "Upper"), leg.hind ? int{kPelvis} : trunk, hip);
    const int lower = add(name + (leg.hind ? "Shin" : "Lower"), upper, hip - Vec3(0, kBone, 0));
    const int foot = add(name + "Foot", lower, hip - Vec3(0, 2 * kBone, 0));
    add(name + "Foot_end", foot, hip + Vec3(0, -2 * kBone - 0.5 * kAnkle, 0.075), true);
  }
  return skeleton;
}

// Where an ankle is at a time counted in cycles, and the pitch of its foot.
struct FootPlace {
  Vec3 ankle;
  double pitch;
};
FootPlace PlaceOf(const Leg& leg, double cycles) {
  const double own = cycles - leg.offset;
  const double number = std::floor(own), phase = own - number;
  // The body passes over the foot in mid stance.
  double z = (leg.hind ? kHindZ : kForeZ) + kFeetForward + kStride * (number + leg.offset + 0.5 * kDuty);
  double lift = 0;
  if (phase > kDuty) {
    const double u = (phase - kDuty) / (1 - kDuty);
    z += kStride * MinimumJerk(u, 0, 1);
    lift = 64 * std::pow(u * (1 - u), 3);  // 1 in mid swing, leaves and meets the floor without speed
  }
  return {Vec3(leg.side * kHalfWidth, kAnkle + kSwingHeight * lift, z), kSwingPitch * lift};
}

motion::Frame FrameAt(const motion::Skeleton& skeleton, double cycles) {
  motion::Frame frame;
  for (const motion::Joint& joint : skeleton.joints) {
    frame.translations.push_back(joint.offset);
    frame.rotations.push_back(Quat::Identity());
  }
  const double forward = kStride * cycles;
  const double hip = kHip - kBobbing * std::cos(4 * kPi * (cycles - 0.5 * kDuty));
  frame.translations[kPelvis] += Vec3(0, hip - kRestHip, forward);
  const double nod = Radians(3) * std::cos(4 * kPi * (cycles - 0.5 * kDuty));
  frame.rotations[kNeckJoint] = AxisRotation(0, Radians(35) + nod);
  frame.rotations[kHeadJoint] = AxisRotation(0, -Radians(30) - nod);
  for (size_t l = 0; l < kAllLegs.size(); ++l) {
    const Leg& leg = kAllLegs[l];
    const FootPlace place = PlaceOf(leg, cycles);
    const double down = hip - place.ankle.y();
    const double ahead = place.ankle.z() - forward - (leg.hind ? kHindZ : kForeZ);
    const double reach = std::hypot(down, ahead);
    if (reach > 2 * kBone) throw std::logic_error("a leg of the trot does not reach");
    // Two bones of one length bend by half of the flexion each: stifles point forwards, elbows backwards.
    const double flexion = (leg.hind ? 2 : -2) * std::acos(reach / (2 * kBone));
    const double upper = std::atan2(-ahead, down) - 0.5 * flexion;
    const size_t joint = kLegs + l * kLegJoints;
    frame.rotations[joint] = AxisRotation(0, upper);
    frame.rotations[joint + 1] = AxisRotation(0, flexion);
    frame.rotations[joint + 2] = AxisRotation(0, place.pitch - upper - flexion);
  }
  return frame;
}

}  // namespace

motion::Clip MakeTrot() {
  motion::Clip clip;
  clip.skeleton = MakeSkeleton();
  clip.frame_time = kFrameTime;
  clip.unit = 1;
  // From mid stance to mid stance.
  for (int i = 0; i <= kCycles * kFramesPerCycle; ++i) {
    clip.frames.push_back(FrameAt(clip.skeleton, 0.5 * kDuty + static_cast<double>(i) / kFramesPerCycle));
  }
  return clip;
}

}  // namespace retrace::make_clips
