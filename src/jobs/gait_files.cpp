#include "gait_files.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/jobs/forces.h"
#include "retrace/metrics/gait_cycles.h"
#include "retrace/report/cycle_chart.h"
#include "retrace/results/cycle_table.h"

namespace retrace::runs {
namespace {

constexpr double kMatchedEvents = 0.1;  // farthest event of the plates [s]
constexpr double kNoEvent = std::numeric_limits<double>::quiet_NaN();

const char* SideName(bool left) {
  return left ? "left" : "right";
}

/// Stances by the plates; those at the edges of what was measured have no events there.
std::vector<metrics::StancePhase> MeasuredStances(const Job& job, const ForceEstimate& estimate) {
  if (!estimate.measured) return {};
  const double step = job.reference().frame_time();
  std::vector<metrics::StancePhase> stances =
      metrics::FindStances(estimate.measured->forces, job.options.mass.value_or(job.character().total_mass()), step);
  const std::vector<bool>& valid = estimate.measured->valid;
  const auto known = [&](const std::optional<double>& time) {
    if (!time) return false;
    const auto at = static_cast<size_t>(std::lround(*time / step));
    return at < valid.size() && valid[at];
  };
  for (metrics::StancePhase& stance : stances) {
    if (!known(stance.strike)) stance.strike.reset();
    if (!known(stance.off)) stance.off.reset();
  }
  return stances;
}

double NearestEvent(const std::vector<metrics::StancePhase>& stances, bool left, bool strike, double time) {
  double nearest = kNoEvent;
  for (const metrics::StancePhase& stance : stances) {
    const std::optional<double>& event = strike ? stance.strike : stance.off;
    if (stance.left != left || !event || std::abs(*event - time) > kMatchedEvents) continue;
    if (std::isnan(nearest) || std::abs(*event - time) < std::abs(nearest - time)) nearest = *event;
  }
  return nearest;
}

std::optional<std::vector<metrics::StancePhase>> StancesOf(const Job& job, const ForceEstimate& estimate) {
  const auto feet = metrics::FindFeet(job.character(), estimate.ground.plates);
  if (!feet) return std::nullopt;
  return metrics::FindStances(metrics::FootForcesOf(estimate.ground, *feet), job.character().total_mass(),
                              job.reference().frame_time());
}

std::vector<results::CycleSource> ForceSources(bool left) {
  const std::string side = std::string(SideName(left)) + "_";
  return {{"vertical", "N/kg", side + "vertical", 1},
          {"fore_aft", "N/kg", side + "fore_aft", 1},
          {"medial", "N/kg", side + "lateral", left ? -1.0 : 1.0}};
}

/// Curves of both sides over cycles, low-passed as the tables are.
results::CycleCurves CurvesOver(const Job& job, const ForceEstimate& estimate,
                                const std::vector<metrics::GaitCycle>& cycles) {
  const double step = job.reference().frame_time(), mass = job.character().total_mass();
  const double cutoff = results::kTableCutoff;
  const auto feet = metrics::FindFeet(job.character(), estimate.ground.plates);
  const double heading = job.measured ? PlaceOf(job).heading : 0;
  const results::Channels forces =
      results::FootForceChannels(metrics::FootForcesOf(estimate.ground, *feet), job.reference(), heading, step, cutoff);
  const results::Channels loads = results::LowPassed(estimate.joint_loads, step, cutoff);
  results::CycleCurves curves;
  for (const bool left : {true, false}) {
    std::vector<metrics::GaitCycle> of_side;
    std::copy_if(cycles.begin(), cycles.end(), std::back_inserter(of_side),
                 [&](const metrics::GaitCycle& cycle) { return cycle.left == left; });
    results::CycleCurves::Side& side = left ? curves.left : curves.right;
    results::AddCurves(forces, ForceSources(left), mass, step, of_side, side.curves);
    results::AddCurves(loads, results::LegLoads(job.character(), left), mass, step, of_side, side.curves);
    if (!estimate.measured) continue;
    results::AddCurves(MeasuredChannels(job, *estimate.measured, step, cutoff), ForceSources(left),
                       job.options.mass.value_or(mass), step, of_side, side.measured);
  }
  return curves;
}

std::string FormatCycles(const Job& job, const std::vector<metrics::GaitCycle>& strides) {
  io::CsvWriter writer;
  for (const char* name :
       {"foot", "start", "off", "end", "duration", "stance_percent", "strides_per_minute", "stride_length", "speed"}) {
    writer.Text(name);
  }
  writer.EndRow();
  character::State first, last;
  for (const metrics::GaitCycle& stride : strides) {
    const double duration = stride.end - stride.start;
    job.reference().StateAt(stride.start, first);
    job.reference().StateAt(stride.end, last);
    const auto foot =
        static_cast<size_t>(character::BodyOfSegment(job.character(), std::string(SideName(stride.left)) + "_foot"));
    const auto level = [](const Vec3& way) { return std::hypot(way.x(), way.z()); };
    writer.Text(SideName(stride.left));
    for (const double number :
         {stride.start, stride.off, stride.end, duration, 100 * (stride.off - stride.start) / duration, 60 / duration,
          level(last[foot].position - first[foot].position),
          level(character::CenterOfMass(job.character(), last) - character::CenterOfMass(job.character(), first)) /
              duration}) {
      writer.Short(number);
    }
    writer.EndRow();
  }
  return writer.Take();
}

}  // namespace

std::string WriteFootEvents(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate) {
  const auto stances = StancesOf(job, estimate);
  if (!stances) return "";
  const std::vector<metrics::StancePhase> measured = MeasuredStances(job, estimate);
  struct Event {
    double time;
    bool left, strike;
  };
  std::vector<Event> events;
  for (const metrics::StancePhase& stance : *stances) {
    if (stance.strike) events.push_back({*stance.strike, stance.left, true});
    if (stance.off) events.push_back({*stance.off, stance.left, false});
  }
  if (events.empty()) return "";
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  const metrics::MeasurementPlace place = PlaceOf(job);
  io::CsvWriter writer;
  for (const char* name : {"time", "clock", "foot", "event", "measured_time"}) writer.Text(name);
  writer.EndRow();
  for (const Event& event : events) {
    writer.Short(event.time);
    writer.Short(place.start + event.time / place.time_scale);
    writer.Text(SideName(event.left));
    writer.Text(event.strike ? "foot_strike" : "foot_off");
    writer.ShortOrEmpty(NearestEvent(measured, event.left, event.strike, event.time));
    writer.EndRow();
  }
  folder.Write(results::kFootEventsFile, writer.Take());
  const auto strikes = std::count_if(events.begin(), events.end(), [](const Event& event) { return event.strike; });
  return std::to_string(strikes) + " foot strikes and " +
         std::to_string(static_cast<std::ptrdiff_t>(events.size()) - strikes) + " times feet leave the ground";
}

std::string WriteGaitCycles(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate) {
  const auto stances = StancesOf(job, estimate);
  if (!stances) return "no cycles: the character has not two feet";
  const std::vector<metrics::GaitCycle> strides = metrics::StridesOf(*stances),
                                        whole = metrics::WholeStancesOf(*stances);
  if (strides.empty() && whole.empty()) return "no cycles: no foot is seen from its strike until it leaves the ground";
  folder.Write(results::kGaitCyclesFile, FormatCycles(job, strides));
  const std::string title = job.options.clip.file.stem().string();
  for (const bool stride : {true, false}) {
    const std::vector<metrics::GaitCycle>& cycles = stride ? strides : whole;
    if (cycles.empty()) continue;
    const results::CycleCurves curves = CurvesOver(job, estimate, cycles);
    folder.Write(stride ? results::kStrideCurvesFile : results::kStanceCurvesFile, results::FormatCycleCurves(curves));
    folder.Write(stride ? results::kStrideChartFile : results::kStanceChartFile,
                 report::FormatCycleChart(curves, stride ? "stride" : "stance", title));
  }
  return "curves over " + std::to_string(strides.size()) + " strides and " + std::to_string(whole.size()) + " stances";
}

}  // namespace retrace::runs
