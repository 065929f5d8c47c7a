/// A control that leads on from a state along given poses, by the search. Internal to the module.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/control/fragment.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/simulation/world.h"

namespace retrace::runs {

/// What is searched for. All that it points at must outlive the call.
struct SegmentProblem {
  const character::Character& character;
  const simulation::WorldOptions& world;
  const character::State& start;
  int first_step = 0;                         ///< of the whole motion, at which the segment begins
  const std::vector<character::Pose>& poses;  ///< to follow, of kCompositionFrame, from the start on
  const Configuration& configuration;
  int effort = 1;                   ///< factor on samples and simulated time
  double share_of_budget = 1;       ///< of the simulated time
  int threads = 0;                  ///< 0: one per core
  std::function<bool()> stop = {};  ///< true: the search ends
  /// Others in the world, by the steps of the whole motion. Their bodies follow in `start`, their joints in the contact
  /// scale of `world`.
  std::vector<sampling::CoSimulated> companions = {};
  int most_back_offs = std::numeric_limits<int>::max();  ///< fewer than the configuration has
  /// SearchSegment does not take these: what pushes the character meanwhile, and ends of others that are shown, not
  /// simulated.
  std::vector<control::Push> pushes = {};
  std::span<const control::KinematicEnding> endings = {};
  /// TrackSegment alone takes these: the height below which its root may not go [m]; none: that of standing,
  /// kStandingRoot.
  std::optional<double> lowest_root = {};
  /// Its number among all in the world, whose order is that of `start`; and whether the others are
  /// restarted where its fragments begin, as a search does that restores all of them. It is itself also restarted at
  /// these steps of the whole motion.
  size_t place = 0;
  bool restarts_companions = true;
  std::vector<int> restarts = {};
};

struct FoundSegment {
  bool reached_end = false;
  std::vector<control::Fragment> fragments;  ///< to the end, or to where it was lost
  character::State end_state;                ///< there, of all in the world
  uint64_t end = 0;                          ///< its control::Fingerprint
  double reached = 0;                        ///< from the start [s]
  double cpu_seconds = 0;
};

FoundSegment SearchSegment(const SegmentProblem& problem);

/// The state of the whole world from the start of a segment with these fragments: to the bit what a replay of the
/// whole motion has there.
control::Trajectory SimulateSegment(const SegmentProblem& problem, std::span<const control::Fragment> fragments);

}  // namespace retrace::runs
