/// A long recording of a walk that is pushed now and then, taken apart by itself: which part of it is plain walking,
/// and which parts are responses.
///
/// Plain walking comes again, in a straight line or in a turn; what a push makes of it does not. So each pose is
/// measured by how far it is from the poses that are most like it elsewhere in the recording, its novelty. Walking has
/// the usual novelty of the recording, and responses stand out of it.
#pragma once

#include <optional>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"
#include "retrace/response_model/features.h"

namespace retrace::response_model {

struct PartOptions {
  double elsewhere = 0.8;     ///< poses are elsewhere if they are so far away in time [s]
  int likest = 3;             ///< the novelty of a pose is its distance from the likest pose of that rank elsewhere
  double smooth_time = 0.1;   ///< over which the novelty is smoothed, a standard deviation [s]
  double unusual = 1.6;       ///< a response is at its peak so many times as novel as is usual
  double usual = 1.2;         ///< and it begins and ends where the novelty is at most so many times the usual
  double longest = 5;         ///< of a response [s]
  double around = 0.5;        ///< a person walks so long before and after a response [s]
  double walking = 0.4;       ///< at so many times the speed of the normal motion at least
  double largest_turn = 0.8;  ///< from its beginning to its end; a longer turn is no response [rad]
  double before = 0.3;        ///< that is kept before a response [s]
  double after = 1;           ///< and after it, where the walk is plain again for so long [s]
  double normal_time = 2.4;   ///< of plain walking in which the cycle of the normal motion is looked for [s]
  double candidates = 0.25;   ///< from one candidate for that to the next [s]
  size_t most_responses = 6;  ///< the strongest ones
};

/// A part of a recording, whose poses are counted from 0.
struct RecordingPart {
  size_t first = 0, last = 0;  ///< poses
  size_t peak = 0;             ///< of a response: the pose that is farthest from all walking
  double novelty = 0;          ///< of a response at its peak, in units of the usual one
};

struct RecordingParts {
  std::optional<RecordingPart> normal;   ///< nothing: no walking with a cycle was found
  std::vector<RecordingPart> responses;  ///< in the order of their times
  size_t left_out = 0;                   ///< weaker responses, more than `most_responses`
  size_t turns = 0;                      ///< unusual parts in which the person turns: no responses
  size_t unreturned = 0;                 ///< unusual parts that do not begin and end in walking: no responses
  double usual = 0;                      ///< median novelty, in median distances between successive poses
};

/// Takes a recording apart. @param poses at the rate of the features
RecordingParts TakeApart(const character::Character& character, const std::vector<character::Pose>& poses,
                         const FeatureOptions& features, const PartOptions& options = {});

}  // namespace retrace::response_model
