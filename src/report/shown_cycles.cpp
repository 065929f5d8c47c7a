#include "shown_cycles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "packed.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/math/euler.h"
#include "retrace/math/rotation.h"

namespace retrace::report {
namespace {

constexpr double kLongest = 120;       // what is recorded of a motion [s]
constexpr double kLeastOfGait = 0.25;  // share of a motion that strides of one leg take, or it is no gait
constexpr int kAngles = 4;
constexpr std::array<const char*, kAngles> kAngleNames = {"hip_flexion", "hip_adduction", "knee_flexion",
                                                          "ankle_dorsiflexion"};

std::string SideOf(bool left) {
  return left ? "left_" : "right_";
}

/// Turns of a segment against the one above about x, to the left, and about z, forward: the first two of three
/// successive turns about x, z and y, which are OpenSim's flexion, adduction and rotation [degrees].
std::pair<double, double> TurnsOf(const character::State& state, int above, int below) {
  const Quat turn =
      state[static_cast<size_t>(above)].orientation.conjugate() * state[static_cast<size_t>(below)].orientation;
  const std::array<double, 3> angles = EulerAngles(turn.normalized().toRotationMatrix(), 0, 2, 1);
  return {Degrees(angles[0]), Degrees(angles[1])};
}

/// kAngles of a leg; zero is the rest pose.
std::array<double, kAngles> AnglesOf(const character::Character& character, const character::State& state, bool left) {
  const auto body = [&](const std::string& segment) { return character::BodyOfSegment(character, segment); };
  const std::string side = SideOf(left);
  const int thigh = body(side + "thigh"), shin = body(side + "shin"), foot = body(side + "foot");
  const auto [extension, leftward] = TurnsOf(state, body("pelvis"), thigh);
  return {-extension, left ? -leftward : leftward, TurnsOf(state, thigh, shin).first,
          -TurnsOf(state, shin, foot).first};
}

bool HasLegs(const character::Character& character) {
  if (character::BodyOfSegment(character, "pelvis") < 0) return false;
  for (const bool left : {true, false}) {
    for (const char* segment : {"thigh", "shin", "foot"}) {
      if (character::BodyOfSegment(character, SideOf(left) + segment) < 0) return false;
    }
  }
  return true;
}

Eigen::MatrixXd Rows(const std::vector<float>& values, Eigen::Index columns) {
  using Table = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Table>(values.data(), static_cast<Eigen::Index>(values.size()) / columns, columns)
      .cast<double>();
}

io::Json CurveToJson(const metrics::CycleCurve& curve, const metrics::CycleCurve* reference) {
  const auto packed = [](const Eigen::VectorXd& values) {
    Floats floats;
    for (const double value : values) floats.Add(value);
    return floats.Packed();
  };
  io::Json json = {
      {"name", curve.name}, {"unit", curve.unit}, {"mean", packed(curve.mean)}, {"deviation", packed(curve.deviation)}};
  if (reference != nullptr && reference->cycles > 0) json["reference"] = packed(reference->mean);
  return json;
}

}  // namespace

LegRecord::LegRecord(const character::Character& character) : character_(character) {
  if (!HasLegs(character)) return;
  const std::vector<metrics::ForcePlate> plates = metrics::ForcePlates(character, {});
  const std::optional<metrics::FootPlates> feet = metrics::FindFeet(character, plates);
  if (!feet) return;
  for (const bool left : {true, false}) {
    legs_.push_back({plates[left ? feet->left : feet->right], {}, {}, {}, results::LegLoads(character, left)});
  }
}

void LegRecord::Add(const control::Trajectory& part) {
  time_step_ = part.time_step;
  if (legs_.empty() || part.TimeOf(0) >= kLongest) return;
  const results::Channels loads = results::JointLoadChannels(character_, part);
  for (Leg& leg : legs_) {
    std::vector<Eigen::Index> columns;
    for (const results::CycleSource& source : leg.sources) {
      columns.push_back(std::find(loads.names.begin(), loads.names.end(), source.column) - loads.names.begin());
    }
    const bool left = &leg == legs_.data();
    for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
      // No step led to the first state: what leads on stands there, so that a foot on the ground does not strike.
      const size_t step = i == 0 ? 0 : i - 1;
      const bool known = step < part.contacts.size();
      leg.vertical.push_back(known ? static_cast<float>(metrics::ForceOn(leg.foot, part.contacts[step]).force.y()) : 0);
      for (const double angle : AnglesOf(character_, part.states[i], left)) {
        leg.angles.push_back(static_cast<float>(angle));
      }
      for (const Eigen::Index column : columns) {
        leg.loads.push_back(static_cast<float>(loads.values(static_cast<Eigen::Index>(i), column)));
      }
    }
  }
  num_states_ = legs_.front().vertical.size();
}

Eigen::VectorXd LegRecord::VerticalOf(const Leg& leg) const {
  return Rows(leg.vertical, 1).col(0);
}

std::vector<metrics::GaitCycle> LegRecord::Strides() const {
  const auto n = static_cast<Eigen::Index>(num_states_);
  metrics::FootForces forces{metrics::VectorSeries::Zero(n, 3), metrics::VectorSeries::Zero(n, 3),
                             metrics::VectorSeries::Zero(n, 3)};
  forces.left.col(1) = VerticalOf(legs_[0]);
  forces.right.col(1) = VerticalOf(legs_[1]);
  const std::vector<metrics::StancePhase> stances = metrics::FindStances(forces, character_.total_mass(), time_step_);
  std::vector<metrics::GaitCycle> strides = metrics::StridesOf(stances);
  std::erase_if(strides, [&](const metrics::GaitCycle& stride) {
    return std::count_if(stances.begin(), stances.end(), [&](const metrics::StancePhase& stance) {
             return stance.left != stride.left && stance.strike && *stance.strike > stride.start &&
                    *stance.strike < stride.end;
           }) != 1;
  });
  return strides;
}

io::Json LegRecord::SideToJson(const Leg& leg, bool left, const std::vector<metrics::GaitCycle>& strides,
                               const character::ReferenceMotion* reference) const {
  io::Json json = {{"strides", io::Json::array()}, {"curves", io::Json::array()}};
  if (strides.empty()) return json;
  for (const metrics::GaitCycle& stride : strides) {
    json["strides"].push_back({{"start", stride.start}, {"off", stride.off}, {"end", stride.end}});
  }
  const auto over = [&](const std::string& name, const std::string& unit, const Eigen::VectorXd& values) {
    return metrics::CurveOver(name, unit, values, time_step_, strides);
  };
  // The reference counts between the first strike and the last one alone.
  const Eigen::MatrixXd angles = Rows(leg.angles, kAngles);
  Eigen::MatrixXd wanted = Eigen::MatrixXd::Constant(angles.rows(), kAngles, std::numeric_limits<double>::quiet_NaN());
  if (reference != nullptr) {
    const auto first = static_cast<Eigen::Index>(std::floor(strides.front().start / time_step_));
    const auto last =
        std::min(static_cast<Eigen::Index>(std::ceil(strides.back().end / time_step_)), angles.rows() - 1);
    character::Pose pose;
    character::State state;
    for (Eigen::Index i = first; i <= last; ++i) {
      reference->PoseAt(static_cast<double>(i) * time_step_, pose);
      character::ForwardKinematics(reference->character(), pose, state);
      const std::array<double, kAngles> row = AnglesOf(reference->character(), state, left);
      for (int a = 0; a < kAngles; ++a) wanted(i, a) = row[static_cast<size_t>(a)];
    }
  }
  for (int a = 0; a < kAngles; ++a) {
    const char* const name = kAngleNames[static_cast<size_t>(a)];
    const metrics::CycleCurve of_reference = over(name, "\u00b0", wanted.col(a));
    json["curves"].push_back(CurveToJson(over(name, "\u00b0", angles.col(a)), &of_reference));
  }
  const double mass = character_.total_mass();
  if (!leg.sources.empty() && results::kTableCutoff < 0.5 / time_step_) {
    results::Channels loads{{}, Rows(leg.loads, static_cast<Eigen::Index>(leg.sources.size()))};
    for (const results::CycleSource& source : leg.sources) loads.names.push_back(source.column);
    std::vector<metrics::CycleCurve> curves;
    results::AddCurves(results::LowPassed(loads, time_step_, results::kTableCutoff), leg.sources, mass, time_step_,
                       strides, curves);
    for (const metrics::CycleCurve& curve : curves) json["curves"].push_back(CurveToJson(curve, nullptr));
    const results::Channels force{{"vertical_force"}, VerticalOf(leg)};
    json["curves"].push_back(
        CurveToJson(over("vertical_force", "N/kg",
                         results::LowPassed(force, time_step_, results::kTableCutoff).values.col(0) / mass),
                    nullptr));
  }
  return json;
}

io::Json LegRecord::ToJson(const character::ReferenceMotion* reference) const {
  if (legs_.empty() || num_states_ < 2) return {};
  const std::vector<metrics::GaitCycle> strides = Strides();
  std::array<double, 2> taken = {};
  for (const metrics::GaitCycle& stride : strides) taken[stride.left ? 0 : 1] += stride.end - stride.start;
  const double duration = static_cast<double>(num_states_ - 1) * time_step_;
  if (strides.empty() || std::max(taken[0], taken[1]) < kLeastOfGait * duration) return {};
  io::Json json = {{"low_pass", results::kTableCutoff}};
  for (const bool left : {true, false}) {
    std::vector<metrics::GaitCycle> own;
    std::copy_if(strides.begin(), strides.end(), std::back_inserter(own),
                 [&](const metrics::GaitCycle& stride) { return stride.left == left; });
    json[left ? "left" : "right"] = SideToJson(legs_[left ? 0 : 1], left, own, reference);
  }
  return json;
}

}  // namespace retrace::report
