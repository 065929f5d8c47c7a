/// Shapes, and what is in the world besides the character, as the page shows them.
#pragma once

#include <cstdint>
#include <vector>

#include "packed.h"
#include "retrace/character/character.h"
#include "retrace/io/json.h"
#include "retrace/simulation/world.h"

namespace retrace::report {

io::Json ShapeToJson(const character::Shape& shape);

/// What is there besides the character, as it is placed at the start.
io::Json WorldToJson(const simulation::WorldOptions& options);

/// Boxes on a course, then free bodies, per frame. A body that never moves has its position once, in start.
class MovingThings {
 public:
  MovingThings(const character::Character& character, const simulation::Environment& environment)
      : environment_(environment), first_body_(character.bodies.size()), bodies_(environment.bodies.size()) {}

  void State(const character::State& state);
  void Frame(const character::State& state, double time);
  void AddTo(io::Json& world);

 private:
  struct Place {
    bool known = false;
    bool moves = false;
    character::BodyState start;
  };

  const simulation::Environment& environment_;
  size_t first_body_;
  std::vector<Place> bodies_;
  Floats courses_;
  Floats frames_;
};

}  // namespace retrace::report
