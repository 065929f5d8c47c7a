#include "retrace/jobs/forces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "jobs/sample_runs.h"
#include "retrace/control/control_file.h"
#include "retrace/io/file.h"
#include "retrace/methods/sampling/seeds.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::runs {
namespace {

/// 0.4 s of the walk, tracked with few variations.
JobOptions ForcesOfAWalk() {
  JobOptions options = TrackedOptions("walk", 0.4);
  options.configuration = ForcesConfiguration();
  options.configuration.run.method = Method::kTracking;
  options.configuration.run.tail = 0;
  options.configuration.tracking.candidates = 0;
  options.configuration.tracking.passes = 1;
  return options;
}

Forces Find(Job& job, const ForceHooks& hooks = {}, int threads = 1) {
  const auto farm = parallel::MakeThreadFarm(threads, sampling::MakeSeededWorkerFactory(job.problem));
  return FindForces(job, *farm, {.controls = 2}, hooks);
}

TEST(Forces, TheConfigurationIsLegalAndGuided) {
  const Configuration configuration = ForcesConfiguration();
  EXPECT_EQ(configuration.Validate(), std::nullopt);
  EXPECT_GT(configuration.tracking.guidance, 0);
  EXPECT_LT(configuration.task.world.contact_stiffness, Configuration().task.world.contact_stiffness);
}

TEST(Forces, WaysDifferInTheirFeet) {
  const tracking::Options options = ForcesConfiguration().tracking;
  const auto ways = WaysOf(options);
  ASSERT_EQ(ways.size(), 3u);
  EXPECT_EQ(ways[0].first, "as configured");
  EXPECT_EQ(ways[0].second.clean_feet, options.clean_feet);
  EXPECT_EQ(ways[1].first, "feet as recorded");
  EXPECT_FALSE(ways[1].second.clean_feet);
  EXPECT_FALSE(ways[1].second.seat_feet);
  EXPECT_EQ(ways[2].first, "feet pressed in by their load");
  EXPECT_TRUE(ways[2].second.seat_feet);
  // There is one variant where the options set the feet, or where forces do not guide the tracking.
  for (const auto& change : {std::function<void(tracking::Options&)>([](tracking::Options& o) { o.guidance = 0; }),
                             {[](tracking::Options& o) { o.clean_feet = false; }},
                             {[](tracking::Options& o) { o.seat_feet = true; }},
                             {[](tracking::Options& o) { o.soft_contacts = true; }}}) {
    tracking::Options changed = options;
    change(changed);
    EXPECT_EQ(WaysOf(changed).size(), 1u);
  }
}

TEST(Forces, FirmerWaysAreTheSameWithMoreFeedback) {
  tracking::Options options = ForcesConfiguration().tracking;
  const auto ways = WaysOf(options), firmer = FirmerWaysOf(options);
  ASSERT_EQ(firmer.size(), ways.size());
  for (size_t w = 0; w < ways.size(); ++w) {
    EXPECT_EQ(firmer[w].first, ways[w].first + " and firm");
    EXPECT_GT(firmer[w].second.guidance_feedback, ways[w].second.guidance_feedback);
    EXPECT_EQ(firmer[w].second.clean_feet, ways[w].second.clean_feet);
  }
  options.guidance_feedback = 1000;
  EXPECT_EQ(FirmerWaysOf(options)[0].second.guidance_feedback, 1000);
  options.guidance = 0;
  EXPECT_TRUE(FirmerWaysOf(options).empty());
}

TEST(Forces, TheRunIsTheControlNearestToWhatTheRecordingRequires) {
  Job job(ForcesOfAWalk());
  EXPECT_FALSE(MeasuredOf(job));
  std::vector<std::string> lines;
  ForceHooks hooks;
  hooks.report = [&](const std::string& text) { lines.push_back(text); };
  const Forces forces = Find(job, hooks);
  ASSERT_GE(forces.controls.size(), 4u);  // three variants, then the best one with another seed
  EXPECT_EQ(lines.size(), forces.controls.size());
  EXPECT_EQ(forces.signals.size(), forces.controls.size());
  const ForceControl& chosen = forces.controls[forces.chosen];
  std::set<std::string> controls;
  for (const ForceControl& control : forces.controls) {
    EXPECT_TRUE(chosen.success || !control.success);
    if (control.success == chosen.success) {
      EXPECT_LE(chosen.required_error, control.required_error);
    }
    EXPECT_EQ(control.method, Method::kTracking);
    controls.insert(control.control_sha256);
  }
  EXPECT_GE(controls.size(), 2u);
  EXPECT_EQ(forces.controls[0].perturbation, 0);
  EXPECT_EQ(forces.controls[0].seed, 1u);
  EXPECT_GT(forces.controls.back().perturbation, 0);
  EXPECT_EQ(forces.controls.back().seed, 2u);
  EXPECT_EQ(forces.success(), chosen.success);
  EXPECT_EQ(io::Sha256(control::FormatControl(job.character(), forces.run.control())), chosen.control_sha256);
  // The job is that of the chosen control now.
  EXPECT_EQ(job.configuration.tracking.seed, chosen.seed);
  EXPECT_EQ(job.configuration.tracking.perturbation, chosen.perturbation);
  // The band consists of the controls of the same variant with the same outcome.
  std::vector<size_t> band;
  for (size_t k = 0; k < forces.controls.size(); ++k) {
    if (forces.controls[k].way == chosen.way && forces.controls[k].success == chosen.success) band.push_back(k);
  }
  EXPECT_EQ(forces.band, band);
  EXPECT_THAT(Describe(forces),
              testing::HasSubstr("control " + std::to_string(forces.chosen + 1) + " is the run: its feet are nearest"));
  EXPECT_FALSE(forces.comparison);
}

TEST(Forces, AreWrittenAsARunWithTables) {
  Job job(ForcesOfAWalk());
  const Forces forces = Find(job);
  const SampleFolder samples;
  {
    results::RunFolder folder(samples / "run", false);
    WriteForces(folder, job, forces, {});
  }
  const io::Json manifest = io::ReadJson(samples / "run" / "manifest.json");
  EXPECT_EQ(manifest["program"], "forces");
  EXPECT_EQ(manifest["forces"]["chosen"], forces.chosen + 1);
  EXPECT_EQ(manifest["forces"]["controls_in_band"], forces.band.size());
  EXPECT_NEAR(manifest["forces"]["mass"].get<double>(), job.character().total_mass(), 1e-12);
  for (const std::string_view file :
       {results::kGroundForcesFile, results::kSmoothGroundForcesFile, results::kFootForcesFile,
        results::kSmoothFootForcesFile, results::kJointLoadsFile, results::kSmoothJointLoadsFile,
        results::kForceControlsFile, results::kForceChartFile, std::string_view("export/ground_forces.sto")}) {
    EXPECT_TRUE(std::filesystem::exists(samples / "run" / file)) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(samples / "run" / results::kForceComparisonFile));
  EXPECT_EQ(io::Sha256(io::ReadFile(samples / "run" / results::kControlFile)),
            forces.controls[forces.chosen].control_sha256);
}

}  // namespace
}  // namespace retrace::runs
