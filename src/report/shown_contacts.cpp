#include "shown_contacts.h"

#include <algorithm>
#include <cmath>

namespace retrace::report {
namespace {

/// Where the world's surface is at a position near which a body touches it.
double SurfaceAt(const simulation::Environment& environment, const Vec3& place, double touched) {
  constexpr double kNear = 0.15;  // a foot over an edge does not press on what is far below
  const double height = environment.HeightAt(place.x(), place.z(), touched + kNear);
  return std::abs(height - touched) < kNear ? height : touched;
}

/// The value that 2 % of some values exceed; 0 where there is none. It is the end of a scale of colors, which a few
/// peaks would otherwise make pale.
double UsualPeak(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(0.98 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

}  // namespace

void Arrows::Step(const std::vector<simulation::Contact>& contacts) {
  ++steps_;
  for (const simulation::Contact& contact : contacts) {
    if (contact.other >= 0) continue;
    Sum& sum = sums_[static_cast<size_t>(contact.body)];
    const double size = contact.force.norm();
    sum.force += contact.force;
    sum.place += size * contact.point;
    sum.weight += size;
  }
}

void Arrows::Frame() {
  for (size_t body = 0; body < sums_.size(); ++body) {
    Sum& sum = sums_[body];
    if (sum.weight > 0) {
      bodies_.push_back(static_cast<uint16_t>(body));
      points_.Add(Vec3(sum.place / sum.weight));
      forces_.Add(Vec3(sum.force / static_cast<double>(steps_)));
    }
    sum = {};
  }
  steps_ = 0;
  offsets_.push_back(static_cast<uint32_t>(bodies_.size()));
}

io::Json Arrows::ToJson() {
  return {{"offsets", Pack(offsets_)},
          {"bodies", Pack(bodies_)},
          {"points", points_.Packed()},
          {"forces", forces_.Packed()}};
}

void Timeline::Add(const results::ContactHistory& history) {
  constexpr double kChatter = 0.02;
  const double h = history.time_step;
  for (size_t step = 0; step < history.loads.size(); ++step) {
    for (size_t b = 0; b < bodies_.size(); ++b) {
      const results::ContactLoad& load = history.loads[step][b];
      if (load.points == 0) continue;
      auto& [intervals, peak] = bodies_[b];
      peak = std::max(peak, load.normal_force);
      const double start = static_cast<double>(history.first_step + step) * h;
      if (intervals.empty() || start - intervals.back().second > kChatter) intervals.emplace_back(start, start);
      intervals.back().second = start + h;
    }
  }
}

io::Json Timeline::ToJson(const character::Character& character) const {
  io::Json timeline = io::Json::array();
  for (size_t b = 0; b < bodies_.size(); ++b) {
    if (bodies_[b].intervals.empty()) continue;
    timeline.push_back(
        {{"body", character.bodies[b].name}, {"intervals", bodies_[b].intervals}, {"peak_force", bodies_[b].peak}});
  }
  return timeline;
}

void Footprints::Step(const character::State& state, const std::vector<results::PressureCell>& cells,
                      const std::vector<results::ContactLoad>& loads) {
  constexpr double kWorthShowing = 1.15;  // a square is drawn anew when its pressure has grown by so much
  for (const results::PressureCell& cell : cells) {
    const auto body = static_cast<size_t>(cell.body);
    const Vec3 place = state[body].position + state[body].orientation * cell.center;
    const long x = std::lround(place.x() / side_);
    const long z = std::lround(place.z() / side_);
    double& before = largest_[{body, x, z}];
    if (cell.pressure < std::max(kWorthShowing * before, 1000.0)) continue;
    before = cell.pressure;
    const Vec3 square(static_cast<double>(x) * side_, 0, static_cast<double>(z) * side_);
    places_.Add(Vec3(square.x(), SurfaceAt(environment_, square, loads[body].center.y()), square.z()));
    pressures_.push_back(cell.pressure);
  }
}

io::Json Footprints::ToJson() {
  // What was pressed after the last frame is not shown.
  pressures_.resize(offsets_.back());
  places_.Resize(3 * pressures_.size());
  const std::vector<float> packed(pressures_.begin(), pressures_.end());
  return {{"side", side_},
          {"offsets", Pack(offsets_)},
          {"places", places_.Packed()},
          {"pressures", Pack(packed)},
          {"usual_peak", UsualPeak(std::move(pressures_))}};
}

}  // namespace retrace::report
