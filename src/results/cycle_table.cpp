#include "retrace/results/cycle_table.h"

#include <algorithm>

#include "retrace/character/segments.h"
#include "retrace/io/csv_writer.h"

namespace retrace::results {

std::vector<CycleSource> LegLoads(const character::Character& character, bool left) {
  const std::string side = left ? "left_" : "right_";
  const double outward = left ? 1 : -1;
  std::vector<CycleSource> sources;
  const auto joint_of = [&](const std::string& segment) {
    return character::JointOfSegment(character, side + segment);
  };
  const auto add_moment = [&](const std::string& quantity, const std::string& segment, int axis, double sign) {
    const character::Joint* const joint = joint_of(segment);
    if (joint == nullptr || !joint->UsesAxis(axis)) return;
    sources.push_back({quantity + "_moment", "N m/kg", joint->name + "_" + io::kAxes[axis], sign});
  };
  add_moment("hip_extension", "thigh", 0, 1);
  add_moment("hip_abduction", "thigh", 2, outward);
  add_moment("knee_extension", "shin", 0, -1);
  add_moment("ankle_plantarflexion", "foot", 0, 1);
  const std::pair<const char*, const char*> powers[] = {{"hip", "thigh"}, {"knee", "shin"}, {"ankle", "foot"}};
  for (const auto& [name, segment] : powers) {
    if (const character::Joint* const joint = joint_of(segment)) {
      sources.push_back({std::string(name) + "_power", "W/kg", joint->name + "_power", 1});
    }
  }
  return sources;
}

void AddCurves(const Channels& channels, const std::vector<CycleSource>& sources, double mass, double time_step,
               const std::vector<metrics::GaitCycle>& cycles, std::vector<metrics::CycleCurve>& curves) {
  for (const CycleSource& source : sources) {
    const auto column = std::find(channels.names.begin(), channels.names.end(), source.column);
    if (column == channels.names.end()) continue;
    curves.push_back(metrics::CurveOver(
        source.quantity, source.unit,
        source.sign / mass * channels.values.col(static_cast<Eigen::Index>(column - channels.names.begin())), time_step,
        cycles));
  }
}

std::string FormatCycleCurves(const CycleCurves& curves) {
  std::vector<const Eigen::VectorXd*> columns;
  io::CsvWriter writer;
  writer.Text("percent");
  const auto add = [&](const std::string& side, const std::vector<metrics::CycleCurve>& some, const char* kind) {
    for (const metrics::CycleCurve& curve : some) {
      if (curve.cycles == 0) continue;
      writer.Text(side + curve.name + kind + "_mean");
      writer.Text(side + curve.name + kind + "_sd");
      columns.push_back(&curve.mean);
      columns.push_back(&curve.deviation);
    }
  };
  for (const auto& [name, side] : {std::pair{"left_", &curves.left}, std::pair{"right_", &curves.right}}) {
    add(name, side->curves, "");
    add(name, side->measured, "_measured");
  }
  writer.EndRow();
  for (Eigen::Index k = 0; k < metrics::kCyclePoints; ++k) {
    writer.Integer(static_cast<int>(k));
    for (const Eigen::VectorXd* column : columns) writer.Short((*column)[k]);
    writer.EndRow();
  }
  return writer.Take();
}

}  // namespace retrace::results
