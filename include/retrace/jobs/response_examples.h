/// Examples of a response model from files: runs, and recordings, which may be long and are then taken apart
/// (response_model/recording_parts.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/response_model/example.h"
#include "retrace/response_model/response_model.h"

namespace retrace::runs {

/// A recording without @START:END that is longer is taken apart [s].
inline constexpr double kLongRecording = 8;
/// The point at which a push acts is at most so far from the center of mass of its body along each axis [m].
inline constexpr double kFarthestPushPoint = 10;

struct ResponseLearningOptions {
  /// Folders of runs of one character, whose manifests name the pushes, or recordings (of any format; AMC with an ASF
  /// of its name beside it); FOLDER@START:END is a part of one [s], and
  /// FILE@START:END,push=BODY:FX:FY:FZ:FROM-TO[:X:Y:Z] says what pushed a recording then: a force in world axes [N]
  /// between two of its times [s], at a point in the body's frame [m] instead of its center of mass. The normal motion
  /// first. A long recording without @ is taken apart: the first one has the normal motion, and the responses as well
  /// if it is the only one; each of the others has responses.
  std::vector<std::string> examples;
  int most_responses = 6;  ///< of one long recording that is taken apart, the strongest ones
  /// Pushes of recordings for which none is named are found by the forces that they require
  /// (kinetics/push_search.h); false: none.
  bool find_pushes = true;
  std::filesystem::path skeleton;   ///< ASF of AMC recordings; empty: the one of the same name beside each
  std::string character = "human";  ///< that recordings are mapped onto where no run says it
  double normal_start = 1;          ///< of the normal motion this much is left out where no part is named [s]
  double normal_seconds = 2.4;      ///< and so much is taken [s]
  double before = 0.1;              ///< of a pushed motion from so long before its first push [s]
  double after = 3;                 ///< until it has returned, or so long after that push [s]
  double returned = 0.5;            ///< steps from the normal motion, from where on it has
  /// Runs that repeat one cycle of one recording go by its clock (response_model::ResponseOptions::clock_period),
  /// unless this is false.
  bool clock = true;
  response_model::ResponseOptions model;
};

/// A whole motion with its pushes, before a part of it is taken.
struct ExampleMotion {
  character::ReferenceMotion motion;
  std::vector<response_model::Push> pushes = {};
  std::string loop = {};   ///< what it repeats, and of which file; empty: it goes by no clock
  double loop_period = 0;  ///< of that [s]; 0: unknown
  bool recording = false;
};

/// The motion of a run's folder. Throws InputError where it has another character.
ExampleMotion ReadRunMotion(const std::filesystem::path& folder, const character::Character& character);

/// A motion to compare a synthesis with, as it is named among examples: a run, or a recording with those of its pushes
/// that lie between the times of the name. Throws UsageError and InputError.
ExampleMotion ReadCompared(const std::string& name, const ResponseLearningOptions& options,
                           const character::Character& character);

std::vector<character::Pose> PosesBetween(const character::ReferenceMotion& motion, double start, double end,
                                          double frame_time);

struct ResponseExamples {
  std::unique_ptr<character::Character> character;
  std::vector<response_model::Example> examples;  ///< the normal motion first
  double clock_period = 0;                        ///< of the clock of all runs; 0: there is none [s]
  std::vector<std::string> warnings;              ///< sentences: doubts about recordings
  std::vector<std::string> pushes;                ///< sentences: pushes that were found in recordings
  std::vector<std::string> parts;                 ///< sentences: what was taken of long recordings, and how to name it
};

/// Throws UsageError and InputError for examples that are none, of other characters, too short, and for long recordings
/// without a walk or without a response.
ResponseExamples ReadExamples(const ResponseLearningOptions& options);

}  // namespace retrace::runs
