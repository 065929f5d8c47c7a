/// A library of recorded motions on disk: a folder with an index, `library.json`, and the motion of each recording on
/// the library's character. What has not changed since an earlier build is taken from it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "retrace/matching/motion_library.h"
#include "retrace/matching/window_search.h"
#include "retrace/runs/inputs/clip_input.h"
#include "retrace/runs/inputs/inputs.h"

namespace retrace::runs {

/// Recordings for a library.
struct LibrarySource {
  std::string name;
  std::string place;  ///< for messages: of a list its file:line, else the file
  ClipOptions clip;
};

/// The recordings of a folder and of the folders in it (BVH, and AMC with an ASF of its name, or of the part of
/// it before an underscore, as in the database of CMU), by the order of their paths, named
/// by these without extension, with - between folders; or those of a list as `evaluate` reads it, whose columns
/// `seeds`, `character`, `world` and `settings` do not count. Throws InputError where there is none, and as
/// ParseClipList does.
std::vector<LibrarySource> FindLibrarySources(const std::filesystem::path& folder_or_list);

/// What became of a recording.
struct LibraryEntry {
  std::string name;
  std::filesystem::path file;
  double duration = 0;  ///< [s]
  size_t num_frames = 0;
  bool reused = false;              ///< nothing had changed since an earlier build
  std::string refused;              ///< why it is not in the library; empty: it is
  std::vector<std::string> doubts;  ///< about the recording (character::Doubt); none of one that was not read again
};

struct MotionLibraryOptions {
  std::vector<LibrarySource> sources;
  std::string character = "human";  ///< name or file
  std::filesystem::path output;
};

/// Makes or renews a library. Recordings that cannot be used are left out, with the reason. `on_entry` is called after
/// each. Throws UsageError for a character that is none, or that depends on the recording; InputError where no
/// recording can be used, or what is at `output` is no library; OutputError.
std::vector<LibraryEntry> BuildMotionLibrary(const MotionLibraryOptions& options,
                                             const std::function<void(const LibraryEntry&)>& on_entry = {});

/// A library that was read: what is compared of its motions. A motion itself is read when it is first asked for.
class StoredMotionLibrary {
 public:
  /// @param mirrored whether the mirror image of each motion follows it, as "NAME (mirrored)"; not of characters with
  /// two different sides. Throws InputError for a folder that is no library, for files that are missing or have other
  /// bytes than were written; for the bytes of a motion itself where it is first asked for.
  explicit StoredMotionLibrary(const std::filesystem::path& folder, bool mirrored = false);

  const character::Character& character() const { return *character_; }
  const matching::MotionLibrary& motions() const { return *motions_; }

 private:
  std::unique_ptr<character::Character> character_;
  std::unique_ptr<matching::MotionLibrary> motions_;
};

/// The position in each motion of a library that resembles a motion best from an instant on: one match for each motion
/// that is long enough, the nearest first; of two that are equally near, the first of the library. Throws InputError
/// where the motion ends before the window does. @param name stands for the motion in messages @param time [s]
std::vector<matching::Match> PlacesLike(const matching::MotionLibrary& library,
                                        const character::ReferenceMotion& motion, const std::string& name, double time,
                                        const matching::WindowOptions& options = {});

}  // namespace retrace::runs
