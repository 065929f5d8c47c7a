#include "retrace/planning/composition/composition.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "composition_builder.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/metrics/posture.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/falling.h"
#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {
namespace {

constexpr double kLeastPlayed = 0.5;  // of a part before it is left [s]
constexpr double kExitWindow = 1.0;   // before the end of a part, in which it may be left [s]
constexpr double kCutsApart = 0.3;    // between two cuts that are both tried [s]
constexpr double kReaction = 0.2;     // after the start of a push the plan goes on for so long [s]
constexpr int kEfforts[] = {1, 4};    // factors on samples, one after the other
constexpr double kGoodEnd =
    0.2;  // distance of a transition from the end of its control at which it is taken at once [m]
// Falls and get-ups.
constexpr double kNear = 0.3;           // where there is a get-up, farther transitions after a push are not tried [m]
constexpr double kGetUpWindow = 0.35;   // share of a get-up in which it may be entered
constexpr double kShareOfBudget = 0.5;  // of a transition that is tried then: there are others
constexpr double kNamedCut = 0.2;       // from the time that is named, within which a control is entered [s]
constexpr double kFallSpeed = 0.4;      // of the center of mass, above which a body still falls [m/s]
constexpr int kMostGetUps = 6;          // of the nearest that are tried
constexpr int kMostBreakFalls = 4;      // of the nearest cuts during a fall that are tried

class Composer {
 public:
  Composer(const CompositionProblem& problem, int threads, const CompositionHooks& hooks)
      : problem_(problem),
        threads_(threads),
        hooks_(hooks),
        character_(problem.controls[0].run.scene.characters[0]),
        motion_(problem),
        planned_(problem.play[0]) {}

  Composition Run() {
    if (hooks_.on_part) hooks_.on_part(motion_.parts()[0]);
    const size_t first = problem_.begins ? 1 : 0;  // of the plan
    size_t next = 1, push = problem_.num_begun;
    bool stopped = false;
    try {
      for (;;) {
        const std::optional<int> exit = push < problem_.pushes.size() ? ExitAfter(problem_.pushes[push]) : std::nullopt;
        if (exit) {
          if (!Answer(problem_.pushes[push++], *exit)) break;
        } else if (next < problem_.play.size() || motion_.duration() < problem_.settings.seconds) {
          if (!Follow(problem_.play[first + (next++ - first) % (problem_.play.size() - first)])) break;
        } else {
          break;
        }
      }
    } catch (const StoppedError& error) {
      stopped = true;
      ending_ = "stopped";
    }
    return motion_.Finish(ending_, stopped);
  }

 private:
  bool Is(Transition transition) const { return problem_.settings.transition == transition; }
  double h() const { return motion_.h(); }
  int StepsIn(double seconds) const { return motion_.StepsIn(seconds); }

  /// How the last part was entered, and how else it may be.
  struct Choice {
    CompositionBuilder::Snapshot before;
    std::vector<Cut> cuts;
    size_t next = 0;  // of the cuts, in the first effort and then in the next one
    size_t efforts = 1;
    CompositionEvent event = CompositionEvent::kPlan;
    bool in_fall = false;
    size_t num_parts = 0;    // with this one
    std::vector<Way> found;  // the others that were found, the one in front that ends nearest
  };

  /// Where the last part may be left.
  std::vector<int> Exits() const {
    const int end = motion_.num_steps(), begin = motion_.parts().back().first_step;
    std::vector<int> exits;
    for (const control::Fragment& fragment : motion_.fragments()) {
      const int exit = fragment.end_step();
      if (exit == end || (exit >= begin + StepsIn(kLeastPlayed) && exit >= end - StepsIn(kExitWindow))) {
        exits.push_back(exit);
      }
    }
    return exits;
  }

  /// The next control of the plan.
  bool Follow(size_t control) {
    if (LiesAtEnd() && !problem_.controls[control].GetsUp()) return RiseInto(control);
    if (TryAll(CutsFrom(Exits(), {control}), CompositionEvent::kPlan) || EnterLastPartAnew(control)) {
      planned_ = control;
      return true;
    }
    ending_ = "no way found from " + problem_.controls[motion_.parts().back().control].name + " into " +
              problem_.controls[control].name;
    return false;
  }

  /// The last part may have ended where nothing leads on, although it stayed within tolerance: the ways into it that
  /// have not been tried yet, as far as one of them leads on into a control.
  bool EnterLastPartAnew(size_t control) {
    if (!choice_ || choice_->num_parts != motion_.parts().size() ||
        motion_.PushedAfter(motion_.parts().back().first_step)) {
      return false;
    }
    const Choice choice = *std::exchange(choice_, std::nullopt);
    const CompositionBuilder::Snapshot here = motion_.Take();
    const bool told = std::exchange(silent_, true);
    in_fall_ = choice.in_fall;
    bool found = false;
    for (size_t w = 0; w < choice.found.size() && !found; ++w) {
      motion_.BackTo(choice.before);
      GoOnBy(choice.found[w]);
      found = TryAll(CutsFrom(Exits(), {control}), CompositionEvent::kPlan, 1);
    }
    for (size_t t = choice.next; t < choice.cuts.size() * choice.efforts && !found; ++t) {
      motion_.BackTo(choice.before);
      found = TryCut(choice.cuts[t % choice.cuts.size()], choice.event, kEfforts[t / choice.cuts.size()],
                     static_cast<int>(t) + 1) &&
              TryAll(CutsFrom(Exits(), {control}), CompositionEvent::kPlan, 1);
    }
    in_fall_ = false;
    silent_ = told;
    if (!found) {
      motion_.BackTo(here);
      return false;
    }
    const size_t known = choice.num_parts - 1;
    if (hooks_.on_back) hooks_.on_back(here.parts[known].first_step * h());
    for (size_t p = known; hooks_.on_part && p < motion_.parts().size(); ++p) hooks_.on_part(motion_.parts()[p]);
    return true;
  }

  /// After a push the motion goes on that is nearest, be it the same one; where that does not succeed, the character
  /// falls and gets up again. Then the plan goes on.
  bool Answer(const control::Push& push, int exit) {
    std::vector<Cut> cuts = CutsFrom({exit}, problem_.OfAnswers());
    const bool can_fall = !problem_.get_ups.empty() && !Is(Transition::kPlain);
    if (can_fall || Is(Transition::kKinematic))
      std::erase_if(cuts, [](const Cut& cut) { return cut.distance > kNear; });
    if (TryAll(cuts, CompositionEvent::kAnswer, can_fall ? 1 : std::size(kEfforts))) return true;
    ending_ = "no way found after the push at " + io::Fixed(push.start, 2) + " s";
    if (problem_.get_ups.empty()) ending_ += ", and the library has no get-up";
    if (!can_fall) return false;
    in_fall_ = true;
    const bool up = FallAndGetUp(exit, push.start, "after the push at " + io::Fixed(push.start, 2) + " s");
    in_fall_ = false;
    return up;
  }

  /// The first end of a fragment at which a push may be answered. None yet: what comes next may have one, and where
  /// nothing comes next, the push comes at the end, and nothing is left to be played.
  std::optional<int> ExitAfter(const control::Push& push) const {
    const double least = std::max(push.start + kReaction, push.start + push.duration);
    for (const control::Fragment& fragment : motion_.fragments()) {
      const int exit = fragment.end_step();
      if (exit * h() >= least - 1e-9 && static_cast<size_t>(exit) < motion_.actual().size()) return exit;
    }
    return std::nullopt;
  }

  /// A transition from lying into a get-up.
  struct GetUpPlan {
    size_t fall = 0;
    control::Fragment drive;
    Cut cut;  // at the end of the drive
  };

  /// Up from the ground on which the last part ends, and on with a control.
  bool RiseInto(size_t control) {
    const double end = motion_.duration();
    planned_ = control;
    in_fall_ = true;
    const bool up = FallAndGetUp(motion_.num_steps(), end, "from the ground at " + io::Fixed(end, 2) + " s");
    in_fall_ = false;
    return up;
  }

  /// Whether the last part ends on the ground, and the library has a get-up.
  bool LiesAtEnd() const {
    const auto root = static_cast<size_t>(character_.root);
    const double height = character_.bodies[root].rest_position.y();
    return !problem_.get_ups.empty() && motion_.actual().back()[root].position.y() < kLowRoot * height;
  }

  /// A control that is entered while the body falls, and on from its end: with the plan, or up from the ground.
  /// @param fall of `falls` by which each of the cuts is met
  bool BreakFall(const CompositionBuilder::Snapshot& before, int exit, const std::string& when,
                 const std::vector<CompositionBuilder::Piece>& falls) {
    struct Entry {
      size_t fall;
      Cut cut;
    };
    std::vector<Entry> entries;
    const CompositionProblem::Rise* const named =
        num_falls_ <= problem_.break_falls.size() ? &problem_.break_falls[num_falls_ - 1] : nullptr;
    for (size_t f = 0; f < falls.size(); ++f) {
      FallAgain(before, exit, falls[f]);
      std::vector<int> exits;
      for (const control::Fragment& fragment : falls[f].fragments) {
        const character::State& state = motion_.actual()[static_cast<size_t>(fragment.end_step())];
        const bool falling = character::CenterOfMassVelocity(character_, state).norm() > kFallSpeed;
        if (falling) exits.push_back(fragment.end_step());
      }
      for (const Cut& cut :
           named != nullptr ? CutsFrom(exits, named->controls, named->time) : CutsFrom(exits, problem_.OfFalls())) {
        if (named != nullptr || cut.distance <= kNear) entries.push_back({f, cut});
      }
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.cut.distance < b.cut.distance; });
    const auto most = static_cast<size_t>(named != nullptr ? problem_.settings.cuts : kMostBreakFalls);
    if (entries.size() > most) entries.resize(most);
    struct Found {
      size_t fall;
      Way way;
    };
    std::vector<Found> found;  // that end far from the ends of their controls
    const auto leads_on = [&](const Found& entered) {
      FallAgain(before, exit, falls[entered.fall]);
      GoOnBy(entered.way);
      if (!LiesAtEnd() && Resume()) return true;
      return FallAndGetUp(motion_.num_steps(), motion_.duration(), when, false);
    };
    const size_t efforts = named != nullptr ? std::size(kEfforts) : 1;
    for (size_t t = 0; t < entries.size() * efforts && (found.empty() || t < entries.size()); ++t) {
      const Entry& entry = entries[t % entries.size()];
      FallAgain(before, exit, falls[entry.fall]);
      std::optional<Way> way =
          FindWay(entry.cut, CompositionEvent::kBreakFall, kEfforts[t / entries.size()], static_cast<int>(t) + 1);
      if (!way) continue;
      Found entered{entry.fall, std::move(*way)};
      if (entered.way.end_distance > kGoodEnd) {
        found.push_back(std::move(entered));
      } else if (leads_on(entered)) {
        return true;
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.way.end_distance < b.way.end_distance; });
    return std::any_of(found.begin(), found.end(), leads_on);
  }

  /// Where a get-up can be entered depends on how the body lies. So several falls are simulated, and the get-ups are
  /// tried that servos bring nearest from any of them.
  /// @param exit step at which the plan is left
  /// @param since when there is nothing to follow any more [s]
  /// @param when as text for messages
  /// @param first fall after a push: not one after a control that was entered during such a fall
  bool FallAndGetUp(int exit, double since, const std::string& when, bool first = true) {
    motion_.CutOff(exit, since);
    const CompositionBuilder::Snapshot before = motion_.Take();
    if (first) ++num_falls_;
    const CompositionProblem::Rise rise =
        num_falls_ <= problem_.rises.size() ? problem_.rises[num_falls_ - 1] : CompositionProblem::Rise();
    const size_t most_falls = Is(Transition::kKinematic) ? 1 : std::size(kFallGains);
    std::vector<CompositionBuilder::Piece> falls;
    std::vector<GetUpPlan> ways;
    for (size_t g = 0; g < most_falls; ++g) {
      motion_.BackTo(before);
      const bool fell = FallUntilStill(
          character_, kFallGains[g], exit, h(), [&] { return motion_.actual().back(); },
          [&](const control::Fragment& fragment) { return motion_.Play(fragment); });
      if (!fell) continue;
      falls.push_back(motion_.Since(before));
      std::vector<GetUpPlan> from_here = rise.controls.empty()
                                             ? WaysUp(problem_.get_ups, kGetUpWindow, 1)
                                             : WaysUp({rise.controls[0]}, 1, problem_.settings.cuts, rise.time);
      for (GetUpPlan& way : from_here) {
        way.fall = falls.size() - 1;
        ways.push_back(std::move(way));
      }
    }
    if (falls.empty()) {
      ending_ = "the fall " + when + " diverges";
      return false;
    }
    std::stable_sort(ways.begin(), ways.end(),
                     [](const GetUpPlan& a, const GetUpPlan& b) { return a.cut.distance < b.cut.distance; });
    if (ways.size() > static_cast<size_t>(kMostGetUps)) ways.resize(kMostGetUps);
    const auto tell = [&] {  // failed attempts are not reported
      if (!first) return;
      for (size_t p = before.parts.size(); hooks_.on_part && p < motion_.parts().size(); ++p) {
        hooks_.on_part(motion_.parts()[p]);
      }
    };
    const bool may_break = num_falls_ <= problem_.break_falls.size() || rise.controls.empty();
    if (first && may_break && BreakFall(before, exit, when, falls)) {
      tell();
      ending_ = "completed";
      return true;
    }
    for (size_t t = 0; t < ways.size() * std::size(kEfforts); ++t) {
      const GetUpPlan& way = ways[t % ways.size()];
      FallAgain(before, exit, falls[way.fall]);
      motion_.Play(way.drive);
      motion_.Add({way.drive.first_step, way.cut.control, way.cut.step, way.cut.distance, static_cast<int>(t) + 1,
                   CompositionEvent::kDrive, 0});
      if (!TryCut(way.cut, CompositionEvent::kGetUp, kEfforts[t / ways.size()], static_cast<int>(t) + 1)) continue;
      if (!FollowAll(rise.controls) || !Resume()) continue;
      tell();
      ending_ = "completed";
      return true;
    }
    FallAgain(before, exit, falls[ways.empty() ? 0 : ways[0].fall]);
    tell();
    ending_ = "no way found up " + when;
    return false;
  }

  void FallAgain(const CompositionBuilder::Snapshot& before, int exit, const CompositionBuilder::Piece& fall) {
    motion_.Again(before, fall);
    motion_.Add({exit, planned_, 0, 0, 0, CompositionEvent::kFall, 0});
  }

  /// All controls that lead up but the first one, one after the other.
  bool FollowAll(const std::vector<size_t>& rise) {
    const bool told = std::exchange(silent_, true);
    bool found = true;
    for (size_t r = 1; r < rise.size() && found; ++r) {
      found = TryAll(CutsFrom(Exits(), {rise[r]}), CompositionEvent::kGetUp, 1);
    }
    silent_ = told;
    return found;
  }

  /// From where the character lies to the controls that are nearest once servos have gone to them.
  /// @param window share of a control in which it may be entered, as long as it is near the ground
  /// @param most transitions into each of them
  /// @param time about which it is entered, whether it is near the ground there or not [s]
  std::vector<GetUpPlan> WaysUp(const std::vector<size_t>& controls, double window, int most,
                                const std::optional<double>& time = {}) {
    const int here = motion_.num_steps(), steps = StepsIn(kDriveTime);
    std::vector<GetUpPlan> ways;
    const CompositionBuilder::Snapshot fallen = motion_.Take();
    for (const size_t c : controls) {
      const LibraryControl& control = problem_.controls[c];
      const int last = std::min(static_cast<int>(window * control.control.num_steps()),
                                control.control.num_steps() - StepsIn(kLeastPlayed));
      std::vector<Cut> cuts;
      for (int step = 0; step <= last; step += StepsIn(kCutInterval)) {
        const int cut = Is(Transition::kSearched) ? step : FragmentStart(control, step);
        if (time ? std::abs(step * h() - *time) > kNamedCut : control.RootShare(static_cast<size_t>(cut)) > kLowRoot) {
          continue;
        }
        cuts.push_back(
            {here + steps, c, cut, metrics::StateDistance(character_, motion_.actual().back(), StateOf(control, cut))});
      }
      for (Cut cut : Nearest(std::move(cuts), most)) {
        control::Fragment drive = DriveTo(character_, motion_.actual().back(), StateOf(control, cut.step), here, steps);
        if (motion_.Play(drive)) {
          cut.distance = metrics::StateDistance(character_, motion_.actual().back(), StateOf(control, cut.step));
          ways.push_back({0, std::move(drive), cut});
        }
        motion_.BackTo(fallen);
      }
    }
    return ways;
  }

  /// On with the control of the plan that a fall interrupted, or else with any on which one stands: a step may catch
  /// what standing cannot.
  bool Resume() {
    const std::vector<int> exits = Exits();
    const bool told = std::exchange(silent_, true);
    bool found = TryAll(CutsFrom(exits, {planned_}), CompositionEvent::kResume, 1);
    if (!found) found = TryAll(CutsFrom(exits, problem_.OfAnswers()), CompositionEvent::kResume, 1);
    silent_ = told;
    return found;
  }

  /// The nearest ones, some time apart.
  /// @param time about which a control is entered [s]; none: at any of its cuts
  std::vector<Cut> CutsFrom(const std::vector<int>& exits, const std::vector<size_t>& controls,
                            const std::optional<double>& time = {}) const {
    std::vector<Cut> all;
    for (const int exit : exits) {
      if (static_cast<size_t>(exit) >= motion_.actual().size()) continue;
      for (const size_t c : controls) {
        const LibraryControl& control = problem_.controls[c];
        for (const int step : control.Cuts()) {
          const int cut = Is(Transition::kSearched) ? step : FragmentStart(control, step);
          if (time && std::abs(cut * h() - *time) > kNamedCut) continue;
          const double distance =
              metrics::StateDistance(character_, motion_.actual()[static_cast<size_t>(exit)], StateOf(control, cut));
          all.push_back({exit, c, cut, distance});
        }
      }
    }
    return Nearest(std::move(all), problem_.settings.cuts);
  }

  /// As many as `most`.
  std::vector<Cut> Nearest(std::vector<Cut> all, int most) const {
    std::stable_sort(all.begin(), all.end(), [](const Cut& a, const Cut& b) { return a.distance < b.distance; });
    std::vector<Cut> cuts;
    const int apart = StepsIn(kCutsApart);
    for (const Cut& cut : all) {
      const bool near = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& other) {
        return other.control == cut.control && std::abs(other.step - cut.step) < apart &&
               std::abs(other.exit_step - cut.exit_step) < apart;
      });
      if (!near) cuts.push_back(cut);
      if (cuts.size() == static_cast<size_t>(most)) break;
    }
    return cuts;
  }

  static int FragmentStart(const LibraryControl& control, int step) {
    int start = 0;
    for (const control::Fragment& fragment : control.control.fragments) {
      if (fragment.first_step <= step) start = fragment.first_step;
    }
    return start;
  }

  /// The first transition that ends near the end of its control, or else the one that ends nearest: a motion may stay
  /// within the tolerances to its end, and be lost there. Where no cut leads on, all are tried once more with more
  /// samples.
  bool TryAll(const std::vector<Cut>& cuts, CompositionEvent event, size_t efforts = std::size(kEfforts)) {
    Choice choice = {motion_.Take(), cuts, 0, efforts, event, in_fall_, 0, {}};
    std::vector<Way>& found = choice.found;
    while (choice.next < cuts.size() * efforts && (found.empty() || choice.next < cuts.size())) {
      const size_t t = choice.next++;
      std::optional<Way> way =
          FindWay(cuts[t % cuts.size()], event, kEfforts[t / cuts.size()], static_cast<int>(t) + 1);
      if (!way) continue;
      found.push_back(std::move(*way));
      if (found.back().end_distance <= kGoodEnd) break;
    }
    if (found.empty()) return false;
    std::stable_sort(found.begin(), found.end(),
                     [](const Way& a, const Way& b) { return a.end_distance < b.end_distance; });
    Way best = std::move(found.front());
    found.erase(found.begin());
    GoOnBy(std::move(best));
    choice.num_parts = motion_.parts().size();
    choice_ = std::move(choice);
    return true;
  }

  /// @param effort factor on samples and simulated time
  bool TryCut(const Cut& cut, CompositionEvent event, int effort, int tries) {
    std::optional<Way> way = FindWay(cut, event, effort, tries);
    if (way) GoOnBy(std::move(*way));
    return way.has_value();
  }

  std::optional<Way> FindWay(const Cut& cut, CompositionEvent event, int effort, int tries) {
    if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
    Way way = {.cut = cut, .reference = motion_.ReferenceFrom(cut)};
    if (tries == 1) cpu_seconds_ = 0;
    if (!Is(Transition::kSearched)) {
      way.fragments = motion_.FragmentsFrom(cut);
    } else if (!Search(event, effort, way)) {
      return std::nullopt;
    }
    way.part = {cut.exit_step, cut.control, cut.step, cut.distance, tries, event, 0, problem_.settings.transition};
    if (Is(Transition::kKinematic)) way.part.hidden_impulse = motion_.Jump(cut);
    return way;
  }

  void GoOnBy(Way way) {
    way.part.cpu_seconds = cpu_seconds_;
    motion_.Append(way);
    motion_.Add(way.part);
    const bool told_later =
        way.part.event == CompositionEvent::kGetUp || way.part.event == CompositionEvent::kBreakFall;
    if (hooks_.on_part && !silent_ && !told_later) hooks_.on_part(way.part);
  }

  /// @param effort factor on samples and simulated time
  bool Search(CompositionEvent event, int effort, Way& way) {
    const Cut& cut = way.cut;
    const LibraryControl& control = problem_.controls[cut.control];
    FoundSegment searched = SearchSegment(
        {character_, motion_.world(), motion_.actual()[static_cast<size_t>(cut.exit_step)], cut.exit_step,
         way.reference, problem_.settings.configuration, effort, in_fall_ ? kShareOfBudget : 1, threads_, hooks_.stop});
    cpu_seconds_ += searched.cpu_seconds;
    if (searched.reached_end) {
      way.end_distance = metrics::StateDistance(character_, searched.end_state, control.states.back());
    }
    if (hooks_.on_try) {
      const double duration = (control.control.num_steps() - cut.step) * h();
      hooks_.on_try({event, cut.control, cut.exit_step, cut.step, cut.distance, effort, searched.reached, duration,
                     searched.reached_end, way.end_distance});
    }
    if (!searched.reached_end) return false;
    way.fragments = std::move(searched.fragments);
    way.end = searched.end;
    return true;
  }

  const CompositionProblem& problem_;
  int threads_;
  const CompositionHooks& hooks_;
  const character::Character& character_;
  CompositionBuilder motion_;
  std::string ending_ = "completed";
  size_t planned_;  // control of the plan that is played, or interrupted
  size_t num_falls_ = 0;
  std::optional<Choice> choice_;
  bool in_fall_ = false;    // a get-up is sought
  bool silent_ = false;     // parts are not reported, because they may be discarded
  double cpu_seconds_ = 0;  // of the tries of a part
};

}  // namespace

Composition Compose(const CompositionProblem& problem, int threads, const CompositionHooks& hooks) {
  return Composer(problem, threads, hooks).Run();
}

}  // namespace retrace::runs
