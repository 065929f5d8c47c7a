#include "flesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace retrace::skin {
namespace {

/// Lengths of a body 1.75 m tall become those of the character.
constexpr double kUsualHeight = 1.75;

/// The box that holds the shapes of a body in the rest pose.
struct Extent {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity());
  Vec3 high = -low;

  Vec3 middle() const { return 0.5 * (low + high); }
  Vec3 half() const { return 0.5 * (high - low); }
};

Extent ExtentOf(const character::Body& body) {
  Extent extent;
  for (const character::Shape& shape : body.shapes) {
    const Vec3 middle = body.rest_position + shape.offset, half = shape.HalfExtents();
    extent.low = extent.low.cwiseMin(middle - half);
    extent.high = extent.high.cwiseMax(middle + half);
  }
  return extent;
}

/// Thickness of a limb: the radius of its capsule, or half of the least side of its box.
double ThicknessOf(const character::Body& body) {
  const character::Shape& shape = body.shapes.front();
  return shape.kind == character::Shape::Kind::kCapsule ? shape.radius : shape.HalfExtents().minCoeff();
}

class Sculptor {
 public:
  explicit Sculptor(const character::Character& character)
      : character_(character), unit_(character.height / kUsualHeight) {}

  std::optional<FleshedBody> Make() {
    if (!IsHuman()) return std::nullopt;
    AddTrunk();
    AddHead();
    for (const char* side : {"left_", "right_"}) {
      AddShoulder(side);
      AddArm(side);
      AddLeg(side);
    }
    return std::move(result_);
  }

 private:
  int Find(const std::string& name) const { return character_.FindBody(name); }
  const character::Body& BodyOf(int body) const { return character_.bodies[static_cast<size_t>(body)]; }
  Vec3 AnchorOf(int body) const { return character_.joints[static_cast<size_t>(character_.JointOf(body))].anchor; }

  /// All bodies of the human, standing upright with arms held out, the limbs between the joints as usual. Bodies that
  /// only robots have, of meshes, are not covered.
  bool IsHuman() const {
    for (const char* name : {"head", "trunk", "pelvis"}) {
      if (Find(name) < 0) return false;
    }
    for (const std::string side : {"left_", "right_"}) {
      for (const char* name : {"clavicle", "upper_arm", "lower_arm", "hand", "thigh", "shin", "foot"}) {
        const int body = Find(side + name);
        if (body < 0 || character_.JointOf(body) < 0) return false;
      }
      const Vec3 arm = AnchorOf(Find(side + "hand")) - AnchorOf(Find(side + "upper_arm"));
      const Vec3 leg = AnchorOf(Find(side + "thigh")) - AnchorOf(Find(side + "foot"));
      if (std::abs(arm.normalized().x()) < 0.9 || leg.normalized().y() < 0.9) return false;
    }
    if (character_.height <= 0 || character_.JointOf(Find("head")) < 0) return false;
    for (const character::Body& body : character_.bodies) {
      if (body.shapes.empty()) return false;
      for (const character::Shape& shape : body.shapes) {
        if (shape.kind == character::Shape::Kind::kMesh) return false;
      }
    }
    return true;
  }

  static Flesh Cone(int body, const Vec3& from, const Vec3& to, double from_radius, double to_radius, double blend,
                    const Vec3& flatness = Vec3::Ones()) {
    return {body, from, to, from_radius, to_radius, flatness, blend};
  }
  /// An ellipsoid of three half axes.
  static Flesh Lump(int body, const Vec3& middle, const Vec3& half, double blend) {
    const double least = half.minCoeff();
    return {body, middle, middle, least, least, half / least, blend};
  }
  void ToTrunk(const Flesh& flesh) { result_.trunk.push_back(flesh); }

  void AddTrunk() {
    const int trunk = Find("trunk"), pelvis = Find("pelvis");
    const Extent chest = ExtentOf(BodyOf(trunk)), hips = ExtentOf(BodyOf(pelvis));
    const double u = unit_;
    const double shoulder = AnchorOf(Find("left_upper_arm")).y(), hip = AnchorOf(Find("left_thigh")).y();
    const double waist = hip + 0.3 * (shoulder - hip);
    const double depth = chest.half().z(), width = chest.half().x(), z = chest.middle().z();
    const double rise = shoulder - waist;
    // Rib cage, belly, hips, seat.
    ToTrunk(Lump(trunk, Vec3(0, waist + 0.56 * rise, z - 0.004 * u), Vec3(0.99 * width, 0.56 * rise, 1.16 * depth),
                 0.05 * u));
    ToTrunk(
        Lump(trunk, Vec3(0, waist + 0.02 * u, z + 0.006 * u), Vec3(0.82 * width, 0.16 * u, 1.03 * depth), 0.06 * u));
    const double hip_depth = hips.half().z(), hip_width = hips.half().x();
    ToTrunk(Lump(pelvis, Vec3(0, hip + 0.05 * u, hips.middle().z() + 0.004 * u),
                 Vec3(1.06 * hip_width, 0.125 * u, 1.18 * hip_depth), 0.05 * u));
    for (const double side : {1.0, -1.0}) {
      ToTrunk(Lump(pelvis, Vec3(side * 0.42 * hip_width, hip - 0.015 * u, hips.middle().z() - 0.42 * hip_depth),
                   Vec3(0.55 * hip_width, 0.095 * u, 0.85 * hip_depth), 0.04 * u));
      ToTrunk(Lump(trunk, Vec3(side * 0.45 * width, shoulder - 0.085 * u, z + 0.72 * depth),
                   Vec3(0.52 * width, 0.062 * u, 0.42 * depth), 0.03 * u));
    }
    const Vec3 neck = AnchorOf(Find("head"));
    for (const double side : {1.0, -1.0}) {  // trapezius
      ToTrunk(Cone(trunk, Vec3(side * 0.025 * u, neck.y() + 0.015 * u, neck.z() - 0.018 * u),
                   Vec3(side * 0.13 * u, shoulder + 0.022 * u, z - 0.015 * u), 0.04 * u, 0.034 * u, 0.04 * u));
    }
  }

  void AddHead() {
    const int head = Find("head"), trunk = Find("trunk");
    const Extent skull = ExtentOf(BodyOf(head));
    const Vec3 neck = AnchorOf(head);
    // From the joint of the neck to the crown there are 0.27 m in a body of usual proportions.
    const double u = std::clamp((skull.high.y() - neck.y()) / 0.257, 0.6 * unit_, 1.4 * unit_);
    const double top = skull.high.y(), z = skull.middle().z();
    const auto at = [&](double x, double below, double forward) {
      return Vec3(x * u, top - below * u, z + forward * u);
    };
    ToTrunk(Cone(trunk, neck + Vec3(0, -0.04 * u, -0.012 * u), neck + Vec3(0, 0.03 * u, -0.004 * u), 0.06 * u,
                 0.055 * u, 0.05 * u));
    ToTrunk(Cone(head, neck + Vec3(0, 0.03 * u, -0.004 * u), at(0, 0.15, -0.006), 0.055 * u, 0.052 * u, 0.03 * u));
    ToTrunk(Lump(head, at(0, 0.098, -0.006), Vec3(0.076, 0.098, 0.096) * u, 0.02 * u));
    ToTrunk(Lump(head, at(0, 0.168, 0.026), Vec3(0.055, 0.066, 0.064) * u, 0.03 * u));
    ToTrunk(Cone(head, at(0, 0.122, 0.084), at(0, 0.148, 0.098), 0.008 * u, 0.013 * u, 0.02 * u));
    for (const double side : {1.0, -1.0}) {
      ToTrunk(Lump(head, at(side * 0.077, 0.128, -0.008), Vec3(0.011, 0.032, 0.019) * u, 0.01 * u));
    }
  }

  void AddShoulder(const std::string& side) {
    const int clavicle = Find(side + "clavicle");
    const Vec3 inner = AnchorOf(clavicle), outer = AnchorOf(Find(side + "upper_arm"));
    const double u = unit_;
    const double thickness = std::max(0.05 * u, ThicknessOf(BodyOf(clavicle)));
    ToTrunk(Cone(clavicle, inner + Vec3(0.2 * (outer - inner)) - Vec3(0, 0.02 * u, 0), outer - Vec3(0, 0.012 * u, 0),
                 0.95 * thickness, 0.98 * thickness, 0.05 * u, Vec3(1, 0.9, 1.05)));
  }

  void AddArm(const std::string& side) {
    const int upper = Find(side + "upper_arm"), lower = Find(side + "lower_arm"), hand = Find(side + "hand");
    const Vec3 shoulder = AnchorOf(upper), elbow = AnchorOf(lower), wrist = AnchorOf(hand);
    const double a = ThicknessOf(BodyOf(upper)), b = ThicknessOf(BodyOf(lower)), u = unit_;
    std::vector<Flesh> limb;
    const auto between = [](const Vec3& from, const Vec3& to, double share) {
      return Vec3(from + share * (to - from));
    };
    const Vec3 belly = between(shoulder, elbow, 0.5);
    limb.push_back(
        Cone(upper, between(shoulder, elbow, 0.03), between(shoulder, elbow, 0.25), 1.3 * a, 1.2 * a, 0.05 * u));
    limb.push_back(Cone(upper, between(shoulder, elbow, 0.25), belly, 1.18 * a, 1.14 * a, 0.03 * u));
    limb.push_back(Cone(upper, belly, elbow, 1.14 * a, 0.86 * a, 0.03 * u));
    limb.push_back(Cone(lower, elbow, between(elbow, wrist, 0.28), 0.88 * b, 1.08 * b, 0.03 * u));
    limb.push_back(Cone(lower, between(elbow, wrist, 0.28), between(elbow, wrist, 0.98), 1.08 * b, 0.62 * b, 0.03 * u));
    // A mitten: a palm and fingers, and a thumb that points forward.
    const Extent box = ExtentOf(BodyOf(hand));
    const double out = shoulder.x() > 0 ? 1 : -1;
    const double tip = out > 0 ? box.high.x() : box.low.x(), length = std::abs(tip - wrist.x());
    const double wide = std::clamp(box.half().z(), 0.035 * u, 0.06 * u), thin = 0.0165 * u;
    const auto along = [&](double share, double below, double forward) {
      return Vec3(wrist.x() + out * share * length, wrist.y() - below, wrist.z() + forward);
    };
    const Vec3 palm(1, 1, wide / thin);
    limb.push_back(Cone(hand, along(0.16, 0, 0), along(0.46, 0.002 * u, 0), thin, thin, 0.025 * u, palm));
    limb.push_back(Cone(hand, along(0.46, 0.002 * u, 0), along(0.9, 0.01 * u, 0), 0.0145 * u, 0.0125 * u, 0.015 * u,
                        Vec3(1, 1, 0.92 * wide / (0.0145 * u))));
    limb.push_back(Cone(hand, along(0.14, 0.006 * u, 0.55 * wide), along(0.5, 0.012 * u, 1.45 * wide), 0.016 * u,
                        0.012 * u, 0.015 * u));
    result_.limbs.push_back(std::move(limb));
    result_.soles.push_back(-std::numeric_limits<double>::infinity());
  }

  void AddLeg(const std::string& side) {
    const int thigh = Find(side + "thigh"), shin = Find(side + "shin"), foot = Find(side + "foot");
    const Vec3 hip = AnchorOf(thigh), knee = AnchorOf(shin), ankle = AnchorOf(foot);
    const double a = ThicknessOf(BodyOf(thigh)), b = ThicknessOf(BodyOf(shin)), u = unit_;
    const double out = hip.x() > 0 ? 1 : -1;
    std::vector<Flesh> limb;
    const auto on = [](const Vec3& from, const Vec3& to, double share, const Vec3& aside) {
      return Vec3(from + share * (to - from) + aside);
    };
    limb.push_back(Cone(thigh, on(hip, knee, 0.03, Vec3(0.004 * out * u, 0, 0)),
                        on(hip, knee, 0.42, Vec3(0, 0, 0.008 * u)), 1.34 * a, 1.22 * a, 0.05 * u));
    limb.push_back(Cone(thigh, on(hip, knee, 0.42, Vec3(0, 0, 0.008 * u)), knee, 1.22 * a, 0.86 * a, 0.03 * u));
    limb.push_back(Cone(shin, knee, on(knee, ankle, 0.3, Vec3(0, 0, -0.012 * u)), 0.95 * b, 1.1 * b, 0.03 * u));
    limb.push_back(Cone(shin, on(knee, ankle, 0.3, Vec3(0, 0, -0.012 * u)), on(knee, ankle, 0.96, Vec3::Zero()),
                        1.1 * b, 0.63 * b, 0.03 * u));
    // Heel, instep and toes within the length of the foot's shapes, on a flat sole.
    const Extent box = ExtentOf(BodyOf(foot));
    const double sole = box.low.y(), back = box.low.z(), front = box.high.z(), length = front - back;
    const double x = box.middle().x();
    const double wide = std::clamp(box.half().x(), 0.036 * u, 0.06 * u);
    const auto at = [&](double share, double height) { return Vec3(x, sole + height, back + share * length); };
    const double heel = 0.14 * length, ball = 0.1 * length, toe = 0.068 * length;
    limb.push_back(
        Cone(foot, Vec3(x, ankle.y(), ankle.z() - 0.004 * u), at(0.16, 0.9 * heel), 0.66 * b, heel, 0.03 * u));
    limb.push_back(Cone(foot, Vec3(x, ankle.y() - 0.01 * u, ankle.z() + 0.02 * u), at(0.66, 0.85 * ball), 0.6 * b, ball,
                        0.03 * u));
    limb.push_back(Cone(foot, at(0.18, 0.5 * heel), at(0.66, 0.7 * ball), 0.75 * heel, ball, 0.02 * u,
                        Vec3(std::max(1.0, 0.85 * wide / (0.75 * heel)), 1, 1)));
    limb.push_back(Cone(foot, at(0.66, 0.7 * ball), at(1 - toe / length, 0.85 * toe), 0.95 * ball, toe, 0.02 * u,
                        Vec3(std::max(1.0, wide / ball), 1, 1)));
    result_.limbs.push_back(std::move(limb));
    result_.soles.push_back(sole);
  }

  const character::Character& character_;
  double unit_;
  FleshedBody result_;
};

}  // namespace

double Flesh::At(const Vec3& place) const {
  const Vec3 axis = (to - from).cwiseQuotient(flatness);
  const Vec3 at = (place - from).cwiseQuotient(flatness);
  const double squared = axis.squaredNorm();
  const double share = squared > 0 ? std::clamp(at.dot(axis) / squared, 0.0, 1.0) : 0;
  const double radius = from_radius + share * (to_radius - from_radius);
  return ((at - share * axis).norm() - radius) * std::min(1.0, flatness.minCoeff());
}

std::optional<FleshedBody> FleshOf(const character::Character& character) {
  return Sculptor(character).Make();
}

}  // namespace retrace::skin
