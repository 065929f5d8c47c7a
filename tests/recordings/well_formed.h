/// Invariants of every clip, whatever its source. Needs no test framework: the fuzzers check them too.
#pragma once

#include <cmath>
#include <string>

#include "retrace/motion/clip.h"

namespace retrace::motion::laws {

/// The first promise of clip.h that a clip breaks; empty if it keeps them all.
inline std::string BrokenPromise(const Clip& clip) {
  const auto& joints = clip.skeleton.joints;
  if (joints.empty() || joints[0].parent != -1) return "the first joint is the root";
  for (size_t j = 1; j < joints.size(); ++j) {
    if (joints[j].parent < 0 || joints[j].parent >= static_cast<int>(j)) return "parents come before children";
    if (joints[static_cast<size_t>(joints[j].parent)].end_site) return "end sites have no children";
  }
  for (size_t j = 0; j < joints.size(); ++j) {
    if (!joints[j].offset.allFinite()) return "offsets are finite";
    if (!joints[j].end_site && clip.skeleton.Find(joints[j].name) != static_cast<int>(j)) {
      return std::string("names are all different: ").append(joints[j].name);
    }
  }
  if (!(clip.frame_time > 0 && std::isfinite(clip.frame_time))) return "the frame time is positive";
  if (clip.frames.empty()) return "there is a frame";
  for (const Frame& frame : clip.frames) {
    if (frame.translations.size() != joints.size() || frame.rotations.size() != joints.size()) {
      return "a frame has every joint";
    }
    for (size_t j = 0; j < joints.size(); ++j) {
      if (!frame.translations[j].allFinite()) return "translations are finite";
      if (!(std::abs(frame.rotations[j].norm() - 1) < 1e-12)) return "rotations are unit quaternions";
      if (!joints[j].end_site) continue;
      if (frame.translations[j] != joints[j].offset || frame.rotations[j].vec() != Vec3::Zero()) {
        return "end sites rest";
      }
    }
  }
  return "";
}

}  // namespace retrace::motion::laws
