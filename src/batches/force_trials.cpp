#include "retrace/batches/force_trials.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/recordings/recording.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForceEndings[] = {".mot", ".sto", ".csv", ".c3d"};
constexpr const char* kParts[] = {"total", "left", "right"};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Without the last ending.
std::string StemOf(const fs::path& file) {
  return file.stem().string();
}

/// Whether a name says that its file has forces.
bool NamesForces(const fs::path& file) {
  const std::string stem = Lower(StemOf(file));
  return stem.find("grf") != std::string::npos || stem.find("forces") != std::string::npos;
}

/// What motion and forces of one trial have in common: the name in lower case, without the last word of a motion by
/// inverse kinematics, and without that of forces.
std::string BaseOf(const fs::path& file) {
  std::string base = Lower(StemOf(file));
  for (const char* word : {"_ik", "_ground_forces", "_grf", "_forces", ".forces"}) {
    if (base.ends_with(word)) return base.substr(0, base.size() - std::string(word).size());
  }
  return base;
}

}  // namespace

std::vector<ForceTrial> FindForceTrials(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::map<std::string, fs::path> forces;
  for (const fs::path& file : files) {
    const std::string ending = Lower(file.extension().string());
    const bool table = std::find(std::begin(kForceEndings), std::end(kForceEndings), ending) != std::end(kForceEndings);
    if (table && NamesForces(file)) forces.emplace(BaseOf(file), file);
  }
  std::vector<ForceTrial> trials;
  for (const fs::path& file : files) {
    if (NamesForces(file) || recordings::FormatOf(file) == nullptr) continue;
    const auto found = forces.find(BaseOf(file));
    trials.push_back({StemOf(file), file, found == forces.end() ? fs::path() : found->second});
  }
  for (ForceTrial& trial : trials) {
    const auto same = std::count_if(trials.begin(), trials.end(), [&](const ForceTrial& other) {
      return StemOf(other.motion) == StemOf(trial.motion);
    });
    if (same > 1) trial.name = trial.motion.filename().string();
  }
  if (trials.empty()) {
    throw InputError(folder.string(), "no recording", "files that end with " + recordings::KnownEndings());
  }
  return trials;
}

std::string FormatTrials(const std::vector<TrialResult>& results) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr metrics::ForceComponent kComponents[] = {
      metrics::ForceComponent::kVertical, metrics::ForceComponent::kForeAft, metrics::ForceComponent::kLateral};
  io::CsvWriter writer;
  for (const char* name : {"trial", "status", "seconds", "mass"}) writer.Text(name);
  for (const metrics::ForceComponent component : kComponents) {
    for (const char* part : kParts) writer.Text(metrics::Name(component) + "_" + part + "_percent");
  }
  for (const char* part : kParts) writer.Text(std::string("vertical_") + part + "_r");
  for (const char* name : {"center_along_mm", "center_across_mm", "delay_ms", "residual_force", "residual_moment",
                           "reduced_residual_force", "reduced_residual_moment", "warnings", "message"}) {
    writer.Text(name);
  }
  writer.EndRow();
  for (const TrialResult& result : results) {
    const auto& comparison = result.estimate.comparison;
    const bool refused = !result.error.empty();
    writer.Text(result.name);
    writer.Text(refused ? "refused" : comparison ? "compared" : "estimated");
    writer.ShortOrEmpty(refused ? kNone : result.seconds);
    writer.ShortOrEmpty(refused ? kNone : result.mass);
    const auto figures = [&](const char* part, metrics::ForceComponent component) {
      return comparison->At("run", results::kTableCutoff, part, component);
    };
    for (const metrics::ForceComponent component : kComponents) {
      for (const char* part : kParts) writer.ShortOrEmpty(comparison ? figures(part, component).rmse : kNone);
    }
    for (const char* part : kParts) {
      writer.ShortOrEmpty(comparison ? figures(part, metrics::ForceComponent::kVertical).r : kNone);
    }
    const auto& centers = result.estimate.centers;
    writer.ShortOrEmpty(centers ? 1000 * centers->along : kNone);
    writer.ShortOrEmpty(centers ? 1000 * centers->across : kNone);
    writer.ShortOrEmpty(comparison ? 1000 * result.estimate.delay : kNone);
    const auto& reduced = result.estimate.reduced;
    writer.ShortOrEmpty(reduced ? reduced->before.force : kNone);
    writer.ShortOrEmpty(reduced ? reduced->before.moment : kNone);
    writer.ShortOrEmpty(reduced ? reduced->after.force : kNone);
    writer.ShortOrEmpty(reduced ? reduced->after.moment : kNone);
    if (refused) {
      writer.Text("");
    } else {
      writer.Integer(static_cast<int>(result.estimate.warnings.size()));
    }
    writer.Text(result.error);
    writer.EndRow();
  }
  return writer.Take();
}

}  // namespace retrace::runs
