/// What must hold for any bytes that a reader of motions is given: a well-formed clip, or one message with the place.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "retrace/io/error.h"
#include "retrace/motion/clip.h"

namespace retrace::fuzz {

inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken law: %s\n", what);
  std::abort();
}

/// The clip is what clip.h promises, and all its numbers are finite.
inline void IsWellFormed(const motion::Clip& clip) {
  const auto& joints = clip.skeleton.joints;
  Require(!joints.empty() && joints[0].parent == -1, "the first joint is the root");
  for (size_t j = 1; j < joints.size(); ++j) {
    Require(joints[j].parent >= 0 && joints[j].parent < static_cast<int>(j), "parents come before children");
    Require(!joints[static_cast<size_t>(joints[j].parent)].end_site, "end sites have no children");
  }
  for (const motion::Joint& joint : joints) Require(joint.offset.allFinite(), "offsets are finite");
  Require(clip.frame_time > 0 && std::isfinite(clip.frame_time), "the frame time is positive");
  Require(!clip.frames.empty(), "there is a frame");
  for (const motion::Frame& frame : clip.frames) {
    Require(frame.translations.size() == joints.size() && frame.rotations.size() == joints.size(),
            "a frame has every joint");
    for (size_t j = 0; j < joints.size(); ++j) {
      Require(frame.translations[j].allFinite(), "translations are finite");
      Require(std::abs(frame.rotations[j].norm() - 1) < 1e-9, "rotations are unit quaternions");
    }
  }
}

/// Calls a reader; it may refuse, in the words of the house. Returns whether it accepted.
template <typename Read>
bool Reads(Read read) {
  try {
    IsWellFormed(read());
    return true;
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    Require(message.find(": found ") != std::string_view::npos, "a refusal says what was found");
    Require(message.find(", expected ") != std::string_view::npos, "a refusal says what was expected");
    Require(message.find('\n') == std::string_view::npos, "a refusal is one line");
    return false;
  }
}

}  // namespace retrace::fuzz
