#include "retrace/jobs/forces.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/control/control_file.h"
#include "retrace/exports/formats.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/remedy.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/kinetics/plate_placement.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/sampling/seeds.h"
#include "retrace/metrics/motion_metrics.h"
#include "retrace/motion_editing/ballistic_flight.h"
#include "retrace/report/force_chart.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {
namespace {

/// Forces that miss more than this of what the recording requires, as a share of body weight, are not to be trusted.
constexpr double kUntrustworthy = 0.2;
/// Options::guidance_feedback of tracking::Options where what forces guide has exceeded the tolerances [1/s^2].
constexpr double kFirmFeedback = 200;
/// A comparison needs so much of a motion that ended early [s].
constexpr double kShortestCompared = 0.25;

std::vector<double> TimesOf(size_t num_states, double time_step) {
  std::vector<double> times;
  for (size_t i = 0; i < num_states; ++i) times.push_back(static_cast<double>(i) * time_step);
  return times;
}

/// The recorded motion without forces in the air, by which controls are compared whatever they follow.
character::ReferenceMotion FallingFreely(const Job& job) {
  if (!job.configuration.tracking.ballistic_flight) return job.reference();
  return job.reference().WithPoses(
      task::MakeFlightBallistic(job.reference(), job.prepared->placed.environment, job.configuration.task.world.gravity)
          .poses);
}

/// Mass of the person who was measured [kg].
double MeasuredMass(const Job& job) {
  return job.options.mass.value_or(job.character().total_mass());
}

std::string HashOf(const Job& job, const control::OpenLoopControl& control) {
  io::Sha256Sum sum;
  control::WriteControl(job.character(), control, [&](std::string_view piece) { sum.Add(piece); });
  return sum.Finish();
}

/// The first states of a measurement.
metrics::MeasuredSteps FirstOf(const metrics::MeasuredSteps& measured, size_t num_states) {
  const auto n = static_cast<Eigen::Index>(std::min(num_states, measured.valid.size()));
  metrics::MeasuredSteps first;
  first.forces = {measured.forces.total.topRows(n), measured.forces.left.topRows(n), measured.forces.right.topRows(n)};
  first.valid.assign(measured.valid.begin(), measured.valid.begin() + n);
  return first;
}

/// Finds one control after the other.
class ForceFinder {
 public:
  ForceFinder(Job& job, parallel::TaskFarm& farm, const ForceOptions& options, const ForceHooks& hooks)
      : job_(job),
        farm_(farm),
        options_(options),
        hooks_(hooks),
        original_(job.configuration),
        falling_(FallingFreely(job)) {}

  void Find(int index) {
    const Method asked = original_.run.method;
    const bool too_long = asked == Method::kAuto && job_.reference().duration() > kLongestTracked;
    if (asked == Method::kSampling || too_long) return Add(index, "", Method::kSampling);
    bool found = Track(index, WaysOf(original_.tracking));
    if (!found) found = Track(index, FirmerWaysOf(original_.tracking));
    if (!found && original_.tracking.guidance > 0) {
      job_.configuration.tracking = original_.tracking;
      job_.configuration.tracking.guidance = 0;
      Add(index, "not guided", Method::kTracking);
      found = forces_.controls.back().success;
    }
    if (found) way_ = forces_.controls[forces_.chosen].way;
    job_.configuration.tracking = original_.tracking;
    if (!found && asked == Method::kAuto) Add(index, "", Method::kSampling);
  }

  Forces Finish() {
    Use(chosen_index_);
    job_.configuration.tracking = chosen_tracking_;
    job_.configuration.run.method = original_.run.method;
    const ForceControl& chosen = forces_.controls[forces_.chosen];
    for (size_t k = 0; k < forces_.controls.size(); ++k) {
      const ForceControl& control = forces_.controls[k];
      if (control.way == chosen.way && control.success == chosen.success) forces_.band.push_back(k);
    }
    std::vector<metrics::GroundForces*> grounds;
    for (ForceSignals& signals : forces_.signals) grounds.push_back(&signals.ground);
    metrics::SharePlates(grounds);
    Compare();
    return std::move(forces_);
  }

 private:
  /// One control for each variant, or for the one that came nearest before. Returns whether one stays within tolerance.
  bool Track(int index, const std::vector<std::pair<std::string, tracking::Options>>& ways) {
    bool found = false;
    for (const auto& [way, options] : ways) {
      if (way_ && way != *way_) continue;
      job_.configuration.tracking = options;
      Add(index, way, Method::kTracking);
      found = found || forces_.controls.back().success;
    }
    return found;
  }

  /// One more control.
  void Add(int index, const std::string& way, Method method) {
    const tracking::Options tracking = job_.configuration.tracking;
    Use(index);
    job_.configuration.run.method = method;
    sampling::SeededFarm seeded(farm_, job_.configuration.sampling.seed);
    Reconstruction result = FindControl(job_, seeded, hooks_.search);
    if (hooks_.on_search_end) hooks_.on_search_end();
    const control::Trajectory trajectory = control::Replay(job_.character(), result.control());
    forces_.signals.push_back({metrics::GroundForcesOf(job_.character(), trajectory),
                               results::JointLoadChannels(job_.character(), trajectory)});
    ForceControl control = Measure(result, trajectory, forces_.signals.back().ground);
    control.way = way;
    Report(index, control);
    forces_.controls.push_back(std::move(control));
    if (forces_.controls.size() == 1 || IsBetter(forces_.controls.back(), forces_.controls[forces_.chosen])) {
      forces_.chosen = forces_.controls.size() - 1;
      forces_.run = std::move(result);
      chosen_index_ = index;
      chosen_tracking_ = job_.configuration.tracking;
    }
    job_.configuration.tracking = tracking;
  }

  ForceControl Measure(const Reconstruction& result, const control::Trajectory& trajectory,
                       const metrics::GroundForces& ground) const {
    const metrics::MotionMetrics metrics =
        metrics::MeasureMotion(job_.character(), trajectory, job_.reference(), job_.prepared->placed.environment,
                               job_.configuration.task.world.gravity);
    ForceControl control;
    const bool tracked = result.method == Method::kTracking;
    control.seed = tracked ? job_.configuration.tracking.seed : job_.configuration.sampling.seed;
    control.perturbation = tracked ? job_.configuration.tracking.perturbation : 0;
    control.method = result.method;
    control.success = result.success();
    control.joint_error = result.evaluation.mean_joint_error;
    control.newton_error = metrics.force_error;
    control.required_error = std::numeric_limits<double>::quiet_NaN();
    control.largest_step_force = metrics.force_peak;
    control.control_sha256 = HashOf(job_, result.control());
    if (const auto feet = metrics::FindFeet(job_.character(), ground.plates)) {
      control.required_error =
          metrics::RequiredForceError(TimesOf(ground.num_states, job_.problem.time_step()), ground, *feet,
                                      job_.character().total_mass(), falling_, job_.configuration.task.world.gravity);
    }
    return control;
  }

  /// The first control has the configuration as it is; the others begin elsewhere.
  void Use(int index) {
    job_.SetSeed(original_.sampling.seed + static_cast<uint64_t>(index));
    if (index > 0) {
      job_.configuration.tracking.perturbation = std::max(original_.tracking.perturbation, options_.perturbation);
    }
  }

  static bool IsBetter(const ForceControl& a, const ForceControl& b) {
    if (a.success != b.success) return a.success;
    const auto error = [](const ForceControl& c) {
      const double known = std::isnan(c.required_error) ? c.newton_error : c.required_error;
      return std::isnan(known) ? std::numeric_limits<double>::infinity() : known;
    };
    return error(a) < error(b);
  }

  void Compare() {
    const std::optional<metrics::MeasuredSteps> measured = MeasuredOf(job_);
    if (!measured) return;
    const metrics::GroundForces& ground = forces_.signals[forces_.chosen].ground;
    const double time_step = job_.problem.time_step();
    forces_.measured = FirstOf(*measured, ground.num_states);
    const auto first = std::find(measured->valid.begin(), measured->valid.end(), true);
    const auto begin = static_cast<size_t>(first - measured->valid.begin());
    if (static_cast<double>(ground.num_states) * time_step <
        static_cast<double>(begin) * time_step + kShortestCompared) {
      return;
    }
    const metrics::FootForces simulated =
        metrics::FootForcesOf(ground, *metrics::FindFeet(job_.character(), ground.plates));
    const std::vector<double> times = TimesOf(ground.num_states, time_step);
    forces_.comparison = metrics::CompareForces({times, simulated, job_.character().total_mass(), *forces_.measured,
                                                 MeasuredMass(job_), job_.reference(), PlaceOf(job_).heading});
  }

  void Report(int index, const ForceControl& control) const {
    if (!hooks_.report) return;
    std::string text = "  seed " + std::to_string(index + 1);
    text.append(" of ").append(std::to_string(options_.controls)).append(": ").append(Name(control.method));
    if (!control.way.empty()) text.append(" (").append(control.way).append(")");
    text.append(control.success ? ", within tolerance" : ", out of tolerance");
    text.append(", joint error ").append(io::Fixed(control.joint_error, 3));
    text.append(" m, forces of the feet off what the recording requires by ");
    text.append(io::Fixed(100 * control.required_error, 1));
    hooks_.report(text.append(" % of body weight\n"));
  }

  Job& job_;
  parallel::TaskFarm& farm_;
  const ForceOptions& options_;
  const ForceHooks& hooks_;
  const Configuration original_;
  const character::ReferenceMotion falling_;
  Forces forces_;
  std::optional<std::string> way_;  // that came nearest with the first seed of which one stayed within tolerance
  // of the chosen control
  int chosen_index_ = 0;
  tracking::Options chosen_tracking_;
};

io::Json ToJson(const std::vector<ForceControl>& controls) {
  io::Json list = io::Json::array();
  for (const ForceControl& control : controls) {
    list.push_back(
        {{"seed", control.seed},
         {"perturbation", control.perturbation},
         {"way", control.way},
         {"method", Name(control.method)},
         {"success", control.success},
         {"joint_error", control.joint_error},
         {"newton_error", std::isfinite(control.newton_error) ? io::Json(control.newton_error) : io::Json()},
         {"required_error", std::isfinite(control.required_error) ? io::Json(control.required_error) : io::Json()},
         {"largest_step_force_weights", control.largest_step_force},
         {"control_sha256", control.control_sha256}});
  }
  return list;
}

/// force_controls.csv.
std::string FormatControls(const Forces& forces) {
  io::CsvWriter csv;
  for (const char* column : {"control", "seed", "perturbation", "way", "method", "success", "chosen", "in_band",
                             "joint_error", "newton_error", "required_error", "largest_step_force_weights"}) {
    csv.Text(column);
  }
  csv.EndRow();
  for (size_t k = 0; k < forces.controls.size(); ++k) {
    const ForceControl& control = forces.controls[k];
    csv.Integer(static_cast<int>(k + 1));
    csv.Text(std::to_string(control.seed));
    csv.Number(control.perturbation);
    csv.Text(control.way);
    csv.Text(Name(control.method));
    csv.Integer(control.success ? 1 : 0);
    csv.Integer(k == forces.chosen ? 1 : 0);
    csv.Integer(std::find(forces.band.begin(), forces.band.end(), k) != forces.band.end() ? 1 : 0);
    csv.Number(control.joint_error);
    csv.NumberOrEmpty(control.newton_error);
    csv.NumberOrEmpty(control.required_error);
    csv.Number(control.largest_step_force);
    csv.EndRow();
  }
  return csv.Take();
}

/// Channels of the controls of the band.
template <typename MakeChannels>
results::BandedChannels Banded(const Forces& forces, const MakeChannels& make) {
  results::BandedChannels bands;
  bands.motion = 0;
  for (const size_t k : forces.band) {
    if (k == forces.chosen) bands.motion = bands.controls.size();
    bands.controls.push_back(make(forces.signals[k]));
  }
  return bands;
}

/// A measurement as FootForceChannels has it; not a number where it is not valid.
void WriteTables(results::RunFolder& folder, const Job& job, const Forces& forces) {
  const double step = job.problem.time_step();
  struct Names {
    std::string_view ground, joints, feet;
    double cutoff;
  };
  for (const Names& names : {Names{results::kGroundForcesFile, results::kJointLoadsFile, results::kFootForcesFile, 0},
                             Names{results::kSmoothGroundForcesFile, results::kSmoothJointLoadsFile,
                                   results::kSmoothFootForcesFile, results::kTableCutoff}}) {
    const double cutoff = names.cutoff;
    const auto ground = [&](const ForceSignals& signals) {
      return results::GroundForceChannels(job.character(), signals.ground, step, cutoff);
    };
    const auto joints = [&](const ForceSignals& signals) {
      return results::LowPassed(signals.joint_loads, step, cutoff);
    };
    folder.Write(names.ground, results::FormatBands(Banded(forces, ground), step, cutoff));
    folder.Write(names.joints, results::FormatBands(Banded(forces, joints), step, cutoff));
    const auto feet = metrics::FindFeet(job.character(), forces.signals[forces.chosen].ground.plates);
    if (!feet) continue;
    const auto of_feet = [&](const ForceSignals& signals) {
      return results::FootForceChannels(metrics::FootForcesOf(signals.ground, *feet), job.reference(),
                                        PlaceOf(job).heading, step, cutoff);
    };
    const results::BandedChannels bands = Banded(forces, of_feet);
    std::optional<results::Channels> measured;
    if (forces.measured) measured = MeasuredChannels(job, *forces.measured, step, cutoff);
    const results::Channels* const line = measured ? &*measured : nullptr;
    folder.Write(names.feet, results::FormatBands(bands, step, cutoff, line));
    if (cutoff > 0) {
      folder.Write(results::kForceChartFile,
                   report::FormatForceChart(bands, line, step, cutoff, job.options.clip.file.stem().string()));
    }
  }
}

/// The files that OpenSim reads.
void WriteOpenSim(results::RunFolder& folder, const Job& job, const Forces& forces) {
  const control::OpenLoopControl& control = forces.run.control();
  const control::Trajectory trajectory = control::Replay(job.character(), control);
  const exports::ExportedMotion motion{job.character(), control, trajectory, job.options.clip.file.stem().string()};
  const std::vector<std::string> names = exports::FilesOf(exports::ExportFormat::kSto);
  const std::vector<std::string> texts =
      exports::Format(exports::ExportFormat::kSto, {&motion, 1}, exports::DefaultRate(exports::ExportFormat::kSto));
  for (size_t i = 0; i < names.size(); ++i) {
    folder.Write(std::string(results::kExportFolder).append("/").append(names[i]), texts[i]);
  }
}

std::string FigureLine(const metrics::ForceComparison& comparison, const std::string& source, const std::string& part) {
  std::string text = "    " + (source == "run" ? part + (part == "total" ? "" : " foot") : source);
  text.append(text.size() < 18 ? 18 - text.size() : 1, ' ');
  for (const auto component :
       {metrics::ForceComponent::kVertical, metrics::ForceComponent::kForeAft, metrics::ForceComponent::kLateral}) {
    const metrics::ForceFigures& figures = comparison.At(source, results::kTableCutoff, part, component);
    text.append("  ").append(Name(component)).append(" ").append(io::Fixed(figures.rmse, 1)).append(" %");
    if (std::isfinite(figures.r)) text.append(", r ").append(io::Fixed(figures.r, 3));
  }
  return text.append("\n");
}

std::string DescribeTiming(const char* event, const metrics::ContactTiming& timing) {
  std::string text = event;
  text.append(" ").append(std::to_string(timing.matched)).append(" of ").append(std::to_string(timing.measured));
  if (timing.mean_absolute) text.append(", off by ").append(io::Fixed(*timing.mean_absolute, 0)).append(" ms");
  return text;
}

}  // namespace

results::Channels MeasuredChannels(const Job& job, const metrics::MeasuredSteps& measured, double time_step,
                                   double cutoff) {
  results::Channels channels =
      results::FootForceChannels(measured.forces, job.reference(), PlaceOf(job).heading, time_step, cutoff);
  for (size_t i = 0; i < measured.valid.size(); ++i) {
    if (measured.valid[i]) continue;
    channels.values.row(static_cast<Eigen::Index>(i)).setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  return channels;
}

void RequireRecordedClock(const Job& job) {
  if (job.options.clip.retimings.empty()) return;
  throw UsageError("found parts of the clip that are retimed, expected none: forces are those of the recorded motion");
}

metrics::MeasurementPlace PlaceOf(const Job& job) {
  const character::ReferenceOptions& reference = job.configuration.task.reference;
  metrics::MeasurementPlace place;
  const character::ReferenceReport& report = job.prepared->report;
  const double lead_in = report.lead_in_frames / report.frame_rate;
  place.start = job.prepared->clip.start_time + std::max(reference.start, lead_in);
  place.time_scale = reference.time_scale;
  place.delay = job.options.measured_delay.value_or(0);
  place.scale = report.scale / report.unit;
  if (reference.facing) place.heading = *reference.facing - report.facing;
  if (report.belt) {
    place.belt = AxisRotation(1, place.heading) * report.belt->velocity;
    place.belt_start = job.prepared->clip.start_time + lead_in;
  }
  place.mirrored = reference.mirror;
  place.exchanged = job.options.measured_exchanged;
  if (job.options.measured_heading) place.heading += *job.options.measured_heading;
  if (!job.measured) return place;
  const auto found = kinetics::FindPlacement(*job.measured, place, job.reference());
  if (!found || !found->Clear()) return place;
  if (!job.options.measured_heading) {
    place.heading = found->heading;
    place.mirrored = found->mirrored;
  }
  if (found->exchanged && !place.exchanged) {
    throw WithHint<InputError>({Remedy::kExchangedSides, Remedy::kMirroring}, job.options.measured.string(),
                               "forces named after one foot under the other one, " +
                                   io::Fixed(found->other_distance, 2) + " m from its center on average and " +
                                   io::Fixed(found->own_distance, 2) + " m from that of their own",
                               "left and right as the motion has them: they are exchanged here, or in the motion");
  }
  return place;
}

Configuration ForcesConfiguration() {
  Configuration configuration;
  configuration.task.world.contact_stiffness = 1e5;
  configuration.task.world.contact_damping = 1e3;
  configuration.task.reference.smoothing = 0.015;  // a low-pass of 8.8 Hz: feet strike faster than at 5.3 Hz
  configuration.tracking.solve_rate = 240;
  configuration.tracking.guidance = 100;
  configuration.tracking.candidates = 48;
  configuration.tracking.passes = 8;
  configuration.run.baseline = Baseline::kReference;  // tracking with so many candidates is no preparation of a search
  return configuration;
}

std::vector<std::pair<std::string, tracking::Options>> WaysOf(const tracking::Options& options) {
  std::vector<std::pair<std::string, tracking::Options>> ways = {{"as configured", options}};
  if (options.guidance == 0 || !options.clean_feet || options.seat_feet || options.soft_contacts) return ways;
  tracking::Options other = options;
  other.clean_feet = false;
  ways.emplace_back("feet as recorded", other);
  other.seat_feet = true;
  ways.emplace_back("feet pressed in by their load", other);
  return ways;
}

std::vector<std::pair<std::string, tracking::Options>> FirmerWaysOf(const tracking::Options& options) {
  if (options.guidance == 0) return {};
  tracking::Options firmer = options;
  firmer.guidance_feedback = std::max(kFirmFeedback, options.guidance_feedback);
  auto ways = WaysOf(firmer);
  for (auto& [way, of_way] : ways) way.append(" and firm");
  return ways;
}

std::optional<metrics::MeasuredSteps> MeasuredOf(const Job& job) {
  if (!job.measured) return std::nullopt;
  const std::string name = job.options.measured.string();
  if (job.configuration.task.reference.loop) {
    throw UsageError(name + ": found measured forces of a clip whose cycle is repeated, expected one as recorded");
  }
  if (!metrics::FindFeet(job.character(), metrics::ForcePlates(job.character(), {}))) {
    throw InputError(
        name, "a character without a body of the segment left_foot and one of right_foot: " + job.character().name,
        "one with both, to compare with measured forces");
  }
  const auto steps = static_cast<size_t>(job.problem.task.schedule.steps.back());
  return metrics::MeasuredOnSteps(*job.measured, name, PlaceOf(job), job.reference(),
                                  TimesOf(steps + 1, job.problem.time_step()));
}

Forces FindForces(Job& job, parallel::TaskFarm& farm, const ForceOptions& options, const ForceHooks& hooks) {
  RequireRecordedClock(job);
  ForceFinder finder(job, farm, options, hooks);
  for (int index = 0; index < options.controls; ++index) finder.Find(index);
  return finder.Finish();
}

void WriteForces(results::RunFolder& folder, const Job& job, const Forces& forces, const RunContext& context,
                 const io::Json& more) {
  WriteTables(folder, job, forces);
  WriteOpenSim(folder, job, forces);
  folder.Write(results::kForceControlsFile, FormatControls(forces));
  io::Json all = {{"program", "forces"},
                  {"forces",
                   {{"mass", job.character().total_mass()},
                    {"controls", ToJson(forces.controls)},
                    {"chosen", forces.chosen + 1},
                    {"controls_in_band", forces.band.size()},
                    {"low_pass_hz", results::kTableCutoff}}}};
  if (forces.comparison) {
    folder.Write(results::kForceComparisonFile, results::FormatForceComparison(*forces.comparison));
    all["force_comparison"] = forces.comparison->ToJson();
    all["force_comparison"]["file"] = job.options.measured.string();
    all["force_comparison"]["mass"] = MeasuredMass(job);
  }
  all.update(more);
  WriteRun(folder, job, forces.run, context, KeptFiles::kAll, all);
}

std::string DescribeComparison(const metrics::ForceComparison& comparison) {
  std::string text;
  text.append("  against the measured forces, ").append(io::Fixed(comparison.start, 2)).append(" to ");
  text.append(io::Fixed(comparison.end, 2)).append(" s, root mean square error in body weights after a low-pass of ");
  text.append(io::Fixed(results::kTableCutoff, 0)).append(" Hz:\n");
  for (const char* part : {"total", "left", "right"}) text.append(FigureLine(comparison, "run", part));
  for (const char* source : {"newton_6Hz", "newton_12Hz", "body_weight"}) {
    text.append(FigureLine(comparison, source, "total"));
  }
  text.append("  ").append(DescribeTiming("contact onsets", comparison.onset)).append("; ");
  text.append(DescribeTiming("offsets", comparison.offset)).append("; largest step force ");
  text.append(io::Fixed(comparison.largest_step_force, 2)).append(" body weights, measured ");
  return text.append(io::Fixed(comparison.largest_measured_force, 2)).append("\n");
}

std::string Describe(const Forces& forces) {
  std::string text = "  control " + std::to_string(forces.chosen + 1);
  text.append(" is the run: its feet are nearest to the forces that the recording requires; the band has ");
  text.append(std::to_string(forces.band.size())).append(" of ").append(std::to_string(forces.controls.size()));
  text.append(" controls\n");
  const ForceControl& chosen = forces.controls[forces.chosen];
  if (!chosen.success || chosen.required_error > kUntrustworthy) {
    text.append("  these forces show when feet are loaded and little else: ");
    text.append(chosen.success ? "they miss " + io::Fixed(100 * chosen.required_error, 0) +
                                     " % of body weight of what the recording requires\n"
                               : "the motion does not stay within tolerance\n");
  }
  if (!forces.comparison) {
    return forces.measured ? text.append("  the run ends before it can be compared with what was measured\n") : text;
  }
  return text.append(DescribeComparison(*forces.comparison));
}

}  // namespace retrace::runs
