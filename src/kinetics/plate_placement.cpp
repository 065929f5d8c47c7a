#include "retrace/kinetics/plate_placement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "retrace/character/segments.h"
#include "retrace/math/rotation.h"

namespace retrace::kinetics {
namespace {

constexpr int kTurns = 4;              // quarter turns
constexpr size_t kMostInstants = 400;  // that are looked at
constexpr double kLoaded = 100;        // [N]
// Loads lie under feet when they are so near to their centers on average [m], and much nearer than elsewhere by this.
constexpr double kUnder = 0.2;
constexpr double kMuchNearer = 0.6;
constexpr int kObliqueTurns = 72;  // that are tried where no quarter turn fits

struct Distances {
  double nearest = 0;  // from any foot [m]
  double own = 0;      // from the foot that the force is named after; from the nearest where it has no such name [m]
  double other = 0;    // from the other one; infinite where there are no such names [m]
};

/// The loads of a measurement beside the feet at the same times.
class Loads {
 public:
  Loads(const motion::MeasuredForces& measured, const metrics::MeasurementPlace& place,
        const character::ReferenceMotion& reference) {
    const int feet[] = {character::BodyOfSegment(reference.character(), "left_foot"),
                        character::BodyOfSegment(reference.character(), "right_foot")};
    if (feet[0] < 0 || feet[1] < 0) return;
    character::State state;
    const size_t stride = 1 + measured.times.size() / kMostInstants;
    for (size_t i = 0; i < measured.times.size(); i += stride) {
      const double time = place.RunTime(measured.times[i]);
      if (time < 0 || time > reference.duration()) continue;
      reference.StateAt(time, state);
      for (const motion::MeasuredForce& force : measured.forces) {
        if (force.points.empty() || !force.points[i].allFinite() || !(force.forces[i].y() > kLoaded)) continue;
        loads_.push_back(
            {force.points[i],
             place.RecordedTime(measured.times[i]),
             force.side,
             {state[static_cast<size_t>(feet[0])].position, state[static_cast<size_t>(feet[1])].position}});
        named_ = named_ || force.side;
      }
    }
  }

  bool empty() const { return loads_.empty(); }

  Distances MeanAt(const metrics::MeasurementPlace& place) const {
    Distances sum;
    for (const Load& load : loads_) {
      const Vec3 point = place.ToRun(load.point, load.time);
      double from[2];
      for (size_t foot = 0; foot < 2; ++foot) {
        from[foot] = std::hypot(load.feet[foot].x() - point.x(), load.feet[foot].z() - point.z());
      }
      const double nearest = std::min(from[0], from[1]);
      sum.nearest += nearest;
      const size_t own = load.side == motion::Side::kRight ? 1 : 0;
      sum.own += load.side ? from[own] : nearest;
      sum.other += load.side ? from[1 - own] : nearest;
    }
    const auto count = static_cast<double>(loads_.size());
    return {sum.nearest / count, sum.own / count, named_ ? sum.other / count : std::numeric_limits<double>::infinity()};
  }

 private:
  struct Load {
    Vec3 point;
    double time;  // of the recording [s]
    std::optional<motion::Side> side;
    std::array<Vec3, 2> feet;  // left and right, in the run
  };
  std::vector<Load> loads_;
  bool named_ = false;
};

metrics::MeasurementPlace Turned(metrics::MeasurementPlace place, double angle, bool mirrored) {
  place.heading += angle;
  place.mirrored = mirrored;
  return place;
}

/// The quarter turn of one handedness at which a measure is least.
struct Best {
  int turn = 0;
  Distances distances;
  double next = std::numeric_limits<double>::infinity();  // least of the others
};

Best BestTurn(const Loads& loads, const metrics::MeasurementPlace& place, bool mirrored, double Distances::*measure) {
  std::array<Distances, kTurns> all;
  for (int turn = 0; turn < kTurns; ++turn) {
    all[static_cast<size_t>(turn)] = loads.MeanAt(Turned(place, turn * kPi / 2, mirrored));
  }
  Best best;
  const auto least = std::min_element(all.begin(), all.end(),
                                      [&](const Distances& a, const Distances& b) { return a.*measure < b.*measure; });
  best.turn = static_cast<int>(least - all.begin());
  best.distances = *least;
  for (auto other = all.begin(); other != all.end(); ++other) {
    if (other != least) best.next = std::min(best.next, (*other).*measure);
  }
  return best;
}

}  // namespace

std::optional<PlatePlacement> FindPlacement(const motion::MeasuredForces& measured,
                                            const metrics::MeasurementPlace& place,
                                            const character::ReferenceMotion& reference) {
  const Loads loads(measured, place, reference);
  if (loads.empty()) return std::nullopt;
  const Best plain = BestTurn(loads, place, place.mirrored, &Distances::nearest);
  const Best reversed = BestTurn(loads, place, !place.mirrored, &Distances::own);
  const auto fits = [&](double distance) { return distance < kMuchNearer * plain.distances.own && distance < kUnder; };
  const bool exchanged = fits(plain.distances.other);
  const bool mirrored = fits(reversed.distances.own) && !(exchanged && plain.distances.other <= reversed.distances.own);
  const Best& best = mirrored ? reversed : plain;
  PlatePlacement found;
  found.heading = place.heading + (best.turn == 3 ? -1 : best.turn) * kPi / 2;
  found.mirrored = mirrored ? !place.mirrored : place.mirrored;
  found.exchanged = exchanged && !mirrored;
  found.distance = best.distances.nearest;
  found.next_distance = best.next;
  found.own_distance = best.distances.own;
  found.other_distance = best.distances.other;
  if (found.Clear()) return found;
  double least = std::min(kUnder, kMuchNearer * found.distance);
  for (int turn = 0; turn < kObliqueTurns; ++turn) {
    const double angle = turn * 2 * kPi / kObliqueTurns;
    const double distance = loads.MeanAt(Turned(place, angle, place.mirrored)).nearest;
    if (distance >= least) continue;
    least = distance;
    found.oblique = place.heading + std::remainder(angle, 2 * kPi);
  }
  return found;
}

}  // namespace retrace::kinetics
