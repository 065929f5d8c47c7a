/// Plugs the tracking controller into another simulator: MuJoCo steps the bodies, and Retrace finds the torques of each
/// step from their states. The poses are handed over at once; the model is what `retrace export RUN --to mujoco` wrote.
///
/// usage: track_in_mujoco walk.bvh mujoco_model.xml
#include <mujoco/mujoco.h>
#include <retrace/retrace.h>

#include <cstddef>
#include <cstdio>
#include <memory>

namespace {

using retrace::Quat;
using retrace::Vec3;

/// The axes of the file are x forward, y to the left and z up; ours are z forward, x to the left and y up.
Vec3 Ours(const mjtNum* v) {
  return {v[1], v[2], v[0]};
}

void AddTorque(const Vec3& torque, mjtNum* force_and_torque) {
  force_and_torque[3] += torque.z();
  force_and_torque[4] += torque.x();
  force_and_torque[5] += torque.y();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw retrace::UsageError("usage: track_in_mujoco CLIP MODEL.xml");
  retrace::runs::JobOptions options;
  options.clip.file = argv[1];
  const retrace::runs::Job job(options);
  const auto& character = job.character();
  const auto& motion = job.reference();

  char error[1000] = "";
  const std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model(mj_loadXML(argv[2], nullptr, error, sizeof error),
                                                                  &mj_deleteModel);
  if (model == nullptr) throw retrace::InputError(error);
  const std::unique_ptr<mjData, decltype(&mj_deleteData)> data(mj_makeData(model.get()), &mj_deleteData);
  mj_resetDataKeyframe(model.get(), data.get(), 0);
  model->opt.disableflags |= mjDSBL_ACTUATION;  // the model's own servos
  std::vector<std::ptrdiff_t> bodies;           // of MuJoCo, by ours
  for (const auto& body : character.bodies) {
    bodies.push_back(mj_name2id(model.get(), mjOBJ_BODY, body.name.c_str()));
    if (bodies.back() < 0) throw retrace::InputError(std::string(argv[2]) + ": has no body " + body.name);
  }

  retrace::simulation::WorldOptions world;
  world.time_step = model->opt.timestep;
  retrace::tracking::LiveController controller(character, world, motion.frame_time());
  for (const retrace::character::Pose& pose : motion.poses()) controller.Append(pose);
  controller.Finish();
  retrace::character::State state(bodies.size());
  retrace::character::Pose pose;
  double worst = 0;
  for (int step = 0; step * world.time_step < motion.duration(); ++step) {
    mj_step1(model.get(), data.get());
    for (size_t b = 0; b < bodies.size(); ++b) {
      const mjtNum* const q = data->xquat + 4 * bodies[b];
      mjtNum rate_and_velocity[6];
      mj_objectVelocity(model.get(), data.get(), mjOBJ_BODY, static_cast<int>(bodies[b]), rate_and_velocity, 0);
      state[b] = {Ours(data->xipos + 3 * bodies[b]), Quat(q[0], q[2], q[3], q[1]), Ours(rate_and_velocity + 3),
                  Ours(rate_and_velocity)};
    }
    const auto torques = controller.Torques(step, state);
    mju_zero(data->xfrc_applied, 6 * model->nbody);
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const auto parent = static_cast<size_t>(character.joints[j].parent);
      const auto child = static_cast<size_t>(character.joints[j].child);
      AddTorque(torques[j], data->xfrc_applied + 6 * bodies[child]);
      AddTorque(-torques[j], data->xfrc_applied + 6 * bodies[parent]);
    }
    mj_step2(model.get(), data.get());
    motion.PoseAt(step * world.time_step, pose);
    worst = std::max(worst, (state[static_cast<size_t>(character.root)].position - pose.root_position).norm());
    if (worst > 0.5) break;
  }
  std::printf("%s %.2f of %.2f s; the root is %.2f m from the motion at most\n",
              worst > 0.5 ? "fell after" : "followed", data->time, motion.duration(), worst);
  return worst > 0.5 ? 4 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "track_in_mujoco: %s\n", error.what());
  return 1;
}
