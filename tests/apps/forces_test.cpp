/// The program `forces`: what it leaves, what it refuses, and its figures against the judge's.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/command_line.h"
#include "long_trials.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ForcesProgram : public CommandLine {};

const std::string kSimulate = kForces + " --simulate";

const std::string kBriefWalk = kWalkClip + " --end 1 --method tracking --set /tracking/candidates=0 ";

TEST_F(ForcesProgram, RepairsTheReferenceBeforeIt) {
  const std::string run = Path("run");
  const Outcome outcome =
      Execute(kSimulate + " " + kBriefWalk + "--floor-height -0.1 --repair --seeds 1 --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("m over the floor"));
  EXPECT_EQ(io::ReadJson(run + "/manifest.json")["repair"]["changed"], true);
  EXPECT_TRUE(fs::exists(run + "/repair.csv"));
}

TEST_F(ForcesProgram, LeavesARunWithTablesOfForces) {
  const std::string run = Path("run");
  const Outcome outcome = Execute(kSimulate + " " + kBriefWalk + "--seeds 2 --mass 80 --output " + run);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("seed 2 of 2: tracking ("));
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["program"], "forces");
  EXPECT_NEAR(manifest["forces"]["mass"].get<double>(), 80, 1e-9);
  const io::Json& controls = manifest["forces"]["controls"];
  ASSERT_EQ(controls.size(), 4u) << "all ways with the first seed, the best of them with the other one";
  const auto nearest =
      std::min_element(controls.begin(), controls.begin() + 3,
                       [](const io::Json& a, const io::Json& b) { return a["required_error"] < b["required_error"]; });
  EXPECT_EQ(controls[3]["way"], (*nearest)["way"]);
  double mass = 0;
  const io::Json control = io::ReadJson(run + "/control.json");
  for (const io::Json& body : control["character"]["bodies"]) mass += body["mass"].get<double>();
  EXPECT_NEAR(mass, 80, 1e-9);

  const results::Table ground = results::ReadTable(run + "/ground_forces.csv");
  const results::Table trajectory = results::ReadTable(run + "/trajectory.csv");
  const auto total = ground.Numbers("total_force_y");
  const auto left = ground.Numbers("left_foot_force_y"), right = ground.Numbers("right_foot_force_y");
  const auto least = ground.Numbers("total_force_y_min"), most = ground.Numbers("total_force_y_max");
  const auto expected = trajectory.Numbers("force_y");
  ASSERT_EQ(total.size(), expected.size());
  double width = 0;
  for (size_t i = 0; i < total.size(); ++i) {
    ASSERT_NEAR(total[i], expected[i], 1e-6);
    ASSERT_NEAR(total[i], left[i] + right[i], 1e-6);
    ASSERT_LE(least[i], total[i]);
    ASSERT_GE(most[i], total[i]);
    width = std::max(width, most[i] - least[i]);
  }
  EXPECT_GT(width, 0) << "the controls differ";
  for (const char* name : {"ground_forces_20Hz.csv", "joint_loads_20Hz.csv", "foot_forces_20Hz.csv"}) {
    const results::Table smooth = results::ReadTable(run + "/" + name);
    for (const std::string& column : smooth.names()) {
      EXPECT_TRUE(column == "time" || column.find("_20Hz") != std::string::npos) << column;
    }
  }
  EXPECT_TRUE(results::ReadTable(run + "/joint_loads.csv").Has("left_knee_power_max"));
  EXPECT_EQ(results::ReadTable(run + "/force_controls.csv").num_rows(), 4u);
  EXPECT_THAT(io::ReadFile(run + "/forces.svg"), HasSubstr("low-pass of 20 Hz"));
  EXPECT_FALSE(fs::exists(run + "/force_comparison.csv"));
  // The same bytes once more.
  ASSERT_EQ(Execute(kSimulate + " " + kBriefWalk + "--seeds 2 --mass 80 --output " + Path("again")).code, 0);
  for (const char* name : {"control.json", "ground_forces.csv", "joint_loads.csv", "force_controls.csv"}) {
    EXPECT_EQ(io::ReadFile(run + "/" + name), io::ReadFile(Path("again") + "/" + name)) << name;
  }
}

TEST_F(ForcesProgram, SearchesAmongVariationsOfTheController) {
  const std::string walk = kSimulate + " " + kWalkClip + " --end 0.5 --method tracking --seeds 1 --threads ";
  const std::string few = " --set /tracking/candidates=6 --set /tracking/passes=2 --output ";
  ASSERT_EQ(Execute(walk + "1" + few + Path("one")).code, 0);
  ASSERT_EQ(Execute(walk + "3" + few + Path("three")).code, 0);
  for (const char* name : {"control.json", "ground_forces.csv", "force_controls.csv"}) {
    EXPECT_EQ(io::ReadFile(Path("one") + "/" + name), io::ReadFile(Path("three") + "/" + name)) << name;
  }
  EXPECT_EQ(Execute(kReplay + " " + Path("one") + " --verify").code, 0);
  const results::Table controls = results::ReadTable(Path("one") + "/force_controls.csv");
  const auto errors = controls.Numbers("required_error"), chosen = controls.Numbers("chosen");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(chosen[static_cast<size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin())], 1);
}

TEST_F(ForcesProgram, FurtherPassesComeNearerToTheForcesRequired) {
  const std::string walk =
      kSimulate + " " + kWalkClip + " --end 0.7 --method tracking --seeds 1 --set /tracking/candidates=24";
  const auto error = [&](const std::string& passes) {
    const std::string run = Path("passes" + passes);
    EXPECT_EQ(Execute(walk + " --set /tracking/passes=" + passes + " --output " + run).code, 0);
    const auto errors = results::ReadTable(run + "/force_controls.csv").Numbers("required_error");
    return *std::min_element(errors.begin(), errors.end());
  };
  EXPECT_LT(error("4"), 0.95 * error("1"));
}

TEST_F(ForcesProgram, TracksWithoutGuidanceWhereThatFails) {
  // Feet that nothing brings to their positions.
  const std::string run = Path("run");
  const Outcome outcome =
      Execute(kSimulate + " " + kWalkClip +
              " --method tracking --seeds 1 --set /tracking/candidates=0 --set /tracking/foot_weight=0 "
              "--set /tracking/leg_weight=1e-6 --output " +
              run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("tracking (not guided), within tolerance"));
  EXPECT_THAT(outcome.text, HasSubstr("these forces show when feet are loaded and little else: they miss "));
  const std::vector<std::string> ways = results::ReadTable(run + "/force_controls.csv").Text("way");
  ASSERT_EQ(ways.size(), 7u) << "each way, each of them firm, and this one";
  EXPECT_EQ(ways[3], "as configured and firm");
  EXPECT_EQ(ways.back(), "not guided");
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  EXPECT_EQ(manifest["forces"]["chosen"], 7);
  EXPECT_EQ(manifest["configuration"]["tracking"]["guidance"], 0);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
}

TEST_F(ForcesProgram, TracksFirmlyWhereThatLeavesTheGates) {
  // Nothing holds the center of mass, and the feet are not put on the floor.
  const std::string run = Path("run");
  const Outcome outcome = Execute(kSimulate + " " + kWalkClip +
                                  " --method tracking --seeds 2 --set /tracking/candidates=0 "
                                  "--set /tracking/clean_feet=false --set /tracking/guidance_feedback=0 --output " +
                                  run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const results::Table controls = results::ReadTable(run + "/force_controls.csv");
  const std::string firm = "as configured and firm";
  EXPECT_EQ(controls.Text("way"), (std::vector<std::string>{"as configured", firm, firm}));
  EXPECT_EQ(controls.Numbers("success"), (std::vector<double>{0, 1, 1}));
  EXPECT_LT(controls.Numbers("required_error")[1], 0.2);
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
}

TEST_F(ForcesProgram, LandsFromAJump) {
  const std::string clip = std::string(RETRACE_SHARED_DIR) + "/mocap/clips/jump_broad_short_wd2.bvh";
  if (!fs::exists(clip)) GTEST_SKIP() << clip << " is missing";
  const std::string run = Path("run");
  const Outcome outcome = Execute(kSimulate + " " + clip + " --seeds 1 --set /tracking/candidates=0 --output " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const io::Json manifest = io::ReadJson(run + "/manifest.json");
  const io::Json& chosen = manifest["forces"]["controls"][manifest["forces"]["chosen"].get<size_t>() - 1];
  EXPECT_EQ(chosen["method"], "tracking");
  EXPECT_LT(chosen["required_error"].get<double>(), 0.2);
}

TEST_F(ForcesProgram, AgreesWithItsOwnForces) {
  const std::string run = Path("run"), again = Path("again");
  ASSERT_EQ(Execute(kSimulate + " " + kBriefWalk + "--seeds 1 --output " + run).code, 0);
  const Outcome outcome = Execute(kSimulate + " " + kBriefWalk + "--seeds 1 --force-plates " + run +
                                  "/export/ground_forces.sto --output " + again);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("against the measured forces"));
  const io::Json comparison = io::ReadJson(again + "/manifest.json")["force_comparison"];
  for (const char* cutoff : {"raw", "20Hz", "12Hz", "6Hz"}) {
    for (const char* part : {"total", "left", "right"}) {
      for (const char* component : {"vertical", "fore_aft", "lateral"}) {
        const io::Json& figures = comparison["figures"]["run"][cutoff][part][component];
        for (const char* name : {"rmse_percent", "peak_percent", "impulse_percent"}) {
          EXPECT_NEAR(figures[name].get<double>(), 0, 1e-6) << cutoff << " " << part << " " << component << " " << name;
        }
        EXPECT_NEAR(figures["r"].get<double>(), 1, 1e-9);
      }
    }
  }
  EXPECT_EQ(comparison["contact_onset"]["mean_absolute_ms"].is_null()
                ? 0
                : comparison["contact_onset"]["mean_absolute_ms"].get<double>(),
            0);
  EXPECT_TRUE(results::ReadTable(again + "/foot_forces.csv").Has("left_vertical_measured"));
  EXPECT_EQ(results::ReadTable(again + "/force_comparison.csv").num_rows(), 4u * (9 + 9));
}

TEST_F(ForcesProgram, RefusesWhatItCannotUse) {
  io::WriteFile(Path("bad.csv"), "time,left_fx_N,left_fy_N,left_fz_N,pressure\n0,1,2,3,4\n");
  io::WriteFile(Path("late.csv"), "time,left_fx_N,left_fy_N,left_fz_N\n50,1,2,3\n60,1,2,3\n");
  io::WriteFile(Path("plates.mot"),
                "nRows=2\nendheader\ntime ground_force_1_vx ground_force_1_vy ground_force_1_vz\n0 0 1 2\n1 0 1 2\n");
  io::WriteFile(Path("named.mot"),
                "nRows=2\nendheader\ntime ground_forze_1_vx ground_force_1_vy ground_force_1_vz\n0 0 1 2\n1 0 1 2\n");
  io::WriteFile(Path("nowhere.csv"), "time,left_fx_N,left_fy_N,left_fz_N\n0,1,2,3\n2,1,2,3\n");
  const std::string walk = kWalkClip + " --end 1 ", measured = walk + "--force-plates ";
  ExpectRefusals(
      kForces,
      {{"", 2, "forces: a clip is needed"},
       {walk + "--mass 0", 2, "--mass: found 0, expected a number from 1 to 1000"},
       {walk + "--seeds 2", 2, "--simulate"},
       {walk + "--simulate --seeds 0", 2, "--seeds"},
       {walk + "--perturbation 0.1", 2, "--simulate"},
       {walk + "--method tracking", 2, "--method: found without --simulate, expected with it"},
       {walk + "--resume", 2, "--resume: found without --simulate"},
       {walk + "--paper", 2, "--paper: found without --simulate"},
       {walk + "--simulate --reduce-residuals", 2, "--reduce-residuals"},
       {walk + "--force-plates-sides exchanged", 2, "--force-plates"},
       {walk + "--use-measured", 2, "--force-plates"},
       {walk + "--force-plates-heading 90", 2, "--force-plates"},
       {measured + "missing.csv", 3, "missing.csv"},
       {measured + Path("bad.csv"), 3, "bad.csv:1:1: found the column 'pressure', expected time"},
       {measured + Path("named.mot"), 3, "did you mean \"ground_force_1_vx\""},
       {measured + Path("late.csv"), 3, "late.csv: found measured times from 50.00 to 60.00 s"},
       {measured + Path("plates.mot"), 3, "plates.mot: found no place and no foot of the force ground_force_1,"},
       {measured + Path("nowhere.csv") + " --use-measured", 2, "found no measured forces that say where they act"},
       {measured + Path("late.csv") + " --character quadruped", 3, ""},
       {kWalkClip + " --loop 4 --force-plates " + Path("late.csv"), 2, "cycle is repeated"},
       {kWalkClip + " --simulate --loop 4 --force-plates " + Path("late.csv"), 2, "cycle is repeated"}});
}

TEST_F(ForcesProgram, AnswersAtOnce) {
  const std::string folder = Path("forces");
  const Outcome outcome = Execute(kForces + " " + kWalkClip + " --mass 70 --output " + folder);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("forces by inverse dynamics after"));
  const io::Json manifest = io::ReadJson(folder + "/manifest.json");
  EXPECT_EQ(manifest["forces"]["method"], "inverse dynamics");
  EXPECT_NEAR(manifest["forces"]["mass"].get<double>(), 70, 1e-9);
  const results::Table feet = results::ReadTable(folder + "/foot_forces_20Hz.csv");
  const auto left = feet.Numbers("left_vertical_20Hz"), right = feet.Numbers("right_vertical_20Hz");
  const auto least = feet.Numbers("left_vertical_20Hz_min"), most = feet.Numbers("left_vertical_20Hz_max");
  double mean = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_LT(least[i], left[i]);
    EXPECT_GT(most[i], left[i]);
    mean += (left[i] + right[i]) / static_cast<double>(left.size());
  }
  EXPECT_NEAR(mean / (70 * 9.81), 1, 0.05) << "a walk carries the body's weight";
  EXPECT_TRUE(results::ReadTable(folder + "/joint_loads.csv").Has("left_knee_power"));
  EXPECT_TRUE(results::ReadTable(folder + "/ground_forces.csv").Has("left_foot_free_moment"));
  EXPECT_THAT(io::ReadFile(folder + "/export/external_loads.xml"), HasSubstr("<datafile>ground_forces.sto</datafile>"));
  EXPECT_TRUE(fs::exists(folder + "/forces.svg"));
  EXPECT_NE(Execute(kReplay + " " + folder).code, 0) << "it is no run";
  EXPECT_EQ(Execute(kForces + " " + kWalkClip + " --mass 70 --output " + folder).code, 2) << "it is not overwritten";

  // What it writes for OpenSim can be read, and agrees, turned as it must be.
  const std::string again = Path("again");
  const Outcome compared = Execute(kForces + " " + kWalkClip + " --mass 70 --force-plates " + folder +
                                   "/export/ground_forces.sto --use-measured --output " + again);
  ASSERT_EQ(compared.code, 0) << compared.text;
  EXPECT_THAT(compared.text, HasSubstr("as the feet stand on the plates"));
  const io::Json figures = io::ReadJson(again + "/manifest.json")["force_comparison"]["figures"]["run"]["20Hz"];
  for (const char* part : {"total", "left", "right"}) {
    for (const char* component : {"vertical", "fore_aft", "lateral"}) {
      EXPECT_LT(figures[part][component]["rmse_percent"].get<double>(), 0.5) << part << " " << component;
    }
  }
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Plates whose left and right are exchanged are refused with what to do; residuals are reduced; a page is written.
TEST_F(ForcesProgram, RefusesExchangedSidesAndReducesResiduals) {
  const std::string first = Path("first"), second = Path("second"), plates = Path("plates.sto");
  ASSERT_EQ(Execute(kForces + " " + kWalkClip + " --mass 70 --output " + first).code, 0);
  std::string forces = io::ReadFile(first + "/export/ground_forces.sto");
  forces = Replaced(Replaced(forces, "LeftFoot", "calcn_r"), "RightFoot", "calcn_l");
  io::WriteFile(plates, forces);
  const std::string with = kForces + " " + kWalkClip + " --end 2 --mass 70 --force-plates " + plates;
  const Outcome refused = Execute(with + " --output " + second);
  EXPECT_EQ(refused.code, 3) << refused.text;
  EXPECT_THAT(refused.text, HasSubstr("found forces named after one foot under the other one"));
  EXPECT_THAT(refused.text, HasSubstr("--force-plates-sides exchanged"));
  const Outcome taken =
      Execute(with + " --force-plates-sides exchanged --use-measured --reduce-residuals --report --output " + second);
  ASSERT_EQ(taken.code, 0) << taken.text;
  EXPECT_THAT(taken.text, HasSubstr("are reduced to"));
  const io::Json residuals = io::ReadJson(second + "/manifest.json")["residuals"];
  EXPECT_LT(residuals["after"]["force"].get<double>(), residuals["before"]["force"].get<double>());
  EXPECT_TRUE(fs::exists(second + "/reduced_motion.bvh"));
  const std::string page = io::ReadFile(second + "/report.html");
  for (const char* title : {"<h1>Forces of walk</h1>", "Against force plates", "Over strides", "Residuals"}) {
    EXPECT_THAT(page, HasSubstr(title));
  }
}

/// Events and curves over strides and stances, without plates and with them.
TEST_F(ForcesProgram, WritesEventsAndCyclesOfAWalk) {
  const std::string folder = Path("cycles");
  const Outcome outcome = Execute(kForces + " " + kWalkClip + " --mass 70 --cycles --output " + folder);
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("foot strikes"));
  EXPECT_THAT(outcome.text, HasSubstr("strides"));
  const results::Table events = results::ReadTable(folder + "/foot_events.csv");
  const auto times = events.Numbers("time");
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  const results::Table cycles = results::ReadTable(folder + "/gait_cycles.csv");
  for (const double share : cycles.Numbers("stance_percent")) {
    EXPECT_GT(share, 55);  // walks of people have 60 to 65 %
    EXPECT_LT(share, 70);
  }
  for (const char* kind : {"stride", "stance"}) {
    const results::Table curves = results::ReadTable(folder + "/" + kind + "_curves.csv");
    EXPECT_EQ(curves.Numbers("percent").size(), 101u);
    EXPECT_TRUE(curves.Has("left_ankle_plantarflexion_moment_mean"));
    EXPECT_FALSE(curves.Has("left_vertical_measured_mean"));
    const auto vertical = curves.Numbers("right_vertical_mean");
    const auto ankle = curves.Numbers("right_ankle_plantarflexion_moment_mean");
    EXPECT_NEAR(*std::max_element(vertical.begin(), vertical.end()), 1.1 * 9.81, 3);
    EXPECT_NEAR(*std::max_element(ankle.begin(), ankle.end()), 1.4, 0.6) << "push-off, N m/kg";
    EXPECT_THAT(io::ReadFile(folder + "/" + kind + "s.svg"), HasSubstr("ankle plantarflexion moment [N m/kg]"));
  }
  EXPECT_EQ(Execute(kForces + " " + kWalkClip + " --cycles --simulate --output " + Path("not")).code, 2);
}

/// A folder of trials: those that can be used are, and the table says why another one is not.
TEST_F(ForcesProgram, EstimatesAFolderOfTrials) {
  const std::string folder = Path("trials"), output = Path("all");
  fs::create_directories(folder);
  fs::copy_file(kWalkClip, folder + "/walk.bvh");
  io::WriteFile(folder + "/broken.bvh", "HIERARCHY\n");
  const Outcome outcome = Execute(kForces + " " + folder + " --mass 70 --output " + output);
  EXPECT_EQ(outcome.code, 3) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("2/2 walk: forces estimated"));
  const std::string table = io::ReadFile(output + "/trials.csv");
  EXPECT_THAT(table, HasSubstr("\nbroken,refused,"));
  EXPECT_THAT(table, HasSubstr("\nwalk,estimated,"));
  EXPECT_TRUE(fs::exists(output + "/walk/foot_forces.csv"));
  EXPECT_EQ(Execute(kForces + " " + folder + " --force-plates " + kWalkClip + " --output " + Path("no")).code, 2);
}

/// Trials as laboratories keep them are read and compared without an option besides the files and the mass.
TEST_F(ForcesProgram, ReadsTheFilesOfLaboratories) {
  const std::string lab = std::string(RETRACE_SHARED_DIR) + "/forces/laboratory/";
  if (!fs::exists(lab)) GTEST_SKIP() << lab << " is missing";
  struct Trial {
    std::string motion, model, plates, mass;
    double total, foot;  // largest errors of the vertical force [% of body weight]
  };
  const std::vector<Trial> trials = {
      {"walking1_ik.mot", "subject4.osim", "walking1_grf.mot", "62.6", 4, 5.5},
      {"walkingTI1_ik.mot", "subject4.osim", "walkingTI1_grf.mot", "62.6", 5, 7},
      {"squatsAsym1_ik.mot", "subject4.osim", "squatsAsym1_grf.mot", "62.6", 5.5, 11},
      {"markers/motion_capture_walk_trimmed.trc", "", "markers/grf_walk_trimmed.mot", "85", 5, 6},
      {"unfiltered/walking2.trc", "", "unfiltered/walking2_grf.mot", "95", 5, 11},
      {"unfiltered/walking2_ik.mot", "unfiltered/subject.osim", "unfiltered/walking2_grf.mot", "95", 6.5, 8},
      {"treadmill_run/run300_ik.mot", "treadmill_run/final.osim", "treadmill_run/run300_grf.mot", "72.8", 8, 6},
      {"STSAsym1_ik.mot", "subject4.osim", "STSAsym1_grf.mot", "62.6", 11, 12},
      {"DJ2_ik.mot", "subject4.osim", "DJ2_grf.mot", "62.6", 14, 17},
      {"legs_only/levelground_ccw_fast_01_01_ik.mot", "legs_only/final.osim",
       "legs_only/levelground_ccw_fast_01_01_grf.mot", "76.8", 12, 22},
  };
  for (const Trial& trial : trials) {
    const std::string folder = Path("lab");
    std::string command = kForces + " " + lab + trial.motion + " --force --mass " + trial.mass + " --force-plates " +
                          lab + trial.plates + " --output " + folder;
    if (!trial.model.empty()) command += " --skeleton " + lab + trial.model;
    const Outcome outcome = Execute(command);
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    const io::Json figures = io::ReadJson(folder + "/manifest.json")["force_comparison"]["figures"]["run"]["20Hz"];
    EXPECT_LT(figures["total"]["vertical"]["rmse_percent"].get<double>(), trial.total) << trial.motion;
    for (const char* foot : {"left", "right"}) {
      EXPECT_LT(figures[foot]["vertical"]["rmse_percent"].get<double>(), trial.foot) << trial.motion << " " << foot;
    }
  }
  // A heading that cannot be is shouted at.
  const Outcome turned = Execute(kForces + " " + lab + "walking1_ik.mot --skeleton " + lab +
                                 "subject4.osim --force-plates-heading 0 --force-plates " + lab +
                                 "walking1_grf.mot --mass 62.6 --output " + Path("turned"));
  EXPECT_THAT(turned.text, HasSubstr("warning: the feet stand on the plates if these are turned by 90 degrees more"));
}

/// The judge's figures of a run against the recording's forces; nothing where there is no judge.
io::Json Judge(const std::string& python, const std::string& run, const std::string& name, const std::string& mass,
               const std::string& json) {
  const std::string folder = std::string(RETRACE_SHARED_DIR) + "/forces/";
  const Outcome outcome = Execute(python + " " + folder + "judge_forces.py " + run + " " + folder + name +
                                  ".forces.csv --mass " + mass + " --json " + json);
  if (outcome.code != 0) return {};
  std::string text = io::ReadFile(json);  // Python writes what is no JSON where there is no number
  for (size_t at = 0; (at = text.find("NaN", at)) != std::string::npos;) text.replace(at, 3, "null");
  return io::ParseJson(text, json);
}

double OrNaN(const io::Json& number) {
  return number.is_number() ? number.get<double>() : std::nan("");
}

/// The manual's figures, with room for other recordings of the kind.
TEST_F(ForcesProgram, AgreesWithForcePlates) {
  const std::string folder = std::string(RETRACE_SHARED_DIR) + "/forces/";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is missing";
  struct Bound {
    std::string name, mass, more;
    double vertical, correlation, of_foot;
  };
  // With fewer candidates the walk is as near in a quarter of the time.
  std::vector<Bound> bounds = {{"walk_opencap4", "62.6", " --set /tracking/candidates=24", 5.5, 0.96, 7.5}};
  if (LongTrials()) {
    bounds = {{"walk_opencap4", "62.6", "", 5.5, 0.96, 7.5},
              {"run3_hamner", "72.84", " --set /tracking/passes=2", 24, 0.96, 18}};
  }
  for (const Bound& bound : bounds) {
    const Outcome outcome =
        Execute(kSimulate + " " + folder + bound.name + ".bvh --mass " + bound.mass + " --force-plates " + folder +
                bound.name + ".forces.csv --seeds 1" + bound.more + " --output " + Path(bound.name));
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    const io::Json comparison = io::ReadJson(Path(bound.name) + "/manifest.json")["force_comparison"];
    const io::Json& vertical = comparison["figures"]["run"]["20Hz"]["total"]["vertical"];
    EXPECT_LT(vertical["rmse_percent"].get<double>(), bound.vertical) << bound.name;
    EXPECT_GT(vertical["r"].get<double>(), bound.correlation) << bound.name;
    for (const char* foot : {"left", "right"}) {
      const io::Json& figures = comparison["figures"]["run"]["20Hz"][foot]["vertical"];
      EXPECT_LT(figures["rmse_percent"].get<double>(), bound.of_foot) << bound.name << " " << foot;
    }
  }
}

TEST_F(ForcesProgram, HasTheFiguresOfTheJudge) {
  const std::string folder = std::string(RETRACE_SHARED_DIR) + "/forces/";
  if (!fs::exists(folder + "judge_forces.py")) GTEST_SKIP() << folder << " is missing";
  std::string python;
  for (const char* candidate : {"/usr/bin/python3", "python3"}) {  // the system's has the packages of the system
    if (Execute(std::string(candidate) + " -c 'import numpy, scipy.signal'").code == 0) python = candidate;
  }
  if (python.empty()) GTEST_SKIP() << "NumPy or SciPy are missing";
  struct Recording {
    std::string name, mass;
  };
  for (const Recording& recording : {Recording{"walk_opencap4", "62.6"}, Recording{"run3_hamner", "72.84"}}) {
    const std::string run = Path(recording.name);
    const std::string forces = folder + recording.name + ".forces.csv";
    const Outcome outcome = Execute(kSimulate + " " + folder + recording.name +
                                    ".bvh --method tracking --set /tracking/candidates=0 --seeds 1 --mass " +
                                    recording.mass + " --force-plates " + forces + " --output " + run);
    ASSERT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.text;
    const io::Json judged = Judge(python, run, recording.name, recording.mass, Path("judge.json"));
    ASSERT_TRUE(judged.is_object());

    const io::Json ours = io::ReadJson(run + "/manifest.json")["force_comparison"];
    int compared = 0;
    for (const auto& [source, cutoffs] : ours["figures"].items()) {
      for (const auto& [cutoff, parts] : cutoffs.items()) {
        for (const auto& [part, components] : parts.items()) {
          for (const auto& [component, figures] : components.items()) {
            const io::Json& truth =
                source == "run" ? judged[cutoff][part][component] : judged[cutoff]["baseline"][source][component];
            for (const char* name : {"rmse", "rrmse", "r", "peak", "impulse"}) {
              const std::string key = std::string(name) + (std::string(name) == "r" ? "" : "_percent");
              const double expected = OrNaN(truth[name]);
              const std::string place = source + " " + cutoff + " " + part + " " + component + " " + name;
              if (std::isnan(expected)) {
                EXPECT_TRUE(std::isnan(OrNaN(figures[key]))) << place;
              } else {
                EXPECT_NEAR(figures[key].get<double>(), expected, 1e-6 * (1 + std::abs(expected))) << place;
              }
              ++compared;
            }
          }
        }
      }
    }
    EXPECT_EQ(compared, 4 * (9 + 3 * 3) * 5);
    for (const auto& [event, key] : {std::pair{"on", "contact_onset"}, std::pair{"off", "contact_offset"}}) {
      const io::Json& truth = judged[std::string("contact_") + event];
      EXPECT_EQ(ours[key]["events"], truth["n"]);
      EXPECT_EQ(ours[key]["matched"], truth["matched"]);
      if (truth["mean_ms"].is_number()) {
        EXPECT_NEAR(ours[key]["mean_ms"].get<double>(), truth["mean_ms"].get<double>(), 1e-6);
        EXPECT_NEAR(ours[key]["mean_absolute_ms"].get<double>(), truth["mean_abs_ms"].get<double>(), 1e-6);
      }
    }
    EXPECT_NEAR(ours["largest_step_force_weights"].get<double>(), judged["max_step_force_BW"].get<double>(), 1e-9);
    EXPECT_NEAR(ours["largest_measured_force_weights"].get<double>(), judged["max_measured_BW"].get<double>(), 1e-9);
    EXPECT_NEAR(ours["no_contact_share"].get<double>(), judged["no_contact_share"]["run"].get<double>(), 1e-9);
    EXPECT_NEAR(ours["compared"][0].get<double>(), judged["compared_s"][0].get<double>(), 1e-9);
    EXPECT_NEAR(ours["compared"][1].get<double>(), judged["compared_s"][1].get<double>(), 1e-9);
  }
}

}  // namespace
}  // namespace retrace::apps
