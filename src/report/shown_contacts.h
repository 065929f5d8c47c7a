/// What presses on a character, as the page shows it: each takes it step by step.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "packed.h"
#include "retrace/character/character.h"
#include "retrace/io/json.h"
#include "retrace/results/contact_tables.h"
#include "retrace/simulation/world.h"

namespace retrace::report {

/// Per frame and touching body: the mean force from outside over the steps that led to the frame, and its position.
class Arrows {
 public:
  explicit Arrows(size_t num_bodies) : sums_(num_bodies) {}

  void Step(const std::vector<simulation::Contact>& contacts);
  void Frame();
  io::Json ToJson();

 private:
  struct Sum {
    Vec3 force = Vec3::Zero();
    Vec3 place = Vec3::Zero();
    double weight = 0;
  };

  std::vector<Sum> sums_;
  size_t steps_ = 0;  // since the latest frame
  std::vector<uint32_t> offsets_ = {0};
  std::vector<uint16_t> bodies_;
  Floats points_;
  Floats forces_;
};

/// Intervals in which something presses on a body from outside; gaps of less than 20 ms are chatter and closed.
class Timeline {
 public:
  explicit Timeline(size_t num_bodies) : bodies_(num_bodies) {}

  void Add(const results::ContactHistory& history);
  io::Json ToJson(const character::Character& character) const;

 private:
  struct Touches {
    std::vector<std::pair<double, double>> intervals;
    double peak = 0;
  };
  std::vector<Touches> bodies_;
};

/// Pressure left on the ground: squares in the world, each as the largest pressure so far, in the order of time. The
/// first offsets[frame + 1] of them are what is there at a frame; a square drawn later over an earlier one has more.
class Footprints {
 public:
  Footprints(const simulation::Environment& environment, double side) : environment_(environment), side_(side) {}

  /// A step that began in that state.
  void Step(const character::State& state, const std::vector<results::PressureCell>& cells,
            const std::vector<results::ContactLoad>& loads);
  void Frame() { offsets_.push_back(static_cast<uint32_t>(pressures_.size())); }
  io::Json ToJson();

 private:
  const simulation::Environment& environment_;
  double side_;
  std::map<std::tuple<size_t, long, long>, double> largest_;
  std::vector<uint32_t> offsets_ = {0};
  Floats places_;
  std::vector<double> pressures_;
};

}  // namespace retrace::report
