/// The folder of a run whose motion is made of parts: what compose and respond write. Internal to the module.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/control.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/runs/stored/manifest.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// A row of composition.csv.
struct PartRow {
  double start = 0, end = 0;    ///< [s]
  std::string control;          ///< or motion, that is played
  double cut = 0;               ///< of that, where it is entered [s]
  double distance = 0;          ///< of the states there [m]
  int tries = 0;                ///< 0: none, it goes on
  std::string event;            ///< Name of CompositionEvent
  std::string transition = {};  ///< Name of Transition, or nothing
  double hidden_impulse = 0;    ///< [N s]
};

std::string FormatParts(const std::vector<PartRow>& rows);

/// What such a run is. The references are to be there as long as it is.
struct ComposedRun {
  std::string program = {};  ///< that made it
  std::string title = {};    ///< of the film strip
  const character::Character& character;
  const control::OpenLoopControl& control;
  const std::vector<character::Pose>& reference;  ///< (frames) of kCompositionFrame
  const metrics::Evaluation& evaluation;
  bool completed = true;  ///< else it is a part of what was asked for
  bool success = false;
  const Configuration& configuration;
  std::vector<PartRow> parts = {};
  std::string member = {};      ///< of the manifest, for what the program has to tell
  io::JsonBox what = {};        ///< that it tells
  io::JsonBox characters = {};  ///< likewise of a scene (CharactersMember); null: it is of one character
  std::vector<const StoredRun*> inputs = {};
  const results::RunTimer& timer;
};

/// What compositions and responses have alike: control, reference, evaluation, ending, success() and timer.
template <typename Result>
ComposedRun MakeComposedRun(const character::Character& character, const Configuration& configuration,
                            const Result& result) {
  return {.character = character,
          .control = result.control,
          .reference = result.reference,
          .evaluation = result.evaluation,
          .completed = result.ending == "completed",
          .success = result.success(),
          .configuration = configuration,
          .timer = result.timer};
}

/// The manifest, whose files are written elsewhere.
io::Json ManifestOf(const ComposedRun& run, const RunContext& context);

/// Writes everything but the manifest: control, motion, tables; returns the manifest, which FinishWith writes last.
/// Throws OutputError.
io::Json WriteComposedRun(results::RunFolder& folder, const ComposedRun& run, const RunContext& context);

}  // namespace retrace::runs
