/// What holds for every reader and writer of motion files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>

#include "recordings/well_formed.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/motion/clip.h"

namespace retrace::motion::laws {

/// Message of the InputError that a call throws. Fails the test for any other outcome.
template <typename Call>
std::string Refusal(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    EXPECT_EQ(error.code(), ExitCode::kInput);
    static const std::regex kShape(R"([^\n]+:[0-9]+:[0-9]+: found [^\n]+, expected [^\n]+)");
    EXPECT_TRUE(std::regex_match(error.what(), kShape)) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InputError: " << error.what();
    return "";
  }
  ADD_FAILURE() << "not refused";
  return "";
}

inline void IsWellFormed(const Clip& clip) {
  EXPECT_EQ(BrokenPromise(clip), "");
}

/// Where and how the positions of two motions differ by more than 1e-9, relative to the largest coordinate; empty if
/// nowhere. Every joint of `a` must be in `b` by name; every end site, in place and orientation.
/// `rename` maps a joint's name in `a` to that in `b`.
template <typename Rename>
std::string Difference(const Clip& a, const Clip& b, Rename rename) {
  if (a.frames.size() != b.frames.size()) return "frames: " + std::to_string(b.frames.size());
  if (std::abs(a.frame_time - b.frame_time) > 1e-15) return "frame time: " + io::Number(b.frame_time);
  if (std::abs(a.unit - b.unit) > 1e-15) return "unit: " + io::Number(b.unit);
  const auto& joints = a.skeleton.joints;
  std::vector<int> match(joints.size(), -1);
  for (size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].end_site) continue;
    match[j] = b.skeleton.Find(rename(joints[j].name));
    if (match[j] < 0) return "no joint " + joints[j].name;
  }
  GlobalPose pose_a, pose_b;
  for (size_t f = 0; f < a.frames.size(); ++f) {
    ForwardKinematics(a.skeleton, a.frames[f], pose_a);
    ForwardKinematics(b.skeleton, b.frames[f], pose_b);
    double size = 0;
    for (const Vec3& p : pose_a.positions) size = std::max(size, p.cwiseAbs().maxCoeff());
    const auto same = [&](size_t j, size_t k) {
      return (pose_a.positions[j] - pose_b.positions[k]).cwiseAbs().maxCoeff() <= 1e-9 * size &&
             (pose_a.orientations[j].toRotationMatrix() - pose_b.orientations[k].toRotationMatrix())
                     .cwiseAbs()
                     .maxCoeff() <= 1e-9;
    };
    for (size_t j = 0; j < joints.size(); ++j) {
      bool found = match[j] >= 0 && same(j, static_cast<size_t>(match[j]));
      for (size_t k = 0; joints[j].end_site && !found && k < b.skeleton.joints.size(); ++k) {
        found = b.skeleton.joints[k].end_site && same(j, k);
      }
      if (!found) return "joint " + joints[j].name + " in frame " + std::to_string(f);
    }
  }
  return "";
}

inline std::string Difference(const Clip& a, const Clip& b) {
  return Difference(a, b, [](const std::string& name) { return name; });
}

}  // namespace retrace::motion::laws
