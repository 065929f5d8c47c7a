/// Whether a motion can go on where it ends. A motion may stay within tolerance to its last instant while it falls:
/// nothing can follow it then. An end is viable when a control keeps the character on its feet for some seconds more,
/// by simulation alone.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/planning/viability/continuation.h"
#include "retrace/runs/configuration/configuration.h"

namespace retrace::runs {

struct ViableEnd {
  enum class Verdict {
    kViable,
    kNotViable,
    kNotApplicable,  ///< the recording ends lying, sitting, or in the air with nothing that tells how it goes on
  };
  Verdict verdict = Verdict::kNotViable;
  double seconds = 0;        ///< that were asked for beyond the end
  std::string reason;        ///< why it is not viable, or not applicable; else empty
  std::string continuation;  ///< what the character goes on with: clip, cycle or still; empty where it does not
  std::string method;        ///< that found it: tracking or sampling
  std::optional<double> searched_from;  ///< the motion itself was found anew from here on [s]
  double simulated_seconds = 0;         ///< by sampling, for all of that
  double cpu_seconds = 0;
  control::OpenLoopControl control;  ///< from the end on, where it is viable

  io::Json ToJson() const;
  /// A line for people, without a line end.
  std::string Describe() const;
};
std::string Name(ViableEnd::Verdict verdict);

/// A judgment, and the control of the motion where its end was searched anew.
struct JudgedEnd {
  ViableEnd end;
  std::optional<control::OpenLoopControl> mended;
  character::State mended_end;  ///< where that control ends
};

/// Judges the end of a control that stays within tolerance of the clip (`/run/tail`), and where it is not viable
/// finds another one, together with what follows (`/run/recover_end`). `state` is where it ends. The result
/// depends neither on the number of threads nor on the time. Throws StoppedError when `stop` returns true.
JudgedEnd JudgeEnd(const EndingMotion& ending, const Configuration& configuration,
                   const control::OpenLoopControl& control, const character::State& state, int threads,
                   const std::function<bool()>& stop);

}  // namespace retrace::runs
