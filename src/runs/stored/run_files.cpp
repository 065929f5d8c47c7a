#include "retrace/runs/stored/run_files.h"

#include <algorithm>
#include <span>
#include <utility>

#include "retrace/character/skeleton.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/metrics/gate_text.h"
#include "retrace/recordings/bvh.h"

namespace retrace::runs {
namespace {

constexpr size_t kFramesPerPart = 60;  // of the pressure map

report::FilmStripOptions FilmStripOf(const simulation::WorldOptions& world, const std::string& title) {
  report::FilmStripOptions options;
  options.title = title;
  options.gravity = world.gravity;
  if (!world.environment.empty()) options.environment = &world.environment;
  return options;
}

std::vector<std::string> CostTermNames() {
  std::vector<std::string> names;
  for (const task::CostTerm& term : task::kCostTerms) names.emplace_back(term.name);
  return names;
}

results::SampleCost CostOf(const sampling::SampleRecord& record, const task::CostWeights& weights) {
  const task::CostTerms weighted = record.terms.Weighted(weights);
  results::SampleCost sample;
  sample.sample = static_cast<int>(record.sample);
  sample.start = static_cast<int>(record.start);
  for (const task::CostTerm& term : task::kCostTerms) {
    sample.terms.push_back(record.terms.*term.value);
    sample.weighted.push_back(weighted.*term.value);
  }
  sample.total = record.cost;
  sample.diverged = record.diverged;
  sample.saved = record.saved;
  sample.chosen = record.chosen;
  return sample;
}

}  // namespace

size_t StepsPerPart(double time_step) {
  return kFramesPerPart * results::StepsPerFrame(time_step);
}

std::vector<NamedTable> StateTables(const character::Character& character, const control::Trajectory& part) {
  return {{std::string(results::kTrajectoryFile), results::FormatTrajectory(character, part)},
          {std::string(results::kContactsFile), results::FormatContacts(character, part)},
          {std::string(results::kTorquesFile), results::FormatTorques(character, part)}};
}

std::vector<NamedTable> MotionTables::Add(const control::Trajectory& part) {
  std::vector<NamedTable> pieces = StateTables(character_, part);
  std::string rows = bvh_.Add(part);
  if (num_steps_) {
    if (part.first_step == 0) rows.insert(0, bvh_.Head(bvh_.FramesOf(*num_steps_, part.time_step)));
    pieces.push_back({std::string(results::kMotionFile), std::move(rows)});
  } else {
    rows_.push_back(std::move(rows));
  }
  const results::ContactHistory history = results::TraceContacts(character_, part);
  summary_.Add(history);
  pieces.push_back({std::string(results::kBodyContactsFile), results::FormatBodyContacts(character_, history)});
  pieces.push_back({std::string(results::kContactTotalsFile), results::FormatContactTotals(history)});
  pieces.push_back({std::string(results::kPressureFile), results::FormatPressure(character_, history)});
  return pieces;
}

std::vector<NamedTable> MotionTables::Finish() {
  std::vector<NamedTable> pieces = {
      {std::string(results::kContactSummaryFile), results::FormatContactSummary(character_, summary_.Summaries())}};
  std::string last = bvh_.Finish();
  if (!num_steps_) pieces.push_back({std::string(results::kMotionFile), bvh_.Head(bvh_.frames())});
  for (std::string& rows : rows_) pieces.push_back({std::string(results::kMotionFile), std::move(rows)});
  pieces.push_back({std::string(results::kMotionFile), std::move(last)});
  return pieces;
}

MotionWriter::MotionWriter(results::RunFolder& folder, std::string prefix, MotionFiles motion)
    : folder_(folder),
      prefix_(std::move(prefix)),
      motion_(std::move(motion)),
      tables_(motion_.character, motion_.num_steps),
      filmed_(motion_.character, motion_.reference, motion_.num_steps, motion_.world.time_step,
              FilmStripOf(motion_.world, motion_.title)) {}

void MotionWriter::Append(const std::vector<NamedTable>& pieces) {
  for (const NamedTable& piece : pieces) folder_.Append(prefix_ + piece.name, piece.text);
}

void MotionWriter::Add(const control::Trajectory& part) {
  Append(tables_.Add(part));
  filmed_.Add(part);
}

void MotionWriter::AppendBvh(std::string_view name, const character::ReferenceMotion& motion) {
  constexpr size_t kPiece = 1 << 16;
  const std::string file = prefix_ + std::string(name);
  const motion::Skeleton skeleton = character::SkeletonOf(motion_.character);
  const motion::BvhText bvh(skeleton, std::vector<bool>(skeleton.joints.size(), false));
  std::string text = bvh.Head(motion.poses().size(), motion.frame_time());
  for (const character::Pose& pose : motion.poses()) {
    bvh.AppendRow(character::FrameOf(motion_.character, skeleton, pose), text);
    if (text.size() < kPiece) continue;
    folder_.Append(file, text);
    text.clear();
  }
  folder_.Append(file, text);
}

void MotionWriter::Finish() {
  Append(tables_.Finish());
  if (motion_.reference != nullptr) AppendBvh(results::kReferenceFile, *motion_.reference);
  if (motion_.recording != nullptr) AppendBvh(results::kRecordingFile, *motion_.recording);
  folder_.Append(prefix_ + std::string(results::kFilmStripFile),
                 report::FormatFilmStrip(std::span(&filmed_, 1), FilmStripOf(motion_.world, motion_.title)));
  folder_.FinishFiles();
}

void WriteFilmStrip(results::RunFolder& folder, const std::vector<report::FilmedMotion>& motions,
                    const simulation::WorldOptions& world, const std::string& title) {
  folder.Write(results::kFilmStripFile, report::FormatFilmStrip(motions, FilmStripOf(world, title)));
}

results::CostTable CostsOf(const sampling::Summary& search) {
  results::CostTable table{CostTermNames(), {}};
  for (const sampling::IterationRecord& iteration : search.iterations) {
    results::IterationCosts& row = table.iterations.emplace_back();
    row.fragment = iteration.fragment;
    row.attempt = iteration.attempt;
    row.iteration = iteration.iteration;
    row.start_time = iteration.start;
    row.end_time = iteration.end;
    row.refinement = iteration.refinement;
    row.samples = iteration.drawn;
    row.diverged = static_cast<int>(iteration.diverged);
    row.inside_gates = static_cast<int>(iteration.inside_gates);
    row.saved = static_cast<int>(iteration.selection.distinct);
    row.drawn_costs = iteration.drawn_costs;
    row.saved_costs = iteration.saved_costs;
    const auto chosen = std::find_if(iteration.samples.begin(), iteration.samples.end(),
                                     [](const sampling::SampleRecord& record) { return record.chosen; });
    if (chosen != iteration.samples.end()) row.chosen = CostOf(*chosen, iteration.weights);
  }
  return table;
}

results::SampleTable SamplesOf(const sampling::Summary& search) {
  results::SampleTable table{CostTermNames(), {}};
  for (const sampling::IterationRecord& iteration : search.iterations) {
    if (iteration.samples.empty()) continue;  // of a long search, and not part of the result
    results::FragmentSamples& costs = table.fragments.emplace_back();
    costs.fragment = iteration.fragment;
    costs.attempt = iteration.attempt;
    costs.start_time = iteration.start;
    costs.end_time = iteration.end;
    for (const sampling::SampleRecord& record : iteration.samples) {
      costs.samples.push_back(CostOf(record, iteration.weights));
    }
  }
  return table;
}

std::string FormatWindows(const trajectory::Summary& summary) {
  io::CsvWriter csv;
  for (const char* column : {"window", "iteration", "start", "end", "start_cost", "cost", "best_cost", "deviation",
                             "samples", "diverged", "inside_gates"}) {
    csv.Text(column);
  }
  csv.EndRow();
  for (const trajectory::IterationRecord& record : summary.iterations) {
    csv.Integer(record.window);
    csv.Integer(record.iteration);
    for (const double number : {record.start, record.end}) csv.Number(number);
    for (const double number : {record.start_cost, record.cost, record.best_cost}) csv.NumberOrEmpty(number);
    csv.Short(record.deviation);
    for (const size_t number : {record.samples, record.diverged, record.inside_gates}) {
      csv.Integer(static_cast<int>(number));
    }
    csv.EndRow();
  }
  return csv.Take();
}

std::string Describe(const metrics::Evaluation& evaluation, double expected, bool diverged) {
  std::string text;
  if (!evaluation.completed) {
    text += "  ends after " + io::Fixed(evaluation.simulated_duration, 2) + " of " + io::Fixed(expected, 2) +
            " s: " + (diverged ? "the simulation diverged" : "the control goes no further") + "\n";
  }
  for (const metrics::Gate& gate : evaluation.gates) {
    const auto figure = [&](double value) { return metrics::FigureText(gate, value); };
    text += "  " + gate.name + std::string(18 - std::min<size_t>(17, gate.name.size()), ' ') + "at most " +
            figure(gate.worst) + " (limit " + figure(gate.limit) +
            "): " + (gate.passed() ? "passed" : "failed from " + io::Fixed(gate.first_violation, 2) + " s") + "\n";
  }
  const metrics::Gate& world = evaluation.world;
  text += "  in the world      at most " + io::Fixed(world.worst, 3) +
          " m from the reference: " + (world.passed() ? "within " : "beyond ") + io::Fixed(world.limit, 3) + " m" +
          (world.passed() ? "" : " from " + io::Fixed(world.first_violation, 2) + " s") + "\n";
  text += "  mean joint error  " + io::Fixed(evaluation.mean_joint_error, 3) + " m, drift at the end " +
          io::Fixed(evaluation.drift, 2) + " m\n";
  if (!evaluation.success()) return text;
  for (const std::string& doubt : evaluation.Doubts()) text += "  doubtful: " + doubt + "\n";
  return text;
}

}  // namespace retrace::runs
