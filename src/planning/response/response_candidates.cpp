#include "response_candidates.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/math/random.h"
#include "retrace/metrics/state_distance.h"

namespace retrace::runs {
namespace {

constexpr double kLongestContact = 0.25;  // of the paper, by which the first window is later (section 5) [s]
constexpr size_t kStartsApart = 3;        // frames between start times for which a second simulation is made
// Nearest motions whose best position is a candidate, too; of a kinematic transition, which costs less.
constexpr size_t kMostOfMotions = 6, kMostOfMotionsBlended = 24;
constexpr size_t kMovedInTime = 4;    // candidates of a kinematic transition that are entered earlier and later, too
constexpr size_t kSamePlace = 5;      // frames: two candidates of one motion that go on alike count once
constexpr double kTimesApart = 0.15;  // of start times that are tried one after the other [s]
constexpr double kNearOwn = 0.2;      // of the run's own motion, where it is tried first [m]
// Share of the height of the root at rest: well above kStandingRoot, as the search misses some of it.
constexpr double kUpright = 0.87;
constexpr double kStandingTime = 0.5;  // that the motion stands, before it may end [s]
constexpr double kLongestMotion = 10;  // that is used [s]

class Finder {
 public:
  explicit Finder(const ImpactSimulation& struck)
      : struck_(struck), problem_(struck.problem()), o_(problem_.settings), character_(struck.character()) {}

  std::vector<ResponseCandidate> Run() {
    const std::vector<size_t> starts = Starts();
    if (starts.empty()) return {};
    for (const size_t start : starts) {
      if (!o_.paper && (o_.kinematic || start == starts.front())) AddOwn(start);
    }
    for (const matching::Match& match : o_.any_motion ? AnyPlaces(starts) : NearestPlaces(starts)) AddCandidate(match);
    Sort();
    if (o_.kinematic && !o_.paper) {
      for (size_t c = 0; c < std::min(candidates_.size(), kMovedInTime); ++c) MoveInTime(candidates_[c]);
      Sort();
    }
    std::vector<ResponseCandidate> kept = WithoutTwins(candidates_);
    if (!o_.paper) kept = OrderOf(std::move(kept));
    for (size_t c = 0; c < kept.size() && c < static_cast<size_t>(o_.candidates); ++c) MeasureLimp(kept[c]);
    return kept;
  }

 private:
  void Sort() {
    std::stable_sort(candidates_.begin(), candidates_.end(), [&](const auto& a, const auto& b) {
      if (o_.paper) return a.distance < b.distance || (a.distance == b.distance && a.gap < b.gap);
      return a.own > b.own || (a.own == b.own && Score(a) < Score(b));
    });
  }

  /// The gap; of a kinematic transition with what it hides.
  double Score(const ResponseCandidate& candidate) const {
    if (!o_.kinematic) return candidate.gap;
    return candidate.gap + kHiddenTime * candidate.hidden_impulse / character_.total_mass();
  }

  /// The window was compared with the first simulation: for the second one a position nearby may be better.
  void MoveInTime(ResponseCandidate& candidate) const {
    if (candidate.own) return;
    const ResponseCandidate first = candidate;
    for (const int frames : {-2, -1, 1, 2}) {
      ResponseCandidate moved = first;
      moved.time += frames * matching::kFrameTime;
      if (moved.time < 0 || moved.time > struck_.MotionOf(moved).duration()) continue;
      if (FindEnd(struck_, moved) && Measure(moved) && Score(moved) < Score(candidate)) candidate = moved;
    }
  }

  size_t LastStart() const { return static_cast<size_t>(std::floor(o_.latest / matching::kFrameTime + 1e-9)); }

  /// Frames after the impact with which windows begin.
  std::vector<size_t> Starts() const {
    double earliest = std::max(o_.earliest, (struck_.exit() - struck_.impact()) * struck_.h());
    if (o_.paper) earliest = std::max(earliest, std::min(problem_.impact.duration, kLongestContact));
    std::vector<size_t> starts;
    for (auto f = static_cast<size_t>(std::ceil(earliest / matching::kFrameTime - 1e-9)); f <= LastStart(); ++f) {
      starts.push_back(f);
    }
    return starts;
  }

  std::vector<matching::Match> NearestPlaces(const std::vector<size_t>& starts) const {
    std::vector<matching::Frame> query;
    for (size_t f = 0; f < LastStart() + static_cast<size_t>(o_.window.frames); ++f) {
      const int step = struck_.impact() + struck_.StepOf(static_cast<double>(f) * matching::kFrameTime);
      const character::State& state = struck_.NaiveState(step);
      query.push_back(matching::FrameOf(character_, state, character::CenterOfMassVelocity(character_, state)));
    }
    const matching::WindowSearch search(problem_.library.motions(), query, starts, o_.window);
    const auto [nearest, of_motions] = search.NearestWithMotions(o_.paper       ? 0
                                                                 : o_.kinematic ? kMostOfMotionsBlended
                                                                                : kMostOfMotions);
    std::vector<matching::Match> matches;
    for (size_t s = 0; s < nearest.size(); s += o_.kinematic ? 1 : kStartsApart) {
      if (nearest[s]) matches.push_back(*nearest[s]);
    }
    matches.insert(matches.end(), of_motions.begin(), of_motions.end());
    return matches;
  }

  /// The first of those that continue one motion from nearly the same position.
  static std::vector<ResponseCandidate> WithoutTwins(const std::vector<ResponseCandidate>& candidates) {
    std::vector<ResponseCandidate> kept;
    for (const ResponseCandidate& candidate : candidates) {
      const bool known = std::any_of(kept.begin(), kept.end(), [&](const ResponseCandidate& other) {
        return other.own == candidate.own && other.motion == candidate.motion &&
               std::abs((other.time - other.start) - (candidate.time - candidate.start)) <
                   static_cast<double>(kSamePlace) * matching::kFrameTime;
      });
      if (!known) kept.push_back(candidate);
    }
    return kept;
  }

  /// The nearest first, then the nearest that are entered at other times: what fails at one instant, while the body is
  /// not yet where the motion is, may be found later.
  static std::vector<ResponseCandidate> OrderOf(std::vector<ResponseCandidate> by_gap) {
    std::vector<ResponseCandidate> ordered;
    while (!by_gap.empty()) {
      std::vector<double> starts;
      for (auto it = by_gap.begin(); it != by_gap.end();) {
        const bool near = std::any_of(starts.begin(), starts.end(),
                                      [&](double start) { return std::abs(start - it->start) < kTimesApart; });
        if (near) {
          ++it;
          continue;
        }
        starts.push_back(it->start);
        ordered.push_back(*it);
        it = by_gap.erase(it);
      }
    }
    return ordered;
  }

  std::vector<matching::Match> AnyPlaces(const std::vector<size_t>& starts) const {
    RandomStream random(o_.configuration.sampling.seed, RandomStage::kResponse, 0, 0);
    const matching::MotionLibrary& library = problem_.library.motions();
    std::vector<matching::Match> matches;
    for (size_t s = 0; s < starts.size(); s += kStartsApart) {
      const auto frame = static_cast<size_t>(random.Uniform() * static_cast<double>(library.frames().size()));
      const size_t motion = library.MotionOf(frame);
      matches.push_back({starts[s], motion, frame - library.motions()[motion].first, 0});
    }
    return matches;
  }

  /// A match becomes a candidate where its motion goes on long enough and then stands.
  void AddCandidate(const matching::Match& match) {
    ResponseCandidate candidate;
    candidate.motion = match.motion;
    candidate.time = static_cast<double>(match.frame) * matching::kFrameTime;
    candidate.start = static_cast<double>(match.start) * matching::kFrameTime;
    candidate.distance = match.distance;
    if (!FindEnd(struck_, candidate)) return;
    if (Measure(candidate)) candidates_.push_back(candidate);
  }

  /// The run's own motion is tried first where the push has not led far from it.
  void AddOwn(size_t frame) {
    const double start = static_cast<double>(frame) * matching::kFrameTime;
    ResponseCandidate candidate;
    candidate.own = true;
    candidate.start = start;
    candidate.time = problem_.impact.start + start;
    candidate.end = candidate.last = candidate.rest = struck_.MotionOf(candidate).duration();
    if (o_.any_motion || candidate.end < candidate.time + kGoOver || !Measure(candidate)) return;
    if (candidate.gap < kNearOwn) candidates_.push_back(candidate);
  }

  /// By simulations up to the start time; false where these diverge.
  bool Measure(ResponseCandidate& candidate) const {
    const auto at = static_cast<size_t>(struck_.StepOf(candidate.start) - (struck_.exit() - struck_.impact()));
    const control::Trajectory second =
        struck_.GoesOnUntil(candidate) ? struck_.OwnFromExit() : struck_.SecondSimulation(candidate, 1);
    if (second.diverged || second.states.size() <= at) return false;
    character::State motion;
    struck_.MotionOf(candidate).StateAt(candidate.time, motion);
    const character::State& state = second.states[at];
    candidate.gap = metrics::StateDistance(character_, state, motion);
    const auto [heading, offset] = metrics::AlignOnGround(character_, state, motion);
    const Vec3 change = heading * character::CenterOfMassVelocity(character_, motion) -
                        character::CenterOfMassVelocity(character_, state);
    candidate.hidden_impulse = character_.total_mass() * change.norm();
    return true;
  }

  /// The gap of a body without strength.
  void MeasureLimp(ResponseCandidate& candidate) const {
    const auto at = static_cast<size_t>(struck_.StepOf(candidate.start) - (struck_.exit() - struck_.impact()));
    const control::Trajectory limp = struck_.SecondSimulation(candidate, kRagdollStrength);
    if (limp.diverged || limp.states.size() <= at) return;
    character::State motion;
    struck_.MotionOf(candidate).StateAt(candidate.time, motion);
    candidate.limp_gap = metrics::StateDistance(character_, limp.states[at], motion);
  }

  const ImpactSimulation& struck_;
  const ResponseProblem& problem_;
  const ResponseSettings& o_;
  const character::Character& character_;
  std::vector<ResponseCandidate> candidates_;
};

}  // namespace

namespace {

/// Velocity of the center of mass [m/s].
double SpeedAt(const character::ReferenceMotion& motion, double time) {
  character::State state;
  motion.StateAt(time, state);
  return character::CenterOfMassVelocity(motion.character(), state).norm();
}

}  // namespace

bool FindEnd(const ImpactSimulation& struck, ResponseCandidate& candidate) {
  const ResponseSettings& o = struck.problem().settings;
  const character::ReferenceMotion& motion = struck.MotionOf(candidate);
  if (o.paper) {
    candidate.end = candidate.last = candidate.rest = std::min(motion.duration(), candidate.time + kLongestMotion);
    return candidate.end >= candidate.time + kGoOver;
  }
  const auto root = static_cast<size_t>(struck.character().root);
  const double low = kUpright * struck.character().bodies[root].rest_position.y();
  const double least = candidate.time + std::max(o.seconds - candidate.start, kGoOver + kStandingTime);
  const double most = std::min(motion.duration(), candidate.time + kLongestMotion);
  double stood = 0;
  character::Pose pose;
  for (double time = candidate.time; time <= most + 1e-9; time += matching::kFrameTime) {
    motion.PoseAt(time, pose);
    stood = pose.root_position.y() >= low ? stood + matching::kFrameTime : 0;
    if (time < least - 1e-9 || stood < kStandingTime) continue;
    candidate.end = candidate.last = candidate.rest = time;
    double least_speed = SpeedAt(motion, time);
    while (candidate.last + matching::kFrameTime <= std::min(motion.duration(), candidate.end + o.stand)) {
      motion.PoseAt(candidate.last + matching::kFrameTime, pose);
      if (pose.root_position.y() < low) break;
      candidate.last += matching::kFrameTime;
      const double speed = SpeedAt(motion, candidate.last);
      if (speed >= least_speed) continue;
      least_speed = speed;
      candidate.rest = candidate.last;
    }
    // The last pose of a motion that soon goes down again belongs to the descent.
    if (candidate.last < candidate.end + o.stand - matching::kFrameTime) candidate.last = candidate.rest;
    return true;
  }
  return false;
}

std::vector<ResponseCandidate> FindCandidates(const ImpactSimulation& struck) {
  return Finder(struck).Run();
}

}  // namespace retrace::runs
