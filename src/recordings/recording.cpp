#include "retrace/recordings/recording.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"
#include "retrace/recordings/markers.h"
#include "retrace/recordings/opensim.h"
#include "retrace/recordings/scene.h"
#include "retrace/recordings/smpl.h"

namespace retrace::recordings {
namespace {

/// A reader of a format.
using ReadFunction = motion::Clip (*)(const Recording&, const Choice&);

motion::Clip ReadBvh(const Recording& recording, const Choice&) {
  return motion::ParseBvh(recording.file.bytes, recording.file.name);
}

motion::Clip ReadAsfAmc(const Recording& recording, const Choice&) {
  return motion::ParseAsfAmc(recording.skeleton.bytes, recording.skeleton.name, recording.file.bytes,
                             recording.file.name);
}

motion::Clip ReadSceneClip(const Recording& recording, const Choice& choice) {
  const Scene scene = ReadScene(recording.file.bytes, recording.file.name, recording.beside);
  return ClipOfScene(scene, recording.file.name, choice);
}

motion::Clip ReadSmpl(const Recording& recording, const Choice& choice) {
  return ParseSmpl(recording.file.bytes, recording.file.name, choice, recording.names.arrays);
}

motion::Clip ReadMarkers(Markers markers, const Recording& recording, const Choice& choice) {
  markers = Renamed(std::move(markers), recording.file.name, recording.names.markers);
  if (!recording.skeleton.name.empty()) {
    return ParseOpenSimMarkers(recording.skeleton.bytes, recording.skeleton.name, markers, recording.file.name);
  }
  return ClipOfMarkers(markers, recording.file.name, choice);
}

motion::Clip ReadC3d(const Recording& recording, const Choice& choice) {
  return ReadMarkers(ParseC3d(recording.file.bytes, recording.file.name), recording, choice);
}

motion::Clip ReadTrc(const Recording& recording, const Choice& choice) {
  return ReadMarkers(ParseTrc(recording.file.bytes, recording.file.name), recording, choice);
}

motion::Clip ReadOpenSim(const Recording& recording, const Choice&) {
  return ParseOpenSim(recording.skeleton.bytes, recording.skeleton.name, recording.file.bytes, recording.file.name);
}

struct ReadFormat {
  Format format;
  ReadFunction read;
};

/// All that is known of each format is here.
const std::array<ReadFormat, 11>& Formats() {
  static const std::array<ReadFormat, 11> formats = {{
      {{".bvh", "", false}, ReadBvh},
      {{".amc", ".asf", false}, ReadAsfAmc},
      {{".fbx", "", true}, ReadSceneClip},
      {{".glb", "", true}, ReadSceneClip},
      {{".gltf", "", true}, ReadSceneClip},
      {{".dae", "", true}, ReadSceneClip},
      {{".npz", "", true}, ReadSmpl},
      {{".c3d", "", true, ".osim"}, ReadC3d},
      {{".trc", "", true, ".osim"}, ReadTrc},
      {{".mot", ".osim", false}, ReadOpenSim},
      {{".sto", ".osim", false}, ReadOpenSim},
  }};
  return formats;
}

std::string EndingOf(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return ending;
}

const ReadFormat* Find(const std::filesystem::path& file) {
  const std::string ending = EndingOf(file);
  for (const ReadFormat& format : Formats()) {
    if (format.format.ending == ending) return &format;
  }
  return nullptr;
}

}  // namespace

const Format* FormatOf(const std::filesystem::path& file) {
  const ReadFormat* format = Find(file);
  return format != nullptr ? &format->format : nullptr;
}

std::string KnownEndings() {
  std::string text;
  for (const ReadFormat& format : Formats()) text += (text.empty() ? "" : ", ") + format.format.ending;
  return text;
}

std::vector<std::string> FilesBeside(const File& file) {
  constexpr size_t kMostFiles = 64;
  std::vector<std::string> names;
  if (EndingOf(file.name) != ".gltf") return names;
  const io::Json json = io::Json::parse(file.bytes, nullptr, false);  // what is wrong with it its reader says
  const auto buffers = json.is_object() ? json.find("buffers") : json.end();
  if (!json.is_object() || buffers == json.end() || !buffers->is_array()) return names;
  for (const io::Json& buffer : *buffers) {
    if (!buffer.is_object() || !buffer.contains("uri") || !buffer["uri"].is_string()) continue;
    const auto uri = buffer["uri"].get<std::string>();
    const std::filesystem::path path = std::filesystem::path(uri).lexically_normal();
    const bool inside = !path.is_absolute() && path.begin() != path.end() && *path.begin() != "..";
    if (uri.starts_with("data:") || !inside || names.size() == kMostFiles) continue;
    if (std::find(names.begin(), names.end(), uri) == names.end()) names.push_back(uri);
  }
  return names;
}

motion::Clip ParseRecording(const Recording& recording, const Choice& choice) {
  const ReadFormat* format = Find(recording.file.name);
  if (format == nullptr) {
    throw UsageError(recording.file.name + ": found \"" + EndingOf(recording.file.name) +
                     "\", expected a file of motion: " + KnownEndings());
  }
  if (!choice.empty() && !format->format.has_choice) {
    throw UsageError(recording.file.name + ": found a choice of \"" +
                     (choice.animation.empty() ? choice.performer : choice.animation) + "\", expected none: a " +
                     format->format.ending + " file has one motion of one performer");
  }
  return format->read(recording, choice);
}

motion::Clip ReadRecording(const std::filesystem::path& file, const std::filesystem::path& skeleton,
                           const Choice& choice) {
  const std::string bytes = io::ReadFile(file);
  const std::string skeleton_bytes = skeleton.empty() ? std::string() : io::ReadFile(skeleton);
  Recording recording{{bytes, file.string()}, {skeleton_bytes, skeleton.string()}, {}, {}};
  std::map<std::string, std::string> beside;
  for (const std::string& name : FilesBeside(recording.file)) beside[name] = io::ReadFile(file.parent_path() / name);
  for (const auto& [name, content] : beside) recording.beside[name] = content;
  return ParseRecording(recording, choice);
}

}  // namespace retrace::recordings
