#include "retiming.h"

#include <algorithm>
#include <cmath>

#include "retrace/metrics/gates.h"
#include "retrace/optimization/least_squares.h"

namespace retrace::repair {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using optimization::Residuals;

// What counts as much as each other, over an equal time. Lengths are those of the human.
constexpr double kSlownessRate = 8;       // the slowness' first derivative [1/s]
constexpr double kSlownessBend = 400;     // and its second [1/s^2]
constexpr double kBeyondClock = 0.01;     // by which it is beyond kMostFactor
constexpr double kShift = 0.005;          // of what touches the floor [m]
constexpr double kShiftInFlight = 0.02;   // [m]
constexpr double kShiftInSkim = 0.15;     // and where the flight itself was cut off [m]
constexpr double kShiftBesideSkim = 0.1;  // and where the push for it and its landing were [m]
constexpr double kBendBesideSkim = 15;    // [m/s^2]
constexpr double kBesideSkim = 0.4;       // [s]
constexpr double kBend = 6;               // second derivative of the shift on the floor [m/s^2]
constexpr double kBendInFlight = 40;      // and in the air [m/s^2]
constexpr double kUnderFloor = 0.005;     // of what is not held on the floor [m]
constexpr double kStance = 0.004;         // height of a standing foot over the floor [m]
constexpr double kFall = 0.05;            // force by mass that a flight requires, where it fell otherwise [m/s^2]
constexpr double kOtherFall = 1;          // and where it did not [m/s^2]
constexpr double kForce = 1;              // by which a force by mass is beyond what the ground gives [m/s^2]
constexpr double kArm = 0.05;             // by which the weight's center of pressure is beyond what is pressed on [m]
constexpr double kTwist = 0.05;           // of the weight, for a moment that the clock alone requires in flight [m]

/// What counts as much of the logarithm of the slowness: of that which all poses share, and of what a pose has besides.
struct ClockPrices {
  double whole;
  double besides;
};
constexpr ClockPrices kPlaces = {1e-4, 0.35};  // the clock of some positions is wrong
constexpr ClockPrices kAll = {2, 0.1};         // the whole motion is played at another speed
constexpr ClockPrices kNone = {1e-4, 1e-3};    // the clock is right

constexpr double kMargin = 0.015;     // of what is pressed on that is kept free [m]
constexpr double kLeastPress = 0.05;  // share of the weight with which the ground presses at least
constexpr double kMostPress = 4.5;    // and at most
constexpr double kFriction = 0.7;
constexpr double kSlownessFading = 0.3;  // of the slowness beside a flight, to begin with [s]

constexpr Index kUnknowns = 4;  // of a pose: slowness, shift

/// The force of the ground by mass at a pose, and its derivatives: those by the slowness are vectors, and each axis
/// depends on its own shifts alone, alike.
struct Force {
  Vec3 value = Vec3::Zero();
  Vec3 by_slowness[3] = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};  // before, at and after the pose
  double by_shift[3] = {0, 0, 0};
};

/// The moment about the center of mass, by mass, and its derivatives by the slowness before, at and after the pose.
struct Moment {
  Vec3 value = Vec3::Zero();
  Vec3 by_slowness[3] = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
};

class Problem {
 public:
  Problem(const RetimingProblem& problem, const ClockPrices& prices)
      : problem_(problem),
        prices_(prices),
        course_(problem.course),
        count_(static_cast<Index>(problem.course.size())),
        whole_(kUnknowns * count_),
        h_(problem.course.frame_time),
        size_(problem.character.height / metrics::kHumanHeight),
        mass_(problem.character.total_mass()),
        retimes_(problem.retimes) {
    flight_.assign(problem.course.size(), nullptr);
    for (const Flight& flight : problem.flights) {
      for (size_t i = flight.first; i <= flight.last; ++i) flight_[i] = &flight;
    }
    beside_skim_.assign(problem.course.size(), false);
    const auto beside = static_cast<size_t>(std::lround(kBesideSkim / h_));
    for (const Flight& flight : problem.flights) {
      if (!flight.skims) continue;
      const size_t first = flight.first > beside ? flight.first - beside : 0;
      for (size_t i = first; i <= std::min(flight.last + beside, problem.course.size() - 1); ++i)
        beside_skim_[i] = true;
    }
  }

  /// @param value receives half the sum of squares
  VectorXd Solve(const VectorXd& start, double& value) const {
    optimization::SquaresOptions options;
    options.most_iterations = 200;
    options.tolerance = 1e-7;
    const optimization::Minimum minimum =
        optimization::MinimizeSquares([this](const VectorXd& x, Residuals& out) { Evaluate(x, out); }, start, options);
    value = minimum.value;
    return minimum.x;
  }

  Retiming RetimingOf(const VectorXd& found, double cost) const {
    Retiming result{std::vector<double>(course_.size(), 0), Eigen::MatrixX3d(count_, 3), cost};
    for (Index i = 0; i < count_; ++i) {
      if (retimes_) result.slowness[static_cast<size_t>(i)] = found[kUnknowns * i];
      result.shift.row(i) = found.segment<3>(kUnknowns * i + 1).transpose();
    }
    return result;
  }

  /// Each flight at its own speed, the shift of the stances.
  VectorXd Start() const {
    VectorXd x = VectorXd::Zero(kUnknowns * count_ + 1);
    for (Index i = 0; i < count_; ++i) x[kUnknowns * i + 2] = problem_.level[static_cast<size_t>(i)];
    if (!retimes_) return x;
    for (const Flight& flight : problem_.flights) {
      if (!Mends(flight) || !(flight.acceleration > 0)) continue;
      const double slowness = 0.5 * std::log(flight.acceleration / problem_.gravity);
      for (Index i = 0; i < count_; ++i) {
        const Index beside =
            std::max({Index{0}, static_cast<Index>(flight.first) - i, i - static_cast<Index>(flight.last)});
        const double here = slowness * std::exp(-static_cast<double>(beside) * h_ / kSlownessFading);
        if (std::abs(here) > std::abs(x[kUnknowns * i])) x[kUnknowns * i] = here;
      }
    }
    return x;
  }

 private:
  bool Mends(const Flight& flight) const {
    return problem_.gravity > 0 && FallsOtherwise(flight, problem_.gravity, h_);
  }

  void Evaluate(const VectorXd& x, Residuals& out) const {
    const double weight = std::sqrt(h_);
    for (Index i = 0; i < count_; ++i) {
      const auto pose = static_cast<size_t>(i);
      const bool flies = flight_[pose] != nullptr, inner = i > 0 && i + 1 < count_;
      const Index at = kUnknowns * i;
      const double besides = weight / prices_.besides;
      out.Add(besides * (x[at] - x[whole_]), {{at, besides}, {whole_, -besides}});
      const double beyond = std::abs(x[at]) - std::log(kMostFactor);
      const double bound = beyond > 0 ? std::copysign(weight / kBeyondClock, x[at]) : 0;
      out.Add(std::abs(bound) * beyond, {{at, bound}});
      if (i > 0) AddDifference(weight / (kSlownessRate * h_), at, x, out);
      if (inner) AddBend(weight / (kSlownessBend * h_ * h_), at, x, out);
      const double shift = weight / (size_ * ShiftPrice(pose));
      const double bend_price = flies ? kBendInFlight : (beside_skim_[pose] ? kBendBesideSkim : kBend);
      const double bend = weight / (bend_price * h_ * h_);
      for (Index axis = 0; axis < 3; ++axis) {
        const Index unknown = at + 1 + axis;
        const double base = axis == 1 ? problem_.level[pose] : 0;  // there stances are on the floor
        out.Add(shift * (x[unknown] - base), {{unknown, shift}});
        if (inner) AddBend(bend, unknown, x, out);
      }
      if (inner) AddForces(weight, i, x, out);
      if (flies && flight_[pose]->skims) {
        const double under = -course_.lowest[pose] - x[at + 2];
        const double scale = weight / (size_ * kUnderFloor);
        out.Add(under > 0 ? scale * under : 0, {{at + 2, under > 0 ? -scale : 0}});
      }
    }
    const double all = std::sqrt(h_ * static_cast<double>(count_)) / prices_.whole;
    out.Add(all * x[whole_], {{whole_, all}});
    for (const Stance& stance : problem_.stances) {
      for (size_t pose = stance.first; pose <= stance.last; ++pose) {
        const Index unknown = kUnknowns * static_cast<Index>(pose) + 2;
        const double scale = weight / (size_ * kStance);
        out.Add(scale * (x[unknown] - problem_.level[pose]), {{unknown, scale}});
      }
    }
  }

  double ShiftPrice(size_t pose) const {
    if (flight_[pose] != nullptr) return flight_[pose]->skims ? kShiftInSkim : kShiftInFlight;
    return beside_skim_[pose] ? kShiftBesideSkim : kShift;
  }

  static void AddDifference(double scale, Index unknown, const VectorXd& x, Residuals& out) {
    out.Add(scale * (x[unknown] - x[unknown - kUnknowns]), {{unknown, scale}, {unknown - kUnknowns, -scale}});
  }

  static void AddBend(double scale, Index unknown, const VectorXd& x, Residuals& out) {
    out.Add(scale * (x[unknown + kUnknowns] - 2 * x[unknown] + x[unknown - kUnknowns]),
            {{unknown + kUnknowns, scale}, {unknown, -2 * scale}, {unknown - kUnknowns, scale}});
  }

  Force ForceAt(Index i, const VectorXd& x) const {
    const auto shift = [&](Index pose) { return Vec3(x.segment<3>(kUnknowns * pose + 1)); };
    const double faster = std::exp(-2 * x[kUnknowns * i]);
    const double rate = (x[kUnknowns * (i + 1)] - x[kUnknowns * (i - 1)]) / (2 * h_);
    const Vec3 velocity = course_.velocity.row(i).transpose() + (shift(i + 1) - shift(i - 1)) / (2 * h_);
    const Vec3 acceleration =
        course_.acceleration.row(i).transpose() + (shift(i + 1) - 2 * shift(i) + shift(i - 1)) / (h_ * h_);
    Force force;
    force.value = faster * (acceleration - velocity * rate);
    force.by_slowness[0] = faster * velocity / (2 * h_);
    force.by_slowness[1] = -2 * force.value;
    force.by_slowness[2] = -faster * velocity / (2 * h_);
    force.by_shift[0] = faster * (1 / (h_ * h_) + rate / (2 * h_));
    force.by_shift[1] = -2 * faster / (h_ * h_);
    force.by_shift[2] = faster * (1 / (h_ * h_) - rate / (2 * h_));
    force.value.y() += problem_.gravity;
    return force;
  }

  Moment MomentAt(Index i, const VectorXd& x) const {
    const double faster = std::exp(-2 * x[kUnknowns * i]) / mass_;
    const double rate = (x[kUnknowns * (i + 1)] - x[kUnknowns * (i - 1)]) / (2 * h_);
    const Vec3 momentum = course_.momentum.row(i).transpose();
    Moment moment;
    moment.value = faster * (course_.moment.row(i).transpose() - rate * momentum);
    moment.by_slowness[0] = faster * momentum / (2 * h_);
    moment.by_slowness[1] = -2 * moment.value;
    moment.by_slowness[2] = -faster * momentum / (2 * h_);
    return moment;
  }

  /// For each direction by how far the center of pressure would have to be beyond where the ground can press, times the
  /// force upwards.
  void AddCenterOfPressure(double weight, Index i, const VectorXd& x, const Force& force, Residuals& out) const {
    const SupportReach& support = problem_.support[static_cast<size_t>(i)];
    const Moment moment = MomentAt(i, x);
    const Vec3 center = course_.center.row(i).transpose() + x.segment<3>(kUnknowns * i + 1);
    const double scale = weight / (kArm * size_ * problem_.gravity);
    for (size_t k = 0; k < SupportReach::kDirections; ++k) {
      const Vec3 along = SupportReach::Direction(k);
      const double reach = support.reach[k] - kMargin * size_ - along.dot(center);
      const Vec3 by_force(-along.x() * center.y(), -reach, -along.z() * center.y());
      const Vec3 by_moment(-along.z(), 0, along.x());
      const double beyond = by_force.dot(force.value) + by_moment.dot(moment.value);
      Residuals::Derivatives derivatives;
      if (beyond > 0) {
        for (Index d = 0; d < 3; ++d) {
          const Index at = kUnknowns * (i + d - 1);
          const double slope = by_force.dot(force.by_slowness[d]) + by_moment.dot(moment.by_slowness[d]);
          derivatives.emplace_back(at, scale * slope);
          for (Index axis = 0; axis < 3; ++axis) {
            derivatives.emplace_back(at + 1 + axis, scale * by_force[axis] * force.by_shift[d]);
          }
        }
        const Index at = kUnknowns * i + 1;
        derivatives.emplace_back(at, scale * along.x() * force.value.y());
        derivatives.emplace_back(at + 1, -scale * along.dot(force.value));
        derivatives.emplace_back(at + 2, scale * along.z() * force.value.y());
      }
      out.Add(beyond > 0 ? scale * beyond : 0, derivatives);
    }
  }

  /// The clock of a flight is even, since angular momentum is.
  void AddTwist(double weight, Index i, const VectorXd& x, Residuals& out) const {
    const double scale = weight * course_.momentum.row(i).norm() / (mass_ * kTwist * size_ * problem_.gravity * 2 * h_);
    const Index before = kUnknowns * (i - 1), after = kUnknowns * (i + 1);
    out.Add(scale * (x[after] - x[before]), {{after, scale}, {before, -scale}});
  }

  /// A residual that is along . force - bound where `holds`, else 0.
  void AddAlong(double scale, const Vec3& along, double bound, bool holds, Index i, const Force& force,
                Residuals& out) const {
    Residuals::Derivatives derivatives;
    if (holds) {
      for (Index k = 0; k < 3; ++k) {
        const Index at = kUnknowns * (i + k - 1);
        derivatives.emplace_back(at, scale * along.dot(force.by_slowness[k]));
        for (Index axis = 0; axis < 3; ++axis) {
          if (along[axis] != 0) derivatives.emplace_back(at + 1 + axis, scale * along[axis] * force.by_shift[k]);
        }
      }
    }
    out.Add(holds ? scale * (along.dot(force.value) - bound) : 0, derivatives);
  }

  void AddForces(double weight, Index i, const VectorXd& x, Residuals& out) const {
    const auto pose = static_cast<size_t>(i);
    if (problem_.gravity <= 0 || !retimes_) return;
    const Force force = ForceAt(i, x);
    if (const Flight* const flight = flight_[pose]) {
      const double scale = weight / (Mends(*flight) ? kFall : kOtherFall);
      for (int axis = 0; axis < 3; ++axis) AddAlong(scale, Vec3::Unit(axis), 0, true, i, force, out);
      AddTwist(weight, i, x, out);
      return;
    }
    if (!problem_.support[pose].any) {
      for (int axis = 0; axis < 3; ++axis) AddAlong(weight / kOtherFall, Vec3::Unit(axis), 0, true, i, force, out);
      return;
    }
    AddCenterOfPressure(weight, i, x, force, out);
    const double scale = weight / kForce;
    const double least = kLeastPress * problem_.gravity, most = kMostPress * problem_.gravity;
    AddAlong(scale, Vec3::UnitY(), least, force.value.y() < least, i, force, out);
    AddAlong(scale, Vec3::UnitY(), most, force.value.y() > most, i, force, out);
    const Vec3 across(force.value.x(), 0, force.value.z());
    const double held = kFriction * std::max(0.0, force.value.y());
    const Vec3 along = across.normalized() - (force.value.y() > 0 ? kFriction : 0) * Vec3::UnitY();
    AddAlong(scale, along, 0, across.norm() > held + 1e-9, i, force, out);
  }

  const RetimingProblem& problem_;
  ClockPrices prices_;
  const Course& course_;
  Index count_;
  Index whole_;  // the unknown that is the slowness of the whole
  double h_;     // [s]
  double size_;  // as a share of the human's
  double mass_;  // [kg]
  bool retimes_;
  std::vector<const Flight*> flight_;  // (poses) null: none
  std::vector<bool> beside_skim_;      // (poses)
};

}  // namespace

std::vector<Retiming> FindRetimings(const RetimingProblem& problem) {
  const std::vector<Flight>& flights = problem.flights;
  const bool skims = std::any_of(flights.begin(), flights.end(), [](const Flight& flight) { return flight.skims; });
  const Problem places(problem, kPlaces);
  VectorXd start = places.Start();
  double cost = 0;
  // A flight that was cut off begins as the path that it has on the old clock: on another one it would be shorter.
  if (problem.retimes && skims) start = Problem(problem, kNone).Solve(start, cost);
  start = places.Solve(start, cost);
  std::vector<Retiming> retimings = {places.RetimingOf(start, cost)};
  const bool all_skim = skims && std::all_of(flights.begin(), flights.end(), [](const Flight& f) { return f.skims; });
  if (!problem.retimes || all_skim) return retimings;
  const Problem all(problem, kAll);
  start = all.Solve(all.Start(), cost);
  retimings.push_back(all.RetimingOf(start, cost));
  return retimings;
}

}  // namespace retrace::repair
