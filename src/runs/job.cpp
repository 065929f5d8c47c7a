#include "retrace/runs/job.h"

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/runs/data_files.h"
#include "retrace/runs/solver.h"
#include "retrace/runs/world_input.h"

namespace retrace::runs {
namespace {

/// The configuration takes what the world brings, and the task is prepared with the solver that is in use.
task::Preparation PrepareInWorld(Configuration& configuration, const task::AlteredWorld& world,
                                 const task::PlacedWorld& placed, const character::ReferenceMotion& recorded) {
  if (world.gravity) configuration.task.world.gravity = *world.gravity;
  configuration.task.world.environment = placed.environment;
  task::Options task = configuration.task;
  task.world.solver = SolverInUse(task.world);
  return task::Prepare(task, placed.reference, &recorded);
}

}  // namespace

Configuration ConfigurationOf(const JobOptions& options) {
  Configuration configuration = options.configuration;
  Apply(options.clip, configuration.task.reference);
  if (const auto problem = configuration.Validate()) throw UsageError(*problem);
  return configuration;
}

Job::Job(const JobOptions& o)
    : options(o),
      configuration(ConfigurationOf(o)),
      world(ReadWorlds(o.worlds)),
      character(task::WithLoads(character::LoadCharacter(FindCharacter(o.character)), world)),
      clip(ReadClip(o.clip)),
      recorded(character::MakeReference(character, clip, o.clip.file.string(), configuration.task.reference, report)),
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

io::Json InputHashes(const JobOptions& options) {
  std::vector<InputFile> files = InputFiles(options);
  if (!options.configuration_file.empty()) files.push_back({"configuration", options.configuration_file});
  io::Json inputs = io::Json::array();
  for (const InputFile& file : files) {
    inputs.push_back(
        {{"file", file.path.string()}, {"role", file.role}, {"sha256", io::Sha256(io::ReadFile(file.path))}});
  }
  return inputs;
}

}  // namespace retrace::runs
