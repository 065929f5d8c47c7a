/// A clip that a job gets from its caller, as the file that it would be.
#pragma once

#include <vector>

#include "retrace/jobs/job_options.h"
#include "retrace/motion/clip.h"

namespace retrace::runs {

/// The options with the clip's name, which ends with .bvh, and its unit, which a BVH file does not state.
JobOptions OptionsFor(JobOptions options, const motion::Clip& clip);

/// The inputs of a job with these options: the clip as the text of a BVH file, and the files that are read.
std::vector<InputFile> InputsWith(const JobOptions& options, const motion::Clip& clip);

}  // namespace retrace::runs
