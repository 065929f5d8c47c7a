/// The mark of a folder that holds many results, such as an evaluation or a library: a file that is written before
/// anything else in it, so that a program knows its folder again however an earlier call ended.
///
///     ClaimedFolder folder("results/motions", {"control library", "configs/library.tsv"}, is_unmarked_library);
///     if (folder.FromAnotherSource() && WouldLose()) throw UsageError(...);
///     folder.Mark();  // from here on the folder may be written into
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace retrace::results {

inline constexpr std::string_view kMarkFile = "folder.json";

struct FolderMark {
  std::string kind;              ///< as messages name it: "evaluation", "control library", "recording library"
  std::filesystem::path source;  ///< list or folder from which the results are made
};

class ClaimedFolder {
 public:
  /// Creates the folder and those above it, removes what killed processes left of files that they were writing, and
  /// tries whether files can be made there. `is_unmarked` says whether a folder without a mark that has files in it is
  /// one of this kind, made by a version that wrote none. Throws UsageError for a folder of another kind or with other
  /// files, OutputError for what is no folder or cannot be written. Writes nothing.
  ClaimedFolder(std::filesystem::path path, FolderMark mark, const std::function<bool()>& is_unmarked);

  /// The mark that an earlier call wrote; nothing: the folder is new, or of a version that wrote none.
  const std::optional<FolderMark>& earlier() const { return earlier_; }
  /// Whether an earlier call made the folder from another list or folder. Compared as canonical paths.
  bool FromAnotherSource() const;

  /// Writes the mark, unless it is there. Throws UsageError when another process has marked the folder for something
  /// else meanwhile, OutputError.
  void Mark();

 private:
  std::filesystem::path path_;
  FolderMark mark_;
  std::optional<FolderMark> earlier_;
};

/// The mark of a folder; nothing where it has none. Throws InputError for a file of that name that is no mark.
std::optional<FolderMark> ReadFolderMark(const std::filesystem::path& folder);

}  // namespace retrace::results
