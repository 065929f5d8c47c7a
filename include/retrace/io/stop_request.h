/// Requests to stop a run before its end: signals, and a limit of time.
#pragma once

#include <chrono>
#include <string>

#include "retrace/io/error.h"

namespace retrace::io {

/// From now on SIGTERM, SIGINT and SIGUSR1 are requests to stop with a checkpoint; a second SIGINT ends the program at
/// once. On every rank of a job: a launcher sends signals to all of them, and only the master decides.
void HandleStopSignals();

/// Seconds of a duration in the text format of batch systems, `[[D-]HH:]MM:SS` or seconds: 90, 15:00 (minutes),
/// 1:30:00, 2-12:00:00 (days). Throws UsageError for any other text, and for a duration that is not above 0.
double ParseDuration(const std::string& text);

/// When a run stops.
class StopRequest {
 public:
  using Clock = std::chrono::steady_clock;
  /// `limit` in seconds after `start`; 0: none.
  explicit StopRequest(double limit, Clock::time_point start = Clock::now())
      : limit_(limit), last_(Clock::now()), start_(start) {}

  /// Whether to stop now, called after each iteration: after a signal, or when another iteration like the one before
  /// would end after the limit.
  bool operator()();

  /// The reason, for a message; empty before a stop is due.
  const std::string& reason() const { return reason_; }

  /// Why a run was stopped: this request, or the message of the exception (a rank that hangs).
  std::string ReasonFor(const StoppedError& error) const { return reason_.empty() ? error.what() : reason_; }

 private:
  double limit_;
  Clock::time_point last_;  // of the question before
  Clock::time_point start_;
  std::string reason_;
};

}  // namespace retrace::io
