#include "body_mesh.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "polygons.h"
#include "retrace/math/rotation.h"

namespace retrace::make_meshes {
namespace {

// Heights and lengths as shares of the body height, of a human of usual proportions (Winter 2009, figure 4.1).
constexpr double kHip = 0.53, kKnee = 0.285, kAnkle = 0.045;
constexpr double kWaist = 0.60, kChest = 0.70, kNeck = 0.825, kHead = 0.88;
constexpr double kShoulder = 0.81, kShoulderWidth = 0.106, kHipWidth = 0.053;
constexpr double kUpperArm = 0.165, kLowerArm = 0.147, kHand = 0.1, kFoot = 0.11;
constexpr double kBlend = 0.025;       // over which two bones' surfaces run into each other [m]
constexpr double kWeightBand = 0.035;  // over which their weights do [m]

/// The flesh around a bone: a cone with round ends between two places, flattened along some axes.
struct Flesh {
  int joint;      // that moves it
  Vec3 from, to;  // [m]
  double from_radius, to_radius;
  Vec3 flatness = Vec3::Ones();  // lengths along the axes are divided by it

  /// Distance, nearly, and negative inside.
  double At(const Vec3& place) const {
    const Vec3 axis = (to - from).cwiseQuotient(flatness);
    const Vec3 at = (place - from).cwiseQuotient(flatness);
    const double share = std::clamp(at.dot(axis) / axis.squaredNorm(), 0.0, 1.0);
    const double radius = from_radius + share * (to_radius - from_radius);
    return ((at - share * axis).norm() - radius) * flatness.minCoeff();
  }
};

class Body {
 public:
  Body(const BodyNumbers& n, double arms) : numbers_(n) {
    const double h = n.height;
    const int hips = Joint("Hips", -1, Vec3(0, kHip * h, 0));
    const int spine = Joint("Spine", hips, Vec3(0, kWaist * h, 0));
    const int chest = Joint("Spine1", spine, Vec3(0, kChest * h, 0));
    const int neck = Joint("Neck", chest, Vec3(0, kNeck * h, 0));
    const int head = Joint("Head", neck, Vec3(0, kHead * h, 0.005 * h));
    // Trunk: sections of a width and a depth, from the hips up.
    const auto trunk = [&](int joint, double low, double high, double width, double depth, double forward) {
      flesh_.push_back(
          {joint, Vec3(0, low * h, forward), Vec3(0, high * h, forward), depth, depth, Vec3(width / depth, 1, 1)});
    };
    trunk(hips, kHip, kHip + 0.02, n.hips, 0.5 * (n.belly + n.back), 0);
    trunk(spine, kWaist, kWaist + 0.03, n.waist, n.belly, n.belly_forward);
    trunk(chest, kChest, kShoulder - 0.04, n.chest, n.back, 0);
    flesh_.push_back({neck, Vec3(0, kNeck * h - 0.02, 0), Vec3(0, kHead * h, 0.01), n.neck, n.neck});
    const double top = h - 1.2 * n.head;
    flesh_.push_back({head, Vec3(0, top - 0.045, 0.02), Vec3(0, top, 0.015), n.head, n.head, Vec3(0.9, 1.2, 1)});
    for (const double side : {1.0, -1.0}) AddLimbs(side, arms, hips, chest);
  }

  /// Distance from the skin, nearly: the fleshes of all bones, run into one another.
  double At(const Vec3& place) const {
    double sum = flesh_.front().At(place);
    for (size_t f = 1; f < flesh_.size(); ++f) {
      const double other = flesh_[f].At(place);
      const double share = std::max(kBlend - std::abs(sum - other), 0.0) / kBlend;
      sum = std::min(sum, other) - 0.25 * kBlend * share * share;
    }
    return std::max(sum, -place.y());  // flat soles
  }

  std::vector<body_fitting::SkinWeight> WeightsAt(const Vec3& place) const {
    std::vector<double> nearest(joints_.size(), 1e9);
    double least = 1e9;
    for (const Flesh& flesh : flesh_) {
      double& distance = nearest[static_cast<size_t>(flesh.joint)];
      distance = std::min(distance, flesh.At(place));
      least = std::min(least, distance);
    }
    std::vector<body_fitting::SkinWeight> weights;
    for (size_t j = 0; j < nearest.size(); ++j) {
      const double share = std::max(0.0, 1 - (nearest[j] - least) / kWeightBand);
      if (share > 0) weights.push_back({static_cast<int>(j), share * share});
    }
    std::stable_sort(weights.begin(), weights.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
    if (weights.size() > 4) weights.resize(4);
    double sum = 0;
    for (const auto& weight : weights) sum += weight.share;
    for (auto& weight : weights) weight.share /= sum;
    return weights;
  }

  std::vector<body_fitting::SkinJoint> joints() const { return joints_; }

 private:
  int Joint(const std::string& name, int parent, const Vec3& place) {
    joints_.push_back({name, parent, place, true});
    return static_cast<int>(joints_.size()) - 1;
  }

  void AddLimbs(double side, double arms, int hips, int chest) {
    const BodyNumbers& n = numbers_;
    const double h = n.height;
    const std::string prefix = side > 0 ? "Left" : "Right";
    const auto at = [&](double x, double y, double z) { return Vec3(side * x, y, z); };
    const double leg = kHipWidth * h;
    const int thigh = Joint(prefix + "UpLeg", hips, at(leg, kHip * h, 0));
    const int shin = Joint(prefix + "Leg", thigh, at(leg, kKnee * h, 0));
    const int foot = Joint(prefix + "Foot", shin, at(leg, kAnkle * h, 0));
    const int toes = Joint(prefix + "ToeBase", foot, at(leg, 0.02 * h, 0.6 * kFoot * h));
    const auto add = [&](int joint, const Vec3& from, const Vec3& to, double r, double q,
                         const Vec3& flat = Vec3::Ones()) {
      flesh_.push_back({joint, from, to, r, q, flat});
    };
    add(thigh, at(leg, kHip * h - 0.03, 0), at(leg, kKnee * h, 0), n.thigh, n.knee);
    const double calf = 0.65 * kKnee + 0.35 * kAnkle;
    add(shin, at(leg, kKnee * h, 0), at(leg, calf * h, -0.01), n.knee, n.calf);
    add(shin, at(leg, calf * h, -0.01), at(leg, kAnkle * h, 0), n.calf, n.ankle);
    const double sole = 0.022 * h;
    add(foot, at(leg, kAnkle * h, -0.01), at(leg, 1.2 * sole, 0.6 * kFoot * h), n.ankle, 1.2 * sole, Vec3(1.1, 1, 1));
    add(foot, at(leg, sole, -0.015 * h), at(leg, sole, 0.6 * kFoot * h), 1.1 * sole, 1.2 * sole, Vec3(1.2, 1, 1));
    add(toes, at(leg, sole, 0.6 * kFoot * h), at(leg, 0.8 * sole, kFoot * h - sole), 1.2 * sole, sole, Vec3(1.4, 1, 1));
    const Vec3 inner = at(0.02 * h, kShoulder * h, 0), outer = at(kShoulderWidth * h, kShoulder * h, 0);
    const Vec3 along = at(std::cos(arms), -std::sin(arms), 0);
    const int clavicle = Joint(prefix + "Shoulder", chest, inner);
    const int upper = Joint(prefix + "Arm", clavicle, outer);
    const Vec3 elbow = outer + kUpperArm * h * along, wrist = elbow + kLowerArm * h * along;
    const int lower = Joint(prefix + "ForeArm", upper, elbow);
    const int hand = Joint(prefix + "Hand", lower, wrist);
    const int fingers = Joint(prefix + "HandMiddle1", hand, wrist + 0.5 * kHand * h * along);
    add(clavicle, at(0.03 * h, kShoulder * h, 0), at(0.09 * h, kShoulder * h, 0), 0.8 * n.back, 1.1 * n.upper_arm,
        Vec3(1, 0.75, 1));
    add(upper, outer, elbow, 1.1 * n.upper_arm, n.elbow);
    add(lower, elbow, wrist, n.elbow, n.wrist);
    const Vec3 palm(1, 1, 1.6);
    add(hand, wrist, wrist + 0.5 * kHand * h * along, 0.75 * n.wrist, 0.75 * n.wrist, palm);
    add(fingers, wrist + 0.5 * kHand * h * along, wrist + (kHand * h - n.wrist) * along, 0.75 * n.wrist, 0.6 * n.wrist,
        palm);
  }

  BodyNumbers numbers_;
  std::vector<body_fitting::SkinJoint> joints_;
  std::vector<Flesh> flesh_;
};

}  // namespace

const std::vector<BodyNumbers>& Bodies() {
  static const std::vector<BodyNumbers> kBodies = {
      {"slim", 1.70, 0.15, 0.125, 0.14, 0.095, 0.092, 0.0, 0.075, 0.051, 0.054, 0.035, 0.041, 0.036, 0.026, 0.052,
       0.088},
      {"medium", 1.75, 0.172, 0.155, 0.165, 0.12, 0.11, 0.01, 0.088, 0.06, 0.062, 0.04, 0.05, 0.044, 0.03, 0.06, 0.092},
      {"heavy", 1.80, 0.22, 0.225, 0.2, 0.19, 0.15, 0.05, 0.115, 0.075, 0.075, 0.045, 0.068, 0.055, 0.034, 0.07, 0.1},
  };
  return kBodies;
}

body_fitting::SkinnedMesh MakeBodyMesh(const BodyNumbers& numbers, double arms, double spacing) {
  const Body body(numbers, arms);
  body_fitting::SkinnedMesh mesh;
  const Vec3 corner(0.6 * numbers.height, 1.1 * numbers.height, 0.4 * numbers.height);
  mesh.surface = SymmetricSurface([&](const Vec3& place) { return body.At(place); }, corner, -2.5 * spacing, spacing);
  for (const Vec3& vertex : mesh.surface.vertices) mesh.weights.push_back(body.WeightsAt(vertex));
  mesh.joints = body.joints();
  return mesh;
}

}  // namespace retrace::make_meshes
