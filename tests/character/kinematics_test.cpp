/// Kinematics against closed forms, brute force and the properties that define it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "character/sample_human.h"
#include "math/any_stream.h"
#include "retrace/character/legs.h"

namespace retrace::character {
namespace {

RC_GTEST_PROP(KinematicsProperty, PoseOfUndoesForwardKinematics, ()) {
  RandomStream random = AnyStream();
  const Pose pose = RandomPose(Human(), random);
  Pose back;
  PoseOf(Human(), StateOf(Human(), pose), back);
  RC_ASSERT(back.root_position == pose.root_position);
  RC_ASSERT(AngleBetween(back.root_orientation, pose.root_orientation) < 1e-12);
  RC_ASSERT(back.joint_rotations.size() == pose.joint_rotations.size());
  for (size_t j = 0; j < back.joint_rotations.size(); ++j) {
    RC_ASSERT(AngleBetween(back.joint_rotations[j], pose.joint_rotations[j]) < 1e-12);
  }
}

RC_GTEST_PROP(KinematicsProperty, JointsHoldTheirBodiesTogether, ()) {
  RandomStream random = AnyStream();
  const State state = StateOf(Human(), RandomPose(Human(), random));
  for (const Joint& joint : Human().joints) {
    const auto& child = state[static_cast<size_t>(joint.child)];
    const Vec3 as_child_sees_it =
        child.position +
        child.orientation * (joint.anchor - Human().bodies[static_cast<size_t>(joint.child)].rest_position);
    RC_ASSERT((JointPosition(Human(), joint, state) - as_child_sees_it).norm() < 1e-12);
    RC_ASSERT(std::abs(child.orientation.norm() - 1) < 1e-14);
  }
}

RC_GTEST_PROP(KinematicsProperty, MovesAsOneWithItsRoot, ()) {
  RandomStream random = AnyStream();
  Pose pose = RandomPose(Human(), random);
  const State before = StateOf(Human(), pose);
  const Quat turn = RandomRotation(random);
  const Vec3 shift = RandomVector(random, 3);
  pose.root_position = turn * pose.root_position + shift;
  pose.root_orientation = turn * pose.root_orientation;
  const State after = StateOf(Human(), pose);
  for (size_t b = 0; b < before.size(); ++b) {
    RC_ASSERT((after[b].position - (turn * before[b].position + shift)).norm() < 1e-11);
    RC_ASSERT(AngleBetween(after[b].orientation, turn * before[b].orientation) < 1e-12);
  }
  RC_ASSERT((CenterOfMass(Human(), after) - (turn * CenterOfMass(Human(), before) + shift)).norm() < 1e-11);
}

TEST(Kinematics, RestPoseIsTheFilesOwn) {
  const State rest = StateOf(Human(), RestPose(Human()));
  for (size_t b = 0; b < rest.size(); ++b) {
    EXPECT_NEAR((rest[b].position - Human().bodies[b].rest_position).norm(), 0, 1e-14);
    EXPECT_EQ(rest[b].orientation.w(), 1);
  }
  for (const Joint& joint : Human().joints) {
    EXPECT_NEAR((JointPosition(Human(), joint, rest) - joint.anchor).norm(), 0, 1e-14);
  }
}

TEST(Kinematics, BentElbowInClosedForm) {
  Pose pose = RestPose(Human());
  RotationOf(Human(), pose, "left_elbow") = AxisRotation(1, -kPi / 2);  // forearm to the front
  const State state = StateOf(Human(), pose);
  const Vec3 elbow = JointOf(Human(), "left_elbow").anchor;
  const auto hand = static_cast<size_t>(Human().FindBody("left_hand"));
  const double reach = BodyOf(Human(), "left_hand").rest_position.x() - elbow.x();
  EXPECT_NEAR((state[hand].position - (elbow + Vec3(0, 0, reach))).norm(), 0, 1e-12);
}

TEST(Kinematics, KeepsVelocities) {
  State state(Human().bodies.size());
  state[3].linear_velocity = Vec3(1, 2, 3);
  ForwardKinematics(Human(), RestPose(Human()), state);
  EXPECT_EQ(state[3].linear_velocity, Vec3(1, 2, 3));
}

TEST(CenterOfMass, OfTheRestPoseIsTheWeightedMean) {
  Vec3 sum = Vec3::Zero();
  for (const Body& body : Human().bodies) sum += body.mass * body.rest_position;
  const Vec3 center = CenterOfMass(Human(), StateOf(Human(), RestPose(Human())));
  EXPECT_NEAR((center - sum / 62.5316).norm(), 0, 1e-12);
  EXPECT_NEAR(center.x(), 0, 1e-15);
}

RC_GTEST_PROP(MomentumProperty, OfARigidTurnIsInertiaTimesRate, ()) {
  // Every body moves as part of one rigid body: L = I w with the composite inertia about the center of mass.
  RandomStream random = AnyStream();
  State state = StateOf(Human(), RandomPose(Human(), random));
  const Vec3 center = CenterOfMass(Human(), state);
  const Vec3 rate = RandomVector(random, 5);
  const Vec3 velocity = RandomVector(random, 5);
  Mat3 inertia = Mat3::Zero();
  for (size_t b = 0; b < state.size(); ++b) {
    const Body& body = Human().bodies[b];
    const Vec3 r = state[b].position - center;
    state[b].angular_velocity = rate;
    state[b].linear_velocity = velocity + rate.cross(r);
    const Mat3 q = state[b].orientation.toRotationMatrix();
    inertia += q * body.inertia.asDiagonal() * q.transpose();
    inertia += body.mass * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
  }
  RC_ASSERT((CenterOfMassVelocity(Human(), state) - velocity).norm() < 1e-12);
  RC_ASSERT((AngularMomentum(Human(), state) - inertia * rate).norm() < 1e-9);
}

RC_GTEST_PROP(MomentumProperty, DoesNotSeeCommonTranslation, ()) {
  RandomStream random = AnyStream();
  State state = StateOf(Human(), RandomPose(Human(), random));
  for (BodyState& body : state) {
    body.linear_velocity = RandomVector(random, 3);
    body.angular_velocity = RandomVector(random, 3);
  }
  const Vec3 momentum = AngularMomentum(Human(), state);
  const Vec3 drift = RandomVector(random, 10);
  Translate(state, RandomVector(random, 10));
  for (BodyState& body : state) body.linear_velocity += drift;
  RC_ASSERT((AngularMomentum(Human(), state) - momentum).norm() < 1e-9);
}

TEST(Momentum, OfTwoBodiesInClosedForm) {
  // Two hands of equal mass that circle one another; everything else is left away by a character of two bodies.
  const Character pair = ParseCharacter(io::ParseJson(R"({
    "format": "retrace-character", "version": 1, "name": "pair", "height": 1,
    "bodies": [{"name": "a", "mass": 2, "inertia": [0.1, 0.1, 0.1], "position": [1, 0, 0], "shapes": []},
               {"name": "b", "mass": 2, "inertia": [0.1, 0.1, 0.1], "position": [-1, 0, 0], "shapes": []}],
    "joints": [{"name": "j", "parent": "a", "child": "b", "type": "ball", "anchor": [0, 0, 0], "kp": 1, "kd": 1,
                "strength_scale": [1, 1, 1], "window": [0, 0, 0]}],
    "end_effectors": [], "no_self_collision": [], "contact_presets": {}})",
                                                      "pair"),
                                        "pair");
  State state = StateOf(pair, RestPose(pair));
  state[0].linear_velocity = Vec3(0, 0, -3);
  state[1].linear_velocity = Vec3(0, 0, 3);
  EXPECT_NEAR((AngularMomentum(pair, state) - Vec3(0, 12, 0)).norm(), 0, 1e-14);
  state[0].angular_velocity = Vec3(0, 3, 0);
  EXPECT_NEAR((AngularMomentum(pair, state) - Vec3(0, 12.3, 0)).norm(), 0, 1e-14);
}

RC_GTEST_PROP(DifferenceVelocitiesProperty, LeadFromOneStateToTheOther, ()) {
  RandomStream random = AnyStream();
  const State before = StateOf(Human(), RandomPose(Human(), random));
  State after = before;
  State state = before;
  const double duration = random.Uniform(0.001, 0.1);
  State expected = before;
  for (size_t b = 0; b < after.size(); ++b) {
    expected[b].linear_velocity = RandomVector(random, 5);
    expected[b].angular_velocity = RandomVector(random, 8);
    after[b].position += duration * expected[b].linear_velocity;
    after[b].orientation = FromRotationVector(duration * expected[b].angular_velocity) * after[b].orientation;
  }
  DifferenceVelocities(before, after, duration, state);
  for (size_t b = 0; b < after.size(); ++b) {
    RC_ASSERT((state[b].linear_velocity - expected[b].linear_velocity).norm() < 1e-9);
    RC_ASSERT((state[b].angular_velocity - expected[b].angular_velocity).norm() < 1e-9);
    RC_ASSERT(state[b].position == before[b].position);
  }
}

/// Points of a shape's surface in the body's frame, dense enough for a bound of a millimeter.
double SampledLowestPoint(const Body& body, const BodyState& state) {
  double lowest = 1e9;
  const auto visit = [&](const Vec3& p) { lowest = std::min(lowest, (state.position + state.orientation * p).y()); };
  for (const Shape& shape : body.shapes) {
    if (shape.kind == Shape::Kind::kBox) {
      for (int corner = 0; corner < 8; ++corner) {
        const Vec3 sign(corner & 1 ? 0.5 : -0.5, corner & 2 ? 0.5 : -0.5, corner & 4 ? 0.5 : -0.5);
        visit(shape.offset + sign.cwiseProduct(shape.size));
      }
      continue;
    }
    for (const double end : {-0.5, 0.5}) {
      for (int i = 0; i <= 100; ++i) {
        const double polar = kPi * i / 100;
        for (int k = 0; k < 100; ++k) {
          const double around = 2 * kPi * k / 100;
          Vec3 p = shape.offset + end * shape.length * Vec3::Unit(shape.axis);
          p += shape.radius *
               Vec3(std::cos(polar), std::sin(polar) * std::cos(around), std::sin(polar) * std::sin(around));
          visit(p);
        }
      }
    }
  }
  return lowest;
}

RC_GTEST_PROP(LowestPointProperty, IsTheLowestOfManyPoints, ()) {
  RandomStream random = AnyStream();
  const auto index = *rc::gen::inRange<size_t>(0, Human().bodies.size());
  Body body = Human().bodies[index];
  for (Shape& shape : body.shapes) shape.offset = RandomVector(random, 0.2);
  BodyState state;
  state.position = RandomVector(random, 2);
  state.orientation = RandomRotation(random);
  const double sampled = SampledLowestPoint(body, state);
  const double lowest = LowestPoint(body, state);
  RC_ASSERT(lowest <= sampled + 1e-12);
  RC_ASSERT(lowest > sampled - 1e-3);
}

TEST(LowestPoint, OfABoxOfTrianglesIsThatOfTheBox) {
  RandomStream random(3, RandomStage::kTest, 0, 0);
  for (int i = 0; i < 50; ++i) {
    Body box;
    box.shapes.emplace_back();
    box.shapes[0].size = Vec3(0.1, 0.3, 0.2);
    box.shapes[0].offset = RandomVector(random, 0.2);
    Body mesh = box;
    mesh.shapes[0].kind = Shape::Kind::kMesh;
    mesh.shapes[0].mesh = BoxMesh(box.shapes[0].size);
    BodyState state;
    state.position = RandomVector(random, 1);
    state.orientation = FromRotationVector(RandomVector(random, 3));
    EXPECT_NEAR(LowestPoint(mesh, state), LowestPoint(box, state), 1e-14);
  }
}

TEST(LowestPoint, TakesTheLowestOfSeveralShapes) {
  Body body;
  EXPECT_EQ(LowestPoint(body, {}), std::numeric_limits<double>::infinity());
  Shape box;
  box.size = Vec3(1, 1, 1);
  Shape capsule;
  capsule.kind = Shape::Kind::kCapsule;
  capsule.radius = 0.1;
  capsule.length = 1;
  capsule.offset = Vec3(0, -0.2, 0);
  body.shapes = {box, capsule};
  EXPECT_NEAR(LowestPoint(body, {}), -0.8, 1e-15);
  EXPECT_NEAR(capsule.BoundingRadius(), 0.6, 1e-15);
  EXPECT_NEAR(box.BoundingRadius(), std::sqrt(0.75), 1e-15);
}

}  // namespace

TEST(RaiseFeet, BendsTheLegThatIsInTheGroundAlone) {
  Pose pose = RestPose(Human());
  RotationOf(Human(), pose, "right_hip") = AxisRotation(0, -0.6);
  RotationOf(Human(), pose, "right_knee") = AxisRotation(0, 0.9);
  pose.root_position.y() -= 0.03;  // the left foot is in the ground, the right one over it
  const State before = StateOf(Human(), pose);
  Pose raised = pose;
  RaiseFeet(Human(), before, raised);
  const State after = StateOf(Human(), raised);
  EXPECT_EQ(raised.root_position, pose.root_position);
  const auto left = static_cast<size_t>(Human().FindBody("left_foot"));
  const auto right = static_cast<size_t>(Human().FindBody("right_foot"));
  EXPECT_NEAR(LowestPoint(Human().bodies[left], before[left]), -0.03, 1e-6);
  EXPECT_NEAR(LowestPoint(Human().bodies[left], after[left]), 0, 2e-3);
  EXPECT_LT(AngleBetween(after[left].orientation, before[left].orientation), 1e-6);
  EXPECT_GT(LowestPoint(Human().bodies[right], before[right]), 0);
  EXPECT_EQ(after[right].position, before[right].position);
}

}  // namespace retrace::character
