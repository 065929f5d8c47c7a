/// Strings paths together. Internal to the module.
#pragma once

#include <optional>
#include <vector>

#include "retrace/math/random.h"
#include "retrace/methods/idling/judge.h"
#include "retrace/methods/idling/problem.h"
#include "retrace/methods/idling/summary.h"
#include "retrace/methods/idling/support.h"
#include "simulator.h"

namespace retrace::idling {

class Player {
 public:
  /// Everything must outlive it.
  Player(const Problem& problem, const Support& support, const std::vector<RelaxedKey>& keys,
         const std::vector<Path>& paths, Simulator& simulator);

  /// Whether the first key can be held for a while, without any path.
  bool CanBegin();
  /// Appends fragments from the first key on until the motion has its length; where nothing leads that far, those of
  /// the longest motion that was found.
  Status Play(const Hooks& hooks, Summary& summary);

 private:
  /// Where a continuation begins or ends.
  struct Place {
    character::State state;
    control::TargetPose targets;
    size_t key = 0;
    int step = 0;
    int steps_without_seat = 0;
  };
  struct Continuation {
    Place end;
    std::vector<control::Fragment> fragments;
    std::vector<Played> played;
    double offset = 0;  // of the root from its key at the end [m]
  };

  std::optional<Continuation> Find(const Place& start, uint32_t decision, int& tried);
  std::optional<Continuation> Try(const Place& start, RandomStream& random);
  bool Drives(const Drive& drive, Leg leg, Continuation& to);
  /// The targets with the noise that is chosen. @param step at which they are reached
  control::TargetPose Noisy(const control::TargetPose& targets, int step, RandomStream& random) const;
  bool Holds(int steps, RandomStream& random, Continuation& to);

  const Problem& problem_;
  const Options& options_;
  const Support& support_;
  const std::vector<RelaxedKey>& keys_;
  const std::vector<Path>& paths_;
  Simulator& simulator_;
  Judge judge_;
  int num_steps_ = 0;  // of the whole motion
};

}  // namespace retrace::idling
