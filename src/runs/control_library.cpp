#include "retrace/runs/control_library.h"

#include <algorithm>
#include <utility>

#include "retrace/control/feedback.h"
#include "retrace/io/error.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {
namespace fs = std::filesystem;

bool LibraryControl::succeeded() const {
  return !run.manifest.is_object() || run.manifest.value("success", true);
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

std::vector<fs::path> RunsOfLibrary(const fs::path& library) {
  if (!fs::is_directory(library)) throw InputError(library.string(), "no such folder", "a folder with runs in it");
  std::vector<fs::path> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(library)) {
    if (fs::exists(entry.path() / results::kControlFile)) runs.push_back(entry.path());
  }
  std::sort(runs.begin(), runs.end());
  if (runs.empty()) throw InputError(library.string(), "no run", "a sub-folder with a control.json for each control");
  return runs;
}

LibraryControl ReadLibraryControl(const fs::path& folder) {
  LibraryControl read{folder.filename().string(), StoredRun(folder), {}, {}};
  read.run.RequireOneCharacter("a composed motion is of one");
  read.control = control::ControlOf(read.run.scene, 0);
  const std::string file = read.run.controls[0].file.string();
  if (!read.run.pushes.empty()) throw InputError(file, "a motion that was made under pushes", "one without");
  const simulation::Environment& environment = read.control.world.environment;
  const bool moves = std::any_of(environment.boxes.begin(), environment.boxes.end(),
                                 [](const simulation::Box& box) { return box.course.has_value(); });
  if (moves || read.run.scene.layout().num_free_bodies() > 0) {
    throw InputError(file, "a world in which things move", "one that is the same at any time");
  }
  if (read.control.fragments.empty() || read.control.fragments.front().first_step != 0) {
    throw InputError(file, "a control that does not begin at step 0", "one that does");
  }
  control::Trajectory trajectory = control::Replay(read.run.scene.characters[0], read.control);
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
