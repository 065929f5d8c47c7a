/// Reads the folder of a run and prints the largest torque of each joint, and when it acts.
///
/// usage: joint_torques results/walk
#include <retrace/retrace.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 2) throw retrace::UsageError("usage: joint_torques RUN");
  const retrace::runs::StoredRun run(argv[1]);
  for (const retrace::control::Motion& motion : retrace::runs::SimulateAgain(run)) {
    const auto& joints = motion.character().joints;
    for (size_t joint = 0; joint < joints.size(); ++joint) {
      size_t peak = 0;
      for (size_t step = 0; step < motion.num_steps(); ++step) {
        if (motion.torques()[step][joint].norm() > motion.torques()[peak][joint].norm()) peak = step;
      }
      std::printf("%-16s %6.1f N m at %.3f s\n", joints[joint].name.c_str(), motion.torques()[peak][joint].norm(),
                  static_cast<double>(peak) * motion.time_step());
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "joint_torques: %s\n", error.what());
  return 1;
}
