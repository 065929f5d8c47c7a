/// The clips that come with the toolkit. Each is computed from a few published facts about the motion and the laws
/// that make it possible for a body on a floor; none is a recording.
#pragma once

#include <string>
#include <vector>

#include "retrace/motion/clip.h"

namespace retrace::make_clips {

motion::Clip MakeWalk();
motion::Clip MakeRoll();
motion::Clip MakeSquat();
motion::Clip MakeStand();
/// Of a dog-like body, whose joints are named after the segments of data/characters/quadruped.json.
motion::Clip MakeTrot();

struct GeneratedFile {
  std::string name;
  std::string text;
};

/// All files of data/clips, the same bytes at every call.
std::vector<GeneratedFile> MakeFiles();

}  // namespace retrace::make_clips
