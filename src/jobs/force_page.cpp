#include "force_page.h"

#include <filesystem>
#include <tuple>
#include <utility>

#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/report/force_page.h"

namespace retrace::runs {
namespace {

std::string PictureIn(const results::RunFolder& folder, std::string_view name) {
  const std::filesystem::path path = folder.PathOf(name);
  return std::filesystem::exists(path) ? io::ReadFile(path) : "";
}

std::string VerdictOf(const Job& job, const ForceEstimate& estimate) {
  const std::string mass = io::Fixed(job.options.mass.value_or(job.character().total_mass()), 1) + " kg";
  if (!estimate.comparison) {
    return "Estimated from the motion alone, for a person of " + mass +
           ", and compared with nothing: the band has force plates in it for 95 % of the time.";
  }
  const auto error = [&](const char* part) {
    const metrics::ForceFigures& figures =
        estimate.comparison->At("run", results::kTableCutoff, part, metrics::ForceComponent::kVertical);
    return io::Fixed(figures.rmse, 1) + " % (r " + io::Fixed(figures.r, 3) + ")";
  };
  return "The vertical force is off by " + error("total") +
         " of body weight from the force plates, that of the left foot by " + error("left") +
         ", that of the right foot by " + error("right") + ", for a person of " + mass + ".";
}

report::ForcePageSection ComparisonOf(const ForceEstimate& estimate) {
  report::ForcePageSection section;
  section.title = "Against force plates";
  section.text = "Root mean square error in % of body weight and Pearson's correlation, after 20 Hz.";
  if (estimate.centers) {
    section.text += " Centers of pressure are off by " + io::Fixed(1000 * estimate.centers->along, 0) +
                    " mm along the foot and " + io::Fixed(1000 * estimate.centers->across, 0) +
                    " mm across it, on average.";
  }
  section.table.columns = {"force", "total", "r", "left foot", "r", "right foot", "r"};
  const std::pair<const char*, metrics::ForceComponent> components[] = {
      {"vertical", metrics::ForceComponent::kVertical},
      {"fore-aft", metrics::ForceComponent::kForeAft},
      {"lateral", metrics::ForceComponent::kLateral}};
  for (const auto& [name, component] : components) {
    std::vector<std::string>& row = section.table.rows.emplace_back(1, name);
    for (const char* part : {"total", "left", "right"}) {
      const metrics::ForceFigures& figures = estimate.comparison->At("run", results::kTableCutoff, part, component);
      row.push_back(io::Fixed(figures.rmse, 1));
      row.push_back(io::Fixed(figures.r, 3));
    }
  }
  return section;
}

report::ForcePageSection ResidualsOf(const Job& job, const kinetics::ReducedResiduals& reduced) {
  report::ForcePageSection section;
  section.title = "Residuals";
  section.text = "What motion and forces disagree about, before and after changes of the motion" +
                 std::string(reduced.mass == 1 ? "" : " and of masses") + ". The mass is " +
                 io::Fixed(reduced.character->total_mass(), 1) + " kg, before " +
                 io::Fixed(job.character().total_mass(), 1) + " kg.";
  section.table.columns = {"", "before", "after"};
  const auto row = [&](const char* name, double before, double after) {
    section.table.rows.push_back({name, io::Fixed(before, 1), io::Fixed(after, 1)});
  };
  row("force, root mean square [N]", reduced.before.force, reduced.after.force);
  row("force, largest [N]", reduced.before.most_force, reduced.after.most_force);
  row("moment, root mean square [N m]", reduced.before.moment, reduced.after.moment);
  row("moment, largest [N m]", reduced.before.most_moment, reduced.after.most_moment);
  return section;
}

report::ForcePageSection ChangesOf(const Job& job, const kinetics::ReducedResiduals& reduced) {
  report::ForcePageSection section;
  section.title = "How bodies were moved for that";
  section.table.columns = {"body", "place, root mean square [mm]", "largest [mm]", "turn, root mean square [degrees]",
                           "largest [degrees]"};
  for (size_t b = 0; b < reduced.bodies.size(); ++b) {
    const kinetics::BodyChange& change = reduced.bodies[b];
    section.table.rows.push_back({job.character().bodies[b].name, io::Fixed(1000 * change.place, 1),
                                  io::Fixed(1000 * change.most_place, 1), io::Fixed(Degrees(change.turn), 1),
                                  io::Fixed(Degrees(change.most_turn), 1)});
  }
  return section;
}

}  // namespace

void WriteForcePage(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate) {
  report::ForcePage page;
  page.title = job.options.clip.file.stem().string();
  page.verdict = VerdictOf(job, estimate);
  page.warnings = estimate.warnings;
  page.notes = estimate.notes;
  if (estimate.comparison) page.sections.push_back(ComparisonOf(estimate));
  const std::tuple<const char*, const char*, std::string_view> pictures[] = {
      {"Forces of the feet", "After a low-pass of 20 Hz.", results::kForceChartFile},
      {"Over strides", "From a strike of a foot to its next one, per kilogram: mean and one standard deviation.",
       results::kStrideChartFile},
      {"Over stances",
       "From a strike of a foot until it leaves the ground, per kilogram: mean and one standard deviation.",
       results::kStanceChartFile}};
  for (const auto& [title, text, file] : pictures) {
    const std::string picture = PictureIn(folder, file);
    if (!picture.empty()) page.sections.push_back({title, text, {}, picture});
  }
  if (estimate.reduced) {
    page.sections.push_back(ResidualsOf(job, *estimate.reduced));
    page.sections.push_back(ChangesOf(job, *estimate.reduced));
  }
  folder.Write(results::kReportFile, report::FormatForcePage(page));
}

}  // namespace retrace::runs
