#include "retrace/retargeting/subject.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "retarget.h"
#include "retrace/character/builder.h"
#include "retrace/character/segments.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/retargeting/skeleton_mapping.h"
#include "stated_masses.h"

namespace retrace::character {
namespace {

constexpr double kLargestLean =
    0.25;                            // of the shoulders before or behind the hips, as a share of their height over them
constexpr size_t kMostFrames = 400;  // that are looked at; lengths of a skeleton hardly change

/// Where the joint of a segment is.
using Places = std::function<Vec3(const std::string& segment)>;

/// Mean of both sides. @param length of one of them
template <typename Length>
double OfBothSides(const Length& length) {
  return 0.5 * (length("left_") + length("right_"));
}

double DistanceOf(const Places& at, const std::string& a, const std::string& b) {
  return (at(a) - at(b)).norm();
}

/// Lengths of a skeleton or of a character.
struct Lengths {
  double thigh = 0, shin = 0, hips = 0, trunk = 0, shoulders = 0, upper_arm = 0, lower_arm = 0, foot = 0;

  double legs() const { return thigh + shin; }
};

constexpr std::pair<const char*, double Lengths::*> kLengths[] = {{"thighs", &Lengths::thigh},
                                                                  {"shins", &Lengths::shin},
                                                                  {"hips", &Lengths::hips},
                                                                  {"trunk", &Lengths::trunk},
                                                                  {"shoulders", &Lengths::shoulders},
                                                                  {"upper arms", &Lengths::upper_arm},
                                                                  {"lower arms", &Lengths::lower_arm},
                                                                  {"feet", &Lengths::foot}};

/// All but the feet's. @param has whether a segment is there
Lengths LengthsOf(const Places& at, const std::function<bool(const std::string& segment)>& has) {
  const auto between = [&](const char* a, const char* b) {
    return OfBothSides([&](const std::string& side) { return DistanceOf(at, side + a, side + b); });
  };
  Lengths lengths;
  lengths.thigh = between("thigh", "shin");
  lengths.shin = between("shin", "foot");
  lengths.hips = DistanceOf(at, "left_thigh", "right_thigh");
  lengths.shoulders = DistanceOf(at, "left_upper_arm", "right_upper_arm");
  lengths.trunk = 0.5 * (at("left_thigh") + at("right_thigh") - at("left_upper_arm") - at("right_upper_arm")).norm();
  lengths.upper_arm = between("upper_arm", "lower_arm");
  if (has("left_hand") && has("right_hand")) lengths.lower_arm = between("lower_arm", "hand");
  return lengths;
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Medians over the frames of a clip [file units].
Lengths LengthsOf(const motion::Clip& clip, const SkeletonMap& map) {
  std::vector<Lengths> all;
  motion::GlobalPose pose;
  const Places at = [&](const std::string& segment) {
    return pose.positions[static_cast<size_t>(map.segments.at(segment).position)];
  };
  const auto has = [&](const std::string& segment) { return map.Has(segment); };
  const size_t stride = 1 + clip.frames.size() / kMostFrames;
  for (size_t f = 0; f < clip.frames.size(); f += stride) {
    motion::ForwardKinematics(clip.skeleton, clip.frames[f], pose);
    Lengths& lengths = all.emplace_back(LengthsOf(at, has));
    if (!has("left_toe") || !has("right_toe")) continue;
    lengths.foot = OfBothSides([&](const std::string& side) { return DistanceOf(at, side + "foot", side + "toe"); });
  }
  Lengths medians;
  for (const auto& [name, length] : kLengths) {
    std::vector<double> values;
    for (const Lengths& lengths : all) values.push_back(lengths.*length);
    medians.*length = MedianOf(values);
  }
  return medians;
}

/// The front of a foot's sole, from its center of mass: of those shapes that are as low as any.
double FrontOfSole(const Body& foot) {
  constexpr double kAsLow = 1e-3;  // [m]
  const auto bottom = [](const Shape& shape) { return shape.offset.y() - shape.HalfExtents().y(); };
  double lowest = std::numeric_limits<double>::infinity(), front = 0;
  for (const Shape& shape : foot.shapes) lowest = std::min(lowest, bottom(shape));
  for (const Shape& shape : foot.shapes) {
    if (bottom(shape) < lowest + kAsLow) front = std::max(front, shape.offset.z() + shape.HalfExtents().z());
  }
  return front;
}

Lengths LengthsOf(const Character& model) {
  const auto joint_of = [&](const std::string& segment) { return JointOfSegment(model, segment); };
  for (const char* side : {"left_", "right_"}) {
    for (const char* segment : {"thigh", "shin", "foot", "upper_arm", "lower_arm", "hand"}) {
      if (joint_of(std::string(side) + segment) != nullptr) continue;
      throw InputError("character \"" + model.name + "\"",
                       "no joint that moves a segment \"" + std::string(side) + segment + "\"",
                       "legs and arms, to give them the lengths of a recorded person");
    }
  }
  Lengths lengths = LengthsOf([&](const std::string& segment) { return joint_of(segment)->anchor; },
                              [](const std::string&) { return true; });
  // From the ankle to the ball, which is at the front of the sole.
  lengths.foot = OfBothSides([&](const std::string& side) {
    const Joint& ankle = *joint_of(side + "foot");
    const Body& foot = model.bodies[static_cast<size_t>(ankle.child)];
    const double ahead = foot.rest_position.z() + FrontOfSole(foot) - ankle.anchor.z();
    return std::hypot(ahead, ankle.anchor.y());
  });
  return lengths;
}

/// How much longer each length is than the model's.
struct Ratios {
  Lengths of;
  double legs = 1;  // of all that is not known
  /// By which the trunk leans forwards from the hips to the shoulders in the rest pose, more than the model's [m/m].
  double lean = 0;
};

Ratios RatiosOf(const Lengths& model, const Lengths& person, std::vector<std::string>& notes) {
  Ratios ratios;
  ratios.legs = person.legs() / model.legs();
  std::string doubted;
  for (const auto& [name, length] : kLengths) {
    const double ratio = person.*length / model.*length;
    const bool shown = person.*length > 0;
    const io::Range& limits = length == &Lengths::foot ? kSubjectFeet : kSubjectProportions;
    const bool believed = shown && limits.Contains(ratio / ratios.legs);
    ratios.of.*length = believed ? ratio : ratios.legs;
    if (shown && !believed) doubted.append(doubted.empty() ? "" : ", ").append(name);
  }
  if (!doubted.empty()) {
    notes.push_back("lengths of the subject that are none of a person's proportions, and follow the legs: " + doubted);
  }
  return ratios;
}

/// Factors on the lengths of a body along its axes.
Vec3 FactorsOf(const Character& model, const Body& body, const Ratios& ratios) {
  Vec3 factors = Vec3::Constant(ratios.legs);
  const std::string& segment = body.segment;
  if (segment == "pelvis" || segment == "trunk") factors.y() = ratios.of.trunk;
  if (segment == "pelvis") factors.x() = ratios.of.hips;
  // Limbs are as thick as the mass has it that grows with the square of the height.
  const double thicker = std::sqrt(ratios.legs);
  if (segment.ends_with("thigh")) factors = {thicker, ratios.of.thigh, thicker};
  if (segment.ends_with("shin")) factors = {thicker, ratios.of.shin, thicker};
  if (segment.ends_with("foot")) factors.z() = ratios.of.foot;
  if (segment.ends_with("upper_arm")) factors = {ratios.of.upper_arm, thicker, thicker};
  if (segment.ends_with("lower_arm")) factors = {ratios.of.lower_arm, thicker, thicker};
  if (segment.ends_with("clavicle")) {
    // From the middle of the trunk, which is as wide as the legs are long, to the shoulder.
    const std::string side = segment.substr(0, segment.find('_') + 1);
    const double inner = std::abs(JointOfSegment(model, segment)->anchor.x());
    const double outer = std::abs(JointOfSegment(model, side + "upper_arm")->anchor.x());
    if (outer > inner) factors.x() = (ratios.of.shoulders * outer - ratios.legs * inner) / (outer - inner);
  }
  return factors;
}

Shape Scaled(Shape shape, const Vec3& factors) {
  shape.offset = shape.offset.cwiseProduct(factors);
  shape.size = shape.size.cwiseProduct(factors);
  for (Vec3& vertex : shape.mesh.vertices) vertex = vertex.cwiseProduct(factors);
  if (shape.kind == Shape::Kind::kCapsule) {
    const double across = std::sqrt(factors[(shape.axis + 1) % 3] * factors[(shape.axis + 2) % 3]);
    const double whole = (shape.length + 2 * shape.radius) * factors[shape.axis];
    shape.radius *= across;
    shape.length = std::max(0.1 * whole, whole - 2 * shape.radius);
  }
  return shape;
}

/// The moments of a body of the same mass whose lengths are multiplied.
Mat3 ScaledInertia(const Body& body, const Vec3& factors) {
  const Mat3 tensor = body.InertiaTensor();
  const Mat3 second = 0.5 * tensor.trace() * Mat3::Identity() - tensor;  // second moments of the mass
  const Mat3 scaled = factors.asDiagonal() * second * factors.asDiagonal();
  return scaled.trace() * Mat3::Identity() - scaled;
}

/// Places of the rest pose in the longer body: what is fixed to a body moves with the joint that moves the body.
class SubjectRest {
 public:
  SubjectRest(const Character& model, const Ratios& ratios) : model_(model), lean_(ratios.lean) {
    for (const Body& body : model.bodies) {
      factors_.push_back(FactorsOf(model, body, ratios));
      leans_.push_back(body.segment == "pelvis" || body.segment == "trunk");
    }
    const Vec3 hips =
        0.5 * (JointOfSegment(model, "left_thigh")->anchor + JointOfSegment(model, "right_thigh")->anchor);
    base_.assign(model.bodies.size(), hips);
    place_.assign(model.bodies.size(), Vec3::Zero());
    for (const Joint& joint : model.joints) {
      const Vec3 place = At(joint.parent, joint.anchor);
      base_[static_cast<size_t>(joint.child)] = joint.anchor;
      place_[static_cast<size_t>(joint.child)] = place;
    }
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (size_t b = 0; b < model.bodies.size(); ++b) {
      const Body& body = model.bodies[b];
      const double center = At(static_cast<int>(b), body.rest_position).y();
      for (const Shape& shape : body.shapes) {
        const Shape scaled = Scaled(shape, factors_[b]);
        lowest = std::min(lowest, center + scaled.offset.y() - scaled.HalfExtents().y());
        highest = std::max(highest, center + scaled.offset.y() + scaled.HalfExtents().y());
      }
    }
    height_ = highest - lowest;
    for (Vec3& place : place_) place.y() -= lowest;
  }

  const Vec3& factors(size_t body) const { return factors_[body]; }
  double height() const { return height_; }
  /// Where a point of the model's rest pose is that is fixed to a body.
  Vec3 At(int body, const Vec3& point) const {
    const auto b = static_cast<size_t>(body);
    Vec3 from_base = factors_[b].cwiseProduct(point - base_[b]);
    if (leans_[b]) from_base.z() += lean_ * from_base.y();
    return place_[b] + from_base;
  }

 private:
  const Character& model_;
  double lean_;
  std::vector<Vec3> factors_;
  std::vector<bool> leans_;         // pelvis and trunk
  std::vector<Vec3> base_, place_;  // of the joint that moves each body, in the model and here; of the root the hips
  double height_ = 0;
};

}  // namespace

Character MakeSubject(const Character& model, const motion::Clip& recording, const std::string& name,
                      const ReferenceOptions& options, std::vector<std::string>& notes) {
  const motion::Clip mirrored = options.mirror ? motion::Mirrored(recording) : motion::Clip();
  const motion::Clip& clip = options.mirror ? mirrored : recording;
  const io::JsonView user(options.joint_map, options.joint_map_file);
  const SkeletonMap map = MapClip(clip, name, options.joint_map->is_null() ? nullptr : &user);
  const Lengths of_model = LengthsOf(model);
  Lengths person = LengthsOf(clip, map);
  if (!(person.thigh > 0 && person.shin > 0)) throw InputError(name, "legs of no length", "a skeleton with legs");
  const FileUnit unit = UnitOf(clip, person.legs(), options);
  // A rest pose shows the trunk as it is where nothing bends it.
  const std::optional<Vec3> over = ShouldersOverHips(clip, map, options.up_axis);
  const bool shown = over && over->y() > 0;
  if (shown) person.trunk = over->y();
  for (const auto& [what, length] : kLengths) person.*length *= unit.meters;
  Ratios ratios = RatiosOf(of_model, person, notes);
  if (shown) ratios.lean = std::clamp(over->z() / over->y(), -kLargestLean, kLargestLean);
  double height = SubjectRest(model, ratios).height();
  if (!kSubjectHeights.Contains(height)) {
    notes.push_back("the skeleton is that of a person of " + io::Fixed(height, 2) +
                    " m, which is not believed: its lengths are scaled to a height of " + io::Fixed(model.height, 2) +
                    " m");
    for (const auto& [what, length] : kLengths) ratios.of.*length *= model.height / height;
    ratios.legs *= model.height / height;
    height = SubjectRest(model, ratios).height();
  }
  const SubjectRest rest(model, ratios);
  const double taller = height / model.height;

  const double mass = taller * taller;  // of the model's
  CharacterBuilder builder(model);
  builder.SetName(kSubjectName);
  builder.SetSource("The character " + model.name +
                    " with the lengths of a recorded skeleton; shares of the mass are its own.");
  builder.SetHeight(height);
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    builder.SetPosition(body.name, rest.At(static_cast<int>(b), body.rest_position));
    builder.SetMass(body.name, mass * body.mass);
    builder.SetInertia(body.name, mass * ScaledInertia(body, rest.factors(b)));
    std::vector<Shape> shapes;
    for (const Shape& shape : body.shapes) shapes.push_back(Scaled(shape, rest.factors(b)));
    builder.SetShapes(body.name, shapes);
  }
  for (const Joint& joint : model.joints) {
    builder.SetAnchor(joint.name, rest.At(joint.parent, joint.anchor));
    const double stronger = mass * taller * taller;
    builder.SetServo(joint.name, stronger * joint.kp, stronger * joint.kd);
    if (joint.limited()) builder.SetEffort(joint.name, stronger * joint.effort);
  }
  notes.push_back("the character is " + model.name + " with the lengths of the skeleton: " + io::Fixed(height, 2) +
                  " m tall, legs of " + io::Fixed(ratios.legs * of_model.legs(), 2) +
                  " m; unless it is given, its mass is " + io::Fixed(mass * model.total_mass(), 1) +
                  " kg, the square of the height at the body mass index of " + model.name);
  Character subject = builder.Build(name);
  std::optional<Character> weighed = WithStatedMasses(subject, clip, map, name, options);
  if (!weighed) return subject;
  notes.back() = "the character is " + model.name + " with the lengths of the skeleton: " + io::Fixed(height, 2) +
                 " m tall, legs of " + io::Fixed(ratios.legs * of_model.legs(), 2) +
                 " m; its mass, its moments of inertia and the center of its trunk are those that the file states, " +
                 io::Fixed(weighed->total_mass(), 1) + " kg in all";
  return std::move(*weighed);
}

}  // namespace retrace::character
