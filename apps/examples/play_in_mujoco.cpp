/// Plays what `retrace export RUN --to mujoco` wrote in MuJoCo, and says how far its motion is from the simulated one:
/// open (the torques alone, without any feedback) and with the servos (targets, gains and feedforward). It needs no
/// other library than MuJoCo.
///
/// usage: play_in_mujoco FOLDER
#include <mujoco/mujoco.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Row = std::vector<double>;

struct Motion {
  std::map<std::string, size_t> columns;
  std::vector<Row> rows;

  double At(size_t row, const std::string& column) const { return rows[row][columns.at(column)]; }
};

Motion ReadMotion(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  Motion motion;
  std::string line, cell;
  std::getline(file, line);
  for (std::istringstream names(line); std::getline(names, cell, ',');)
    motion.columns.emplace(cell, motion.columns.size());
  while (std::getline(file, line)) {
    Row& row = motion.rows.emplace_back();
    for (std::istringstream cells(line); std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
    if (row.size() != motion.columns.size()) throw std::runtime_error(path + " has a row of another length");
  }
  if (motion.rows.size() < 2) throw std::runtime_error(path + " has no motion");
  return motion;
}

struct Servo {
  std::string name;  // of the joint and its actuator
  std::ptrdiff_t actuator = 0, dof = 0, angle = 0;
  double effort = 0;  // [N m]; 0: any
};

void Play(mjModel* model, mjData* data, const std::vector<Servo>& servos, const Motion& motion, bool open) {
  mj_resetDataKeyframe(model, data, 0);
  double joints = 0, root = 0, at_end = 0, end = 0;
  size_t count = 0;
  for (size_t row = 0; row + 1 < motion.rows.size(); ++row) {
    for (const Servo& servo : servos) {
      const double kp = motion.At(row, servo.name + "_kp"), kd = motion.At(row, servo.name + "_kd");
      const double feedforward = motion.At(row, servo.name + "_feedforward");
      mjtNum* const gain = model->actuator_gainprm + mjNGAIN * servo.actuator;
      mjtNum* const bias = model->actuator_biasprm + mjNBIAS * servo.actuator;
      gain[0] = open ? 0 : kp;
      bias[1] = open ? 0 : -kp;
      bias[2] = open ? 0 : -kd;
      data->ctrl[servo.actuator] = motion.At(row, servo.name + "_target");
      data->qfrc_applied[servo.dof] = open ? motion.At(row + 1, servo.name + "_torque") : feedforward;
      if (servo.effort > 0) {  // servo and feedforward together
        model->actuator_forcerange[2 * servo.actuator] = -servo.effort - feedforward;
        model->actuator_forcerange[2 * servo.actuator + 1] = servo.effort - feedforward;
      }
    }
    const double time = motion.At(row + 1, "time");
    while (data->time < time - 0.5 * model->opt.timestep) mj_step(model, data);
    double apart = 0, turn = 0, squares = 0;
    const char* const position[] = {"root_x", "root_y", "root_z"};
    const char* const quaternion[] = {"root_qw", "root_qx", "root_qy", "root_qz"};
    for (int i = 0; i < 3; ++i) apart += std::pow(data->qpos[i] - motion.At(row + 1, position[i]), 2);
    for (int i = 0; i < 4; ++i) turn += data->qpos[3 + i] * motion.At(row + 1, quaternion[i]);
    const double fallen = std::abs(data->qpos[2] - motion.At(row + 1, "root_z"));
    if (fallen > 0.3 * std::abs(motion.At(0, "root_z")) || std::abs(turn) < std::cos(M_PI / 6)) break;  // 60 degrees
    for (const Servo& servo : servos) squares += std::pow(data->qpos[servo.angle] - motion.At(row + 1, servo.name), 2);
    joints += std::sqrt(squares / static_cast<double>(servos.size()));
    root += at_end = std::sqrt(apart);
    end = time;
    ++count;
  }
  const double n = count > 0 ? static_cast<double>(count) : 1;
  std::printf(
      "%-12s up for %.2f of %.2f s; joints differ by %.1f degrees on average, the root by %.3f m (%.3f m at the end)\n",
      open ? "torques" : "servos", end, motion.At(motion.rows.size() - 1, "time"), joints / n * 180 / M_PI, root / n,
      at_end);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: play_in_mujoco FOLDER");
  const std::string folder = argv[1];
  const Motion motion = ReadMotion(folder + "/mujoco_motion.csv");
  char error[1000] = "";
  const std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model(
      mj_loadXML((folder + "/mujoco_model.xml").c_str(), nullptr, error, sizeof error), &mj_deleteModel);
  if (model == nullptr) throw std::runtime_error(error);
  const std::unique_ptr<mjData, decltype(&mj_deleteData)> data(mj_makeData(model.get()), &mj_deleteData);
  std::vector<Servo> servos;
  for (std::ptrdiff_t a = 0; a < model->nu; ++a) {
    const int joint = model->actuator_trnid[2 * a];
    const double effort = model->actuator_forcelimited[a] != 0 ? model->actuator_forcerange[2 * a + 1] : 0;
    servos.push_back({mj_id2name(model.get(), mjOBJ_ACTUATOR, static_cast<int>(a)), a, model->jnt_dofadr[joint],
                      model->jnt_qposadr[joint], effort});
  }
  if (servos.empty()) throw std::runtime_error("the model has no hinges with servos");
  for (const bool open : {true, false}) Play(model.get(), data.get(), servos, motion, open);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "play_in_mujoco: %s\n", error.what());
  return 1;
}
