/// Motions of one character, as frames that can be compared wherever the character stands and looks (Zordan et al.
/// 2005, section 4).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/character/state.h"

namespace retrace::matching {

/// Time between the frames that are compared [s]: that of the paper's recordings.
inline constexpr double kFrameTime = 1.0 / 30;

/// State of a character at an instant in its own ground frame, without what belongs to one body alone.
struct FrameOfWhole {
  float velocity[3] = {};  ///< of the center of mass [m/s]
  int support = -1;        ///< the body that carries it (SupportOf)

  // Where the ground frame is in the world.
  double place[2] = {};                 ///< x, z [m]
  double heading_w = 1, heading_y = 0;  ///< rotation about y, as the quaternion (w, 0, y, 0)
};

/// Likewise of a body: position of the center of mass [m], and orientation.
struct FrameOfBody {
  float x = 0, y = 0, z = 0;
  float w = 1, qx = 0, qy = 0, qz = 0;
};

/// A character at an instant, as its own ground frame sees it: origin under the root, y up, turned by the heading of
/// the root. The heading is that of `Heading` in math/rotation.h, which is not continuous where the root is upside
/// down.
struct Frame {
  FrameOfWhole whole;
  std::vector<FrameOfBody> bodies;
};

/// Many frames of one character, one after the other in memory: a library has some ten thousand, and reads them anew in
/// each run of a program.
class FrameTable {
 public:
  explicit FrameTable(size_t num_bodies) : num_bodies_(num_bodies) {}

  void Reserve(size_t num_frames);
  void Add(const Frame& frame) { Add(frame.whole, frame.bodies); }
  /// Throws std::invalid_argument for another number of bodies.
  void Add(const FrameOfWhole& whole, std::span<const FrameOfBody> bodies);

  size_t size() const { return wholes_.size(); }
  size_t num_bodies() const { return num_bodies_; }
  const FrameOfWhole& WholeOf(size_t frame) const { return wholes_[frame]; }
  std::span<const FrameOfBody> BodiesOf(size_t frame) const {
    return std::span(bodies_).subspan(frame * num_bodies_, num_bodies_);
  }

 private:
  size_t num_bodies_;
  std::vector<FrameOfWhole> wholes_;
  std::vector<FrameOfBody> bodies_;
};

/// @param velocity of the center of mass, in world axes [m/s]
Frame FrameOf(const character::Character& character, const character::State& state, const Vec3& velocity);

/// The body that the paper's distance counts once more: of those within 5 cm of the ground, for a human's size, the one
/// whose lowest point is nearest to the point under the center of mass; the lowest one where none is.
int SupportOf(const character::Character& character, const character::State& state);

/// Frames of a motion of this duration [s].
size_t NumFrames(double duration);

/// Frames of a motion at 0, kFrameTime, 2 kFrameTime and so on, the last one at or before its end. Velocities of the
/// center of mass are those of the motion's states.
std::vector<Frame> FramesOf(const character::ReferenceMotion& motion);

/// Motions, and the frames of all of them one after the other.
class MotionLibrary {
 public:
  struct Motion {
    std::string name;
    size_t first = 0;  ///< frame of the library with which it begins
    size_t num_frames = 0;
  };
  /// Makes a motion, or reads it from where it is kept.
  using Source = std::function<character::ReferenceMotion()>;

  /// The character must outlive the library.
  explicit MotionLibrary(const character::Character& character)
      : character_(&character), frames_(character.bodies.size()) {}

  /// Adds a motion of this character. Its name need not be new.
  void Add(std::string name, character::ReferenceMotion motion);
  /// Adds a motion, which is made when it is first asked for. `add_frames` adds its frames to those of the library.
  void Add(std::string name, const std::function<void(FrameTable& frames)>& add_frames, Source source);
  /// Memory for so many frames.
  void Reserve(size_t num_frames) { frames_.Reserve(num_frames); }

  const character::Character& character() const { return *character_; }
  const std::vector<Motion>& motions() const { return motions_; }
  const FrameTable& frames() const { return frames_; }
  /// The motion itself. Not to be called by two threads at once. Throws what its source throws.
  const character::ReferenceMotion& ReferenceOf(size_t motion) const;
  /// The motion that a frame of the library belongs to.
  size_t MotionOf(size_t frame) const;

 private:
  const character::Character* character_;
  std::vector<Motion> motions_;
  FrameTable frames_;
  std::vector<Source> sources_;                                                        // (motions)
  mutable std::vector<std::unique_ptr<const character::ReferenceMotion>> references_;  // (motions) that were asked for
};

}  // namespace retrace::matching
