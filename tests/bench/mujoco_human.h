/// The human in MuJoCo, for comparison: the same bodies, masses, shapes, gains and friction; ball joints as three
/// hinges (its ball joints have one gain for all axes); implicit joint damping; MuJoCo's own soft contacts and Newton
/// solver.
#pragma once

#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "retrace/io/number.h"
#include "scenes.h"

namespace retrace::bench {

class MujocoHuman {
 public:
  explicit MujocoHuman(double time_step) {
    const std::string text = Model(time_step);
    const std::string path = "/tmp/retrace_mujoco_human.xml";
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), file);
    std::fclose(file);
    char error[500] = "";
    model_ = mj_loadXML(path.c_str(), nullptr, error, sizeof error);
    std::remove(path.c_str());
    if (model_ == nullptr) {
      std::fprintf(stderr, "MuJoCo: %s\n", error);
      std::exit(1);
    }
    data_ = mj_makeData(model_);
    start_ = mj_makeData(model_);
  }
  ~MujocoHuman() {
    mj_deleteData(data_);
    mj_deleteData(start_);
    mj_deleteModel(model_);
  }
  MujocoHuman(const MujocoHuman&) = delete;
  MujocoHuman& operator=(const MujocoHuman&) = delete;

  /// Holds the rest pose for half a second from a position, and keeps the state for Restore.
  void Settle(const Vec3& root, const Quat& orientation) {
    mj_resetData(model_, data_);
    for (int i = 0; i < 3; ++i) data_->qpos[i] = root[i];
    data_->qpos[3] = orientation.w();
    for (int i = 0; i < 3; ++i) data_->qpos[4 + i] = orientation.vec()[i];
    while (data_->time < 0.5) Step();
    mj_copyData(start_, model_, data_);
  }
  void Restore() { mj_copyData(data_, model_, start_); }
  void Step() { mj_step(model_, data_); }
  int contacts() const { return data_->ncon; }

 private:
  static std::string Numbers(const Vec3& v) {
    return io::Number(v.x()) + " " + io::Number(v.y()) + " " + io::Number(v.z());
  }

  static void AddBody(std::string& text, std::string& actuators, int index, const Vec3& parent_place) {
    const character::Body& body = Human().bodies[static_cast<size_t>(index)];
    text += std::string("<body name=\"").append(body.name).append("\" pos=\"");
    text += Numbers(index == Human().root ? Vec3(Vec3::Zero()) : Vec3(body.rest_position - parent_place)) + "\">";
    text += std::string("<inertial pos=\"0 0 0\" mass=\"").append(io::Number(body.mass)).append("\" diaginertia=\"");
    text += Numbers(body.inertia) + "\"/>";
    if (index == Human().root) {
      text += "<freejoint/>";
    } else {
      const character::Joint& joint = Human().joints[static_cast<size_t>(Human().JointOf(index))];
      for (int a = 0; a < 3; ++a) {
        if (!joint.UsesAxis(a)) continue;
        const std::string name = joint.name + "xyz"[a];
        text += std::string("<joint name=\"").append(name).append("\" type=\"hinge\" pos=\"");
        text += Numbers(joint.anchor - body.rest_position) + "\" axis=\"" + Numbers(Vec3::Unit(a)) + "\" damping=\"";
        text += io::Number(joint.kd * joint.strength_scale[a]) + "\"/>";
        actuators += std::string("<position joint=\"").append(name).append("\" kp=\"");
        actuators += io::Number(joint.kp * joint.strength_scale[a]) + "\"/>";
      }
    }
    for (const character::Shape& shape : body.shapes) {
      if (shape.kind == character::Shape::Kind::kBox) {
        text += "<geom type=\"box\" size=\"" + Numbers(0.5 * shape.size) + "\" pos=\"" + Numbers(shape.offset) + "\"/>";
      } else {
        const Vec3 half = 0.5 * shape.length * Vec3::Unit(shape.axis);
        text += "<geom type=\"capsule\" size=\"" + io::Number(shape.radius) + "\" fromto=\"" +
                Numbers(shape.offset - half) + " " + Numbers(shape.offset + half) + "\"/>";
      }
    }
    for (const character::Joint& joint : Human().joints) {
      if (joint.parent == index) AddBody(text, actuators, joint.child, body.rest_position);
    }
    text += "</body>";
  }

  static std::string Model(double time_step) {
    std::string bodies, actuators;
    AddBody(bodies, actuators, Human().root, Vec3::Zero());
    std::string text = "<mujoco><compiler inertiafromgeom=\"false\"/><option timestep=\"" + io::Number(time_step);
    text += "\" gravity=\"0 -9.81 0\" integrator=\"Euler\" solver=\"Newton\"/><size nconmax=\"200\" njmax=\"1000\"/>";
    text += "<default><geom friction=\"0.8 0.005 0.0001\"/></default><worldbody>";
    text += "<geom type=\"plane\" size=\"50 50 1\" euler=\"-90 0 0\"/>" + bodies;
    return text + "</worldbody><actuator>" + actuators + "</actuator></mujoco>";
  }

  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
  mjData* start_ = nullptr;
};

}  // namespace retrace::bench
