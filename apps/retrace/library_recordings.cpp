/// build-library: recordings in, a library out in which similar motions are found.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/inputs/clip_checks_text.h"
#include "retrace/runs/libraries/recording_library.h"

namespace retrace::apps::library_recordings_command {
namespace {

struct Options {
  std::string source;
  std::string character = "human";
  std::string output;
  std::string query;  // CLIP@SECOND; empty: nothing is looked for
  int matches = 10;
  bool force = false;
  bool paper = false;
  bool json = false;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("source", o.source, "Folder with recordings, or a list of them").Type("DIR|LIST").Required();
  command.Add("--character", o.character, "Character: a JSON file, or a name").Type("NAME").ShowDefault();
  command
      .Add("--output", o.output,
           "Folder of the library; what has not changed in it is not read again "
           "[results/SOURCE_library]")
      .Type("DIR");
  command
      .Add("--query,--like", o.query, "Also print where the library resembles this recording most from this second on")
      .Type("CLIP@SECOND");
  cli::AddNumber(command, "--matches", o.matches, io::Integer{1, 100000}, "Motions that --query prints");
  AddJsonOption(command, o.json);
  command.AddFlag("--force", o.force, "Replace a library that was made of other recordings");
  command.AddFlag("--paper", o.paper, "Compare by the distance of the paper, without velocities");
}

std::filesystem::path OutputOf(const Options& o) {
  if (!o.output.empty()) return o.output;
  std::filesystem::path source = std::filesystem::path(o.source).lexically_normal();
  if (!source.has_filename()) source = source.parent_path();
  return std::filesystem::path("results") / (source.stem().string() + "_library");
}

io::Json JsonOf(const runs::LibraryEntry& entry) {
  io::Json json = {
      {"name", entry.name}, {"duration", entry.duration}, {"frames", entry.num_frames}, {"doubts", entry.doubts}};
  if (!entry.refused.empty()) json["refused"] = entry.refused;
  return json;
}

void PrintEntry(const runs::LibraryEntry& entry) {
  if (entry.refused.empty()) {
    std::printf("  %-32s %8s s %6zu frames%s\n", cli::Shown(entry.name).c_str(), io::Fixed(entry.duration, 2).c_str(),
                entry.num_frames, entry.reused ? "  as before" : "");
  } else {
    std::printf("  %-32s left out: %s\n", cli::Shown(entry.name).c_str(), cli::Shown(entry.refused).c_str());
  }
  for (const std::string& doubt : entry.doubts) std::printf("    warning: %s\n", cli::Shown(doubt).c_str());
  std::fflush(stdout);
}

/// Where the library resembles the recording of --query most, nearest first. Prints it, or returns it for --json.
io::Json Nearest(const Options& o, const std::filesystem::path& output) {
  const std::optional<runs::ClipInstant> instant = runs::ParseClipInstant(o.query);
  if (!instant || instant->file.empty() || !character::kInstants.Contains(instant->second)) {
    throw UsageError("--query: found \"" + o.query + "\", expected CLIP@SECOND, as walk.bvh@1.5");
  }
  const runs::StoredMotionLibrary library(output);
  runs::ClipOptions clip;
  clip.file = instant->file;
  runs::CheckClip(clip);
  const std::vector<runs::InputFile> files = runs::ReadInputs(runs::ClipInputs(clip));
  const motion::Clip recording = runs::ParseClip(files, clip.choice);
  const runs::ClipFindings findings(clip, files, o.character, recording);
  matching::WindowOptions window;
  if (o.paper) window.velocity_time = 0;
  const auto matches = runs::PlacesLike(library.motions(), findings.reference, o.query, instant->second, window);
  io::Json nearest = io::Json::array();
  const auto second = [](const matching::Match& match) {
    return static_cast<double>(match.frame) * matching::kFrameTime;
  };
  const size_t count = std::min(matches.size(), static_cast<size_t>(o.matches));
  for (size_t k = 0; k < count; ++k) {
    nearest.push_back({{"motion", library.motions().motions()[matches[k].motion].name},
                       {"second", second(matches[k])},
                       {"distance", matches[k].distance}});
  }
  if (o.json) return nearest;
  std::printf("like %s:\n  %4s %-32s %10s %14s\n", cli::Shown(o.query).c_str(), "rank", "motion", "second",
              "distance [m]");
  for (size_t k = 0; k < count; ++k) {
    const matching::Match& match = matches[k];
    std::printf("  %4zu %-32s %10s %14s\n", k + 1, cli::Shown(library.motions().motions()[match.motion].name).c_str(),
                io::Fixed(second(match), 2).c_str(), io::Fixed(match.distance, 4).c_str());
  }
  return nearest;
}

int BuildLibrary(const Options& o) {
  const std::filesystem::path output = OutputOf(o);
  runs::MotionLibraryOptions options;
  options.sources = runs::FindLibrarySources(o.source);
  options.character = o.character;
  options.output = output;
  options.source = o.source;
  options.force = o.force;
  if (!o.json) std::printf("%s\n", cli::Shown(output).c_str());
  const std::vector<runs::LibraryEntry> entries =
      runs::BuildMotionLibrary(options, [&](const runs::LibraryEntry& entry) {
        if (!o.json) PrintEntry(entry);
      });
  size_t used = 0, frames = 0;
  double duration = 0;
  for (const runs::LibraryEntry& entry : entries) {
    used += entry.refused.empty() ? 1 : 0;
    frames += entry.num_frames;
    duration += entry.duration;
  }
  if (o.json) {
    io::Json json = {{"library", output.string()}, {"used", used}, {"recordings", io::Json::array()}};
    for (const runs::LibraryEntry& entry : entries) json["recordings"].push_back(JsonOf(entry));
    if (!o.query.empty()) json["nearest"] = Nearest(o, output);
    PrintJson(json);
    return 0;
  }
  std::printf("%zu of %zu recordings: %s s, %zu frames of 1/30 s\n", used, entries.size(),
              io::Fixed(duration, 1).c_str(), frames);
  if (!o.query.empty()) Nearest(o, output);
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call&) { return BuildLibrary(*options); };
}

}  // namespace retrace::apps::library_recordings_command
