/// A library of controls: a folder with a run in each sub-folder, all of one character in one world.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/runs/stored_run.h"

namespace retrace::runs {

/// Shares of the height of the root in the rest pose: who is lower lies or sits on the ground, who is higher stands.
inline constexpr double kLowRoot = 0.5;
inline constexpr double kStandingRoot = 0.8;

/// A run of the library, and what its control does.
struct LibraryControl {
  std::string name;
  StoredRun run;
  control::OpenLoopControl control;
  std::vector<character::State> states;  ///< (steps + 1)

  const character::Character& character() const { return run.scene.characters[0]; }
  const std::filesystem::path& file() const { return run.controls[0].file; }
  /// Whether its run is not known to have failed.
  bool succeeded() const;
  /// Height of the root at a step, as a share of that in the rest pose.
  double RootShare(size_t step) const;
  /// Begins on the ground and ends standing.
  bool GetsUp() const;
  /// Stands at its end.
  bool EndsStanding() const;
};

/// The sub-folders of a library that hold a control, by name. Throws InputError for a folder that is none or has none.
std::vector<std::filesystem::path> RunsOfLibrary(const std::filesystem::path& library);

/// Reads a run and simulates its control. Throws InputError for one that cannot be used: of several characters, made
/// under pushes, with things that move, not from step 0 on, or diverging.
LibraryControl ReadLibraryControl(const std::filesystem::path& folder);

/// Throws InputError where two controls cannot follow one another: another character or another world.
void CheckAlike(const LibraryControl& first, const LibraryControl& other);

}  // namespace retrace::runs
