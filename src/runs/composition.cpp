#include "retrace/runs/composition.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "composition_frames.h"
#include "falling.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/runs/pushes.h"
#include "searched_way.h"
#include "split.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr double kLeastPlayed = 0.5;    // of a part before it is left [s]
constexpr double kExitWindow = 1.0;     // before the end of a part, in which it may be left [s]
constexpr double kCutsApart = 0.3;      // between two cuts that are both tried [s]
constexpr double kReaction = 0.2;       // after the start of a push the plan goes on for so long [s]
constexpr double kBlend = 0.3;          // in which a reference goes over from the state at hand to the motion [s]
constexpr double kBlendOnGround = 0.6;  // the same where the root is low [s]
constexpr int kEfforts[] = {1, 4};      // factors on samples, one after the other
constexpr double kGoodEnd = 0.2;        // of a way from the end of its control, with which it is taken at once [m]
// Falls and get-ups.
constexpr double kNear = 0.3;          // where there is a get-up, ways after a push that are farther are not tried [m]
constexpr double kFallStep = 0.1;      // in which the reflexes are what they are [s]
constexpr double kShortestFall = 0.5;  // before a body may be said to lie [s]
constexpr double kLongestFall = 4;     // after which it gets up, still or not [s]
constexpr double kDriveTime = 1.5;     // in which servos go to the pose of a get-up [s]
constexpr double kGetUpWindow = 0.35;  // share of a get-up in which it may be entered
constexpr double kLimpGains[] = {0.2, 0.1, 0.4};  // shares of the servos' strength with which the character may fall
constexpr double kLongestAnswer = 30;             // of a fall with what follows it, for the range of the pushes [s]
constexpr double kShareOfBudget = 0.5;            // of a way that is tried then: there are others
constexpr double kNamedCut = 0.2;                 // from the time that is named, within which a get-up is entered [s]
constexpr int kMostGetUps = 6;                    // of the nearest that are tried

/// A way from a motion into another one.
struct Cut {
  int exit_step = 0;  // of the composed motion
  size_t control = 0;
  int step = 0;  // of that control
  double distance = 0;
};

size_t FindRun(const std::vector<fs::path>& runs, const std::string& name) {
  std::vector<std::string> names;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].filename() == name) return r;
    names.push_back(runs[r].filename().string());
  }
  throw UsageError("--play: found \"" + name + "\", expected one of " + io::List(names));
}

class Composer {
 public:
  Composer(const CompositionJob& job, int threads, const CompositionHooks& hooks)
      : job_(job), threads_(threads), hooks_(hooks), character_(job.controls[0].run.scene.characters[0]) {}

  Composition Run() {
    Begin();
    const size_t first = job_.begins() ? 1 : 0;  // of the plan
    size_t next = 1, push = job_.num_begun;
    try {
      for (;;) {
        const std::optional<int> exit = push < job_.pushes.size() ? ExitAfter(job_.pushes[push]) : std::nullopt;
        if (exit) {
          if (!Answer(job_.pushes[push++], *exit)) break;
        } else if (next < job_.play.size() || result_.control.duration() < job_.options.seconds) {
          if (!Follow(job_.play[first + (next++ - first) % (job_.play.size() - first)])) break;
        } else {
          break;
        }
      }
    } catch (const StoppedError& error) {
      result_.stopped = true;
      result_.ending = "stopped";
    }
    Evaluate();
    result_.control.pushes = job_.pushes;
    return std::move(result_);
  }

 private:
  bool Is(Transition transition) const { return job_.options.transition == transition; }
  double h() const { return result_.control.world.time_step; }
  int StepsIn(double seconds) const { return static_cast<int>(std::lround(seconds / h())); }

  void Begin() {
    const LibraryControl& first = job_.controls[job_.play[0]];
    result_.control = first.control;
    const auto& reference = first.run.characters[0].reference;
    const size_t frames = NumCompositionFrames(first.control.duration());
    for (size_t f = 0; f < frames; ++f) {
      const double time = static_cast<double>(f) * kCompositionFrame;
      character::Pose& pose = result_.reference.emplace_back();
      if (reference) {
        reference->PoseAt(time, pose);
      } else {
        character::PoseOf(character_, StateOf(first, StepsIn(time)), pose);
      }
    }
    planned_ = job_.play[0];
    AddPart({0, planned_, 0, 0, 0, CompositionEvent::kPlan, 0});
    Simulate();
  }

  void AddPart(const CompositionPart& part) {
    result_.parts.push_back(part);
    if (hooks_.on_part) hooks_.on_part(part);
  }

  /// What was composed so far, to come back to.
  struct Snapshot {
    std::vector<control::Fragment> fragments;
    std::vector<control::KinematicTransition> transitions;
    std::vector<character::Pose> reference;
    std::vector<CompositionPart> parts;
    std::vector<character::State> actual;
  };
  Snapshot Take() const {
    return {result_.control.fragments, result_.control.transitions, result_.reference, result_.parts, actual_};
  }
  void BackTo(const Snapshot& snapshot) {
    result_.control.fragments = snapshot.fragments;
    result_.control.transitions = snapshot.transitions;
    result_.reference = snapshot.reference;
    result_.parts = snapshot.parts;
    actual_ = snapshot.actual;
  }

  /// A control that leads on from a cut.
  struct Way {
    Cut cut;
    CompositionPart part = {};
    std::vector<character::Pose> reference = {};
    std::vector<control::Fragment> fragments = {};
    uint64_t end = 0;         // fingerprint of the state in which the search ended
    double end_distance = 0;  // of that state from the end of the control [m]
  };

  /// How the last part was entered, and how else it may be.
  struct Choice {
    Snapshot before;
    std::vector<Cut> cuts;
    size_t next = 0;  // of the cuts, in the first effort and then in the next one
    size_t efforts = 1;
    CompositionEvent event = CompositionEvent::kPlan;
    bool in_fall = false;
    size_t num_parts = 0;    // with this one
    std::vector<Way> found;  // the others that were found, the one in front that ends nearest
  };

  const character::State& StateOf(const LibraryControl& control, int step) const {
    return control.states[std::min(static_cast<size_t>(step), control.states.size() - 1)];
  }

  void Simulate() { actual_ = control::Replay(character_, result_.control, job_.pushes).states; }

  /// Where the last part may be left.
  std::vector<int> Exits() const {
    const int end = result_.control.num_steps(), begin = result_.parts.back().first_step;
    std::vector<int> exits;
    for (const control::Fragment& fragment : result_.control.fragments) {
      const int exit = fragment.end_step();
      if (exit == end || (exit >= begin + StepsIn(kLeastPlayed) && exit >= end - StepsIn(kExitWindow))) {
        exits.push_back(exit);
      }
    }
    return exits;
  }

  /// The next control of the plan.
  bool Follow(size_t control) {
    if (LiesAtEnd() && !job_.controls[control].GetsUp()) return RiseInto(control);
    if (TryAll(CutsFrom(Exits(), {control}), CompositionEvent::kPlan) || EnterLastPartAnew(control)) {
      planned_ = control;
      return true;
    }
    result_.ending = "no way found from " + job_.controls[result_.parts.back().control].name + " into " +
                     job_.controls[control].name;
    return false;
  }

  /// The last part may have ended where nothing leads on, although it stayed within its gates: the ways into it that
  /// have not been tried yet, as far as one of them leads on into a control.
  bool EnterLastPartAnew(size_t control) {
    if (!choice_ || choice_->num_parts != result_.parts.size() || PushedAfter(result_.parts.back().first_step)) {
      return false;
    }
    const Choice choice = *std::exchange(choice_, std::nullopt);
    const Snapshot here = Take();
    const bool told = std::exchange(silent_, true);
    in_fall_ = choice.in_fall;
    bool found = false;
    for (size_t w = 0; w < choice.found.size() && !found; ++w) {
      BackTo(choice.before);
      GoOnBy(choice.found[w]);
      found = TryAll(CutsFrom(Exits(), {control}), CompositionEvent::kPlan, 1);
    }
    for (size_t t = choice.next; t < choice.cuts.size() * choice.efforts && !found; ++t) {
      BackTo(choice.before);
      found = TryCut(choice.cuts[t % choice.cuts.size()], choice.event, kEfforts[t / choice.cuts.size()],
                     static_cast<int>(t) + 1) &&
              TryAll(CutsFrom(Exits(), {control}), CompositionEvent::kPlan, 1);
    }
    in_fall_ = false;
    silent_ = told;
    if (!found) {
      BackTo(here);
      return false;
    }
    const size_t known = choice.num_parts - 1;
    if (hooks_.on_back) hooks_.on_back(here.parts[known].first_step * h());
    for (size_t p = known; hooks_.on_part && p < result_.parts.size(); ++p) hooks_.on_part(result_.parts[p]);
    return true;
  }

  /// After a push the motion goes on that is nearest, be it the same one; where that does not succeed, the character
  /// falls and gets up again. Then the plan goes on.
  bool Answer(const control::Push& push, int exit) {
    std::vector<Cut> cuts = CutsFrom({exit}, job_.OfAnswers());
    const bool can_fall = !job_.get_ups.empty() && !Is(Transition::kPlain);
    if (can_fall || Is(Transition::kKinematic))
      std::erase_if(cuts, [](const Cut& cut) { return cut.distance > kNear; });
    if (TryAll(cuts, CompositionEvent::kAnswer, can_fall ? 1 : std::size(kEfforts))) return true;
    result_.ending = "no way found after the push at " + io::Fixed(push.start, 2) + " s";
    if (job_.get_ups.empty()) result_.ending += ", and the library has no get-up";
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
    for (const control::Fragment& fragment : result_.control.fragments) {
      const int exit = fragment.end_step();
      if (exit * h() >= least - 1e-9 && static_cast<size_t>(exit) < actual_.size()) return exit;
    }
    return std::nullopt;
  }

  /// What came after a snapshot.
  struct Fall {
    std::vector<control::Fragment> fragments;
    std::vector<character::Pose> reference;
    std::vector<character::State> actual;
  };

  /// A way from lying into a get-up.
  struct WayUp {
    size_t fall = 0;
    control::Fragment drive;
    Cut cut;  // at the end of the drive
  };

  /// Up from the ground on which the last part ends, and on with a control.
  bool RiseInto(size_t control) {
    const double end = result_.control.duration();
    planned_ = control;
    in_fall_ = true;
    const bool up = FallAndGetUp(result_.control.num_steps(), end, "from the ground at " + io::Fixed(end, 2) + " s");
    in_fall_ = false;
    return up;
  }

  /// Whether the last part ends on the ground, and the library has a get-up.
  bool LiesAtEnd() const {
    const auto root = static_cast<size_t>(character_.root);
    const double height = character_.bodies[root].rest_position.y();
    return !job_.get_ups.empty() && actual_.back()[root].position.y() < kLowRoot * height;
  }

  /// Where a get-up can be entered depends on how one lies, so that the character falls in some ways, and the get-ups
  /// are tried that servos bring nearest from any of them.
  /// @param exit step at which the plan is left
  /// @param since when there is nothing to follow any more [s]
  /// @param when for people
  bool FallAndGetUp(int exit, double since, const std::string& when) {
    CutOff(exit, since);
    const Snapshot before = Take();
    const CompositionJob::Rise rise = num_falls_ < job_.rises.size() ? job_.rises[num_falls_] : CompositionJob::Rise();
    ++num_falls_;
    const size_t most_falls = Is(Transition::kKinematic) ? 1 : std::size(kLimpGains);
    std::vector<Fall> falls;
    std::vector<WayUp> ways;
    for (size_t g = 0; g < most_falls; ++g) {
      BackTo(before);
      if (!FallLimply(exit, kLimpGains[g])) continue;
      falls.push_back(Since(before));
      std::vector<WayUp> from_here = rise.controls.empty()
                                         ? WaysUp(job_.get_ups, kGetUpWindow, 1)
                                         : WaysUp({rise.controls[0]}, 1, job_.options.cuts, rise.time);
      for (WayUp& way : from_here) {
        way.fall = falls.size() - 1;
        ways.push_back(std::move(way));
      }
    }
    if (falls.empty()) {
      result_.ending = "the fall " + when + " diverges";
      return false;
    }
    std::stable_sort(ways.begin(), ways.end(),
                     [](const WayUp& a, const WayUp& b) { return a.cut.distance < b.cut.distance; });
    if (ways.size() > static_cast<size_t>(kMostGetUps)) ways.resize(kMostGetUps);
    const auto tell = [&] {  // what was tried in vain is not told of
      for (size_t p = before.parts.size(); hooks_.on_part && p < result_.parts.size(); ++p) {
        hooks_.on_part(result_.parts[p]);
      }
    };
    for (size_t t = 0; t < ways.size() * std::size(kEfforts); ++t) {
      const WayUp& way = ways[t % ways.size()];
      FallAgain(before, exit, falls[way.fall]);
      Play(way.drive);
      result_.parts.push_back({way.drive.first_step, way.cut.control, way.cut.step, way.cut.distance,
                               static_cast<int>(t) + 1, CompositionEvent::kDrive, 0});
      if (!TryCut(way.cut, CompositionEvent::kGetUp, kEfforts[t / ways.size()], static_cast<int>(t) + 1)) continue;
      if (!FollowAll(rise.controls) || !Resume()) continue;
      tell();
      result_.ending = "completed";
      return true;
    }
    FallAgain(before, exit, falls[ways.empty() ? 0 : ways[0].fall]);
    tell();
    result_.ending = "no way found up " + when;
    return false;
  }

  /// Until the character lies still. False where the simulation diverges.
  bool FallLimply(int exit, double gain) {
    FallingReflexes reflexes(character_, actual_.back(), gain);
    const int most = StepsIn(kLongestFall), least = StepsIn(kShortestFall), steps = StepsIn(kFallStep);
    for (int fallen = 0; fallen < most; fallen += steps) {
      if (fallen >= least && LiesStill(character_, actual_.back())) break;
      if (!Play(reflexes.From(actual_.back(), exit + fallen, steps))) return false;
    }
    return true;
  }

  template <typename Item>
  static std::vector<Item> Rest(const std::vector<Item>& all, size_t from) {
    return {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()};
  }
  Fall Since(const Snapshot& before) const {
    return {Rest(result_.control.fragments, before.fragments.size()), Rest(result_.reference, before.reference.size()),
            Rest(actual_, before.actual.size())};
  }
  void FallAgain(const Snapshot& before, int exit, const Fall& fall) {
    BackTo(before);
    result_.control.fragments.insert(result_.control.fragments.end(), fall.fragments.begin(), fall.fragments.end());
    result_.reference.insert(result_.reference.end(), fall.reference.begin(), fall.reference.end());
    actual_.insert(actual_.end(), fall.actual.begin(), fall.actual.end());
    result_.parts.push_back({exit, planned_, 0, 0, 0, CompositionEvent::kFall, 0});
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
  /// @param most ways into each of them
  /// @param time about which it is entered, whether it is near the ground there or not [s]
  std::vector<WayUp> WaysUp(const std::vector<size_t>& controls, double window, int most,
                            const std::optional<double>& time = {}) {
    const int here = result_.control.num_steps(), steps = StepsIn(kDriveTime);
    std::vector<WayUp> ways;
    const Snapshot fallen = Take();
    for (const size_t c : controls) {
      const LibraryControl& control = job_.controls[c];
      const int last = std::min(static_cast<int>(window * control.control.num_steps()),
                                control.control.num_steps() - StepsIn(kLeastPlayed));
      std::vector<Cut> cuts;
      for (int step = 0; step <= last; step += StepsIn(kCutInterval)) {
        const int cut = Is(Transition::kSearched) ? step : FragmentStart(control, step);
        if (time ? std::abs(step * h() - *time) > kNamedCut : control.RootShare(static_cast<size_t>(cut)) > kLowRoot) {
          continue;
        }
        cuts.push_back(
            {here + steps, c, cut, metrics::StateDistance(character_, actual_.back(), StateOf(control, cut))});
      }
      for (Cut cut : Nearest(std::move(cuts), most)) {
        control::Fragment drive = DriveTo(character_, actual_.back(), StateOf(control, cut.step), here, steps);
        if (Play(drive)) {
          cut.distance = metrics::StateDistance(character_, actual_.back(), StateOf(control, cut.step));
          ways.push_back({0, std::move(drive), cut});
        }
        BackTo(fallen);
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
    if (!found) found = TryAll(CutsFrom(exits, job_.OfAnswers()), CompositionEvent::kResume, 1);
    silent_ = told;
    return found;
  }

  /// One more fragment, simulated under the pushes from the state at hand; the motion itself takes the place of a
  /// reference. False where it diverges, and then there is none.
  bool Play(const control::Fragment& fragment) {
    if (Is(Transition::kKinematic)) return PlayBehindABlend(fragment);
    control::OpenLoop open_loop({&fragment, 1});
    control::Controller* const controller = &open_loop;
    const character::Character* const character = &character_;
    control::Trajectory played =
        control::Simulate({&character, 1}, result_.control.world, actual_.back(), {&controller, 1}, fragment.first_step,
                          fragment.num_steps, job_.pushes);
    if (played.diverged) return false;
    actual_.insert(actual_.end(), played.states.begin() + 1, played.states.end());
    result_.control.fragments.push_back(fragment);
    FollowItself();
    return true;
  }

  /// The same where the state at hand may be that of a blend, behind which the simulation has another one.
  bool PlayBehindABlend(const control::Fragment& fragment) {
    result_.control.fragments.push_back(fragment);
    Simulate();
    const bool sane = actual_.size() == static_cast<size_t>(result_.control.num_steps()) + 1;
    if (sane) FollowItself();
    return sane;
  }

  /// What is to come from a step on is taken away; from a time on the motion itself takes the place of the reference.
  void CutOff(int exit, double own_from) {
    std::erase_if(result_.control.fragments,
                  [&](const control::Fragment& fragment) { return fragment.first_step >= exit; });
    std::erase_if(result_.control.transitions,
                  [&](const control::KinematicTransition& transition) { return transition.step >= exit; });
    std::erase_if(result_.parts, [&](const CompositionPart& part) { return part.first_step >= exit; });
    actual_.resize(static_cast<size_t>(exit) + 1);
    result_.reference.resize(std::min(NumCompositionFrames(own_from), result_.reference.size()));
    FollowItself();
  }

  void FollowItself() { AppendStates(character_, actual_, h(), result_.reference); }

  /// The nearest ones, some time apart.
  std::vector<Cut> CutsFrom(const std::vector<int>& exits, const std::vector<size_t>& controls) const {
    std::vector<Cut> all;
    for (const int exit : exits) {
      if (static_cast<size_t>(exit) >= actual_.size()) continue;
      for (const size_t c : controls) {
        const LibraryControl& control = job_.controls[c];
        for (const int step : control.Cuts()) {
          const int cut = Is(Transition::kSearched) ? step : FragmentStart(control, step);
          const double distance =
              metrics::StateDistance(character_, actual_[static_cast<size_t>(exit)], StateOf(control, cut));
          all.push_back({exit, c, cut, distance});
        }
      }
    }
    return Nearest(std::move(all), job_.options.cuts);
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

  /// The first way that ends near the end of its control, or else the one that ends nearest: a motion may stay within
  /// the gates to its end, and be lost there. Where no cut leads on, all are tried once more with more samples.
  bool TryAll(const std::vector<Cut>& cuts, CompositionEvent event, size_t efforts = std::size(kEfforts)) {
    Choice choice = {Take(), cuts, 0, efforts, event, in_fall_, 0, {}};
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
    choice.num_parts = result_.parts.size();
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
    Way way = {.cut = cut, .reference = ReferenceFrom(cut)};
    if (tries == 1) cpu_seconds_ = 0;
    if (!Is(Transition::kSearched)) {
      way.fragments = FragmentsFrom(cut);
    } else if (!Search(event, effort, way)) {
      return std::nullopt;
    }
    way.part = {cut.exit_step, cut.control, cut.step, cut.distance, tries, event, 0, job_.options.transition};
    if (Is(Transition::kKinematic)) way.part.hidden_impulse = Jump(cut);
    return way;
  }

  void GoOnBy(Way way) {
    way.part.cpu_seconds = cpu_seconds_;
    Append(way);
    result_.parts.push_back(way.part);
    if (hooks_.on_part && !silent_ && way.part.event != CompositionEvent::kGetUp) hooks_.on_part(way.part);
  }

  /// The simulation goes on in the next control's own state, and is shown where the character is.
  /// @return the impulse that would lead there [N s]
  double Jump(const Cut& cut) {
    const character::State& here = actual_[static_cast<size_t>(cut.exit_step)];
    const character::State& state = StateOf(job_.controls[cut.control], cut.step);
    const auto [heading, offset] = metrics::AlignOnGround(character_, here, state);
    const Vec3 change = heading * character::CenterOfMassVelocity(character_, state) -
                        character::CenterOfMassVelocity(character_, here);
    jump_ = {cut.exit_step, BlendFrom(here), state, heading, offset};
    return character_.total_mass() * change.norm();
  }

  /// How long a blend from a state lasts [s].
  double BlendFrom(const character::State& state) const {
    const auto root = static_cast<size_t>(character_.root);
    const bool low = state[root].position.y() < kLowRoot * character_.bodies[root].rest_position.y();
    return low ? kBlendOnGround : kBlend;
  }

  /// The motion of a control from a cut on, where the character is; it begins with the state at hand.
  std::vector<character::Pose> ReferenceFrom(const Cut& cut) const {
    const LibraryControl& control = job_.controls[cut.control];
    const character::State& here = actual_[static_cast<size_t>(cut.exit_step)];
    const auto [heading, offset] = metrics::AlignOnGround(character_, here, StateOf(control, cut.step));
    const double duration = (control.control.num_steps() - cut.step) * h();
    const size_t frames = NumCompositionFrames(duration);
    const double blend = BlendFrom(here);
    character::Pose at_hand, first;
    character::PoseOf(character_, here, at_hand);
    std::vector<character::Pose> poses(frames);
    for (size_t f = 0; f < frames; ++f) {
      character::Pose& pose = poses[f];
      const double time = static_cast<double>(f) * kCompositionFrame;
      character::PoseOf(character_, StateOf(control, cut.step + StepsIn(time)), pose);
      pose.root_position = heading * pose.root_position + offset;
      pose.root_orientation = heading * pose.root_orientation;
      if (f == 0) first = pose;
      const double share = 1 - SmoothStep(std::min(1.0, time / blend));
      if (share > 0) character::MoveTowards(first, at_hand, share, pose);
    }
    return poses;
  }

  std::vector<control::Fragment> FragmentsFrom(const Cut& cut) const {
    std::vector<control::Fragment> fragments;
    for (const control::Fragment& fragment : job_.controls[cut.control].control.fragments) {
      if (fragment.first_step < cut.step) continue;
      fragments.push_back(fragment);
      fragments.back().first_step += cut.exit_step - cut.step;
    }
    return fragments;
  }

  /// @param effort factor on samples and simulated time
  bool Search(CompositionEvent event, int effort, Way& way) {
    const Cut& cut = way.cut;
    const LibraryControl& control = job_.controls[cut.control];
    SearchedWay searched = SearchWay({character_, result_.control.world, actual_[static_cast<size_t>(cut.exit_step)],
                                      cut.exit_step, way.reference, job_.options.configuration, effort,
                                      in_fall_ ? kShareOfBudget : 1, threads_, hooks_.stop});
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

  void Append(Way& way) {
    const double exit = way.cut.exit_step * h();
    CutOff(way.cut.exit_step, exit);
    std::vector<control::Fragment>& all = result_.control.fragments;
    all.insert(all.end(), way.fragments.begin(), way.fragments.end());
    if (jump_) result_.control.transitions.push_back(*std::exchange(jump_, std::nullopt));
    AppendPoses(character_, way.reference, exit, result_.reference);
    Simulate();
    const bool as_searched = Is(Transition::kSearched) && !PushedAfter(way.cut.exit_step);
    if (as_searched && control::Fingerprint(actual_.back()) != way.end) {
      throw std::logic_error("the replay does not end in the state that the search found");
    }
  }

  bool PushedAfter(int step) const {
    return std::any_of(job_.pushes.begin(), job_.pushes.end(), [&](const control::Push& push) {
      return push.start + push.duration > step * h() && push.start < result_.control.duration();
    });
  }

  void Evaluate() {
    const character::ReferenceMotion reference(character_, kCompositionFrame, result_.reference, kCompositionFrame);
    result_.evaluation =
        metrics::Evaluate(character_, control::Replay(character_, result_.control, job_.pushes), reference,
                          result_.control.duration(), job_.options.configuration.task.gates);
  }

  const CompositionJob& job_;
  int threads_;
  const CompositionHooks& hooks_;
  const character::Character& character_;
  Composition result_;
  std::vector<character::State> actual_;  // (steps + 1) of the motion so far, under all pushes
  size_t planned_ = 0;                    // control of the plan that is played, or interrupted
  size_t num_falls_ = 0;
  std::optional<Choice> choice_;
  std::optional<control::KinematicTransition> jump_;  // of the part that is appended next
  bool in_fall_ = false;                              // a get-up is sought
  bool silent_ = false;                               // parts are not told of, because they may be taken back
  double cpu_seconds_ = 0;                            // of the tries of a part
};

}  // namespace

CompositionJob::CompositionJob(const CompositionOptions& o) : options(o) {
  if (const auto problem = options.configuration.Validate()) throw UsageError(*problem);
  const ControlLibrary library(options.library);
  const std::vector<fs::path>& runs = library.runs();
  if (options.play.empty()) throw UsageError("--play: found no name, expected those of runs in the library");
  if (begins()) {
    controls.push_back(ReadFirstControl(options.begin));
    play.push_back(0);
    pushes = controls[0].run.AllPushes();
    num_begun = pushes.size();
  }
  for (const std::string& name : options.play) {
    const fs::path& folder = runs[FindRun(runs, name)];
    const auto known = std::find_if(controls.begin(), controls.end(),
                                    [&](const LibraryControl& control) { return control.name == name; });
    play.push_back(static_cast<size_t>(known - controls.begin()));
    if (known != controls.end()) continue;
    controls.push_back(library.Read(folder));
    CheckAlike(controls.front(), controls.back());
  }
  for (size_t p = 1; p < play.size(); ++p) {
    const LibraryControl& control = controls[play[p]];
    if (control.control.duration() >= kLeastLeft) continue;
    throw InputError(control.run.controls[0].file.string(),
                     "a control of " + io::Fixed(control.control.duration(), 2) + " s, too short to go on with",
                     "one of " + io::Fixed(kLeastLeft, 1) + " s at least");
  }
  if (options.transition == Transition::kKinematic && !controls[0].control.world.environment.empty()) {
    throw InputError(controls[0].file().string(), "a world with things in it",
                     "a plain floor, where a kinematic transition may lead anywhere");
  }
  double longest = options.seconds;
  for (const size_t p : play) longest += controls[p].control.duration();
  longest += kLongestAnswer * static_cast<double>(options.pushes.size());
  for (const std::string& text : options.pushes) pushes.push_back(ParsePush(text, controls[0].run.scene, longest));
  AddPushes();
  num_played = controls.size();
  if (pushes.empty() && !begins()) {
    if (!options.get_ups.empty()) throw UsageError("--get-up: found no push, expected one that ends in a fall");
    return;
  }
  for (const fs::path& folder : runs) {
    const std::string name = folder.filename().string();
    const auto same = [&](const LibraryControl& control) { return control.name == name; };
    if (std::any_of(controls.begin(), controls.end(), same)) continue;
    controls.push_back(library.Read(folder));
    CheckAlike(controls.front(), controls.back());
  }
  for (size_t c = begins() ? 1 : 0; c < controls.size(); ++c) {
    if (controls[c].succeeded() && controls[c].GetsUp()) get_ups.push_back(c);
  }
  for (const std::string& text : options.get_ups) rises.push_back(ParseRise(text));
}

CompositionJob::Rise CompositionJob::ParseRise(const std::string& text) const {
  Rise rise;
  for (std::string name : Split(text, ',')) {
    const size_t at = name.find('@');
    if (at != std::string::npos) {
      double time = 0;
      const bool first = rise.controls.empty();
      if (!first || !io::ParseNumber(name.substr(at + 1), time) || !(time >= 0 && time <= 1e4)) {
        throw UsageError("--get-up: found \"" + name + "\", expected NAME, or of the first one NAME@SECOND");
      }
      rise.time = time;
      name.resize(at);
    }
    rise.controls.push_back(Find(name, "--get-up"));
    if (rise.time && rise.controls.size() == 1 && *rise.time > controls[rise.controls[0]].control.duration()) {
      throw UsageError("--get-up: found \"" + text + "\", expected a second of a control that lasts " +
                       io::Fixed(controls[rise.controls[0]].control.duration(), 2) + " s");
    }
  }
  return rise;
}

size_t CompositionJob::Find(const std::string& name, const std::string& option) const {
  std::vector<std::string> names;
  for (size_t c = 0; c < controls.size(); ++c) {
    if (controls[c].name == name) return c;
    names.push_back(controls[c].name);
  }
  throw UsageError(option + ": found \"" + name + "\", expected one of " + io::List(names));
}

void CompositionJob::AddPushes() {
  if (!options.push_every.empty()) {
    const control::Scene& scene = controls[0].run.scene;
    const std::vector<std::string> parts = Split(options.push_every, ',');
    double force = 0, interval = 0, duration = 0;
    const auto positive = [](const std::string& text, double& value) {
      return io::ParseNumber(text, value) && value >= 0.01 && value <= 1e5;
    };
    const int body = parts.size() == 4 ? FindBody(scene, parts[0]) : -1;
    if (body < 0 || !positive(parts[1], force) || !positive(parts[2], interval) || !positive(parts[3], duration) ||
        duration >= interval) {
      throw UsageError("--push-every: found \"" + options.push_every +
                       "\", expected BODY,NEWTON,INTERVAL,DURATION, such as trunk,300,10,0.2, each number from 0.01 "
                       "to 1e+05, the duration shorter than the interval");
    }
    if (options.seconds <= 0) throw UsageError("--push-every: found no --seconds, expected the length of the motion");
    const double begun = begins() ? controls[0].control.duration() : 0;
    for (uint32_t p = 1; p * interval < options.seconds; ++p) {
      if (p * interval < begun) continue;
      RandomStream random(options.configuration.sampling.seed, RandomStage::kPushes, p, 0);
      const double angle = random.Uniform(0, 2 * kPi);
      pushes.push_back({body, Vec3(force * std::cos(angle), 0, force * std::sin(angle)), p * interval, duration});
    }
  }
  for (size_t p = num_begun; p < pushes.size() && num_begun > 0; ++p) {
    if (pushes[p].start >= pushes[num_begun - 1].end()) continue;
    throw UsageError("found a push at " + io::Fixed(pushes[p].start, 2) + " s, expected one after the pushes of " +
                     controls[0].name);
  }
  std::stable_sort(pushes.begin(), pushes.end(),
                   [](const control::Push& a, const control::Push& b) { return a.start < b.start; });
}

std::vector<size_t> CompositionJob::OfAnswers() const {
  std::vector<size_t> answers;
  for (size_t c = begins() ? 1 : 0; c < controls.size(); ++c) {
    const bool stands = controls[c].succeeded() && controls[c].EndsStanding() && !controls[c].GetsUp();
    if (c < num_played || stands) answers.push_back(c);
  }
  return answers;
}

std::vector<fs::path> CompositionJob::Files() const {
  std::vector<fs::path> files;
  for (const LibraryControl& control : controls) {
    for (fs::path& file : control.run.Files()) files.push_back(std::move(file));
  }
  return files;
}

Composition Compose(const CompositionJob& job, int threads, const CompositionHooks& hooks) {
  return Composer(job, threads, hooks).Run();
}

}  // namespace retrace::runs
