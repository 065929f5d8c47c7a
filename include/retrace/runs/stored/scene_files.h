/// The files of several characters in one world. Internal to the module.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {

/// A character of a scene, for its files.
struct SceneCharacter {
  const character::ReferenceMotion* reference = nullptr;
  std::string source;          ///< run or clip that it comes from
  std::string control_sha256;  ///< of that run's control file, where it is one
  metrics::GateLimits gates;
  metrics::Evaluation evaluation;
  std::string reference_text;  ///< what the reference is, for people
};

/// What a character of a scene does.
struct CharacterMotion {
  const control::Trajectory& motion;            ///< as control::TrajectoryOf has it
  const character::ReferenceMotion* reference;  ///< none: it has none
};

/// Writes the motion of each character, of several in a folder of its own each, and then also a film strip of all.
void WriteMotions(results::RunFolder& folder, const std::vector<character::Character>& characters,
                  const simulation::WorldOptions& world, std::span<const CharacterMotion> motions,
                  const std::string& title);

/// ", character 2 (human)" where there are several.
std::string NumberOf(const std::vector<character::Character>& characters, size_t character);

/// Writes the control, the motion of each character and a film strip of all.
void WriteScene(results::RunFolder& folder, const control::Scene& scene, std::span<const SceneCharacter> characters,
                const std::string& title);

/// The member `characters` of the manifest.
io::Json CharactersMember(const control::Scene& scene, std::span<const SceneCharacter> characters);

}  // namespace retrace::runs
