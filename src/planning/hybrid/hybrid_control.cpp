#include "retrace/planning/hybrid/hybrid_control.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/control/cutting.h"
#include "retrace/control/time_grid.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/gates.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/segment_search.h"
#include "retrace/planning/segments/segment_tracking.h"

namespace retrace::runs {
namespace {

using character::Pose;
using character::State;

// Shares of the tolerances, world position included: beyond which a motion is lost, and within which it is near.
constexpr double kLost = 0.7, kStillNear = 0.6, kNear = 0.35;
constexpr double kSearchLost = 0.95;  // beyond which a searched motion is lost: it goes where tracking cannot
constexpr double kBeforeLost = 0.5;   // what is lost begins so long before it can be seen [s]
constexpr double kReturn = 1;         // in which a reference returns to the recording [s]
// Duration of the first search across what tracking loses, and what each further one is longer [s].
constexpr double kSearched = 0.6, kSearchedMore = 0.4;
constexpr double kForesight = 1.2;       // for which tracking is tried from a state of the search [s]
constexpr double kLeastForesight = 0.5;  // less than that is no reason to leave a search [s]
constexpr double kLeastSearched = 0.2;   // of which tracking goes on from [s]
constexpr double kSamePart = 0.2;        // efforts within this are of the same obstacle [s]
constexpr int kMostEfforts = 4;          // at one obstacle, before a search begins earlier
constexpr int kMostSteps = 12;           // back to earlier states
constexpr double kStepBack = 0.5;        // the first of them; the second is twice as long, and so on [s]
// What may be searched in all: so much, and a share of the motion. Samples beyond kSamples count as many times [s].
constexpr double kLeastAllowance = 1.2, kAllowedShare = 1;
constexpr double kDrift = 10;  // weight of drift in the cost of a search
constexpr int kSamples = 200, kShareSaved = 4, kBackOffs = 6, kPasses = 2, kBudget = 20 * kSamples;
constexpr size_t kLeastFrames = 4;       // of a reference, whose accelerations are differences
constexpr double kMeasured = 1.0 / 120;  // between two instants at which a motion is measured [s]

/// A motion from a step on.
struct Piece {
  int first_step = 0;
  std::vector<control::Fragment> fragments;
  std::vector<State> states;   // (steps + 1)
  std::vector<double> ratios;  // (steps + 1) of what is measured to its tolerance, the largest; held between instants
  bool diverged = false;

  int num_steps() const { return static_cast<int>(states.size()) - 1; }
  /// The first step at which it is beyond a share of the tolerances; nothing where it holds.
  std::optional<int> LostAt(double limit = kLost) const {
    for (size_t i = 0; i < ratios.size(); ++i) {
      if (ratios[i] > limit) return static_cast<int>(i);
    }
    if (diverged) return num_steps();
    return std::nullopt;
  }
};

class HybridSearch {
 public:
  HybridSearch(const task::PreparedClip& clip, const Configuration& configuration, int threads,
               const HybridHooks& hooks)
      : clip_(clip),
        task_(clip.preparation.task),
        configuration_(configuration),
        threads_(threads),
        hooks_(hooks),
        grid_{task_.time_step()},
        total_(task_.schedule.steps.back()),
        states_{task_.start} {
    task::Options& task = configuration_.task;
    task.cost_preset = clip.preparation.cost_preset;
    task.drift_weight = std::max(task.drift_weight, kDrift);
    sampling::Options& search = configuration_.sampling;
    search.samples = std::min(search.samples, kSamples);
    search.selection.saved = std::max(1, search.samples / kShareSaved);
    search.restart.samples = 0;
    search.max_back_offs = std::min(search.max_back_offs, kBackOffs);
    search.budget = kBudget;
    search.refinement.passes = std::min(search.refinement.passes, kPasses);
    search.best_effort = false;
  }

  HybridControl Run() {
    while (at() < total_) {
      if (hooks_.stop && hooks_.stop()) throw StoppedError("the search for parts was stopped");
      farthest_ = std::max(farthest_, at());
      if (hooks_.on_progress) hooks_.on_progress(grid_.TimeOf(farthest_));
      const Piece tracked = Track(states_.back(), at(), total_);
      const std::optional<int> lost = tracked.LostAt();
      if (!lost) {
        Keep(tracked, tracked.num_steps(), Method::kTracking);
        break;
      }
      Keep(tracked, LastNear(tracked, *lost - grid_.Nearest(kBeforeLost)), Method::kTracking);
      if (!Cross()) break;
    }
    result_.reached_end = at() >= total_;
    result_.control.world = task_.world;
    result_.control.start = task_.start;
    result_.end = states_.back();
    return std::move(result_);
  }

 private:
  int at() const { return static_cast<int>(states_.size()) - 1; }
  std::vector<control::Fragment>& fragments() { return result_.control.fragments; }

  /// Across what tracking loses, or back to an earlier state. Returns false where it is time to give up.
  bool Cross() {
    const int effort = efforts_[at() / grid_.Nearest(kSamePart)]++;
    if (effort > kMostEfforts) return GoBack();
    const int last = std::min(total_, at() + grid_.Nearest(kSearched + kSearchedMore * effort));
    const int factor = effort < 2 ? 1 : 2;
    spent_ += factor * grid_.TimeOf(last - at());
    if (spent_ > kLeastAllowance + kAllowedShare * grid_.TimeOf(total_)) return false;
    const Piece searched = Search(last, factor);
    // The last states of a search that is lost are those of a fall.
    const std::optional<int> lost = searched.LostAt(kSearchLost);
    const bool leads_on = !lost && searched.first_step + searched.num_steps() >= last;
    const int inside = lost.value_or(searched.num_steps()) - (leads_on ? 0 : grid_.Nearest(kLeastSearched));
    int best = 0, best_reach = -1;
    double best_ratio = 0;
    for (const control::Fragment& fragment : searched.fragments) {
      const int steps = fragment.end_step() - searched.first_step;
      if (steps > inside) break;
      if (steps < grid_.Nearest(kLeastSearched) && steps < searched.num_steps()) continue;
      const int from = searched.first_step + steps;
      int reach = total_;
      double ratio = searched.ratios[static_cast<size_t>(steps)];
      if (from < total_) {
        const Piece on = Track(searched.states[static_cast<size_t>(steps)], from,
                               std::min(total_, from + grid_.Nearest(kForesight)));
        const int held = on.LostAt().value_or(on.num_steps());
        reach = from + held;
        ratio = on.ratios[static_cast<size_t>(held)];
      }
      if (reach < best_reach || (reach == best_reach && ratio >= best_ratio)) continue;
      best = steps;
      best_reach = reach;
      best_ratio = ratio;
    }
    if (best_reach < at() + searched.num_steps() / 2) return effort < 1 || GoBack();
    // Where tracking does not hold for long after any of them, all of the search is kept.
    const bool holds = best_reach >= std::min(total_, at() + best + grid_.Nearest(kLeastForesight));
    Keep(searched, holds ? best : inside, Method::kSampling);
    return true;
  }

  bool GoBack() {
    if (at() == 0 || ++steps_back_ > kMostSteps) return false;
    const int to = std::max(0, at() - grid_.Nearest(kStepBack * steps_back_));
    while (!fragments().empty() && fragments().back().end_step() > to) fragments().pop_back();
    states_.resize(fragments().empty() ? 1 : static_cast<size_t>(fragments().back().end_step()) + 1);
    while (!result_.parts.empty() && result_.parts.back().first_step >= at()) result_.parts.pop_back();
    if (!result_.parts.empty()) result_.parts.back().end_step = at();
    return true;
  }

  /// The first steps of a piece become part of the result, as far as these are whole fragments.
  void Keep(const Piece& piece, int steps, Method method) {
    const int before = at();
    for (const control::Fragment& fragment : piece.fragments) {
      if (fragment.end_step() > piece.first_step + steps) break;
      fragments().push_back(fragment);
      for (int s = fragment.first_step; s < fragment.end_step(); ++s) {
        states_.push_back(piece.states[static_cast<size_t>(s + 1 - piece.first_step)]);
      }
    }
    if (at() == before) return;
    const bool goes_on = !result_.parts.empty() && result_.parts.back().method == method;
    if (goes_on) {
      result_.parts.back().end_step = at();
    } else {
      result_.parts.push_back({method, before, at()});
    }
  }

  /// The last step of a piece at which it is near, or as near as where it begins.
  static int LastNear(const Piece& piece, int before) {
    const double near = std::clamp(piece.ratios.front(), kNear, kStillNear);
    for (int i = std::min(before, piece.num_steps()); i > 0; --i) {
      if (piece.ratios[static_cast<size_t>(i)] <= near) return i;
    }
    return 0;
  }

  /// The reference between two steps, moved along the ground to where a state is; the difference fades away.
  std::vector<Pose> PosesFrom(const State& state, int first, int last) const {
    const auto root = static_cast<size_t>(clip_.character.root);
    State reference;
    clip_.reference().StateAt(grid_.TimeOf(first), reference);
    Vec3 apart = state[root].position - reference[root].position;
    apart.y() = 0;
    std::vector<Pose> poses(std::max(kLeastFrames, NumCompositionFrames(grid_.TimeOf(last - first))));
    for (size_t f = 0; f < poses.size(); ++f) {
      const double time = static_cast<double>(f) * kCompositionFrame;
      clip_.reference().PoseAt(grid_.TimeOf(first) + time, poses[f]);
      poses[f].root_position += (1 - SmoothStep(std::min(1.0, time / kReturn))) * apart;
    }
    return poses;
  }

  SegmentProblem ProblemFrom(const State& state, int first, const std::vector<Pose>& poses, int effort) const {
    SegmentProblem problem{clip_.character, task_.world, state, first, poses, configuration_};
    problem.effort = effort;
    problem.threads = threads_;
    problem.lowest_root = -std::numeric_limits<double>::infinity();  // bodies roll, and sit
    problem.stop = hooks_.stop;
    return problem;
  }

  Piece Track(const State& state, int first, int last) {
    const std::vector<Pose> poses = PosesFrom(state, first, last);
    const SegmentProblem problem = ProblemFrom(state, first, poses, 1);
    return Measured(problem, TrackSegment(problem), last);
  }

  Piece Search(int last, int effort) {
    configuration_.sampling.seed = configuration_.sampling.seed + 1;
    ++result_.num_searches;
    const std::vector<Pose> poses = PosesFrom(states_.back(), at(), last);
    const SegmentProblem problem = ProblemFrom(states_.back(), at(), poses, effort);
    return Measured(problem, SearchSegment(problem), last);
  }

  Piece Measured(const SegmentProblem& problem, const FoundSegment& found, int last) {
    result_.cpu_seconds += found.cpu_seconds;
    Piece piece;
    piece.first_step = problem.first_step;
    piece.fragments = control::Truncate(last, found.fragments);
    if (piece.fragments.empty()) {
      piece.states = {problem.start};
      piece.ratios = {0};
      piece.diverged = true;
      return piece;
    }
    control::Trajectory motion = SimulateSegment(problem, piece.fragments);
    piece.diverged = motion.diverged;
    piece.states = std::move(motion.states);
    const int each = grid_.PartSteps(kMeasured);
    State reference;
    double ratio = 0;
    for (int i = 0; i <= piece.num_steps(); ++i) {
      if (i % each == 0 || i == piece.num_steps()) {
        const State& state = piece.states[static_cast<size_t>(i)];
        clip_.reference().StateAt(grid_.TimeOf(problem.first_step + i), reference);
        ratio = std::max(metrics::LargestGateRatio(clip_.character, state, reference, task_.gates),
                         metrics::WorldPositionError(clip_.character, state, reference) /
                             task_.gates.Of(clip_.character).world_position);
      }
      piece.ratios.push_back(ratio);
    }
    return piece;
  }

  const task::PreparedClip& clip_;
  const task::Task& task_;
  Configuration configuration_;
  int threads_;
  const HybridHooks& hooks_;
  control::TimeGrid grid_;
  int total_;
  std::vector<State> states_;  // of the result, from its start on
  std::map<int, int> efforts_;
  int steps_back_ = 0;
  int farthest_ = 0;  // step
  double spent_ = 0;  // of the allowance [s]
  HybridControl result_;
};

}  // namespace

double HybridControl::SecondsOf(Method method) const {
  int steps = 0;
  for (const HybridPart& part : parts) steps += part.method == method ? part.end_step - part.first_step : 0;
  return steps * control.world.time_step;
}

std::string HybridControl::Describe() const {
  return "tracked for " + io::Fixed(SecondsOf(Method::kTracking), 2) + " s and searched for " +
         io::Fixed(SecondsOf(Method::kSampling), 2) + " s, in " + std::to_string(parts.size()) +
         (parts.size() == 1 ? " part by " : " parts by ") + std::to_string(num_searches) +
         (num_searches == 1 ? " search" : " searches");
}

io::Json HybridControl::ToJson() const {
  io::Json list = io::Json::array();
  for (const HybridPart& part : parts) {
    list.push_back({{"method", Name(part.method)},
                    {"start", part.first_step * control.world.time_step},
                    {"end", part.end_step * control.world.time_step}});
  }
  return {{"parts", list}, {"searches", num_searches}, {"cpu_seconds", cpu_seconds}};
}

bool CanBeHybrid(const task::PreparedClip& clip, const Configuration& configuration) {
  // A part would meet what moves on a course where it was at the start.
  const std::vector<simulation::Box>& boxes = clip.preparation.task.world.environment.boxes;
  const bool moves = std::any_of(boxes.begin(), boxes.end(), [](const simulation::Box& box) { return !!box.course; });
  return !moves && configuration.tracking.servo == tracking::Servo::kCharacter;
}

HybridControl FindHybrid(const task::PreparedClip& clip, const Configuration& configuration, int threads,
                         const HybridHooks& hooks) {
  return HybridSearch(clip, configuration, threads, hooks).Run();
}

}  // namespace retrace::runs
