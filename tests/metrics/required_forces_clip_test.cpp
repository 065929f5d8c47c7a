/// Inverse dynamics of recordings against the force plates that they walked and ran over.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "character/sample_human.h"
#include "retrace/io/file.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/recordings/bvh.h"
#include "retrace/retargeting/reference.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::metrics {
namespace {

namespace fs = std::filesystem;

struct Plates {
  std::vector<double> times;
  std::vector<double> vertical;  // of both feet, in body weights
  std::vector<bool> valid;
};

Plates ReadPlates(const fs::path& file, double mass) {
  Plates plates;
  std::istringstream lines(io::ReadFile(file));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<double> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(std::stod(cell));
    plates.times.push_back(cells.at(0));
    plates.vertical.push_back((cells.at(2) + cells.at(8)) / (mass * kStandardGravity));
    plates.valid.push_back(cells.at(13) != 0);
  }
  return plates;
}

struct Trial {
  const char* name;
  double mass;         // of the subject [kg]
  double error;        // most, root mean square [body weights]
  double correlation;  // least
};

class MeasuredForces : public testing::TestWithParam<Trial> {};

TEST_P(MeasuredForces, AreNearThoseRequired) {
  const Trial& trial = GetParam();
  const fs::path folder = fs::path(RETRACE_SHARED_DIR) / "forces";
  const fs::path clip = folder / (std::string(trial.name) + ".bvh");
  if (!fs::exists(clip)) GTEST_SKIP() << clip << " is missing";
  const Plates plates = ReadPlates(folder / (std::string(trial.name) + ".forces.csv"), trial.mass);
  character::ReferenceReport report;
  const character::ReferenceMotion reference =
      character::MakeReference(character::Human(), motion::ReadBvh(clip), trial.name, {}, report);
  const auto required = RequiredForcesOf(reference);
  const double weight = character::Human().total_mass() * kStandardGravity;
  double n = 0, squares = 0, sum_a = 0, sum_b = 0, sum_aa = 0, sum_bb = 0, sum_ab = 0;
  for (size_t i = 0; i < plates.times.size(); ++i) {
    // The reference is smoothed: a tenth of a second at its ends is not compared.
    if (!plates.valid[i] || plates.times[i] < 0.1 || plates.times[i] > reference.duration() - 0.1) continue;
    const auto after = std::lower_bound(required.begin(), required.end(), plates.times[i],
                                        [](const RequiredForces& instant, double time) { return instant.time < time; });
    ASSERT_NE(after, required.begin());
    ASSERT_NE(after, required.end());
    const auto before = after - 1;
    const double share = (plates.times[i] - before->time) / (after->time - before->time);
    const double a = ((1 - share) * before->force.y() + share * after->force.y()) / weight;
    const double b = plates.vertical[i];
    n += 1, squares += (a - b) * (a - b), sum_a += a, sum_b += b, sum_aa += a * a, sum_bb += b * b, sum_ab += a * b;
  }
  ASSERT_GT(n, 50);
  const double error = std::sqrt(squares / n);
  const double correlation =
      (n * sum_ab - sum_a * sum_b) / std::sqrt((n * sum_aa - sum_a * sum_a) * (n * sum_bb - sum_b * sum_b));
  RecordProperty("error", std::to_string(error));
  RecordProperty("correlation", std::to_string(correlation));
  EXPECT_LT(error, trial.error);
  EXPECT_GT(correlation, trial.correlation);
  // A walk needs nothing that its feet on the ground could not give.
  double missing = 0;
  for (const RequiredForces& instant : required) missing += instant.missing_force.squaredNorm();
  EXPECT_LT(std::sqrt(missing / static_cast<double>(required.size())) / weight, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Trials, MeasuredForces,
                         testing::Values(Trial{"walk_opencap4", 62.6, 0.08, 0.95},
                                         Trial{"run3_hamner", 72.84, 0.3, 0.95}),
                         [](const auto& trial) { return trial.param.name; });

}  // namespace
}  // namespace retrace::metrics
