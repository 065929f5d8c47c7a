#include "retrace/metrics/recorded_ground.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "recorded_seats.h"
#include "recorded_support.h"
#include "recorded_tables.h"
#include "retrace/character/corners.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/convex_hull.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/required_forces.h"

namespace retrace::metrics {
namespace {

using character::Body;
using character::BodyState;
using character::Character;
using character::ReferenceMotion;
using character::State;
using Point = Eigen::Vector2d;

constexpr double kUnderPressure = 0.35;  // a foot that bears is so near to the center of pressure [m]
constexpr double kOnPlane = 0.035;       // soles of one slope are so near to its plane [m]
const double kLeastSlope = Radians(5);   // what is flatter is level
const double kSteepestSlope = Radians(35);
const double kAsSteep = Radians(8);  // soles are tilted as their slope is
constexpr double kLeastRun = 0.4;    // between soles that show a slope [m]
constexpr size_t kFewestOnSlope = 3;
constexpr double kUnderBody = 0.1;  // what is so near is under a body [m]

constexpr double kFootRests = 0.3;       // of the foot's center [m/s]
constexpr double kFootSteady = 0.12;     // upward or downward [m/s]
constexpr double kShortestStance = 0.1;  // [s]
const double kSoleDown = std::cos(Radians(35));
const double kAsFlat = Radians(3);  // as where it is flattest

/// Cosine of the tilt of a foot.
double UpOf(const BodyState& foot) {
  return (foot.orientation * Vec3(Vec3::UnitY())).y();
}

Vec3 SoleOf(const Body& foot, const BodyState& state, std::vector<Vec3>* corners) {
  Vec3 sum = Vec3::Zero();
  double count = 0;
  for (const character::Shape& shape : foot.shapes) {
    for (const Vec3& corner : character::CornersOf(shape)) {
      if (corner.y() > shape.offset.y()) continue;
      const Vec3 at = state.position + state.orientation * corner;
      sum += at;
      count += 1;
      if (corners != nullptr) corners->push_back(at);
    }
  }
  return count > 0 ? Vec3(sum / count) : state.position;
}

std::vector<FootStance> FindFootStances(const character::ReferenceMotion& reference, const std::vector<State>& states) {
  std::vector<FootStance> stances;
  const Character& character = reference.character();
  const double frame_time = reference.frame_time();
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const Body& foot = character.bodies[b];
    if (foot.part != character::Part::kFoot || foot.shapes.empty()) continue;
    std::vector<bool> rests(states.size(), false);
    for (size_t f = 1; f + 1 < states.size(); ++f) {
      const Vec3 velocity = (states[f + 1][b].position - states[f - 1][b].position) / (2 * frame_time);
      rests[f] = velocity.norm() < kFootRests && std::abs(velocity.y()) < kFootSteady && UpOf(states[f][b]) > kSoleDown;
    }
    for (const Interval& interval : Stretches(rests, frame_time)) {
      if (interval.end - interval.start < kShortestStance) continue;
      FootStance stance;
      stance.body = static_cast<int>(b);
      stance.first = static_cast<size_t>(std::lround(interval.start / frame_time));
      stance.last = std::min(states.size() - 1, static_cast<size_t>(std::lround(interval.end / frame_time)));
      // Where the sole is flattest: a foot that rolls over an edge has its toes under the surface.
      double flattest = 0;
      for (size_t f = stance.first; f <= stance.last; ++f) flattest = std::max(flattest, UpOf(states[f][b]));
      const double limit = std::cos(std::acos(std::min(flattest, 1.0)) + kAsFlat);
      std::vector<double> heights;
      for (size_t f = stance.first; f <= stance.last; ++f) {
        if (UpOf(states[f][b]) > limit) heights.push_back(character::LowestPoint(foot, states[f][b]));
      }
      stance.height = MiddleOf(std::move(heights));
      const BodyState& middle = states[(stance.first + stance.last) / 2][b];
      stance.sole = SoleOf(foot, middle, &stance.corners);
      stance.normal = middle.orientation * Vec3::UnitY();
      stances.push_back(std::move(stance));
    }
  }
  return stances;
}

/// A stance over the floor that bears, and the poses in which it does.
struct BearingStance {
  const FootStance* stance = nullptr;
  std::vector<size_t> poses = {};
};

std::vector<BearingStance> BearingStances(const std::vector<FootStance>& stances,
                                          const std::vector<Requirement>& required) {
  std::vector<BearingStance> bearing;
  for (const FootStance& stance : stances) {
    BearingStance found{&stance};
    for (size_t f = stance.first; f <= stance.last; ++f) {
      const Requirement& at = required[f];
      if (!at.missing || at.force.y() < kBorne || stance.sole.y() > at.center.y()) continue;
      const Point pressure = at.PressureAt(stance.height);
      if ((pressure - Point(stance.sole.x(), stance.sole.z())).norm() > kUnderPressure) continue;
      found.poses.push_back(f);
    }
    if (!found.poses.empty()) bearing.push_back(found);
  }
  return bearing;
}

double TiltOf(const Vec3& normal) {
  return std::acos(std::clamp(normal.normalized().y(), -1.0, 1.0));
}

/// Horizontal distance.
double Apart(const Vec3& a, const Vec3& b) {
  return std::hypot(a.x() - b.x(), a.z() - b.z());
}

/// The plane that fits soles best, or one as steep as they are where they do not spread; nothing where they do not lie
/// on a slope.
std::optional<Vec3> SlopeNormal(const std::vector<const BearingStance*>& on, Vec3& center) {
  center = Vec3::Zero();
  for (const BearingStance* b : on) center += b->stance->sole / static_cast<double>(on.size());
  Eigen::Matrix2d m = Eigen::Matrix2d::Zero();
  Eigen::Vector2d rhs = Eigen::Vector2d::Zero();
  Vec3 mean = Vec3::Zero();
  double run = 0;
  for (const BearingStance* b : on) {
    const Vec3 from = b->stance->sole - center;
    const Eigen::Vector2d xz(from.x(), from.z());
    m += xz * xz.transpose();
    rhs += xz * from.y();
    mean += b->stance->normal;
    for (const BearingStance* other : on) run = std::max(run, Apart(b->stance->sole, other->stance->sole));
  }
  if (run < kLeastRun) return std::nullopt;
  // Soles that lie on a line across tell nothing of the slope along the other direction: that is level, or as the
  // soles.
  mean.normalize();
  const Eigen::Vector2d prior(-mean.x() / mean.y(), -mean.z() / mean.y());
  const double weight = 0.01 * static_cast<double>(on.size());
  m += weight * Eigen::Matrix2d::Identity();
  rhs += weight * prior;
  const Eigen::Vector2d slope = m.ldlt().solve(rhs);
  const Vec3 normal = Vec3(-slope.x(), 1, -slope.y()).normalized();
  const double tilt = TiltOf(normal);
  if (tilt < kLeastSlope || tilt > kSteepestSlope) return std::nullopt;
  if (std::acos(std::clamp(normal.dot(mean), -1.0, 1.0)) > kAsSteep) return std::nullopt;
  return normal;
}

void AddEvidence(const std::vector<const BearingStance*>& on, const std::vector<Requirement>& required,
                 double frame_time, RecordedSurface& surface) {
  std::set<size_t> poses;  // both feet bear in some
  size_t first = std::numeric_limits<size_t>::max(), last = 0;
  for (const BearingStance* b : on) {
    poses.insert(b->poses.begin(), b->poses.end());
    first = std::min(first, b->stance->first);
    last = std::max(last, b->stance->last);
  }
  surface.contacts = static_cast<int>(on.size());
  surface.interval = {static_cast<double>(first) * frame_time, static_cast<double>(last) * frame_time};
  double borne = 0;
  for (const size_t f : poses) borne += std::min(required[f].borne, 1.0);
  surface.seconds = static_cast<double>(poses.size()) * frame_time;
  surface.borne = borne / static_cast<double>(poses.size());
}

std::vector<Vec3> CornersOf(const std::vector<const BearingStance*>& on) {
  std::vector<Vec3> corners;
  for (const BearingStance* b : on) {
    corners.insert(corners.end(), b->stance->corners.begin(), b->stance->corners.end());
  }
  return corners;
}

/// Takes the stances that lie on a slope out of those that are left.
std::optional<RecordedSurface> TakeSlope(std::vector<const BearingStance*>& left,
                                         const std::vector<Requirement>& required, double frame_time) {
  std::vector<const BearingStance*> best;
  Vec3 best_normal = Vec3::UnitY(), best_center = Vec3::Zero();
  for (const BearingStance* seed : left) {
    Vec3 normal = seed->stance->normal, center = seed->stance->sole;
    std::vector<const BearingStance*> on;
    std::optional<Vec3> fitted;
    for (int round = 0; round < 3; ++round) {
      on.clear();
      for (const BearingStance* b : left) {
        const double away = std::abs(normal.dot(b->stance->sole - center));
        const double turned = std::acos(std::clamp(normal.dot(b->stance->normal), -1.0, 1.0));
        if (away < kOnPlane && turned < kAsSteep) on.push_back(b);
      }
      fitted = on.size() < kFewestOnSlope ? std::nullopt : SlopeNormal(on, center);
      if (!fitted) break;
      normal = *fitted;
    }
    if (!fitted || on.size() <= best.size()) continue;
    best = on;
    best_normal = normal;
    best_center = center;
  }
  if (best.empty()) return std::nullopt;
  RecordedSurface surface;
  surface.kind = SurfaceKind::kSlope;
  const Vec3 uphill(-best_normal.x(), 0, -best_normal.z());
  Surround(CornersOf(best), best_normal, best_center, uphill, surface);
  AddEvidence(best, required, frame_time, surface);
  std::erase_if(left, [&](const BearingStance* b) { return std::find(best.begin(), best.end(), b) != best.end(); });
  return surface;
}

/// Takes the stances of one step: from the first one on, whatever is on the level of those that it has and near to one.
RecordedSurface TakeStep(std::vector<const BearingStance*>& left, const std::vector<Requirement>& required,
                         double frame_time) {
  std::vector<const BearingStance*> on = {left.front()};
  left.erase(left.begin());
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < left.size(); ++i) {
      const bool joins = std::any_of(on.begin(), on.end(), [&](const BearingStance* b) {
        return std::abs(b->stance->height - left[i]->stance->height) < kOneLevel &&
               Apart(b->stance->sole, left[i]->stance->sole) < kOneStep;
      });
      if (!joins) continue;
      on.push_back(left[i]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      grown = true;
      break;
    }
  }
  // Each stance counts by how long it bears.
  std::vector<double> heights;
  Vec3 along = Vec3::Zero();
  for (const BearingStance* b : on) {
    heights.insert(heights.end(), b->poses.size(), b->stance->height);
    const std::vector<Vec3>& corners = b->stance->corners;
    Vec3 longest = Vec3::Zero();
    for (const Vec3& corner : corners) {
      const Vec3 side = corner - corners.front();
      if (Vec3(side.x(), 0, side.z()).norm() > Vec3(longest.x(), 0, longest.z()).norm()) longest = side;
    }
    along += (longest.dot(along) < 0 ? -1.0 : 1.0) * Vec3(longest.x(), 0, longest.z());
  }
  RecordedSurface surface;
  surface.kind = SurfaceKind::kStep;
  Vec3 through = on.front()->stance->sole;
  through.y() = MiddleOf(std::move(heights));
  if (along.norm() < 1e-6) along = Vec3::UnitZ();
  Surround(CornersOf(on), Vec3::UnitY(), through, along, surface);
  AddEvidence(on, required, frame_time, surface);
  return surface;
}

/// Seats as boxes, wider than what was touched.
simulation::Environment BoxesOf(const std::vector<RecordedSurface>& seats) {
  simulation::Environment environment;
  for (const RecordedSurface& seat : seats) {
    if (!seat.strong()) continue;
    const Vec3 size(seat.size_x + 2 * kBesideSurface, seat.center.y(), seat.size_z + 2 * kBesideSurface);
    environment.boxes.push_back(
        {Name(seat.kind), size, seat.center - Vec3(0, 0.5 * seat.center.y(), 0), seat.orientation});
  }
  return environment;
}

/// Slopes and steps that feet stand on, from the lowest one up.
std::vector<RecordedSurface> StoodOn(const std::vector<FootStance>& stances, const std::vector<Requirement>& required,
                                     double frame_time) {
  std::vector<RecordedSurface> surfaces;
  const std::vector<BearingStance> bearing = BearingStances(stances, required);
  std::vector<const BearingStance*> left;
  for (const BearingStance& b : bearing) {
    if (b.stance->height > kOverFloor) left.push_back(&b);
  }
  while (std::optional<RecordedSurface> slope = TakeSlope(left, required, frame_time)) surfaces.push_back(*slope);
  while (!left.empty()) surfaces.push_back(TakeStep(left, required, frame_time));
  std::sort(surfaces.begin(), surfaces.end(),
            [](const RecordedSurface& a, const RecordedSurface& b) { return a.center.y() < b.center.y(); });
  return surfaces;
}

bool AnythingUnder(const Character& character, const State& state, const std::vector<RecordedSurface>& surfaces) {
  for (size_t b = 0; b < state.size(); ++b) {
    const double low = character::LowestPoint(character.bodies[b], state[b]);
    if (low < kUnderBody) return true;
    for (const RecordedSurface& surface : surfaces) {
      const Vec3 local = surface.orientation.conjugate() * Vec3(state[b].position - surface.center);
      const double away = low - surface.center.y();
      const bool over = std::abs(local.x()) < 0.5 * surface.size_x + kBesideSurface &&
                        std::abs(local.z()) < 0.5 * surface.size_z + kBesideSurface;
      const double reach = surface.kind == SurfaceKind::kSlope ? 0.5 * surface.size_z : kUnderBody;
      if (over && std::abs(away) < reach + kUnderBody) return true;
    }
  }
  return false;
}

/// Whether a foot stands over the floor or a pelvis rests: else nothing has to be looked for.
bool MayHaveSurfaces(const ReferenceMotion& reference, const std::vector<State>& states,
                     const std::vector<FootStance>& stances) {
  if (std::any_of(stances.begin(), stances.end(), [](const FootStance& s) { return s.height > kOverFloor; })) {
    return true;
  }
  const auto root = static_cast<size_t>(reference.character().root);
  for (size_t f = 0; f < states.size(); ++f) {
    if (MeanSpeed(states, f, root, reference.frame_time()) < kPelvisRests) return true;
    if (!AnythingUnder(reference.character(), states[f], {})) return true;
  }
  return false;
}

}  // namespace

bool RecordedGround::strong() const {
  return std::any_of(surfaces.begin(), surfaces.end(), [](const RecordedSurface& s) { return s.strong(); });
}

std::string RecordedGround::Phrase() const {
  std::string phrase;
  for (const RecordedSurface& surface : surfaces) {
    if (!surface.strong()) continue;
    phrase.append(phrase.empty() ? "" : ", ").append(Name(surface.kind)).append(" at ");
    phrase.append(io::Fixed(surface.center.y(), 2)).append(" m (bears for ");
    phrase.append(io::Fixed(surface.seconds, 1)).append(" s)");
  }
  return phrase;
}

RecordedGround FindRecordedGround(const ReferenceMotion& reference, const std::vector<State>& states) {
  RecordedGround ground;
  const Character& character = reference.character();
  if (character.planar || states.size() < 3) return ground;
  const double frame_time = reference.frame_time();
  ground.stances = FindFootStances(reference, states);
  if (!MayHaveSurfaces(reference, states, ground.stances)) return ground;
  const std::vector<Requirement> required = RequirementsOf(reference, states.size());
  ground.surfaces = StoodOn(ground.stances, required, frame_time);
  const std::vector<Requirement> averaged = Averaged(required, frame_time);
  const std::vector<RecordedSurface> seats = FindSeats(reference, states, averaged, ground.surfaces,
                                                       LeansOnHands(reference, states, averaged, ground.surfaces));
  // The feet of a body that sits rest on a rung or hang in the air: what its seat bears is no evidence for a step.
  const simulation::Environment seated = BoxesOf(seats);
  if (!seated.boxes.empty() && !ground.surfaces.empty()) {
    ground.surfaces = StoodOn(ground.stances, RequirementsOf(reference, states.size(), seated), frame_time);
  }
  ground.surfaces.insert(ground.surfaces.end(), seats.begin(), seats.end());
  const std::vector<RecordedSurface> tables = FindTables(reference, states, averaged, ground.surfaces);
  ground.surfaces.insert(ground.surfaces.end(), tables.begin(), tables.end());
  size_t unsupported = 0;
  for (size_t f = 0; f < states.size(); ++f) {
    const bool borne = averaged[f].force.y() > 1 - kBorne && required[f].missing;
    unsupported += borne && !AnythingUnder(character, states[f], ground.surfaces);
  }
  ground.unsupported = static_cast<double>(unsupported) / static_cast<double>(states.size());
  return ground;
}

}  // namespace retrace::metrics
