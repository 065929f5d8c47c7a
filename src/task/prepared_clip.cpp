#include "retrace/task/prepared_clip.h"

#include <utility>

#include "retrace/io/error.h"
#include "retrace/simulation/solver_in_use.h"

namespace retrace::task {
namespace {

/// The reference of the clip, repaired where that is asked for.
character::ReferenceMotion MakeRecorded(const ClipSource& source, const character::Character& character,
                                        character::ReferenceReport& report, std::optional<repair::Repair>& repaired) {
  character::ReferenceMotion reference =
      character::MakeReference(character, source.clip, source.name, source.options.reference, report);
  if (!source.repair) return reference;
  const double gravity = source.world.gravity.value_or(source.options.world.gravity);
  repaired = repair::RepairReference(reference, gravity, source.name);
  if (!repaired->changed) return reference;
  if (source.keep_clock) {
    throw UsageError(
        "/run/repair: found a motion that would be repaired, and forces that were measured on its clock, "
        "expected one or the other");
  }
  return reference.WithPoses(repaired->poses);
}

Options InWorld(Options options, const WorldVariation& world, const PlacedWorld& placed) {
  if (world.gravity) options.world.gravity = *world.gravity;
  options.world.environment = placed.environment;
  return options;
}

/// The task is prepared with the solver that is in use.
Preparation PrepareInWorld(Options options, const PlacedWorld& placed, const character::ReferenceMotion& recorded) {
  options.world.solver = simulation::SolverInUse(options.world);
  return Prepare(options, placed.reference, &recorded);
}

character::ReferenceReport ReportWith(std::vector<std::string> notes) {
  character::ReferenceReport report;
  report.notes = std::move(notes);
  return report;
}

}  // namespace

PreparedClip::PreparedClip(ClipSource source)
    : name(source.name),
      world(source.world),
      clip(source.clip),
      report(ReportWith(source.notes)),
      character(WithLoads(source.character, world)),
      recorded(MakeRecorded(source, character, report, repaired)),
      checks(metrics::CheckClip(recorded, clip, report)),
      placed(PlaceWorld(world, recorded)),
      options(InWorld(std::move(source.options), world, placed)),
      preparation(PrepareInWorld(options, placed, recorded)) {}

std::optional<character::ReferenceMotion> PreparedClip::Unrepaired() const {
  if (!repaired || !repaired->changed) return std::nullopt;
  return recorded.WithPoses(repaired->recorded);
}

}  // namespace retrace::task
