#include "retrace/jobs/inverse_dynamics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "force_page.h"
#include "gait_files.h"
#include "measured_comparison.h"
#include "residuals.h"
#include "retrace/character/segments.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/xml.h"
#include "retrace/jobs/forces.h"
#include "retrace/jobs/job_manifest.h"
#include "retrace/kinetics/force_estimate.h"
#include "retrace/kinetics/smoothing_choice.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/gait_cycles.h"
#include "retrace/report/force_chart.h"

namespace retrace::runs {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// How far a measured force lies from the estimated one in 95 % of the time, as shares of body weight: vertical,
/// fore-aft, lateral. Counted on the public trials (scripts/experiments/forces), each with the same weight.
struct Uncertainty {
  std::array<double, 3> total;
  std::array<double, 3> alone;  ///< of a foot that carries alone
  std::array<double, 3> both;   ///< of one where both carry
  std::array<double, 3> free;   ///< of one that carries nothing
};
constexpr Uncertainty kUncertainty = {
    {0.08, 0.072, 0.048}, {0.08, 0.062, 0.046}, {0.20, 0.078, 0.083}, {0.03, 0.02, 0.01}};
constexpr double kTimeUncertainty = 0.015;  // besides, a force may be so early or late [s]

/// The entry of a pose: the first and the last one have what is beside them.
const metrics::RequiredForces& At(const std::vector<metrics::RequiredForces>& motion, size_t pose) {
  return motion[std::min(pose == 0 ? 0 : pose - 1, motion.size() - 1)];
}

/// Adds what a body carries to that of its plate.
void AddTo(metrics::AppliedForce& plate, const metrics::SupportForce& support) {
  const Vec3 force = plate.force + support.force;
  const double before = plate.force.y(), added = support.force.y();
  const Vec3 point = before + added > 0 ? Vec3((before * plate.point + added * support.center) / (before + added))
                                        : Vec3(support.center);
  plate.moment += (plate.point - point).cross(plate.force) + (support.center - point).cross(support.force) +
                  support.free_moment * Vec3::UnitY();
  plate.force = force;
  plate.point = point;
}

/// What sits on a seat is one plate: the pelvis with its thighs.
std::vector<int> SeatBodies(const character::Character& character) {
  std::vector<int> bodies = {character.root};
  for (const character::Joint& joint : character.joints) {
    const std::string& segment = character.bodies[static_cast<size_t>(joint.child)].segment;
    if (joint.parent == character.root && segment.ends_with("_thigh")) bodies.push_back(joint.child);
  }
  return bodies;
}

metrics::GroundForces GroundOf(const character::Character& character,
                               const std::vector<metrics::RequiredForces>& motion, size_t num_poses) {
  metrics::GroundForces ground;
  ground.num_states = num_poses;
  std::vector<int> plate_of(character.bodies.size(), -1);
  const auto add = [&](const metrics::ForcePlate& plate) {
    for (const int body : plate.bodies) plate_of[static_cast<size_t>(body)] = static_cast<int>(ground.plates.size());
    ground.plates.push_back(plate);
    ground.forces.emplace_back(num_poses);
  };
  for (const metrics::ForcePlate& plate : metrics::ForcePlates(character, {})) add(plate);
  const std::vector<int> seat = SeatBodies(character);
  for (const auto& instant : motion) {
    for (const metrics::SupportForce& support : instant.support) {
      if (plate_of[static_cast<size_t>(support.body)] >= 0) continue;
      const bool sits = std::find(seat.begin(), seat.end(), support.body) != seat.end();
      add(sits ? metrics::ForcePlate{character.root, seat} : metrics::ForcePlate{support.body, {support.body}});
    }
  }
  for (size_t i = 0; i < num_poses; ++i) {
    for (const metrics::SupportForce& support : At(motion, i).support) {
      AddTo(ground.forces[static_cast<size_t>(plate_of[static_cast<size_t>(support.body)])][i], support);
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

/// The estimated forces of the feet and of what else carries, at the poses.
std::vector<std::vector<metrics::SupportForce>> AtPoses(const std::vector<metrics::RequiredForces>& motion,
                                                        size_t num_poses) {
  std::vector<std::vector<metrics::SupportForce>> supports;
  for (size_t i = 0; i < num_poses; ++i) supports.push_back(At(motion, i).support);
  return supports;
}

/// Channels with half widths added or taken away.
results::Channels Shifted(results::Channels channels, const Eigen::MatrixXd& half, double sign) {
  channels.values += sign * half;
  return channels;
}

/// The fastest change of a channel near an instant [1/s].
double SlopeAt(const Eigen::MatrixXd& values, Eigen::Index row, Eigen::Index column, double step) {
  constexpr Eigen::Index kNear = 2;
  double most = 0;
  const Eigen::Index last = values.rows() - 1;
  for (Eigen::Index i = std::max<Eigen::Index>(0, row - kNear); i <= std::min(last, row + kNear); ++i) {
    const Eigen::Index before = std::max<Eigen::Index>(0, i - 1), after = std::min(last, i + 1);
    if (after == before) continue;
    const double slope =
        (values(after, column) - values(before, column)) / (static_cast<double>(after - before) * step);
    most = std::max(most, std::abs(slope));
  }
  return most;
}

/// Half widths of the band of FootForceChannels [N].
Eigen::MatrixXd FootHalfWidths(const metrics::FootForces& forces, const results::Channels& channels, double weight,
                               double step) {
  const double carries = metrics::kFootLoaded * weight;
  Eigen::MatrixXd half(forces.total.rows(), 9);
  for (Eigen::Index i = 0; i < half.rows(); ++i) {
    const bool left = forces.left(i, 1) > carries, right = forces.right(i, 1) > carries;
    const auto of_foot = [&](bool on) -> const std::array<double, 3>& {
      if (!on) return kUncertainty.free;
      return left && right ? kUncertainty.both : kUncertainty.alone;
    };
    const std::array<double, 3>* const shares[] = {&kUncertainty.total, &of_foot(left), &of_foot(right)};
    for (Eigen::Index c = 0; c < half.cols(); ++c) {
      const double share = (*shares[c / 3])[static_cast<size_t>(c % 3)];
      half(i, c) = std::hypot(share * weight, kTimeUncertainty * SlopeAt(channels.values, i, c, step));
    }
  }
  return half;
}

/// The total was measured only while nothing but the feet carries.
void ForgetTotals(const metrics::FootForces& forces, double weight, results::Channels& measured) {
  const metrics::VectorSeries beside = forces.total - forces.left - forces.right;
  for (Eigen::Index i = 0; i < std::min(beside.rows(), measured.values.rows()); ++i) {
    if (beside(i, 1) > metrics::kFootLoaded * weight) measured.values.row(i).head<3>().setConstant(kNothing);
  }
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
    const results::Channels channels = results::FootForceChannels(forces, job.reference(), heading, step, names.cutoff);
    const results::BandedChannels bands = WithBand(channels, FootHalfWidths(forces, channels, weight, step));
    std::optional<results::Channels> measured;
    if (estimate.measured) measured = MeasuredChannels(job, *estimate.measured, step, names.cutoff);
    if (measured) ForgetTotals(forces, weight, *measured);
    const results::Channels* const line = measured ? &*measured : nullptr;
    folder.Write(names.feet, results::FormatBands(bands, step, names.cutoff, line));
    if (names.cutoff > 0) {
      folder.Write(results::kForceChartFile,
                   report::FormatForceChart(bands, line, step, names.cutoff, job.options.clip.file.stem().string(),
                                            {"estimated", "95 % of plates"}));
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
  metrics::MeasurementPlace place = PlaceOf(job);
  const character::ReferenceOptions& options = job.configuration.task.reference;
  place.heading = options.facing ? *options.facing - job.prepared->report.facing : 0;
  place.mirrored = options.mirror;
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
    const double time = place.start + static_cast<double>(i) * job.reference().frame_time() / place.time_scale;
    text += io::Number(time);
    for (const auto& forces : estimate.ground.forces) {
      const metrics::AppliedForce& applied = forces[i];
      const bool on = applied.force.y() > 0;
      const Vec3 point = on ? place.ToRecording(applied.point + floor, time) : Vec3(Vec3::Zero());
      for (const Vec3& vector :
           {place.ForceToRecording(applied.force), point, place.MomentToRecording(applied.moment)}) {
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
  RequireRecordedClock(job);
  ForceEstimate estimate;
  const character::ReferenceMotion& reference = job.reference();
  const auto feet = kinetics::FootModelsOf(job.character(), job.prepared->clip, job.prepared->report);
  kinetics::ForceEstimateOptions how;
  how.gravity = job.configuration.task.world.gravity;
  how.friction = job.configuration.task.world.friction;
  how.environment = job.prepared->placed.environment;
  estimate.motion = kinetics::EstimateForces(reference, feet, how);
  if (estimate.motion.empty()) {
    throw InputError(job.options.clip.file.string(), "a motion of fewer than three poses", "one that accelerates");
  }
  const size_t poses = reference.poses().size();
  const double smoothing = job.configuration.task.reference.smoothing;
  if (options.reduce_residuals && !options.use_measured) {
    ReduceResiduals(job, AtPoses(estimate.motion, poses), false, estimate);
    estimate.motion = kinetics::EstimateForces(*estimate.reduced->motion, feet, how);
  }
  estimate.ground = GroundOf(job.character(), estimate.motion, poses);
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
    auto supports = SupportsOf(job, *estimate.measured);
    const character::ReferenceMotion* motion = &reference;
    if (options.reduce_residuals) {
      supports = Smoothed(supports, smoothing, reference.frame_time());
      ReduceResiduals(job, supports, true, estimate);
      motion = &*estimate.reduced->motion;
    }
    estimate.motion = kinetics::ApplyForces(*motion, supports, how.gravity);
    estimate.notes.emplace_back("joint loads follow from the measured forces");
  }
  estimate.joint_loads = LoadsOf(job.character(), estimate.motion, poses);
  return estimate;
}

void WriteForceEstimate(results::RunFolder& folder, const Job& job, ForceEstimate& estimate,
                        const InverseDynamicsOptions& options, const RunContext& context) {
  WriteTables(folder, job, estimate);
  WriteOpenSim(folder, job, estimate);
  WriteResiduals(folder, job, estimate);
  if (std::string events = WriteFootEvents(folder, job, estimate); !events.empty()) {
    estimate.notes.push_back(std::move(events));
  }
  if (options.cycles || options.report) estimate.notes.push_back(WriteGaitCycles(folder, job, estimate));
  if (options.report) WriteForcePage(folder, job, estimate);
  io::Json manifest = BeginManifest("forces", "completed");
  manifest["format"] = "retrace-forces";
  manifest["forces"] = {{"mass", job.character().total_mass()},
                        {"method", "inverse dynamics"},
                        {"smoothing", job.configuration.task.reference.smoothing},
                        {"residual_force_weights", ResidualOf(job, estimate)},
                        {"low_pass_hz", results::kTableCutoff},
                        {"notes", estimate.notes},
                        {"warnings", estimate.warnings}};
  if (estimate.reduced) manifest["residuals"] = ResidualsToJson(*estimate.reduced);
  AddJob(job, job.configuration.sampling.seed, context, manifest);
  if (estimate.comparison) {
    folder.Write(results::kForceComparisonFile, results::FormatForceComparison(*estimate.comparison));
    manifest["force_comparison"] = estimate.comparison->ToJson();
    manifest["force_comparison"]["delay"] = job.options.measured_delay.value_or(estimate.delay);
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

std::string Summary(const ForceEstimate& estimate) {
  std::string text = "forces estimated";
  if (estimate.comparison) {
    const auto error = [&](const char* part) {
      return io::Fixed(
          estimate.comparison->At("run", results::kTableCutoff, part, metrics::ForceComponent::kVertical).rmse, 1);
    };
    text = "vertical force off by " + error("total") + " % of body weight, left foot " + error("left") +
           ", right foot " + error("right");
  }
  if (!estimate.warnings.empty()) text += "; warning: " + estimate.warnings.front();
  return text;
}

}  // namespace retrace::runs
