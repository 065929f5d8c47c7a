/// The parts that readers of robots are made of: values of XML, limbs of a tree, shapes in the axes of a body.
#include <gtest/gtest.h>

#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/mesh_file.h"
#include "retrace/robots/robot.h"
#include "robots/body_shapes.h"
#include "robots/limbs.h"
#include "robots/mjcf.h"
#include "robots/sample_robot.h"
#include "robots/urdf.h"
#include "robots/xml_values.h"

namespace retrace::robots {
namespace {

TEST(XmlFile, SaysWhereSomethingIsWrong) {
  XmlFile xml("<a>\n  <b name=\"x\" size=\"1 2 3\" at=\"1,2\"/>\n</a>", "file.xml");
  const pugi::xml_node node = xml.document().child("a").child("b");
  EXPECT_EQ(xml.Vector(node, "size"), Vec3(1, 2, 3));
  EXPECT_EQ(xml.Number(node, "none", 4.0), 4);
  EXPECT_EQ(xml.PlaceOf(node), "file.xml:2: <b name=\"x\">");
  try {
    xml.Vector(node, "at");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "file.xml:2: <b name=\"x\">: found at=\"1,2\", expected at of 3 numbers");
  }
}

/// Before links are merged and turned: in the axes of the file.
TEST(ReadersOfRobots, GiveLinksInTheAxesOfTheFile) {
  XmlFile urdf(SampleUrdf(), "sample.urdf"), mjcf(SampleMjcf(), "sample.xml");
  Robot of_urdf = ReadUrdf(urdf, "sample.urdf");
  const Robot of_mjcf = ReadMjcf(mjcf, "sample.xml");
  EXPECT_EQ(of_urdf.links.size(), 13u);
  EXPECT_EQ(of_mjcf.links.size(), 13u);
  EXPECT_EQ(of_urdf.links.front().name, "pelvis");
  MergeFixedLinks(of_urdf);
  EXPECT_EQ(of_urdf.links.size(), 12u);
  double mass = 0;
  for (const RobotLink& link : of_urdf.links) mass += link.mass.mass;
  EXPECT_NEAR(mass, 5 + 12 + 2 + 2 * (3 + 2 + 0.8 + 1.5 + 1), 1e-9);
}

/// Two point masses that become one body.
TEST(RobotMass, OfTwoBodiesIsThatOfOne) {
  RobotMass mass{1, Vec3(-1, 0, 0), Mat3::Zero()};
  mass += {3, Vec3(1, 0, 0), Mat3::Zero()};
  EXPECT_EQ(mass.mass, 4);
  EXPECT_EQ(mass.center, Vec3(0.5, 0, 0));
  EXPECT_LT((mass.inertia - Mat3(Vec3(0, 3, 3).asDiagonal())).norm(), 1e-12);  // 1 x 1.5^2 + 3 x 0.5^2
}

TEST(Limbs, ThatReachTheFloorAreLegs) {
  // A trunk with a leg of three bodies, an arm of two and a head; fingers weigh next to nothing.
  const std::vector<BodyAtRest> bodies = {
      {-1, 20, Vec3::Zero(), 0.8, 1.4},         {0, 5, Vec3(0.1, 0.8, 0), 0.4, 0.8},
      {1, 3, Vec3(0.1, 0.4, 0), 0.1, 0.4},      {2, 1, Vec3(0.1, 0.1, 0), 0, 0.1},
      {0, 2, Vec3(0.2, 1.3, 0), 1.0, 1.3},      {4, 1, Vec3(0.2, 1.0, 0), 0.7, 1.0},
      {5, 0.001, Vec3(0.2, 0.7, 0), 0.65, 0.7}, {0, 3, Vec3(0, 1.4, 0), 1.4, 1.6},
      {0, 5, Vec3(-0.1, 0.8, 0), 0.4, 0.8},     {8, 4, Vec3(-0.1, 0.4, 0), 0, 0.4},
  };
  const Limbs limbs = FindLimbs(bodies);
  ASSERT_EQ(limbs.limbs.size(), 4u);
  EXPECT_TRUE(limbs.limbs[0].leg);
  EXPECT_EQ(limbs.limbs[0].bodies, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(limbs.limbs[1].leg);
  EXPECT_FALSE(limbs.limbs[2].leg);
  using character::Part;
  const std::vector<Part> expected = {Part::kBody, Part::kBody, Part::kLowerLeg, Part::kFoot, Part::kBody,
                                      Part::kHand, Part::kHand, Part::kBody,     Part::kBody, Part::kFoot};
  EXPECT_EQ(limbs.parts, expected);
}

TEST(BodyShapes, AreAlongTheAxesOfTheBodyOrMeshes) {
  ShapeCounts counts;
  RobotShape box;
  box.size = Vec3(1, 2, 3);
  const LinkFrame quarter{Vec3(1, 0, 0), AxisRotation(2, kPi / 2)};
  const character::Shape turned = ShapeOfBody(box, quarter, false, counts);
  EXPECT_EQ(turned.size, Vec3(2, 1, 3));
  EXPECT_EQ(turned.offset, Vec3(1, 0, 0));
  EXPECT_EQ(counts.prisms, 0u);
  const character::Shape oblique = ShapeOfBody(box, {Vec3::Zero(), AxisRotation(2, 0.3)}, false, counts);
  EXPECT_EQ(oblique.kind, character::Shape::Kind::kMesh);
  EXPECT_FALSE(FindFault(oblique.mesh).any());
  RobotShape cylinder;
  cylinder.kind = RobotShape::Kind::kCylinder;
  cylinder.radius = 0.5;
  cylinder.length = 1;
  const character::Shape prism = ShapeOfBody(cylinder, {}, false, counts);
  EXPECT_FALSE(FindFault(prism.mesh).any());
  EXPECT_TRUE(IsConvex(prism.mesh, 1e-9));
  EXPECT_NEAR(SolidOf(prism.mesh).volume, kPi / 4, 0.05);
  cylinder.kind = RobotShape::Kind::kCapsule;
  const character::Shape rounded = ShapeOfBody(cylinder, {Vec3::Zero(), AxisRotation(0, 0.5)}, false, counts);
  EXPECT_FALSE(FindFault(rounded.mesh).any());
  EXPECT_TRUE(IsConvex(rounded.mesh, 1e-9));
  RobotShape ball;
  ball.kind = RobotShape::Kind::kEllipsoid;
  ball.size = Vec3(1, 2, 3);
  EXPECT_FALSE(FindFault(ShapeOfBody(ball, {}, false, counts).mesh).any());
  EXPECT_EQ(counts.prisms, 4u);
}

TEST(MeshFile, ThatIsNotThereIsSaid) {
  std::string why;
  EXPECT_FALSE(recordings::ReadMesh("nowhere.stl", Vec3::Ones(), why).has_value());
  EXPECT_EQ(why, "is not there");
}

}  // namespace
}  // namespace retrace::robots
