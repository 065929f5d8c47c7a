/// Why a run ended out of tolerance, from what the search measured: lines for people, members for the manifest.
#pragma once

#include <string>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/metrics/gates.h"
#include "retrace/task/ending.h"
#include "retrace/task/task.h"

namespace retrace::runs {

/// How a run ended, as the manifest has it: completed (simulated to the end, within tolerance or not), left-gates,
/// budget or diverged.
std::string StatusOf(task::Ending ending);

/// A setting to try next, and the measured fact that supports it.
struct Advice {
  std::string setting;  ///< as --set takes it
  std::string because;
};

struct FailureReport {
  /// A figure of the sample that came nearest to staying within tolerance, at the fragment's end.
  struct Figure {
    std::string name;  ///< of the tolerance
    double value = 0;  ///< [m], or degrees
    double limit = 0;
    bool angle = false;
  };

  task::Ending ending = task::Ending::kReachedEnd;
  double reached = 0;   ///< as far as the control goes [s]
  double duration = 0;  ///< to be reached [s]
  int fragments = 0;    ///< of the schedule
  double simulated_seconds = 0;
  double budget = 0;  ///< in all [s]; 0: none

  /// Where no sample stayed within tolerance; its fragment is negative when there was no such position.
  sampling::Failure failure;
  int back_offs = 0;         ///< from there
  int all_back_offs = 0;     ///< from anywhere
  double furthest_back = 0;  ///< the earliest instant they went back to [s]
  std::vector<Figure> nearest;
  std::string dominant_term;  ///< of the cost: the one that exceeds its mean per fragment before by most
  double dominant_cost = 0;   ///< weighted
  double dominant_before = 0;

  std::string first_gate;  ///< that a motion which reached the end leaves
  double left_at = 0;      ///< when it does [s]

  std::vector<metrics::ClipWarning> warnings;  ///< of the recording, within half a second of the position
  std::vector<Advice> advice;                  ///< empty when nothing that was measured suggests a setting

  /// Some lines, each with a line end; empty for a success.
  std::string Text() const;
  io::Json ToJson() const;
};

/// Puts together what is known of a run that ended out of tolerance; a success gives a report without a failure.
FailureReport ReportFailure(const sampling::Problem& problem, const sampling::Summary& search,
                            const metrics::Evaluation& evaluation, const metrics::ClipChecks& checks);

}  // namespace retrace::runs
