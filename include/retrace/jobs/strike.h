/// One character strikes another: two recordings are put into one space and on one clock, the first touch of them is
/// found, and both are simulated from a frame before it (Zordan et al. 2005, section 4). What is left is a scene of two
/// characters: the receiver, then the attacker. `Respond` takes it on.
///
///     retrace::runs::StrikeOptions options;
///     options.receiver.file = "stand.bvh";
///     options.attacker.file = "punch.bvh";
///     options.stance = {.ahead = 0.9};
///     const retrace::runs::StrikeJob job(options);
///     const auto result = retrace::runs::SimulateStrike(job);
///     retrace::results::RunFolder folder("results/struck", false);
///     retrace::runs::WriteStrike(folder, job, result, {});
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/character/approach.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/gates.h"
#include "retrace/planning/response/aim.h"
#include "retrace/planning/response/contact_episodes.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/retargeting/reference_report.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/inputs.h"
#include "retrace/runs/stored/manifest.h"

namespace retrace::runs {

/// Where the attacker's root is when both clips start, seen from the root of the receiver.
struct Stance {
  double ahead = 1;      ///< in the direction that the receiver faces [m]
  double left = 0;       ///< to its left [m]
  double heading = kPi;  ///< of the attacker from that of the receiver, about y, from ahead to the left [rad]
};
inline constexpr io::Range kStancePlaces{-100, 100};    ///< [m]
inline constexpr io::Range kStanceHeadings{-360, 360};  ///< [degrees]
/// AHEAD, AHEAD,LEFT or AHEAD,LEFT,HEADING in meters and degrees. Throws UsageError.
Stance ParseStance(const std::string& text);

inline constexpr io::Range kStrikeTimes{0.1, 600};  ///< [s]

/// What a user sets.
struct StrikeOptions {
  ClipOptions receiver;  ///< from its start on
  /// From its start on, which coincides with that of the receiver. In a recording of two performers the attacker has no
  /// file of its own: it is the performer of the receiver's file that was not chosen by name.
  ClipOptions attacker;
  std::string character = "human";
  /// The two were recorded together: their positions are those of the recordings, and the attacker's clip starts at the
  /// same second of their common clock as the receiver's. The roots are put into one scale, the mean of both, at the
  /// instant of the touch. Else the stance holds.
  bool pair = false;
  Stance stance;
  /// The receiver is put where a strike of the attacker lands, and both begin when the clips reach back to alike;
  /// neither a stance nor a pair. The starts of the clips are the earliest instants at which they may begin.
  std::optional<AimOptions> aim = {};
  double within = 10;  ///< of the start, in which a touch is looked for [s]
  double seconds = 5;  ///< from the touch on, for which both have motions to follow, as far as the clips go [s]
  Configuration configuration;
};

/// The two motions on one clock, and where they touch. Throws UsageError and InputError for clips that cannot be used,
/// that never touch (the closest approach is named), or that begin inside one another.
struct StrikeJob {
  explicit StrikeJob(const StrikeOptions& options);
  StrikeJob(const StrikeJob&) = delete;
  StrikeJob& operator=(const StrikeJob&) = delete;

  StrikeOptions options;  ///< with the two people of one file by name
  std::vector<InputRecord> inputs;
  character::Character character;                      ///< of both
  std::vector<character::ReferenceReport> reports;     ///< of the receiver and the attacker
  std::vector<character::ReferenceMotion> motions;     ///< likewise, put into one world
  character::Approach touch;                           ///< first: of the receiver; time from the start of the clips on
  double start = 0;                                    ///< of the simulation, a frame before the touch [s]
  std::optional<Aim> aim = {};                         ///< where the receiver was put for a strike to land
  std::vector<character::ReferenceMotion> references;  ///< the motions from there on
};

struct Strike {
  control::Scene scene;                          ///< the receiver, the attacker
  std::optional<ContactEpisode> impact;          ///< of the simulation; nothing where the two miss one another in it
  std::vector<metrics::Evaluation> evaluations;  ///< of both: what knows nothing of the impact falls in the end
  results::RunTimer timer;

  bool success() const { return impact.has_value(); }
};

/// Simulates both in one world. Each has the control with which feedback follows its motion alone, without the other
/// one, for up to 1.5 s; after that, and where feedback does not follow it, the targets are the poses of the motion,
/// taken ahead of the time by kd / kp of each joint, because damping holds servos back by so much.
Strike SimulateStrike(const StrikeJob& job);

/// Whether in the simulation the bodies meet first that were to meet; false where there is no aim.
bool MeetsAsAimed(const StrikeJob& job, const Strike& result);

/// What a manifest says of it.
io::Json StrikeMember(const StrikeJob& job, const Strike& result);

/// Writes the folder of a scene, its manifest last. Throws OutputError.
void WriteStrike(results::RunFolder& folder, const StrikeJob& job, const Strike& result, const RunContext& context);

/// Lines for people.
std::string Describe(const StrikeJob& job, const Strike& result);

}  // namespace retrace::runs
