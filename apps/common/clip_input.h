/// Reading whatever recording the user named.
#pragma once

#include <filesystem>
#include <vector>

#include "retrace/motion/clip.h"

namespace retrace::apps {

struct ClipInput {
  motion::Clip clip;
  std::vector<std::filesystem::path> files;  ///< that were read
};

/// Reads BVH, or AMC with its ASF: the one given, else the one of the same name beside it. Throws UsageError for
/// another kind of file or a missing skeleton, InputError for a bad one.
ClipInput ReadClip(const std::filesystem::path& clip, const std::filesystem::path& skeleton);

}  // namespace retrace::apps
