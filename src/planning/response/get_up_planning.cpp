#include "get_up_planning.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "response_candidates.h"
#include "retrace/io/error.h"
#include "retrace/metrics/posture.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/falling.h"
#include "retrace/runs/libraries/control_library.h"

namespace retrace::runs {
namespace {

constexpr size_t kMostPlaces = 12;  // of the library, for each fall

class Faller {
 public:
  Faller(const ImpactSimulation& struck, const SegmentProblem& from)
      : struck_(struck), from_(from), character_(from.character) {}

  std::vector<GetUpPlan> Run(size_t most) const {
    std::vector<GetUpPlan> ways;
    for (const double gain : kFallGains) {
      if (from_.stop && from_.stop()) throw StoppedError("stopped");
      const std::optional<Lead> fall = Fall(gain);
      if (!fall) continue;
      for (const matching::Match& place : PlacesLike(OwnState(*fall))) {
        if (std::optional<GetUpPlan> way = DriveTo(*fall, place)) ways.push_back(std::move(*way));
      }
    }
    std::stable_sort(ways.begin(), ways.end(),
                     [](const GetUpPlan& a, const GetUpPlan& b) { return a.candidate.gap < b.candidate.gap; });
    std::vector<GetUpPlan> nearest;
    for (GetUpPlan& way : ways) {
      const bool known = std::any_of(nearest.begin(), nearest.end(), [&](const GetUpPlan& other) {
        return other.candidate.motion == way.candidate.motion;
      });
      if (!known && nearest.size() < most) nearest.push_back(std::move(way));
    }
    return nearest;
  }

 private:
  int StepsIn(double seconds) const { return struck_.StepOf(seconds); }
  double TimeOf(int step) const { return step * struck_.h(); }
  character::State OwnState(const Lead& lead) const {
    return {lead.end.begin(), lead.end.begin() + std::ssize(character_.bodies)};
  }

  bool Lies(const character::State& state) const {
    const auto root = static_cast<size_t>(character_.root);
    return state[root].position.y() < kLowRoot * character_.bodies[root].rest_position.y();
  }

  /// False where the simulation diverges.
  bool Play(control::Fragment fragment, Lead& lead) const {
    SegmentProblem next{character_, from_.world, lead.end,      lead.end_step, from_.poses,     from_.configuration,
                        1,          1,           from_.threads, from_.stop,    from_.companions};
    next.pushes = from_.pushes;
    next.endings = from_.endings;
    const control::Trajectory whole = SimulateSegment(next, {&fragment, 1});
    if (whole.diverged) return false;
    for (size_t s = 0; s + 1 < whole.states.size(); ++s) {
      lead.states.emplace_back(whole.states[s].begin(), whole.states[s].begin() + std::ssize(character_.bodies));
    }
    lead.end = whole.states.back();
    lead.end_step = fragment.end_step();
    lead.fragments.push_back(std::move(fragment));
    return true;
  }

  /// Until it lies still; nothing where it does not come to lie.
  std::optional<Lead> Fall(double gain) const {
    Lead lead;
    lead.end = from_.start;
    lead.end_step = from_.first_step;
    const bool falls = FallUntilStill(
        character_, gain, lead.end_step, struck_.h(), [&] { return OwnState(lead); },
        [&](control::Fragment fragment) { return Play(std::move(fragment), lead); });
    if (!falls || !Lies(lead.end)) return std::nullopt;
    return lead;
  }

  /// Poses of the library, however they move.
  std::vector<matching::Match> PlacesLike(const character::State& lying) const {
    matching::WindowOptions options = struck_.problem().settings.window;
    options.frames = 1;
    options.velocity_time = 0;
    const matching::Frame frame = matching::FrameOf(character_, lying, Vec3::Zero());
    return matching::WindowSearch(struck_.problem().library.motions(), {&frame, 1}, {0}, options)
        .NearestMotions(kMostPlaces);
  }

  std::optional<GetUpPlan> DriveTo(const Lead& fall, const matching::Match& place) const {
    GetUpPlan way;
    way.lead = fall;
    ResponseCandidate& candidate = way.candidate;
    candidate.motion = place.motion;
    candidate.time = static_cast<double>(place.frame) * matching::kFrameTime;
    candidate.distance = place.distance;
    candidate.lies_at = TimeOf(fall.end_step);
    const int steps = StepsIn(kDriveTime);
    candidate.start = TimeOf(fall.end_step + steps - struck_.impact());
    if (!FindEnd(struck_, candidate)) return std::nullopt;
    character::State goal;
    struck_.MotionOf(candidate).StateAt(candidate.time, goal);
    if (!Lies(goal)) return std::nullopt;
    if (!Play(runs::DriveTo(character_, OwnState(fall), goal, fall.end_step, steps), way.lead)) return std::nullopt;
    candidate.gap = metrics::StateDistance(character_, OwnState(way.lead), goal);
    return way;
  }

  const ImpactSimulation& struck_;
  const SegmentProblem& from_;
  const character::Character& character_;
};

}  // namespace

std::vector<GetUpPlan> PlanGetUps(const ImpactSimulation& struck, const SegmentProblem& from, size_t most) {
  return Faller(struck, from).Run(most);
}

}  // namespace retrace::runs
