#include "retrace/task/prepared_clip.h"

#include <algorithm>
#include <string>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/simulation/solver_in_use.h"
#include "retrace/task/recorded_world.h"

namespace retrace::task {
namespace {

constexpr std::ptrdiff_t kMostSurfaces = 100;

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
Preparation PrepareInWorld(Options options, const WorldVariation& world, const PlacedWorld& placed,
                           const character::ReferenceMotion& recorded) {
  options.world.solver = simulation::SolverInUse(options.world);
  return Prepare(options, placed.reference, &recorded, IsRecorded(world) ? &placed.environment : nullptr);
}

/// The world of the user, and what the recording stands on where that world has no ground of its own.
WorldVariation WorldFor(const ClipSource& source, const character::ReferenceMotion& recorded,
                        const metrics::RecordedGround& ground, character::ReferenceReport& report) {
  WorldVariation world = source.world;
  if (!ground.strong()) return world;
  const std::string found = "the recording shows " + ground.Phrase();
  if (source.options.ground == GroundSource::kPlain) {
    report.notes.push_back(found + ": left out, as asked for");
  } else if (ShapesGround(world)) {
    report.notes.push_back(found + ": left out, the world has a ground of its own");
  } else if (const auto count = std::count_if(ground.surfaces.begin(), ground.surfaces.end(),
                                              [](const metrics::RecordedSurface& s) { return s.strong(); });
             count > kMostSurfaces) {
    report.notes.push_back("the recording shows " + std::to_string(count) +
                           " surfaces over its floor: left out, more than " + std::to_string(kMostSurfaces) +
                           " are no furniture");
  } else {
    report.notes.push_back(found + ": the character stands on that (/reference/ground=plain leaves it out)");
    Combine(world, MakeRecordedWorld(ground, recorded));
  }
  return world;
}

/// The world where the motion is, with a warning where a world of the user contradicts the recording.
PlacedWorld PlaceFor(const ClipSource& source, const WorldVariation& world, const character::ReferenceMotion& recorded,
                     const metrics::RecordedGround& ground) {
  PlacedWorld placed = PlaceWorld(world, recorded);
  if (!ShapesGround(source.world) || source.world.adapts_motion()) return placed;
  const std::vector<std::string> contradictions = Contradictions(ground, placed.environment);
  placed.warnings.insert(placed.warnings.end(), contradictions.begin(), contradictions.end());
  return placed;
}

character::ReferenceReport ReportWith(std::vector<std::string> notes) {
  character::ReferenceReport report;
  report.notes = std::move(notes);
  return report;
}

}  // namespace

PreparedClip::PreparedClip(ClipSource source)
    : name(source.name),
      clip(source.clip),
      report(ReportWith(source.notes)),
      character(WithLoads(source.character, source.world)),
      recorded(MakeRecorded(source, character, report, repaired)),
      checks(metrics::CheckClip(recorded, clip, report)),
      world(WorldFor(source, recorded, checks.ground, report)),
      placed(PlaceFor(source, world, recorded, checks.ground)),
      options(InWorld(std::move(source.options), world, placed)),
      preparation(PrepareInWorld(options, world, placed, recorded)) {}

std::optional<character::ReferenceMotion> PreparedClip::Unrepaired() const {
  if (!repaired || !repaired->changed) return std::nullopt;
  return recorded.WithPoses(repaired->recorded);
}

}  // namespace retrace::task
