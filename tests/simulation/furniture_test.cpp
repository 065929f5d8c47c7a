/// Compound free bodies, and the points at which boxes and capsules lie on edges.
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/io/error.h"
#include "retrace/math/random.h"
#include "simulation/box_contacts.h"
#include "simulation/ode_library.h"
#include "simulation/ode_of_library.h"
#include "simulation/sample_characters.h"
#include "simulation/shapes.h"

namespace retrace::simulation {
namespace {

Environment ReadFurniture(const std::string& text) {
  const io::Json document = io::ParseJson(text, "world.json");
  return ReadEnvironment(io::JsonView(document, "world.json"));
}

FreeBody ReadOnly(const std::string& body) {
  return ReadFurniture(R"({"bodies": [{"name": "a", )" + body + "}]}").bodies.at(0);
}

/// A block far away, and the free bodies of a world after some steps.
character::State MoveAlone(const Environment& environment, int steps, Solver solver = Solver::kReduced) {
  const character::Character block = Block();
  WorldOptions options;
  options.environment = environment;
  options.solver = solver;
  World world(block, options);
  world.SetState({{Vec3(50, 0.1, 50), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(world.Step({}));
  character::State state;
  world.GetState(state);
  return state;
}

// ---- compound bodies

TEST(CompoundBody, TwoHalvesAreTheWhole) {
  const FreeBody whole = ReadOnly(R"("box": [0.4, 0.2, 0.6], "mass": 6, "position": [0, 1, 0])");
  const FreeBody halves = ReadOnly(R"("shapes": [{"box": [0.2, 0.2, 0.6], "position": [1.1, 0.5, 0]},
      {"box": [0.6, 0.2, 0.2], "position": [1.3, 0.5, 0], "rotation": {"axis": "y", "degrees": 90}}],
      "mass": 6, "position": [-1.2, 0.5, 0])");
  EXPECT_TRUE(halves.position.isApprox(whole.position, 1e-12));
  EXPECT_TRUE(halves.tensor.isApprox(Mat3(whole.Inertia().asDiagonal()), 1e-12)) << halves.tensor;
  EXPECT_NEAR(ReadOnly(R"("shapes": [{"sphere": 0.1, "position": [0, 0, 0]}, {"sphere": 0.1, "position": [1, 0, 0]}],
      "density": 1000, "position": [0, 0, 0])")
                  .mass,
              2 * 1000 * 4.0 / 3 * kPi * 1e-3, 1e-9);
}

TEST(CompoundBody, StartsWithTheVelocityOfItsFrame) {
  const FreeBody body = ReadOnly(R"("shapes": [{"sphere": 0.1, "position": [0, 0, 2]}], "mass": 1,
      "position": [0, 5, 0], "linear_velocity": [1, 0, 0], "angular_velocity": [0, 3, 0])");
  EXPECT_TRUE(body.position.isApprox(Vec3(0, 5, 2)));
  EXPECT_TRUE(body.linear_velocity.isApprox(Vec3(7, 0, 0)));
}

TEST(CompoundBody, IsReadAsItWasWritten) {
  const Environment environment = ReadFurniture(R"({"bodies": [{"name": "stool", "density": 500,
      "position": [0.1, 0.2, 0.3], "rotation": {"axis": "z", "degrees": 20}, "shapes": [
      {"box": [0.4, 0.05, 0.3], "position": [0, 0.4, 0.01]},
      {"capsule": {"radius": 0.02, "length": 0.3, "axis": "x"}, "position": [0.1, 0.2, 0], "rotation": {"axis": "y", "degrees": 70}},
      {"sphere": 0.05, "position": [0, 0.1, 0]}]}]})");
  const std::string text = environment.ToJson().dump();
  EXPECT_EQ(ReadFurniture(text).ToJson().dump(), text);
  EXPECT_EQ(ReadFurniture(text).bodies[0].position, environment.bodies[0].position);
}

TEST(CompoundBody, IsRefusedWithThePlace) {
  const auto expect = [](const std::string& body, const std::string& place, const std::string& what) {
    try {
      ReadOnly(body);
      ADD_FAILURE() << body;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("world.json: /bodies/0" + place), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  expect(R"("shapes": [], "mass": 1, "position": [0, 0, 0])", "/shapes", "at least one shape");
  expect(R"("shapes": [{"sphere": 1}], "sphere": 1, "mass": 1, "position": [0, 0, 0])", "/sphere", "one of the two");
  expect(R"("shapes": [{"sphere": 1, "mass": 2}], "mass": 1, "position": [0, 0, 0])", "/shapes/0/mass", "mass");
  expect(R"("sphere": 1, "inertia": [1, 1, 1, 0, 0, 0], "mass": 1, "position": [0, 0, 0])", "/inertia", "compound");
  expect(R"("shapes": [{"sphere": 1}], "inertia": [1, 1, 9, 0, 0, 0], "mass": 1, "position": [0, 0, 0])", "/inertia",
         "real body");
  // What follows from legal numbers could not be read again.
  expect(R"("shapes": [{"sphere": 1, "position": [9000, 0, 0]}], "mass": 1, "position": [9000, 0, 0])", "/shapes",
         "18000 m away");
  expect(R"("shapes": [{"sphere": 1, "position": [100, 0, 0]}], "mass": 1, "position": [0, 0, 0],
            "angular_velocity": [0, 1000, 0])",
         "/shapes", "1e+05 m/s");
  expect(R"("shapes": [{"sphere": 1e-5}], "mass": 1e-9, "position": [0, 0, 0])", "/shapes", "moments of inertia");
  expect(R"("shapes": [{"sphere": 1}], "inertia": [1, 1, 1, 0, 0, 0], "density": 1, "position": [0, 0, 0])", "/inertia",
         "mass");
}

TEST(CompoundBody, MovesAsTheSolidThatItsPartsAre) {
  const std::string motion = R"("mass": 6, "position": [0, 0.7, 0], "linear_velocity": [1, 2, 0],
      "angular_velocity": [3, 1, 2])";
  const auto world = [&](const std::string& shape) {
    return ReadFurniture(R"({"bodies": [{"name": "a", )" + shape + ", " + motion + "}]}");
  };
  const std::string halves = R"("shapes": [{"box": [0.2, 0.2, 0.6], "position": [-0.1, 0, 0]},
      {"box": [0.2, 0.2, 0.6], "position": [0.1, 0, 0]}])";
  const character::State one = MoveAlone(world(R"("box": [0.4, 0.2, 0.6])"), 60);
  const character::State two = MoveAlone(world(halves), 60);
  const character::State stock = MoveAlone(world(halves), 60, Solver::kStock);
  EXPECT_TRUE(two[1].position.isApprox(one[1].position, 1e-9));
  EXPECT_LT(AngleBetween(two[1].orientation, one[1].orientation), 1e-9);
  EXPECT_TRUE(stock[1].position.isApprox(two[1].position, 1e-7));
  EXPECT_LT(AngleBetween(stock[1].orientation, two[1].orientation), 1e-7);
}

TEST(CompoundBody, StandsOnItsLegsAndComesToRest) {
  const Environment environment = ReadFurniture(R"({"bodies": [{"name": "stool", "mass": 5, "position": [0, 0.001, 0],
      "shapes": [{"box": [0.4, 0.04, 0.4], "position": [0, 0.4, 0]},
      {"box": [0.04, 0.38, 0.04], "position": [0.15, 0.19, 0.15]}, {"box": [0.04, 0.38, 0.04], "position": [-0.15, 0.19, 0.15]},
      {"capsule": {"radius": 0.02, "length": 0.34, "axis": "y"}, "position": [0.15, 0.19, -0.15]},
      {"capsule": {"radius": 0.02, "length": 0.34, "axis": "z"}, "position": [-0.15, 0.19, -0.15], "rotation": {"axis": "x", "degrees": 90}}]}]})");
  const character::State later = MoveAlone(environment, 240);
  EXPECT_NEAR(later[1].position.y(), environment.bodies[0].position.y() - 0.001, 1e-4);
  EXPECT_EQ(later[1].linear_velocity, Vec3::Zero());
}

/// A body on rails of radius R, its center of mass at height h over the ground, rolls like a pendulum with the period
/// 2 pi sqrt((I + m h^2) / (m g (R - h))) for small angles.
TEST(CompoundBody, RocksWithThePeriodOfItsRails) {
  const io::Json document = io::ReadJson(std::string(RETRACE_SOURCE_DIR) + "/data/worlds/rocker.json");
  Environment environment = ReadEnvironment(io::JsonView(document, "rocker.json")["environment"]);
  FreeBody& rocker = environment.bodies[0];
  // Rolled by an angle from where the center of mass is under that of the rails, at z 0.06 in the file.
  const double radius = 1, h = radius - std::hypot(radius - rocker.position.y(), rocker.position.z() - 0.06);
  const double level = std::atan2(rocker.position.z() - 0.06, radius - rocker.position.y());
  const double angle = 0.12;
  const Quat turn = AxisRotation(0, angle + level);
  const Vec3 center(0, radius, 0.06);
  rocker.position = center + turn * Vec3(rocker.position - center);
  rocker.orientation = turn * rocker.orientation;
  const double moment = rocker.tensor(0, 0) + rocker.mass * h * h;
  const double period = 2 * kPi * std::sqrt(moment / (rocker.mass * kStandardGravity * (radius - h)));
  int crossings = 0, last = 0, first = 0;
  double before = angle;
  const character::Character block = Block();
  WorldOptions options;
  options.environment = environment;
  World world(block, options);
  world.SetState({{Vec3(50, 0.1, 50), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
  character::State state;
  for (int i = 0; i < 1200; ++i) {
    ASSERT_TRUE(world.Step({}));
    world.GetState(state);
    const double now = RotationVector(state[1].orientation).x() - level;
    if (before > 0 && now <= 0) {
      if (crossings++ == 0) first = i;
      last = i;
    }
    before = now;
  }
  ASSERT_GE(crossings, 2);
  EXPECT_NEAR((last - first) / 240.0 / (crossings - 1), period, 0.05 * period);
}

// ---- edges

class TwoBoxes {
 public:
  TwoBoxes(const Vec3& size_a, const Vec3& size_b) : a_(size_a), b_(size_b) {
    InitializeOde();
    geom_a_ = retrace_dCreateBox(nullptr, size_a.x(), size_a.y(), size_a.z());
    geom_b_ = retrace_dCreateBox(nullptr, size_b.x(), size_b.y(), size_b.z());
  }
  ~TwoBoxes() {
    retrace_dGeomDestroy(geom_a_);
    retrace_dGeomDestroy(geom_b_);
  }
  TwoBoxes(const TwoBoxes&) = delete;
  TwoBoxes& operator=(const TwoBoxes&) = delete;

  std::vector<dContactGeom> Find(const Vec3& at, const Quat& turn, double margin) {
    PlaceGeom(geom_a_, at, turn);
    PlaceGeom(geom_b_, Vec3::Zero(), Quat::Identity());
    std::vector<dContactGeom> found(8);
    found.resize(static_cast<size_t>(CollideBoxes(geom_a_, geom_b_, 8, margin, found.data())));
    return found;
  }
  /// Of a point from the box in the middle, negative inside.
  double FromFixed(const dContactGeom& point) const { return (ToVec3(point.pos).cwiseAbs() - 0.5 * b_).maxCoeff(); }

 private:
  Vec3 a_, b_;
  dGeomID geom_a_, geom_b_;
};

TEST(Edges, NearlyParallelOnesTouchAtBothEndsWhicheverWayTheyLean) {
  // A board on its long edge lies along the upper edge of a block.
  for (const double lean : {-1e-3, -1e-5, 1e-5, 1e-3}) {
    TwoBoxes boxes(Vec3(0.2, 0.1, 0.03), Vec3(2, 1, 1));
    const Quat turn = AxisRotation(1, lean) * AxisRotation(0, kPi / 4 + 0.2);
    const std::vector<dContactGeom> found = boxes.Find(Vec3(0, 0.53, 0.53), turn, 0.001);
    double first = 1, last = -1;  // of the points that carry
    for (const dContactGeom& point : found) {
      if (point.depth < 0.002) continue;
      first = std::min(first, double{point.pos[0]});
      last = std::max(last, double{point.pos[0]});
    }
    EXPECT_NEAR(first, -0.1, 0.005) << lean;
    EXPECT_NEAR(last, 0.1, 0.005) << lean;
    EXPECT_LE(found.size(), 4u);
  }
}

TEST(Edges, ThatCrossTouchWhereOdeSaysTheyDo) {
  TwoBoxes boxes(Vec3(0.2, 0.2, 0.2), Vec3(2, 1, 1));
  const Quat turn = AxisRotation(1, kPi / 2) * AxisRotation(0, kPi / 4);
  const std::vector<dContactGeom> found = boxes.Find(Vec3(0, 0.5, 0.63), AxisRotation(0, kPi / 4) * turn, 0.001);
  for (const dContactGeom& point : found) EXPECT_LT(boxes.FromFixed(point), 0.002);
}

TEST(Edges, PointsAreWhereTheBoxesAre) {
  size_t several = 0;
  for (uint32_t sample = 0; sample < 2000; ++sample) {
    RandomStream random(1, RandomStage::kTest, 7, sample);
    const auto vector = [&](double low, double high) {
      return Vec3(random.Uniform(low, high), random.Uniform(low, high), random.Uniform(low, high));
    };
    TwoBoxes boxes(vector(0.02, 0.3), vector(0.02, 0.6));
    const double margin = 0.004;
    const std::vector<dContactGeom> found =
        boxes.Find(vector(-0.35, 0.35), FromRotationVector(vector(-1.5, 1.5)), margin);
    several += found.size() > 1 ? 1 : 0;
    ASSERT_LE(found.size(), 8u);
    double deepest = 0;
    for (const dContactGeom& point : found) deepest = std::max(deepest, double{point.depth});
    for (const dContactGeom& point : found) {
      EXPECT_GT(point.depth, -margin);
      EXPECT_LT(boxes.FromFixed(point), deepest + margin);
      EXPECT_NEAR(ToVec3(point.normal).norm(), 1, 1e-9);
    }
  }
  EXPECT_GT(several, 100u);
}

/// Of the mend: a thigh across the edge of a seat rocked, because the position at the edge counted only where it was
/// deeper than the end.
TEST(Edges, ACapsuleThatLiesAcrossOneTouchesThere) {
  const character::Character thigh = Parse(R"({"name": "thigh", "mass": 6, "inertia": [0.07, 0.07, 0.02],
      "position": [0, 0.06, 0], "shapes": [{"capsule": {"radius": 0.06, "length": 0.3, "axis": "z"}}]})",
                                           "");
  WorldOptions options;
  options.environment = ReadFurniture(R"({"ground": {"height": -1},
      "boxes": [{"name": "seat", "size": [1, 0.2, 1], "position": [0, -0.1, -0.45]}]})");
  World world(thigh, options);
  world.set_recording(true);
  world.SetState({{Vec3(0, 0.06, 0), Quat::Identity(), Vec3::Zero(), Vec3::Zero()}});
  double fastest = 0;
  character::State state;
  for (int i = 0; i < 480; ++i) {
    ASSERT_TRUE(world.Step({}));
    world.GetState(state);
    if (i > 240) fastest = std::max(fastest, state[0].angular_velocity.norm());
  }
  EXPECT_LT(fastest, 1e-3);
  double edge = 0, force = 0;
  for (const Contact& contact : world.contacts()) {
    if (std::abs(contact.point.z() - 0.05) < 1e-3) edge += contact.force.y();
    force += contact.force.y();
  }
  EXPECT_NEAR(force, 6 * kStandardGravity, 0.1);
  EXPECT_NEAR(edge, force * 0.15 / 0.2, 1);  // levers of 15 and 5 cm about the center of mass
}

}  // namespace
}  // namespace retrace::simulation
