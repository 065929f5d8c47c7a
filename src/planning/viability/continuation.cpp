#include "retrace/planning/viability/continuation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/metrics/posture.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/retargeting/cycle.h"
#include "retrace/retargeting/reference.h"
#include "retrace/runs/libraries/control_library.h"

namespace retrace::runs {
namespace {

using character::Character;
using character::Pose;
using character::State;

constexpr double kRest = 0.2;           // time constant with which a root comes to rest [s]
constexpr double kLeastRecorded = 0.2;  // of a recording, to go on with [s]
constexpr double kCycleWithin = 6;      // before the end, where a cycle is looked for [s]
constexpr double kFarthestPhase = 0.4;  // of the end from a cycle that goes on from there [m]
constexpr double kMoving = 0.4;         // least speed of a character that does not stand [m/s]
constexpr double kNearFloor = 0.05;     // [m]
constexpr double kPhasesApart = 0.2;    // of two steps into the walk [s]
constexpr size_t kMostPhases = 4;       // of the walk that are tried

/// A motion whose first pose is near the last one of the reference goes on from there; that pose is not repeated.
std::vector<Pose> JoinTo(const character::ReferenceMotion& reference, std::vector<Pose> poses) {
  const Pose& last = reference.poses().back();
  const Character& character = reference.character();
  PlaceOnGround(character, RestingState(character, last), RestingState(character, poses.front()), poses);
  FadeFrom(last, reference.frame_time(), poses);
  poses.erase(poses.begin());
  return poses;
}

/// What the recording holds after the part that is used.
std::optional<std::vector<Pose>> OfTheClip(const EndingMotion& ending, double seconds) {
  character::ReferenceOptions options = ending.clip.options.reference;
  if (!options.end || options.loop || !ending.clip.world.empty()) return std::nullopt;
  if (ending.clip.repaired && ending.clip.repaired->changed) return std::nullopt;  // its clock is another one
  const double recorded = options.frame_rate
                              ? static_cast<double>(ending.clip.clip.frames.size() - 1) / *options.frame_rate
                              : ending.clip.clip.duration();
  options.end = std::min(recorded, *options.end + seconds / options.time_scale);
  character::ReferenceReport report;
  const double frame_time = ending.clip.reference().frame_time(), end = ending.clip.reference().duration();
  const character::PlaybackClock clock(options.start, *options.end, options.time_scale, options.retimings,
                                       ending.clip.name);
  const double longest = clock.PlayedTime(*options.end);
  if (longest < end + kLeastRecorded || !character::kDurations.Contains(longest)) return std::nullopt;
  const character::ReferenceMotion longer =
      character::MakeReference(ending.clip.character, ending.clip.clip, ending.clip.name, options, report);
  std::vector<Pose> poses(static_cast<size_t>(std::lround(seconds / frame_time)) + 1);
  for (size_t f = 0; f < poses.size(); ++f) longer.PoseAt(end + static_cast<double>(f) * frame_time, poses[f]);
  return JoinTo(ending.clip.reference(), std::move(poses));
}

/// One round after the other of what is repeated already.
std::vector<Pose> OfTheLoop(const EndingMotion& ending, size_t count) {
  std::vector<Pose> poses = ending.clip.reference().poses();
  const size_t size = poses.size();
  const auto round =
      static_cast<size_t>(std::lround(ending.clip.report.loop_duration / ending.clip.reference().frame_time()));
  Vec3 way = poses[size - 1].root_position - poses[size - 1 - round].root_position;
  way.y() = 0;
  for (size_t f = 0; f < count; ++f) {
    Pose next = poses[poses.size() - round];
    next.root_position += way;
    poses.push_back(std::move(next));
  }
  poses.erase(poses.begin(), poses.begin() + static_cast<std::ptrdiff_t>(size));
  return poses;
}

std::optional<std::vector<Pose>> OfTheCycle(const EndingMotion& ending, size_t count) {
  const character::ReferenceMotion& reference = ending.clip.reference();
  const std::vector<Pose>& all = reference.poses();
  const double frame_time = reference.frame_time();
  const double round = ending.clip.report.loop_duration;
  if (round > 0 && round < reference.duration()) return OfTheLoop(ending, count);
  const size_t within = std::min(all.size(), static_cast<size_t>(std::lround(kCycleWithin / frame_time)));
  const std::vector<Pose> poses(all.end() - static_cast<std::ptrdiff_t>(within), all.end());
  const auto cycle = character::FindCycle(poses, frame_time);
  if (!cycle || cycle->seam > character::kWorstSeam) return std::nullopt;
  std::vector<Pose> rounds = character::Repeat(poses, *cycle, cycle->length + count + 1);
  const character::ReferenceMotion motion(reference.character(), frame_time, rounds,
                                          ending.clip.options.reference.velocity_interval);
  State end, state;
  reference.StateAt(reference.duration(), end);
  size_t best = 0;
  double least = kFarthestPhase;
  for (size_t f = 0; f < cycle->length; ++f) {
    motion.StateAt(static_cast<double>(f) * frame_time, state);
    const double distance = metrics::StateDistance(reference.character(), end, state);
    if (distance >= least) continue;
    least = distance;
    best = f;
  }
  if (least >= kFarthestPhase) return std::nullopt;
  const auto first = rounds.begin() + static_cast<std::ptrdiff_t>(best);
  return JoinTo(reference, std::vector<Pose>(first, first + static_cast<std::ptrdiff_t>(count + 1)));
}

/// The walk from the phases on that are nearest to the end; nothing for a character that cannot play it.
std::vector<std::vector<Pose>> OfTheWalk(const EndingMotion& ending, size_t count) {
  if (ending.walk == nullptr) return {};
  const character::ReferenceMotion& reference = ending.clip.reference();
  const double frame_time = reference.frame_time();
  std::vector<Pose> poses;
  try {
    character::ReferenceReport report;
    const character::ReferenceMotion walk =
        character::MakeReference(ending.clip.character, *ending.walk, "walk", {}, report);
    poses.resize(static_cast<size_t>(walk.duration() / frame_time));
    for (size_t f = 0; f < poses.size(); ++f) walk.PoseAt(static_cast<double>(f) * frame_time, poses[f]);
  } catch (const Error&) {
    return {};
  }
  const auto cycle = character::FindCycle(poses, frame_time);
  if (!cycle || cycle->seam > character::kWorstSeam) return {};
  const std::vector<Pose> rounds = character::Repeat(poses, *cycle, cycle->length + count + 1);
  const character::ReferenceMotion motion(reference.character(), frame_time, rounds,
                                          ending.clip.options.reference.velocity_interval);
  State end, state;
  reference.StateAt(reference.duration(), end);
  std::vector<std::pair<double, size_t>> phases;
  for (size_t f = 0; f < cycle->length; ++f) {
    motion.StateAt(static_cast<double>(f) * frame_time, state);
    phases.emplace_back(metrics::StateDistance(reference.character(), end, state), f);
  }
  std::sort(phases.begin(), phases.end());
  std::vector<size_t> taken;
  std::vector<std::vector<Pose>> ways;
  for (const auto& nearest : phases) {
    const size_t phase = nearest.second;
    const bool near = std::any_of(taken.begin(), taken.end(), [&](size_t other) {
      const size_t apart = std::max(phase, other) - std::min(phase, other);
      return static_cast<double>(std::min(apart, cycle->length - apart)) * frame_time < kPhasesApart;
    });
    if (near) continue;
    taken.push_back(phase);
    const auto first = rounds.begin() + static_cast<std::ptrdiff_t>(phase);
    ways.push_back(JoinTo(reference, {first, first + static_cast<std::ptrdiff_t>(count + 1)}));
    if (ways.size() == kMostPhases) break;
  }
  return ways;
}

std::vector<Pose> StandingStill(const character::ReferenceMotion& reference, const Vec3& velocity, size_t count) {
  std::vector<Pose> poses;
  for (size_t f = 1; f <= count; ++f) {
    const double time = static_cast<double>(f) * reference.frame_time();
    poses.push_back(reference.poses().back());
    poses.back().root_position += kRest * (1 - std::exp(-time / kRest)) * Vec3(velocity.x(), 0, velocity.z());
  }
  return poses;
}

}  // namespace

std::string Name(ContinuationKind kind) {
  switch (kind) {
    case ContinuationKind::kClip:
      return "clip";
    case ContinuationKind::kCycle:
      return "cycle";
    case ContinuationKind::kWalk:
      return "walk";
    case ContinuationKind::kStill:
      break;
  }
  return "still";
}

bool IsUp(const Character& character, const Pose& pose) {
  return pose.root_position.y() > kLowRoot * character.bodies[static_cast<size_t>(character.root)].rest_position.y();
}

bool IsInTheAir(const Character& character, const Pose& pose) {
  const State state = RestingState(character, pose);
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    if (character::LowestPoint(character.bodies[b], state[b]) < kNearFloor) return false;
  }
  return true;
}

std::vector<Continuation> ContinuationsOf(const EndingMotion& ending, double seconds) {
  const character::ReferenceMotion& reference = ending.clip.reference();
  const auto count = static_cast<size_t>(std::lround(seconds / reference.frame_time()));
  State end;
  reference.StateAt(reference.duration(), end);
  const Vec3 velocity = character::CenterOfMassVelocity(reference.character(), end);
  std::vector<Continuation> ways;
  if (auto poses = OfTheClip(ending, seconds)) ways.push_back({ContinuationKind::kClip, std::move(*poses), 0});
  if (auto poses = OfTheCycle(ending, count)) ways.push_back({ContinuationKind::kCycle, std::move(*poses), 0});
  if (!IsInTheAir(reference.character(), reference.poses().back())) {
    Continuation still{ContinuationKind::kStill, StandingStill(reference, velocity, count), 0};
    ways.insert(velocity.norm() < kMoving ? ways.begin() : ways.end(), std::move(still));
    for (std::vector<Pose>& poses : OfTheWalk(ending, count))
      ways.push_back({ContinuationKind::kWalk, std::move(poses), 0});
  }
  std::erase_if(ways, [&](const Continuation& way) { return !IsUp(reference.character(), way.poses.back()); });
  return ways;
}

}  // namespace retrace::runs
