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
constexpr double kSlowness = 0.35;       // logarithm of the slowness
constexpr double kSlownessRate = 2;      // its first derivative [1/s]
constexpr double kSlownessBend = 60;     // and its second [1/s^2]
constexpr double kShift = 0.015;         // of what touches the floor [m]
constexpr double kShiftInFlight = 0.08;  // [m]
constexpr double kBend = 6;              // second derivative of the shift on the floor [m/s^2]
constexpr double kBendInFlight = 40;     // and in the air [m/s^2]
constexpr double kStance = 0.004;        // height of a standing foot over the floor [m]
constexpr double kFall = 0.05;           // force by mass that a flight requires, where it fell otherwise [m/s^2]
constexpr double kOtherFall = 1;         // and where it did not [m/s^2]
constexpr double kForce = 1;             // by which a force by mass is beyond what the ground gives [m/s^2]

constexpr double kAround = 0.8;       // of a place, in which the ground's forces are looked at [s]
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

class Problem {
 public:
  explicit Problem(const RetimingProblem& problem)
      : problem_(problem),
        course_(problem.course),
        count_(static_cast<Index>(problem.course.size())),
        h_(problem.course.frame_time),
        size_(problem.character.height / metrics::kHumanHeight),
        retimes_(!problem.places.empty()) {
    flight_.assign(problem.course.size(), nullptr);
    for (const Flight& flight : problem.flights) {
      for (size_t i = flight.first; i <= flight.last; ++i) flight_[i] = &flight;
    }
    watched_.assign(problem.course.size(), false);
    for (const metrics::Interval& place : problem.places) {
      for (Index i = 0; i < count_; ++i) {
        const double time = static_cast<double>(i) * h_;
        if (time > place.start - kAround && time < place.end + kAround) watched_[static_cast<size_t>(i)] = true;
      }
    }
  }

  Retiming Solve() {
    optimization::SquaresOptions options;
    options.most_iterations = 200;
    options.tolerance = 1e-7;
    const VectorXd found =
        optimization::MinimiseSquares([this](const VectorXd& x, Residuals& out) { Evaluate(x, out); }, Start(), options)
            .x;
    Retiming result{std::vector<double>(course_.size(), 0), Eigen::MatrixX3d(count_, 3)};
    for (Index i = 0; i < count_; ++i) {
      if (retimes_) result.slowness[static_cast<size_t>(i)] = found[kUnknowns * i];
      result.shift.row(i) = found.segment<3>(kUnknowns * i + 1).transpose();
    }
    return result;
  }

 private:
  bool Mends(const Flight& flight) const {
    return problem_.gravity > 0 && FallsOtherwise(flight, problem_.gravity, h_);
  }

  /// Each flight at its own speed, the shift of the stances.
  VectorXd Start() const {
    VectorXd x = VectorXd::Zero(kUnknowns * count_);
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

  void Evaluate(const VectorXd& x, Residuals& out) const {
    const double weight = std::sqrt(h_);
    for (Index i = 0; i < count_; ++i) {
      const auto pose = static_cast<size_t>(i);
      const bool flies = flight_[pose] != nullptr, inner = i > 0 && i + 1 < count_;
      const Index at = kUnknowns * i;
      out.Add(weight * x[at] / kSlowness, {{at, weight / kSlowness}});
      if (i > 0) AddDifference(weight / (kSlownessRate * h_), at, x, out);
      if (inner) AddBend(weight / (kSlownessBend * h_ * h_), at, x, out);
      const double shift = weight / (size_ * (flies ? kShiftInFlight : kShift));
      const double bend = weight / ((flies ? kBendInFlight : kBend) * h_ * h_);
      for (Index axis = 0; axis < 3; ++axis) {
        const Index unknown = at + 1 + axis;
        const double base = axis == 1 ? problem_.level[pose] : 0;  // there stances are on the floor
        out.Add(shift * (x[unknown] - base), {{unknown, shift}});
        if (inner) AddBend(bend, unknown, x, out);
      }
      if (inner) AddForces(weight, i, x, out);
    }
    for (const Stance& stance : problem_.stances) {
      for (size_t pose = stance.first; pose <= stance.last; ++pose) {
        const Index unknown = kUnknowns * static_cast<Index>(pose) + 2;
        const double scale = weight / (size_ * kStance);
        out.Add(scale * (x[unknown] - problem_.level[pose]), {{unknown, scale}});
      }
    }
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

  /// A residual that is along . force - bound where `holds`, else 0.
  void AddAlong(double scale, const Vec3& along, double bound, bool holds, Index i, const Force& force,
                Residuals& out) const {
    Residuals::Derivatives derivatives;
    if (holds) {
      for (Index k = 0; k < 3; ++k) {
        const Index at = kUnknowns * (i + k - 1);
        if (retimes_) derivatives.emplace_back(at, scale * along.dot(force.by_slowness[k]));
        for (Index axis = 0; axis < 3; ++axis) {
          if (along[axis] != 0) derivatives.emplace_back(at + 1 + axis, scale * along[axis] * force.by_shift[k]);
        }
      }
    }
    out.Add(holds ? scale * (along.dot(force.value) - bound) : 0, derivatives);
  }

  void AddForces(double weight, Index i, const VectorXd& x, Residuals& out) const {
    const auto pose = static_cast<size_t>(i);
    if (problem_.gravity <= 0 || !watched_[pose]) return;
    const Force force = ForceAt(i, x);
    if (const Flight* const flight = flight_[pose]) {
      const double scale = weight / (Mends(*flight) ? kFall : kOtherFall);
      for (int axis = 0; axis < 3; ++axis) AddAlong(scale, Vec3::Unit(axis), 0, true, i, force, out);
      return;
    }
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
  const Course& course_;
  Index count_;
  double h_;     // [s]
  double size_;  // as a share of the human's
  bool retimes_;
  std::vector<const Flight*> flight_;  // (poses) null: none
  std::vector<bool> watched_;          // (poses)
};

}  // namespace

Retiming FindRetiming(const RetimingProblem& problem) {
  return Problem(problem).Solve();
}

}  // namespace retrace::repair
