/// A body that moves, with markers of Plug-in Gait on it, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "retrace/math/rotation.h"
#include "retrace/recordings/markers.h"

namespace retrace::recordings {

/// A body whose joints bend smoothly, and markers of Plug-in Gait on it, y up [m].
struct MarkedWalker {
  std::vector<std::string> names;
  std::vector<std::vector<Vec3>> markers;
  std::vector<std::map<std::string, Vec3>> joints;
  std::vector<std::map<std::string, Quat>> turns;  ///< of thighs, shins and feet, by the names of their joints

  explicit MarkedWalker(size_t frames) {
    for (size_t f = 0; f < frames; ++f) Pose(0.1 * static_cast<double>(f));
  }

  void Pose(double t) {
    std::map<std::string, Vec3> marker, joint;
    const Quat pelvis = AxisRotation(1, 0.3 * std::sin(t));
    std::map<std::string, Quat>& turn = turns.emplace_back();
    const Vec3 hips(0.1 * t, 0.9, 0.5 * t);
    // The pelvis of whom Harrington's equations put the hips 8 cm beside the middle.
    const double width = (0.08 - 0.0073) / 0.33, depth = 0.15;
    const Vec3 front(0, 0.30 * width + 0.0109, 0.24 * depth + 0.0099);
    marker["LASI"] = hips + pelvis * (front + Vec3(width / 2, 0, 0));
    marker["RASI"] = hips + pelvis * (front - Vec3(width / 2, 0, 0));
    marker["LPSI"] = hips + pelvis * (front + Vec3(0.04, 0, -depth));
    marker["RPSI"] = hips + pelvis * (front + Vec3(-0.04, 0, -depth));
    joint["Hips"] = hips;
    const Quat trunk = pelvis;
    const Vec3 neck = hips + trunk * Vec3(0, 0.5, 0);
    joint["Head"] = neck;
    for (int side = 0; side < 2; ++side) {
      const double out = side == 0 ? 1 : -1;
      const std::string s = side == 0 ? "L" : "R", name = side == 0 ? "Left" : "Right";
      const double phase = t + side * kPi;
      const Vec3 hip = hips + pelvis * Vec3(0.08 * out, 0, 0);
      const Quat thigh = pelvis * AxisRotation(0, -0.2 - 0.4 * std::sin(phase));
      const Vec3 knee = hip + thigh * Vec3(0, -0.42, 0);
      const Quat shin = thigh * AxisRotation(0, 0.6 + 0.5 * std::sin(phase + 1));
      const Vec3 ankle = knee + shin * Vec3(0, -0.4, 0);
      turn[name + "UpLeg"] = thigh;
      turn[name + "Leg"] = turn[name + "Foot"] = shin;
      marker[s + "KNE"] = knee + thigh * Vec3(0.05 * out, 0, 0);
      marker[s + "ANK"] = ankle + shin * Vec3(0.035 * out, 0, 0);
      marker[s + "HEE"] = ankle + shin * Vec3(0, -0.04, -0.05);
      marker[s + "TOE"] = ankle + shin * Vec3(0, -0.04, 0.15);
      joint[name + "UpLeg"] = hip;
      joint[name + "Leg"] = knee;
      joint[name + "Foot"] = ankle;
      const Vec3 shoulder = neck + trunk * Vec3(0.18 * out, -0.05, 0);
      marker[s + "SHO"] = neck + trunk * Vec3(0.18 * out, 0, 0);
      const Quat upper = trunk * AxisRotation(2, -out * 1.3) * AxisRotation(1, 0.2 * std::sin(phase));
      const Vec3 elbow = shoulder + upper * Vec3(0.28 * out, 0, 0);
      const Quat lower = upper * AxisRotation(1, -out * (0.9 + 0.2 * std::sin(phase)));
      const Vec3 wrist = elbow + lower * Vec3(0.25 * out, 0, 0);
      marker[s + "ELB"] = elbow + upper * Vec3(0, 0.035, 0);
      marker[s + "WRA"] = wrist + lower * Vec3(0, 0.03, 0);
      marker[s + "WRB"] = wrist - lower * Vec3(0, 0.03, 0);
      marker[s + "FIN"] = wrist + lower * Vec3(0.08 * out, 0, 0);
      joint[name + "Arm"] = shoulder;
      joint[name + "ForeArm"] = elbow;
      joint[name + "Hand"] = wrist;
      for (const char* head : {"FHD", "BHD"}) {
        marker[s + head] = neck + trunk * Vec3(0.07 * out, 0.22, head[0] == 'F' ? 0.1 : -0.1);
      }
    }
    if (names.empty()) {
      for (const auto& [name, place] : marker) names.push_back(name);
    }
    std::vector<Vec3>& places = markers.emplace_back();
    for (const std::string& name : names) places.push_back(marker.at(name));
    joints.push_back(joint);
  }

  Markers Recorded() const { return {names, 100, markers, 1, {}}; }

  /// The recorded markers but those with one of these names after the side.
  Markers Without(const std::vector<std::string>& ends) const {
    Markers rest = Recorded();
    for (size_t m = rest.names.size(); m-- > 0;) {
      const std::string end = rest.names[m].substr(1);
      if (std::find(ends.begin(), ends.end(), end) == ends.end()) continue;
      rest.names.erase(rest.names.begin() + static_cast<std::ptrdiff_t>(m));
      for (auto& places : rest.places) places.erase(places.begin() + static_cast<std::ptrdiff_t>(m));
    }
    return rest;
  }
};

}  // namespace retrace::recordings
