#include "retrace/task/recorded_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/surface.h"
#include "retrace/motion_editing/adapted_reference.h"

namespace retrace::task {
namespace {

using character::ReferenceMotion;
using character::Shape;
using character::State;
using metrics::RecordedSurface;
using metrics::SurfaceKind;

constexpr double kStepBeyond = 0.25;  // sides of a step beyond the soles [m]
constexpr double kSeatBeside = 0.12;  // sides of a seat beyond the hips [m]
constexpr double kSeatBehind = 0.15;
constexpr double kSeatBefore = 0.25;
constexpr double kTableBeside = 0.15;     // sides of a table beyond the hands [m]
constexpr double kTableThickness = 0.05;  // [m]
constexpr double kSlopeThickness = 0.4;   // [m]
constexpr double kThinnest = 0.04;        // a board [m]
constexpr double kLower = 0.03;           // a sole that is so much lower stands on something else [m]
constexpr double kNearTop = 0.04;         // what is no deeper under the top of a seat rests on it [m]
constexpr double kNearStep = 0.03;        // the same of a step
constexpr double kHeelBeyond = 0.22;      // of soles on a step, at most beyond its edge [m]
constexpr double kLeastDepth = 0.1;       // of a step [m]
constexpr double kOverhang = 0.07;        // toes and heels may be so far beyond the edge of a step [m]
constexpr double kGrazes = 0.02;          // the motion may be so deep in a box [m]
constexpr double kSameHeight = 0.05;      // the ground of a world is that which a recording shows [m]
constexpr double kInterval = 1.0 / 60;    // at which the motion is looked at [s]

/// A box about a surface, in the surface's frame: x and z along its sides, y = 0 its top.
struct LocalBox {
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();
  Vec3 kept_low = Vec3::Zero(), kept_high = Vec3::Zero();  // what was touched stays part of it
};

LocalBox BoxAbout(const RecordedSurface& surface) {
  const double half_x = 0.5 * surface.size_x, half_z = 0.5 * surface.size_z;
  LocalBox box;
  box.kept_low = {-half_x, 0, -half_z};
  box.kept_high = {half_x, 0, half_z};
  const double height = surface.center.y();
  switch (surface.kind) {
    case SurfaceKind::kStep:
      box.low = {-half_x - kStepBeyond, -height, -half_z - kStepBeyond};
      box.high = {half_x + kStepBeyond, 0, half_z + kStepBeyond};
      break;
    case SurfaceKind::kSlope: {
      // Uphill is z: downhill it goes on until it is under the floor.
      const double to_floor = height / std::sin(surface.tilt());
      box.low = {-half_x - kStepBeyond, -kSlopeThickness, -std::max(half_z, to_floor) - kStepBeyond};
      box.high = {half_x + kStepBeyond, 0, half_z + kStepBeyond};
      break;
    }
    case SurfaceKind::kSeat:
      box.low = {-half_x - kSeatBeside, -height, -half_z - kSeatBehind};
      box.high = {half_x + kSeatBeside, 0, half_z + kSeatBefore};
      break;
    case SurfaceKind::kTable:
      box.low = {-half_x - kTableBeside, -std::min(height, kTableThickness), -half_z - kTableBeside};
      box.high = {half_x + kTableBeside, 0, half_z + kTableBeside};
      break;
  }
  return box;
}

/// Moves the side of a box between what was touched and soles that stand lower beside it to the middle between the two.
/// Where they overlap, it is where the lower ones end: heels hang over the edge of a stair, and toes are never inside
/// it.
void KeepFrom(const std::vector<Vec3>& corners, LocalBox& box) {
  Vec3 least = Vec3::Constant(std::numeric_limits<double>::infinity()), most = -least;
  for (const Vec3& corner : corners) {
    least = least.cwiseMin(corner);
    most = most.cwiseMax(corner);
  }
  if (most.y() > -kLower) return;
  double farthest = -kHeelBeyond;
  int axis = -1;
  bool beyond = false;
  for (const int k : {0, 2}) {
    if (most[k] < box.low[k] || least[k] > box.high[k]) return;  // it stands outside
    for (const bool high : {false, true}) {
      const double apart = high ? least[k] - box.kept_high[k] : box.kept_low[k] - most[k];
      // Soles hang over an edge along the foot alone, and something of what was touched remains.
      const bool overlaps = apart < 0;
      if (overlaps && (k == 0 || box.kept_high[k] - box.kept_low[k] + apart < kLeastDepth)) continue;
      if (apart <= farthest) continue;
      farthest = apart;
      axis = k;
      beyond = high;
    }
  }
  if (axis < 0) return;
  const double share = farthest < 0 ? 1 : 0.5;
  if (beyond) {
    box.high[axis] = std::min(box.high[axis], box.kept_high[axis] + share * farthest);
    box.kept_high[axis] = std::min(box.kept_high[axis], box.high[axis]);
  } else {
    box.low[axis] = std::max(box.low[axis], box.kept_low[axis] - share * farthest);
    box.kept_low[axis] = std::max(box.kept_low[axis], box.low[axis]);
  }
}

/// Moves the nearest side that may be moved, or the bottom, so far that a ball of the moving body is outside.
void Clear(const Vec3& center, double radius, double near_top, double overhang, LocalBox& box) {
  const double core = radius - kGrazes;
  if (center.y() + radius > -near_top) return;
  const Vec3 nearest = center.cwiseMax(box.low).cwiseMin(box.high);
  const bool inside = nearest == center;
  if (core <= 0 ? !inside : !inside && (center - nearest).norm() >= core) return;
  const double reach = std::max(core, 0.0);
  double least = std::numeric_limits<double>::infinity();
  double* moved = nullptr;
  double to = 0;
  const auto consider = [&](double& side, double position) {
    const double by = std::abs(position - side);
    if (by >= least) return;
    least = by;
    moved = &side;
    to = position;
  };
  for (const int k : {0, 2}) {
    if (center[k] - reach >= box.kept_high[k] - overhang) consider(box.high[k], center[k] - reach);
    if (center[k] + reach <= box.kept_low[k] + overhang) consider(box.low[k], center[k] + reach);
  }
  if (center.y() + reach <= -kThinnest) consider(box.low.y(), center.y() + reach);
  if (moved != nullptr) *moved = to;
}

/// Balls that represent a shape: along a capsule, and at the corners, edges and faces of a box.
template <typename Visit>
void ForEachBall(const Shape& shape, const character::BodyState& body, const Visit& visit) {
  const auto place = [&](const Vec3& in_shape) -> Vec3 {
    return body.position + body.orientation * Vec3(shape.offset + in_shape);
  };
  if (shape.kind == Shape::Kind::kCapsule) {
    const int parts = std::max(1, static_cast<int>(std::ceil(shape.length / std::max(shape.radius, 0.01))));
    for (int i = 0; i <= parts; ++i) {
      visit(place((static_cast<double>(i) / parts - 0.5) * shape.length * Vec3::Unit(shape.axis)), shape.radius);
    }
    return;
  }
  const Vec3 half = shape.HalfExtents();
  for (int k = 0; k < 27; ++k) {
    const int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
    visit(place(Vec3(x, y, z).cwiseProduct(half)), 0.0);
  }
}

void LeaveRoom(const RecordedSurface& surface, const ReferenceMotion& recorded, const std::vector<State>& states,
               LocalBox& box) {
  const Quat turned = surface.orientation.conjugate();
  const auto step = static_cast<size_t>(std::max(1L, std::lround(kInterval / recorded.frame_time())));
  const bool seat = surface.kind == SurfaceKind::kSeat || surface.kind == SurfaceKind::kTable;
  const double near_top = seat ? kNearTop : kNearStep, overhang = seat ? 0 : kOverhang;
  const auto& bodies = recorded.character().bodies;
  for (size_t f = 0; f < states.size(); f += step) {
    for (size_t b = 0; b < bodies.size(); ++b) {
      for (const Shape& shape : bodies[b].shapes) {
        ForEachBall(shape, states[f][b], [&](const Vec3& center, double radius) {
          Clear(turned * Vec3(center - surface.center), radius, near_top, overhang, box);
        });
      }
    }
  }
}

}  // namespace

WorldVariation MakeRecordedWorld(const metrics::RecordedGround& ground, const ReferenceMotion& recorded) {
  WorldVariation world;
  if (!ground.strong()) return world;
  world.names = {kRecordedWorld};
  world.description = "what the recording stands on";
  const std::vector<State> states = recorded.StatesOfPoses();
  const Frame frame = FrameOf(recorded);
  std::array<int, 4> numbers = {};
  for (const RecordedSurface& surface : ground.surfaces) {
    if (!surface.strong()) continue;
    LocalBox local = BoxAbout(surface);
    const Quat turned = surface.orientation.conjugate();
    if (surface.kind == SurfaceKind::kStep) {
      for (const metrics::FootStance& stance : ground.stances) {
        std::vector<Vec3> corners;
        for (const Vec3& corner : stance.corners) corners.push_back(turned * Vec3(corner - surface.center));
        KeepFrom(corners, local);
      }
    }
    if (surface.kind != SurfaceKind::kSlope) LeaveRoom(surface, recorded, states, local);
    simulation::Box& box = world.environment.boxes.emplace_back();
    box.name = metrics::Name(surface.kind) + "_" + std::to_string(++numbers[static_cast<size_t>(surface.kind)]);
    box.size = local.high - local.low;
    box.position = surface.center + surface.orientation * Vec3(0.5 * (local.low + local.high));
    box.orientation = surface.orientation;
  }
  const Quat back = frame.heading.conjugate();
  world.environment.Place(back, -(back * frame.origin));
  world.environment.ground.height = 0;  // the origin is on the floor
  return world;
}

bool IsRecorded(const WorldVariation& world) {
  return std::find(world.names.begin(), world.names.end(), kRecordedWorld) != world.names.end();
}

io::Json WorldDocument(const WorldVariation& world) {
  return {{"format", "retrace-world"},
          {"version", 1},
          {"description", world.description},
          {"environment", world.environment.ToJson()}};
}

bool ShapesGround(const WorldVariation& world) {
  const simulation::Environment& environment = world.environment;
  return !environment.ground.present || environment.ground.height != 0 || environment.num_objects() > 0 ||
         world.adapts_motion();
}

std::vector<std::string> Contradictions(const metrics::RecordedGround& ground,
                                        const simulation::Environment& environment) {
  const metrics::Surface surface(environment);
  std::vector<std::string> sentences;
  for (const RecordedSurface& recorded : ground.surfaces) {
    if (!recorded.strong()) continue;
    const Vec3& center = recorded.center;
    const double height = surface.GroundUnder(center + kSameHeight * Vec3::UnitY());
    if (std::abs(height - center.y()) <= kSameHeight) continue;
    sentences.push_back("the recording shows a " + Name(recorded.kind) + " at " + io::Fixed(center.y(), 2) +
                        " m above x = " + io::Fixed(center.x(), 2) + ", z = " + io::Fixed(center.z(), 2) +
                        " m, where the world has " +
                        (std::isfinite(height) ? "its ground at " + io::Fixed(height, 2) + " m" : "nothing"));
  }
  return sentences;
}

}  // namespace retrace::task
