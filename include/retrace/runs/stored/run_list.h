/// The runs in a folder: what there is, how good it is, and its removal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/io/json.h"

namespace retrace::runs {

/// How a run ended, from its manifest alone.
enum class RunVerdict {
  kGood,
  kDoubtful,
  kOutOfTolerance,
  kUnfinished,  ///< it has a checkpoint and no manifest
  kNone         ///< nothing judged it
};
std::string Name(RunVerdict verdict);

struct ListedRun {
  std::filesystem::path folder;
  std::string name;  ///< of the folder, relative to the one that was searched
  RunVerdict verdict = RunVerdict::kNone;
  std::string program;  ///< that made it, as the manifest has it
  std::string clip;     ///< empty: none
  std::string method;
  std::string finished;               ///< time of the day as ISO 8601; empty: not known
  std::optional<double> duration;     ///< of the motion [s]
  std::optional<double> joint_error;  ///< mean [m]
  std::optional<double> drift;        ///< at the end [m]
  std::uintmax_t bytes = 0;           ///< of the files of the run
};

/// By what runs are sorted.
enum class RunOrder { kName, kVerdict, kError, kDrift, kDuration, kDate, kSize };

/// Runs in a folder and in the folders below it, or the folder itself where it is one; by their names. Folders without
/// a manifest or a checkpoint of ours are not listed; a manifest that cannot be read is none. Throws InputError for
/// what is no folder.
std::vector<ListedRun> FindRuns(const std::filesystem::path& folder);

/// Sorts them; those for which it is not known come last.
void Sort(RunOrder order, bool reverse, std::vector<ListedRun>& runs);

/// name,verdict,program,method,clip,duration,joint_error,drift,bytes,finished
std::string FormatRunList(const std::vector<ListedRun>& runs);
io::Json ToJson(const std::vector<ListedRun>& runs);

/// Why a run is not removed: a file of it was changed since it was written, so that it may be the user's. Empty: it may
/// be. A run that did not finish may always be.
std::string WhyKept(const ListedRun& run);

/// Removes the files of a run, and its folder where nothing else is in it. Returns whether the folder is gone. Throws
/// OutputError.
bool Remove(const ListedRun& run);

}  // namespace retrace::runs
