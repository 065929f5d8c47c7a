#include "shown_motion.h"

#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::report {
namespace {

/// The reference at an instant of a trajectory's grid, at rest.
character::State ReferenceState(const character::ReferenceMotion& reference, double time) {
  character::Pose pose;
  reference.PoseAt(time, pose);
  character::State state;
  character::ForwardKinematics(reference.character(), pose, state);
  return state;
}

void AddAngles(const character::Character& character, const character::State& state, Floats& angles) {
  for (const character::Joint& joint : character.joints) {
    const Vec3 rotation = joint.PerAxis(RotationVector(character::JointRotation(joint, state)));
    for (int axis = 0; axis < 3; ++axis) {
      if (joint.UsesAxis(axis)) angles.Add(rotation[axis]);
    }
  }
}

void AddFrame(const character::Character& character, const character::State& state, Floats& frames) {
  for (size_t body = 0; body < character.bodies.size(); ++body) frames.Add(state[body]);
}

}  // namespace

void MotionRecord::Frame(const character::State& state) {
  AddFrame(character_, state, frames_);
}

void MotionRecord::Sample(const character::State& state) {
  root_.Add(state[static_cast<size_t>(character_.root)].position);
  center_.Add(character::CenterOfMass(character_, state));
  AddAngles(character_, state, angles_);
}

io::Json MotionRecord::ToJson() {
  return {{"frames", frames_.Packed()},
          {"root", root_.Packed()},
          {"center_of_mass", center_.Packed()},
          {"angles", angles_.Packed()}};
}

io::Json ReferenceToJson(const character::ReferenceMotion& reference, double time_step, size_t steps,
                         const Strides& strides) {
  MotionRecord record(reference.character());
  const auto state = [&](size_t i) { return ReferenceState(reference, static_cast<double>(i) * time_step); };
  for (size_t i = 0; i <= steps; i += strides.frame) record.Frame(state(i));
  for (size_t i = 0; i <= steps; i += strides.sample) record.Sample(state(i));
  io::Json json = record.ToJson();
  json["duration"] = reference.duration();
  return json;
}

}  // namespace retrace::report
