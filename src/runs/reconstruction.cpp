#include "retrace/runs/reconstruction.h"

#include <algorithm>
#include <stdexcept>

#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/runs/data_files.h"
#include "retrace/runs/failure_report.h"
#include "retrace/runs/run_files.h"
#include "retrace/runs/world_input.h"

namespace retrace::runs {
namespace {

io::Json Manifest(const Job& job, const Reconstruction& result, const RunContext& context) {
  const sampling::Summary& search = result.search;
  const metrics::Evaluation& evaluation = result.evaluation;
  const ClipOptions& clip = job.options.clip;
  io::Json manifest;
  manifest["format"] = "retrace-run";
  manifest["version"] = 1;
  manifest["program"] = "reconstruct";
  manifest["status"] = StatusOf(search.status);
  manifest["success"] = evaluation.success();
  manifest["evaluation"] = evaluation.ToJson();
  manifest["command"] = context.command;
  manifest["clip"] = {{"file", clip.clip},
                      {"start", clip.start},
                      {"end", clip.end},
                      {"time_scale", clip.time_scale},
                      {"options", job.configuration.task.reference.ToJson()},
                      {"duration", job.reference.duration()}};
  manifest["configuration"] = job.configuration.ToJson();
  manifest["seed"] = job.configuration.sampling.seed;
  manifest["inputs"] = InputHashes(job);
  manifest["reference"] = job.report.ToJson();
  manifest["clip_checks"] = job.checks.ToJson();
  if (!job.world.empty()) manifest["world"] = job.placed.ToJson(job.world);
  manifest["preparation"] = job.preparation.ToJson();
  const std::string why_stock = simulation::WhyStockSolver();
  manifest["solver"] = job.configuration.task.world.solver == simulation::Solver::kStock ? "stock, as configured"
                       : why_stock.empty()                                               ? "reduced"
                                                                                         : "stock: " + why_stock;
  const double wall = context.timer->WallSeconds();
  const double cpu = std::max(search.cpu_seconds, 1e-9);  // a budget may allow for no simulation at all
  io::Json cost = {{"simulated_seconds", search.simulated_seconds},
                   {"search_seconds", search.search_seconds},
                   {"simulated_seconds_per_second", search.simulated_seconds / job.reference.duration()},
                   {"rollouts", search.rollouts},
                   {"rollout_cpu_seconds", search.cpu_seconds},
                   {"samples_per_second_per_core", static_cast<double>(search.rollouts) / cpu},
                   {"samples_per_second", static_cast<double>(search.rollouts) / wall},
                   {"cpu_seconds_per_second", search.cpu_seconds / job.reference.duration()}};
  manifest["cost"] = cost;
  io::Json distinct = io::Json::array();
  io::Json literal = io::Json::array();
  io::Json rewinds = io::Json::array();
  size_t diverged = 0;
  for (const auto& iteration : search.iterations) {
    distinct.push_back(iteration.selection.distinct);
    literal.push_back(iteration.selection.distinct_literal);
    diverged += iteration.diverged;
    if (iteration.rewound_to >= 0) {
      rewinds.push_back({{"iteration", iteration.iteration},
                         {"lost_fragment", iteration.fragment},
                         {"to_fragment", iteration.rewound_to}});
    }
  }
  manifest["search"] = {{"path_cost", search.path_cost}, {"ending", Name(search.status)},
                        {"diverged_samples", diverged},  {"rewinds", rewinds},
                        {"distinct_saved", distinct},    {"distinct_saved_by_the_letter", literal}};
  manifest["search"]["smoothing"] = io::Json::array();
  for (const sampling::SmoothingPass& pass : search.smoothing) {
    manifest["search"]["smoothing"].push_back({{"roughness_before", pass.roughness_before},
                                               {"roughness", pass.roughness},
                                               {"deviation", pass.deviation},
                                               {"completed", pass.completed},
                                               {"accepted", pass.accepted}});
  }
  if (!evaluation.success()) {
    manifest["search"]["failure"] = ReportFailure(job.problem, search, evaluation, job.checks).ToJson();
  }
  manifest["workers"] = context.workers;
  manifest["provenance"] = results::Provenance(*context.timer, {});
  return manifest;
}

task::Preparation PrepareInWorld(runs::Configuration& configuration, const task::AlteredWorld& world,
                                 const task::PlacedWorld& placed, const character::ReferenceMotion& recorded) {
  if (world.gravity) configuration.task.world.gravity = *world.gravity;
  configuration.task.world.environment = placed.environment;
  return task::Prepare(configuration.task, placed.reference, &recorded);
}

}  // namespace

runs::Configuration MakeConfiguration(const JobOptions& o) {
  runs::Configuration configuration;
  if (!o.config.empty()) {
    const io::Json document = io::ReadJson(o.config);
    configuration.Read(io::JsonView(document, o.config));
  }
  if (o.paper) configuration.UsePaperMode();
  if (!o.solver.empty()) configuration.Set("/simulation/solver=" + o.solver);
  for (const std::string& assignment : o.sets) configuration.Set(assignment);
  if (o.samples > 0) configuration.sampling.samples = o.samples;
  if (o.saved > 0) configuration.sampling.selection.saved = o.saved;
  if (o.seed >= 0) configuration.sampling.seed = static_cast<uint64_t>(o.seed);
  Apply(o.clip, configuration.task.reference);
  if (const auto problem = configuration.Validate()) throw UsageError(*problem);
  return configuration;
}

Job::Job(const JobOptions& o)
    : options(o),
      configuration(MakeConfiguration(o)),
      world(ReadWorlds(o.worlds)),
      character(task::WithLoads(character::LoadCharacter(FindCharacter(o.character)), world)),
      clip(ReadClip(o.clip)),
      recorded(character::MakeReference(character, clip, o.clip.clip, configuration.task.reference, report)),
      checks(metrics::CheckClip(recorded, clip, report)),
      placed(task::PlaceWorld(world, recorded)),
      reference(placed.reference),
      preparation(PrepareInWorld(configuration, world, placed, recorded)),
      problem{preparation.task, configuration.sampling} {}

void Job::SetSeed(uint64_t seed) {
  configuration.sampling.seed = seed;
  problem.options.seed = seed;
}

std::vector<InputFile> InputFiles(const JobOptions& options) {
  std::vector<InputFile> files = ClipFiles(options.clip);
  files.push_back({"character", FindCharacter(options.character)});
  int number = 0;
  for (const std::filesystem::path& file : WorldFiles(options.worlds)) {
    files.push_back({std::string("world ").append(std::to_string(++number)), file});
  }
  return files;
}

io::Json InputHashes(const Job& job) {
  std::vector<InputFile> files = InputFiles(job.options);
  if (!job.options.config.empty()) files.push_back({"configuration", job.options.config});
  io::Json inputs = io::Json::array();
  for (const InputFile& file : files) {
    inputs.push_back(
        {{"file", file.path.string()}, {"role", file.role}, {"sha256", io::Sha256(io::ReadFile(file.path))}});
  }
  return inputs;
}

Reconstruction Reconstruct(const Job& job, parallel::TaskFarm& farm, const sampling::Hooks& hooks) {
  const sampling::Problem& problem = job.problem;
  Reconstruction result;
  result.search = sampling::Run(problem, farm, hooks);
  const control::OpenLoopControl& control = result.search.control;
  result.trajectory = control::Replay(job.character, control);
  if (!control.fragments.empty() &&
      control::Fingerprint(result.trajectory.states.back()) != control::Fingerprint(result.search.end)) {
    throw std::logic_error("the replay does not end in the state that the search found");
  }
  const double expected = problem.task.schedule.steps.back() * problem.time_step();
  result.evaluation =
      metrics::Evaluate(job.character, result.trajectory, job.reference, expected, job.configuration.task.gates);
  return result;
}

void WriteRun(results::RunFolder& folder, const Job& job, const Reconstruction& result, const RunContext& context,
              KeptFiles kept, const io::Json& more) {
  const sampling::Summary& search = result.search;
  if (kept == KeptFiles::kAll) {
    const std::string title = std::filesystem::path(job.options.clip.clip).stem().string();
    WriteMotion(folder, job.character, search.control, result.trajectory, &job.reference, title);
    folder.Write(results::kCostsFile, results::FormatCosts(CostsOf(search)));
  } else {
    folder.Write(results::kControlFile, control::FormatControl(job.character, search.control));
  }
  io::Json manifest = Manifest(job, result, context);
  if (kept == KeptFiles::kControl) {
    // What `replay --verify` compares with where the tables themselves are not kept.
    for (const NamedTable& table : StateTables(job.character, result.trajectory)) {
      manifest["tables_sha256"][table.name] = io::Sha256(table.text);
    }
  }
  manifest.update(more);
  manifest["files"] = folder.Files();
  folder.Finish(manifest);
}

}  // namespace retrace::runs
