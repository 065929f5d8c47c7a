#include "retrace/results/cycle_table.h"

#include "retrace/io/csv_writer.h"

namespace retrace::results {

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
