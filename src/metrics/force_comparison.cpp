#include "retrace/metrics/force_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/filter.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/required_forces.h"

namespace retrace::metrics {
namespace {

constexpr double kShortestRequired = 0.25;  // [s]

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();
constexpr double kContact = 0.05;         // more is contact [body weights]
constexpr double kShortest = 0.04;        // contacts and gaps of contacts that count last as long [s]
constexpr double kMatched = 0.2;          // farthest simulated event of a measured one [s]
constexpr double kEdge = 0.02;            // of the compared time, in which no event counts [s]
constexpr double kPad = 0.05;             // of the compared time, in which no sample counts [s]
constexpr double kLongPad = 0.1;          // the same at 6 Hz [s]
constexpr double kStraightWay = 0.5;      // of the center of mass, from which on it has a direction [m]
constexpr double kFasterSampling = 0.75;  // sampling intervals below this share of a step are averaged
constexpr double kValid = 0.99;           // of a valid flag, between two instants
constexpr double kOn = 20;                // a plate with more vertical force has a foot on it [N]

/// Value at x of a line through points; beyond the ends that of the end.
/// @param value of a point
template <typename Value>
double InterpolateAt(const std::vector<double>& at, double x, const Value& value) {
  if (x <= at.front()) return value(0);
  if (x >= at.back()) return value(at.size() - 1);
  const auto after = static_cast<size_t>(std::upper_bound(at.begin(), at.end(), x) - at.begin());
  const double slope = (value(after) - value(after - 1)) / (at[after] - at[after - 1]);
  return slope * (x - at[after - 1]) + value(after - 1);
}

VectorSeries InterpolateAt(const std::vector<double>& at, const VectorSeries& values, const std::vector<double>& x) {
  VectorSeries result(static_cast<Eigen::Index>(x.size()), 3);
  for (size_t i = 0; i < x.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      result(static_cast<Eigen::Index>(i), axis) =
          InterpolateAt(at, x[i], [&](size_t k) { return values(static_cast<Eigen::Index>(k), axis); });
    }
  }
  return result;
}

double MedianDifference(const std::vector<double>& times) {
  std::vector<double> differences;
  for (size_t i = 1; i < times.size(); ++i) differences.push_back(times[i] - times[i - 1]);
  std::sort(differences.begin(), differences.end());
  const size_t middle = differences.size() / 2;
  return differences.size() % 2 == 1 ? differences[middle] : (differences[middle - 1] + differences[middle]) / 2;
}

/// Mean over each step where samples are closer than steps, else the value in its middle.
VectorSeries OnSteps(const std::vector<double>& at, const VectorSeries& values, const std::vector<double>& times) {
  const double step = MedianDifference(times);
  if (!(MedianDifference(at) < kFasterSampling * step)) {
    std::vector<double> middles;
    for (const double time : times) middles.push_back(time - step / 2);
    return InterpolateAt(at, values, middles);
  }
  VectorSeries integral(values.rows(), 3);
  integral.row(0).setZero();
  for (Eigen::Index i = 1; i < values.rows(); ++i) {
    const auto k = static_cast<size_t>(i);
    integral.row(i) = integral.row(i - 1) + (values.row(i) + values.row(i - 1)) / 2 * (at[k] - at[k - 1]);
  }
  std::vector<double> edges;
  for (const double time : times) edges.push_back(time - step);
  edges.push_back(times.back());
  const VectorSeries sums = InterpolateAt(at, integral, edges);
  return (sums.bottomRows(sums.rows() - 1) - sums.topRows(sums.rows() - 1)) / step;
}

/// By central differences, one-sided at the ends.
VectorSeries Derivative(const VectorSeries& x, double step) {
  const Eigen::Index n = x.rows();
  if (n < 2) return VectorSeries::Zero(n, 3);
  VectorSeries rate(n, 3);
  for (Eigen::Index i = 1; i + 1 < n; ++i) rate.row(i) = (x.row(i + 1) - x.row(i - 1)) / (2 * step);
  rate.row(0) = (x.row(1) - x.row(0)) / step;
  rate.row(n - 1) = (x.row(n - 1) - x.row(n - 2)) / step;
  return rate;
}

/// Centers of mass of a reference's poses.
VectorSeries CentersOfMass(const character::ReferenceMotion& reference) {
  const std::vector<character::State> states = reference.StatesOfPoses();
  VectorSeries centers(static_cast<Eigen::Index>(states.size()), 3);
  for (size_t i = 0; i < states.size(); ++i) {
    centers.row(static_cast<Eigen::Index>(i)) = character::CenterOfMass(reference.character(), states[i]).transpose();
  }
  return centers;
}

/// What Newton's law requires of the ground at each pose [body weights].
VectorSeries Newton(const VectorSeries& centers, double pose_time, double cutoff) {
  const VectorSeries smooth = ButterworthLowPass(centers, 1 / pose_time, cutoff);
  VectorSeries forces = Derivative(Derivative(smooth, pose_time), pose_time) / kStandardGravity;
  forces.col(1).array() += 1;
  return forces;
}

/// Directions of the components, in columns.
Mat3 Components(const VectorSeries& centers, double heading) {
  const Vec3 way = (centers.row(centers.rows() - 1) - centers.row(0)).transpose();
  const Vec3 level(way.x(), 0, way.z());
  const Vec3 ahead =
      level.norm() > kStraightWay ? Vec3(level / level.norm()) : AxisRotation(1, heading) * Vec3(Vec3::UnitZ());
  Mat3 components;
  components << Vec3::UnitY(), ahead, Vec3(ahead.z(), 0, -ahead.x());
  return components;
}

double Deviation(const Eigen::VectorXd& x) {
  return std::sqrt((x.array() - x.mean()).square().mean());
}

double Range(const Eigen::VectorXd& x) {
  return x.maxCoeff() - x.minCoeff();
}

ForceFigures FiguresOf(const Eigen::VectorXd& run, const Eigen::VectorXd& measured, double impulse, double step,
                       bool vertical) {
  ForceFigures figures;
  if (run.size() == 0) return {kNoFigure, kNoFigure, kNoFigure, kNoFigure, kNoFigure};
  const Eigen::VectorXd error = run - measured;
  const double rms = std::sqrt(error.squaredNorm() / static_cast<double>(error.size()));
  const double range = (Range(run) + Range(measured)) / 2;
  figures.rmse = 100 * rms;
  figures.rrmse = range > 0 ? 100 * rms / range : kNoFigure;
  constexpr double kStill = 1e-9;
  const double deviations = Deviation(run) * Deviation(measured);
  const double covariance = ((run.array() - run.mean()) * (measured.array() - measured.mean())).mean();
  figures.r = Deviation(run) > kStill && Deviation(measured) > kStill ? covariance / deviations : kNoFigure;
  figures.peak = 100 * (vertical ? run.maxCoeff() - measured.maxCoeff()
                                 : run.cwiseAbs().maxCoeff() - measured.cwiseAbs().maxCoeff());
  figures.impulse = 100 * error.sum() * step / impulse;
  return figures;
}

/// Rows of a matrix by their indices.
VectorSeries Rows(const VectorSeries& all, const std::vector<Eigen::Index>& rows) {
  VectorSeries some(static_cast<Eigen::Index>(rows.size()), 3);
  for (size_t i = 0; i < rows.size(); ++i) some.row(static_cast<Eigen::Index>(i)) = all.row(rows[i]);
  return some;
}

struct Span {
  double start = 0, end = 0;
};

/// When a vertical force is on, without short gaps and short touches.
/// @param rows of the force that are looked at
std::vector<Span> Contacts(const std::vector<double>& times, const VectorSeries& forces,
                           const std::vector<Eigen::Index>& rows) {
  std::vector<Span> spans;
  bool on = false;
  for (const Eigen::Index row : rows) {
    const double time = times[static_cast<size_t>(row)];
    const bool pressed = forces(row, 1) > kContact;
    if (pressed && !on && (spans.empty() || time - spans.back().end >= kShortest)) spans.push_back({time, time});
    if (pressed) spans.back().end = time;
    on = pressed;
  }
  std::erase_if(spans, [](const Span& span) { return span.end - span.start < kShortest; });
  return spans;
}

/// Collects the events of one kind.
class Events {
 public:
  /// @param when which end of a contact
  void Add(const std::vector<Span>& run, const std::vector<Span>& measured, double Span::*when, double start,
           double end) {
    for (const Span& span : measured) {
      const double time = span.*when;
      if (!(start + kEdge < time && time < end - kEdge)) continue;
      ++timing_.measured;
      const auto nearest = std::min_element(run.begin(), run.end(), [&](const Span& a, const Span& b) {
        return std::abs(a.*when - time) < std::abs(b.*when - time);
      });
      if (nearest == run.end() || std::abs((*nearest).*when - time) > kMatched) continue;
      ++timing_.matched;
      const double late = 1000 * ((*nearest).*when - time);
      sum_ += late;
      absolute_ += std::abs(late);
    }
  }
  ContactTiming Finish() {
    if (timing_.matched > 0) {
      timing_.mean = sum_ / timing_.matched;
      timing_.mean_absolute = absolute_ / timing_.matched;
    }
    return timing_;
  }

 private:
  ContactTiming timing_;
  double sum_ = 0;
  double absolute_ = 0;
};

io::Json NumberOrNull(double number) {
  return std::isfinite(number) ? io::Json(number) : io::Json();
}

io::Json TimingToJson(const ContactTiming& timing) {
  const auto value = [](const std::optional<double>& number) { return number ? io::Json(*number) : io::Json(); };
  return {{"events", timing.measured},
          {"matched", timing.matched},
          {"mean_ms", value(timing.mean)},
          {"mean_absolute_ms", value(timing.mean_absolute)}};
}

/// @param loads in columns, see MeasuredOnSteps
FootCenters CentersOf(const VectorSeries& forces, const VectorSeries& loads) {
  constexpr double kLoaded = 50;  // less has no center [N]
  FootCenters centers;
  centers.center.setConstant(forces.rows(), 3, kNoFigure);
  centers.free_moment.setZero(forces.rows());
  for (Eigen::Index i = 0; i < forces.rows(); ++i) {
    if (!(forces(i, 1) > kLoaded)) continue;
    const double x = loads(i, 0) / forces(i, 1), z = loads(i, 2) / forces(i, 1);
    centers.center.row(i) << x, 0, z;
    centers.free_moment[i] = loads(i, 1) - (z * forces(i, 0) - x * forces(i, 2));
  }
  return centers;
}

/// Which foot is on a plate, each time that one is.
/// @param points where the force acts, in the run
/// @param times of the instants, in the run [s]
std::vector<motion::Side> SidesOf(const motion::MeasuredForce& force, const std::vector<Vec3>& points,
                                  const std::vector<double>& times, const character::ReferenceMotion& reference) {
  const auto left = static_cast<size_t>(character::BodyOfSegment(reference.character(), "left_foot"));
  const auto right = static_cast<size_t>(character::BodyOfSegment(reference.character(), "right_foot"));
  std::vector<motion::Side> sides(times.size(), motion::Side::kLeft);
  character::State state;
  const auto on = [&](size_t i) { return i < times.size() && force.forces[i].y() > kOn; };
  for (size_t first = 0; first < times.size();) {
    size_t end = first + 1;
    while (end < times.size() && on(end) == on(first)) ++end;
    double to_left = 0, to_right = 0;
    for (size_t i = first; i < end && on(first); ++i) {
      if (!points[i].allFinite()) continue;
      reference.StateAt(times[i], state);
      const auto distance = [&](size_t foot) {
        const Vec3 apart = state[foot].position - points[i];
        return std::hypot(apart.x(), apart.z());
      };
      to_left += distance(left);
      to_right += distance(right);
    }
    const motion::Side side = to_right < to_left ? motion::Side::kRight : motion::Side::kLeft;
    std::fill(sides.begin() + static_cast<std::ptrdiff_t>(first), sides.begin() + static_cast<std::ptrdiff_t>(end),
              side);
    first = end;
  }
  return sides;
}

/// Refuses the forces of a person on the plates instead of the opposite ones.
void RequireUpward(const motion::MeasuredForces& measured, const std::string& name) {
  double sum = 0, size = 0;
  for (const motion::MeasuredForce& force : measured.forces) {
    for (const Vec3& one : force.forces) {
      sum += one.y();
      size += std::abs(one.y());
    }
  }
  constexpr double kDown = 0.5;  // of all vertical force
  if (!(sum < -kDown * size)) return;
  throw InputError(name, "vertical forces that pull the person down",
                   "those of the ground on the person, which push up: all signs, or those of the vertical axis, are "
                   "to be changed");
}

}  // namespace

Vec3 MeasurementPlace::ToRun(const Vec3& point, double time) const {
  return scale * ForceToRun(point) - (time - belt_start) * belt;
}

Vec3 MeasurementPlace::ToRecording(const Vec3& point, double time) const {
  return ForceToRecording((point + (time - belt_start) * belt) / scale);
}

Vec3 MeasurementPlace::ForceToRun(const Vec3& force) const {
  return AxisRotation(1, heading) * (mirrored ? Vec3(-force.x(), force.y(), force.z()) : force);
}

Vec3 MeasurementPlace::ForceToRecording(const Vec3& force) const {
  const Vec3 turned = AxisRotation(1, -heading) * force;
  return mirrored ? Vec3(-turned.x(), turned.y(), turned.z()) : turned;
}

Vec3 MeasurementPlace::MomentToRun(const Vec3& moment) const {
  return mirrored ? Vec3(-ForceToRun(moment)) : ForceToRun(moment);
}

Vec3 MeasurementPlace::MomentToRecording(const Vec3& moment) const {
  return mirrored ? Vec3(-ForceToRecording(moment)) : ForceToRecording(moment);
}

std::string Name(ForceComponent component) {
  return component == ForceComponent::kVertical  ? "vertical"
         : component == ForceComponent::kForeAft ? "fore_aft"
                                                 : "lateral";
}

std::string CutoffName(double cutoff) {
  return cutoff == 0 ? "raw" : io::Number(cutoff) + "Hz";
}

std::optional<FootPlates> FindFeet(const character::Character& character, const std::vector<ForcePlate>& plates) {
  const auto find = [&](const std::string& segment) {
    const int body = character::BodyOfSegment(character, segment);
    return std::find_if(plates.begin(), plates.end(), [&](const ForcePlate& plate) {
      return std::find(plate.bodies.begin(), plate.bodies.end(), body) != plate.bodies.end();
    });
  };
  const auto left = find("left_foot");
  const auto right = find("right_foot");
  if (left == plates.end() || right == plates.end()) return std::nullopt;
  return FootPlates{static_cast<size_t>(left - plates.begin()), static_cast<size_t>(right - plates.begin())};
}

FootForces FootForcesOf(const GroundForces& ground, const FootPlates& feet) {
  const auto n = static_cast<Eigen::Index>(ground.num_states);
  FootForces forces{VectorSeries::Zero(n, 3), VectorSeries::Zero(n, 3), VectorSeries::Zero(n, 3)};
  for (size_t p = 0; p < ground.plates.size(); ++p) {
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto force = ground.forces[p][static_cast<size_t>(i)].force.transpose();
      forces.total.row(i) += force;
      if (p == feet.left) forces.left.row(i) = force;
      if (p == feet.right) forces.right.row(i) = force;
    }
  }
  return forces;
}

MeasuredSteps MeasuredOnSteps(const motion::MeasuredForces& measured, const std::string& name,
                              const MeasurementPlace& place, const character::ReferenceMotion& reference,
                              const std::vector<double>& times) {
  std::vector<double> at;
  for (const double time : measured.times) at.push_back(place.RunTime(time));
  RequireUpward(measured, name);
  const auto n = static_cast<Eigen::Index>(at.size());
  VectorSeries feet[] = {VectorSeries::Zero(n, 3), VectorSeries::Zero(n, 3)};
  // Center times vertical force, and the free moment about the vertical through the origin.
  VectorSeries loads[] = {VectorSeries::Zero(n, 3), VectorSeries::Zero(n, 3)};
  bool has_points = true;
  for (const motion::MeasuredForce& force : measured.forces) {
    has_points = has_points && !force.points.empty();
    const bool left = (force.side.value_or(motion::Side::kLeft) == motion::Side::kLeft) != place.exchanged;
    std::vector<motion::Side> sides(at.size(), left ? motion::Side::kLeft : motion::Side::kRight);
    if (!force.side) {
      if (force.points.empty()) {
        throw InputError(name, "no place and no foot of the force " + force.name,
                         "its point of application, or left or right in its name");
      }
      std::vector<Vec3> points;
      for (size_t k = 0; k < force.points.size(); ++k) {
        points.push_back(place.ToRun(force.points[k], place.RecordedTime(measured.times[k])));
      }
      sides = SidesOf(force, points, at, reference);
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      const size_t foot = sides[k] == motion::Side::kLeft ? 0 : 1;
      const Vec3 pushed = place.ForceToRun(force.forces[k]);
      feet[foot].row(i) += pushed.transpose();
      if (force.points.empty() || !force.points[k].allFinite() || !(pushed.y() > kOn)) continue;
      const Vec3 point = place.ToRun(force.points[k], place.RecordedTime(measured.times[k]));
      const bool has_moment = !force.moments.empty() && force.moments[k].allFinite();
      const double free = has_moment ? place.MomentToRun(force.moments[k]).y() : 0;
      loads[foot].row(i) +=
          Vec3(point.x() * pushed.y(), free + point.z() * pushed.x() - point.x() * pushed.z(), point.z() * pushed.y())
              .transpose();
    }
  }
  MeasuredSteps steps;
  steps.forces.left = OnSteps(at, feet[0], times);
  steps.forces.right = OnSteps(at, feet[1], times);
  if (has_points) {
    steps.centers.emplace(CentersOf(steps.forces.left, OnSteps(at, loads[0], times)),
                          CentersOf(steps.forces.right, OnSteps(at, loads[1], times)));
  }
  steps.forces.total = steps.forces.left + steps.forces.right;
  const double step = MedianDifference(times);
  for (const double time : times) {
    const double valid = InterpolateAt(at, time, [&](size_t k) { return measured.valid[k] ? 1.0 : 0.0; });
    steps.valid.push_back(time - step >= at.front() && time <= at.back() && valid > kValid && time > times.front());
  }
  const auto first = std::find(steps.valid.begin(), steps.valid.end(), true);
  const auto last = std::find(steps.valid.rbegin(), steps.valid.rend(), true);
  const double least = 2 * kLongPad + kShortest;
  if (first == steps.valid.end() || times[static_cast<size_t>(steps.valid.rend() - last - 1)] -
                                            times[static_cast<size_t>(first - steps.valid.begin())] <
                                        least) {
    throw InputError(name,
                     "measured times from " + io::Fixed(at.front(), 2) + " to " + io::Fixed(at.back(), 2) +
                         " s of the motion" + (first == steps.valid.end() ? "" : ", few of them valid"),
                     "at least " + io::Fixed(least, 2) + " s within its " + io::Fixed(times.back(), 2) + " s");
  }
  return steps;
}

double KeepCovered(const FootForces& expected, double mass, const std::vector<double>& times, MeasuredSteps& measured) {
  constexpr double kStands = 0.2, kMissed = 0.03;  // [body weights]
  constexpr double kMostMissed = 0.4;              // of a contact
  constexpr double kAround = 0.05;                 // [s]
  const double weight = mass * kStandardGravity;
  const auto n = static_cast<size_t>(expected.total.rows());
  const auto count = [&] { return std::count(measured.valid.begin(), measured.valid.end(), true); };
  const auto before = count();
  std::vector<bool> covered = measured.valid;
  for (const auto foot : {&FootForces::left, &FootForces::right}) {
    const VectorSeries &estimate = expected.*foot, &plates = measured.forces.*foot;
    const auto on = [&](size_t i) { return i < n && estimate(static_cast<Eigen::Index>(i), 1) > kMissed * weight; };
    for (size_t first = 0; first < n;) {
      size_t end = first + 1;
      while (end < n && on(end) == on(first)) ++end;
      size_t missed = 0, looked = 0;
      for (size_t i = first; i < end && on(first); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        if (!measured.valid[i]) continue;
        ++looked;
        if (estimate(row, 1) > kStands * weight && plates(row, 1) < kMissed * weight) ++missed;
      }
      if (looked > 0 && static_cast<double>(missed) > kMostMissed * static_cast<double>(looked)) {
        for (size_t i = 0; i < n; ++i) {
          if (times[i] > times[first] - kAround && times[i] < times[end - 1] + kAround) covered[i] = false;
        }
      }
      first = end;
    }
  }
  measured.valid = covered;
  return before == 0 ? 1 : static_cast<double>(count()) / static_cast<double>(before);
}

double RequiredForceError(const std::vector<double>& times, const GroundForces& ground, const FootPlates& feet,
                          double mass, const character::ReferenceMotion& reference, double gravity) {
  RequiredForcesOptions options;
  options.gravity = gravity;
  const std::vector<RequiredForces> required = RequiredForcesOf(reference, options);
  const size_t n = std::min(times.size(), ground.num_states);
  if (n < 2 || required.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double step = times[1] - times[0];
  if (required.back().time - required.front().time < kShortestRequired || times[n - 1] < kShortestRequired) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::vector<double> compared(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(n));
  const auto rows = static_cast<Eigen::Index>(n);
  MeasuredSteps steps;
  for (VectorSeries* series : {&steps.forces.total, &steps.forces.left, &steps.forces.right}) series->setZero(rows, 3);
  for (size_t i = 0; i < n; ++i) {
    const double middle = times[i] - 0.5 * step;
    const auto row = static_cast<Eigen::Index>(i);
    const auto add = [&](size_t plate, VectorSeries& series) {
      for (const int body : ground.plates[plate].bodies) {
        series.row(row) += RequiredForceOn(body, middle, required, reference.frame_time()).transpose();
      }
    };
    add(feet.left, steps.forces.left);
    add(feet.right, steps.forces.right);
    for (size_t plate = 0; plate < ground.plates.size(); ++plate) add(plate, steps.forces.total);
    steps.valid.push_back(middle >= required.front().time && middle <= required.back().time);
  }
  const ForceComparison comparison =
      CompareForces({compared, FootForcesOf(ground, feet), mass, steps, mass, reference, 0});
  double sum = 0;
  for (const char* const part : {"total", "left", "right"}) {
    const double rmse = 0.01 * comparison.At("run", 20, part, ForceComponent::kVertical).rmse;
    sum += rmse * rmse / 3;
  }
  return std::sqrt(sum);
}

VectorSeries InComponents(const VectorSeries& forces, const character::ReferenceMotion& reference, double heading) {
  return forces * Components(CentersOfMass(reference), heading);
}

ForceComparison CompareForces(const ForceComparisonInput& input) {
  const std::vector<double>& times = input.times;
  const auto n = static_cast<Eigen::Index>(times.size());
  for (const FootForces* forces : {&input.simulated, &input.measured.forces}) {
    for (const VectorSeries* series : {&forces->total, &forces->left, &forces->right}) {
      if (series->rows() != n) throw std::invalid_argument("forces of other instants than the run's");
    }
  }
  if (input.measured.valid.size() != times.size()) throw std::invalid_argument("flags of other instants");
  const double step = MedianDifference(times);
  const double rate = 1 / step;
  const VectorSeries centers = CentersOfMass(input.reference);
  const Mat3 components = Components(centers, input.heading);
  const double run_weight = input.simulated_mass * kStandardGravity;
  const double measured_weight = input.measured_mass * kStandardGravity;

  std::vector<Eigen::Index> valid;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (input.measured.valid[static_cast<size_t>(i)]) valid.push_back(i);
  }
  if (valid.empty()) throw std::invalid_argument("a measurement of which nothing is valid");
  ForceComparison comparison;
  comparison.start = times[static_cast<size_t>(valid.front())];
  comparison.end = times[static_cast<size_t>(valid.back())];

  const std::vector<double> pose_times = [&] {
    std::vector<double> list;
    for (Eigen::Index i = 0; i < centers.rows(); ++i) {
      list.push_back(static_cast<double>(i) * input.reference.frame_time());
    }
    return list;
  }();
  std::vector<double> middles;
  for (const double time : times) middles.push_back(time - step / 2);
  std::vector<std::pair<std::string, VectorSeries>> baselines;
  for (const double cutoff : {6.0, 12.0}) {
    const VectorSeries forces = Newton(centers, MedianDifference(pose_times), cutoff);
    baselines.emplace_back("newton_" + CutoffName(cutoff), InterpolateAt(pose_times, forces, middles) * components);
  }
  VectorSeries weight = VectorSeries::Zero(n, 3);
  weight.col(1).setOnes();
  baselines.emplace_back("body_weight", weight * components);

  struct Part {
    const char* name;
    VectorSeries FootForces::*series;
  };
  constexpr Part kParts[] = {{"total", &FootForces::total}, {"left", &FootForces::left}, {"right", &FootForces::right}};
  for (const double cutoff : kForceCutoffs) {
    const double pad = cutoff == 6 ? kLongPad : kPad;
    std::vector<Eigen::Index> rows;
    for (const Eigen::Index i : valid) {
      const double time = times[static_cast<size_t>(i)];
      if (time >= comparison.start + pad && time <= comparison.end - pad) rows.push_back(i);
    }
    const auto signal = [&](const VectorSeries& series, double body_weight) {
      const VectorSeries seen = series / body_weight * components;
      return Rows(cutoff == 0 ? seen : VectorSeries(ButterworthLowPass(seen, rate, cutoff)), rows);
    };
    const double impulse = Rows(input.measured.forces.total / measured_weight * components, rows).col(0).sum() * step;
    const auto add = [&](const std::string& source, const char* part, const VectorSeries& run,
                         const VectorSeries& measured) {
      for (int c = 0; c < kForceComponents; ++c) {
        comparison.rows.push_back({source, cutoff, part, static_cast<ForceComponent>(c),
                                   FiguresOf(run.col(c), measured.col(c), impulse, step, c == 0)});
      }
    };
    VectorSeries measured_total;
    for (const Part& part : kParts) {
      const VectorSeries measured = signal(input.measured.forces.*part.series, measured_weight);
      add("run", part.name, signal(input.simulated.*part.series, run_weight), measured);
      if (&part == kParts) measured_total = measured;
    }
    for (const auto& [name, forces] : baselines) add(name, "total", Rows(forces, rows), measured_total);
  }

  std::vector<Eigen::Index> all;
  for (Eigen::Index i = 0; i < n; ++i) all.push_back(i);
  Events onsets, offsets;
  for (VectorSeries FootForces::*foot : {&FootForces::left, &FootForces::right}) {
    const std::vector<Span> run = Contacts(times, input.simulated.*foot / run_weight, all);
    const std::vector<Span> measured = Contacts(times, input.measured.forces.*foot / measured_weight, valid);
    onsets.Add(run, measured, &Span::start, comparison.start, comparison.end);
    offsets.Add(run, measured, &Span::end, comparison.start, comparison.end);
  }
  comparison.onset = onsets.Finish();
  comparison.offset = offsets.Finish();
  const Eigen::VectorXd run_vertical = Rows(input.simulated.total / run_weight, valid).col(1);
  const Eigen::VectorXd measured_vertical = Rows(input.measured.forces.total / measured_weight, valid).col(1);
  comparison.largest_step_force = run_vertical.maxCoeff();
  comparison.largest_measured_force = measured_vertical.maxCoeff();
  comparison.no_contact_share = (run_vertical.array() < kContact).cast<double>().mean();
  comparison.measured_no_contact_share = (measured_vertical.array() < kContact).cast<double>().mean();
  return comparison;
}

const ForceFigures& ForceComparison::At(const std::string& source, double cutoff, const std::string& part,
                                        ForceComponent component) const {
  for (const ForceComparisonRow& row : rows) {
    if (row.source == source && row.cutoff == cutoff && row.part == part && row.component == component) {
      return row.figures;
    }
  }
  throw std::out_of_range("no figures of " + source + ", " + part);
}

io::Json ForceComparison::ToJson() const {
  io::Json figures = io::Json::object();
  for (const ForceComparisonRow& row : rows) {
    const ForceFigures& f = row.figures;
    figures[row.source][CutoffName(row.cutoff)][row.part][Name(row.component)] = {
        {"rmse_percent", f.rmse},
        {"rrmse_percent", NumberOrNull(f.rrmse)},
        {"r", NumberOrNull(f.r)},
        {"peak_percent", f.peak},
        {"impulse_percent", NumberOrNull(f.impulse)}};
  }
  return {{"compared", {start, end}},
          {"figures", figures},
          {"contact_onset", TimingToJson(onset)},
          {"contact_offset", TimingToJson(offset)},
          {"largest_step_force_weights", largest_step_force},
          {"largest_measured_force_weights", largest_measured_force},
          {"no_contact_share", no_contact_share},
          {"measured_no_contact_share", measured_no_contact_share}};
}

}  // namespace retrace::metrics
