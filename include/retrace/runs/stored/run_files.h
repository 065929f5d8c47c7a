/// The files that describe a simulated motion, the same for a reconstruction and a replay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/exports/bvh.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/methods/trajectory/optimize.h"
#include "retrace/metrics/gates.h"
#include "retrace/report/filmstrip.h"
#include "retrace/results/contact_tables.h"
#include "retrace/results/run_folder.h"
#include "retrace/results/tables.h"

namespace retrace::runs {

/// Which files a run leaves besides its manifest.
enum class KeptFiles {
  kAll,            ///< control, motions, tables, picture, costs of the search or solutions of the tracking
  kAllAndSamples,  ///< the same, and the costs of every sample of the search
  kControl,        ///< control alone, from which `replay` makes the others
};

/// How many steps of a motion are simulated before they are written: about a second, in whole frames of the pressure
/// map. A motion in such parts takes the memory of one of them.
size_t StepsPerPart(double time_step);

/// A table, or the next piece of one.
struct NamedTable {
  std::string name;
  std::string text;
};

/// The tables by which a replay is compared bit for bit: trajectory.csv, contacts.csv, torques.csv; of a part of a
/// motion their next pieces.
std::vector<NamedTable> StateTables(const character::Character& character, const control::Trajectory& part);

/// All tables of a motion that comes in parts, piece by piece: those above; the inside view, which follows from them
/// (body_contacts.csv, contact_totals.csv, pressure.csv, contact_summary.csv); motion.bvh.
class MotionTables {
 public:
  /// The character must outlive it. Where the number of steps is not known, all of motion.bvh comes at the end, because
  /// its head has the number of frames.
  explicit MotionTables(const character::Character& character, std::optional<size_t> num_steps = {})
      : character_(character), num_steps_(num_steps), bvh_(character) {}
  /// The next pieces. The parts must begin with frames of the pressure map (StepsPerPart).
  std::vector<NamedTable> Add(const control::Trajectory& part);
  /// What is known when there are no more parts.
  std::vector<NamedTable> Finish();

 private:
  const character::Character& character_;
  std::optional<size_t> num_steps_;
  results::ContactSummarizer summary_;
  exports::MotionBvh bvh_;
  std::vector<std::string> rows_;  // of motion.bvh, where the number of steps is not known
};

/// A motion of one character and what its files show.
struct MotionFiles {
  const character::Character& character;
  const simulation::WorldOptions& world;
  const character::ReferenceMotion* reference;            ///< may be null
  std::string title;                                      ///< of the film strip
  size_t num_steps = 0;                                   ///< of the motion
  const character::ReferenceMotion* recording = nullptr;  ///< what the reference was repaired from; may be null
};

/// Writes motion.bvh, trajectory.csv, contacts.csv, torques.csv, the tables of the inside view, filmstrip.svg and,
/// where there are a reference and a recording, reference.bvh and recording.bvh, while the motion comes in parts. All
/// throw OutputError.
class MotionWriter {
 public:
  /// The names of the files begin with `prefix` (results::CharacterPrefix). The folder must outlive the writer.
  MotionWriter(results::RunFolder& folder, std::string prefix, MotionFiles motion);
  /// A part of that character's motion, as control::TrajectoryOf has it.
  void Add(const control::Trajectory& part);
  void Finish();

  /// What the film strip shows.
  const report::FilmedMotion& filmed() const { return filmed_; }

 private:
  void Append(const std::vector<NamedTable>& pieces);
  void AppendBvh(std::string_view name, const character::ReferenceMotion& motion);

  results::RunFolder& folder_;
  std::string prefix_;
  MotionFiles motion_;
  MotionTables tables_;
  report::FilmedMotion filmed_;
};

/// Writes filmstrip.svg with all characters of a scene.
void WriteFilmStrip(results::RunFolder& folder, const std::vector<report::FilmedMotion>& motions,
                    const simulation::WorldOptions& world, const std::string& title);

/// The costs of a search, iteration by iteration.
results::CostTable CostsOf(const sampling::Summary& search);
/// The costs of all samples that the search has records of, with the weights that each iteration was drawn with.
results::SampleTable SamplesOf(const sampling::Summary& search);

/// windows.csv, one row per iteration: window, iteration; start, end of what is optimized; start_cost, cost, best_cost,
/// deviation (trajectory::IterationRecord); samples, diverged, inside_gates.
std::string FormatWindows(const trajectory::Summary& summary);

/// Success, tolerances and figures as lines for people. `expected` is the duration that was to be reached [s].
std::string Describe(const metrics::Evaluation& evaluation, double expected, bool diverged);

}  // namespace retrace::runs
