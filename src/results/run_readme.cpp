#include "retrace/results/run_readme.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

namespace retrace::results {
namespace {

constexpr std::string_view kFirstLine = "What is in this folder, which Retrace wrote";
constexpr size_t kColumn = 26;  // of the names

// By the names of run_folder.h, all of which are here (a test).
constexpr std::pair<std::string_view, std::string_view> kDescriptions[] = {
    {"filmstrip.svg", "the motion at a glance; opens in a web browser"},
    {"report.html", "the run in 3D with its forces, as a page for a web browser"},
    {"motion.bvh", "the simulated motion of the character; meters, y up"},
    {"reference.bvh", "the recording as a motion of the character"},
    {"recording.bvh", "the same before it was repaired"},
    {"repair.csv", "what the repair changed"},
    {"control.json", "the control: what `retrace replay` simulates again"},
    {"trajectory.csv", "root, joints, center of mass, ground force; a row per step"},
    {"torques.csv", "torques of all joints [N m]; a row per step"},
    {"contacts.csv", "every contact point with its force [N]"},
    {"body_contacts.csv", "contacts of each body: forces, centers of pressure, pressures"},
    {"contact_totals.csv", "the same of the whole character"},
    {"contact_summary.csv", "contact times, peaks and impulses of each body"},
    {"pressure.csv", "pressure on the faces of the bodies, 60 times per second"},
    {"costs.csv", "costs of the search, a row per iteration"},
    {"samples.csv", "costs of every sample of the search"},
    {"tracking.csv", "what tracking planned at each instant"},
    {"windows.csv", "costs of trajectory optimization"},
    {"continuation.json", "a control that goes on after the end; no part of the result"},
    {"onward.json", "a control that goes on after the end; no part of the result"},
    {"idling.csv", "when each key pose was held"},
    {"composition.csv", "the parts that the motion is made of"},
    {"candidates.csv", "candidate motions after an impact"},
    {"ragdoll.json", "the control of a body that gives up; no part of the result"},
    {"latent.svg", "the path through the model's latent space"},
    {"ground_forces.csv", "ground forces and centers of pressure"},
    {"ground_forces_20Hz.csv", "the same through a low-pass of 20 Hz"},
    {"foot_forces.csv", "forces of the left and the right foot"},
    {"foot_forces_20Hz.csv", "the same through a low-pass of 20 Hz"},
    {"joint_loads.csv", "moments and powers of the joints"},
    {"joint_loads_20Hz.csv", "the same through a low-pass of 20 Hz"},
    {"force_controls.csv", "the controls that make the band of uncertainty"},
    {"force_comparison.csv", "comparison with measured forces"},
    {"forces.svg", "the forces as a chart"},
    {"foot_events.csv", "foot strikes and foot offs"},
    {"gait_cycles.csv", "the gait cycles"},
    {"stride_curves.csv", "curves over the stride"},
    {"stance_curves.csv", "curves over the stance"},
    {"strides.svg", "curves over the stride as a chart"},
    {"stances.svg", "curves over the stance as a chart"},
    {"residuals.csv", "what motion and forces disagree about, before and after"},
    {"residual_changes.csv", "by how much each body was moved for that"},
    {"reduced_motion.bvh", "the motion that agrees with the forces"},
    {"reduced_character.json", "the character of that motion"},
    {"push_table.csv", "how long the motion survives pushes"},
    {"feedback.csv", "what the feedback did"},
    {"feedback.bin", "gains of the feedback that replays can have"},
    {"tree.bin", "recoveries around the feedback"},
    {"tree.csv", "the states from which these grew"},
    {"manifest.json", "verdict, settings, hashes, versions: for scripts"},
};

}  // namespace

std::string_view DescribeRunFile(std::string_view name) {
  const auto found = std::find_if(std::begin(kDescriptions), std::end(kDescriptions),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found != std::end(kDescriptions)) return found->second;
  return name.starts_with("export/") ? "the motion for other programs (`retrace export`)" : "";
}

std::string FormatReadme(std::span<const std::string> names) {
  std::set<std::string> there;
  bool in_parts = false;
  for (const std::string& name : names) {
    const size_t slash = name.find('/');
    in_parts = in_parts || slash != std::string::npos;
    there.insert(slash == std::string::npos ? name : name.substr(slash + 1));
  }
  std::string text(kFirstLine);
  text.append("\n\n  retrace open .            shows the run in a web browser\n");
  text.append("  retrace help export       how to write it for Blender, NumPy, OpenSim, spreadsheets\n\n");
  if (in_parts) text.append("The files of each character are in character_1, character_2 and so on.\n\n");
  for (const auto& [name, description] : kDescriptions) {
    if (!there.contains(std::string(name)) && name != "manifest.json") continue;
    text.append(name).append(kColumn - std::min(kColumn - 1, name.size()), ' ').append(description).append("\n");
  }
  return text.append(
      "\nTables are CSV with names of columns in the first row; meters, seconds, newtons, radians; y up.\n");
}

bool IsReadme(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string line;
  return std::getline(stream, line) && line == kFirstLine;
}

}  // namespace retrace::results
