#include "motion_arrays.h"

#include <utility>

#include "retrace/jobs/inverse_dynamics.h"
#include "retrace/results/force_tables.h"

namespace retrace::python {
namespace {

template <typename Value>
Shared<Value> Share(std::vector<Value> values) {
  return std::make_shared<const std::vector<Value>>(std::move(values));
}

void Append(std::vector<double>& values, const Vec3& v) {
  values.insert(values.end(), {v.x(), v.y(), v.z()});
}

void Copy(const Vec3& v, double (&to)[3]) {
  for (int axis = 0; axis < 3; ++axis) to[axis] = v[axis];
}

BodyRow RowOf(const character::BodyState& state) {
  BodyRow row = {};
  Copy(state.position, row.position);
  const Quat& q = state.orientation;
  const double parts[] = {q.w(), q.x(), q.y(), q.z()};
  std::copy(std::begin(parts), std::end(parts), row.orientation);
  Copy(state.linear_velocity, row.linear_velocity);
  Copy(state.angular_velocity, row.angular_velocity);
  return row;
}

ContactRow RowOf(const simulation::Contact& contact, size_t state) {
  ContactRow row = {};
  row.state = static_cast<int32_t>(state);
  row.body = contact.body;
  row.other = contact.other;
  row.object = contact.object;
  Copy(contact.point, row.point);
  Copy(contact.force, row.force);
  Copy(contact.normal, row.normal);
  return row;
}

NamedColumns ColumnsOf(const results::Channels& channels) {
  NamedColumns columns{channels.names, static_cast<size_t>(channels.values.rows()), {}};
  std::vector<double> values;
  values.reserve(static_cast<size_t>(channels.values.size()));
  for (Eigen::Index row = 0; row < channels.values.rows(); ++row) {
    for (Eigen::Index column = 0; column < channels.values.cols(); ++column) {
      values.push_back(channels.values(row, column));
    }
  }
  columns.values = Share(std::move(values));
  return columns;
}

}  // namespace

MotionArrays ArraysOf(const character::Character& character, const control::Trajectory& trajectory) {
  MotionArrays arrays;
  const size_t n = arrays.states = trajectory.states.size();
  arrays.bodies = character.bodies.size();
  arrays.joints = character.joints.size();
  std::vector<double> time, torques(3 * arrays.joints), forces, ground;
  std::vector<BodyRow> bodies;
  std::vector<ContactRow> contacts;
  for (size_t i = 0; i < n; ++i) {
    time.push_back(static_cast<double>(i) * trajectory.time_step);
    for (size_t b = 0; b < arrays.bodies; ++b) bodies.push_back(RowOf(trajectory.states[i][b]));
    std::vector<Vec3> on_body(arrays.bodies, Vec3(Vec3::Zero()));
    Vec3 sum = Vec3::Zero();
    if (i > 0) {
      for (const Vec3& torque : trajectory.torques[i - 1]) Append(torques, torque);
      for (const simulation::Contact& contact : trajectory.contacts[i - 1]) {
        if ((contact.force.array() == 0).all()) continue;
        contacts.push_back(RowOf(contact, i));
        if (contact.other >= 0) continue;
        on_body[static_cast<size_t>(contact.body)] += contact.force;
        sum += contact.force;
      }
    }
    for (const Vec3& force : on_body) Append(forces, force);
    Append(ground, sum);
  }
  arrays.time = Share(std::move(time));
  arrays.body_states = Share(std::move(bodies));
  arrays.torques = Share(std::move(torques));
  arrays.contacts = Share(std::move(contacts));
  arrays.forces = Share(std::move(forces));
  arrays.ground_force = Share(std::move(ground));
  return arrays;
}

ForceArrays ArraysOf(const runs::Job& job, const runs::ForceEstimate& estimate) {
  ForceArrays arrays;
  const double step = job.reference().frame_time();
  const results::Channels ground = results::GroundForceChannels(job.character(), estimate.ground, step, 0);
  arrays.ground = ColumnsOf(ground);
  arrays.joints = ColumnsOf(estimate.joint_loads);
  std::vector<double> time;
  for (size_t k = 0; k < arrays.ground.rows; ++k) time.push_back(static_cast<double>(k) * step);
  arrays.time = Share(std::move(time));
  arrays.mass = job.character().total_mass();
  arrays.notes = estimate.notes;
  arrays.warnings = estimate.warnings;
  arrays.text = runs::Describe(estimate);
  return arrays;
}

}  // namespace retrace::python
