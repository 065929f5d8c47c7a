#include "composition_frames.h"

#include <cmath>

#include "retrace/character/reference.h"
#include "retrace/runs/composition.h"

namespace retrace::runs {

size_t NumCompositionFrames(double duration) {
  return static_cast<size_t>(std::floor(duration / kCompositionFrame + 1e-9)) + 1;
}

void AppendPoses(const character::Character& character, const std::vector<character::Pose>& poses, double begin,
                 std::vector<character::Pose>& reference) {
  const character::ReferenceMotion motion(character, kCompositionFrame, poses, kCompositionFrame);
  for (;;) {
    const double time = static_cast<double>(reference.size()) * kCompositionFrame - begin;
    if (time > motion.duration() + 1e-9) break;
    motion.PoseAt(time, reference.emplace_back());
  }
}

}  // namespace retrace::runs
