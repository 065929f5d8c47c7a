#include "retrace/runs/libraries/control_library.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/character/limits.h"
#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"
#include "retrace/metrics/posture.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "retrace-library";
constexpr double kLongestControl = 1e6;  // [s]

std::string WorldSha256(const LibraryControl& control) {
  return io::Sha256(io::Dump(control.control.world.ToJson()));
}

std::string Hexadecimal(uint64_t number) {
  std::array<char, 17> text = {};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

}  // namespace

bool LibraryControl::succeeded() const {
  return !run.manifest->is_object() || run.manifest->value("success", true);
}

double LibraryControl::RootShare(size_t step) const {
  const auto root = static_cast<size_t>(character().root);
  return states[step][root].position.y() / character().bodies[root].rest_position.y();
}

bool LibraryControl::GetsUp() const {
  return RootShare(0) < kLowRoot && EndsStanding();
}

bool LibraryControl::EndsStanding() const {
  return RootShare(states.size() - 1) > kStandingRoot;
}

std::vector<int> LibraryControl::Cuts() const {
  const double h = control.world.time_step;
  const int interval = static_cast<int>(std::lround(kCutInterval / h));
  const int last = control.num_steps() - static_cast<int>(std::lround(kLeastLeft / h));
  std::vector<int> cuts;
  for (int step = 0; step <= last; step += interval) cuts.push_back(step);
  return cuts;
}

LibraryIndex IndexOf(const std::vector<LibraryControl>& controls) {
  LibraryIndex index;
  const LibraryControl& first = controls.at(0);
  index.character = first.character().name;
  index.character_sha256 = control::CharacterSha256(first.character());
  index.world_sha256 = WorldSha256(first);
  for (const LibraryControl& control : controls) {
    CheckAlike(first, control);
    IndexedControl& entry = index.controls.emplace_back();
    entry.name = control.name;
    entry.sha256 = control.run.controls[0].sha256;
    entry.duration = control.control.duration();
    for (const int step : control.Cuts()) {
      entry.cuts.push_back({step, control::Fingerprint(control.states[static_cast<size_t>(step)])});
    }
  }
  return index;
}

std::string FormatLibrary(const LibraryIndex& index, const std::vector<LibraryControl>& controls) {
  io::Json json = {{"format", kFormat},
                   {"version", 1},
                   {"units", "SI; root_height is a share of that in the rest pose"},
                   {"character", {{"name", index.character}, {"sha256", index.character_sha256}}},
                   {"world", {{"sha256", index.world_sha256}}},
                   {"controls", io::Json::array()}};
  for (size_t c = 0; c < controls.size(); ++c) {
    const IndexedControl& entry = index.controls[c];
    io::Json cuts = io::Json::array();
    for (const IndexedControl::Cut& cut : entry.cuts) {
      const double time = cut.step * controls[c].control.world.time_step;
      cuts.push_back({{"step", cut.step},
                      {"time", time},
                      {"left", entry.duration - time},
                      {"root_height", controls[c].RootShare(static_cast<size_t>(cut.step))},
                      {"state", Hexadecimal(cut.state)}});
    }
    json["controls"].push_back({{"name", entry.name},
                                {"file", entry.name + "/" + std::string(results::kControlFile)},
                                {"sha256", entry.sha256},
                                {"duration", entry.duration},
                                {"gets_up", controls[c].GetsUp()},
                                {"ends_standing", controls[c].EndsStanding()},
                                {"cuts", std::move(cuts)}});
  }
  return io::Dump(json, 1) + "\n";
}

LibraryIndex ParseLibrary(const std::string& text, const std::string& name) {
  const io::Json document = io::ParseJson(text, name);
  const io::JsonView view(document, name);
  // Another kind of library has other members: what it is comes first.
  if (view["format"].String() != kFormat) view["format"].Expect(std::string("\"").append(kFormat).append("\""));
  view.AllowOnly({"format", "version", "units", "character", "world", "controls"});
  view["version"].Integer(1, 1);
  LibraryIndex index;
  index.character = view["character"]["name"].Name();
  index.character_sha256 = view["character"]["sha256"].String();
  index.world_sha256 = view["world"]["sha256"].String();
  for (const io::JsonView& entry : view["controls"].Elements(kMostLibraryControls)) {
    entry.AllowOnly({"name", "file", "sha256", "duration", "gets_up", "ends_standing", "cuts"});
    IndexedControl& control = index.controls.emplace_back();
    control.name = entry["name"].Name();
    if (control.name.find('/') != std::string::npos || control.name.starts_with('.')) {
      entry["name"].Expect("the name of a sub-folder");
    }
    const auto same = [&](const IndexedControl& other) { return other.name == control.name; };
    if (std::count_if(index.controls.begin(), index.controls.end(), same) > 1) {
      entry["name"].Expect("a name that no other control has");
    }
    const std::string file = control.name + "/" + std::string(results::kControlFile);
    if (entry["file"].String() != file) entry["file"].Expect("\"" + file + "\"");
    control.sha256 = entry["sha256"].String();
    control.duration = entry["duration"].Number({0, kLongestControl});
    for (const io::JsonView& cut : entry["cuts"].Elements(character::kMostSteps)) {
      cut.AllowOnly({"step", "time", "left", "root_height", "state"});
      const double time = cut["time"].Number({0, kLongestControl});
      if (control.duration - time < kLeastLeft - 1e-6) {
        cut["time"].Fail("a cut with " + io::Fixed(control.duration - time, 2) + " s of its control left",
                         "one with a continuation of " + io::Fixed(kLeastLeft, 1) + " s at least");
      }
      IndexedControl::Cut& read = control.cuts.emplace_back();
      read.step = cut["step"].Integer(0, character::kMostSteps);
      const std::string state = cut["state"].String();
      const auto [end, error] = std::from_chars(state.data(), state.data() + state.size(), read.state, 16);
      if (error != std::errc() || end != state.data() + state.size()) cut["state"].Expect("a hexadecimal number");
    }
  }
  if (index.controls.empty()) view["controls"].Expect("at least one control");
  return index;
}

ControlLibrary::ControlLibrary(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw InputError(folder.string(), "no such folder", "a folder with runs in it");
  if (fs::exists(folder / kLibraryFile)) {
    index_file_ = folder / kLibraryFile;
    index_ = ParseLibrary(io::ReadFile(index_file_), index_file_.string());
    for (const IndexedControl& control : index_->controls) runs_.push_back(folder / control.name);
  } else {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (fs::exists(entry.path() / results::kControlFile)) runs_.push_back(entry.path());
    }
  }
  std::sort(runs_.begin(), runs_.end());
  if (runs_.empty()) throw InputError(folder.string(), "no run", "a sub-folder with a control.json for each control");
}

LibraryControl ControlLibrary::Read(const fs::path& run) const {
  LibraryControl read = ReadLibraryControl(run);
  if (!index_) return read;
  const auto entry = std::find_if(index_->controls.begin(), index_->controls.end(),
                                  [&](const IndexedControl& control) { return control.name == read.name; });
  const std::string file = read.file().string(), of_index = "that of " + index_file_.string();
  if (control::CharacterSha256(read.character()) != index_->character_sha256) {
    throw InputError(file, "another character", of_index + " (" + index_->character + ")");
  }
  if (WorldSha256(read) != index_->world_sha256) throw InputError(file, "another world", of_index);
  if (read.run.controls[0].sha256 != entry->sha256) throw InputError(file, "another control", of_index);
  for (const IndexedControl::Cut& cut : entry->cuts) {
    const auto step = static_cast<size_t>(cut.step);
    if (step < read.states.size() && control::Fingerprint(read.states[step]) == cut.state) continue;
    throw InputError(
        file,
        "a motion that has other bits at its cut at " + io::Fixed(cut.step * read.control.world.time_step, 2) + " s",
        of_index);
  }
  return read;
}

LibraryControl ReadLibraryControl(const fs::path& folder) {
  LibraryControl read = ReadFirstControl(folder);
  read.name = folder.filename().string();
  if (read.run.AllPushes().empty()) return read;
  throw InputError(read.file().string(), "a motion that was made under pushes", "one without");
}

LibraryControl ReadFirstControl(const fs::path& folder) {
  LibraryControl read{folder.string(), StoredRun(folder), {}, {}};
  read.run.RequireOneCharacter("a composed motion is of one");
  read.run.RequirePhysical("its control leads from one state to the next");
  read.control = control::ControlOf(read.run.scene, 0);
  const std::string file = read.run.controls[0].file.string();
  const simulation::Environment& environment = read.control.world.environment;
  const bool moves = std::any_of(environment.boxes.begin(), environment.boxes.end(),
                                 [](const simulation::Box& box) { return box.course.has_value(); });
  if (moves || read.run.scene.layout().num_free_bodies() > 0) {
    throw InputError(file, "a world in which things move", "one that is the same at any time");
  }
  if (read.control.fragments.empty() || read.control.fragments.front().first_step != 0) {
    throw InputError(file, "a control that does not begin at step 0", "one that does");
  }
  read.control.pushes.clear();
  control::Trajectory trajectory = control::Replay(read.run.scene.characters[0], read.control, read.run.AllPushes());
  if (trajectory.diverged) throw InputError(file, "a control whose motion diverges", "one that can be replayed");
  read.states = std::move(trajectory.states);
  return read;
}

void CheckAlike(const LibraryControl& first, const LibraryControl& other) {
  const std::string file = other.run.controls[0].file.string();
  const std::string of_first = "that of " + first.run.controls[0].file.string();
  if (control::CharacterSha256(first.run.scene.characters[0]) !=
      control::CharacterSha256(other.run.scene.characters[0])) {
    throw InputError(file, "another character", of_first);
  }
  if (first.control.world.ToJson() != other.control.world.ToJson()) throw InputError(file, "another world", of_first);
}

}  // namespace retrace::runs
