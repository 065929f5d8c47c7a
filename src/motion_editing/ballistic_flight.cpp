#include "retrace/motion_editing/ballistic_flight.h"

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "filters.h"
#include "ground_points.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/metrics/gates.h"
#include "retrace/optimization/least_squares.h"

namespace retrace::task {
namespace {

using character::Character;
using character::State;
using Track = Eigen::MatrixX3d;  // (poses x 3)

constexpr double kShortest = 0.06;     // of a flight [s]
constexpr double kLargestForce = 0.5;  // mean share of the weight that a flight may require: else it is none
// What counts as much as each other in the least squares.
constexpr double kShift = 0.005;         // of what stands [m]
constexpr double kShiftInFlight = 0.05;  // [m]
constexpr double kAcceleration = 8;      // of what stands [m/s^2]
constexpr double kForceInFlight = 0.02;  // what is left of it, by mass [m/s^2]
constexpr size_t kLeastFlightPoses = 7;

class Flyer {
 public:
  Flyer(const character::ReferenceMotion& reference, const simulation::Environment& environment, double gravity,
        std::optional<double> lifted)
      : character_(reference.character()),
        ground_(environment),
        gravity_(gravity),
        frame_time_(reference.frame_time()),
        size_(character_.height / metrics::kHumanHeight),
        lifted_(lifted.value_or(kTouches * size_)) {
    result_.poses = reference.poses();
  }

  BallisticFlight Run(const character::ReferenceMotion& reference) {
    if (result_.poses.size() < kLeastFlightPoses || gravity_ <= 0) return std::move(result_);
    states_ = reference.StatesOfPoses();
    const Track missing = Missing();
    FindFlights(missing);
    if (result_.flights.empty()) return std::move(result_);
    const Track shift = Shift(missing);
    Apply(shift);
    result_.force_before = ForceInFlight(missing);
    result_.force_after = ForceInFlight(missing + Curvature(shift));
    Report();
    return std::move(result_);
  }

 private:
  void Report() {
    std::string note = "in ";
    const size_t count = result_.flights.size();
    note.append(std::to_string(count)).append(count == 1 ? " flight" : " flights");
    note.append(" the motion is moved by ").append(io::Fixed(result_.largest_shift, 3));
    note.append(" m at most, so that it falls freely: it requires ").append(io::Fixed(result_.force_after, 2));
    note.append(" of its weight there (RMS), ").append(io::Fixed(result_.force_before, 2)).append(" before; by ");
    note.append(io::Fixed(result_.largest_standing_shift, 3)).append(" m at most where it stands");
    result_.notes.push_back(std::move(note));
  }

  /// Second derivative by time; at the ends that of their neighbors.
  Track Curvature(const Track& path) const {
    Track curvature(path.rows(), 3);
    for (Eigen::Index i = 0; i < path.rows(); ++i) {
      const Eigen::Index m = std::clamp<Eigen::Index>(i, 1, path.rows() - 2);
      curvature.row(i) = (path.row(m + 1) - 2 * path.row(m) + path.row(m - 1)) / (frame_time_ * frame_time_);
    }
    return curvature;
  }

  /// What the ground has to give, by mass [m/s^2].
  Track Missing() const {
    Track center(static_cast<Eigen::Index>(states_.size()), 3);
    for (Eigen::Index i = 0; i < center.rows(); ++i) {
      center.row(i) = character::CenterOfMass(character_, states_[static_cast<size_t>(i)]).transpose();
    }
    Track missing = Curvature(center);
    missing.col(1).array() += gravity_;
    return missing;
  }

  bool Touches(const State& state) const {
    bool touches = false;
    ForEachCorner(character_, state, ground_, [&](size_t, const Vec3& point, double ground) {
      touches = touches || point.y() - ground <= lifted_;
    });
    return touches;
  }

  /// Where nothing touches the ground for some time, and little is required of it.
  void FindFlights(const Track& missing) {
    const size_t count = states_.size();
    flies_.assign(count, false);
    const auto shortest = static_cast<size_t>(std::ceil(kShortest / frame_time_));
    for (size_t first = 0; first < count;) {
      size_t last = first;
      while (last < count && !Touches(states_[last])) ++last;
      const size_t begin = std::exchange(first, last + 1);
      if (last - begin < shortest) continue;
      const auto part = missing.middleRows(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(last - begin));
      if (std::abs(part.col(1).mean()) > kLargestForce * gravity_) continue;
      for (size_t i = begin; i < last; ++i) flies_[i] = true;
      result_.flights.push_back(
          {static_cast<double>(begin) * frame_time_, static_cast<double>(last - 1) * frame_time_});
    }
  }

  /// Moves the whole character.
  void Apply(const Track& shift) {
    for (Eigen::Index i = 0; i < shift.rows(); ++i) {
      const auto pose = static_cast<size_t>(i);
      result_.poses[pose].root_position += shift.row(i).transpose();
      double& largest = flies_[pose] ? result_.largest_shift : result_.largest_standing_shift;
      largest = std::max(largest, shift.row(i).norm());
    }
  }

  double ForceInFlight(const Track& missing) const {
    double sum = 0, count = 0;
    for (size_t i = 0; i < flies_.size(); ++i) {
      if (!flies_[i]) continue;
      sum += missing.row(static_cast<Eigen::Index>(i)).squaredNorm();
      ++count;
    }
    return std::sqrt(sum / count) / gravity_;
  }

  /// What is to be added to the path of the center of mass.
  Track Shift(const Track& missing) const {
    const Eigen::Index count = missing.rows();
    const double h2 = frame_time_ * frame_time_;
    std::vector<Eigen::Triplet<double>> entries;
    Track wanted = Track::Zero(2 * count, 3);
    for (Eigen::Index i = 0; i < count; ++i) {
      const bool flies = flies_[static_cast<size_t>(i)];
      const Eigen::Index m = std::clamp<Eigen::Index>(i, 1, count - 2);
      const double curvature = 1 / (flies ? kForceInFlight : kAcceleration);
      const double place = 1 / (size_ * (flies ? kShiftInFlight : kShift));
      entries.emplace_back(i, m - 1, curvature / h2);
      entries.emplace_back(i, m, -2 * curvature / h2);
      entries.emplace_back(i, m + 1, curvature / h2);
      entries.emplace_back(count + i, i, place);
      if (flies) wanted.row(i) = -curvature * missing.row(i);
    }
    Eigen::SparseMatrix<double> rows(2 * count, count);
    rows.setFromTriplets(entries.begin(), entries.end());
    return optimization::LinearSquares(rows).Solve(wanted);
  }

  const Character& character_;
  metrics::Surface ground_;
  double gravity_;
  double frame_time_;
  double size_;                // as a share of the human's
  double lifted_;              // height over the ground from which on a point does not touch it [m]
  std::vector<State> states_;  // (poses) recorded
  std::vector<bool> flies_;    // (poses)
  BallisticFlight result_;
};

}  // namespace

io::Json BallisticFlight::ToJson() const {
  io::Json times = io::Json::array();
  for (const metrics::Interval& flight : flights) times.push_back({flight.start, flight.end});
  return {{"flights", times},
          {"largest_shift", largest_shift},
          {"largest_standing_shift", largest_standing_shift},
          {"force_before", force_before},
          {"force_after", force_after},
          {"notes", notes}};
}

BallisticFlight MakeFlightBallistic(const character::ReferenceMotion& reference,
                                    const simulation::Environment& environment, double gravity,
                                    std::optional<double> lifted) {
  return Flyer(reference, environment, gravity, lifted).Run(reference);
}

}  // namespace retrace::task
