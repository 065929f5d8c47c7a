/// The clips that come with the toolkit. Each is computed from a few published facts about the motion and the laws
/// that make it possible for a body on a floor; none is a recording.
#pragma once

#include <string>
#include <vector>

#include "retrace/motion/clip.h"

namespace retrace::make_clips {

/// In whole gait cycles of 1.07 s: as many as last so long at least [s].
motion::Clip MakeWalk(double duration = 3);
motion::Clip MakeRoll();
motion::Clip MakeSquat();
motion::Clip MakeStand();
/// Of a dog-like body, whose joints are named after the segments of data/characters/quadruped.json.
motion::Clip MakeTrot();

struct ClipText {
  std::string name;
  std::string text;
};

/// All files of data/clips, the same bytes at every call.
std::vector<ClipText> MakeFiles();
/// long_walk.bvh: the walk of data/clips, going on for so long at least [s].
ClipText MakeLongWalk(double duration);

}  // namespace retrace::make_clips
