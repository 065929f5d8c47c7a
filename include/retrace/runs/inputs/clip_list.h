/// A list of recordings to reconstruct.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/runs/inputs/clip_input.h"

namespace retrace::runs {

inline constexpr io::Integer kSeeds{1, 1000000};  ///< how many

struct ListedClip {
  std::string place;  ///< file:line, for messages
  std::string name;   ///< of its runs; distinct in the list
  ClipOptions clip;
  int seeds = 0;  ///< how many to run; 0: not in the list
  std::string group;
  std::string character;              ///< a name or a file; empty: not in the list
  std::vector<std::string> worlds;    ///< names or files
  std::vector<std::string> settings;  ///< each `/section/name=value`
};

/// Reads a tab-separated list, the text of the file `path`. The first row that is not a comment names the columns:
/// `clip`, and any of `name` (default: the file's without folder and extension), `skeleton`, `start`, `end` (seconds of
/// the recording), `time_scale`, `seeds`, `group`, `character`, `world` (names or files, with + between), `settings`
/// (separated by spaces). `-`, nothing and missing cells at the end of a row mean: none. Lines that begin with `#` and
/// empty lines are skipped. Paths are relative to `folder`, or to the list's own folder when that is empty. Throws
/// InputError with file, line, what was found and what was expected.
std::vector<ListedClip> ParseClipList(const std::string& text, const std::filesystem::path& path,
                                      const std::filesystem::path& folder);

}  // namespace retrace::runs
