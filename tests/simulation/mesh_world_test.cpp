/// Characters of triangle meshes: on the ground and against one another, beside boxes and closed forms.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "retrace/simulation/world.h"
#include "simulation/available_passes.h"
#include "simulation/collision.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

using character::Character;
using character::State;

std::string MeshJson(const TriangleMesh& mesh) {
  io::Json vertices = io::Json::array();
  for (const Vec3& v : mesh.vertices) vertices.push_back(io::ToJson(v));
  return io::Json({{"vertices", vertices}, {"triangles", mesh.triangles}}).dump();
}

Character BlockOfMesh() {
  return Parse(R"({"name": "block", "mass": 2, "inertia": [0.0333, 0.0533, 0.0333], "position": [0, 0.1, 0],
                   "shapes": [{"mesh": )" +
                   MeshJson(BoxMesh({0.4, 0.2, 0.4})) + "}]}",
               "");
}

Character Robot() {
  return character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json");
}

/// Two bodies with a shape each, held together by a third that touches nothing, so that only they meet.
Character Pair(const std::string& first, const std::string& second) {
  const std::string frame = R"(, "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0, 0, 0], "shapes": [)";
  const auto joint = [](const std::string& child) {
    return R"({"name": ")" + child + R"(", "parent": "hub", "child": ")" + child +
           R"(", "type": "ball", "anchor": [0, 0, 0], "kp": 1, "kd": 1, "strength_scale": [1, 1, 1],
              "window": [0, 0, 0]})";
  };
  return Parse(R"({"name": "hub")" + frame + "]}, " + R"({"name": "a")" + frame + first + "]}, " + R"({"name": "b")" +
                   frame + second + "]}",
               joint("a") + ", " + joint("b"));
}

std::vector<ContactPoint> PointsOf(const Character& pair, const Vec3& at_a, const Vec3& at_b) {
  CollisionOptions options;
  options.time_step = 1.0 / 240;
  options.self_points_per_pair = 4;
  const Forest forest(pair);
  Collision collision(forest, options);
  std::vector<BodyMotion> bodies(3);
  for (BodyMotion& body : bodies) body.position = Vec3(0, 10, 0);
  bodies[1].position += at_a;
  bodies[2].position += at_b;
  NearShapeFinder near(collision, kScalarPasses);
  near.Find(reinterpret_cast<const std::byte*>(bodies.data()));
  collision.Find(bodies, near.OfLane(0));
  return collision.points();
}

double Apart(const State& a, const State& b) {
  double apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    apart = std::max({apart, (a[i].position - b[i].position).norm(), AngleBetween(a[i].orientation, b[i].orientation)});
  }
  return apart;
}

TEST(Mesh, ABlockFallsRocksAndSlidesAsTheBoxDoes) {
  const Character box = Block();
  const Character mesh = BlockOfMesh();
  WorldOptions options;
  World world_box(box, options);
  World world_mesh(mesh, options);
  State a = StateOf(box, RestPose(box));
  a[0].position.y() = 0.4;
  a[0].orientation = FromRotationVector({0.3, 0.2, 0.5});
  a[0].linear_velocity = Vec3(1, -1, 0.5);
  a[0].angular_velocity = Vec3(1, 2, -1);
  State b = a;
  world_box.SetState(a);
  world_mesh.SetState(b);
  size_t contacts = 0;
  for (int step = 0; step < 480; ++step) {
    ASSERT_TRUE(world_box.Step({}));
    ASSERT_TRUE(world_mesh.Step({}));
    contacts += world_mesh.contacts().size();
    world_box.GetState(a);
    world_mesh.GetState(b);
    ASSERT_EQ(world_box.contacts().size(), world_mesh.contacts().size()) << step;
    ASSERT_LT(Apart(a, b), 1e-6) << step;
  }
  EXPECT_GT(contacts, 1000u);
  EXPECT_NEAR(b[0].position.y(), 0.1, 1e-4);  // it has come to rest on its wide side
}

TEST(Mesh, ABoxAgainstAMeshIsAMeshAgainstAMesh) {
  const std::string box = R"({"box": [1, 1, 1]})";
  const std::string mesh = R"({"mesh": )" + MeshJson(BoxMesh({1, 1, 1})) + "}";
  for (const auto& [first, second] : {std::pair(mesh, mesh), std::pair(box, mesh), std::pair(mesh, box)}) {
    const std::vector<ContactPoint> points = PointsOf(Pair(first, second), Vec3(0.1, 0.97, 0), Vec3::Zero());
    ASSERT_EQ(points.size(), 4u);
    for (const ContactPoint& point : points) {
      EXPECT_EQ(point.body, 1);
      EXPECT_EQ(point.other, 2);
      EXPECT_NEAR(point.depth, 0.03, 1e-12);
      EXPECT_LT((point.normal - Vec3::UnitY()).norm(), 1e-12);
    }
    EXPECT_TRUE(PointsOf(Pair(first, second), Vec3(0.1, 1.001, 0), Vec3::Zero()).empty());
  }
}

TEST(Mesh, ACapsuleAgainstAMesh) {
  const std::string mesh = R"({"mesh": )" + MeshJson(BoxMesh({1, 1, 1})) + "}";
  const std::string capsule = R"({"capsule": {"radius": 0.1, "length": 0.4, "axis": "x"}})";
  for (const bool capsule_first : {true, false}) {
    const Character pair = capsule_first ? Pair(capsule, mesh) : Pair(mesh, capsule);
    const Vec3 above(0, 0.58, 0);
    const Vec3 zero = Vec3::Zero();
    const std::vector<ContactPoint> points = PointsOf(pair, capsule_first ? above : zero, capsule_first ? zero : above);
    ASSERT_GE(points.size(), 2u);
    Eigen::AlignedBox3d bounds;
    for (const ContactPoint& point : points) {
      bounds.extend(point.position);
      EXPECT_NEAR(point.depth, 0.02, 1e-9);
      EXPECT_LT((point.normal - (capsule_first ? 1.0 : -1.0) * Vec3::UnitY()).norm(), 1e-9);
    }
    EXPECT_GT(bounds.sizes().x(), 0.3);
    EXPECT_TRUE(
        PointsOf(pair, capsule_first ? Vec3(0, 0.62, 0) : zero, capsule_first ? zero : Vec3(0, 0.62, 0)).empty());
  }
}

/// A slab with a wall on either side, along z: what is between the walls touches the slab alone.
TriangleMesh Trough() {
  const double profile[8][2] = {{-1, -0.2}, {1, -0.2}, {1, 1}, {0.8, 1}, {0.8, 0}, {-0.8, 0}, {-0.8, 1}, {-1, 1}};
  TriangleMesh mesh;
  for (const double z : {-1.0, 1.0}) {
    for (const auto& p : profile) mesh.vertices.emplace_back(p[0], p[1], z);
  }
  const int ends[6][3] = {{0, 1, 4}, {0, 4, 5}, {1, 2, 3}, {1, 3, 4}, {0, 5, 6}, {0, 6, 7}};
  for (const auto& t : ends) {
    mesh.triangles.push_back({t[0], t[2], t[1]});
    mesh.triangles.push_back({8 + t[0], 8 + t[1], 8 + t[2]});
  }
  for (int k = 0; k < 8; ++k) {
    const int next = (k + 1) % 8;
    mesh.triangles.push_back({k, next, 8 + next});
    mesh.triangles.push_back({k, 8 + next, 8 + k});
  }
  return mesh;
}

TEST(Mesh, AHollowIsHollow) {
  ASSERT_FALSE(FindFault(Trough()).any()) << FindFault(Trough()).found;
  ASSERT_FALSE(IsConvex(Trough(), 1e-3));
  const Character pair =
      Pair(R"({"mesh": )" + MeshJson(BoxMesh({0.4, 0.4, 0.4})) + "}", R"({"mesh": )" + MeshJson(Trough()) + "}");
  EXPECT_TRUE(PointsOf(pair, Vec3(0, 0.3, 0), Vec3::Zero()).empty());
  const std::vector<ContactPoint> points = PointsOf(pair, Vec3(0, 0.19, 0), Vec3::Zero());
  ASSERT_FALSE(points.empty());
  for (const ContactPoint& point : points) {
    EXPECT_GT(point.normal.y(), 0.9);  // up, out of the slab
    EXPECT_NEAR(point.depth, 0.01, 0.005);
  }
}

TEST(Mesh, TheRobotStandsOnItsFeet) {
  const Character robot = Robot();
  WorldOptions options;
  World world(robot, options);
  world.set_recording(true);
  State state = StateOf(robot, RestPose(robot));
  world.SetState(state);
  for (int step = 0; step < 60; ++step) ASSERT_TRUE(world.Step(RestTargets(robot)));
  double force = 0;
  std::vector<int> per_foot(robot.bodies.size(), 0);
  for (const Contact& contact : world.contacts()) {
    EXPECT_EQ(contact.other, -1);
    EXPECT_TRUE(robot.bodies[static_cast<size_t>(contact.body)].segment.ends_with("foot"));
    ++per_foot[static_cast<size_t>(contact.body)];
    force += contact.force.y();
  }
  EXPECT_EQ(per_foot[static_cast<size_t>(robot.FindBody("left_foot"))], 4);
  EXPECT_EQ(per_foot[static_cast<size_t>(robot.FindBody("right_foot"))], 4);
  EXPECT_NEAR(force, 49.5 * 9.81, 0.02 * 49.5 * 9.81);
  world.GetState(state);
  EXPECT_NEAR(state[static_cast<size_t>(robot.root)].position.y(), robot.bodies[0].rest_position.y(), 0.01);
}

TEST(Mesh, WhatTheWorldDidBeforeDoesNotMatter) {
  const Character robot = Robot();
  const std::vector<Scene> scenes = Scenes(robot);
  WorldOptions options;
  World used(robot, options);
  size_t self_contacts = 0;
  for (const Scene& past : scenes) {
    used.SetState(past.start);
    for (int n = 1; n <= 24; ++n) ASSERT_TRUE(used.Step(SwayingTargets(robot, n * options.time_step, 0.3)));
    for (const Scene& scene : scenes) {
      World fresh(robot, options);
      State ends[2];
      for (World* const world : {&used, &fresh}) {
        world->SetState(scene.start);
        for (int n = 1; n <= 24; ++n) {
          ASSERT_TRUE(world->Step(SwayingTargets(robot, n * options.time_step, 0.3)));
          for (const Contact& contact : world->contacts()) self_contacts += contact.other >= 0;
        }
        world->GetState(ends[world == &fresh]);
      }
      EXPECT_TRUE(SameBits(ends[0], ends[1])) << scene.name << " after " << past.name;
    }
  }
  EXPECT_GT(self_contacts, 100u);
}

}  // namespace
}  // namespace retrace::simulation
