#include "retrace/metrics/gate_stay.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"

namespace retrace::metrics {
namespace {

const char* FarthestGate(const GateRatios& ratios) {
  if (ratios.root_height >= ratios.largest()) return "root_height";
  if (ratios.world_position >= ratios.largest()) return "world_position";
  return ratios.root_orientation >= ratios.largest() ? "root_orientation" : "joint_position";
}

}  // namespace

void StayObserver::Add(const control::Trajectory& part) {
  time_step_ = part.time_step;
  character::State target;
  character::Pose pose;
  for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
    const double time = part.TimeOf(i);
    reference_.PoseAt(time, pose);
    character::ForwardKinematics(character_, pose, target);
    const GateRatios ratios = ComputeGateRatios(character_, part.states[i], target, limits_);
    ++states_;
    if (ratios.largest() <= 1) {
      ++inside_;
      outside_now_ = false;
      continue;
    }
    if (!outside_now_) stay_.excursions.push_back({{time, time}, FarthestGate(ratios), ratios.largest(), true});
    outside_now_ = true;
    Excursion& excursion = stay_.excursions.back();
    excursion.interval.end = time;
    if (!(ratios.largest() > excursion.ratio)) continue;
    excursion.ratio = ratios.largest();
    excursion.gate = FarthestGate(ratios);
  }
}

GateStay StayObserver::Finish(double expected_duration) const {
  GateStay stay = stay_;
  if (outside_now_) stay.excursions.back().returned = false;
  const double expected = time_step_ > 0 ? std::round(expected_duration / time_step_) + 1 : 1;
  stay.inside = static_cast<double>(inside_) / std::max(expected, static_cast<double>(states_));
  return stay;
}

std::string GateStay::Describe() const {
  std::string text = "within tolerance for " + io::Fixed(100 * inside, 1) + " % of the time";
  for (const Excursion& excursion : excursions) {
    text.append(&excursion == &excursions.front() ? "; outside from " : ", from ");
    text.append(io::Fixed(excursion.interval.start, 2)).append(excursion.returned ? " to " : " s to the end at ");
    text.append(io::Fixed(excursion.interval.end, 2)).append(" s (").append(excursion.gate).append(", ");
    text.append(io::Fixed(excursion.ratio, 1)).append(" of its limit)");
  }
  return text;
}

io::Json GateStay::ToJson() const {
  io::Json list = io::Json::array();
  for (const Excursion& excursion : excursions) {
    list.push_back({{"left", excursion.interval.start},
                    {"back", excursion.returned ? io::Json(excursion.interval.end) : io::Json()},
                    {"gate", excursion.gate},
                    {"ratio", excursion.ratio}});
  }
  return {{"inside", inside}, {"excursions", list}};
}

}  // namespace retrace::metrics
