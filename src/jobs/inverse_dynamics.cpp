#include "retrace/jobs/inverse_dynamics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/character/segments.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/xml.h"
#include "retrace/jobs/forces.h"
#include "retrace/jobs/job_manifest.h"
#include "retrace/kinetics/force_estimate.h"
#include "retrace/kinetics/smoothing_choice.h"
#include "retrace/math/rotation.h"
#include "retrace/report/force_chart.h"

namespace retrace::runs {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
/// A comparison with less correlation than this is of something else than the motion.
constexpr double kUnrelated = 0;
constexpr double kFarFromFeet = 0.15;  // of loads from the ankles [m]

/// How far a measured force lies from the estimated one in 95 % of the time, as shares of body weight: vertical,
/// fore-aft, lateral. Counted on the public trials (scripts/experiments/forces).
struct Uncertainty {
  std::array<double, 3> total;
  std::array<double, 3> foot;       ///< where it carries alone
  std::array<double, 3> both_feet;  ///< where both carry
};
constexpr Uncertainty kUncertainty = {{0.09, 0.08, 0.04}, {0.08, 0.07, 0.035}, {0.20, 0.08, 0.05}};

/// Times of "states" whose steps have the poses in their middle.
std::vector<double> StepTimes(const character::ReferenceMotion& reference) {
  std::vector<double> times;
  for (size_t i = 0; i < reference.poses().size(); ++i) {
    times.push_back((static_cast<double>(i) + 0.5) * reference.frame_time());
  }
  return times;
}

/// The entry of a pose: the first and the last one have what is beside them.
const metrics::RequiredForces& At(const std::vector<metrics::RequiredForces>& motion, size_t pose) {
  return motion[std::min(pose == 0 ? 0 : pose - 1, motion.size() - 1)];
}

metrics::GroundForces GroundOf(const character::Character& character,
                               const std::vector<metrics::RequiredForces>& motion, size_t num_poses) {
  metrics::GroundForces ground;
  ground.num_states = num_poses;
  std::vector<int> plate_of(character.bodies.size(), -1);
  const auto add = [&](int body) {
    int& plate = plate_of[static_cast<size_t>(body)];
    if (plate >= 0) return;
    plate = static_cast<int>(ground.plates.size());
    ground.plates.push_back({body, {body}});
    ground.forces.emplace_back(num_poses);
  };
  for (const metrics::ForcePlate& plate : metrics::ForcePlates(character, {})) add(plate.body);
  for (const auto& instant : motion) {
    for (const metrics::SupportForce& support : instant.support) add(support.body);
  }
  for (size_t i = 0; i < num_poses; ++i) {
    for (const metrics::SupportForce& support : At(motion, i).support) {
      auto& applied = ground.forces[static_cast<size_t>(plate_of[static_cast<size_t>(support.body)])][i];
      applied = {support.force, support.center, support.free_moment * Vec3::UnitY()};
    }
  }
  return ground;
}

results::Channels LoadsOf(const character::Character& character, const std::vector<metrics::RequiredForces>& motion,
                          size_t num_poses) {
  results::Channels channels = results::JointLoadChannels(character, {});
  channels.values.resize(static_cast<Eigen::Index>(num_poses), static_cast<Eigen::Index>(channels.names.size()));
  for (size_t i = 0; i < num_poses; ++i) {
    const metrics::RequiredForces& instant = At(motion, i);
    auto row = channels.values.row(static_cast<Eigen::Index>(i));
    Eigen::Index column = 0;
    for (size_t j = 0; j < character.joints.size(); ++j) {
      for (int axis = 0; axis < 3; ++axis) {
        if (character.joints[j].UsesAxis(axis)) row[column++] = instant.torques[j][axis];
      }
    }
    for (const double power : instant.powers) row[column++] = power;
  }
  return channels;
}

/// The measured forces of the feet at the poses.
std::vector<std::vector<metrics::SupportForce>> SupportsOf(const Job& job, const metrics::MeasuredSteps& measured) {
  const int feet[] = {character::BodyOfSegment(job.character(), "left_foot"),
                      character::BodyOfSegment(job.character(), "right_foot")};
  std::vector<std::vector<metrics::SupportForce>> supports;
  for (Eigen::Index i = 0; i < measured.forces.total.rows(); ++i) {
    std::vector<metrics::SupportForce>& of_pose = supports.emplace_back();
    for (const bool left : {true, false}) {
      const metrics::FootCenters& centers = left ? measured.centers->first : measured.centers->second;
      if (!centers.center.row(i).allFinite()) continue;
      of_pose.push_back({feet[left ? 0 : 1], (left ? measured.forces.left : measured.forces.right).row(i).transpose(),
                         centers.center.row(i).transpose(), centers.free_moment[i]});
    }
  }
  return supports;
}

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

/// By how many steps measured forces are late, by the least difference of the vertical totals; 0 where another shift
/// would not make that much smaller.
int StepsLate(const metrics::FootForces& forces, const metrics::MeasuredSteps& measured) {
  constexpr Eigen::Index kMostSteps = 8;
  constexpr double kMuchSmaller = 0.7;
  const auto difference = [&](Eigen::Index late) {
    double sum = 0;
    for (Eigen::Index i = kMostSteps; i + kMostSteps < forces.total.rows(); ++i) {
      if (!measured.valid[static_cast<size_t>(i)]) continue;
      const double apart = forces.total(i - late, 1) - measured.forces.total(i, 1);
      sum += apart * apart;
    }
    return std::sqrt(sum);
  };
  Eigen::Index best = 0;
  for (Eigen::Index late = -kMostSteps; late <= kMostSteps; ++late) {
    if (difference(late) < difference(best)) best = late;
  }
  return difference(best) < kMuchSmaller * difference(0) ? static_cast<int>(best) : 0;
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
  const metrics::MeasurementPlace place = PlaceOf(job);
  const std::vector<double> times = StepTimes(job.reference());
  estimate.measured = metrics::MeasuredOnSteps(*job.measured, name, place, job.reference(), times);
  metrics::MeasurementPlace unturned = place;
  const auto found = metrics::FindHeading(*job.measured, unturned, job.reference());
  if (!job.options.measured_heading && found && found->Clear()) {
    estimate.notes.push_back("measured forces are turned by " + io::Fixed(Degrees(place.heading), 0) +
                             " degrees, as the feet stand on the plates: " + io::Fixed(1000 * found->distance, 0) +
                             " mm from the ankles on average");
  } else if (found && !found->Clear()) {
    estimate.warnings.push_back("the measured forces act " + io::Fixed(found->distance, 2) +
                                " m from the nearest ankle on average: plates and motion are not in the same axes");
  } else if (found && std::abs(std::remainder(found->heading - place.heading, 2 * kPi)) > 0.1) {
    estimate.warnings.push_back("the feet stand on the plates if these are turned by " +
                                io::Fixed(Degrees(found->heading - place.heading), 0) +
                                " degrees more than was asked for");
  }
  if (found && found->Clear() && found->distance > kFarFromFeet) {
    estimate.warnings.push_back("the measured forces act " + io::Fixed(found->distance, 2) +
                                " m from the ankles on average, farther than in a foot");
  }
  const double start = job.prepared->clip.start_time;
  if (start != 0) {
    estimate.notes.push_back("the recording begins at " + io::Fixed(start, 3) +
                             " s by its own clock, on which the forces were measured, too");
  }
  const metrics::FootForces forces = metrics::FootForcesOf(estimate.ground, *feet);
  const double mass = job.character().total_mass();
  const double kept = metrics::KeepCovered(forces, mass, times, *estimate.measured);
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
  if (const int late = StepsLate(forces, *estimate.measured); late != 0) {
    const double milliseconds = 1000 * std::abs(late) * job.reference().frame_time();
    estimate.warnings.push_back("the measured forces are " + io::Fixed(milliseconds, 0) + " ms " +
                                (late > 0 ? "later" : "earlier") +
                                " than those that the motion requires: the clocks of the two files differ, or a filter "
                                "delays one of them; they are compared as they are");
  }
  for (const char* part : {"total", "left", "right"}) {
    const double r = estimate.comparison->At("run", results::kTableCutoff, part, metrics::ForceComponent::kVertical).r;
    if (!(r < kUnrelated)) continue;
    estimate.warnings.push_back(std::string("the vertical force ") + part + " rises where the measured one falls (r " +
                                io::Fixed(r, 2) +
                                "): the two files are not of the same trial, clock or axes, or left and right are "
                                "exchanged");
  }
}

/// Channels with half widths added or taken away.
results::Channels Shifted(results::Channels channels, const Eigen::MatrixXd& half, double sign) {
  channels.values += sign * half;
  return channels;
}

/// Half widths of the band of FootForceChannels [N].
Eigen::MatrixXd FootHalfWidths(const metrics::FootForces& forces, double weight) {
  constexpr double kCarries = 0.05;  // [body weights]
  Eigen::MatrixXd half(forces.total.rows(), 9);
  for (Eigen::Index i = 0; i < half.rows(); ++i) {
    const bool left = forces.left(i, 1) > kCarries * weight, right = forces.right(i, 1) > kCarries * weight;
    for (Eigen::Index c = 0; c < 3; ++c) {
      const auto component = static_cast<size_t>(c);
      const double foot = (left && right ? kUncertainty.both_feet : kUncertainty.foot)[component];
      half(i, c) = kUncertainty.total[component] * weight;
      half(i, 3 + c) = foot * weight;
      half(i, 6 + c) = foot * weight;
    }
  }
  return half;
}

results::BandedChannels WithBand(const results::Channels& channels, const Eigen::MatrixXd& half) {
  return {{channels, Shifted(channels, half, -1), Shifted(channels, half, 1)}, 0};
}

void WriteTables(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate) {
  const double step = job.reference().frame_time();
  const double weight = job.character().total_mass() * kStandardGravity;
  struct Names {
    std::string_view ground, joints, feet;
    double cutoff;
  };
  for (const Names& names : {Names{results::kGroundForcesFile, results::kJointLoadsFile, results::kFootForcesFile, 0},
                             Names{results::kSmoothGroundForcesFile, results::kSmoothJointLoadsFile,
                                   results::kSmoothFootForcesFile, results::kTableCutoff}}) {
    const auto alone = [](results::Channels channels) { return results::BandedChannels{{std::move(channels)}, 0}; };
    folder.Write(
        names.ground,
        results::FormatBands(alone(results::GroundForceChannels(job.character(), estimate.ground, step, names.cutoff)),
                             step, names.cutoff));
    folder.Write(names.joints, results::FormatBands(alone(results::LowPassed(estimate.joint_loads, step, names.cutoff)),
                                                    step, names.cutoff));
    const auto feet = metrics::FindFeet(job.character(), estimate.ground.plates);
    if (!feet) continue;
    const metrics::FootForces forces = metrics::FootForcesOf(estimate.ground, *feet);
    const double heading = job.measured ? PlaceOf(job).heading : 0;
    const results::BandedChannels bands =
        WithBand(results::FootForceChannels(forces, job.reference(), heading, step, names.cutoff),
                 FootHalfWidths(forces, weight));
    std::optional<results::Channels> measured;
    if (estimate.measured) measured = MeasuredChannels(job, *estimate.measured, step, names.cutoff);
    const results::Channels* const line = measured ? &*measured : nullptr;
    folder.Write(names.feet, results::FormatBands(bands, step, names.cutoff, line));
    if (names.cutoff > 0) {
      folder.Write(results::kForceChartFile,
                   report::FormatForceChart(bands, line, step, names.cutoff, job.options.clip.file.stem().string()));
    }
  }
}

/// The name of the recording's body that stands for a foot, or that of the character's body.
std::string RecordedFoot(const Job& job, const std::string& segment, const std::string& name) {
  const motion::Skeleton& skeleton = job.prepared->clip.skeleton;
  const std::string side = segment.starts_with("left") ? "l" : "r";
  if (segment.ends_with("_foot") && skeleton.Find("calcn_" + side) >= 0) return "calcn_" + side;
  const auto found = job.prepared->report.map.segments.find(segment);
  if (found == job.prepared->report.map.segments.end()) return name;
  return skeleton.joints[static_cast<size_t>(found->second.position)].name;
}

/// The forces as OpenSim's tools read them: in the axes and on the clock of the recording.
void WriteOpenSim(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate) {
  const metrics::MeasurementPlace place = PlaceOf(job);
  const character::ReferenceOptions& options = job.configuration.task.reference;
  const Quat back = AxisRotation(1, options.facing ? job.prepared->report.facing - *options.facing : 0);
  const Vec3 floor(0, job.prepared->report.floor_height, 0);
  std::string names = "time", loads;
  for (const metrics::ForcePlate& plate : estimate.ground.plates) {
    const character::Body& body = job.character().bodies[static_cast<size_t>(plate.body)];
    const std::string name = RecordedFoot(job, body.segment, body.name);
    std::string column = name;
    for (char& c : column) c = static_cast<unsigned char>(c) <= ' ' ? '_' : c;
    for (const char* kind : {"ground_force_%_v", "ground_force_%_p", "ground_torque_%_"}) {
      std::string prefix = kind;
      prefix.replace(prefix.find('%'), 1, column);
      for (const char* axis : {"x", "y", "z"}) names.append("\t").append(prefix).append(axis);
    }
    const auto element = [&](const char* tag, const std::string& value) {
      loads.append("        <").append(tag).append(">").append(io::EscapeXml(value));
      loads.append("</").append(tag).append(">\n");
    };
    loads.append("      <ExternalForce name=\"" + io::EscapeXml(column) + "\">\n");
    element("appliesForce", "true");
    element("applied_to_body", name);
    element("force_expressed_in_body", "ground");
    element("point_expressed_in_body", "ground");
    element("force_identifier", "ground_force_" + column + "_v");
    element("point_identifier", "ground_force_" + column + "_p");
    element("torque_identifier", "ground_torque_" + column + "_");
    loads.append("      </ExternalForce>\n");
  }
  const size_t columns = 1 + 9 * estimate.ground.plates.size();
  std::string text = "ground_forces\nversion=1\nnRows=" + std::to_string(estimate.ground.num_states) +
                     "\nnColumns=" + std::to_string(columns) + "\ninDegrees=no\nendheader\n" + names + "\n";
  for (size_t i = 0; i < estimate.ground.num_states; ++i) {
    text += io::Number(place.start + static_cast<double>(i) * job.reference().frame_time() / place.time_scale);
    for (const auto& forces : estimate.ground.forces) {
      const metrics::AppliedForce& applied = forces[i];
      const bool on = applied.force.y() > 0;
      const Vec3 point = on ? Vec3((back * applied.point + floor) / place.scale) : Vec3(Vec3::Zero());
      for (const Vec3& vector : {Vec3(back * applied.force), point, Vec3(back * applied.moment)}) {
        for (int axis = 0; axis < 3; ++axis) text.append("\t").append(io::Number(vector[axis]));
      }
    }
    text += "\n";
  }
  const std::string prefix = std::string(results::kExportFolder) + "/";
  folder.Write(prefix + "ground_forces.sto", text);
  folder.Write(prefix + "external_loads.xml",
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40000\">\n"
               "  <ExternalLoads name=\"ground_forces\">\n    <objects>\n" +
                   loads +
                   "    </objects>\n    <groups />\n    <datafile>ground_forces.sto</datafile>\n  </ExternalLoads>\n"
                   "</OpenSimDocument>\n");
}

/// Root of the mean square of what is required and not supplied, as a share of body weight.
double ResidualOf(const Job& job, const ForceEstimate& estimate) {
  double sum = 0;
  for (const metrics::RequiredForces& instant : estimate.motion) sum += instant.missing_force.squaredNorm();
  const double weight = job.character().total_mass() * kStandardGravity;
  return std::sqrt(sum / static_cast<double>(std::max<size_t>(estimate.motion.size(), 1))) / weight;
}

}  // namespace

Job JobOfEstimate(JobOptions options) {
  character::ReferenceOptions& reference = options.configuration.task.reference;
  reference.lift_root = reference.raise_hands = false;
  if (reference.smoothing == ForcesConfiguration().task.reference.smoothing) {
    reference.smoothing = kinetics::kLookedAtSmoothing;
    reference.smoothing = kinetics::ChooseSmoothing(Job(options).reference());
  }
  return Job(options);
}

ForceEstimate EstimateForces(const Job& job, const InverseDynamicsOptions& options) {
  ForceEstimate estimate;
  const character::ReferenceMotion& reference = job.reference();
  const auto feet = kinetics::FootModelsOf(job.character(), job.prepared->clip, job.prepared->report);
  kinetics::ForceEstimateOptions how;
  how.gravity = job.configuration.task.world.gravity;
  how.friction = job.configuration.task.world.friction;
  estimate.motion = kinetics::EstimateForces(reference, feet, how);
  if (estimate.motion.empty()) {
    throw InputError(job.options.clip.file.string(), "a motion of fewer than three poses", "one that accelerates");
  }
  const size_t poses = reference.poses().size();
  estimate.ground = GroundOf(job.character(), estimate.motion, poses);
  const double smoothing = job.configuration.task.reference.smoothing;
  if (smoothing > kinetics::kLeastSmoothing) {
    estimate.notes.push_back("the recording is rough, and smoothed with a Gaussian of " +
                             io::Fixed(1000 * smoothing, 1) + " ms instead of " +
                             io::Fixed(1000 * kinetics::kLeastSmoothing, 0) +
                             ": its vertical force would change faster than forces of people do");
  }
  CompareWithMeasured(job, estimate);
  if (options.use_measured) {
    if (!estimate.measured || !estimate.measured->centers) {
      throw UsageError(
          "found no measured forces that say where they act, expected some, from which joint loads are to follow");
    }
    estimate.motion = kinetics::ApplyForces(reference, SupportsOf(job, *estimate.measured), how.gravity);
    estimate.notes.emplace_back("joint loads follow from the measured forces");
  }
  estimate.joint_loads = LoadsOf(job.character(), estimate.motion, poses);
  return estimate;
}

void WriteForceEstimate(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate,
                        const RunContext& context) {
  WriteTables(folder, job, estimate);
  WriteOpenSim(folder, job, estimate);
  io::Json manifest = BeginManifest("forces", "completed");
  manifest["format"] = "retrace-forces";
  manifest["forces"] = {{"mass", job.character().total_mass()},
                        {"method", "inverse dynamics"},
                        {"smoothing", job.configuration.task.reference.smoothing},
                        {"residual_force_weights", ResidualOf(job, estimate)},
                        {"low_pass_hz", results::kTableCutoff},
                        {"notes", estimate.notes},
                        {"warnings", estimate.warnings}};
  AddJob(job, job.configuration.sampling.seed, context, manifest);
  if (estimate.comparison) {
    folder.Write(results::kForceComparisonFile, results::FormatForceComparison(*estimate.comparison));
    manifest["force_comparison"] = estimate.comparison->ToJson();
    manifest["force_comparison"]["file"] = job.options.measured.string();
    if (estimate.centers) {
      manifest["force_comparison"]["center_of_pressure"] = {{"along_m", estimate.centers->along},
                                                            {"across_m", estimate.centers->across},
                                                            {"along_bias_m", estimate.centers->along_bias}};
    }
  }
  FinishWith(folder, std::move(manifest));
}

std::string Describe(const ForceEstimate& estimate) {
  std::string text;
  for (const std::string& note : estimate.notes) text.append("  ").append(note).append("\n");
  if (estimate.comparison) text.append(DescribeComparison(*estimate.comparison));
  if (estimate.centers) {
    text.append("  centers of pressure are off by ").append(io::Fixed(1000 * estimate.centers->along, 0));
    text.append(" mm along the foot and ").append(io::Fixed(1000 * estimate.centers->across, 0));
    text.append(" mm across it, on average\n");
  }
  for (const std::string& warning : estimate.warnings) text.append("  warning: ").append(warning).append("\n");
  return text;
}

}  // namespace retrace::runs
