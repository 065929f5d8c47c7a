/// What a film shows, from the document of a page, as solids at an instant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/io/json.h"
#include "retrace/rendering/picture.h"
#include "retrace/skin/body_skin.h"

namespace retrace::report {

/// Positions and orientations of some bodies at evenly spaced instants.
class PackedPoses {
 public:
  PackedPoses() = default;
  PackedPoses(const io::Json& packed, size_t bodies, double frame_time);
  bool empty() const { return numbers_.empty(); }
  size_t num_frames() const { return bodies_ == 0 ? 0 : numbers_.size() / (7 * bodies_); }
  size_t num_bodies() const { return bodies_; }
  /// Between frames, interpolated; before the first and after the last, that one.
  character::State At(double time) const;
  Vec3 PositionAt(size_t frame, size_t body) const;

 private:
  std::vector<float> numbers_;
  size_t bodies_ = 0;
  double frame_time_ = 1;
};

/// Colors of a figure's limbs and of the rest.
struct FigureColors {
  rendering::Color middle, left, right;
};

/// The body of a character: one skin, or the shapes of each body.
class FigureShape {
 public:
  FigureShape(const io::Json& character, bool shapes);
  std::vector<rendering::Solid> At(const character::State& state, const FigureColors& colors) const;
  double height() const { return height_; }

 private:
  struct Part {
    size_t body = 0;
    rendering::Solid solid;
  };
  double height_ = 0;
  std::vector<int> sides_;  // (bodies) 1 left, -1 right, 0 neither
  skin::BodySkin skin_;     // empty where shapes are shown
  std::vector<Part> parts_;
};

/// The shapes of a page's list, about the middle of their body.
std::vector<rendering::Solid> SolidsOf(const io::Json& shapes, const rendering::Color& color);

/// Forces on a character, frame by frame.
struct FilmedForces {
  std::vector<uint32_t> offsets;
  std::vector<float> points, forces;
  bool end_where_they_act = false;  ///< as pushes do; others begin there

  void Read(const io::Json& json);
  void AddTo(rendering::Picture& picture, size_t frame, double meters_per_newton, const rendering::Color& color) const;
};

/// A character with its motions.
struct FilmedCharacter {
  FilmedCharacter(const io::Json& run, bool shapes);

  FigureShape shape;
  double frame_time, duration;
  PackedPoses simulated;
  PackedPoses recorded;  ///< the recording where the reference was repaired, else the reference; may be empty
  FilmedForces contacts, pushes;
  double meters_per_newton = 0;
  std::vector<uint32_t> print_offsets;
  std::vector<float> print_places, pressures;
  double print_side = 0, usual_peak = 0;
};

/// Boxes, terrain and free bodies of a page's world.
class FilmedWorld {
 public:
  FilmedWorld() = default;
  FilmedWorld(const io::Json& world, double frame_time);
  void AddTo(rendering::Picture& picture, double time) const;
  bool has_ground() const { return has_ground_; }
  double ground() const { return ground_; }

 private:
  struct Body {
    std::vector<rendering::Solid> solids;
    character::BodyState start;
    int moving = -1;  // its number among those that move
  };
  bool has_ground_ = false;
  double ground_ = 0;
  double frame_time_ = 1;
  std::vector<rendering::Solid> still_;
  std::vector<Body> boxes_;     // on courses
  std::vector<float> courses_;  // (frames, boxes, 3)
  std::vector<Body> bodies_;
  PackedPoses poses_;
};

}  // namespace retrace::report
