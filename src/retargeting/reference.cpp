#include "retrace/retargeting/reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>

#include "belt.h"
#include "floor_clearance.h"
#include "floor_fit.h"
#include "pose_signal.h"
#include "recorded_spikes.h"
#include "reference_trace.h"
#include "retarget.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/limits.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/filter.h"
#include "retrace/math/rotation.h"
#include "retrace/retargeting/cycle.h"
#include "sagittal_plane.h"

namespace retrace::character {
namespace {

constexpr double kSampleRate = 120;   // of the reference [1/s]
const double kInclined = Radians(2);  // a belt that rises by more is said to
constexpr double kOnSomething = 0.2;  // feet that stand so much over the floor of a recording stand on something [m]

/// When the poses of a reference were recorded.
class SampleTimes {
 public:
  SampleTimes(double start, const ReferenceOptions& options, const PlaybackClock& clock)
      : start_(start),
        step_(1 / (kSampleRate * options.time_scale)),
        clock_(options.retimings.empty() ? nullptr : &clock) {}

  /// When a sample was recorded, counted from the start [s].
  double At(Eigen::Index sample) const {
    const auto number = static_cast<double>(sample);
    return clock_ == nullptr ? start_ + number * step_ : clock_->RecordedTime(number / kSampleRate);
  }
  /// Samples that fit between two instants, one of which is the start.
  Eigen::Index Between(double from, double to) const {
    const double samples =
        clock_ == nullptr ? (to - from) / step_ : (clock_->PlayedTime(to) - clock_->PlayedTime(from)) * kSampleRate;
    return static_cast<Eigen::Index>(std::floor(samples + 1e-6));
  }

 private:
  double start_, step_;         // without retimed parts: of the recording's time [s]
  const PlaybackClock* clock_;  // nothing: all samples are equally far apart
};

/// The poses between two instants of the recording at kSampleRate, filtered with what lies before and after them.
std::vector<Pose> Resample(const std::vector<Pose>& poses, double source_rate, double first_time, double start,
                           double end, const ReferenceOptions& options, const PlaybackClock& clock) {
  const Eigen::MatrixXd signal = ToSignal(poses);
  const double last_time = first_time + static_cast<double>(poses.size() - 1) / source_rate;
  const SampleTimes times(start, options, clock);
  const Eigen::Index before = times.Between(first_time, start);
  const Eigen::Index count = times.Between(start, end) + 1;
  const Eigen::Index total = before + times.Between(start, last_time) + 1;
  // Only what is within the filter's support is sampled: long recordings are mostly cut away.
  const auto margin = static_cast<Eigen::Index>(std::ceil(3 * options.smoothing * kSampleRate)) + 1;
  const Eigen::Index from = std::max<Eigen::Index>(0, before - margin);
  const Eigen::Index to = std::min(total, before + count + margin);
  Eigen::MatrixXd fine(to - from, signal.cols());
  for (Eigen::Index k = from; k < to; ++k) {
    fine.row(k - from) = CubicSample(signal, (times.At(k - before) - first_time) * source_rate);
  }
  const Eigen::MatrixXd smooth = GaussianSmooth(fine, options.smoothing * kSampleRate);
  std::vector<Pose> result;
  for (Eigen::Index k = 0; k < count; ++k) result.push_back(ToPose(smooth.row(before - from + k)));
  return result;
}

/// Levels over the floor as a sentence.
std::string LevelsSentence(const std::vector<StandingLevel>& levels) {
  std::string text = "feet also stand over the floor: ";
  for (size_t i = 0; i < levels.size(); ++i) {
    text.append(i > 0 ? ", " : "").append(io::Fixed(levels[i].height, 2)).append(" m for ");
    text.append(io::Fixed(levels[i].seconds, 1)).append(" s");
  }
  return text;
}

/// @param recorded all poses of the recording, at its own rate
void LevelFloor(const Character& character, const std::vector<Pose>& recorded, double rate,
                const ReferenceOptions& options, std::vector<Pose>& poses, ReferenceReport& report,
                ReferenceTrace& trace) {
  const FloorFit of_part(character, poses, kSampleRate);
  // A part without standing feet, or with feet on an object only, may belong to a recording with a floor lower than
  // what feet reach in the part.
  const FloorFit of_all(character, recorded, rate);
  const double lower = of_part.Fit(options.level_floor).At(poses.front().root_position) -
                       of_all.Fit(options.level_floor).At(poses.front().root_position);
  const bool by_all = of_all.has_stance() && lower > (of_part.has_stance() ? kOnSomething : 0);
  const FloorFit& fit = by_all ? of_all : of_part;
  const Plane plane = fit.Fit(options.level_floor);
  const Vec3 normal = Vec3(-plane.slope_x, 1, -plane.slope_z).normalized();
  const Quat turn = ShortestArc(normal, Vec3::UnitY());
  const Vec3 pivot(poses.front().root_position.x(), 0, poses.front().root_position.z());
  const double height = options.floor_height ? *options.floor_height : plane.At(pivot);
  const Vec3 floor_point = pivot + Vec3(0, height, 0);
  for (Pose& pose : poses) {
    pose.root_position = pivot + turn * (pose.root_position - floor_point);
    pose.root_orientation = turn * pose.root_orientation;
  }
  trace.Move(turn, pivot - turn * floor_point);
  report.floor_height = height;
  report.floor_tilt = std::acos(std::min(1.0, normal.y()));
  report.notes.push_back(
      "floor " + io::Fixed(height, 3) + " m " +
      (options.floor_height ? "as given"
       : by_all             ? "under planted feet of other parts of the recording"
       : fit.has_stance()   ? "under planted feet"
                            : "under the lowest feet") +
      " moved to 0" +
      (options.level_floor ? ", tilt of " + io::Fixed(Degrees(report.floor_tilt), 2) + " degrees leveled" : ""));
  report.floor_shown = options.floor_height || fit.has_stance();
  report.levels = fit.LevelsOver(plane);
  for (StandingLevel& level : report.levels) level.height += plane.At(pivot) - height;
  if (!report.levels.empty()) report.notes.push_back(LevelsSentence(report.levels));
}

void TurnToFace(const Character& character, std::vector<Pose>& poses, const ReferenceOptions& options,
                ReferenceReport& report, ReferenceTrace& trace) {
  const double facing = HeadingOf(poses.front());
  if (!character.planar) report.facing = facing;  // else it was found before the motion was turned
  if (!options.facing) return;
  const Quat turn = AxisRotation(1, *options.facing - facing);
  for (Pose& pose : poses) {
    pose.root_position = turn * pose.root_position;
    pose.root_orientation = turn * pose.root_orientation;
  }
  trace.Move(turn, Vec3::Zero());
  report.notes.push_back("turned to face " + io::Fixed(Degrees(*options.facing), 1) + " degrees at the start");
}

/// Repeats the best cycle. Throws InputError for a motion without a good one.
void LoopPoses(const std::string& name, double seconds, std::vector<Pose>& poses, ReferenceReport& report) {
  const std::optional<Cycle> cycle = FindCycle(poses, 1 / kSampleRate);
  const std::string expected = "a cycle whose ends differ by at most " + io::Fixed(Degrees(kWorstSeam), 1) +
                               " degrees in the mean, and turn by at most " + io::Fixed(Degrees(kLargestTurn), 0);
  if (!cycle) throw InputError(name, "a motion without a cycle of 0.5 to 2 s that goes straight on", expected);
  std::string found = "a cycle from ";
  found.append(io::Fixed(static_cast<double>(cycle->first) / kSampleRate, 3)).append(" to ");
  found.append(io::Fixed(static_cast<double>(cycle->first + cycle->length) / kSampleRate, 3));
  found.append(" s whose ends differ by ").append(io::Fixed(Degrees(cycle->seam), 1)).append(" degrees in the mean");
  if (cycle->seam > kWorstSeam) throw InputError(name, found + " as the best one", expected);
  poses = Repeat(poses, *cycle, static_cast<size_t>(std::lround(seconds * kSampleRate)) + 1);
  report.loop_start = static_cast<double>(cycle->first) / kSampleRate;
  report.loop_duration = static_cast<double>(cycle->length) / kSampleRate;
  report.loop_seam = cycle->seam;
  report.notes.push_back(found.append(" is repeated for ").append(io::Fixed(seconds, 2)).append(" s"));
}

/// Takes the belt of a treadmill out of the recorded poses where there is one.
/// @param start of the part that is used, from the first pose on [s]
void RemoveBelt(const Character& character, double rate, double start, double end, const ReferenceOptions& options,
                std::vector<Pose>& recorded, ReferenceReport& report) {
  if (options.treadmill && *options.treadmill == 0) return;
  const auto frame = [&](double time) {
    return std::min(static_cast<size_t>(std::lround(std::max(0.0, time) * rate)), recorded.size() - 1);
  };
  const std::vector<Pose> used(recorded.begin() + static_cast<std::ptrdiff_t>(frame(start)),
                               recorded.begin() + static_cast<std::ptrdiff_t>(frame(end)) + 1);
  std::optional<Belt> belt = FindBelt(character, used, rate);
  const double length = report.scale > 0 ? report.unit / report.scale : 1;  // of the recording in one of the reference
  if (options.treadmill) {
    // The direction is that in which the feet go, else backward.
    const Vec3 backward = AxisRotation(1, HeadingOf(recorded.front())) * Vec3(-Vec3::UnitZ());
    if (!belt) belt = Belt{.velocity = backward};
    belt->velocity = (*options.treadmill / length) * belt->velocity.normalized();
    belt->given = true;
  }
  if (!belt) return;
  belt->speed = belt->velocity.norm() * length;
  TakeOutBelt(belt->velocity, rate, recorded);
  std::string note = "a treadmill at ";
  note.append(io::Fixed(belt->speed, 2)).append(" m/s, ");
  note.append(belt->given ? "as given"
                          : "found in the feet (" + io::Fixed(100 * belt->agreement, 0) + " % of the time on it)");
  note.append(", is taken out: the motion goes over ground");
  if (std::abs(belt->slope) > kInclined) {
    note.append("; it rises by ").append(io::Fixed(Degrees(belt->slope), 1)).append(" degrees, which stay in the feet");
  }
  report.notes.push_back(note);
  report.belt = belt;
}

void CheckPlaces(const std::vector<Pose>& poses, const std::string& name) {
  for (size_t f = 0; f < poses.size(); ++f) {
    const double distance = poses[f].root_position.cwiseAbs().maxCoeff();
    if (distance <= kFarAway) continue;
    throw InputError(name,
                     "a root " + io::Number(std::round(distance)) + " m from the origin at " +
                         io::Fixed(static_cast<double>(f) / kSampleRate, 2) + " s",
                     "at most " + io::Number(kFarAway) + " m (is the unit of the file known?)");
  }
}

}  // namespace

std::optional<motion::Clip> ChangedClip(const motion::Clip& clip, const ReferenceOptions& options) {
  if (!options.frame_rate && !options.mirror) return std::nullopt;
  motion::Clip changed = options.mirror ? motion::Mirrored(clip) : clip;
  if (options.frame_rate) changed.frame_time = 1 / *options.frame_rate;
  return changed;
}

ReferenceMotion MakeReference(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, ReferenceReport& report) {
  ReferenceTrace trace;
  return MakeReference(character, clip, name, options, report, trace);
}

ReferenceMotion MakeReference(const Character& character, const motion::Clip& clip, const std::string& name,
                              const ReferenceOptions& options, ReferenceReport& report, ReferenceTrace& trace) {
  const std::optional<motion::Clip> changed = ChangedClip(clip, options);
  const motion::Clip* source = changed ? &*changed : &clip;
  report.notes.insert(report.notes.end(), clip.notes.begin(), clip.notes.end());
  for (const std::string& doubt : clip.doubts) report.doubts.push_back({"recording", doubt});
  if (options.mirror) report.notes.emplace_back("mirrored, as asked for: the file's x axis is reversed, names stay");
  std::vector<Pose> recorded = Retarget(character, *source, name, options, report);
  trace.recorded = recorded;  // before anything of it is changed
  const double first_time = report.lead_in_frames * source->frame_time;
  if (options.bridge_spikes) {
    BridgeSpikes(character, source->frame_time, options.time_scale, first_time, recorded, report);
  }
  const double last_time = source->duration() - report.lead_out_frames * source->frame_time;
  double end = options.end.value_or(last_time);
  double start = options.start;
  if (start < first_time && start >= 0) {
    if (report.lead_in_frames > 0 && options.start > 0) {
      report.notes.push_back("the start is moved from " + io::Fixed(start, 3) + " s past the rest pose to " +
                             io::Fixed(first_time, 3) + " s");
    }
    start = first_time;
  }
  // Durations are often quoted rounded, or as frames times frame time: a little too long.
  if (end > last_time && end < last_time + std::max(0.05, 2 * source->frame_time)) {
    report.notes.push_back("the clip ends at " + io::Fixed(last_time, 3) + " s, before the given end, " +
                           io::Fixed(end, 3) + " s");
    end = last_time;
  }
  if (report.lead_out_frames > 0 && end > last_time && end <= source->duration()) {
    report.notes.push_back("the end is moved from " + io::Fixed(end, 3) + " s to that of the motion, " +
                           io::Fixed(last_time, 3) + " s");
    end = last_time;
  }
  if (start < 0 || end > last_time || end - start < 0.1) {
    throw UsageError(name + ": found a start of " + io::Number(options.start) + " s and an end of " + io::Number(end) +
                     " s, expected at least 0.1 s between " + io::Fixed(first_time, 3) + " and " +
                     io::Fixed(last_time, 3) + " s");
  }
  const PlaybackClock clock(start, end, options.time_scale, options.retimings, name);
  if (const double duration = clock.PlayedTime(end); !kDurations.Contains(duration)) {
    throw UsageError(name + ": found " + io::Fixed(end - start, 3) + " s, played " +
                     io::Number(options.retimings.empty() ? options.time_scale : duration / (end - start)) +
                     " times as long, expected a motion of " + io::Real{kDurations}.Legal() + " s");
  }
  if (character.planar) {
    const double rate = 1 / source->frame_time;
    const auto frame = [&](double time) {
      const auto nearest = static_cast<size_t>(std::lround(std::max(0.0, time - first_time) * rate));
      return std::min(nearest, recorded.size() - 1);
    };
    PutIntoSagittalPlane(name, rate, frame(start), frame(end), recorded, report);
  }
  trace.first_time = first_time;
  trace.start = start;
  trace.end = end;
  RemoveBelt(character, 1 / source->frame_time, start - first_time, end - first_time, options, recorded, report);
  if (report.belt) trace.belt_velocity = report.belt->velocity;
  std::vector<Pose> poses = Resample(recorded, 1 / source->frame_time, first_time, start, end, options, clock);
  {
    // The recorded velocity at the start, by a one-sided difference over a few frames, against the filtered one.
    const auto velocity = [](const std::vector<Pose>& p, size_t first, double frame_time) {
      const size_t last = std::min(p.size() - 1, first + static_cast<size_t>(std::lround(0.05 / frame_time)) + 1);
      return Vec3((p[last].root_position - p[first].root_position) / (static_cast<double>(last - first) * frame_time));
    };
    const auto frame = static_cast<size_t>(std::lround((start - first_time) / source->frame_time));
    if (frame + 1 < recorded.size()) {
      report.start_speed_lost = (velocity(recorded, frame, source->frame_time * clock.SlownessAt(start)) -
                                 velocity(poses, 0, 1 / kSampleRate))
                                    .norm();
    }
  }
  report.notes.push_back("smoothed with a Gaussian of " + io::Fixed(1000 * options.smoothing, 0) + " ms, " +
                         io::Fixed(kSampleRate, 0) + " poses per second from " + io::Fixed(report.frame_rate, 2));
  if (options.time_scale != 1) report.notes.push_back("played " + io::Number(options.time_scale) + " times as long");
  for (const Retiming& retiming : options.retimings) {
    report.notes.push_back("from " + io::Number(retiming.start) + " to " + io::Number(retiming.end) + " s played " +
                           io::Number(retiming.scale) + " times as long as the rest");
  }
  LevelFloor(character, recorded, 1 / source->frame_time, options, poses, report, trace);
  TurnToFace(character, poses, options, report, trace);
  if (options.lift_root) LiftRoot(character, kSampleRate, poses, report);
  if (options.raise_hands) RaiseHands(character, kSampleRate, poses, report);
  if (options.loop) LoopPoses(name, *options.loop, poses, report);
  CheckPlaces(poses, name);
  return ReferenceMotion(character, 1 / kSampleRate, std::move(poses), options.velocity_interval);
}

}  // namespace retrace::character
