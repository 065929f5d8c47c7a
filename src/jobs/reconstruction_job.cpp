#include "retrace/jobs/reconstruction_job.h"

#include <utility>

#include "clip_in_memory.h"
#include "measured_role.h"
#include "retrace/character/builder.h"
#include "retrace/io/error.h"
#include "retrace/jobs/identity.h"
#include "retrace/recordings/force_tables.h"
#include "retrace/recordings/markers.h"
#include "retrace/retargeting/reference.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/inputs/world_input.h"

namespace retrace::runs {
namespace {

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

/// The character that is named, with another mass and other servos where these are given.
character::Character CharacterOf(const JobOptions& options, std::span<const InputFile> files, const motion::Clip& clip,
                                 const character::ReferenceOptions& reference, std::vector<std::string>& notes) {
  const InputFile& file = *FindInput(files, "character");
  character::Character character =
      CharacterFor(options.character, file, clip, options.clip.file.string(), reference, notes);
  if (options.mass) {
    character::CharacterBuilder builder(character);
    builder.ScaleMass(*options.mass / character.total_mass());
    character = builder.Build(file.record.name.path.string());
  }
  if (options.servos != character::Servos::kScaled) {
    character = character::WithServos(character, ParseCharacterFile(file), options.servos, notes);
  }
  return character::WithEfforts(character, options.efforts, notes);
}

std::optional<motion::MeasuredForces> ParseMeasured(std::span<const InputFile> files) {
  const InputFile* file = FindInput(files, kMeasuredRole);
  if (file == nullptr) return std::nullopt;
  const std::string name = file->record.name.path.string();
  if (ExtensionOf(name) == ".c3d") return recordings::ParseC3dForces(file->bytes, name);
  std::vector<motion::MeasuredForces> parts;
  std::vector<std::string> names;
  for (size_t plate = 1; file != nullptr; file = FindInput(files, MeasuredRole(++plate))) {
    names.push_back(file->record.name.path.string());
    parts.push_back(motion::ParseMeasuredForces(file->bytes, names.back()));
  }
  return motion::Together(std::move(parts), names);
}

task::ClipSource SourceOf(const JobOptions& options, const Configuration& configuration,
                          std::span<const InputFile> files) {
  task::ClipSource source;
  source.name = options.clip.file.string();
  source.world = ParseWorlds(files);
  source.clip = ParseClip(files, options.clip.choice);
  source.character = CharacterOf(options, files, source.clip, configuration.task.reference, source.notes);
  source.options = configuration.task;
  source.repair = configuration.run.repair;
  source.keep_clock = !options.measured.empty();
  return source;
}

}  // namespace

Job::Job(const JobOptions& o) : Job(o, ReadInputs(InputsOf(o))) {}

Job::Job(const JobOptions& o, const motion::Clip& given)
    : Job(OptionsFor(o, given), InputsWith(OptionsFor(o, given), given)) {}

Job::Job(const JobOptions& o, std::span<const InputFile> files)
    : options(o),
      inputs(AllRecords(o, files)),
      identity(Identity(o, inputs)),
      configuration(ConfigurationWithMap(o, files)),
      measured(ParseMeasured(files)),
      prepared(std::make_shared<const task::PreparedClip>(SourceOf(o, configuration, files))),
      problem{prepared->preparation.task, configuration.sampling},
      trajectory{prepared->preparation.task, configuration.trajectory} {
  configuration.task = prepared->options;
}

void Job::SetSeed(uint64_t seed) {
  configuration.SetSeed(seed);
  problem.options.seed = trajectory.options.seed = seed;
  tracked = nullptr;
  hybrid = nullptr;
}

void Job::SetBaseline(character::ReferenceMotion poses) {
  baseline = std::make_shared<const character::ReferenceMotion>(std::move(poses));
  problem.baseline = trajectory.baseline = baseline.get();
}

bool Job::LacksBaseline() const {
  if (baseline != nullptr || tracked != nullptr) return false;
  const RunSettings& run = configuration.run;
  if (run.baseline != Baseline::kAutomatic) return run.baseline == Baseline::kTracked;
  const bool offsets = run.method == Method::kTrajectory && trajectory.options.start == trajectory::Start::kReference;
  const bool samples = run.method == Method::kAuto || run.method == Method::kSampling || offsets;
  return samples && reference().duration() <= kLongestTracked;
}

std::vector<std::string> DoubtsOf(const Job& job, const metrics::Evaluation& evaluation) {
  std::vector<std::string> doubts = evaluation.Doubts();
  for (const character::Doubt& doubt : job.prepared->report.doubts) {
    if (doubt.kind == "proportions") doubts.push_back(doubt.text);
  }
  return doubts;
}

}  // namespace retrace::runs
