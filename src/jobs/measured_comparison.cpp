#include "measured_comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/remedy.h"
#include "retrace/jobs/forces.h"
#include "retrace/kinetics/plate_placement.h"
#include "retrace/math/rotation.h"

namespace retrace::runs {
namespace {

// A comparison with less correlation than this is doubted, and one with less than none is refused, where the measured
// force varies by so much.
constexpr double kLowCorrelation = 0.7;
constexpr double kVaries = 0.1;  // standard deviation [body weights]
// A remedy brings the correlation of a comparison to this.
constexpr double kLike = 0.9;
constexpr double kMostlyCovered = 0.5;  // of what was measured, by feet on the plates
constexpr double kLongestShift = 5;     // of the clocks that is looked for [s]
constexpr double kFarFromFeet = 0.15;   // of loads from the ankles [m]
constexpr double kBorneBeside = 0.05;   // the feet [body weights]: their forces are then not all of the ground's

/// Measured forces are said to be late where the difference becomes so much smaller.
constexpr double kMuchSmaller = 0.6;
constexpr double kLatest = 0.05;      // [s]
constexpr double kDelayStep = 0.001;  // [s]

/// Plates carry the weight of the person on average, up to so much of it.
constexpr double kOtherMass = 0.025;

std::optional<CenterErrors> CompareCenters(const Job& job, const ForceEstimate& estimate) {
  if (!estimate.measured || !estimate.measured->centers) return std::nullopt;
  const auto feet = metrics::FindFeet(job.character(), estimate.ground.plates);
  if (!feet) return std::nullopt;
  const double least = 0.1 * job.character().total_mass() * kStandardGravity;
  const std::vector<character::State> states = job.reference().StatesOfPoses();
  CenterErrors errors;
  for (const bool left : {true, false}) {
    const size_t plate = left ? feet->left : feet->right;
    const auto body = static_cast<size_t>(estimate.ground.plates[plate].body);
    const auto& centers = (left ? estimate.measured->centers->first : estimate.measured->centers->second).center;
    for (size_t i = 0; i < states.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const metrics::AppliedForce& applied = estimate.ground.forces[plate][i];
      const double measured = (left ? estimate.measured->forces.left : estimate.measured->forces.right)(row, 1);
      if (!estimate.measured->valid[i] || measured < least || applied.force.y() < least) continue;
      if (!centers.row(row).allFinite()) continue;
      const Vec3 off = applied.point - centers.row(row).transpose();
      Vec3 ahead = states[i][body].orientation * Vec3::UnitZ();
      ahead.y() = 0;
      if (!(ahead.norm() > 1e-6)) continue;
      ahead.normalize();
      errors.along += std::abs(off.dot(ahead));
      errors.along_bias += off.dot(ahead);
      errors.across += std::abs(off.dot(ahead.cross(Vec3::UnitY())));
      ++errors.count;
    }
  }
  if (errors.count == 0) return std::nullopt;
  const auto count = static_cast<double>(errors.count);
  errors.along /= count;
  errors.along_bias /= count;
  errors.across /= count;
  return errors;
}

/// The most that is carried by anything but the feet [N].
double MostBeside(const metrics::FootForces& forces) {
  return (forces.total - forces.left - forces.right).col(1).maxCoeff();
}

/// By how much measured forces are late, by the least difference of the vertical totals [s].
struct Delay {
  double late = 0;
  double before = 0;  ///< difference as the forces are, root mean square [N]
  double after = 0;   ///< the same once that is taken out

  bool Clear() const { return after < kMuchSmaller * before; }
};

Delay FindDelay(const metrics::FootForces& forces, const metrics::MeasuredSteps& measured, double step) {
  const auto edge = static_cast<Eigen::Index>(std::ceil(kLatest / step)) + 1;
  const auto difference = [&](double late) {
    double sum = 0, count = 0;
    for (Eigen::Index i = edge; i + edge < forces.total.rows(); ++i) {
      if (!measured.valid[static_cast<size_t>(i)]) continue;
      const double at = static_cast<double>(i) - late / step;
      const auto before = static_cast<Eigen::Index>(std::floor(at));
      const double share = at - static_cast<double>(before);
      const double expected = (1 - share) * forces.total(before, 1) + share * forces.total(before + 1, 1);
      sum += (expected - measured.forces.total(i, 1)) * (expected - measured.forces.total(i, 1));
      count += 1;
    }
    return count > 0 ? std::sqrt(sum / count) : 0;
  };
  Delay delay;
  delay.before = delay.after = difference(0);
  const int steps = static_cast<int>(std::lround(kLatest / kDelayStep));
  for (int k = -steps; k <= steps; ++k) {
    const double now = difference(k * kDelayStep);
    if (now >= delay.after) continue;
    delay.after = now;
    delay.late = k * kDelayStep;
  }
  return delay;
}

/// Puts the measurement on the clock of the motion, where that is not the user's, and says so.
void Synchronize(const Job& job, const metrics::FootForces& forces, const std::vector<double>& times,
                 metrics::MeasurementPlace& place, ForceEstimate& estimate) {
  const Delay delay = FindDelay(forces, *estimate.measured, job.reference().frame_time());
  if (!delay.Clear()) return;
  const std::string milliseconds = io::Fixed(1000 * std::abs(delay.late), 0);
  const std::string late = delay.late > 0 ? " ms late" : " ms early";
  if (job.options.measured_delay) {
    estimate.warnings.push_back("the measured forces are " + milliseconds + late +
                                " on the clock that was asked for, by the motion");
    return;
  }
  place.delay = delay.late;
  estimate.measured =
      metrics::MeasuredOnSteps(*job.measured, job.options.measured.string(), place, job.reference(), times);
  const double weight = job.character().total_mass() * kStandardGravity;
  estimate.warnings.push_back(
      "the measured forces are " + milliseconds + late +
      ": the clocks of the two files differ, or a filter delays one of them. They are compared without that, which "
      "brings the vertical difference from " +
      io::Fixed(100 * delay.before / weight, 0) + " to " + io::Fixed(100 * delay.after / weight, 0) +
      " % of body weight");
}

/// Says which mass the plates show, where that is another one.
void CompareMasses(const Job& job, const metrics::FootForces& forces, ForceEstimate& estimate) {
  constexpr double kShortest = 1;  // a shorter average has the errors of the estimate [s]
  double expected = 0, found = 0, count = 0;
  for (Eigen::Index i = 0; i < forces.total.rows(); ++i) {
    if (!estimate.measured->valid[static_cast<size_t>(i)]) continue;
    expected += forces.total(i, 1);
    found += estimate.measured->forces.total(i, 1);
    count += 1;
  }
  if (count * job.reference().frame_time() < kShortest || !(expected > 0)) return;
  const double mass = job.options.mass.value_or(job.character().total_mass());
  const double shown = mass * found / expected;
  if (std::abs(shown - mass) < kOtherMass * mass) return;
  estimate.warnings.push_back("the measured forces carry " + io::Fixed(shown, 1) + " kg on average, the mass is " +
                              io::Fixed(mass, 1) + " kg: the zero of the plates is off, or the mass is another one");
}

/// Pearson's correlation of two vertical forces where the measured one is valid, shifted by steps; nothing where too
/// little overlaps or nothing varies.
std::optional<double> Correlation(const metrics::VectorSeries& expected, const metrics::VectorSeries& found,
                                  const std::vector<bool>& valid, Eigen::Index shift) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0, valid_count = 0;
  for (Eigen::Index i = 0; i < found.rows(); ++i) {
    if (!valid[static_cast<size_t>(i)]) continue;
    valid_count += 1;
    const Eigen::Index from = i - shift;
    if (from < 0 || from >= expected.rows()) continue;
    const double a = expected(from, 1), b = found(i, 1);
    n += 1;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  if (n < 0.5 * valid_count || n < 2) return std::nullopt;
  const double deviation = std::sqrt(std::max(0.0, (xx - x * x / n) * (yy - y * y / n)));
  if (!(deviation > 0)) return std::nullopt;
  return (xy - x * y / n) / deviation;
}

/// What would help a comparison that is none.
struct Help {
  std::vector<Remedy> remedies;
  std::string text;
};

/// @param delay without which the measurement is looked at already [s]
Help FindHelp(const metrics::FootForces& forces, const metrics::MeasuredSteps& measured, double step, double delay) {
  Help help;
  const auto add = [&](Remedy remedy, const std::string& text) {
    help.remedies.push_back(remedy);
    help.text.append(help.text.empty() ? "" : ", or ").append(text);
  };
  const auto of = [&](const metrics::VectorSeries& expected, const metrics::VectorSeries& found) {
    return Correlation(expected, found, measured.valid, 0).value_or(0);
  };
  const double left = of(forces.left, measured.forces.right), right = of(forces.right, measured.forces.left);
  if (std::min(left, right) > kLike) {
    add(Remedy::kExchangedSides, "left and right are exchanged (r " + io::Fixed(left, 2) + ", " + io::Fixed(right, 2) +
                                     " if they are changed back)");
  }
  const auto longest = static_cast<Eigen::Index>(kLongestShift / step);
  Eigen::Index best = 0;
  double most = 0;
  for (Eigen::Index shift = -longest; shift <= longest; ++shift) {
    double r = 0;
    for (const auto foot : {&metrics::FootForces::left, &metrics::FootForces::right}) {
      r += 0.5 * Correlation(forces.*foot, measured.forces.*foot, measured.valid, shift).value_or(-1);
    }
    if (r <= most) continue;
    most = r;
    best = shift;
  }
  if (most > kLike && best != 0) {
    const double seconds = static_cast<double>(best) * step + delay;
    add(Remedy::kClockOfPlates, "they are " + io::Fixed(std::abs(seconds), 2) + (seconds > 0 ? " s late" : " s early") +
                                    " (r " + io::Fixed(most, 2) + " without that)");
  }
  if (help.text.empty()) {
    help.text = "the two files are not of the same trial, clock or axes, or left and right are exchanged";
  }
  return help;
}

double DeviationOf(const metrics::VectorSeries& forces, const std::vector<bool>& valid) {
  double n = 0, sum = 0, squares = 0;
  for (Eigen::Index i = 0; i < forces.rows(); ++i) {
    if (!valid[static_cast<size_t>(i)]) continue;
    n += 1;
    sum += forces(i, 1);
    squares += forces(i, 1) * forces(i, 1);
  }
  return n > 0 ? std::sqrt(std::max(0.0, squares / n - sum * sum / (n * n))) : 0;
}

/// Refuses forces most of which are where no foot carries anything, where another clock or other sides would help.
/// @param whole the measurement with all that was valid
void RequireContacts(const Job& job, const metrics::FootForces& forces, const metrics::MeasuredSteps& whole,
                     const ForceEstimate& estimate, double kept) {
  const Help help = FindHelp(forces, whole, job.reference().frame_time(), estimate.delay);
  if (help.remedies.empty()) return;
  throw WithHint<InputError>(
      help.remedies, job.options.measured.string(),
      "forces of feet that stand beside the plates for " + io::Fixed(100 * (1 - kept), 0) + " % of the time",
      "forces of this motion: " + help.text);
}

/// Refuses a comparison with forces that are of something else than the motion, and says what would help.
/// @param whole the measurement with all that was valid
void RequireLikeness(const Job& job, const metrics::FootForces& forces, const metrics::MeasuredSteps& whole,
                     ForceEstimate& estimate) {
  const double weight = job.character().total_mass() * kStandardGravity;
  std::string low, negative;
  const std::pair<const char*, metrics::VectorSeries metrics::FootForces::*> parts[] = {
      {"total", &metrics::FootForces::total},
      {"left", &metrics::FootForces::left},
      {"right", &metrics::FootForces::right}};
  for (const auto& [part, series] : parts) {
    const double r = estimate.comparison->At("run", results::kTableCutoff, part, metrics::ForceComponent::kVertical).r;
    if (!(r < kLowCorrelation)) continue;
    if (DeviationOf(estimate.measured->forces.*series, estimate.measured->valid) < kVaries * weight) continue;
    const std::string text = std::string(part) + " " + io::Fixed(r, 2);
    low.append(low.empty() ? "" : ", ").append(text);
    if (r < 0) negative.append(negative.empty() ? "" : ", ").append(text);
  }
  if (low.empty()) return;
  const Help help = FindHelp(forces, whole, job.reference().frame_time(), estimate.delay);
  if (negative.empty()) {
    estimate.warnings.push_back("the vertical forces hardly go with the measured ones (r " + low + "): " + help.text);
    return;
  }
  std::string expected = "forces of this motion: " + help.text;
  for (const std::string& warning : estimate.warnings) expected += "; " + warning;
  throw WithHint<InputError>(help.remedies, job.options.measured.string(),
                             "vertical forces that fall where those of the motion rise (r " + negative + ")", expected);
}

/// Says how the measured forces are turned to lie under the feet, and doubts it where they do not.
/// @return whether feet stand on them
bool DescribePlacement(const Job& job, const metrics::MeasurementPlace& place, ForceEstimate& estimate) {
  const auto found = kinetics::FindPlacement(*job.measured, place, job.reference());
  if (!found) return false;
  if (!found->Clear()) {
    std::string text = "the measured forces act " + io::Fixed(found->distance, 2) +
                       " m from the nearest foot on average: plates and motion are not in the same axes";
    if (found->oblique) {
      text += ", and feet stand on them if they are turned by " +
              io::Fixed(Degrees(std::remainder(*found->oblique - place.heading, 2 * kPi)), 0) + " degrees more";
    }
    estimate.warnings.push_back(std::move(text));
    return false;
  }
  if (!job.options.measured_heading) {
    estimate.notes.push_back("measured forces are turned by " + io::Fixed(Degrees(place.heading), 0) +
                             " degrees, as the feet stand on the plates: " + io::Fixed(1000 * found->distance, 0) +
                             " mm from their centers on average");
  } else if (std::abs(std::remainder(found->heading - place.heading, 2 * kPi)) > 0.1) {
    estimate.warnings.push_back("the feet stand on the plates if these are turned by " +
                                io::Fixed(Degrees(found->heading - place.heading), 0) +
                                " degrees more than was asked for");
  }
  if (place.mirrored != job.configuration.task.reference.mirror) {
    estimate.warnings.emplace_back(
        "axes of the measured forces and of the motion are of different handedness: the x axis of the forces is "
        "reversed, as the feet stand on them. If it is the motion that is left-handed, it is to be mirrored");
  }
  if (place.exchanged && !found->exchanged && found->own_distance < found->other_distance) {
    estimate.warnings.emplace_back(
        "left and right are exchanged, as was asked for, but the feet stand as the file has "
        "them");
  }
  if (found->distance > kFarFromFeet) {
    estimate.warnings.push_back("the measured forces act " + io::Fixed(found->distance, 2) +
                                " m from the feet on average, farther than in a foot");
  }
  return true;
}

}  // namespace

std::vector<double> StepTimes(const character::ReferenceMotion& reference) {
  std::vector<double> times;
  for (size_t i = 0; i < reference.poses().size(); ++i) {
    times.push_back((static_cast<double>(i) + 0.5) * reference.frame_time());
  }
  return times;
}

void CompareWithMeasured(const Job& job, ForceEstimate& estimate) {
  if (!job.measured) return;
  const std::string name = job.options.measured.string();
  const auto feet = metrics::FindFeet(job.character(), estimate.ground.plates);
  if (!feet || estimate.motion.empty()) {
    throw InputError(name, "a character without a left and a right foot: " + job.character().name,
                     "one with both, to compare with measured forces");
  }
  if (job.configuration.task.reference.loop) {
    throw UsageError(name + ": found measured forces of a clip whose cycle is repeated, expected one as recorded");
  }
  metrics::MeasurementPlace place = PlaceOf(job);
  const std::vector<double> times = StepTimes(job.reference());
  estimate.measured = metrics::MeasuredOnSteps(*job.measured, name, place, job.reference(), times);
  const bool on_plates = DescribePlacement(job, place, estimate);
  const double start = job.prepared->clip.start_time;
  if (start != 0) {
    estimate.notes.push_back("the recording begins at " + io::Fixed(start, 3) +
                             " s by its own clock, on which the forces were measured, too");
  }
  metrics::FootForces forces = metrics::FootForcesOf(estimate.ground, *feet);
  const double mass = job.character().total_mass();
  if (const double most = MostBeside(forces); most > kBorneBeside * mass * kStandardGravity) {
    forces.total = forces.left + forces.right;
    estimate.notes.push_back("compared is what the feet carry: a seat or another support, which carries up to " +
                             io::Fixed(most / (mass * kStandardGravity), 2) + " body weights, is on no plate");
  }
  Synchronize(job, forces, times, place, estimate);
  estimate.delay = place.delay;
  const metrics::MeasuredSteps whole = *estimate.measured;
  const double kept = metrics::KeepCovered(forces, mass, times, *estimate.measured);
  if (kept < kMostlyCovered && !on_plates) RequireContacts(job, forces, whole, estimate, kept);
  if (kept < 1) {
    estimate.notes.push_back("compared is " + io::Fixed(100 * kept, 0) +
                             " % of what was measured, in which no foot stands beside the plates");
  }
  if (std::none_of(estimate.measured->valid.begin(), estimate.measured->valid.end(),
                   [](bool valid) { return valid; })) {
    estimate.warnings.emplace_back("there is no instant at which all feet that carry are on the plates");
    return;
  }
  estimate.comparison = metrics::CompareForces(
      {times, forces, mass, *estimate.measured, job.options.mass.value_or(mass), job.reference(), place.heading});
  estimate.centers = CompareCenters(job, estimate);
  CompareMasses(job, forces, estimate);
  RequireLikeness(job, forces, whole, estimate);
}

}  // namespace retrace::runs
