#include "lead_in.h"

#include <algorithm>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/calibration.h"

namespace retrace::character {
namespace {

/// Frames at the start in which the skeleton stands in its rest pose, as exporters put there.
size_t CountLeadInFrames(const motion::Clip& clip) {
  const auto is_rest = [&](const motion::Frame& frame) {
    // The root may carry a placement; a skeleton of which nothing else is turned is in its rest pose.
    return std::all_of(frame.rotations.begin() + 1, frame.rotations.end(),
                       [](const Quat& q) { return AngleBetween(q, Quat::Identity()) < 1e-3; });
  };
  size_t count = 0;
  while (count < clip.frames.size() && clip.frames[count].rotations.size() > 1 && is_rest(clip.frames[count])) ++count;
  // A clip that is at rest throughout, or for long, is a standing pose and no lead-in.
  return count <= clip.frames.size() / 4 && static_cast<double>(count) * clip.frame_time < 0.5 ? count : 0;
}

/// Whether the body is somewhere else in the next frame: what exporters leave at the origin before the motion.
bool JumpsAfter(const motion::Clip& clip, size_t frame, double unit) {
  if (frame + 3 >= clip.frames.size()) return false;
  const auto speed = [&](size_t f) {
    return (clip.frames[f + 1].translations[0] - clip.frames[f].translations[0]).norm() * unit / clip.frame_time;
  };
  constexpr double kImpossible = 15;  // [m/s]
  return speed(frame) > kImpossible && speed(frame + 1) < kImpossible && speed(frame + 2) < kImpossible;
}

}  // namespace

UsedFrames FindUsedFrames(const motion::Clip& clip, double unit, double size, const std::string& name,
                          const ReferenceOptions& options, ReferenceReport& report) {
  UsedFrames used{0, clip.frames.size(), {}};
  const bool given = options.skipped_frames >= 0;
  const bool detected = !given && !options.keep_calibration_frames;
  used.first = given ? static_cast<size_t>(options.skipped_frames) : detected ? CountLeadInFrames(clip) : 0;
  const bool jumps = detected && JumpsAfter(clip, used.first, unit);
  if (jumps) ++used.first;
  const std::string note = given   ? " frames at the start are skipped, as given"
                           : jumps ? " frames before a jump at the start are skipped"
                                   : " frames in the rest pose at the start are skipped";
  const std::string keep = " within one frame (keep_calibration_frames keeps them)";
  const motion::MotionFrames motion =
      options.keep_calibration_frames ? motion::MotionFrames{0, used.end, 0, 0} : motion::FindMotionFrames(clip, size);
  if (detected && motion.first > used.first) {
    used.first = motion.first;
    used.notes.push_back(std::to_string(used.first) + " frames at the start are left out: from there the body would " +
                         "have to go " + io::Fixed(motion.jump_before, 2) + " m in the mean" + keep);
  } else if (used.first > 0) {
    used.notes.push_back(std::to_string(used.first) + note);
  }
  if (motion.end < used.end && motion.end > used.first + 1) {
    used.notes.push_back(std::to_string(used.end - motion.end) + " frames at the end are left out: up to there the " +
                         "body would have to go " + io::Fixed(motion.jump_after, 2) + " m in the mean" + keep);
    used.end = motion.end;
  }
  if (used.end < used.first + 2) {
    throw InputError(name,
                     std::to_string(clip.frames.size()) + " frames" +
                         (given ? ", of which " + std::to_string(used.first) + " are skipped" : ""),
                     "at least two frames of motion");
  }
  report.lead_in_frames = static_cast<int>(used.first);
  report.lead_out_frames = static_cast<int>(clip.frames.size() - used.end);
  return used;
}

}  // namespace retrace::character
