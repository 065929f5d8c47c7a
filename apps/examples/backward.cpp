/// Makes a clip in memory, a recording that is played backward, and reconstructs it.
///
/// usage: backward walk.bvh
#include <retrace/retrace.h>

#include <algorithm>
#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 2) throw retrace::UsageError("usage: backward CLIP");
  retrace::motion::Clip clip = retrace::recordings::ReadRecording(argv[1]);
  std::reverse(clip.frames.begin(), clip.frames.end());
  retrace::runs::JobOptions options;
  options.clip.file = "backward.bvh";  // a name for messages and for the folder of a run: no file is read
  options.clip.end = 1.0;
  const retrace::runs::Job job(options, clip);
  const retrace::runs::Reconstruction result = retrace::runs::Reconstruct(job);
  std::printf("%.2f s of %.2f s, joints within %.1f cm on average: %s\n", result.evaluation.simulated_duration,
              job.reference().duration(), 100 * result.evaluation.mean_joint_error,
              result.success() ? "reconstructed" : "outside the tolerances");
  return result.success() ? 0 : 4;
} catch (const std::exception& error) {
  std::fprintf(stderr, "backward: %s\n", error.what());
  return 1;
}
