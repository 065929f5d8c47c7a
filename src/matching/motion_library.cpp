#include "retrace/matching/motion_library.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/gates.h"

namespace retrace::matching {
namespace {

constexpr double kNearGround = 0.05;  // a body that may carry, for a human's size [m]

}  // namespace

int SupportOf(const character::Character& character, const character::State& state) {
  const Vec3 center = character::CenterOfMass(character, state);
  const double near_ground = kNearGround * character.height / metrics::kHumanHeight;
  int support = -1, lowest_body = -1;
  double nearest = std::numeric_limits<double>::infinity(), lowest = nearest;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const double height = character::LowestPoint(character.bodies[b], state[b]);
    if (height < lowest) {
      lowest = height;
      lowest_body = static_cast<int>(b);
    }
    const double away = std::hypot(state[b].position.x() - center.x(), state[b].position.z() - center.z());
    if (height < near_ground && away < nearest) {
      nearest = away;
      support = static_cast<int>(b);
    }
  }
  return support >= 0 ? support : lowest_body;
}

Frame FrameOf(const character::Character& character, const character::State& state, const Vec3& velocity) {
  const character::BodyState& root = state[static_cast<size_t>(character.root)];
  const Quat heading = Heading(root.orientation), back = heading.conjugate();
  Frame frame;
  frame.whole.place[0] = root.position.x();
  frame.whole.place[1] = root.position.z();
  frame.whole.heading_w = heading.w();
  frame.whole.heading_y = heading.y();
  frame.bodies.resize(character.bodies.size());
  const Vec3 origin(root.position.x(), 0, root.position.z());
  for (size_t b = 0; b < frame.bodies.size(); ++b) {
    const Vec3 place = back * Vec3(state[b].position - origin);
    const Quat turn = back * state[b].orientation;
    const auto as_float = [](double number) { return static_cast<float>(number); };
    frame.bodies[b] = {as_float(place.x()), as_float(place.y()), as_float(place.z()), as_float(turn.w()),
                       as_float(turn.x()),  as_float(turn.y()),  as_float(turn.z())};
  }
  const Vec3 moving = back * velocity;
  for (int axis = 0; axis < 3; ++axis) frame.whole.velocity[axis] = static_cast<float>(moving[axis]);
  frame.whole.support = SupportOf(character, state);
  return frame;
}

size_t NumFrames(double duration) {
  // A hundredth of a frame for rounding: a motion of a second has 31 frames.
  return static_cast<size_t>(std::floor(duration / kFrameTime + 0.01)) + 1;
}

std::vector<Frame> FramesOf(const character::ReferenceMotion& motion) {
  std::vector<Frame> frames;
  character::State state;
  const size_t count = NumFrames(motion.duration());
  for (size_t k = 0; k < count; ++k) {
    motion.StateAt(static_cast<double>(k) * kFrameTime, state);
    frames.push_back(FrameOf(motion.character(), state, character::CenterOfMassVelocity(motion.character(), state)));
  }
  return frames;
}

void FrameTable::Reserve(size_t num_frames) {
  wholes_.reserve(num_frames);
  bodies_.reserve(num_frames * num_bodies_);
}

void FrameTable::Add(const FrameOfWhole& whole, std::span<const FrameOfBody> bodies) {
  if (bodies.size() != num_bodies_) throw std::invalid_argument("a frame of another character");
  wholes_.push_back(whole);
  bodies_.insert(bodies_.end(), bodies.begin(), bodies.end());
}

void MotionLibrary::Add(std::string name, character::ReferenceMotion motion) {
  if (motion.character().bodies.size() != character_->bodies.size()) {
    throw std::invalid_argument("a motion of another character than the library's");
  }
  const auto add = [&](FrameTable& frames) {
    for (const Frame& frame : FramesOf(motion)) frames.Add(frame);
  };
  Add(std::move(name), add, {});
  references_.back() = std::make_unique<const character::ReferenceMotion>(std::move(motion));
}

void MotionLibrary::Add(std::string name, const std::function<void(FrameTable& frames)>& add_frames, Source source) {
  const size_t first = frames_.size();
  add_frames(frames_);
  motions_.push_back({std::move(name), first, frames_.size() - first});
  sources_.push_back(std::move(source));
  references_.emplace_back();
}

const character::ReferenceMotion& MotionLibrary::ReferenceOf(size_t motion) const {
  std::unique_ptr<const character::ReferenceMotion>& reference = references_.at(motion);
  if (!reference) reference = std::make_unique<const character::ReferenceMotion>(sources_[motion]());
  return *reference;
}

size_t MotionLibrary::MotionOf(size_t frame) const {
  const auto after = std::upper_bound(motions_.begin(), motions_.end(), frame,
                                      [](size_t f, const Motion& motion) { return f < motion.first; });
  return static_cast<size_t>(after - motions_.begin()) - 1;
}

}  // namespace retrace::matching
