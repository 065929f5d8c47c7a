// The bundled robot: what its generator promises, checked on the files themselves.
#include <gtest/gtest.h>

#include <filesystem>

#include "retrace/character/character.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/file.h"
#include "retrace/math/random.h"
#include "robot.h"

namespace retrace::make_robot {
namespace {

using character::Body;
using character::Character;
using character::Joint;
using character::JointType;
using character::Shape;

std::filesystem::path File(const std::string& name) {
  return std::filesystem::path(RETRACE_SOURCE_DIR) / "data" / "characters" / (name + ".json");
}

const Character& Asimo() {
  static const Character robot = character::LoadCharacter(File("asimo"));
  return robot;
}

character::State AtRest(const Character& robot) {
  character::Pose pose;
  pose.root_position = robot.bodies[static_cast<size_t>(robot.root)].rest_position;
  pose.joint_rotations.assign(robot.joints.size(), Quat::Identity());
  character::State state;
  character::ForwardKinematics(robot, pose, state);
  return state;
}

TEST(Robot, TheFilesAreWhatTheProgramMakes) {
  EXPECT_EQ(FormatCharacter(MakeRobot(), 1), io::ReadFile(File("asimo")));
  EXPECT_EQ(FormatCharacter(MakeRobot(), 3), io::ReadFile(File("asimo_neck3")));
}

TEST(Robot, IsThatOfThePaper) {
  const Character& robot = Asimo();
  EXPECT_EQ(robot.dof(), 35);
  EXPECT_EQ(robot.height, 1.2);
  EXPECT_NEAR(robot.total_mass(), 49.5, 1e-6);
  EXPECT_EQ(robot.root_scale, character::RootScale::kHeight);
  const Character neck3 = character::LoadCharacter(File("asimo_neck3"));
  EXPECT_EQ(neck3.dof(), 37);
  EXPECT_EQ(neck3.joints[static_cast<size_t>(neck3.FindJoint("neck"))].type, JointType::kBall);
  // It stands on y = 0 and ends at its height, symmetrically.
  const character::State state = AtRest(robot);
  double highest = 0;
  double lowest = 1;
  for (size_t b = 0; b < state.size(); ++b) {
    lowest = std::min(lowest, character::LowestPoint(robot.bodies[b], state[b]));
    for (const Shape& shape : robot.bodies[b].shapes) {
      ASSERT_EQ(shape.kind, Shape::Kind::kMesh) << robot.bodies[b].name;
      highest = std::max(highest, state[b].position.y() + shape.offset.y() + shape.HalfExtents().y());
    }
  }
  EXPECT_NEAR(highest, 1.2, 1e-6);
  EXPECT_NEAR(lowest, 0, 1e-6);
  const Vec3 center = character::CenterOfMass(robot, state);
  EXPECT_NEAR(center.x(), 0, 1e-9);
  const auto& foot = robot.bodies[static_cast<size_t>(robot.FindBody("left_foot"))];
  EXPECT_LT(std::abs(center.z() - foot.rest_position.z()), 0.08);  // over its feet
}

/// Table 3, in the order of the paper's columns.
TEST(Robot, HasTheServosOfTable3) {
  const struct {
    const char* joint;
    JointType type;
    double kp;
    double kd;
    Vec3 strength;
    Vec3 window;
    double contact_scale;
  } rows[] = {{"neck", JointType::kHinge, 40, 4, {1, 1, 1}, {0, 0, 0}, 1},
              {"left_shoulder", JointType::kBall, 100, 10, {0.15, 1, 1}, {0.8, 0.8, 0.25}, 3},
              {"right_elbow", JointType::kHinge, 100, 10, {1, 1, 1}, {0, 0.2, 0}, 3},
              {"left_wrist", JointType::kBall, 10, 1, {0.1, 0.4, 1}, {0, 0, 0}, 3},
              {"right_hip", JointType::kBall, 500, 50, {1, 0.2, 1}, {0.8, 0.1, 0.4}, 1},
              {"left_knee", JointType::kHinge, 300, 30, {1, 1, 1}, {0.6, 0, 0}, 1},
              {"right_ankle", JointType::kBall, 200, 20, {1, 1, 0.5}, {0.6, 0.6, 0.05}, 3}};
  for (const auto& row : rows) {
    const int index = Asimo().FindJoint(row.joint);
    ASSERT_GE(index, 0) << row.joint;
    const Joint& joint = Asimo().joints[static_cast<size_t>(index)];
    EXPECT_EQ(joint.type, row.type) << row.joint;
    EXPECT_EQ(joint.kp, row.kp) << row.joint;
    EXPECT_EQ(joint.kd, row.kd) << row.joint;
    EXPECT_EQ(joint.strength_scale, row.strength) << row.joint;
    EXPECT_EQ(joint.window, row.window) << row.joint;
    EXPECT_EQ(joint.contact_scale_max, row.contact_scale) << row.joint;
  }
}

TEST(Robot, KneesAreBentAtRest) {
  const Robot robot = MakeRobot();
  const Vec3 thigh = robot.knee - robot.hip;
  const Vec3 shin = robot.ankle - robot.knee;
  EXPECT_GT(thigh.cross(shin).x(), std::sin(0.4) * thigh.norm() * shin.norm());  // forwards
  EXPECT_NEAR(robot.hip.z(), robot.ankle.z(), 1e-6);
}

bool IsInside(const TriangleMesh& convex, const Vec3& point) {
  for (const auto& t : convex.triangles) {
    const Vec3& a = convex.vertices[static_cast<size_t>(t[0])];
    const Vec3 normal =
        (convex.vertices[static_cast<size_t>(t[1])] - a).cross(convex.vertices[static_cast<size_t>(t[2])] - a);
    if (normal.dot(point - a) > 0) return false;
  }
  return true;
}

/// Mass, center and inertia by counting points that fall into the meshes.
TEST(Robot, MassesAreThoseOfTheMeshesByCounting) {
  RandomStream random(11, RandomStage::kTest, 0, 0);
  const Robot robot = MakeRobot();
  double volume = 0;
  for (const Part& part : robot.parts) {
    for (const TriangleMesh& mesh : part.meshes) volume += SolidOf(mesh).volume;
  }
  const double density = kTotalMass / volume;
  for (const Part& part : robot.parts) {
    Eigen::AlignedBox3d bounds;
    for (const TriangleMesh& mesh : part.meshes) {
      EXPECT_FALSE(FindFault(mesh).any()) << part.name;
      EXPECT_TRUE(IsConvex(mesh, 1e-5)) << part.name;
      for (const Vec3& v : mesh.vertices) bounds.extend(v);
    }
    constexpr int kPoints = 40000;
    int inside = 0;
    Vec3 first = Vec3::Zero();
    Mat3 second = Mat3::Zero();
    for (int i = 0; i < kPoints; ++i) {
      const Vec3 share(random.Uniform(), random.Uniform(), random.Uniform());
      const Vec3 point = bounds.min() + share.cwiseProduct(bounds.sizes());
      int in = 0;
      for (const TriangleMesh& mesh : part.meshes) in += IsInside(mesh, point);
      ASSERT_LE(in, 1) << part.name << ": two meshes overlap, and their mass counts twice";
      if (in == 0) continue;
      ++inside;
      first += point;
      second += point * point.transpose();
    }
    const double point_mass = density * bounds.volume() / kPoints;
    const double mass = point_mass * inside;
    const Vec3 center = first / inside;
    const Mat3 about = point_mass * second - mass * center * center.transpose();
    const Mat3 inertia = about.trace() * Mat3::Identity() - about;
    const Body& body = Asimo().bodies[static_cast<size_t>(Asimo().FindBody(part.name))];
    EXPECT_NEAR(body.mass, mass, 0.02 * mass) << part.name;
    EXPECT_LT((body.rest_position - center).norm(), 0.01 * bounds.diagonal().norm()) << part.name;
    EXPECT_LT((body.InertiaTensor() - inertia).norm(), 0.03 * inertia.norm()) << part.name;
  }
}

}  // namespace
}  // namespace retrace::make_robot
