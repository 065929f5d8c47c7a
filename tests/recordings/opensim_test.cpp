/// Motions of OpenSim: models of both versions, every joint, against kinematics written out.
#include "retrace/recordings/opensim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recordings/missing_segments.h"
#include "recordings/sample_opensim.h"
#include "recordings/well_formed.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/recording.h"

namespace retrace::recordings {
namespace {

using motion::Clip;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Axis(const std::string& name, const std::string& coordinate, const std::string& axis,
                 const std::string& function) {
  return "<TransformAxis name=\"" + name + "\"><coordinates>" + coordinate + "</coordinates><axis>" + axis + "</axis>" +
         function + "</TransformAxis>";
}

std::vector<Vec3> PlacesAt(const Clip& clip, size_t frame) {
  motion::GlobalPose pose;
  ForwardKinematics(clip.skeleton, clip.frames[frame], pose);
  return pose.positions;
}

Clip Parse(const std::string& model, const std::string& motion) {
  const Clip clip = ParseRecording({{motion, "walk.mot"}, {model, "body.osim"}, {}});
  EXPECT_EQ(motion::laws::BrokenPromise(clip), "");
  return clip;
}

TEST(OpenSim, AKneeThatRollsOnItsSplines) {
  const std::string knee = JointOf(
      "CustomJoint", "knee", "pelvis", "tibia", "0 -0.4 0", "0 0.1 0", CoordinateOf("bend"),
      "<SpatialTransform>" +
          Axis("rotation1", "bend", "0 0 1", "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>") +
          Axis("rotation2", "", "0 1 0", "<Constant><value>0</value></Constant>") +
          Axis("rotation3", "", "1 0 0", "<Constant><value>0</value></Constant>") +
          Axis("translation1", "bend", "1 0 0", "<SimmSpline><x>-2 0 2</x><y>-0.2 0 0.2</y></SimmSpline>") +
          Axis("translation2", "bend", "0 1 0",
               "<MultiplierFunction><function><PolynomialFunction><coefficients>1 0 "
               "0</coefficients></PolynomialFunction>"
               "</function><scale>0.1</scale></MultiplierFunction>") +
          Axis("translation3", "", "0 0 1", "<Constant><value>0.05</value></Constant>") + "</SpatialTransform>");
  const std::string foot = JointOf("WeldJoint", "foot", "tibia", "foot", "0 -0.5 0", "0 0 0", "");
  const Clip clip = Parse(ModelOf(foot + kRoot + knee), MotionOf("bend\ttx", "0 0 0\n0.5 -90 2\n"));
  EXPECT_EQ(clip.frame_time, 0.5);
  EXPECT_EQ(clip.unit, 1);
  const double q = -kPi / 2;
  const Vec3 joint = Vec3(2, 1, 0) + Vec3(0, -0.4, 0) + Vec3(0.1 * q, 0.1 * q * q, 0.05);
  // The body of the tibia is 0.1 under its joint, and the foot 0.5 under that: turned by -90 degrees, -y is -x.
  const auto at = PlacesAt(clip, 1);
  EXPECT_LT((at[1] - joint).norm(), 1e-12);
  EXPECT_LT((at[2] - (joint + Vec3(-0.6, 0, 0))).norm(), 1e-12);
  EXPECT_LT((PlacesAt(clip, 0)[2] - Vec3(0, 0, 0.05)).norm(), 1e-12);
}

TEST(OpenSim, EveryJointOfTheLibrary) {
  struct Case {
    const char* type;
    std::vector<const char*> coordinates;
    Quat turn;
    Vec3 move;
  };
  const double a = 0.3, b = -0.7, c = 0.4;
  const Quat xyz = AxisRotation(0, a) * AxisRotation(1, b) * AxisRotation(2, c);
  const Case cases[] = {{"WeldJoint", {}, Quat::Identity(), Vec3::Zero()},
                        {"PinJoint", {"a"}, AxisRotation(2, a), Vec3::Zero()},
                        {"SliderJoint", {"a"}, Quat::Identity(), Vec3(a, 0, 0)},
                        {"UniversalJoint", {"a", "b"}, AxisRotation(0, a) * AxisRotation(1, b), Vec3::Zero()},
                        {"BallJoint", {"a", "b", "c"}, xyz, Vec3::Zero()},
                        {"GimbalJoint", {"a", "b", "c"}, xyz, Vec3::Zero()},
                        {"PlanarJoint", {"a", "b", "c"}, AxisRotation(2, a), Vec3(b, c, 0)}};
  for (const Case& joint : cases) {
    std::string coordinates;
    for (const char* name : joint.coordinates) coordinates += CoordinateOf(name);
    const std::string model =
        ModelOf(kRoot + JointOf(joint.type, "j", "pelvis", "arm", "0 0.5 0", "0 0 0", coordinates, "", "0.2 0 0") +
                JointOf("WeldJoint", "t", "arm", "tip", "0.1 0.2 0.3", "0 0 0", ""));
    const Clip clip = Parse(model, MotionOf("a b c ty", "0 0.3 -0.7 0.4 1\n0.1 0.3 -0.7 0.4 1\n", "inDegrees=no\n"));
    const Quat frame = AxisRotation(0, 0.2);
    const Vec3 place = Vec3(0, 1.5, 0) + frame * joint.move;
    const auto at = PlacesAt(clip, 0);
    EXPECT_LT((at[1] - place).norm(), 1e-12) << joint.type;
    EXPECT_LT((at[2] - (place + frame * joint.turn * Vec3(0.1, 0.2, 0.3))).norm(), 1e-12) << joint.type;
  }
}

std::string Refusal(const std::string& model, const std::string& motion) {
  try {
    ParseOpenSim(model, "body.osim", motion, "walk.mot");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// Where the tip of a joint's child is, and its clip.
Clip ClipOfJoint(const std::string& type, const std::vector<std::string>& names, const std::string& more,
                 const std::string& values) {
  std::string coordinates, columns;
  for (const std::string& name : names) {
    coordinates += CoordinateOf(name);
    columns += name + " ";
  }
  const std::string model = ModelOf(kRoot + JointOf(type, "j", "pelvis", "arm", "0 0 0", "0 0 0", coordinates, more) +
                                    JointOf("WeldJoint", "t", "arm", "tip", "0.1 0.2 0.3", "0 0 0", ""));
  return Parse(model, MotionOf(columns + "ty", "0 " + values + " 0\n0.1 " + values + " 0\n", "inDegrees=no\n"));
}

TEST(OpenSim, AnEllipsoidJointSlidesOverItsSurface) {
  const Clip clip =
      ClipOfJoint("EllipsoidJoint", {"a", "b", "c"}, "<radii_x_y_z>0.1 0.2 0.3</radii_x_y_z>", "0.3 -0.7 0.4");
  const Quat turn = AxisRotation(0, 0.3) * AxisRotation(1, -0.7) * AxisRotation(2, 0.4);
  const Vec3 normal = turn * Vec3::UnitZ();
  const Vec3 surface(0.1 * normal.x(), 0.2 * normal.y(), 0.3 * normal.z());
  EXPECT_LT((PlacesAt(clip, 0)[2] - (surface + turn * Vec3(0.1, 0.2, 0.3))).norm(), 1e-12);
}

TEST(OpenSim, AJointOfConstantCurvatureIsAnArc) {
  const double length = 0.4, bend = 0.6;
  const Clip clip = ClipOfJoint("ConstantCurvatureJoint", {"x", "z", "y"},
                                "<neutral_angle_x_z_y>0.1 0 0</neutral_angle_x_z_y><length>0.4</length>", "0.5 0 0.3");
  const Quat turn = AxisRotation(0, bend) * AxisRotation(1, 0.3);
  const double radius = length / bend;
  const Vec3 end(0, radius * std::sin(bend), radius * (1 - std::cos(bend)));
  EXPECT_LT((PlacesAt(clip, 0)[2] - (end + turn * Vec3(0.1, 0.2, 0.3))).norm(), 1e-12);
  // Straight, it is as long as the arc.
  const Clip straight = ClipOfJoint("ConstantCurvatureJoint", {"x", "z", "y"}, "<length>0.4</length>", "0 0 0");
  EXPECT_LT((PlacesAt(straight, 0)[1] - Vec3(0, 0.4, 0)).norm(), 1e-12);
}

TEST(OpenSim, AShoulderBladeMovesOverTheThorax) {
  const Clip clip = ClipOfJoint(
      "ScapulothoracicJoint", {"a", "e", "u", "w"},
      "<thoracic_ellipsoid_radii_x_y_z>0.1 0.2 0.08</thoracic_ellipsoid_radii_x_y_z><scapula_winging_axis_origin>0.02 "
      "-0.03</scapula_winging_axis_origin><scapula_winging_axis_direction>0.25</scapula_winging_axis_direction>",
      "0.3 0.2 -0.1 0.15");
  const Quat turn = AxisRotation(1, 0.3) * AxisRotation(0, -0.2) * AxisRotation(2, -0.1);
  const Vec3 normal = turn * Vec3::UnitZ();
  const Vec3 surface(0.1 * normal.x(), 0.2 * normal.y(), 0.08 * normal.z());
  const Quat winging = FromRotationVector(0.15 * Vec3(-std::sin(0.25), std::cos(0.25), 0));
  const Vec3 origin(0.02, -0.03, 0);
  const Vec3 tip = surface + turn * (origin + winging * (Vec3(0.1, 0.2, 0.3) - origin));
  EXPECT_LT((PlacesAt(clip, 0)[2] - tip).norm(), 1e-12);
}

/// The three rotations of a custom joint, the last of a coordinate.
std::string Rotations(const std::string& coordinate) {
  return Axis("rotation1", "", "1 0 0", "") + Axis("rotation2", "", "0 1 0", "") +
         Axis("rotation3", coordinate, "0 0 1", "");
}

TEST(OpenSim, ACoordinateThatIsCoupledFollows) {
  const std::string joint =
      "<SpatialTransform>" + Rotations("flex") + Axis("translation1", "slide", "1 0 0", "") + "</SpatialTransform>";
  std::string model = ModelOf(kRoot + JointOf("CustomJoint", "j", "pelvis", "arm", "0 0 0", "0 0 0",
                                              CoordinateOf("flex") + CoordinateOf("slide"), joint));
  const std::string coupler =
      "<ConstraintSet><objects><CoordinateCouplerConstraint name=\"c\"><isEnforced>true</isEnforced>"
      "<coupled_coordinates_function><LinearFunction><coefficients>0.5 0.1</coefficients></LinearFunction>"
      "</coupled_coordinates_function><independent_coordinate_names>flex</independent_coordinate_names>"
      "<dependent_coordinate_name>slide</dependent_coordinate_name></CoordinateCouplerConstraint></objects>"
      "</ConstraintSet>";
  model.insert(model.find("</Model>"), coupler);
  const Clip clip = Parse(model, MotionOf("flex ty", "0 0.4 0\n0.1 0.4 0\n", "inDegrees=no\n"));
  EXPECT_NEAR(PlacesAt(clip, 0)[1].x(), 0.5 * 0.4 + 0.1, 1e-12);
  EXPECT_TRUE(clip.doubts.empty() || clip.doubts[0].find("slide") == std::string::npos);
}

TEST(OpenSim, ASplineOfSimmHasTheThirdDerivativeOfACubicAtItsEnds) {
  // A cubic is reproduced, which a natural spline cannot do.
  const auto cubic = [](double x) { return 0.3 - 0.2 * x + 0.5 * x * x - 0.7 * x * x * x; };
  std::string x, y;
  for (const double at : {-1.0, -0.4, 0.1, 0.7, 1.2}) {
    x += std::to_string(at) + " ";
    y += std::to_string(cubic(at)) + " ";
  }
  const std::string joint =
      "<SpatialTransform>" + Rotations("") +
      Axis("translation1", "slide", "1 0 0", "<SimmSpline><x>" + x + "</x><y>" + y + "</y></SimmSpline>") +
      "</SpatialTransform>";
  const std::string model =
      ModelOf(kRoot + JointOf("CustomJoint", "j", "pelvis", "arm", "0 0 0", "0 0 0", CoordinateOf("slide"), joint));
  for (const char* at : {"-0.7", "0.5", "1.1"}) {
    const std::string row = std::string(at) + " 0\n";
    const Clip clip = Parse(model, MotionOf("slide ty", "0 " + row + "0.1 " + row, "inDegrees=no\n"));
    EXPECT_NEAR(PlacesAt(clip, 0)[1].x(), cubic(std::stod(at)), 2e-6) << at;
  }
}

TEST(OpenSim, StatesMassesAndTheClockOfTheFile) {
  std::string model = ModelOf(
      kRoot + JointOf("PinJoint", "hip", "pelvis", "femur_r", "0 0 0.1", "0 0.2 0", CoordinateOf("flex"), "", "0 0 0"));
  model.insert(model.find("<JointSet>"),
               "<BodySet><objects><Body name=\"pelvis\"><mass>10</mass><mass_center>-0.07 0 0</mass_center>"
               "<inertia>0.1 0.2 0.3 0.01 0 0</inertia></Body><Body name=\"femur_r\"><mass>8</mass>"
               "<mass_center>0 0 0</mass_center><inertia>0.1 0.02 0.1 0 0 0</inertia></Body></objects></BodySet>");
  const Clip clip = Parse(model, MotionOf("flex ty", "0.5 0 1\n0.51 0 1\n"));
  EXPECT_DOUBLE_EQ(clip.start_time, 0.5);
  ASSERT_EQ(clip.masses.size(), clip.skeleton.joints.size());
  EXPECT_DOUBLE_EQ(clip.masses[0].mass, 10);
  EXPECT_LT((clip.masses[0].center - Vec3(-0.07, 0, 0)).norm(), 1e-12);
  EXPECT_DOUBLE_EQ(clip.masses[0].inertia(1, 0), 0.01);
  EXPECT_LT((clip.masses[1].center - Vec3(0, -0.2, 0)).norm(), 1e-12) << "from the joint, which is over the body";
  model.replace(model.find("<mass>10"), 8, "<mass>-1");
  EXPECT_THAT(Refusal(model, MotionOf("flex ty", "0 0 1\n1 0 1\n")), HasSubstr("body pelvis: found a mass of -1"));
}

TEST(OpenSim, AModelOfLegsGetsArmsAndAHeadThatGoWithTheTorso) {
  std::string joints = kRoot + JointOf("WeldJoint", "back", "pelvis", "torso", "0 0.1 0", "0 0 0", "");
  for (const std::string side : {"r", "l"}) {
    const std::string z = side == "r" ? "0.1" : "-0.1";
    joints += JointOf("PinJoint", "hip" + side, "pelvis", "femur_" + side, "0 -0.05 " + z, "0 0 0",
                      CoordinateOf("hip_" + side));
    joints += JointOf("WeldJoint", "knee" + side, "femur_" + side, "tibia_" + side, "0 -0.4 0", "0 0 0", "");
    joints += JointOf("WeldJoint", "ankle" + side, "tibia_" + side, "talus_" + side, "0 -0.4 0", "0 0 0", "");
  }
  const Clip clip = Parse(ModelOf(joints), MotionOf("hip_r ty", "0 0 1\n1 0 1\n"));
  const int torso = clip.skeleton.Find("torso");
  for (const char* name : {"head", "humerus_r", "humerus_l"}) {
    const int joint = clip.skeleton.Find(name);
    ASSERT_GE(joint, 0) << name;
    EXPECT_EQ(clip.skeleton.joints[static_cast<size_t>(joint)].parent, torso) << name;
  }
  EXPECT_GE(clip.skeleton.Find("hand_l"), 0);
  EXPECT_THAT(clip.notes, testing::Contains(HasSubstr("no arms and no head: they go with torso")));
}

Vec3 PlaceOf(const Clip& clip, const std::string& joint) {
  const int found = clip.skeleton.Find(joint);
  if (found < 0) throw std::out_of_range(joint);
  return PlacesAt(clip, 0)[static_cast<size_t>(found)];
}

const std::string kStill = MotionOf("ty ry", "0 1 0\n1 1 90\n");

TEST(OpenSim, AMissingLegIsLikeTheOtherOneAndBent) {
  const Clip whole = Parse(ModelWith({"r", "l"}, {"r", "l"}, true), kStill);
  const Clip clip = Parse(ModelWith({"r"}, {"r", "l"}, true), kStill);
  EXPECT_LT((PlaceOf(clip, "tibia_l") - PlaceOf(whole, "tibia_l")).norm(), 1e-12);
  const Vec3 ankle = PlaceOf(clip, "talus_l"), knee = PlaceOf(clip, "tibia_l");
  EXPECT_NEAR(ankle.y(), knee.y(), 1e-9) << "the foot is behind the knee";
  EXPECT_NEAR(ankle.x(), knee.x() - 0.4, 1e-9);
  EXPECT_THAT(clip.doubts, testing::Contains(HasSubstr("no left leg: one like the other goes with pelvis")));
  EXPECT_THAT(Parse(ModelWith({"l"}, {"r", "l"}, true), kStill).doubts, testing::Contains(HasSubstr("no right leg")));
}

TEST(OpenSim, AMissingArmIsLikeTheOtherOne) {
  const Clip clip = Parse(ModelWith({"r", "l"}, {"r"}, true), kStill);
  EXPECT_LT((PlaceOf(clip, "hand_l") - PlaceOf(Parse(ModelWith({"r", "l"}, {"l"}, true), kStill), "hand_l")).norm(),
            1e-12);
  EXPECT_THAT(clip.notes, testing::Contains(HasSubstr("no left arm: one like the other goes with torso")));
}

TEST(OpenSim, LegsAndAPelvisAloneCarryATorso) {
  const Clip clip = Parse(ModelWith({"r", "l"}, {}, false), kStill);
  for (const char* name : {"torso", "head", "humerus_l", "hand_r"}) EXPECT_GE(clip.skeleton.Find(name), 0) << name;
  EXPECT_GT(PlaceOf(clip, "head").y(), PlaceOf(clip, "torso").y() + 0.3);
  EXPECT_THAT(clip.notes, testing::Contains(HasSubstr("no arms and no head: they go with pelvis")));
}

TEST(OpenSim, AnUpperBodyGetsAPelvisAndLegs) {
  const Clip seated = Parse(ModelWith({}, {"r", "l"}, true), kStill);
  EXPECT_LT(PlaceOf(seated, "talus_r").y(), PlaceOf(seated, "pelvis").y() - 0.7);
  EXPECT_THAT(seated.doubts, testing::Contains(HasSubstr("the model has no legs")));

  const Clip clip = Parse(ModelWith({}, {"r", "l"}, true, false), kStill);
  EXPECT_EQ(clip.skeleton.joints[0].name, "pelvis");
  EXPECT_THAT(clip.doubts, testing::Contains(HasSubstr("no pelvis and no legs")));
  // The trunk is where it was, and turns as it did; the legs turn with it.
  EXPECT_LT((PlaceOf(clip, "torso") - Vec3(0, 1, 0)).norm(), 1e-12);
  const auto hips = [&](size_t frame) {
    const std::vector<Vec3> places = PlacesAt(clip, frame);
    return Vec3(places[static_cast<size_t>(clip.skeleton.Find("femur_r"))] -
                places[static_cast<size_t>(clip.skeleton.Find("femur_l"))]);
  };
  EXPECT_LT((hips(1) - AxisRotation(1, kPi / 2) * hips(0)).norm(), 1e-9);
  ASSERT_EQ(clip.frames[0].rotations.size(), clip.skeleton.joints.size());
}

/// Markers of a model that walks on its spot and turns, as a camera system with z up sees them.
struct MarkedMotion {
  std::string model;
  Clip truth;
  Markers markers;
};

MarkedMotion Marked() {
  MarkedMotion marked;
  marked.model = ModelWith({"r", "l"}, {"r", "l"}, true);
  const std::string motion = MotionOf("ty ry hip_r knee_r ankle_r hip_l",
                                      "0 0.9 0 20 -40 10 -15\n0.5 0.95 40 -20 -10 0 25\n1 0.9 80 10 -30 5 0\n");
  marked.truth = Parse(marked.model, motion);
  std::string set;
  marked.markers.rate = 2;
  marked.markers.start_time = 3;
  marked.markers.places.resize(3);
  for (const char* body : {"pelvis", "femur_r", "tibia_r", "talus_r", "femur_l", "tibia_l", "talus_l"}) {
    int number = 0;
    for (const Vec3& place : {Vec3(0.1, 0.02, 0), Vec3(-0.03, -0.1, 0.05), Vec3(0, 0.05, -0.06)}) {
      const std::string name = std::string(body) + std::to_string(++number);
      set += "<Marker name=\"" + name + "\"><socket_parent_frame>/bodyset/" + body +
             "</socket_parent_frame><location>" + std::to_string(place.x()) + " " + std::to_string(place.y()) + " " +
             std::to_string(place.z()) + "</location></Marker>";
      marked.markers.names.push_back("Ann:" + name);
      for (size_t f = 0; f < 3; ++f) {
        motion::GlobalPose pose;
        ForwardKinematics(marked.truth.skeleton, marked.truth.frames[f], pose);
        const auto joint = static_cast<size_t>(marked.truth.skeleton.Find(body));
        const Vec3 at = pose.positions[joint] + pose.orientations[joint] * place;
        marked.markers.places[f].emplace_back(at.x(), -at.z(), at.y());
      }
    }
  }
  marked.model.insert(marked.model.find("<JointSet>"), "<MarkerSet><objects>" + set + "</objects></MarkerSet>");
  return marked;
}

TEST(OpenSim, MarkersOfAModelTellItsMotion) {
  MarkedMotion marked = Marked();
  marked.markers.places[1][4] = Vec3::Constant(std::nan(""));  // one is not seen
  const Clip clip = ParseOpenSimMarkers(marked.model, "body.osim", marked.markers, "walk.trc");
  ASSERT_EQ(clip.frames.size(), 3u);
  EXPECT_DOUBLE_EQ(clip.start_time, 3);
  for (size_t f = 0; f < 3; ++f) {
    for (const char* body : {"pelvis", "tibia_r", "talus_r", "talus_l"}) {
      const auto joint = static_cast<size_t>(clip.skeleton.Find(body));
      EXPECT_LT((PlacesAt(clip, f)[joint] - PlacesAt(marked.truth, f)[joint]).norm(), 1e-4) << f << body;
    }
  }
  EXPECT_THAT(clip.notes, testing::Contains(HasSubstr("by 21 markers, which are off by 0 mm")));
  EXPECT_THAT(clip.doubts, testing::Not(testing::Contains(HasSubstr("not scaled"))));

  for (auto& frame : marked.markers.places) {
    for (Vec3& place : frame) place *= 1.3;
  }
  EXPECT_THAT(ParseOpenSimMarkers(marked.model, "body.osim", marked.markers, "walk.trc").doubts,
              testing::Contains(HasSubstr("not scaled to this person")));
  marked.markers.names.assign(marked.markers.names.size(), "other");
  try {
    ParseOpenSimMarkers(marked.model, "body.osim", marked.markers, "walk.trc");
    FAIL() << "read without markers";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("walk.trc: found 0 markers that the model has, too, of 21"));
  }
}

TEST(OpenSim, ModelsOfVersion3AndStatesOfVersion4) {
  const std::string model =
      "<OpenSimDocument Version=\"30000\"><Model><BodySet><objects><Body name=\"ground\"><Joint/></Body>"
      "<Body name=\"pelvis\"><Joint><FreeJoint name=\"root\"><parent_body> ground </parent_body>"
      "<location_in_parent>0 0 0</location_in_parent><CoordinateSet><objects>" +
      CoordinateOf("rx") + CoordinateOf("ry") + CoordinateOf("rz") + CoordinateOf("tx") + CoordinateOf("ty") +
      CoordinateOf("tz") +
      "</objects></CoordinateSet></FreeJoint></Joint></Body><Body name=\"femur_r\"><Joint><CustomJoint name=\"hip\">"
      "<parent_body>pelvis</parent_body><location_in_parent>0 0 0.1</location_in_parent>"
      "<orientation_in_parent>0 0 0</orientation_in_parent><location>0 0 0</location><orientation>0 0 0</orientation>"
      "<CoordinateSet><objects>" +
      CoordinateOf("flex") + "</objects></CoordinateSet><SpatialTransform>" +
      "<TransformAxis name=\"rotation1\"><coordinates>flex</coordinates><axis>0 0 1</axis><function><LinearFunction>"
      "<coefficients>1 0</coefficients></LinearFunction></function></TransformAxis>"
      "</SpatialTransform></CustomJoint></Joint></Body></objects></BodySet></Model></OpenSimDocument>";
  const Clip clip = Parse(model, MotionOf("/jointset/hip/flex/value\t/jointset/hip/flex/speed\t/forceset/m/activation",
                                          "0 0.5 9 9\n0.01 0.5 9 9\n", "inDegrees=no\n"));
  EXPECT_LT(AngleBetween(clip.frames[0].rotations[1], AxisRotation(2, 0.5)), 1e-12);
}

TEST(OpenSim, ATorsoWithShouldersGetsAHead) {
  const auto arm = [](const std::string& side, const std::string& z) {
    return JointOf("WeldJoint", "acromial_" + side, "torso", "humerus_" + side, "0 0.4 " + z, "0 0 0", "");
  };
  const Clip clip = Parse(ModelOf(kRoot + JointOf("WeldJoint", "back", "pelvis", "torso", "0 0.1 0", "0 0 0", "") +
                                  arm("r", "0.2") + arm("l", "-0.2")),
                          MotionOf("tx", "0 0\n1 1\n"));
  const int head = clip.skeleton.Find("head");
  ASSERT_GE(head, 0);
  EXPECT_LT((PlacesAt(clip, 0)[static_cast<size_t>(head)] - Vec3(0, 1.5, 0)).norm(), 1e-12);
  EXPECT_THAT(clip.notes, ElementsAre("the model has no head: one goes with torso"));
}

/// A chair stands on the ground between the pelvis and the legs of the model.
TEST(OpenSim, WhatElseStandsOnTheGroundIsLeftOut) {
  const auto weld = [](const std::string& name, const std::string& parent, const std::string& child,
                       const std::string& place) {
    return JointOf("WeldJoint", name, parent, child, place, "0 0 0", "");
  };
  const std::string legs = weld("hip", "pelvis", "femur", "0 -0.1 0") + weld("knee", "femur", "tibia", "0 -0.4 0");
  const std::string chair = weld("legs", "ground", "seat", "3 0 0") + weld("screws", "seat", "back", "0 0.5 0");
  const std::string motion = MotionOf("tx", "0 0\n1 1\n");
  const Clip alone = Parse(ModelOf(kRoot + legs), motion), beside = Parse(ModelOf(kRoot + chair + legs), motion);
  ASSERT_EQ(beside.skeleton.joints.size(), alone.skeleton.joints.size());
  for (size_t j = 0; j < alone.skeleton.joints.size(); ++j) {
    EXPECT_EQ(beside.skeleton.joints[j].name, alone.skeleton.joints[j].name);
    EXPECT_EQ(beside.skeleton.joints[j].parent, alone.skeleton.joints[j].parent);
    EXPECT_LT((PlacesAt(beside, 1)[j] - PlacesAt(alone, 1)[j]).norm(), 1e-12);
  }
}

TEST(OpenSim, WhatIsBrokenIsRefusedWithItsPlace) {
  const std::string model = ModelOf(kRoot), motion = MotionOf("tx", "0 0\n1 1\n");
  EXPECT_EQ(Refusal(model, motion), "accepted");
  EXPECT_THAT(Refusal("no model", motion), HasSubstr("body.osim, byte "));
  EXPECT_THAT(Refusal("<a/>", motion), HasSubstr("body.osim: found no OpenSimDocument with a Model"));
  EXPECT_THAT(Refusal(ModelOf(JointOf("BeadedJoint", "knee", "ground", "tibia", "0 0 0", "0 0 0", "")), motion),
              HasSubstr("body.osim: joint knee: found a BeadedJoint, expected a Custom"));
  EXPECT_THAT(
      Refusal(ModelOf(JointOf("WeldJoint", "knee", "femur", "tibia", "0 0 0", "0 0 0", "")), motion),
      HasSubstr("joint knee: found the body \"femur\" before \"tibia\", expected a chain of joints from ground"));
  EXPECT_THAT(Refusal(ModelOf(JointOf("WeldJoint", "knee", "ground", "tibia", "0 0 x", "0 0 0", "")), motion),
              HasSubstr("joint knee: found \"0 0 x\" in translation, expected three numbers"));
  EXPECT_EQ(Refusal(model, MotionOf("knee", "0 0\n1 1\n")),
            "walk.mot: found no column of a coordinate of the model, expected names such as rx");
  EXPECT_EQ(Refusal(model, MotionOf("tx", "0 0\n0 1\n")),
            "walk.mot:7:1: found a time that does not grow, expected each above the one before");
  EXPECT_EQ(Refusal(model, MotionOf("tx", "0 0\n1\n")),
            "walk.mot:7:2: found the end of the line after 1 numbers, expected 2 numbers");
  EXPECT_EQ(Refusal(model, MotionOf("tx", "0 0\n1 a\n")), "walk.mot:7:3: found \"a\", expected a number");
  EXPECT_EQ(Refusal(model, "time tx\n0 0\n"), "walk.mot:2:1: found the end of the file, expected a line endheader");
}

}  // namespace
}  // namespace retrace::recordings
