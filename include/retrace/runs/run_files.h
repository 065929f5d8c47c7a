/// The files that describe a simulated motion, the same for a reconstruction and a replay.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference.h"
#include "retrace/control/control.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/run_folder.h"
#include "retrace/results/tables.h"

namespace retrace::runs {

/// A motion of one character and what its files show.
struct MotionFiles {
  const character::Character& character;
  const simulation::WorldOptions& world;
  const control::Trajectory& trajectory;        ///< of that character, as control::TrajectoryOf has it
  const character::ReferenceMotion* reference;  ///< may be null
  std::string title;                            ///< of the film strip
};

/// Writes motion.bvh, trajectory.csv, contacts.csv, torques.csv, the tables of the inside view, filmstrip.svg and,
/// where there is a reference, reference.bvh. Their names begin with `prefix` (results::CharacterPrefix).
void WriteMotion(results::RunFolder& folder, const std::string& prefix, const MotionFiles& motion);

/// Writes filmstrip.svg with all characters of a scene.
void WriteFilmStrip(results::RunFolder& folder, const std::vector<MotionFiles>& motions, const std::string& title);

/// The tables by which a replay is compared bit for bit: trajectory.csv, contacts.csv, torques.csv, with their names.
struct NamedTable {
  std::string name;
  std::string text;
};
std::vector<NamedTable> StateTables(const character::Character& character, const control::Trajectory& trajectory);

/// The inside view: body_contacts.csv, contact_totals.csv, contact_summary.csv, pressure.csv. They follow from the
/// tables above.
std::vector<NamedTable> ContactTables(const character::Character& character, const control::Trajectory& trajectory);

/// The costs of all samples of a search, with the weights that each iteration was drawn with.
results::CostTable CostsOf(const sampling::Summary& search);

/// Success, gates and figures as lines for people. `expected` is the duration that was to be reached [s].
std::string Describe(const metrics::Evaluation& evaluation, double expected, bool diverged);

}  // namespace retrace::runs
