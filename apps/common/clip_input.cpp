#include "common/clip_input.h"

#include <algorithm>
#include <cctype>

#include "retrace/io/error.h"
#include "retrace/motion/asf_amc.h"
#include "retrace/motion/bvh.h"

namespace retrace::apps {

ClipInput ReadClip(const std::filesystem::path& clip, const std::filesystem::path& skeleton) {
  std::string extension = clip.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".bvh") {
    if (!skeleton.empty()) throw UsageError("--skeleton " + skeleton.string() + ": a BVH file has its own skeleton");
    return {motion::ReadBvh(clip), {clip}};
  }
  if (extension != ".amc")
    throw UsageError(clip.string() + ": found \"" + extension + "\", expected a .bvh or .amc file");
  std::filesystem::path asf = skeleton;
  if (asf.empty()) {
    asf = std::filesystem::path(clip).replace_extension(".asf");
    if (!std::filesystem::exists(asf)) throw UsageError(clip.string() + ": an AMC file needs --skeleton FILE.asf");
  }
  return {motion::ReadAsfAmc(asf, clip), {asf, clip}};
}

}  // namespace retrace::apps
