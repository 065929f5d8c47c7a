#include "player.h"

#include <algorithm>
#include <cmath>

#include "retrace/math/random.h"
#include "targets.h"

namespace retrace::idling {
namespace {

constexpr double kBreath = 0.6;        // time in which the targets of a key that is held move to others [s]
constexpr double kSmoothBreath = 0.2;  // the same with noise that is smooth in time [s]
constexpr int kMostDeadEnds = 200;     // from which the player goes back

bool MayPlay(const Problem& problem, const Path& path) {
  bool chosen = true;
  for (const Choice& choice : problem.choices) {
    if (choice.leg != Leg{path.from, path.to}) continue;
    if (std::find(choice.numbers.begin(), choice.numbers.end(), path.number) != choice.numbers.end()) return true;
    chosen = false;
  }
  return chosen;
}

}  // namespace

Player::Player(const Problem& problem, const Support& support, const std::vector<RelaxedKey>& keys,
               const std::vector<Path>& paths, Simulator& simulator)
    : problem_(problem),
      options_(problem.options),
      support_(support),
      keys_(keys),
      paths_(paths),
      simulator_(simulator),
      judge_(problem, support, keys),
      num_steps_(simulator.StepsOf(problem.options.duration)) {}

bool Player::Drives(const Drive& drive, Leg leg, Continuation& to) {
  Place& end = to.end;
  to.fragments.push_back({end.step, drive.num_steps, {end.targets, drive.target}});
  if (!simulator_.Run(end.state, end.targets, drive, end.step, end.state,
                      [&](const character::State& state, std::span<const simulation::Contact> contacts) {
                        return judge_.IsValid(state, contacts, leg);
                      })) {
    return false;
  }
  end.step += drive.num_steps;
  end.targets = drive.target;
  return true;
}

control::TargetPose Player::Noisy(const control::TargetPose& targets, int step, RandomStream& random) const {
  if (options_.noise_kind == Noise::kIndependent) {
    return WithNoise(targets, *problem_.character, options_.noise, random);
  }
  return WithPerlinNoise(targets, *problem_.character, options_.noise, options_.noise_frequency,
                         step * problem_.world.time_step, options_.seed);
}

/// The targets of the key, each time with other noise.
bool Player::Holds(int steps, RandomStream& random, Continuation& to) {
  const size_t key = to.end.key;
  to.played.push_back({to.end.step, steps, {key, key}, -1, 0});
  const double breath = options_.noise_kind == Noise::kPerlin ? kSmoothBreath : kBreath;
  const int count = std::max(1, static_cast<int>(std::lround(steps * problem_.world.time_step / breath)));
  for (int k = 0; k < count; ++k) {
    const int share = steps / count + (k < steps % count ? 1 : 0);
    const Drive drive{Noisy(keys_[key].targets, to.end.step + share, random), share};
    if (!Drives(drive, {key, key}, to)) return false;
  }
  return true;
}

/// Holds the key for a while and goes on to another one.
std::optional<Player::Continuation> Player::Try(const Place& start, RandomStream& random) {
  Continuation to{start, {}, {}, 0};
  std::vector<size_t> leading_on;
  for (size_t p = 0; p < paths_.size(); ++p) {
    if (paths_[p].from == start.key && MayPlay(problem_, paths_[p])) leading_on.push_back(p);
  }
  const int left = num_steps_ - start.step;
  int hold = std::min(left, simulator_.StepsOf(random.Uniform(options_.shortest_hold, options_.longest_hold)));
  const size_t choice =
      leading_on.empty()
          ? paths_.size()
          : leading_on[std::min(leading_on.size() - 1,
                                static_cast<size_t>(random.Uniform() * static_cast<double>(leading_on.size())))];
  const bool goes_on = choice < paths_.size() && hold + paths_[choice].num_steps() <= left;
  if (!goes_on && choice < paths_.size()) hold = left;
  judge_.Begin(start.steps_without_seat);
  if (!Holds(hold, random, to)) return std::nullopt;
  if (goes_on) {
    const Path& path = paths_[choice];
    to.played.push_back({to.end.step, path.num_steps(), {path.from, path.to}, static_cast<int>(choice), 0});
    for (const Drive& drive : path.drives) {
      const Drive noisy{Noisy(drive.target, to.end.step + drive.num_steps, random), drive.num_steps};
      if (!Drives(noisy, {path.from, path.to}, to)) return std::nullopt;
    }
    to.end.key = path.to;
  }
  to.end.steps_without_seat = judge_.steps_without_seat();
  const RelaxedKey& key = keys_[to.end.key];
  if (support_.PoseDistance(to.end.state, key.settled) > options_.pose_limit) return std::nullopt;
  to.offset = judge_.RootOffset(to.end.state, {to.end.key, to.end.key});
  // What goes on from there must be valid.
  if (to.offset > options_.root_limit) return std::nullopt;
  return to;
}

/// The first continuation from the actual state that ends near its key, else the nearest of all that are valid.
std::optional<Player::Continuation> Player::Find(const Place& start, uint32_t decision, int& tried) {
  std::optional<Continuation> best;
  tried = 0;
  for (int candidate = 0; candidate < options_.candidates; ++candidate) {
    RandomStream random(options_.seed, RandomStage::kIdlingPlay, decision, static_cast<uint32_t>(candidate));
    std::optional<Continuation> found = Try(start, random);
    ++tried;
    if (!found || (best && found->offset >= best->offset)) continue;
    best = std::move(found);
    if (best->offset <= options_.near) break;
  }
  return best;
}

bool Player::CanBegin() {
  int tried = 0;
  return Find(Place{keys_[0].settled, keys_[0].targets, 0, 0}, 0, tried).has_value();
}

Status Player::Play(const Hooks& hooks, Summary& summary) {
  const double h = problem_.world.time_step;
  std::vector<Continuation> chosen, longest;  // of those that were given up
  const Place start{keys_[0].settled, keys_[0].targets, 0, 0};
  Status status = Status::kReachedEnd;
  int back = 1;  // continuations that the next dead end takes away
  for (uint32_t decision = 0;; ++decision) {
    const Place& from = chosen.empty() ? start : chosen.back().end;
    if (hooks.on_progress) hooks.on_progress(from.step * h);
    if (from.step >= num_steps_) break;
    if (hooks.stop && hooks.stop()) {
      status = Status::kStopped;
      break;
    }
    int tried = 0;
    std::optional<Continuation> next = Find(from, decision, tried);
    if (next) {
      next->played.back().candidates = tried;
      chosen.push_back(std::move(*next));
      if (decision % 8 == 0) back = 1;
      continue;
    }
    if (++summary.dead_ends > kMostDeadEnds || chosen.empty()) {
      status = Status::kDeadEnd;
      break;
    }
    if (longest.empty() || chosen.back().end.step > longest.back().end.step) longest = chosen;
    chosen.resize(chosen.size() - std::min(chosen.size(), static_cast<size_t>(back)));
    back = std::min(2 * back, 16);
  }
  const size_t reached = chosen.empty() ? 0 : static_cast<size_t>(chosen.back().end.step);
  if (status == Status::kDeadEnd && !longest.empty() && static_cast<size_t>(longest.back().end.step) > reached) {
    chosen = std::move(longest);
  }
  for (Continuation& continuation : chosen) {
    for (control::Fragment& fragment : continuation.fragments) summary.control.fragments.push_back(std::move(fragment));
    for (const Played& played : continuation.played) summary.played.push_back(played);
    summary.end = continuation.end.state;
  }
  return status;
}

}  // namespace retrace::idling
