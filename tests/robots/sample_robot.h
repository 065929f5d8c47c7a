/// A small biped as URDF and as MJCF: with oblique axes, a link fixed to another one, turned frames and turned moments
/// of inertia. Both files describe the same robot.
#pragma once

#include <string>

namespace retrace::robots {

/// Pelvis, two legs of hip, knee and foot, a trunk with a head fixed to it, and arms of two joints.
inline std::string SampleUrdf() {
  std::string text = R"(<?xml version="1.0"?>
<robot name="sample">
  <link name="pelvis">
    <inertial><origin xyz="0.01 0 -0.02" rpy="0 0 0"/><mass value="5"/>
      <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/></inertial>
    <collision><geometry><box size="0.2 0.3 0.1"/></geometry></collision>
  </link>
  <link name="trunk">
    <inertial><origin xyz="0 0 0.2"/><mass value="12"/>
      <inertia ixx="0.3" ixy="0" ixz="0.01" iyy="0.25" iyz="0" izz="0.1"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision>
  </link>
  <link name="head">
    <inertial><origin xyz="0 0 0.1"/><mass value="2"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0.001" izz="0.009"/></inertial>
    <collision><origin xyz="0 0 0.1"/><geometry><sphere radius="0.09"/></geometry></collision>
  </link>
  <joint name="waist" type="revolute"><parent link="pelvis"/><child link="trunk"/>
    <origin xyz="0 0 0.06" rpy="0 0.1 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1.5" effort="80" velocity="10"/></joint>
  <joint name="neck" type="fixed"><parent link="trunk"/><child link="head"/>
    <origin xyz="0.02 0 0.4" rpy="0 0 0.5"/></joint>
)";
  for (const std::string side : {"left", "right"}) {
    const std::string sign = side == "left" ? "" : "-";
    const std::string other = side == "left" ? "-" : "";
    text += "<link name=\"" + side + R"(_thigh">
    <inertial><origin xyz="0 0 -0.2" rpy="0.3 0 0"/><mass value="3"/>
      <inertia ixx="0.04" ixy="0" ixz="0" iyy="0.04" iyz="0" izz="0.006"/></inertial>
    <collision><origin xyz="0 0 -0.2"/><geometry><cylinder radius="0.06" length="0.2"/></geometry></collision>
  </link>
  <link name=")" +
            side + R"(_shin">
    <inertial><origin xyz="0.01 0 -0.2"/><mass value="2"/>
      <inertia ixx="0.03" ixy="0" ixz="0.001" iyy="0.03" iyz="0" izz="0.003"/></inertial>
    <collision><origin xyz="0 0 -0.2"/><geometry><cylinder radius="0.04" length="0.3"/></geometry></collision>
  </link>
  <link name=")" +
            side + R"(_foot">
    <inertial><origin xyz="0.05 0 -0.03"/><mass value="0.8"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.003"/></inertial>
    <collision><origin xyz="0.05 0 -0.03"/><geometry><box size="0.2 0.08 0.04"/></geometry></collision>
  </link>
  <link name=")" +
            side + R"(_upper_arm">
    <inertial><origin xyz="0 0 -0.12"/><mass value="1.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.002"/></inertial>
    <collision><origin xyz="0 0 -0.12"/><geometry><cylinder radius="0.04" length="0.15"/></geometry></collision>
  </link>
  <link name=")" +
            side + R"(_forearm">
    <inertial><origin xyz="0.1 0 0"/><mass value="1"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.006" iyz="0" izz="0.006"/></inertial>
    <collision><origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.03" length="0.15"/></geometry></collision>
  </link>
  <joint name=")" +
            side + R"(_hip" type="revolute"><parent link="pelvis"/><child link=")" + side + R"(_thigh"/>
    <origin xyz="0 )" +
            sign + R"(0.1 -0.05" rpy=")" + sign + R"(0.2 -0.15 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="1" effort="120" velocity="20"/><dynamics damping="0.5"/></joint>
  <joint name=")" +
            side + R"(_knee" type="revolute"><parent link=")" + side + R"(_thigh"/><child link=")" + side + R"(_shin"/>
    <origin xyz="0 0 -0.4" rpy=")" +
            other + R"(0.2 0.15 0"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="2.5" effort="150" velocity="20"/></joint>
  <joint name=")" +
            side + R"(_ankle" type="revolute"><parent link=")" + side + R"(_shin"/><child link=")" + side + R"(_foot"/>
    <origin xyz="0 0 -0.4"/><axis xyz="0.2 1 0"/><limit lower="-0.8" upper="0.5" effort="50" velocity="15"/></joint>
  <joint name=")" +
            side + R"(_shoulder" type="continuous"><parent link="trunk"/><child link=")" + side + R"(_upper_arm"/>
    <origin xyz="0 )" +
            sign + R"(0.2 0.35" rpy=")" + sign +
            R"(0.28 0 0"/><axis xyz="0 1 0"/><limit effort="30" velocity="25"/></joint>
  <joint name=")" +
            side + R"(_elbow" type="revolute"><parent link=")" + side + R"(_upper_arm"/><child link=")" + side +
            R"(_forearm"/>
    <origin xyz="0 0 -0.25"/><axis xyz="0 -1 0"/><limit lower="-1" upper="1.5" effort="20" velocity="25"/></joint>
)";
  }
  return text + "</robot>\n";
}

/// The same, with defaults and classes; degrees; frames; servos and armature where asked for.
inline std::string SampleMjcf(bool servos = false) {
  const std::string armature = servos ? R"( armature="0.02")" : "";
  std::string text = R"(<mujoco model="sample">
  <compiler angle="degree" eulerseq="XYZ" autolimits="true"/>
  <default>
    <joint)" + armature +
                     R"(/>
    <default class="leg"><joint axis="0 1 0"/><geom type="capsule"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="pelvis" pos="0 0 1">
      <freejoint/>
      <inertial pos="0.01 0 -0.02" mass="5" fullinertia="0.03 0.04 0.05 0.002 -0.001 0.003"/>
      <geom type="box" size="0.1 0.15 0.05" mass="0"/>
)";
  for (const std::string side : {"left", "right"}) {
    const std::string sign = side == "left" ? "" : "-";
    const std::string other = side == "left" ? "-" : "";
    text += R"(      <body name=")" + side + R"(_thigh" childclass="leg" pos="0 )" + sign + R"(0.1 -0.05" euler=")" +
            sign + R"(11.459155902616464 -8.594366926962348 0">
        <joint name=")" +
            side + R"(_hip" range="-114.59155902616465 57.29577951308232" damping="0.5"/>
        <inertial pos="0 0 -0.2" euler="17.188733853924695 0 0" mass="3" diaginertia="0.04 0.04 0.006"/>
        <geom pos="0 0 -0.2" size="0.06 0.1"/>
        <body name=")" +
            side + R"(_shin" pos="0 0 -0.4" euler=")" + other + R"(11.459155902616464 8.594366926962348 0">
          <joint name=")" +
            side + R"(_knee" range="0 143.2394487827058"/>
          <inertial pos="0.01 0 -0.2" mass="2" fullinertia="0.03 0.03 0.003 0 0.001 0"/>
          <geom type="cylinder" pos="0 0 -0.2" size="0.04 0.15"/>
          <body name=")" +
            side + R"(_foot" pos="0 0 -0.4">
            <joint name=")" +
            side + R"(_ankle" axis="0.2 1 0" range="-45.836623610465856 28.64788975654116"/>
            <inertial pos="0.05 0 -0.03" mass="0.8" diaginertia="0.001 0.003 0.003"/>
            <geom type="box" pos="0.05 0 -0.03" size="0.1 0.04 0.02"/>
          </body>
        </body>
      </body>
)";
  }
  text += R"(      <body name="trunk" pos="0 0 0.06" euler="0 5.729577951308232 0">
        <joint name="waist" axis="0 0 1" range="-57.29577951308232 85.94366926962348"/>
        <inertial pos="0 0 0.2" mass="12" fullinertia="0.3 0.25 0.1 0 0.01 0"/>
        <geom type="capsule" fromto="0 0 0.1 0 0 0.3" size="0.1"/>
        <body name="head" pos="0.02 0 0.4" euler="0 0 28.64788975654116">
          <inertial pos="0 0 0.1" mass="2" fullinertia="0.01 0.012 0.009 0 0 0.001"/>
          <geom size="0.09" pos="0 0 0.1"/>
        </body>
)";
  for (const std::string side : {"left", "right"}) {
    const std::string sign = side == "left" ? "" : "-";
    text += R"(        <body name=")" + side + R"(_upper_arm" pos="0 )" + sign + R"(0.2 0.35" axisangle="1 0 0 )" +
            sign +
            R"(16.042818263663048">
          <joint name=")" +
            side + R"(_shoulder" axis="0 1 0"/>
          <inertial pos="0 0 -0.12" mass="1.5" diaginertia="0.01 0.01 0.002"/>
          <geom type="capsule" pos="0 0 -0.12" size="0.04 0.075"/>
          <body name=")" +
            side + R"(_forearm" pos="0 0 -0.25">
            <joint name=")" +
            side + R"(_elbow" axis="0 -1 0" range="-57.29577951308232 85.94366926962348"/>
            <inertial pos="0.1 0 0" mass="1" diaginertia="0.001 0.006 0.006"/>
            <geom type="capsule" fromto="0.025 0 0 0.175 0 0" size="0.03"/>
          </body>
        </body>
)";
  }
  text += R"(      </body>
    </body>
  </worldbody>
)";
  if (servos) {
    text += R"(  <actuator>
    <position joint="left_knee" kp="200" kv="5" forcerange="-90 90"/>
    <motor joint="right_knee" gear="2" ctrlrange="-40 40"/>
  </actuator>
)";
  }
  return text + "</mujoco>\n";
}

}  // namespace retrace::robots
