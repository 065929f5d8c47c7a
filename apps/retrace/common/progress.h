/// Progress of long work: a bar on a terminal, lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "retrace/methods/sampling/search.h"
#include "retrace/methods/trajectory/optimize.h"

namespace retrace::apps {

enum class ProgressStyle { kBar, kPlain, kJson, kNone };

/// The style for a name among auto, bar, plain, json, none. Automatic: a bar on a terminal, but lines under a launcher,
/// which makes its output look like a terminal although it ends in a log file. Throws UsageError.
ProgressStyle ChooseProgress(const std::string& name, bool under_mpi);

/// Whether results are printed for people: not beside JSON, and not where nothing is wanted.
inline bool Prints(ProgressStyle style) {
  return style != ProgressStyle::kNone && style != ProgressStyle::kJson;
}

class Progress {
 public:
  Progress(ProgressStyle style, const sampling::Problem& problem);
  void Update(const sampling::IterationRecord& record);
  void Update(const trajectory::IterationRecord& record);
  /// Ends the bar's line.
  void Finish();

 private:
  /// Notes a new iteration; false where there is nothing to show of it.
  bool Note(bool restored, size_t samples);

  ProgressStyle style_;
  int fragments_;
  int iterations_ = 0;
  int restored_ = 0;  // iterations of an earlier run
  double duration_;
  std::chrono::steady_clock::time_point start_;
  size_t samples_ = 0;
  double elapsed_ = 0;  // [s]
  double rate_ = 0;     // [samples/s]
};

/// A line of what is going on, indented and at once.
void PrintLine(const std::string& line);

/// Progress of something that goes through a motion once, at most once in half a second.
class TimeProgress {
 public:
  /// @param duration of the motion [s]
  TimeProgress(ProgressStyle style, double duration);
  /// @param time so far [s]
  void Update(double time);
  /// Ends the bar's line, where there is one.
  void Finish();

 private:
  using Clock = std::chrono::steady_clock;
  ProgressStyle style_;
  double duration_;
  Clock::time_point start_, last_;
  bool shown_ = false;
};

}  // namespace retrace::apps
