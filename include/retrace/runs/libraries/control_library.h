/// A library of controls: a folder with a run in each sub-folder, all of one character in one world. One that was made
/// by MakeLibrary has an index besides, which says what belongs to it, by hash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/metrics/posture.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {

/// Shares of the height of the root in the rest pose: a lower one lies or sits on the ground, a higher one stands.
inline constexpr double kLowRoot = 0.5;
inline constexpr double kStandingRoot = 0.8;

/// A control may be entered at each interval from its start on, while so much of it is left [s]: too little to go
/// on.
inline constexpr double kCutInterval = 0.1;
inline constexpr double kLeastLeft = 1.5;

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
  /// Steps at which it may be entered.
  std::vector<int> Cuts() const;
};

inline constexpr size_t kMostLibraryControls = 10000;
inline constexpr std::string_view kLibraryFile = "library.json";

/// A control as the index of a library has it.
struct IndexedControl {
  std::string name;    ///< of its sub-folder
  std::string sha256;  ///< of its control file
  double duration = 0;
  struct Cut {
    int step = 0;
    uint64_t state = 0;  ///< control::Fingerprint of the state there
  };
  std::vector<Cut> cuts;
};

/// What belongs to a library. Paths are relative to its folder, which may be moved.
struct LibraryIndex {
  std::string character;  ///< its name
  std::string character_sha256;
  std::string world_sha256;
  std::vector<IndexedControl> controls;
};

/// The index of controls that can follow one another. Throws InputError where two cannot (CheckAlike).
LibraryIndex IndexOf(const std::vector<LibraryControl>& controls);
/// Each cut also has its time [s], what is left of the control from there on [s], and the height of the root as a share
/// of that in the rest pose; each control whether it gets up and ends standing. These are for people.
std::string FormatLibrary(const LibraryIndex& index, const std::vector<LibraryControl>& controls);
/// Throws InputError with the JSON pointer, what was found and what was expected, also for an index without controls
/// and for a cut after which too little of its control is left.
LibraryIndex ParseLibrary(const std::string& text, const std::string& name);

/// A library that is opened: nothing of its runs is read yet.
class ControlLibrary {
 public:
  /// Throws InputError for a folder that is none, for one without a run, and for an index that cannot be used.
  explicit ControlLibrary(const std::filesystem::path& folder);

  /// The sub-folders that hold a control, by name; with an index, those that it has.
  const std::vector<std::filesystem::path>& runs() const { return runs_; }
  /// Its index as a file; empty: it has none.
  const std::filesystem::path& index_file() const { return index_file_; }
  /// Reads a run (ReadLibraryControl). Throws InputError also where it is not what the index has: another control,
  /// character or world, or states to other bits.
  LibraryControl Read(const std::filesystem::path& run) const;

 private:
  std::vector<std::filesystem::path> runs_;
  std::filesystem::path index_file_;
  std::optional<LibraryIndex> index_;
};

/// Reads a run and simulates its control. Throws InputError for one that cannot be used: of several characters, made
/// under pushes, with things that move, not from step 0 on, or diverging.
LibraryControl ReadLibraryControl(const std::filesystem::path& folder);

/// The same of a run that is played from its beginning alone: it may have been made under pushes.
LibraryControl ReadFirstControl(const std::filesystem::path& folder);

/// Throws InputError where two controls cannot follow one another: another character or another world.
void CheckAlike(const LibraryControl& first, const LibraryControl& other);

}  // namespace retrace::runs
