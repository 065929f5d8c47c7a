#include "lead_in.h"

#include <algorithm>

#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

/// Frames at the start in which the skeleton stands in its rest pose, as exporters put there.
int CountLeadInFrames(const motion::Clip& clip) {
  const auto is_rest = [&](const motion::Frame& frame) {
    // The root may carry a placement; a skeleton of which nothing else is turned is in its rest pose.
    return std::all_of(frame.rotations.begin() + 1, frame.rotations.end(),
                       [](const Quat& q) { return AngleBetween(q, Quat::Identity()) < 1e-3; });
  };
  size_t count = 0;
  while (count < clip.frames.size() && clip.frames[count].rotations.size() > 1 && is_rest(clip.frames[count])) ++count;
  // A clip that is at rest throughout, or for long, is a standing pose and no lead-in.
  return count <= clip.frames.size() / 4 && static_cast<double>(count) * clip.frame_time < 0.5 ? static_cast<int>(count)
                                                                                               : 0;
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

LeadIn FindLeadIn(const motion::Clip& clip, double unit, const ReferenceOptions& options) {
  LeadIn lead_in;
  const bool given = options.skipped_frames >= 0;
  lead_in.frames = static_cast<size_t>(given ? options.skipped_frames : CountLeadInFrames(clip));
  const bool jumps = !given && JumpsAfter(clip, lead_in.frames, unit);
  if (jumps) ++lead_in.frames;
  if (lead_in.frames > 0) {
    lead_in.note = std::to_string(lead_in.frames) + " frames " +
                   (given   ? ""
                    : jumps ? "before a jump "
                            : "in the rest pose ") +
                   "at the start are skipped" + (given ? ", as given" : "");
  }
  return lead_in;
}

}  // namespace retrace::character
