/// The inputs of a response, read from files.
///
///     retrace::runs::ResponseOptions options;
///     options.run = "results/walk";
///     options.library = "motions";
///     options.push = "trunk,0:0:400,1,0.1";
///     const retrace::runs::ResponseJob job(options);
///     const auto result = retrace::runs::Respond(job.problem);
///     retrace::results::RunFolder folder("results/walk-response", false);
///     retrace::runs::WriteResponse(folder, job, result, {});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/planning/response/response.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

/// What a user sets.
struct ResponseOptions : ResponseSettings {
  /// A run of one character on plain ground, which is pushed; it may itself be a response. Or a run of several, one of
  /// which strikes another (SimulateStrike, Replay).
  std::filesystem::path run;
  std::filesystem::path library;  ///< of recorded motions of the same character (BuildMotionLibrary)
  std::string push;  ///< BODY,FX:FY:FZ,START,DURATION (control::ParsePush); empty: a thing of the world strikes
  std::vector<std::string> worlds = {};  ///< names or files, with bodies that move freely; none: a push strikes
  size_t struck = 0;                     ///< of several characters, the one that responds
  double after = 0;                      ///< from when on an impact of another character is looked for [s]
  bool mirrored = true;                  ///< the library has the mirror image of each motion, too
};

inline constexpr io::Range kResponseDelays{0, 1};        ///< [s]
inline constexpr io::Range kResponseStarts{0.034, 5};    ///< [s]
inline constexpr io::Range kResponseDurations{0.5, 60};  ///< [s]
inline constexpr io::Range kResponseStands{0, 60};       ///< [s]

/// Why a setting of the configuration changes nothing in a response to a run; empty: it may.
/// @param setting its pointer, "/section/name"
std::string WhyWithoutEffect(const std::string& setting, bool kinematic);
/// The same of a film of two clips.
std::string WhyWithoutEffectOnFilm(const std::string& setting, bool kinematic);

/// Throws UsageError for options that do not fit the run, InputError for a run or a library that cannot be used: with
/// kinematic transitions, on anything but plain ground, with a push that is not over; a library of another character; a
/// thing, or other characters, that never touch the character.
struct ResponseJob {
  explicit ResponseJob(const ResponseOptions& options);

  /// Files that no result may replace.
  std::vector<std::filesystem::path> Files() const { return problem.run.Files(); }

  ResponseOptions options;
  ResponseProblem problem;
};

}  // namespace retrace::runs
