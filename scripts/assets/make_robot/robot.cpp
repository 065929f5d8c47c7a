#include "robot.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/character/builder.h"
#include "retrace/io/json.h"
#include "retrace/math/rotation.h"

namespace retrace::make_robot {
namespace {

using io::Json;

// Proportions of a robot of this kind. All in meters.
constexpr double kThigh = 0.275;
constexpr double kShin = 0.285;
const double kThighSlope = Radians(15);  // of the bent leg at rest, knees forward
constexpr double kAnkleHeight = 0.085;
constexpr double kHipWidth = 0.085;  // from the middle
const Vec3 kNeck(0, 0.985, 0);
const Vec3 kShoulder(0.165, 0.93, 0);
const Vec3 kElbow(0.355, 0.93, 0);
const Vec3 kWrist(0.54, 0.93, 0);

double Rounded(double value, double unit) {
  const double rounded = std::round(value / unit) * unit;
  // The nearest number with that many decimals, so that it is printed with no more.
  const double scale = std::round(1 / unit);
  return std::abs(rounded) < 0.5 * unit ? 0.0 : std::round(rounded * scale) / scale;
}

Vec3 Rounded(const Vec3& v, double unit) {
  return {Rounded(v.x(), unit), Rounded(v.y(), unit), Rounded(v.z(), unit)};
}

/// A rectangle with its corners cut off at 45 degrees, across an axis w.
struct Section {
  double along = 0;  // its place on the axis
  double half_u = 0;
  double half_v = 0;
  double cut = 0;
  double middle_u = 0;
};

/// Where a loft's axes are in the world; u x v = w.
struct Frame {
  Vec3 origin = Vec3::Zero();
  Mat3 axes = Mat3::Identity();  // columns u, v, w
};

/// w up, u forward, v to the left.
Frame Upright() {
  Frame frame;
  frame.axes << Vec3::UnitZ(), Vec3::UnitX(), Vec3::UnitY();
  return frame;
}

/// w to the left along the arm, u up, v forward.
Frame AlongArm() {
  Frame frame;
  frame.origin = Vec3(0, kShoulder.y(), 0);
  frame.axes << Vec3::UnitY(), Vec3::UnitZ(), Vec3::UnitX();
  return frame;
}

/// w up the bone from one end to the other, v to the left.
Frame AlongBone(const Vec3& from, const Vec3& to) {
  Frame frame;
  const Vec3 w = (to - from).normalized();
  frame.origin = from;
  frame.axes << Vec3::UnitX().cross(w), Vec3::UnitX(), w;
  return frame;
}

/// The solid between sections with edges in the same directions: its sides are plane.
TriangleMesh Loft(const Frame& frame, const std::vector<Section>& sections) {
  constexpr int kCorners = 8;
  TriangleMesh mesh;
  for (const Section& s : sections) {
    const double u = s.half_u;
    const double v = s.half_v;
    const double c = s.cut;
    const double corners[kCorners][2] = {{u, c - v},  {u, v - c},  {u - c, v},  {c - u, v},
                                         {-u, v - c}, {-u, c - v}, {c - u, -v}, {u - c, -v}};
    for (const auto& corner : corners) {
      const Vec3 place = frame.origin + frame.axes * Vec3(s.middle_u + corner[0], corner[1], s.along);
      mesh.vertices.push_back(Rounded(place, kResolution));
    }
  }
  const int last = kCorners * (static_cast<int>(sections.size()) - 1);
  for (int low = 0; low < last; low += kCorners) {
    for (int k = 0; k < kCorners; ++k) {
      const int next = (k + 1) % kCorners;
      mesh.triangles.push_back({low + k, low + next, low + kCorners + next});
      mesh.triangles.push_back({low + k, low + kCorners + next, low + kCorners + k});
    }
  }
  for (int k = 1; k + 1 < kCorners; ++k) {
    mesh.triangles.push_back({0, k + 1, k});
    mesh.triangles.push_back({last, last + k, last + k + 1});
  }
  return mesh;
}

Vec3 Mirrored(const Vec3& v) {
  return {v.x() == 0 ? 0.0 : -v.x(), v.y(), v.z()};
}

TriangleMesh Mirrored(TriangleMesh mesh) {
  for (Vec3& v : mesh.vertices) v = Mirrored(v);
  for (auto& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  return mesh;
}

MassProperties SolidOf(const Part& part) {
  MassProperties solid = SolidOf(part.meshes.front());
  for (size_t m = 1; m < part.meshes.size(); ++m) solid += SolidOf(part.meshes[m]);
  return solid;
}

Json ToJson(const Vec3& v) {
  return Json::array({v.x(), v.y(), v.z()});
}

Json BodyJson(const Part& part, double density) {
  const MassProperties solid = SolidOf(part);
  const Vec3 center = Rounded(solid.center, kResolution);
  const Mat3 i = density * solid.inertia;
  Json inertia = Json::array();
  for (const double value : {i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)}) {
    inertia.push_back(Rounded(value, 1e-9));
  }
  Json shapes = Json::array();
  for (const TriangleMesh& mesh : part.meshes) {
    Json vertices = Json::array();
    for (const Vec3& v : mesh.vertices) vertices.push_back(ToJson(Rounded(v - center, kResolution)));
    shapes.push_back({{"mesh", {{"vertices", vertices}, {"triangles", mesh.triangles}}}});
  }
  Json body = {{"name", part.name}};
  if (part.segment != part.name) body["segment"] = part.segment;
  body["mass"] = Rounded(density * solid.volume, 1e-9);
  body["inertia"] = inertia;
  body["position"] = ToJson(center);
  body["shapes"] = shapes;
  return body;
}

/// A row of table 3.
struct Servo {
  double kp;
  double kd;
  std::vector<double> strength_scale;
  std::vector<double> window;
  std::vector<double> contact_scale = {};
};

Json JointJson(const std::string& name, const std::string& parent, const std::string& child, const char* axis,
               const Vec3& anchor, const Servo& servo) {
  Json joint = {{"name", name}, {"parent", parent}, {"child", child}, {"type", axis == nullptr ? "ball" : "hinge"}};
  if (axis != nullptr) joint["axis"] = axis;
  joint["anchor"] = ToJson(anchor);
  joint["kp"] = servo.kp;
  joint["kd"] = servo.kd;
  const auto set = [&](const char* key, const std::vector<double>& values) {
    if (values.size() == 1) {
      joint[key] = values[0];
    } else if (!values.empty()) {
      joint[key] = values;
    }
  };
  set("strength_scale", servo.strength_scale);
  set("window", servo.window);
  set("contact_scale", servo.contact_scale);
  return joint;
}

Json Joints(const Robot& robot, int neck_axes) {
  Json joints = Json::array();
  // Of a neck with three axes the paper gives no figures: the human's scales and windows (table 2).
  joints.push_back(
      neck_axes == 1 ? JointJson("neck", "torso", "head", "x", robot.neck, {40, 4, {1}, {0}})
                     : JointJson("neck", "torso", "head", nullptr, robot.neck, {40, 4, {1, 0.4, 1}, {0.2, 0.2, 0.2}}));
  for (const std::string side : {"left", "right"}) {
    const auto at = [&](const Vec3& place) { return side == "left" ? place : Mirrored(place); };
    const auto add = [&](const char* name, const std::string& parent, const std::string& child, const char* axis,
                         const Vec3& anchor, const Servo& servo) {
      const std::string above = parent == "torso" ? parent : side + "_" + parent;
      joints.push_back(JointJson(side + "_" + name, above, side + "_" + child, axis, at(anchor), servo));
    };
    add("shoulder", "torso", "upper_arm", nullptr, robot.shoulder, {100, 10, {0.15, 1, 1}, {0.8, 0.8, 0.25}, {3}});
    add("elbow", "upper_arm", "lower_arm", "y", robot.elbow, {100, 10, {1}, {0.2}, {3}});
    add("wrist", "lower_arm", "hand", nullptr, robot.wrist, {10, 1, {0.1, 0.4, 1}, {0, 0, 0}, {3}});
    add("hip", "torso", "thigh", nullptr, robot.hip, {500, 50, {1, 0.2, 1}, {0.8, 0.1, 0.4}});
    add("knee", "thigh", "shin", "x", robot.knee, {300, 30, {1}, {0.6}});
    add("ankle", "shin", "foot", nullptr, robot.ankle, {200, 20, {1, 1, 0.5}, {0.6, 0.6, 0.05}, {1, 3}});
  }
  return joints;
}

Json ContactPresets() {
  Json hands = Json::object();
  Json flight = Json::object();
  for (const std::string side : {"left", "right"}) {
    for (const char* joint : {"_shoulder", "_elbow", "_wrist"}) hands[side + joint] = 3;
    flight[side + "_ankle"] = 3;
  }
  Json both = hands;
  both.update(flight);
  return {{"none", Json::object()}, {"flight", flight}, {"hands", hands}, {"hands_and_flight", both}};
}

}  // namespace

Robot MakeRobot() {
  Robot robot;
  robot.neck = kNeck;
  robot.shoulder = kShoulder;
  robot.elbow = kElbow;
  robot.wrist = kWrist;
  // The ankle is under the hip, the knee before them.
  const double shin_slope = std::asin(kThigh * std::sin(kThighSlope) / kShin);
  robot.ankle = Vec3(kHipWidth, kAnkleHeight, 0);
  robot.knee = robot.ankle + Vec3(0, kShin * std::cos(shin_slope), kShin * std::sin(shin_slope));
  robot.hip = robot.knee + Vec3(0, kThigh * std::cos(kThighSlope), -kThigh * std::sin(kThighSlope));
  for (Vec3* place : {&robot.ankle, &robot.knee, &robot.hip}) *place = Rounded(*place, kResolution);

  const Frame up = Upright();
  const Frame arm = AlongArm();
  const auto add = [&](const std::string& name, std::vector<TriangleMesh> meshes) {
    robot.parts.push_back({name, name == "torso" ? "pelvis" : name, std::move(meshes)});
  };
  const TriangleMesh pelvis = Loft(up, {{0.57, 0.065, 0.09, 0.02}, {0.68, 0.085, 0.115, 0.02}});
  const TriangleMesh chest =
      Loft(up, {{0.68, 0.1, 0.125, 0.03, 0.01}, {0.93, 0.1, 0.15, 0.03, 0.01}, {0.98, 0.085, 0.11, 0.03, 0.01}});
  const TriangleMesh backpack = Loft(up, {{0.66, 0.06, 0.115, 0.02, -0.15}, {0.96, 0.06, 0.115, 0.02, -0.15}});
  add("torso", {pelvis, chest, backpack});
  add("head",
      {Loft(
          up,
          {{1.0, 0.08, 0.07, 0.028}, {1.04, 0.11, 0.1, 0.04}, {1.13, 0.115, 0.105, 0.042}, {1.2, 0.07, 0.06, 0.024}})});
  const std::pair<const char*, TriangleMesh> limbs[] = {
      {"upper_arm", Loft(arm, {{0.18, 0.052, 0.052, 0.014}, {0.345, 0.048, 0.048, 0.014}})},
      {"lower_arm", Loft(arm, {{0.365, 0.048, 0.048, 0.014}, {0.53, 0.042, 0.042, 0.012}})},
      {"hand", Loft(arm, {{0.545, 0.028, 0.042, 0.01}, {0.655, 0.024, 0.036, 0.01}})},
      {"thigh", Loft(AlongBone(robot.knee, robot.hip), {{0.03, 0.065, 0.056, 0.018}, {0.265, 0.078, 0.06, 0.018}})},
      {"shin", Loft(AlongBone(robot.ankle, robot.knee), {{0.02, 0.052, 0.05, 0.016}, {0.255, 0.062, 0.055, 0.016}})},
      {"foot",
       Loft({Vec3(kHipWidth, 0, 0), up.axes},
            {{0, 0.12, 0.065, 0.025, 0.035}, {0.045, 0.12, 0.065, 0.025, 0.035}, {0.07, 0.09, 0.055, 0.025, 0.02}})},
  };
  for (const std::string side : {"left_", "right_"}) {
    for (const auto& [name, mesh] : limbs) add(side + name, {side == "left_" ? mesh : Mirrored(mesh)});
  }
  return robot;
}

std::string FormatCharacter(const Robot& robot, int neck_axes) {
  double volume = 0;
  for (const Part& part : robot.parts) volume += SolidOf(part).volume;
  const double density = kTotalMass / volume;
  Json bodies = Json::array();
  for (const Part& part : robot.parts) bodies.push_back(BodyJson(part, density));
  std::string source =
      "Made by apps/make_robot after Liu, Yin, van de Panne, Shao, Xu 2010: 1.2 m, 49.5 kg, joints and servos of table "
      "3, bodies after figure 2b. Mass and inertia [kg m^2: xx, yy, zz, xy, xz, yz] are those of the meshes at one "
      "density. Positions [m] and axes: rest pose, which has bent knees; y up, z forward, x left. kp [N m/rad], kd [N "
      "m "
      "s/rad], window [rad, half width].";
  if (neck_axes == 3)
    source +=
        " The neck has three axes, as the paper gave it for the backward roll, with the human's "
        "strength scales and windows (table 2).";
  Json excluded = Json::array();
  for (const std::string side : {"left", "right"}) {
    excluded.push_back({side + "_thigh", side + "_foot"});
    excluded.push_back({side + "_upper_arm", side + "_hand"});
  }
  return character::FormatCharacter({{"format", "retrace-character"},
                                     {"version", 1},
                                     {"name", neck_axes == 1 ? "asimo" : "asimo_neck3"},
                                     {"source", source},
                                     {"height", kHeight},
                                     {"root_scale", "height"},
                                     {"bodies", bodies},
                                     {"joints", Joints(robot, neck_axes)},
                                     {"end_effectors", {"left_hand", "right_hand", "left_foot", "right_foot"}},
                                     {"no_self_collision", excluded},
                                     {"contact_presets", ContactPresets()}});
}

}  // namespace retrace::make_robot
