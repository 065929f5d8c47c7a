#include "retrace/planning/segments/settle.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/cutting.h"
#include "retrace/io/error.h"
#include "retrace/metrics/posture.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/motion_start.h"
#include "retrace/planning/segments/rest.h"
#include "retrace/planning/segments/segment_tracking.h"
#include "retrace/runs/libraries/control_library.h"

namespace retrace::runs {
namespace {

// Time before the end of a segment in which feedback may take over, and between two such instants.
constexpr double kHandOverWithin = 0.8, kHandOversApart = 0.15;  // [s]
constexpr double kSearchedAnew =
    2;  // before that end, from where the rest is searched for where nothing else works [s]

class Settler {
 public:
  Settler(const SettleProblem& problem, FoundSegment& way, std::vector<character::Pose>& followed, int& feedback_from)
      : problem_(problem.way),
        poses_(problem.poses),
        at_rest_(problem.at_rest),
        way_(way),
        followed_(followed),
        feedback_from_(feedback_from),
        end_(way.fragments.back().end_step()),
        whole_(SimulateSegment(problem_, way.fragments)) {}

  bool Run() {
    const std::vector<int> steps = HandOvers();
    for (const std::vector<character::Pose>* onward :
         {&poses_, static_cast<const std::vector<character::Pose>*>(nullptr), &at_rest_}) {
      if (onward == &at_rest_ && at_rest_.empty()) continue;
      for (const int step : steps) {
        if (From(onward, step, true)) return true;
      }
    }
    if (From(&poses_, steps.back(), false)) return true;
    // It may have come to stand in a pose that leads nowhere: once more from before it stood.
    const int before = end_ - StepsIn(kSearchedAnew);
    int step = steps.back();
    for (const control::Fragment& fragment : way_.fragments) {
      if (fragment.end_step() <= before) step = fragment.end_step();
    }
    return step <= before && From(&poses_, step, false);
  }

 private:
  double h() const { return problem_.world.time_step; }
  int StepsIn(double seconds) const { return static_cast<int>(std::lround(seconds / h())); }

  /// From the end on back, at which fragments end.
  std::vector<int> HandOvers() const {
    std::vector<int> steps;
    for (size_t f = way_.fragments.size(); f-- > 0;) {
      const int step = way_.fragments[f].end_step();
      if (end_ - step > StepsIn(kHandOverWithin)) break;
      if (steps.empty() || steps.back() - step >= StepsIn(kHandOversApart)) steps.push_back(step);
    }
    return steps;
  }

  /// Along these poses, or none: in the pose at hand.
  bool From(const std::vector<character::Pose>* onward, int step, bool feedback) {
    if (problem_.stop && problem_.stop()) throw StoppedError("stopped");
    const character::State& state = whole_.states[static_cast<size_t>(step - problem_.first_step)];
    const double time = (step - problem_.first_step) * h();
    const std::vector<character::Pose> rest =
        onward != nullptr ? RestOf(*onward, time, state) : StillFrom(state, DurationOf(poses_) - time);
    const SegmentProblem next{
        problem_.character, problem_.world,     state, step, rest, problem_.configuration, 1, 1, problem_.threads,
        problem_.stop,      problem_.companions};
    FoundSegment on = feedback ? TrackSegment(next) : SearchSegment(next);
    way_.cpu_seconds += on.cpu_seconds;
    const double reached = time + on.reached;
    const bool found = on.reached_end && (feedback || StaysUp(next, on.fragments));
    if (!found && (feedback || reached <= way_.reached)) return false;
    way_.fragments = control::Truncate(step, way_.fragments);
    way_.fragments.insert(way_.fragments.end(), on.fragments.begin(), on.fragments.end());
    way_.end = on.end;
    way_.reached = reached;
    followed_.resize(static_cast<size_t>(std::ceil(time / kCompositionFrame - 1e-9)));
    AppendPoses(problem_.character, rest, time, followed_);
    if (feedback) feedback_from_ = step;
    return found;
  }

  /// Whether the root stays as high as in standing: a search may sink within tolerance.
  bool StaysUp(const SegmentProblem& next, const std::vector<control::Fragment>& fragments) const {
    const control::Trajectory whole = SimulateSegment(next, fragments);
    const auto root = static_cast<size_t>(problem_.character.root);
    const double low = kStandingRoot * problem_.character.bodies[root].rest_position.y();
    return std::all_of(whole.states.begin() + std::max(0, end_ - next.first_step), whole.states.end(),
                       [&](const character::State& state) { return state[root].position.y() > low; });
  }

  character::State Own(const character::State& state) const {
    return {state.begin(), state.begin() + std::ssize(problem_.character.bodies)};
  }

  /// Poses from a time on [s], put where a state is.
  std::vector<character::Pose> RestOf(const std::vector<character::Pose>& poses, double time,
                                      const character::State& state) const {
    const character::ReferenceMotion motion(problem_.character, kCompositionFrame, poses, kCompositionFrame);
    std::vector<character::Pose> rest(NumCompositionFrames(motion.duration() - time));
    for (size_t f = 0; f < rest.size(); ++f) motion.PoseAt(time + static_cast<double>(f) * kCompositionFrame, rest[f]);
    return StartingFrom(problem_.character, Own(state), std::move(rest), kCompositionFrame);
  }

  /// The pose of a state, whose root comes to rest.
  std::vector<character::Pose> StillFrom(const character::State& state, double duration) const {
    std::vector<character::Pose> poses(NumCompositionFrames(duration));
    Vec3 velocity = state[static_cast<size_t>(problem_.character.root)].linear_velocity;
    velocity.y() = 0;
    for (size_t f = 0; f < poses.size(); ++f) {
      character::PoseOf(problem_.character, state, poses[f]);
      poses[f].root_position += PathToRest(velocity, static_cast<double>(f) * kCompositionFrame);
    }
    return poses;
  }

  const SegmentProblem& problem_;
  const std::vector<character::Pose>&poses_, &at_rest_;
  FoundSegment& way_;
  std::vector<character::Pose>& followed_;
  int& feedback_from_;
  const int end_;                    // of the segment as it came, where it stands
  const control::Trajectory whole_;  // of all in the world, along the segment as it came
};

}  // namespace

bool Settle(const SettleProblem& problem, FoundSegment& way, std::vector<character::Pose>& followed,
            int& feedback_from) {
  return Settler(problem, way, followed, feedback_from).Run();
}

}  // namespace retrace::runs
