/// Follows a motion that comes pose by pose: of what is still to come, the controller knows the next 0.6 s.
///
/// usage: follow_live walk.bvh
#include <retrace/retrace.h>

#include <cstdio>

int main(int argc, char** argv) try {
  retrace::runs::JobOptions options;
  options.clip.file = argc == 2 ? argv[1] : throw retrace::UsageError("usage: follow_live CLIP");
  const retrace::runs::Job job(options);
  const auto& motion = job.reference();  // stands for what makes the motion
  retrace::simulation::World world(job.character(), {});
  const double h = world.options().time_step;
  retrace::tracking::LiveController controller(job.character(), world.options(), motion.frame_time());
  std::vector<retrace::simulation::JointCommand> commands(job.character().joints.size());
  retrace::character::State state;
  for (int step = 0, pose = 0; (step + 150) * h < motion.duration(); ++step) {  // then the preview ends
    while (!controller.Suffices(step)) controller.Append(motion.poses()[static_cast<size_t>(pose++)]);
    if (step == 0) world.SetState(controller.StartState());
    world.GetState(state);
    controller.Command({step, step * h, state, world.layout()}, commands);
    if (!world.Step(commands)) return 4;
    if (step % 60 == 0) std::printf("%5.2f s of %4.2f s that have come\n", step * h, controller.duration());
  }
  return state[static_cast<size_t>(job.character().root)].position.y() > 0.7 ? 0 : 4;  // it walks on
} catch (const std::exception& error) {
  std::fprintf(stderr, "follow_live: %s\n", error.what());
  return 1;
}
