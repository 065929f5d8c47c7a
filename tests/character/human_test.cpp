/// The human of data/characters/human.json is the one of the paper.
#include <gtest/gtest.h>

#include <set>

#include "character/sample_human.h"

namespace retrace::character {
namespace {

// Liu et al. 2010, Table 1, transcribed: mass [kg], inertia [kg m^2].
struct SegmentRow {
  const char* name;
  bool paired;
  double mass;
  Vec3 inertia;
};
const SegmentRow kTable1[] = {
    {"head", false, 5.494, {3.441e-2, 2.210e-2, 3.441e-2}},
    {"clavicle", true, 2.399, {5.062e-3, 8.265e-3, 8.265e-3}},
    {"upper_arm", true, 1.814, {2.173e-3, 9.104e-3, 9.104e-3}},
    {"lower_arm", true, 1.526, {1.640e-3, 6.753e-3, 6.753e-3}},
    {"hand", true, 0.4588, {3.766e-4, 1.597e-3, 1.274e-3}},
    {"trunk", false, 14.31, {1.300e-1, 1.601e-1, 2.122e-1}},
    {"pelvis", false, 4.836, {1.620e-2, 4.732e-2, 4.022e-2}},
    {"thigh", true, 6.524, {8.714e-2, 1.709e-2, 8.714e-2}},
    {"shin", true, 4.612, {5.565e-2, 8.931e-3, 5.565e-2}},
    {"foot", true, 1.612, {9.479e-3, 9.706e-3, 1.714e-3}},
};

// Table 2: kp, kd, strength scale, sampling window, contact scale (1 where the table has none). The hip's window
// 0.4, 0.4, 0.1 stands in the order x, z, y, as in Table 3.
struct JointRow {
  const char* name;
  bool paired;
  bool hinge;
  double kp;
  double kd;
  Vec3 strength_scale;
  Vec3 window;
  double contact_scale_min;
  double contact_scale_max;
};
const JointRow kTable2[] = {
    {"neck", false, false, 100, 10, {1.0, 0.4, 1.0}, {0.2, 0.2, 0.2}, 1, 1},
    {"sternoclavicular", true, false, 300, 30, {0.1, 1.0, 1.0}, {0.1, 0.1, 0.1}, 1, 1},
    {"shoulder", true, false, 100, 5, {0.2, 1.0, 1.0}, {0.2, 0.2, 0.2}, 1, 3},
    {"elbow", true, false, 100, 5, {0.2, 1.0, 1.0}, {0, 0, 0}, 1, 3},
    {"wrist", true, false, 20, 1, {0.1, 1.0, 1.0}, {0, 0, 0}, 1, 5},
    {"waist", false, false, 1000, 100, {0.4, 1.0, 1.0}, {0.2, 0.2, 0.2}, 1, 1},
    {"hip", true, false, 300, 30, {1.0, 0.2, 1.0}, {0.4, 0.1, 0.4}, 1, 1},
    {"knee", true, true, 300, 30, {1, 1, 1}, {0.2, 0, 0}, 1, 1},
    {"ankle", true, false, 100, 10, {1.0, 1.0, 0.5}, {0.4, 0.2, 0.1}, 1, 5},
};

std::vector<std::string> Names(const char* name, bool paired) {
  if (!paired) return {name};
  return {std::string("left_") + name, std::string("right_") + name};
}

TEST(HumanCharacter, EqualsTable1) {
  size_t count = 0;
  for (const SegmentRow& row : kTable1) {
    for (const std::string& name : Names(row.name, row.paired)) {
      SCOPED_TRACE(name);
      ASSERT_GE(Human().FindBody(name), 0);
      const Body& body = BodyOf(Human(), name);
      EXPECT_EQ(body.mass, row.mass);
      EXPECT_EQ(body.inertia, row.inertia);
      ++count;
    }
  }
  EXPECT_EQ(count, 17u);
  EXPECT_EQ(Human().bodies.size(), 17u);
}

TEST(HumanCharacter, EqualsTable2) {
  size_t count = 0;
  for (const JointRow& row : kTable2) {
    for (const std::string& name : Names(row.name, row.paired)) {
      SCOPED_TRACE(name);
      ASSERT_GE(Human().FindJoint(name), 0);
      const Joint& joint = JointOf(Human(), name);
      EXPECT_EQ(joint.type, row.hinge ? JointType::kHinge : JointType::kBall);
      EXPECT_EQ(joint.kp, row.kp);
      EXPECT_EQ(joint.kd, row.kd);
      EXPECT_EQ(joint.strength_scale, row.strength_scale);
      EXPECT_EQ(joint.window, row.window);
      EXPECT_EQ(joint.contact_scale_min, row.contact_scale_min);
      EXPECT_EQ(joint.contact_scale_max, row.contact_scale_max);
      ++count;
    }
  }
  EXPECT_EQ(count, 16u);
  EXPECT_EQ(Human().joints.size(), 16u);
}

TEST(HumanCharacter, HasTheNumbersOfThePaper) {
  EXPECT_NEAR(Human().total_mass(), 62.5316, 1e-9);  // 24.640 + 2 x 18.9458; "62.5 kg"
  EXPECT_EQ(Human().dof(), 50);
  EXPECT_EQ(Human().height, 1.7);
  int balls = 0;
  int sampled = 0;
  for (const Joint& joint : Human().joints) {
    balls += joint.type == JointType::kBall;
    for (int a = 0; a < 3; ++a) sampled += joint.window[a] > 0;
  }
  EXPECT_EQ(balls, 14);
  EXPECT_EQ(sampled, 32);  // elbows and wrists are not sampled
}

TEST(HumanCharacter, EndEffectorsAreHandsAndFeet) {
  std::set<std::string> names;
  for (const int body : Human().end_effectors) names.insert(Human().bodies[static_cast<size_t>(body)].name);
  EXPECT_EQ(names, (std::set<std::string>{"left_hand", "right_hand", "left_foot", "right_foot"}));
}

TEST(HumanCharacter, StandsOnTheGroundAtItsHeight) {
  const State rest = StateOf(Human(), RestPose(Human()));
  double highest = 0;
  double lowest = 1;
  for (size_t b = 0; b < rest.size(); ++b) {
    const Body& body = Human().bodies[b];
    lowest = std::min(lowest, LowestPoint(body, rest[b]));
    // The highest point is the lowest one of the mirror image.
    BodyState upside_down = rest[b];
    upside_down.orientation = AxisRotation(0, kPi);
    upside_down.position.y() = -rest[b].position.y();
    highest = std::max(highest, -LowestPoint(body, upside_down));
  }
  EXPECT_NEAR(lowest, 0, 1e-12);
  EXPECT_NEAR(highest, 1.70, 0.005);
  for (const char* foot : {"left_foot", "right_foot"}) {
    const auto b = static_cast<size_t>(Human().FindBody(foot));
    EXPECT_NEAR(LowestPoint(Human().bodies[b], rest[b]), 0, 1e-12);
  }
}

/// Distance of a point in the rest pose from a body's shapes, 0 inside.
double DistanceFrom(const Body& body, const Vec3& point) {
  double nearest = 1e9;
  for (const Shape& shape : body.shapes) {
    const Vec3 p = point - body.rest_position - shape.offset;
    double distance = 0;
    if (shape.kind == Shape::Kind::kBox) {
      distance = (p.cwiseAbs() - 0.5 * shape.size).cwiseMax(0).norm();
    } else {
      Vec3 off = p;
      off[shape.axis] -= std::clamp(p[shape.axis], -0.5 * shape.length, 0.5 * shape.length);
      distance = std::max(0.0, off.norm() - shape.radius);
    }
    nearest = std::min(nearest, distance);
  }
  return nearest;
}

TEST(HumanCharacter, JointsLieInOrNearTheirBodies) {
  for (const Joint& joint : Human().joints) {
    for (const int body : {joint.parent, joint.child}) {
      // The neck is as long as the gap between trunk and head: it has no body of its own.
      const double bound = joint.name == "neck" ? 0.14 : 0.07;
      EXPECT_LT(DistanceFrom(Human().bodies[static_cast<size_t>(body)], joint.anchor), bound)
          << joint.name << " and " << Human().bodies[static_cast<size_t>(body)].name;
    }
  }
}

/// Side lengths of the box about a body's shapes, which lies evenly about its center of mass.
Vec3 SizeOf(const Body& body) {
  Vec3 half = Vec3::Zero();
  for (const Shape& shape : body.shapes) {
    half = half.cwiseMax(shape.HalfExtents() + shape.offset.cwiseAbs());
  }
  return 2 * half;
}

TEST(HumanCharacter, InertiasAreThoseOfUniformBoxes) {
  // The pelvis is as deep and wide, but rounder, and so taller.
  for (const char* name : {"trunk", "left_clavicle", "left_hand", "left_foot"}) {
    const Body& body = BodyOf(Human(), name);
    const Vec3 size = SizeOf(body);
    const Vec3 s = size.cwiseProduct(size);
    const Vec3 expected = body.mass / 12 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
    for (int a = 0; a < 3; ++a) EXPECT_NEAR(body.inertia[a] / expected[a], 1, 0.01) << body.name << " axis " << a;
  }
}

TEST(HumanCharacter, IsItsOwnMirrorImage) {
  const auto mirrored = [](std::string name) {
    if (name.starts_with("left_")) return "right_" + name.substr(5);
    if (name.starts_with("right_")) return "left_" + name.substr(6);
    return name;
  };
  const Vec3 flip(-1, 1, 1);
  for (const Body& body : Human().bodies) {
    SCOPED_TRACE(body.name);
    const Body& other = BodyOf(Human(), mirrored(body.name));
    EXPECT_EQ(Vec3(body.rest_position.cwiseProduct(flip)), other.rest_position);
    EXPECT_EQ(body.mass, other.mass);
    EXPECT_EQ(body.inertia, other.inertia);
    ASSERT_EQ(body.shapes.size(), other.shapes.size());
    for (size_t s = 0; s < body.shapes.size(); ++s) {
      EXPECT_EQ(body.shapes[s].kind, other.shapes[s].kind);
      EXPECT_EQ(body.shapes[s].size, other.shapes[s].size);
      EXPECT_EQ(body.shapes[s].radius, other.shapes[s].radius);
      EXPECT_EQ(body.shapes[s].length, other.shapes[s].length);
      EXPECT_EQ(body.shapes[s].axis, other.shapes[s].axis);
      EXPECT_EQ(Vec3(body.shapes[s].offset.cwiseProduct(flip)), other.shapes[s].offset);
    }
  }
  for (const Joint& joint : Human().joints) {
    SCOPED_TRACE(joint.name);
    const Joint& other = JointOf(Human(), mirrored(joint.name));
    EXPECT_EQ(Vec3(joint.anchor.cwiseProduct(flip)), other.anchor);
    EXPECT_EQ(mirrored(Human().bodies[static_cast<size_t>(joint.child)].name),
              Human().bodies[static_cast<size_t>(other.child)].name);
    EXPECT_EQ(mirrored(Human().bodies[static_cast<size_t>(joint.parent)].name),
              Human().bodies[static_cast<size_t>(other.parent)].name);
  }
  const auto pair_names = [&](bool mirror) {
    std::set<std::set<std::string>> pairs;
    for (const auto& [a, b] : Human().self_pairs) {
      const std::string first = Human().bodies[static_cast<size_t>(a)].name;
      const std::string second = Human().bodies[static_cast<size_t>(b)].name;
      pairs.insert(mirror ? std::set<std::string>{mirrored(first), mirrored(second)}
                          : std::set<std::string>{first, second});
    }
    return pairs;
  };
  EXPECT_EQ(pair_names(false), pair_names(true));
}

TEST(HumanCharacter, JointsComeAfterTheirParents) {
  std::set<int> placed = {Human().root};
  EXPECT_EQ(Human().bodies[static_cast<size_t>(Human().root)].name, "pelvis");
  EXPECT_EQ(Human().JointOf(Human().root), -1);
  for (size_t j = 0; j < Human().joints.size(); ++j) {
    const Joint& joint = Human().joints[j];
    EXPECT_TRUE(placed.contains(joint.parent)) << joint.name;
    EXPECT_TRUE(placed.insert(joint.child).second) << joint.name;
    EXPECT_EQ(Human().JointOf(joint.child), static_cast<int>(j));
  }
}

TEST(HumanCharacter, ConnectedBodiesNeverCollide) {
  for (const auto& [a, b] : Human().self_pairs) {
    EXPECT_LT(a, b);
    for (const Joint& joint : Human().joints) {
      EXPECT_FALSE((joint.parent == a && joint.child == b) || (joint.parent == b && joint.child == a)) << joint.name;
    }
  }
}

TEST(HumanCharacter, ContactPresetsStayWithinTable2) {
  EXPECT_EQ(Human().contact_presets.at("none"), ContactPreset(16, 1.0));
  for (const auto& [name, scales] : Human().contact_presets) {
    ASSERT_EQ(scales.size(), Human().joints.size()) << name;
    for (size_t j = 0; j < scales.size(); ++j) {
      EXPECT_GE(scales[j], 1) << name;
      EXPECT_LE(scales[j], Human().joints[j].contact_scale_max) << name << " " << Human().joints[j].name;
    }
  }
  EXPECT_EQ(Human().contact_presets.at("flight")[static_cast<size_t>(Human().FindJoint("left_ankle"))], 5);
}

TEST(HumanCharacter, UnknownNamesAreMinusOne) {
  EXPECT_EQ(Human().FindBody("tail"), -1);
  EXPECT_EQ(Human().FindJoint("left_hock"), -1);
}

}  // namespace
}  // namespace retrace::character
