/// Reconstructs a recorded motion, prints the vertical force of the ground, and writes the folder of the run.
///
/// usage: ground_force walk.bvh results/walk
#include <retrace/retrace.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) throw retrace::UsageError("usage: ground_force CLIP RUN");
  retrace::runs::JobOptions options;
  options.clip.file = argv[1];
  const retrace::runs::Job job(options);
  const retrace::runs::Reconstruction result = retrace::runs::Reconstruct(job);
  const retrace::control::Motion motion = retrace::runs::SimulateAgain(job, result);
  const auto steps = static_cast<size_t>(0.1 / motion.time_step());  // of a mean
  for (size_t begin = 0; begin + steps <= motion.num_steps(); begin += steps) {
    double mean = 0;
    for (size_t i = 0; i < steps; ++i) mean += motion.ExternalForce(begin + i).y() / static_cast<double>(steps);
    std::printf("%5.2f s  %7.1f N\n", static_cast<double>(begin) * motion.time_step(), mean);
  }
  retrace::runs::WriteRun(argv[2], job, result);
  return result.success() ? 0 : 4;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ground_force: %s\n", error.what());
  return 1;
}
