#include "clip_in_memory.h"

#include "retrace/io/file.h"
#include "retrace/recordings/bvh.h"

namespace retrace::runs {

JobOptions OptionsFor(JobOptions options, const motion::Clip& clip) {
  if (options.clip.file.empty()) options.clip.file = "clip";
  if (ExtensionOf(options.clip.file) != ".bvh") options.clip.file += ".bvh";
  if (!options.clip.unit && clip.unit > 0) options.clip.unit = clip.unit;
  return options;
}

std::vector<InputFile> InputsWith(const JobOptions& options, const motion::Clip& clip) {
  std::vector<InputFile> files;
  for (const InputName& name : InputsOf(options)) {
    if (name.role != kClipRole) {
      files.push_back(ReadInput(name));
      continue;
    }
    InputFile& file = files.emplace_back();
    file.bytes = motion::FormatBvh(clip);
    file.record = {name, io::Sha256(file.bytes), true};
  }
  return files;
}

}  // namespace retrace::runs
