/// Recorded motions in every format that is read. The ending of a file's name tells the format.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/motion/clip.h"
#include "retrace/recordings/choice.h"

namespace retrace::recordings {

/// A format by the ending of its files.
struct Format {
  std::string ending;           ///< in lower case, with its dot
  std::string skeleton_ending;  ///< of the file that its skeleton is in; empty: it has its own
  bool has_choice = false;      ///< whether a file may hold several animations or performers
  std::string model_ending{};   ///< of a file with the model whose markers it has; it may be left out
};

/// That of a file; null where it is none that is read.
const Format* FormatOf(const std::filesystem::path& file);

/// All endings, for messages: ".bvh, .amc, .fbx ...".
std::string KnownEndings();

/// Bytes of a file, and the name that stands for it in messages.
struct File {
  std::string_view bytes;
  std::string name;
};

/// A recording and what belongs to it. What the views refer to must outlive it.
struct Recording {
  File file;
  File skeleton;                                   ///< no bytes and no name where the format has its own
  std::map<std::string, std::string_view> beside;  ///< bytes of the files that it names (FilesBeside), by those names
  OtherNames names{};                              ///< where the file's are not among those that are known
};

/// The names of further files that a recording consists of, relative to its folder: the buffers of a .gltf file. None
/// where it cannot be told.
std::vector<std::string> FilesBeside(const File& file);

/// The motion of a recording. Throws InputError for a file that cannot be used: position, what was found and what was
/// expected; UsageError for a choice that is not there.
motion::Clip ParseRecording(const Recording& recording, const Choice& choice = {});

/// The same of a file, and of the file with its skeleton where its format needs one.
motion::Clip ReadRecording(const std::filesystem::path& file, const std::filesystem::path& skeleton = {},
                           const Choice& choice = {});

}  // namespace retrace::recordings
