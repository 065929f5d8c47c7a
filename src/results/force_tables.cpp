#include "retrace/results/force_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "joint_columns.h"
#include "retrace/character/kinematics.h"
#include "retrace/math/filter.h"

namespace retrace::results {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr double kPressed = 0.05;  // a low-passed center of pressure needs more force [body weights]

void AddNames(const std::string& prefix, std::vector<std::string>& names) {
  for (const char* axis : io::kAxes) names.push_back(prefix + axis);
}

/// What `control` has in a cell; nothing where it ended before.
double ValueAt(const Channels& control, Eigen::Index row, Eigen::Index column) {
  return row < control.values.rows() ? control.values(row, column) : kNothing;
}

}  // namespace

Channels GroundForceChannels(const character::Character& character, const metrics::GroundForces& ground,
                             double time_step, double cutoff) {
  Channels channels;
  AddNames("total_force_", channels.names);
  const auto n = static_cast<Eigen::Index>(ground.num_states);
  const auto plates = static_cast<Eigen::Index>(ground.plates.size());
  // Seven columns for each plate: force, position times vertical force, free moment.
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(n, 3 + 7 * plates);
  for (Eigen::Index p = 0; p < plates; ++p) {
    const auto plate = static_cast<size_t>(p);
    const std::string& body = character.bodies[static_cast<size_t>(ground.plates[plate].body)].name;
    AddNames(body + "_force_", channels.names);
    AddNames(body + "_center_", channels.names);
    channels.names.push_back(body + "_free_moment");
    for (Eigen::Index i = 0; i < n; ++i) {
      const metrics::AppliedForce& applied = ground.forces[plate][static_cast<size_t>(i)];
      sums.block<1, 3>(i, 0) += applied.force.transpose();
      sums.block<1, 3>(i, 3 + 7 * p) = applied.force.transpose();
      sums.block<1, 3>(i, 6 + 7 * p) = applied.force.y() * applied.point.transpose();
      sums(i, 9 + 7 * p) = applied.moment.y();
    }
  }
  if (cutoff > 0) sums = ButterworthLowPass(sums, 1 / time_step, cutoff);
  const double least = kPressed * character.total_mass() * kStandardGravity;
  for (Eigen::Index p = 0; p < plates; ++p) {
    for (Eigen::Index i = 0; i < n; ++i) {
      const metrics::AppliedForce& applied = ground.forces[static_cast<size_t>(p)][static_cast<size_t>(i)];
      auto center = sums.block<1, 3>(i, 6 + 7 * p);
      if (cutoff == 0 && (applied.force.array() != 0).any()) {
        center = applied.point.transpose();
      } else if (cutoff > 0 && sums(i, 4 + 7 * p) > least) {
        center /= sums(i, 4 + 7 * p);
      } else {
        center.setConstant(kNothing);
      }
    }
  }
  channels.values = std::move(sums);
  return channels;
}

Channels FootForceChannels(const metrics::FootForces& forces, const character::ReferenceMotion& reference,
                           double heading, double time_step, double cutoff) {
  Channels channels;
  channels.values.resize(forces.total.rows(), 9);
  Eigen::Index column = 0;
  const std::pair<const char*, const metrics::VectorSeries*> parts[] = {
      {"total", &forces.total}, {"left", &forces.left}, {"right", &forces.right}};
  for (const auto& [part, series] : parts) {
    for (int c = 0; c < metrics::kForceComponents; ++c) {
      channels.names.push_back(std::string(part) + "_" + Name(static_cast<metrics::ForceComponent>(c)));
    }
    channels.values.middleCols(column, 3) = metrics::InComponents(*series, reference, heading);
    column += 3;
  }
  return LowPassed(channels, time_step, cutoff);
}

Channels JointLoadChannels(const character::Character& character, const control::Trajectory& trajectory) {
  Channels channels;
  ForEachJointAxis(character, [&](size_t j, int axis) {
    channels.names.push_back(character.joints[j].name + "_" + io::kAxes[axis]);
  });
  const auto axes = static_cast<Eigen::Index>(channels.names.size());
  for (const character::Joint& joint : character.joints) channels.names.push_back(joint.name + "_power");
  channels.values = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(trajectory.states.size()),
                                          static_cast<Eigen::Index>(channels.names.size()));
  for (size_t i = 0; i < trajectory.torques.size(); ++i) {
    auto row = channels.values.row(static_cast<Eigen::Index>(i + 1));
    Eigen::Index column = 0;
    ForEachJointAxis(character, [&](size_t j, int axis) { row[column++] = trajectory.torques[i][j][axis]; });
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const character::Joint& joint = character.joints[j];
      const Vec3 rate = joint.PerAxis((character::RelativeRate(joint, trajectory.states[i]) +
                                       character::RelativeRate(joint, trajectory.states[i + 1])) /
                                      2);
      double power = 0;
      for (int axis = 0; axis < 3; ++axis) {
        if (joint.UsesAxis(axis)) power += trajectory.torques[i][j][axis] * rate[axis];
      }
      row[axes + static_cast<Eigen::Index>(j)] = power;
    }
  }
  return channels;
}

Channels LowPassed(const Channels& channels, double time_step, double cutoff) {
  if (cutoff == 0) return channels;
  return {channels.names, ButterworthLowPass(channels.values, 1 / time_step, cutoff)};
}

std::string FormatBands(const BandedChannels& bands, double time_step, double cutoff, const Channels* measured) {
  const Channels& motion = bands.controls[bands.motion];
  const std::string suffix = cutoff == 0 ? "" : "_" + metrics::CutoffName(cutoff);
  io::CsvWriter writer;
  writer.Text("time");
  for (const std::string& name : motion.names) {
    std::string label = name;
    label.append(suffix);
    for (const char* of : {"", "_min", "_max"}) writer.Text(label + of);
    if (measured != nullptr) writer.Text(label + "_measured");
  }
  writer.EndRow();
  for (Eigen::Index i = 0; i < motion.values.rows(); ++i) {
    writer.Number(static_cast<double>(i) * time_step);
    for (Eigen::Index c = 0; c < motion.values.cols(); ++c) {
      double least = kNothing, most = kNothing;
      for (const Channels& control : bands.controls) {
        least = std::fmin(least, ValueAt(control, i, c));  // of a number and none the number
        most = std::fmax(most, ValueAt(control, i, c));
      }
      for (const double value : {motion.values(i, c), least, most}) writer.NumberOrEmpty(value);
      if (measured != nullptr) writer.NumberOrEmpty(ValueAt(*measured, i, c));
    }
    writer.EndRow();
  }
  return writer.Take();
}

std::string FormatForceComparison(const metrics::ForceComparison& comparison) {
  io::CsvWriter writer;
  for (const char* name : {"source", "low_pass", "part", "component", "rmse_percent", "rrmse_percent", "r",
                           "peak_percent", "impulse_percent"}) {
    writer.Text(name);
  }
  writer.EndRow();
  for (const metrics::ForceComparisonRow& row : comparison.rows) {
    for (const std::string& text :
         {row.source, metrics::CutoffName(row.cutoff), row.part, metrics::Name(row.component)}) {
      writer.Text(text);
    }
    const metrics::ForceFigures& f = row.figures;
    for (const double value : {f.rmse, f.rrmse, f.r, f.peak, f.impulse}) writer.NumberOrEmpty(value);
    writer.EndRow();
  }
  return writer.Take();
}

}  // namespace retrace::results
