/// reconstruct: a recorded clip in, its open-loop control and its simulated motion out.
#include <cstdio>
#include <optional>
#include <thread>

#include "common/clip_input.h"
#include "common/data_files.h"
#include "common/program.h"
#include "common/progress.h"
#include "common/run_files.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/reconstruction/configuration.h"
#include "retrace/reconstruction/search.h"
#include "retrace/results/provenance.h"

namespace {

using namespace retrace;

struct Options {
  apps::ClipOptions clip;
  std::string character = "human";
  std::string config;
  std::vector<std::string> sets;
  int samples = 0;
  int saved = 0;
  int64_t seed = -1;
  int threads = 0;
  bool paper = false;
  std::string solver;
  std::string output;
  bool force = false;
  bool dry_run = false;
  std::string progress = "auto";
  bool print_config = false;
};

void AddOptions(CLI::App& app, Options& o) {
  apps::AddClipOptions(app, o.clip);
  app.add_option("--character", o.character, "Name of a character or its JSON file")->capture_default_str();
  app.add_option("--config", o.config, "Configuration file, as --print-config prints it")->type_name("FILE");
  app.add_option("--set", o.sets, "One setting: /section/name=value (repeatable)")
      ->type_name("/POINTER=VALUE")
      ->allow_extra_args(false);
  app.add_option("--samples", o.samples, "nSample, samples per iteration [1400]")->check(CLI::Range(1, 10000000));
  app.add_option("--saved", o.saved, "nSave, samples saved per iteration [200]")->check(CLI::Range(1, 10000000));
  app.add_option("--seed", o.seed, "Seed of all random numbers [1]")->check(CLI::NonNegativeNumber);
  app.add_option("--threads", o.threads, "Threads [all cores]; under mpirun each rank has one")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--paper", o.paper, "Step, servo, targets, offsets and single pass of the paper: 0.0005 s, explicit PD");
  app.add_option("--solver", o.solver,
                 "Who finds the constraint forces: eliminated (joints first, then contacts) or stock (ODE's own)")
      ->check(CLI::IsMember({"eliminated", "stock"}));
  app.add_option("--output", o.output, "Folder for the results [results/CLIP]")->type_name("DIR");
  app.add_flag("--force", o.force, "Write into a folder that holds results already");
  app.add_flag("--dry-run", o.dry_run, "Say what was understood and would be done, and stop");
  app.add_option("--progress", o.progress, "auto, bar, plain, json or none")->capture_default_str();
  app.add_flag("--print-config", o.print_config, "Print the whole configuration with comments, and stop");
  app.set_version_flag("--version", "reconstruct " + results::Version());
}

reconstruction::Configuration MakeConfiguration(const Options& o) {
  reconstruction::Configuration configuration;
  if (!o.config.empty()) {
    const io::Json document = io::ReadJson(o.config);
    configuration.Read(io::JsonView(document, o.config));
  }
  if (o.paper) configuration.UsePaperMode();
  if (!o.solver.empty()) configuration.Set("/simulation/solver=" + o.solver);
  for (const std::string& assignment : o.sets) configuration.Set(assignment);
  if (o.samples > 0) configuration.search.samples = o.samples;
  if (o.saved > 0) configuration.search.selection.saved = o.saved;
  if (o.seed >= 0) configuration.search.seed = static_cast<uint64_t>(o.seed);
  if (configuration.search.selection.saved > configuration.search.samples) {
    throw UsageError("found " + std::to_string(configuration.search.selection.saved) + " saved of " +
                     std::to_string(configuration.search.samples) +
                     " samples, expected --saved to be at most --samples");
  }
  apps::Apply(o.clip, configuration.reference);
  return configuration;
}

/// What the clip became, for people.
void PrintUnderstanding(const Options& o, const character::ReferenceReport& report, const metrics::ClipChecks& checks,
                        const reconstruction::Preparation& preparation, const character::ReferenceMotion& reference) {
  std::printf("%s: %.2f s\n", o.clip.clip.c_str(), reference.duration());
  for (const std::string& note : report.notes) std::printf("  %s\n", note.c_str());
  for (const metrics::ClipWarning& warning : checks.warnings) std::printf("  warning: %s\n", warning.text.c_str());
  const auto& problem = preparation.problem;
  std::printf(
      "  motion: %s; cost weights %s (%g, %g, %g, %g); contact scales %s; %d fragments, %zu of them ending at a "
      "segment boundary\n",
      reconstruction::Name(preparation.kind.kind).c_str(), preparation.cost_preset.c_str(), problem.weights.pose,
      problem.weights.root, problem.weights.end_effector, problem.weights.balance, preparation.contact_preset.c_str(),
      problem.schedule.num_iterations(), problem.schedule.boundaries.size());
  if (preparation.start_raised > 0) {
    std::printf("  start state raised by %.3f m out of the ground\n", preparation.start_raised);
  }
}

/// Everything that all ranks prepare alike.
struct Job {
  explicit Job(const Options& o)
      : configuration(MakeConfiguration(o)),
        character_file(apps::FindCharacter(o.character)),
        character(character::LoadCharacter(character_file)),
        input(apps::ReadClip(o.clip)),
        reference(character::MakeReference(character, input.clip, o.clip.clip, configuration.reference, report)),
        checks(metrics::CheckClip(reference, input.clip, report)),
        preparation(reconstruction::Prepare(configuration, reference)) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  reconstruction::Configuration configuration;
  std::filesystem::path character_file;
  character::Character character;
  apps::ClipInput input;
  character::ReferenceReport report;
  character::ReferenceMotion reference;
  metrics::ClipChecks checks;
  reconstruction::Preparation preparation;
};

io::Json InputHashes(const Job& job, const Options& o) {
  std::vector<std::filesystem::path> files = job.input.files;
  files.push_back(job.character_file);
  if (!o.config.empty()) files.emplace_back(o.config);
  io::Json inputs = io::Json::array();
  for (const auto& file : files)
    inputs.push_back({{"file", file.string()}, {"sha256", io::Sha256(io::ReadFile(file))}});
  return inputs;
}

io::Json Manifest(const Job& job, const Options& o, const std::string& command,
                  const reconstruction::SearchResult& search, const metrics::Evaluation& evaluation,
                  const results::RunTimer& timer, const io::Json& workers) {
  io::Json manifest;
  manifest["format"] = "retrace-run";
  manifest["version"] = 1;
  manifest["program"] = "reconstruct";
  manifest["status"] = search.reached_end ? "completed" : "diverged";
  manifest["success"] = evaluation.success();
  manifest["evaluation"] = evaluation.ToJson();
  manifest["command"] = command;
  manifest["clip"] = {{"file", o.clip.clip},
                      {"start", o.clip.start},
                      {"end", o.clip.end},
                      {"time_scale", o.clip.time_scale},
                      {"options", job.configuration.reference.ToJson()},
                      {"duration", job.reference.duration()}};
  manifest["configuration"] = job.configuration.ToJson();
  manifest["seed"] = job.configuration.search.seed;
  manifest["inputs"] = InputHashes(job, o);
  manifest["reference"] = job.report.ToJson();
  manifest["clip_checks"] = job.checks.ToJson();
  manifest["preparation"] = job.preparation.ToJson();
  const std::string why_stock = simulation::WhyStockSolver();
  manifest["solver"] = job.configuration.world.solver == simulation::Solver::kStock ? "stock, as configured"
                       : why_stock.empty()                                          ? "eliminated"
                                                                                    : "stock: " + why_stock;
  const double wall = timer.WallSeconds();
  io::Json cost = {{"simulated_seconds", search.simulated_seconds},
                   {"simulated_seconds_per_second", search.simulated_seconds / job.reference.duration()},
                   {"rollouts", search.rollouts},
                   {"rollout_cpu_seconds", search.cpu_seconds},
                   {"samples_per_second_per_core", static_cast<double>(search.rollouts) / search.cpu_seconds},
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
  manifest["search"] = {{"path_cost", search.path_cost},
                        {"diverged_samples", diverged},
                        {"rewinds", rewinds},
                        {"distinct_saved", distinct},
                        {"distinct_saved_by_the_letter", literal}};
  manifest["workers"] = workers;
  manifest["provenance"] = results::Provenance(timer, {});
  return manifest;
}

int Reconstruct(const Options& o, const std::string& command, parallel::MpiSession& mpi) {
  const results::RunTimer timer;
  const bool master = mpi.rank() == 0;
  if (o.print_config) {
    if (master) std::fputs(MakeConfiguration(o).ToCommentedJson().c_str(), stdout);
    return 0;
  }
  if (o.clip.clip.empty()) throw UsageError("a clip is needed (--help lists the options)");
  const apps::ProgressStyle style = apps::ChooseProgress(o.progress, mpi.active());
  const Job job(o);
  if (o.dry_run) {
    if (master) PrintUnderstanding(o, job.report, job.checks, job.preparation, job.reference);
    return 0;
  }
  const reconstruction::Problem& problem = job.preparation.problem;
  const auto factory = reconstruction::MakeWorkerFactory(problem);
  if (!master) {
    mpi.Serve(factory);
    return 0;
  }
  // The farm first: whatever goes wrong from here on, its destructor releases the other ranks.
  const int threads = o.threads > 0 ? o.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto farm = mpi.active() ? mpi.MakeFarm(factory) : parallel::MakeThreadFarm(threads, factory);
  const std::string output =
      o.output.empty() ? "results/" + std::filesystem::path(o.clip.clip).stem().string() : o.output;
  results::RunFolder folder(output, o.force);
  if (style != apps::ProgressStyle::kNone && style != apps::ProgressStyle::kJson) {
    PrintUnderstanding(o, job.report, job.checks, job.preparation, job.reference);
    std::fflush(stdout);
  }
  apps::Progress progress(style, problem);
  const reconstruction::SearchResult search = reconstruction::RunSearch(
      problem, *farm, [&](const reconstruction::IterationRecord& record) { progress.Update(record); });
  progress.Finish();

  const control::Trajectory trajectory = control::Replay(job.character, search.control);
  if (!search.control.fragments.empty() &&
      control::Fingerprint(trajectory.states.back()) != control::Fingerprint(search.end)) {
    throw std::logic_error("the replay does not end in the state that the search found");
  }
  const double expected = problem.schedule.steps.back() * problem.time_step();
  const metrics::Evaluation evaluation =
      metrics::Evaluate(job.character, trajectory, job.reference, expected, job.configuration.gates);
  const std::string title = std::filesystem::path(o.clip.clip).stem().string();
  apps::WriteMotion(folder, job.character, search.control, trajectory, &job.reference, title);
  folder.Write(results::kCostsFile, results::FormatCosts(apps::CostsOf(search, problem.weights)));
  const io::Json workers = {{"kind", mpi.active() ? "ranks" : "threads"}, {"count", farm->num_workers()}};
  io::Json manifest = Manifest(job, o, command, search, evaluation, timer, workers);
  manifest["files"] = folder.Files();
  folder.Finish(manifest);

  if (style != apps::ProgressStyle::kNone && style != apps::ProgressStyle::kJson) {
    std::printf("%s: %s after %.1f s (%.1f CPU s per second of motion, %.0f samples/s per core)\n%s",
                evaluation.success() ? "reconstructed" : "below the gates", o.clip.clip.c_str(), timer.WallSeconds(),
                search.cpu_seconds / job.reference.duration(),
                static_cast<double>(search.rollouts) / search.cpu_seconds, apps::Describe(evaluation).c_str());
    std::printf("  results in %s\n", output.c_str());
  }
  return static_cast<int>(evaluation.success() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = apps::CommandLine(argc, argv);
  std::optional<parallel::MpiSession> mpi;
  int exit_code = apps::RunProgram("reconstruct", true, [&] { return mpi.emplace(&argc, &argv), 0; });
  if (!mpi) return exit_code;
  const bool speaks = mpi->rank() == 0;
  CLI::App app("Reconstructs the open-loop control and the contact forces behind a recorded motion.", "reconstruct");
  Options options;
  AddOptions(app, options);
  if (!apps::ParseOptions(app, argc, argv, speaks, exit_code)) return exit_code;
  return apps::RunProgram("reconstruct", speaks, [&] { return Reconstruct(options, command, *mpi); });
}
