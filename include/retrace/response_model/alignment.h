/// Recordings of a person made into examples of one model. Examples of a controller share a clock, begin alike and
/// return to one walk. People do not: each piece has a step time, a speed, a heading and a manner of its own, and
/// no piece ends where it began. A model of such pieces as they are walks from one to the next and belongs to none.
///
/// The normal motion becomes its best cycle, closed, over and over; the cycle is the clock. Every pose of a disturbed
/// piece is given the time of the cycle at which it is most like it: a path that goes on evenly where that fits, found
/// by dynamic programming. A piece is then its deviation from the normal motion at these times, in heading frames. The
/// deviation fades out after the piece has returned, so that a response ends in the normal motion.
#pragma once

#include <string>
#include <vector>

#include "retrace/response_model/example.h"
#include "retrace/response_model/features.h"

namespace retrace::response_model {

struct AlignmentOptions {
  int rounds = 2;            ///< of the cycle in the normal motion
  double slowest = 0.4;      ///< the clock goes at least so fast under a push
  double fastest = 2;        ///< and at most so fast
  double evenness = 6;       ///< cost of (rate - 1)^2 of the clock, in steps of the normal motion, for each pose
  double smooth_time = 0.1;  ///< over which the rate of the clock is smoothed [s]
  double manner_time = 0.8;  ///< in which a manner of walking that the piece had before its push fades [s]
  double return_time = 0.8;  ///< in which the rest fades after a piece has returned [s]
  /// A piece begins where it is so far from the normal motion, as a share of the farthest after its push: the poses
  /// before lead from the walk to the response by a force that is known roughly at best.
  double departed = 0.5;
  bool begins_at_push = false;  ///< instead at a push that is known, exactly as forces of a simulation are
};

/// What became of an example.
struct AlignedExample {
  size_t first = 0;       ///< pose of the piece with which the example begins
  size_t returned = 0;    ///< pose of the piece at which it had returned
  double farthest = 0;    ///< distance from the normal motion at the same time of the clock [steps]
  double left = 0;        ///< the same where it had returned, before it was made to fade [steps]
  double least_rate = 1;  ///< of the clock
  double greatest_rate = 1;
};

struct Alignment {
  double period = 0;                   ///< of the clock [s]
  std::vector<Example> examples;       ///< the normal motion first
  std::vector<AlignedExample> pieces;  ///< of the others
  double longest_response = 0;         ///< of an example, from its push or its beginning to its end [s]
};

/// Throws std::invalid_argument for examples without a normal motion that has a cycle, and for pieces of fewer than
/// eight poses.
Alignment Align(const character::Character& character, const std::vector<Example>& examples,
                const FeatureOptions& features, const AlignmentOptions& options = {});

}  // namespace retrace::response_model
