#include "retrace/runs/job.h"

#include "retrace/character/builder.h"
#include "retrace/io/error.h"
#include "retrace/recordings/markers.h"
#include "retrace/runs/character_input.h"
#include "retrace/runs/identity.h"
#include "retrace/runs/solver.h"
#include "retrace/runs/world_input.h"
#include "tracked_baseline.h"

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

std::vector<InputRecord> AllRecords(const JobOptions& options, std::span<const InputFile> files) {
  std::vector<InputRecord> records = RecordsOf(files);
  if (options.configuration_file) records.push_back(*options.configuration_file);
  return records;
}

Configuration ConfigurationWithMap(const JobOptions& options, std::span<const InputFile> files) {
  Configuration configuration = ConfigurationOf(options);
  ApplyJointMap(files, configuration.task.reference);
  return configuration;
}

/// The character that is named, with another mass where that is given.
character::Character CharacterOf(const JobOptions& options, std::span<const InputFile> files, const motion::Clip& clip,
                                 const character::ReferenceOptions& reference, std::vector<std::string>& notes) {
  const InputFile& file = *FindInput(files, "character");
  character::Character character =
      CharacterFor(options.character, file, clip, options.clip.file.string(), reference, notes);
  if (!options.mass) return character;
  character::CharacterBuilder builder(character);
  builder.ScaleMass(*options.mass / character.total_mass());
  return builder.Build(file.record.name.path.string());
}

/// The reference of the clip, repaired where that is asked for.
character::ReferenceMotion MakeRecorded(const JobOptions& options, const Configuration& configuration,
                                        const task::AlteredWorld& world, const character::Character& character,
                                        const motion::Clip& clip, character::ReferenceReport& report,
                                        std::optional<repair::Repair>& repaired) {
  const std::string name = options.clip.file.string();
  character::ReferenceMotion reference =
      character::MakeReference(character, clip, name, configuration.task.reference, report);
  if (!configuration.run.repair) return reference;
  repaired = repair::RepairReference(reference, world.gravity.value_or(configuration.task.world.gravity), name);
  if (!repaired->changed) return reference;
  if (!options.measured.empty()) {
    throw UsageError(
        "/run/repair: found a motion that would be repaired, and forces that were measured on its clock (" +
        options.measured.string() + "), expected one or the other");
  }
  return reference.WithPoses(repaired->poses);
}

std::optional<motion::MeasuredForces> ParseMeasured(std::span<const InputFile> files) {
  const InputFile* file = FindInput(files, kMeasuredRole);
  if (file == nullptr) return std::nullopt;
  const std::string name = file->record.name.path.string();
  if (ExtensionOf(name) == ".c3d") return recordings::ParseC3dForces(file->bytes, name);
  return motion::ParseMeasuredForces(file->bytes, name);
}

}  // namespace

Configuration ConfigurationOf(const JobOptions& options) {
  Configuration configuration = options.configuration;
  Apply(options.clip, configuration.task.reference);
  if (const auto problem = configuration.Validate()) throw UsageError(*problem);
  return configuration;
}

std::vector<InputName> InputsOf(const JobOptions& options) {
  CheckClip(options.clip);
  std::vector<InputName> names = ClipInputs(options.clip);
  names.push_back({"character", CharacterFile(options.character)});
  size_t number = 0;
  for (const std::filesystem::path& file : WorldFiles(options.worlds)) names.push_back({WorldRole(++number), file});
  if (!options.measured.empty()) names.push_back({kMeasuredRole, options.measured});
  return names;
}

Job::Job(const JobOptions& o) : Job(o, ReadInputs(InputsOf(o))) {}

Job::Job(const JobOptions& o, std::span<const InputFile> files)
    : options(o),
      inputs(AllRecords(o, files)),
      identity(Identity(o, inputs)),
      configuration(ConfigurationWithMap(o, files)),
      world(ParseWorlds(files)),
      clip(ParseClip(files, o.clip.choice)),
      character(task::WithLoads(CharacterOf(o, files, clip, configuration.task.reference, report.notes), world)),
      measured(ParseMeasured(files)),
      recorded(MakeRecorded(o, configuration, world, character, clip, report, repaired)),
      checks(metrics::CheckClip(recorded, clip, report)),
      placed(task::PlaceWorld(world, recorded)),
      reference(placed.reference),
      preparation(PrepareInWorld(configuration, world, placed, recorded)),
      problem{preparation.task, configuration.sampling},
      windows{preparation.task, configuration.windows} {
  if (configuration.run.baseline == Baseline::kReference) return;
  baseline.emplace(TrackedBaseline(*this));
  problem.baseline = windows.baseline = &*baseline;
}

std::optional<character::ReferenceMotion> Job::Unrepaired() const {
  if (!repaired || !repaired->changed) return std::nullopt;
  return recorded.WithPoses(repaired->recorded);
}

void Job::SetSeed(uint64_t seed) {
  configuration.SetSeed(seed);
  problem.options.seed = windows.options.seed = seed;
}

}  // namespace retrace::runs
