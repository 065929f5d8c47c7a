/// Models and motions of OpenSim that are made for tests.
#pragma once

#include <string>
#include <vector>

namespace retrace::recordings {

/// A joint of OpenSim 4 between two bodies: `in_parent` and `in_child` are "x y z" and stand for positions of the
/// joint.
inline std::string JointOf(const std::string& type, const std::string& name, const std::string& parent,
                           const std::string& child, const std::string& in_parent, const std::string& in_child,
                           const std::string& coordinates, const std::string& more = "",
                           const std::string& turn = "0 0 0") {
  return "<" + type + " name=\"" + name + "\"><socket_parent_frame>p</socket_parent_frame>" +
         "<socket_child_frame>c</socket_child_frame><coordinates>" + coordinates +
         "</coordinates><frames><PhysicalOffsetFrame name=\"p\"><socket_parent>/bodyset/" + parent +
         "</socket_parent><translation>" + in_parent + "</translation><orientation>" + turn +
         "</orientation></PhysicalOffsetFrame><PhysicalOffsetFrame name=\"c\"><socket_parent>/bodyset/" + child +
         "</socket_parent><translation>" + in_child + "</translation></PhysicalOffsetFrame></frames>" + more + "</" +
         type + ">";
}
inline std::string CoordinateOf(const std::string& name, const std::string& value = "0") {
  return "<Coordinate name=\"" + name + "\"><default_value>" + value + "</default_value></Coordinate>";
}
inline std::string ModelOf(const std::string& joints) {
  return "<?xml version=\"1.0\"?><OpenSimDocument Version=\"40000\"><Model name=\"m\"><JointSet><objects>" + joints +
         "</objects></JointSet></Model></OpenSimDocument>";
}

inline const std::string kRoot = JointOf("FreeJoint", "root", "ground", "pelvis", "0 0 0", "0 0 0",
                                         CoordinateOf("rx") + CoordinateOf("ry") + CoordinateOf("rz") +
                                             CoordinateOf("tx") + CoordinateOf("ty", "1") + CoordinateOf("tz"));

inline std::string MotionOf(const std::string& names, const std::string& rows,
                            const std::string& header = "inDegrees=yes\n") {
  return "Coordinates\nversion=1\n" + header + "endheader\ntime\t" + names + "\n" + rows;
}

/// A model that has what is asked for of a person: hips, knees and ankles that flex (hip_r, knee_r, ankle_r), and all
/// else as it is at rest. A root is the pelvis, or the torso where there is none.
inline std::string ModelWith(const std::vector<std::string>& legs, const std::vector<std::string>& arms, bool torso,
                             bool pelvis = true) {
  std::string joints = JointOf("FreeJoint", "root", "ground", pelvis ? "pelvis" : "torso", "0 0 0", "0 0 0",
                               CoordinateOf("rx") + CoordinateOf("ry") + CoordinateOf("rz") + CoordinateOf("tx") +
                                   CoordinateOf("ty", "1") + CoordinateOf("tz"));
  const auto add = [&](const std::string& parent, const std::string& child, const std::string& place,
                       const std::string& coordinate = "") {
    joints += JointOf(coordinate.empty() ? "WeldJoint" : "PinJoint", child + "_joint", parent, child, place, "0 0 0",
                      coordinate.empty() ? "" : CoordinateOf(coordinate));
  };
  if (torso && pelvis) add("pelvis", "torso", "-0.1 0.08 0");
  for (const std::string& side : legs) {
    add("pelvis", "femur_" + side, side == "r" ? "-0.07 -0.06 0.09" : "-0.07 -0.06 -0.09", "hip_" + side);
    add("femur_" + side, "tibia_" + side, "0 -0.4 0", "knee_" + side);
    add("tibia_" + side, "talus_" + side, "0 -0.4 0", "ankle_" + side);
    add("talus_" + side, "calcn_" + side, "-0.05 -0.04 0");
    add("calcn_" + side, "toes_" + side, "0.18 0 0");
  }
  for (const std::string& side : arms) {
    add("torso", "humerus_" + side, side == "r" ? "0 0.37 0.17" : "0 0.37 -0.17");
    add("humerus_" + side, "radius_" + side, "0 -0.29 0");
    add("radius_" + side, "hand_" + side, "0 -0.25 0");
  }
  return ModelOf(joints);
}

}  // namespace retrace::recordings
