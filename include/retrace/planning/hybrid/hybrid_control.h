/// One control of tracked and searched parts. Tracking is nearer to its reference than a search, at a tenth of the
/// cost, but it cannot recover from everything. A search crosses what it loses, and tracking goes on from one of the
/// states that the search has reached.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/task/prepared_clip.h"

namespace retrace::runs {

/// A part of the motion, by the method that found it.
struct HybridPart {
  Method method = Method::kTracking;  ///< or kSampling
  int first_step = 0;
  int end_step = 0;
};

struct HybridControl {
  bool reached_end = false;  ///< near the reference at every instant
  control::OpenLoopControl control;
  character::State end;
  std::vector<HybridPart> parts;  ///< in their order
  int num_searches = 0;           ///< that were needed, those without a use included
  double cpu_seconds = 0;

  /// Time in parts of a method [s].
  double SecondsOf(Method method) const;
  /// A line for people, without a line end.
  std::string Describe() const;
  /// Times in seconds.
  io::Json ToJson() const;
};

/// What is called before each part.
struct HybridHooks {
  std::function<bool()> stop = {};                    ///< true: StoppedError
  std::function<void(double time)> on_progress = {};  ///< the farthest instant so far [s]
};

/// Whether a motion can be found by parts: not among boxes that move on courses.
bool CanBeHybrid(const task::PreparedClip& clip, const Configuration& configuration);

/// Tracks the reference from the start state. Where the motion leaves the reference, it is kept up to the last instant
/// at which it was near. A short search leads on from there, by a reference that begins where the body is and returns
/// to the recording within a second. Tracking continues from the state of the search after which it holds longest.
/// Where nothing leads on, longer searches follow, then those from earlier states; after a dozen without progress the
/// result is what was found so far.
///
/// The result depends neither on the number of threads (0: one per core) nor on the time. Throws StoppedError when
/// the hooks stop it.
HybridControl FindHybrid(const task::PreparedClip& clip, const Configuration& configuration, int threads,
                         const HybridHooks& hooks = {});

}  // namespace retrace::runs
