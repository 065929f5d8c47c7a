/// Robots of URDF and MJCF files: what is read of them, what is refused, and the characters that they become.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "retrace/character/builder.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/joint_table.h"
#include "retrace/robots/joint_motion.h"
#include "retrace/robots/read_robot.h"
#include "retrace/robots/robot_character.h"
#include "robots/sample_robot.h"
#include "sample_folder.h"

namespace retrace::robots {
namespace {

using character::Character;

RobotCharacter Make(const std::string& text, const std::string& name) {
  return MakeRobotCharacter(ReadRobot(text, name), name);
}

std::string Refusal(const std::string& text) {
  try {
    Make(text, "robot.xml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const character::Joint& JointOf(const Character& character, const std::string& name) {
  return character.joints[static_cast<size_t>(character.FindJoint(name))];
}
const character::Body& BodyOf(const Character& character, const std::string& name) {
  return character.bodies[static_cast<size_t>(character.FindBody(name))];
}

TEST(Robot, OfUrdfAndOfMjcfAreTheSame) {
  const Character urdf = Make(SampleUrdf(), "sample.urdf").character;
  const Character mjcf = Make(SampleMjcf(), "sample.xml").character;
  ASSERT_EQ(urdf.bodies.size(), 12u);
  ASSERT_EQ(mjcf.bodies.size(), 12u);
  EXPECT_NEAR(urdf.height, mjcf.height, 1e-12);
  for (const character::Body& body : urdf.bodies) {
    const character::Body& other = BodyOf(mjcf, body.name);
    EXPECT_NEAR(body.mass, other.mass, 1e-12);
    EXPECT_LT((body.rest_position - other.rest_position).norm(), 1e-9) << body.name;
    EXPECT_LT((body.InertiaTensor() - other.InertiaTensor()).norm(), 1e-9) << body.name;
    EXPECT_EQ(body.shapes.size(), other.shapes.size());
    EXPECT_EQ(body.part, other.part) << body.name;
  }
  for (const character::Joint& joint : urdf.joints) {
    const character::Joint& other = JointOf(mjcf, joint.name);
    EXPECT_LT((joint.direction() - other.direction()).norm(), 1e-9) << joint.name;
    EXPECT_LT((joint.anchor - other.anchor).norm(), 1e-9) << joint.name;
    ASSERT_EQ(joint.range.has_value(), other.range.has_value()) << joint.name;
    if (joint.range) {
      EXPECT_NEAR(joint.range->second, other.range->second, 1e-9);
    }
  }
}

TEST(Robot, StandsOnTheFloorLooksAlongZAndHasItsLeftAtX) {
  const Character robot = Make(SampleUrdf(), "sample.urdf").character;
  EXPECT_GT(BodyOf(robot, "left_foot").rest_position.x(), 0.05);
  EXPECT_LT(BodyOf(robot, "right_foot").rest_position.x(), -0.05);
  EXPECT_GT(BodyOf(robot, "trunk").rest_position.y(), BodyOf(robot, "pelvis").rest_position.y());
  EXPECT_GT(BodyOf(robot, "left_forearm").rest_position.z(), BodyOf(robot, "left_upper_arm").rest_position.z());
  double lowest = 1;
  character::State state;
  character::Pose pose;
  pose.root_position = robot.bodies[static_cast<size_t>(robot.root)].rest_position;
  pose.joint_rotations.assign(robot.joints.size(), Quat::Identity());
  character::ForwardKinematics(robot, pose, state);
  for (size_t b = 0; b < state.size(); ++b) {
    EXPECT_LT((state[b].position - robot.bodies[b].rest_position).norm(), 1e-12);
    lowest = std::min(lowest, character::LowestPoint(robot.bodies[b], state[b]));
  }
  EXPECT_NEAR(lowest, 0, 1e-9);
}

TEST(Robot, LinksThatAreFixedAreOneBody) {
  const Character robot = Make(SampleUrdf(), "sample.urdf").character;
  EXPECT_EQ(robot.FindBody("head"), -1);
  EXPECT_NEAR(BodyOf(robot, "trunk").mass, 14, 1e-12);
  EXPECT_EQ(BodyOf(robot, "trunk").shapes.size(), 2u);
}

TEST(Robot, PartsFollowFromTheTree) {
  const Character robot = Make(SampleUrdf(), "sample.urdf").character;
  EXPECT_EQ(BodyOf(robot, "left_foot").part, character::Part::kFoot);
  EXPECT_EQ(BodyOf(robot, "left_shin").part, character::Part::kLowerLeg);
  EXPECT_EQ(BodyOf(robot, "left_thigh").part, character::Part::kBody);
  EXPECT_EQ(BodyOf(robot, "right_forearm").part, character::Part::kHand);
  EXPECT_EQ(BodyOf(robot, "trunk").part, character::Part::kBody);
  EXPECT_EQ(robot.end_effectors.size(), 4u);
}

TEST(Robot, KeepsRangesTorquesSpeedsAndServos) {
  const RobotCharacter made = Make(SampleMjcf(true), "sample.xml");
  const character::Joint& left = JointOf(made.character, "left_knee");
  EXPECT_EQ(left.kp, 200);
  EXPECT_EQ(left.kd, 5);
  EXPECT_EQ(left.effort.maxCoeff(), 90);
  EXPECT_EQ(left.armature, 0.02);
  EXPECT_EQ(JointOf(made.character, "right_knee").effort.maxCoeff(), 80);
  const Character urdf = Make(SampleUrdf(), "sample.urdf").character;
  EXPECT_EQ(JointOf(urdf, "left_ankle").effort.maxCoeff(), 50);
  EXPECT_EQ(JointOf(urdf, "left_ankle").speed, 15);
  EXPECT_EQ(JointOf(urdf, "left_ankle").range->first, -0.8);
  EXPECT_FALSE(JointOf(urdf, "left_shoulder").range.has_value());
  EXPECT_NEAR(JointOf(urdf, "left_ankle").kp, 50 / 0.35, 1e-9);
}

/// What is written can be read again: the same robot.
TEST(Robot, IsTheSameAfterItWasWritten) {
  const Character robot = Make(SampleMjcf(true), "sample.xml").character;
  const io::Json document = io::ParseJson(character::FormatCharacter(robot), "robot.json");
  const Character again = character::ParseCharacter(document, "robot.json");
  ASSERT_EQ(again.joints.size(), robot.joints.size());
  for (size_t j = 0; j < robot.joints.size(); ++j) {
    EXPECT_EQ(again.joints[j].direction(), robot.joints[j].direction());
    EXPECT_EQ(again.joints[j].range, robot.joints[j].range);
    EXPECT_EQ(again.joints[j].effort, robot.joints[j].effort);
    EXPECT_EQ(again.joints[j].armature, robot.joints[j].armature);
  }
  EXPECT_EQ(again.self_pairs, robot.self_pairs);
}

TEST(Robot, OfTheGymInAPlaneIsPlanar) {
  const std::string text = R"(<mujoco><worldbody><body name="torso" pos="0 0 1.2">
    <joint axis="1 0 0" type="slide"/><joint axis="0 0 1" type="slide"/><joint axis="0 1 0"/>
    <geom type="capsule" size=".05 .2"/>
    <body name="thigh" pos="0 0 -.2"><joint name="hip" axis="0 -1 0" range="-150 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05"/>
    <body name="foot" pos="0 0 -.4"><joint name="ankle" axis="0 -1 0" range="-45 45"/><geom type="capsule" fromto="-.1 0 -.1 .2 0 -.1" size=".06"/>
    </body></body></body></worldbody></mujoco>)";
  const Character hopper = Make(text, "hopper.xml").character;
  EXPECT_TRUE(hopper.planar);
  EXPECT_EQ(hopper.joints.size(), 2u);
  EXPECT_EQ(BodyOf(hopper, "foot").part, character::Part::kFoot);
}

TEST(Robot, MeshesBecomeBoxesAndCapsules) {
  SampleFolder folder;
  // A brick of 0.2 x 0.1 x 0.4 m as OBJ, in millimeters.
  io::WriteFile(folder / "brick.obj", R"(v -100 -50 -200
v 100 -50 -200
v 100 50 -200
v -100 50 -200
v -100 -50 200
v 100 -50 200
v 100 50 200
v -100 50 200
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
)");
  const std::string text = R"(<robot name="brick"><link name="brick"><inertial><mass value="2"/>
    <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.04" iyz="0" izz="0.01"/></inertial>
    <collision><geometry><mesh filename="package://bricks/brick.obj" scale="0.001 0.001 0.001"/></geometry></collision></link></robot>)";
  const std::filesystem::path file = folder / "brick.urdf";
  const RobotCharacter made = MakeRobotCharacter(ReadRobot(text, file), "brick.urdf");
  ASSERT_EQ(made.character.bodies[0].shapes.size(), 1u);
  const character::Shape& shape = made.character.bodies[0].shapes[0];
  EXPECT_EQ(shape.kind, character::Shape::Kind::kBox);
  EXPECT_LT((shape.size - Vec3(0.1, 0.4, 0.2)).norm(), 1e-6);
  EXPECT_THAT(made.notes, ::testing::Contains("1 mesh became 1 box and 0 capsules."));
}

TEST(Robot, WithoutAMeshFileHasTheBoxOfItsInertia) {
  const std::string text = R"(<robot name="brick"><link name="brick"><inertial><mass value="12"/>
    <inertia ixx="0.13" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.05"/></inertial>
    <collision><geometry><mesh filename="nowhere.stl"/></geometry></collision></link></robot>)";
  const RobotCharacter made = Make(text, "brick.urdf");
  ASSERT_EQ(made.character.bodies[0].shapes.size(), 1u);
  // m (b^2 + c^2) / 12 = 0.13 and so on, with x forward: 0.1, 0.2, 0.3 m
  EXPECT_LT((made.character.bodies[0].shapes[0].size - Vec3(0.2, 0.3, 0.1)).norm(), 1e-6);
  EXPECT_THAT(made.notes, ::testing::Contains("The mesh nowhere.stl is not there."));
  EXPECT_THAT(made.notes,
              ::testing::Contains("Without a shape in the file, the box of their inertia stands for: brick."));
}

TEST(Robot, FindsMeshesBesideTheFileWhereAPackageWasTakenApart) {
  SampleFolder folder;
  std::filesystem::create_directories(folder / "shapes");
  const std::string tetrahedron = "v 0 0 0\nv 0.3 0 0\nv 0 0.3 0\nv 0 0 0.3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  io::WriteFile(folder / "shapes" / "body.obj", tetrahedron);
  const auto made = [&](const std::string& more) {
    const std::string text = "<robot name=\"x\">" + more + R"(<link name="body"><inertial><mass value="2"/>
    <inertia ixx="0.03" iyy="0.04" izz="0.02"/></inertial><collision><geometry>
    <mesh filename="package://x_description/meshes/visual/body.obj"/></geometry></collision><collision><geometry>
    <mesh filename="package://x_description/meshes/other.obj"/></geometry></collision><collision><geometry>
    <mesh filename="package://x_description/meshes/third.obj"/></geometry></collision></link></robot>)";
    return MakeRobotCharacter(ReadRobot(text, folder / "x.urdf"), "x.urdf").notes;
  };
  EXPECT_THAT(made(""),
              ::testing::Contains("3 meshes are left out: the mesh package://x_description/meshes/other.obj is "
                                  "not there, for one."));
  EXPECT_THAT(made("<mujoco><compiler meshdir=\"shapes\"/></mujoco>"),
              ::testing::Contains(::testing::HasSubstr("1 mesh became")));
}

/// The frame of the root link is where the table says, and every joint turns by its angle about its axis.
TEST(Robot, MovesAsATableOfItsJointsSays) {
  const Character robot = Make(SampleUrdf(), "sample.urdf").character;
  ASSERT_EQ(HingesOf(robot).size(), 11u);
  std::string line = "0.5,0.25,1.5,0,0,0.7071067811865476,0.7071067811865476";  // turned to its left
  for (int j = 0; j < 11; ++j) line += j == 0 ? ",0.4" : j == 2 ? ",-0.3" : ",0";
  const recordings::JointTable table = recordings::ParseJointTable(line + "\n" + line + "\n", "motion.csv", 11);
  const motion::Clip clip = ClipOfJoints(table, robot, "motion.csv");
  const std::vector<character::Pose> poses = character::PosesOf(robot, clip, "motion.csv");
  ASSERT_EQ(poses.size(), 2u);
  character::State state;
  character::ForwardKinematics(robot, poses[0], state);
  // Its pelvis has its center 1 cm before and 2 cm below the frame; it looks along the file's y, which is our x.
  const character::BodyState& pelvis = state[static_cast<size_t>(robot.FindBody("pelvis"))];
  EXPECT_LT((pelvis.position - Vec3(0.25 + 0.01, 1.5 - 0.02, 0.5)).norm(), 1e-9);
  EXPECT_LT((pelvis.orientation * Vec3(Vec3::UnitZ()) - Vec3(Vec3::UnitX())).norm(), 1e-9);
  const character::Joint& waist = JointOf(robot, "waist");
  const character::Joint& knee = JointOf(robot, "left_knee");
  const auto angle = [&](const character::Joint& joint) {
    return joint.Along(RotationVector(character::JointRotation(joint, state)));
  };
  EXPECT_NEAR(angle(waist), 0.4, 1e-9);
  EXPECT_NEAR(angle(knee), -0.3, 1e-9);
  ASSERT_EQ(clip.doubts.size(), 1u);
  EXPECT_EQ(clip.doubts[0], "left_knee exceeds its range by 0.30 rad");
  const recordings::JointTable named = recordings::ParseJointTable(
      "root_x,root_y,root_z,root_qx,root_qy,root_qz,root_qw,left_nee\n0,0,1,0,0,0,1,0\n", "motion.csv", 11);
  try {
    ClipOfJoints(named, robot, "motion.csv");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "motion.csv: found a column \"left_nee\", expected did you mean \"left_knee\"?");
  }
}

TEST(Robot, IsRefusedWithFileAndLine) {
  EXPECT_EQ(Refusal("<robot name=\"x\"><link></robot>"),
            "robot.xml:1: found Start-end tags mismatch, expected an XML file of a robot");
  EXPECT_EQ(Refusal("<sdf><model/></sdf>"),
            "robot.xml:1: <sdf>: found a model of Gazebo (SDF), expected URDF or MJCF: `gz sdf` and `sdformat_urdf` "
            "convert it");
  EXPECT_EQ(Refusal("<osim/>"),
            "robot.xml:1: <osim>: found no robot, expected <robot> of a URDF or <mujoco> of an MJCF file");
  EXPECT_EQ(Refusal(Replaced(SampleUrdf(), "<mass value=\"12\"/>", "<mass value=\"heavy\"/>")),
            "robot.xml:9: <mass>: found value=\"heavy\", expected value of 1 number");
  EXPECT_EQ(Refusal(Replaced(SampleUrdf(), "<child link=\"trunk\"/>", "<child link=\"trunc\"/>")),
            "robot.xml:18: <joint name=\"waist\">: found link \"trunc\", expected did you mean \"trunk\"?");
  EXPECT_EQ(Refusal(Replaced(SampleUrdf(), "type=\"fixed\"", "type=\"fixd\"")),
            "robot.xml:21: <joint name=\"neck\">: found type=\"fixd\", expected did you mean \"fixed\"?");
  EXPECT_EQ(Refusal(Replaced(SampleUrdf(), "<parent link=\"trunk\"/>", "<parent link=\"head\"/>")),
            "robot.xml:2: <robot name=\"sample\">: found a loop of joints through the link head, expected one tree "
            "with one root");
  EXPECT_EQ(Refusal(Replaced(SampleMjcf(), "<freejoint/>", "")),
            "robot.xml:1: <mujoco>: found the body pelvis, which is bolted to the world, expected a robot that moves "
            "freely: a body in <worldbody> with a <freejoint/>");
  EXPECT_EQ(Refusal(Replaced(SampleMjcf(), "childclass=\"leg\"", "childclass=\"legs\"")),
            "robot.xml:14: <joint name=\"left_hip\">: found class \"legs\", expected did you mean \"leg\"?");
}

/// Layouts that files of many makers have.
TEST(Robot, WithInfiniteLimitsHasNone) {
  std::string text = Replaced(SampleUrdf(), R"(effort="80" velocity="10")", R"(effort="inf" velocity="Infinity")");
  text = Replaced(text, R"(lower="-2" upper="1")", R"(lower="-inf" upper="inf")");
  const Character robot = Make(text, "sample.urdf").character;
  EXPECT_FALSE(JointOf(robot, "waist").limited());
  EXPECT_EQ(JointOf(robot, "waist").speed, 0);
  EXPECT_FALSE(JointOf(robot, "left_hip").range.has_value());
  EXPECT_TRUE(JointOf(robot, "right_hip").range.has_value());
}

TEST(Robot, WithExpressionsOfXacroIsRefusedWithThePrograms) {
  EXPECT_EQ(Refusal(Replaced(SampleUrdf(), "lower=\"-1\"", "lower=\"${-pi/2}\"")),
            "robot.xml:20: <limit>: found lower=\"${-pi/2}\", an expression of xacro, expected the file that `xacro "
            "FILE -o ROBOT.urdf` makes of it");
}

TEST(Robot, IsReadWhereWhatIsShownHasNoGeometry) {
  const std::string text =
      Replaced(SampleUrdf(), "</robot>",
               R"(<link name="camera"><visual><geometry/></visual></link><joint name="mount" type="fixed">
               <parent link="head"/><child link="camera"/></joint></robot>)");
  EXPECT_EQ(Make(text, "sample.urdf").character.bodies.size(), 12u);
}

/// As models that came from OpenSim have it.
TEST(Robot, OnThreeSlidesAndThreeHingesIsFree) {
  std::string joints;
  for (const char* const axis : {"1 0 0", "0 1 0", "0 0 1"}) {
    joints += std::string(R"(<joint type="slide" axis=")") + axis + "\"/><joint axis=\"" + axis + "\"/>";
  }
  const RobotCharacter made = Make(Replaced(SampleMjcf(), "<freejoint/>", joints), "sample.xml");
  EXPECT_EQ(made.character.joints.size(), Make(SampleMjcf(), "sample.xml").character.joints.size());
  EXPECT_THAT(made.notes,
              ::testing::Contains("The joints between the world and pelvis leave it free: they are taken for "
                                  "a free joint."));
}

TEST(Robot, NotesSayWhatIsLeftOut) {
  std::string text = Replaced(SampleMjcf(), "</worldbody>",
                              "</worldbody><equality><weld body1=\"left_foot\" body2=\"right_foot\"/></equality>");
  text = Replaced(text, "<joint name=\"waist\"", "<joint name=\"waist\" stiffness=\"3\" frictionloss=\"1\"");
  const RobotCharacter made = Make(text, "sample.xml");
  EXPECT_THAT(made.notes, ::testing::Contains("Left out: 1 equality constraints; loops are open."));
  EXPECT_THAT(made.notes, ::testing::Contains("Left out: 1 springs in joints."));
}

TEST(Robot, OfPublicFilesIsReadWithTheMassesThatItsFilesState) {
  const std::filesystem::path shared = std::filesystem::path(RETRACE_SHARED_DIR) / "robots";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "there is no ../shared/robots";
  const auto read = [&](const std::string& file) { return Make(io::ReadFile(shared / file), shared / file).character; };
  const Character g1 = read("unitree_g1/g1_29dof_rev_1_0.urdf");
  EXPECT_NEAR(g1.total_mass(), 33.34, 0.01);
  EXPECT_EQ(g1.joints.size(), 29u);
  EXPECT_EQ(g1.end_effectors.size(), 4u);
  const Character of_mjcf = read("unitree_g1/g1_29dof_rev_1_0.xml");
  for (const character::Body& body : g1.bodies) {
    const character::Body& other = BodyOf(of_mjcf, body.name);
    EXPECT_NEAR(body.mass, other.mass, 2e-3) << body.name;  // a link of 1 g is only in the URDF
    EXPECT_LT((body.rest_position - other.rest_position).norm(), 1e-4) << body.name;
  }
  EXPECT_EQ(read("unitree_h1/urdf/h1.urdf").joints.size(), 10u);
  EXPECT_NEAR(read("unitree_go2/urdf/go2.urdf").total_mass(), 15.02, 0.01);
  EXPECT_EQ(read("unitree_go2/urdf/go2.urdf").end_effectors.size(), 4u);
  EXPECT_NEAR(read("dm_control/humanoid.xml").total_mass(), 40.84, 0.01);
  EXPECT_EQ(read("dm_control/quadruped.xml").end_effectors.size(), 4u);
}

}  // namespace
}  // namespace retrace::robots
