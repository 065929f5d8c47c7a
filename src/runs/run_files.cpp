#include "retrace/runs/run_files.h"

#include <algorithm>

#include "retrace/character/skeleton.h"
#include "retrace/exports/bvh.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/bvh.h"
#include "retrace/report/filmstrip.h"
#include "retrace/results/contact_tables.h"

namespace retrace::runs {
namespace {

/// Of characters that are in one world.
std::string FormatFilmStrip(const std::vector<MotionFiles>& motions, const std::string& title) {
  std::vector<report::FilmStripMotion> shown;
  for (const MotionFiles& motion : motions) shown.push_back({&motion.character, &motion.trajectory, motion.reference});
  const simulation::WorldOptions& world = motions.front().world;
  report::FilmStripOptions options;
  options.title = title;
  options.gravity = world.gravity;
  if (!world.environment.empty()) options.environment = &world.environment;
  return report::FormatFilmStrip(shown, options);
}

}  // namespace

void WriteMotion(results::RunFolder& folder, const std::string& prefix, const MotionFiles& motion) {
  const character::Character& character = motion.character;
  const auto write = [&](std::string_view name, const std::string& text) {
    folder.Write(std::string(prefix).append(name), text);
  };
  write(results::kMotionFile, exports::FormatMotionBvh(character, motion.trajectory));
  if (motion.reference != nullptr) {
    const character::ReferenceMotion& reference = *motion.reference;
    write(results::kReferenceFile,
          motion::FormatBvh(character::ClipOf(character, reference.poses(), reference.frame_time())));
  }
  for (const NamedTable& table : StateTables(character, motion.trajectory)) write(table.name, table.text);
  for (const NamedTable& table : ContactTables(character, motion.trajectory)) write(table.name, table.text);
  write(results::kFilmStripFile, FormatFilmStrip({motion}, motion.title));
}

void WriteFilmStrip(results::RunFolder& folder, const std::vector<MotionFiles>& motions, const std::string& title) {
  folder.Write(results::kFilmStripFile, FormatFilmStrip(motions, title));
}

std::vector<NamedTable> StateTables(const character::Character& character, const control::Trajectory& trajectory) {
  return {{std::string(results::kTrajectoryFile), results::FormatTrajectory(character, trajectory)},
          {std::string(results::kContactsFile), results::FormatContacts(character, trajectory)},
          {std::string(results::kTorquesFile), results::FormatTorques(character, trajectory)}};
}

std::vector<NamedTable> ContactTables(const character::Character& character, const control::Trajectory& trajectory) {
  const results::ContactHistory history = results::TraceContacts(character, trajectory);
  return {{std::string(results::kBodyContactsFile), results::FormatBodyContacts(character, history)},
          {std::string(results::kContactTotalsFile), results::FormatContactTotals(history)},
          {std::string(results::kContactSummaryFile), results::FormatContactSummary(character, history)},
          {std::string(results::kPressureFile), results::FormatPressure(character, history)}};
}

results::CostTable CostsOf(const sampling::Summary& search) {
  const auto values = [](const task::CostTerms& terms) {
    std::vector<double> list;
    for (const task::CostTerm& term : task::kCostTerms) list.push_back(terms.*term.value);
    return list;
  };
  results::CostTable table;
  for (const task::CostTerm& term : task::kCostTerms) table.terms.emplace_back(term.name);
  for (const sampling::IterationRecord& iteration : search.iterations) {
    results::FragmentCosts& costs = table.fragments.emplace_back();
    costs.fragment = iteration.fragment;
    costs.attempt = iteration.attempt;
    costs.start_time = iteration.start;
    costs.end_time = iteration.end;
    for (size_t s = 0; s < iteration.samples.size(); ++s) {
      const sampling::SampleRecord& record = iteration.samples[s];
      results::SampleCost& sample = costs.samples.emplace_back();
      sample.sample = static_cast<int>(s);
      sample.start = static_cast<int>(record.start);
      sample.terms = values(record.terms);
      sample.weighted = values(record.terms.Weighted(iteration.weights));
      sample.total = record.cost;
      sample.diverged = record.diverged;
      sample.saved = record.saved;
      sample.chosen = record.chosen;
    }
  }
  return table;
}

std::string Describe(const metrics::Evaluation& evaluation, double expected, bool diverged) {
  std::string text;
  if (!evaluation.completed) {
    text += "  ends after " + io::Fixed(evaluation.simulated_duration, 2) + " of " + io::Fixed(expected, 2) +
            " s: " + (diverged ? "the simulation diverged" : "the control goes no further") + "\n";
  }
  for (const metrics::Gate& gate : evaluation.gates) {
    const bool angle = gate.name == "root_orientation";
    const auto figure = [&](double value) {
      return angle ? io::Fixed(Degrees(value), 1) + " degrees" : io::Fixed(value, 3) + " m";
    };
    text += "  " + gate.name + std::string(18 - std::min<size_t>(17, gate.name.size()), ' ') + "at most " +
            figure(gate.worst) + " (limit " + figure(gate.limit) +
            "): " + (gate.passed() ? "passed" : "failed from " + io::Fixed(gate.first_violation, 2) + " s") + "\n";
  }
  text += "  mean joint error  " + io::Fixed(evaluation.mean_joint_error, 3) + " m, drift at the end " +
          io::Fixed(evaluation.drift, 2) + " m\n";
  return text;
}

}  // namespace retrace::runs
