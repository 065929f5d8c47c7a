#include "retrace/metrics/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/gates.h"
#include "retrace/metrics/statistics.h"

namespace retrace::metrics {
namespace {

using character::Character;
using character::State;
using control::OpenLoopControl;
using control::Trajectory;

/// Sum of the squared distances from the mean.
double Scatter(std::span<const Vec3> points) {
  Vec3 mean = points[0];  // equal points have a spread of exactly zero
  for (const Vec3& point : points) mean += (point - points[0]) / static_cast<double>(points.size());
  double sum = 0;
  for (const Vec3& point : points) sum += (point - mean).squaredNorm();
  return sum;
}

double Scatter(std::span<const Quat> rotations) {
  const std::vector<double> weights(rotations.size(), 1.0);
  const Quat mean = MeanRotation(rotations, weights);
  double sum = 0;
  for (const Quat& rotation : rotations) sum += std::pow(AngleBetween(rotation, mean), 2);
  return sum;
}

void MeasureMotions(const Character& character, std::span<const Trajectory> motions,
                    const character::ReferenceMotion& reference, Spread& spread) {
  const size_t root = static_cast<size_t>(character.root);
  const double n = static_cast<double>(motions.size());
  std::vector<Quat> headings(motions.size());  // back to the reference's
  std::vector<Vec3> points(motions.size());
  character::Pose pose;
  for (size_t i = 0; i < motions[0].states.size(); ++i) {
    reference.PoseAt(static_cast<double>(i) * spread.time_step, pose);
    for (size_t v = 0; v < motions.size(); ++v) {
      const character::BodyState& body = motions[v].states[i][root];
      headings[v] = Heading(body.orientation * pose.root_orientation.conjugate()).conjugate();
      points[v] = body.position;
    }
    spread.root.push_back(std::sqrt(Scatter(points) / n));
    double sum = 0;
    for (const character::Joint& joint : character.joints) {
      for (size_t v = 0; v < motions.size(); ++v) {
        const State& state = motions[v].states[i];
        points[v] = headings[v] * Vec3(character::JointPosition(character, joint, state) - state[root].position);
      }
      sum += Scatter(points);
    }
    spread.joints.push_back(std::sqrt(sum / n / static_cast<double>(character.joints.size())));
  }
}

void MeasureTargets(size_t joints, std::span<const OpenLoopControl> controls, Spread& spread) {
  const double n = static_cast<double>(controls.size());
  std::vector<control::TargetPose> targets(controls.size(), control::TargetPose(joints));
  std::vector<size_t> fragments(controls.size(), 0);
  std::vector<Quat> rotations(controls.size());
  for (int step = 0; step < controls[0].num_steps(); ++step) {
    for (size_t v = 0; v < controls.size(); ++v) {
      const control::Fragment* fragment = &controls[v].fragments[fragments[v]];
      if (step == fragment->first_step + fragment->num_steps) fragment = &controls[v].fragments[++fragments[v]];
      control::TargetsAt(*fragment, step - fragment->first_step, targets[v]);
    }
    double sum = 0;
    for (size_t j = 0; j < joints; ++j) {
      for (size_t v = 0; v < controls.size(); ++v) rotations[v] = targets[v][j];
      sum += Scatter(rotations);
    }
    spread.targets.push_back(std::sqrt(sum / n / static_cast<double>(joints)));
  }
}

void MeasurePairs(const Character& character, std::span<const Trajectory> motions, Spread& spread) {
  std::vector<double> distances;
  for (size_t a = 0; a < motions.size(); ++a) {
    for (size_t b = a + 1; b < motions.size(); ++b) {
      double sum = 0;
      for (size_t i = 0; i < motions[a].states.size(); ++i) {
        sum += JointPositionError(character, motions[a].states[i], motions[b].states[i]);
      }
      const double distance = sum / static_cast<double>(motions[a].states.size());
      if (distances.empty() || distance < *std::min_element(distances.begin(), distances.end())) {
        spread.closest[0] = a;
        spread.closest[1] = b;
      }
      distances.push_back(distance);
    }
  }
  spread.pair_median = QuartilesOf(distances).median;  // not a number without pairs
  spread.pair_smallest = distances.empty() ? spread.pair_median : *std::min_element(distances.begin(), distances.end());
  spread.pair_largest = distances.empty() ? spread.pair_median : *std::max_element(distances.begin(), distances.end());
}

/// Mean and largest of a figure over time.
io::Json OverTime(const std::vector<double>& values) {
  double mean = 0;
  double largest = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
    largest = std::max(largest, value);
  }
  return {{"mean", mean}, {"largest", largest}};
}

}  // namespace

io::Json Spread::ToJson() const {
  io::Json json = {{"joints", OverTime(joints)},
                   {"root", OverTime(root)},
                   {"targets", OverTime(targets)},
                   {"pairs", {{"smallest", pair_smallest}, {"median", pair_median}, {"largest", pair_largest}}}};
  if (!std::isnan(pair_smallest)) json["pairs"]["closest"] = {closest[0], closest[1]};
  return json;
}

Spread MeasureSpread(const Character& character, std::span<const Trajectory> motions,
                     std::span<const OpenLoopControl> controls, const character::ReferenceMotion& reference) {
  if (motions.empty()) throw std::invalid_argument("the spread of no motion");
  if (controls.size() != motions.size()) throw std::invalid_argument("motions and controls that are not as many");
  for (size_t v = 0; v < motions.size(); ++v) {
    if (motions[v].states.size() != motions[0].states.size() || motions[v].time_step != motions[0].time_step ||
        static_cast<size_t>(controls[v].num_steps()) != motions[0].num_steps()) {
      throw std::invalid_argument("the spread of motions that differ in their steps");
    }
  }
  Spread spread;
  spread.time_step = motions[0].time_step;
  MeasureMotions(character, motions, reference, spread);
  MeasureTargets(character.joints.size(), controls, spread);
  MeasurePairs(character, motions, spread);
  return spread;
}

}  // namespace retrace::metrics
