#include "retrace/runs/configuration/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "methods/sampling/small_problem.h"
#include "retrace/control/control_file.h"
#include "retrace/io/error.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/runs/inputs/clip_input.h"

namespace retrace::runs {
namespace {

using sampling::SmallProblem;
using task::Crawling;
using task::Hopping;
using task::Squatting;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string Refusal(const std::string& assignment) {
  Configuration configuration;
  const io::Json before = configuration.ToJson();
  try {
    configuration.Set(assignment);
  } catch (const UsageError& error) {
    EXPECT_EQ(configuration.ToJson(), before) << "a refused setting must change nothing";
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << assignment << ": not a UsageError: " << error.what();
    return "";
  }
  return "not refused";
}

/// Calls with the pointer and the default of every setting.
template <typename Call>
void ForEachSetting(Call call) {
  const io::Json all = Configuration().ToJson();
  size_t count = 0;
  for (const auto& [section, fields] : all.items()) {
    for (const auto& [name, value] : fields.items()) {
      SCOPED_TRACE("/" + section + "/" + name);
      call("/" + section + "/" + name, value);
      ++count;
    }
  }
  EXPECT_GT(count, 35u);
}

/// Another legal value of a setting.
io::Json Another(const std::string& pointer, const io::Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (pointer == "/schedule/segmentation") return "off";
  if (pointer == "/cost/preset") return "get_up";
  if (pointer == "/contacts/preset") return "hands";
  if (pointer == "/simulation/servo") return "explicit";
  if (pointer == "/reference/ground") return "plain";
  if (pointer == "/simulation/solver") return "stock";
  if (pointer == "/tracking/servo") return "paper";
  if (pointer == "/trajectory/start") return "zero";
  if (pointer == "/trajectory/axes") return "sampled";
  if (pointer == "/trajectory/cost") return "task";
  if (pointer == "/run/method") return "tracking";
  if (pointer == "/run/baseline") return "tracked";
  if (pointer == "/run/recover_end") return "off";
  if (pointer == "/search/method") return "2010";
  if (pointer == "/search/samples") return 777;
  if (pointer == "/search/max_back_offs") return 7;
  if (value.is_number_integer()) return value.get<int>() + 1;
  if (pointer == "/search/growth") return 1.5;
  return value == 0 ? 0.5 : 0.75 * value.get<double>();
}

TEST(Configuration, CommentsChangeNothing) {
  Configuration configuration;
  const io::Json parsed = io::ParseJson(configuration.ToCommentedJson(), "printed");
  EXPECT_EQ(parsed, configuration.ToJson());
  Configuration read;
  read.sampling.seed = 99;
  read.Read(io::JsonView(parsed, "printed"));
  EXPECT_EQ(read.ToJson(), configuration.ToJson());
  EXPECT_EQ(read.ToCommentedJson(), configuration.ToCommentedJson());
}

TEST(Configuration, EverySettingHasAComment) {
  const std::string text = Configuration().ToCommentedJson();
  ForEachSetting([&](const std::string& pointer, const io::Json&) {
    // Appended piece by piece: GCC 12 takes "..." + string for an overlapping copy.
    std::string key = "    \"";
    key.append(pointer, pointer.rfind('/') + 1).append("\": ");
    const size_t line = text.find(key);
    ASSERT_NE(line, std::string::npos);
    const size_t comment = text.rfind('\n', line - 2) + 1;
    EXPECT_EQ(text.substr(comment, 7), "    // ");
  });
}

TEST(Configuration, EverySettingCanBeSet) {
  ForEachSetting([](const std::string& pointer, const io::Json& value) {
    const io::Json another = Another(pointer, value);
    ASSERT_NE(another, value);
    if (pointer == "/search/method") return;  // sets others
    Configuration configuration;
    configuration.Set(pointer + "=" + (another.is_string() ? another.get<std::string>() : another.dump()));
    io::Json expected = Configuration().ToJson();
    expected[io::Json::json_pointer(pointer)] = another;
    const io::Json found = configuration.ToJson();
    for (const auto& [section, fields] : expected.items()) {
      for (const auto& [name, wanted] : fields.items()) {
        if (wanted.is_number_float()) {
          EXPECT_NEAR(found[section][name].get<double>(), wanted.get<double>(), 1e-12);
        } else {
          EXPECT_EQ(found[section][name], wanted);
        }
      }
    }
  });
}

TEST(Configuration, EverySettingRefusesAnotherType) {
  ForEachSetting([](const std::string& pointer, const io::Json& value) {
    if (pointer == "/contacts/preset") return;  // only the character knows these names
    for (const char* bad : {"nonsense", "[1]", "null", "{}"}) {
      EXPECT_THAT(Refusal(pointer + "=" + bad), AllOf(StartsWith(pointer + ": found "), HasSubstr("expected"))) << bad;
    }
    if (!value.is_number()) {
      EXPECT_THAT(Refusal(pointer + "=1"), HasSubstr(pointer));
    } else {
      EXPECT_THAT(Refusal(pointer + "=true"), HasSubstr(pointer));
    }
  });
}

TEST(Configuration, EveryNumberIsRefusedOutOfItsRange) {
  ForEachSetting([](const std::string& pointer, const io::Json& value) {
    if (!value.is_number() || pointer == "/simulation/gravity") return;
    EXPECT_THAT(Refusal(pointer + "=-1"), AllOf(StartsWith(pointer + ": found -1"), HasSubstr("expected")));
  });
  for (const char* assignment :
       {"/search/samples=0", "/search/samples=1.5", "/search/saved=0", "/search/discarded=1", "/search/exponent=0",
        "/search/target_knots=0", "/search/target_knots=101", "/search/seed=1.5", "/schedule/sampling_step=0.001",
        "/simulation/time_step=0", "/simulation/time_step=0.11", "/simulation/ground_points_per_shape=9",
        "/search/back_off=0", "/gates/root_orientation=181", "/gates/root_height=0", "/reference/smoothing=2",
        "/search/samples=99999999999999999999"}) {
    const std::string pointer = std::string(assignment).substr(0, std::string(assignment).find('='));
    EXPECT_THAT(Refusal(assignment), StartsWith(pointer + ": found ")) << assignment;
  }
}

TEST(Configuration, MisspelledPointersAreRefusedAndNamed) {
  ForEachSetting([](const std::string& pointer, const io::Json&) {
    EXPECT_THAT(Refusal(pointer + "x=1"), AllOf(StartsWith(pointer + "x: there is no such setting, did you mean \"/"),
                                                HasSubstr("\"" + pointer + "\""), HasSubstr(", expected one of /")));
  });
  for (const char* pointer : {"/", "/search", "/nothing/samples", "/search/samples/0", "/search/"}) {
    EXPECT_THAT(Refusal(std::string(pointer) + "=1"), HasSubstr("no such setting")) << pointer;
  }
  EXPECT_THAT(Refusal("/serach/samples=1"),
              HasSubstr("did you mean \"/search/samples\", expected one of /run, /search, /restart, /refinement, "
                        "/schedule"));
  EXPECT_THAT(Refusal("/search/radius=1"), HasSubstr("there is no such setting, expected one of /search/"));
  EXPECT_THAT(Refusal("/search/~=1"), HasSubstr("not a JSON pointer"));
  for (const char* assignment : {"", "/search/samples", "samples=3", "=3"}) {
    EXPECT_THAT(Refusal(assignment), HasSubstr("expected /section/name=value")) << assignment;
  }
}

TEST(Configuration, FilesMayBePartialButNotMisspelled) {
  const auto read = [](const char* text) {
    Configuration configuration;
    const io::Json document = io::ParseJson(text, "c.json");
    try {
      configuration.Read(io::JsonView(document, "c.json"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::to_string(configuration.sampling.samples) + " " +
           std::to_string(configuration.sampling.selection.saved);
  };
  EXPECT_EQ(read("{}"), "200 50");
  EXPECT_EQ(read(R"({"search": {"samples": 300}})"), "300 50");
  EXPECT_THAT(read(R"({"serach": {}})"),
              HasSubstr("c.json: /serach: found the key \"serach\", expected one of run, search"));
  EXPECT_THAT(read(R"({"search": {"sample": 3}})"), HasSubstr("c.json: /search/sample: found the key \"sample\""));
  EXPECT_THAT(read(R"({"search": 3})"), HasSubstr("c.json: /search: found 3, expected an object"));
  EXPECT_THAT(read("[]"), HasSubstr("c.json: /: found an array"));
}

TEST(Configuration, Row05SettingsWithoutMeaningAreRefused) {
  for (const char* assignment :
       {"/reference/velocity_interval=1e-100", "/cost/balance_velocity=1e308", "/refinement/pose=1e308",
        "/simulation/time_step=1e-300", "/simulation/time_step=1e-9", "/search/budget=1e300", "/cost/drift=1e7",
        "/search/samples=1e999", "/simulation/gravity=1e9", "/search/window_scale=1e9"}) {
    const std::string pointer = std::string(assignment).substr(0, std::string(assignment).find('='));
    EXPECT_THAT(Refusal(assignment), AllOf(StartsWith(pointer + ": found "), HasSubstr(", expected "))) << assignment;
  }
  EXPECT_THAT(Refusal("/search/samples=" + std::string(100000, '[')), StartsWith("/search/samples: found "));
}

TEST(Configuration, TakesTheWholeRangeOfSeeds) {
  Configuration configuration;
  configuration.Set("/search/seed=18446744073709551615");
  EXPECT_EQ(configuration.sampling.seed, std::numeric_limits<uint64_t>::max());
}

TEST(Configuration, SettingsCanComeInAnyOrder) {
  Configuration configuration;
  configuration.Set("/search/samples=60");
  configuration.Set("/search/saved=12");
  EXPECT_EQ(configuration.sampling.samples, 60);
  EXPECT_EQ(configuration.sampling.selection.saved, 12);
}

TEST(Configuration, PaperModeIsWhatThePaperDid) {
  Configuration configuration;
  configuration.UsePaperMode();
  EXPECT_EQ(configuration.task.world.time_step, 0.0005);
  EXPECT_EQ(configuration.task.world.servo, simulation::Servo::kExplicit);
  EXPECT_FALSE(configuration.task.world.speculative_contacts);
  EXPECT_EQ(configuration.task.world.ground_points_per_shape, 8);
  EXPECT_EQ(configuration.task.world.self_points_per_pair, 8);
  EXPECT_EQ(configuration.task.world.friction, 0.8);
  EXPECT_EQ(configuration.sampling.samples, 1400);
  EXPECT_EQ(configuration.sampling.target_knots, 1);
  EXPECT_EQ(configuration.task.schedule.sampling_step, 0.1);
  EXPECT_EQ(configuration.Validate(), std::nullopt);
}

/// What the paper does where the default differs, step and servo aside.
void ExpectMethodOf2010(const Configuration& configuration) {
  EXPECT_EQ(configuration.sampling.method, sampling::Method::k2010);
  EXPECT_EQ(configuration.sampling.samples, 1400);
  EXPECT_EQ(configuration.sampling.selection.saved, 200);
  EXPECT_EQ(configuration.sampling.growth, 1);
  EXPECT_EQ(configuration.sampling.max_back_offs, 0);
  EXPECT_EQ(configuration.sampling.budget, 0);
  EXPECT_FALSE(configuration.sampling.keep_inside_gates);
  EXPECT_EQ(configuration.sampling.target_knots, 1);
  EXPECT_EQ(configuration.sampling.feedforward_gain, 1);
  EXPECT_EQ(configuration.task.contact_preset, "paper");
  EXPECT_EQ(configuration.task.cost.balance_velocity, 0.1);
  EXPECT_EQ(configuration.task.cost.effector_position, 0);
  EXPECT_EQ(configuration.task.drift_weight, 0);
  EXPECT_FALSE(configuration.task.reference.raise_hands);
  EXPECT_FALSE(configuration.task.reference.bridge_spikes);
  EXPECT_EQ(configuration.sampling.refinement.passes, 0);
}

TEST(Method, Of2010IsThePapersAndMayBeOverridden) {
  Configuration configuration;
  configuration.Set("/cost/drift=3");
  configuration.Set("/search/samples=77");
  configuration.Set("/search/method=2010");  // a word, though it reads as a number
  ExpectMethodOf2010(configuration);
  configuration.Set("/search/samples=77");
  EXPECT_EQ(configuration.sampling.samples, 77);
  EXPECT_EQ(configuration.task.world.time_step, Configuration().task.world.time_step);
  configuration.Set("/search/max_back_offs=5");
  configuration.Set("/cost/balance_velocity=0.2");
  EXPECT_EQ(configuration.sampling.method, sampling::Method::k2010);
  EXPECT_EQ(configuration.sampling.max_back_offs, 5);
  EXPECT_EQ(configuration.task.cost.balance_velocity, 0.2);
  EXPECT_EQ(configuration.sampling.target_knots, 1) << "a later setting undoes the method";
  configuration.Set("/search/method=back-off");
  EXPECT_EQ(configuration.ToJson(), Configuration().ToJson());
  Configuration paper;
  paper.UsePaperMode();
  ExpectMethodOf2010(paper);
}

TEST(Method, OfAFileSetsWhatTheFileDoesNotName) {
  Configuration configuration;
  const io::Json document = io::ParseJson(R"({"search": {"max_back_offs": 3, "method": "2010"}})", "c.json");
  configuration.Read(io::JsonView(document, "c.json"));
  EXPECT_EQ(configuration.sampling.max_back_offs, 3);
  EXPECT_EQ(configuration.sampling.target_knots, 1);
  EXPECT_EQ(configuration.task.contact_preset, "paper");
  // What is printed is read back as it was.
  Configuration read;
  read.Read(io::JsonView(configuration.ToJson(), "printed"));
  EXPECT_EQ(read.ToJson(), configuration.ToJson());
  EXPECT_THAT(Refusal("/search/method=2015"),
              AllOf(HasSubstr("/search/method: found \"2015\""), HasSubstr("back-off")));
}

TEST(Quality, SetsWhatTheSearchSpendsAndMayBeOverridden) {
  Configuration configuration;
  configuration.UseQuality(Quality::kDraft);
  EXPECT_EQ(configuration.sampling.samples, 200);
  EXPECT_EQ(configuration.sampling.refinement.passes, 1);
  EXPECT_EQ(configuration.Validate(), std::nullopt);
  configuration.Set("/search/samples=300");
  EXPECT_EQ(configuration.sampling.samples, 300);
  configuration.UseQuality(Quality::kBest);
  EXPECT_EQ(configuration.sampling.samples, 1400);
  EXPECT_EQ(configuration.sampling.selection.saved, 200);
  EXPECT_EQ(configuration.sampling.growth, 1);
  EXPECT_EQ(configuration.sampling.refinement.passes, Configuration().sampling.refinement.passes);
  EXPECT_EQ(configuration.Validate(), std::nullopt);
  configuration.UseQuality(Quality::kStandard);
  EXPECT_EQ(configuration.ToJson(), Configuration().ToJson());
}

TEST(Samples, BringTheirBudget) {
  Configuration configuration;
  const double budget = configuration.sampling.budget;
  configuration.UseSamples(configuration.sampling.restart.samples);
  EXPECT_EQ(configuration.sampling.budget, budget) << "it has room for a restart with as many";
  configuration.UseSamples(2 * configuration.sampling.restart.samples);
  EXPECT_EQ(configuration.sampling.budget, 2 * budget);
  configuration.UseSamples(10);
  EXPECT_EQ(configuration.sampling.samples, 10);
  EXPECT_EQ(configuration.sampling.budget, 2 * budget) << "few samples leave room to go back";
}

// ---- Names of earlier versions

TEST(OldConfiguration, NamesOfVersion01AreReadAndSet) {
  Configuration now, before;
  now.Set("/run/method=trajectory");
  now.Set("/run/recover_end=off");
  now.Set("/trajectory/budget=400");
  before.Set("/run/method=windows");
  before.Set("/run/mend_end=off");
  before.Set("/windows/budget=400");
  EXPECT_EQ(before.ToJson(), now.ToJson());
  EXPECT_EQ(before.run.method, Method::kTrajectory);
  EXPECT_EQ(before.run.recover_end, EndRecovery::kOff);
  EXPECT_EQ(before.trajectory.budget, 400);
  io::Json file = now.ToJson();
  file["windows"] = file["trajectory"];
  EXPECT_THROW(before.Read(io::JsonView(file, "both.json")), InputError) << "both names at once";
  file.erase("trajectory");
  Configuration read;
  read.Read(io::JsonView(file, "old.json"));
  EXPECT_EQ(read.trajectory.budget, 400);
}

TEST(OldConfiguration, IsReadWithItsOldNames) {
  const io::Json old =
      io::ReadJson(std::string(RETRACE_SOURCE_DIR) + "/tests/runs/configuration/old_configuration.json");
  Configuration configuration;
  configuration.task.world.solver = simulation::Solver::kStock;
  configuration.Read(io::JsonView(old, "old_configuration.json"));
  EXPECT_FALSE(configuration.sampling.refit);
  EXPECT_EQ(configuration.sampling.refit_samples, 0.25);
  EXPECT_EQ(configuration.sampling.refit_rate, 0.625);
  EXPECT_EQ(configuration.sampling.refinement.passes, 2);
  EXPECT_EQ(configuration.sampling.refinement.samples, 0.5);
  EXPECT_EQ(configuration.task.world.solver, simulation::Solver::kReduced);
  // All others have the same name and the same value.
  io::Json expected = old;
  for (const auto& [section, old_name, name] :
       std::vector<std::array<std::string, 3>>{{"search", "learn", "refit"},
                                               {"search", "learned_samples", "refit_samples"},
                                               {"search", "learning_rate", "refit_rate"},
                                               {"search", "max_rewinds", "max_back_offs"},
                                               {"search", "rewind", "back_off"}}) {
    ASSERT_TRUE(expected[section].contains(old_name));
    expected[section][name] = expected[section][old_name];
    expected[section].erase(old_name);
  }
  expected["simulation"]["solver"] = "reduced";
  expected["search"].update({{"back_off_limit", 10},
                             {"best_effort", false},
                             {"growth", 1.0},
                             {"joint_weight_spread", 0.0},
                             {"most_samples", 1400},
                             {"ramp", 0.0}});  // are new
  expected["restart"] = {
      {"samples", 0}, {"saved", 200}, {"after", 1400}, {"patience", 2600}};  // likewise: the method of 2010 has none
  // Guided passes replaced smoothing passes: their number and size still have a meaning.
  expected["refinement"] = Configuration().ToJson()["refinement"];
  for (const char* const kept : {"passes", "samples"}) {
    if (old["smoothing"].contains(kept)) expected["refinement"][kept] = old["smoothing"][kept];
  }
  expected.erase("smoothing");
  expected["reference"].update({{"ground", "recording"}, {"bridge_spikes", false}});
  expected["gates"].update({{"world_position", 0.5}, {"judge_world", false}, {"saturation", 0.5}});
  for (const char* section : {"tracking", "trajectory"}) expected[section] = Configuration().ToJson()[section];
  expected["run"] = {
      {"method", "sampling"}, {"baseline", "reference"}, {"tail", 0}, {"recover_end", "search"}, {"repair", false}};
  EXPECT_EQ(io::Json::diff(expected, configuration.ToJson()), io::Json::array());
}

TEST(OldConfiguration, NamesMayBeSet) {
  Configuration configuration;
  configuration.Set("/search/learn=false");
  configuration.Set("/search/method=rewinding");
  configuration.Set("/search/max_rewinds=17");
  configuration.Set("/search/rewind=1.5");
  configuration.Set("/search/rewind_limit=12");
  configuration.Set("/search/learned_samples=0.25");
  configuration.Set("/search/learning_rate=0.625");
  configuration.Set("/smoothing/passes=5");
  configuration.task.world.solver = simulation::Solver::kStock;
  configuration.Set("/simulation/solver=eliminated");
  EXPECT_EQ(configuration.sampling.method, sampling::Method::kBackOff);
  EXPECT_EQ(configuration.sampling.max_back_offs, 17);
  EXPECT_EQ(configuration.sampling.back_off, 1.5);
  EXPECT_EQ(configuration.sampling.back_off_limit, 12);
  EXPECT_FALSE(configuration.sampling.refit);
  EXPECT_EQ(configuration.sampling.refit_samples, 0.25);
  EXPECT_EQ(configuration.sampling.refit_rate, 0.625);
  EXPECT_EQ(configuration.sampling.refinement.passes, 5);
  EXPECT_EQ(configuration.task.world.solver, simulation::Solver::kReduced);
  EXPECT_THAT(Refusal("/search/learning_rate=2"), StartsWith("/search/learning_rate: found 2, expected"));
  const io::Json both = {{"search", {{"refit", true}, {"learn", true}}}};
  EXPECT_THROW(configuration.Read(io::JsonView(both, "both.json")), InputError);
}

// ---- The description of the options

/// The addresses of the fields that are described.
struct Addresses final : io::UniformVisitor<Addresses> {
  template <typename T, typename Kind>
  void Visit(const io::Setting&, const T& value, const Kind&) {
    if constexpr (std::is_same_v<T, io::EnumField>) {
      described.insert(value.address);
    } else if constexpr (std::is_same_v<T, io::PartField>) {
      described.insert(value.address());
    } else {
      described.insert(&value);
    }
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }
  template <typename... T>
  bool Have(const T&... fields) const {
    return (described.contains(&fields) && ...);
  }
  std::set<const void*> described;
};

/// A structured binding must name every field, so that a new one does not compile here before it is described.
TEST(Description, NamesEveryField) {
  Configuration configuration;
  Addresses all;
  Describe(configuration, all);
  {
    const auto& [run, task, sampling, tracking, trajectory] = configuration;
    const auto& [run_method, baseline, tail, recover_end, repair] = run;
    EXPECT_TRUE(all.Have(run_method, baseline, tail, recover_end, repair));
    const auto& [reference, schedule, world, gates, cost_preset, cost_custom, cost, drift_weight, contact_preset,
                 ground] = task;
    EXPECT_TRUE(all.Have(ground, cost_preset, drift_weight, contact_preset));
  }
  {
    const auto& [method, samples, selection, growth, most_samples, seed, window_scale, joint_weight_spread, feedforward,
                 feedforward_gain, feedforward_limit, target_knots, ramp, keep_inside_gates, max_back_offs, budget,
                 restart, best_effort, gate_margin, back_off, back_off_limit, refit, refit_samples, elites, refit_rate,
                 smallest_deviation, correction, goal, correlation, refinement] = configuration.sampling;
    EXPECT_TRUE(all.Have(method, samples, growth, most_samples, seed, window_scale, joint_weight_spread, feedforward,
                         feedforward_gain, feedforward_limit, target_knots, ramp, keep_inside_gates, max_back_offs,
                         budget, best_effort, gate_margin, back_off, back_off_limit, refit, refit_samples, elites,
                         refit_rate, smallest_deviation, correction, goal, correlation));
  }
  {
    const auto& [samples, saved, after, patience] = configuration.sampling.restart;
    EXPECT_TRUE(all.Have(samples, saved, after, patience));
  }
  {
    const auto& [saved, discarded, exponent, distinct] = configuration.sampling.selection;
    EXPECT_TRUE(all.Have(saved, discarded, exponent, distinct));
  }
  {
    const auto& [passes, samples, least_gain, passes_per_model, root_position, root_orientation, pose, velocity, change,
                 turn, smoothness, largest_drift, largest_heading, noise, noise_decay, largest_turn] =
        configuration.sampling.refinement;
    EXPECT_TRUE(all.Have(passes, samples, least_gain, passes_per_model, root_position, root_orientation, pose, velocity,
                         change, turn, smoothness, largest_drift, largest_heading, noise, noise_decay, largest_turn));
  }
  {
    const auto& [solve_rate, feedback, servo, stiffness, friction, torque_limit, soft_contacts, seat_feet, guidance,
                 guidance_feedback, foot_weight, foot_feedback, foot_step, standing_share, leg_weight, candidates,
                 passes, root_rotation_weight, root_translation_weight, contact_weight, contact_damping, regularization,
                 lifted, released_force, released_speed, stance_feedback, take_off_weight, take_off_feedback,
                 placement_distance, placement_velocity, placement_drift, placement_limit, placement_gap,
                 placement_rise, placement_decay, clean_feet, ballistic_flight, balance, smoothing, perturbation,
                 seed] = configuration.tracking;
    EXPECT_TRUE(all.Have(solve_rate, feedback, servo, stiffness, friction, torque_limit, soft_contacts, seat_feet,
                         guidance, guidance_feedback, foot_weight, foot_feedback, foot_step, standing_share, leg_weight,
                         candidates, passes, root_rotation_weight, root_translation_weight, contact_weight,
                         contact_damping, regularization, lifted, released_force, released_speed, stance_feedback,
                         take_off_weight, take_off_feedback, placement_distance, placement_velocity, placement_drift,
                         placement_limit, placement_gap, placement_rise, placement_decay, clean_feet, ballistic_flight,
                         balance, smoothing, perturbation, seed));
  }
  {
    const auto& [window, together, knots, population, deviation, full_covariance, axes, start, cost, gate_weight,
                 gate_share, torque_limit, torque_weight, smoothness, drift, budget, returns, seed] =
        configuration.trajectory;
    EXPECT_TRUE(all.Have(window, together, knots, population, deviation, full_covariance, axes, start, cost,
                         gate_weight, gate_share, torque_limit, torque_weight, smoothness, drift, budget, returns,
                         seed));
  }
  {
    const auto& [sampling_step, segmentation] = configuration.task.schedule;
    EXPECT_TRUE(all.Have(sampling_step, segmentation));
  }
  {
    const auto& [root_height, root_orientation, joint_position, world_position, judge_world, saturation] =
        configuration.task.gates;
    EXPECT_TRUE(all.Have(root_height, root_orientation, joint_position, world_position, judge_world, saturation));
  }
  {
    const auto& [pose, root, end_effector, balance, drift, smoothness] = configuration.task.cost_custom;
    EXPECT_TRUE(all.Have(pose, root, end_effector, balance));
    EXPECT_FALSE(all.Have(drift) || all.Have(smoothness)) << "these are no settings";
  }
  {
    const auto& [balance_velocity, effector_position] = configuration.task.cost;
    EXPECT_TRUE(all.Have(balance_velocity, effector_position));
  }
  {
    Addresses clip;
    DescribeClip(configuration.task.reference, clip);
    DescribeRange(configuration.task.reference, clip);
    const auto& [start, end, time_scale, retimings, loop, smoothing, velocity_interval, bridge_spikes, level_floor,
                 lift_root, raise_hands, unit, up_axis, frame_rate, skipped_frames, keep_calibration_frames, mirror,
                 floor_height, treadmill, facing, joint_map, joint_map_file] = configuration.task.reference;
    EXPECT_TRUE(all.Have(smoothing, velocity_interval, bridge_spikes, level_floor, lift_root, raise_hands));
    EXPECT_TRUE(clip.Have(start, end, time_scale, loop, unit, up_axis, frame_rate, skipped_frames,
                          keep_calibration_frames, mirror, floor_height, treadmill, facing));
    EXPECT_FALSE(clip.Have(joint_map) || clip.Have(joint_map_file)) << "MapClip reads the map";
    EXPECT_FALSE(clip.Have(retimings)) << "ParseRetiming reads them";
  }
  {
    Addresses control_file;
    DescribeAll(configuration.task.world, control_file);
    const auto& [time_step, servo, solver, gravity, friction, contact_stiffness, contact_damping,
                 contact_correcting_velocity, joint_correction, self_collision, speculative_contacts,
                 ground_points_per_shape, self_points_per_pair, contact_scale, environment] = configuration.task.world;
    EXPECT_TRUE(all.Have(time_step, servo, solver, gravity, friction, contact_stiffness, contact_damping,
                         contact_correcting_velocity, joint_correction, self_collision, speculative_contacts,
                         ground_points_per_shape, self_points_per_pair));
    EXPECT_TRUE(control_file.Have(time_step, self_points_per_pair, contact_scale, environment));
  }
}

/// Sets the number `field` of all fields to its illegal value number `bad`.
class Spoiler final : public io::UniformVisitor<Spoiler> {
 public:
  Spoiler(int field, int bad) : field_(field), bad_(bad) {}

  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, T& value, const Kind& kind) {
    if (field_-- != 0) return;
    pointer = std::string(section_).append("/").append(setting.key);
    if constexpr (std::is_same_v<T, io::EnumField>) {
      spoiled = bad_ < 2;
      if (spoiled) value.value = bad_ == 0 ? 99 : -1;
    } else if constexpr (requires { Illegal(kind); }) {
      const std::vector<T> values = Illegal(kind);
      if (static_cast<size_t>(bad_) >= values.size()) return;
      value = values[static_cast<size_t>(bad_)];
      spoiled = true;
    } else {
      FAIL() << "a configuration has no fields of this kind";
    }
  }
  void Section(const io::Setting& setting, const Fields& fields) override {
    section_ = std::string("/").append(setting.key);
    fields(*this);
  }

  std::string pointer;   // of the field; empty: there is no such field
  bool spoiled = false;  // the field has so many illegal values

 private:
  static std::vector<double> Outside(const io::Range& range) {
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> values = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity};
    if (range.open_min) values.push_back(range.min);
    values.push_back(std::nextafter(range.min, -infinity));
    values.push_back(std::nextafter(range.max, infinity));
    return values;
  }
  static std::vector<double> Illegal(const io::Real& kind) { return Outside(kind.range); }
  static std::vector<double> Illegal(const io::Angle& kind) {
    std::vector<double> values = Outside(kind.degrees);
    for (double& value : values) {
      const double outwards = value > kind.degrees.max ? 1e-9 : value < kind.degrees.min ? -1e-9 : 0;
      value = Radians(value + outwards);
    }
    return values;
  }
  static std::vector<int> Illegal(const io::Integer& kind) { return {kind.min - 1, kind.max + 1, -2147483647 - 1}; }
  static std::vector<uint64_t> Illegal(const io::Natural&) { return {}; }
  static std::vector<bool> Illegal(const io::Flag&) { return {}; }
  static std::vector<std::string> Illegal(const io::Text& kind) {
    return kind.words.empty() ? std::vector<std::string>{"", "a\nb"} : std::vector<std::string>{"nonsense", ""};
  }

  int field_;
  int bad_;
  std::string section_;
};

TEST(Description, RefusesEveryIllegalValueSetFromCpp) {
  EXPECT_EQ(Configuration().Validate(), std::nullopt);
  int refused = 0;
  for (int field = 0;; ++field) {
    bool exists = true;
    for (int bad = 0;; ++bad) {
      Configuration configuration;
      Spoiler spoiler(field, bad);
      Describe(configuration, spoiler);
      exists = !spoiler.pointer.empty();
      if (!spoiler.spoiled) break;
      ++refused;
      EXPECT_THAT(configuration.Validate().value_or("not refused"),
                  AllOf(StartsWith(spoiler.pointer + ": found "), HasSubstr(", expected ")));
    }
    if (!exists) break;
  }
  EXPECT_GT(refused, 240);
}

TEST(Description, RefusesWhatIsWrongBetweenSettings) {
  const auto problem = [](const auto& change) {
    Configuration configuration;
    change(configuration);
    return configuration.Validate().value_or("no problem");
  };
  EXPECT_EQ(problem([](Configuration& c) { c.sampling.samples = 49; }),
            "/search/saved: found 50, expected at most /search/samples, which is 49");
  EXPECT_THAT(problem([](Configuration& c) { c.task.world.time_step = 0.06; }), StartsWith("/simulation/time_step"));
  EXPECT_EQ(problem([](Configuration& c) {
              c.task.world.time_step = 0.04;
              c.task.schedule.sampling_step = 0.03;
            }),
            "/schedule/sampling_step: found 0.03, expected at least /simulation/time_step, which is 0.04");
  EXPECT_THAT(problem([](Configuration& c) { c.task.reference.time_scale = 0; }), StartsWith("/clip/time_scale"));
  EXPECT_THAT(problem([](Configuration& c) { c.task.reference.facing = std::nan(""); }), StartsWith("/clip/facing"));
  EXPECT_THAT(problem([](Configuration& c) { c.task.world.contact_scale = {0}; }),
              StartsWith("/simulation/contact_scale/0"));
  EXPECT_THAT(problem([](Configuration& c) { c.task.cost_custom.smoothness = std::nan(""); }), HasSubstr("found nan"));
}

TEST(Description, APreparedTaskHasLegalOptions) {
  Configuration configuration;
  configuration.task.schedule.sampling_step = 0;
  EXPECT_THROW(SmallProblem(configuration, Squatting, 0.5), UsageError);
}

/// Gives every field a random legal value.
struct Shuffler final : io::UniformVisitor<Shuffler> {
  template <typename T, typename Kind>
  void Visit(const io::Setting&, T& value, const Kind& kind) {
    if constexpr (std::is_same_v<T, io::EnumField>) {
      value.value = (*rc::gen::elementOf(kind.words)).value;
    } else if constexpr (requires { Random(kind); }) {
      value = Random(kind);
    } else {
      RC_FAIL("a configuration has no fields of this kind");
    }
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }

 private:
  static double Within(const io::Range& range) {
    const double share = static_cast<double>(*rc::gen::inRange<int64_t>(0, 1LL << 53)) / std::pow(2.0, 53);
    const double value = range.min + share * (range.max - range.min);
    return range.open_min && value == range.min ? range.max : value;
  }
  static double Random(const io::Real& kind) { return Within(kind.range); }
  static double Random(const io::Angle& kind) { return Radians(Within(kind.degrees)); }
  static int Random(const io::Integer& kind) { return *rc::gen::inRange(kind.min, kind.max + 1); }
  static uint64_t Random(const io::Natural&) { return *rc::gen::arbitrary<uint64_t>(); }
  static bool Random(const io::Flag&) { return *rc::gen::arbitrary<bool>(); }
  static std::string Random(const io::Text& kind) {
    // A name is text in UTF-8 without control characters.
    const auto letters = rc::gen::resize(90, rc::gen::container<std::string>(rc::gen::inRange('!', '{')));
    return kind.words.empty() ? "x" + *letters : *rc::gen::elementOf(kind.words);
  }
};

/// The values of all fields, with their keys.
struct Values final : io::UniformVisitor<Values> {
  explicit Values(Configuration configuration) { Describe(configuration, *this); }

  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, const T& value, const Kind& kind) {
    // What is written of an angle is rounded.
    if constexpr (std::is_same_v<Kind, io::Angle>) {
      of_fields.emplace_back(setting.key, value);
      angles.insert(of_fields.size() - 1);
    } else {
      of_fields.emplace_back(setting.key, kind.Write(value));
    }
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }

  /// The first field with another value than in `other`; empty: all have the same.
  std::string FirstDifference(const Values& other) const {
    for (size_t i = 0; i < of_fields.size(); ++i) {
      const io::Json &value = of_fields[i].second, &of_other = other.of_fields.at(i).second;
      const bool same =
          angles.contains(i)  // degrees and back
              ? std::abs(value.get<double>() - of_other.get<double>()) <= 4e-16 * std::abs(value.get<double>())
              : value == of_other;
      if (!same) return of_fields[i].first;
    }
    return "";
  }

  std::vector<std::pair<std::string, io::Json>> of_fields;
  std::set<size_t> angles;
};

RC_GTEST_PROP(ConfigurationProperty, LegalValuesSurviveWritingAndReading, ()) {
  Configuration configuration;
  Shuffler shuffler;
  Describe(configuration, shuffler);
  RC_ASSERT(io::FindProblem(configuration) == std::nullopt);
  for (const std::string& text : {configuration.ToJson().dump(), configuration.ToCommentedJson()}) {
    const io::Json document = io::ParseJson(text, "written");
    Configuration read;
    read.Read(io::JsonView(document, "written"));
    RC_ASSERT(Values(configuration).FirstDifference(Values(read)) == "");
  }
}

/// Gives each field its least, its greatest or its default value.
struct ExtremeValues final : io::UniformVisitor<ExtremeValues> {
  template <typename T, typename Kind>
  void Visit(const io::Setting&, T& value, const Kind& kind) {
    const int which = *rc::gen::inRange(0, 3);
    if (which == 2) return;
    if constexpr (std::is_same_v<T, io::EnumField>) {
      value.value = which == 1 ? kind.words.back().value : kind.words.front().value;
    } else if constexpr (requires { Extreme(kind, which == 1, value); }) {
      value = Extreme(kind, which == 1, value);
    } else {
      RC_FAIL("a configuration has no fields of this kind");
    }
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }

 private:
  static double End(const io::Range& range, bool greatest) {
    return greatest ? range.max : range.open_min ? std::nextafter(range.min, range.max) : range.min;
  }
  static double Extreme(const io::Real& kind, bool greatest, double) { return End(kind.range, greatest); }
  static double Extreme(const io::Angle& kind, bool greatest, double) { return Radians(End(kind.degrees, greatest)); }
  static int Extreme(const io::Integer& kind, bool greatest, int) { return greatest ? kind.max : kind.min; }
  static uint64_t Extreme(const io::Natural&, bool greatest, uint64_t) {
    return greatest ? std::numeric_limits<uint64_t>::max() : 0;
  }
  static bool Extreme(const io::Flag&, bool greatest, bool) { return greatest; }
  static std::string Extreme(const io::Text& kind, bool greatest, const std::string& value) {
    return kind.words.empty() ? value : greatest ? kind.words.back() : kind.words.front();
  }
};

// Absurd settings once crashed the search, or kept it from an end.
RC_GTEST_PROP(ConfigurationProperty, Row05ExtremeLegalSettingsEndInAResultOrAMessage, ()) {
  Configuration configuration;
  ExtremeValues extremes;
  Describe(configuration, extremes);
  RC_ASSERT(io::FindProblem(configuration) == std::nullopt);
  // What makes a run long, and no more than that, is kept small.
  sampling::Options& search = configuration.sampling;
  search.samples = std::min(search.samples, 8);
  search.selection.saved = std::min(search.selection.saved, 4);
  search.max_back_offs = std::min(search.max_back_offs, 2);
  search.restart.samples = std::min(search.restart.samples, 16);
  search.restart.saved = std::min(search.restart.saved, 8);
  search.refinement.passes = std::min(search.refinement.passes, 1);
  task::Options& task = configuration.task;
  task.world.time_step = std::clamp(task.world.time_step, 0.001, 0.05);
  task.schedule.sampling_step = std::max(task.schedule.sampling_step, 0.05);
  try {
    const SmallProblem small(configuration, Squatting, 0.15);
    const auto farm = parallel::MakeThreadFarm(1, sampling::MakeWorkerFactory(small.problem()));
    const sampling::Summary result = sampling::Run(small.problem(), *farm);
    RC_ASSERT(std::isfinite(result.path_cost));
    // What would be written can be read again.
    const std::string text = control::FormatControl(task::Human(), result.control);
    RC_ASSERT(control::FormatControl(task::Human(), control::ParseControl(text, "c.json").control) == text);
  } catch (const UsageError& error) {
    RC_ASSERT(std::string(error.what()).find(", expected ") != std::string::npos);
  }
}

/// Looks at the ranges of all fields.
struct RangeCheck final : io::UniformVisitor<RangeCheck> {
  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, const T&, const Kind& kind) {
    SCOPED_TRACE(setting.key);
    Check(kind);
    ++fields;
  }
  void Section(const io::Setting&, const Fields& visit) override { visit(*this); }
  int fields = 0;
  int numbers = 0;

 private:
  /// That a range has two ends is a property of its type (Range.HasTwoEnds); here they must be of use.
  void Check(const io::Range& range) {
    ++numbers;
    EXPECT_GE(range.min, -1e6);
    EXPECT_LE(range.max, 1e12);
  }
  void Check(const io::Real& kind) { Check(kind.range); }
  void Check(const io::Angle& kind) { Check(kind.degrees); }
  void Check(const io::Integer& kind) { Check(io::Range(kind.min, kind.max)); }
  void Check(const io::Reals& kind) {
    Check(kind.range);
    EXPECT_LE(kind.most, 100000u);
  }
  template <typename Number, typename Value>
  void Check(const io::Optional<Number, Value>& kind) {
    Check(kind.number);
  }
  void Check(const io::Natural&) {}
  void Check(const io::Flag&) {}
  void Check(const io::Text&) {}
  void Check(const io::AnyWords&) {}
  void Check(const io::AnyPart&) {}
};

TEST(Description, Row05EveryNumberHasARange) {
  RangeCheck check;
  Configuration configuration;
  Describe(configuration, check);
  DescribeClip(configuration.task.reference, check);
  DescribeRange(configuration.task.reference, check);
  DescribeAll(configuration.task.world, check);
  ClipOptions clip;
  Describe(clip, check);
  EXPECT_GT(check.fields, 80);
  EXPECT_GT(check.numbers, 60);
}

// Row 7: a step of 1e-9 s ran on for minutes after it was asked to stop.
TEST(Preparation, Row07ATaskHasABoundedNumberOfSteps) {
  const auto refusal = [](const char* setting, double duration) {
    Configuration configuration;
    try {
      configuration.Set(setting);
      const SmallProblem small(configuration, Squatting, duration);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  for (const char* step : {"1e-300", "1e-9", "9.9e-6"}) {
    EXPECT_THAT(refusal((std::string("/simulation/time_step=") + step).c_str(), 0.5),
                AllOf(StartsWith("/simulation/time_step: found "), HasSubstr("expected a number from 1e-05 to 0.1")));
  }
  EXPECT_EQ(refusal("/simulation/time_step=1e-5", 0.5), "not refused");
  EXPECT_THAT(refusal("/simulation/time_step=1e-5", 10.5),
              AllOf(StartsWith("/simulation/time_step: found 1e-05 for a motion of 10.50 s, expected at least"),
                    HasSubstr("at most 1000000 steps")));
}

TEST(Preparation, Row07AnIterationHasABoundedNumberOfSteps) {
  Configuration configuration;
  configuration.sampling.samples = 1000000;
  const SmallProblem small(configuration, Squatting, 0.5);
  const auto farm = parallel::MakeThreadFarm(1, sampling::MakeWorkerFactory(small.problem()));
  try {
    sampling::Run(small.problem(), *farm);
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("/search/samples: found 1000000 samples of "),
                                    HasSubstr("an iteration takes at most 10000000 steps")));
  }
}

// ---- From the options to a task

TEST(Preparation, FollowsTheKindOfMotion) {
  const SmallProblem squat(Configuration(), Squatting, 0.5);
  EXPECT_EQ(squat.preparation().cost_preset, "locomotion");
  EXPECT_EQ(squat.problem().task.weights.end_effector, 30);
  const SmallProblem hop(Configuration(), Hopping, 0.7);
  EXPECT_EQ(hop.preparation().cost_preset, "flight");
  // The contact scales are the same for all motions, but the paper's follow the kind.
  EXPECT_EQ(hop.preparation().contact_preset, squat.preparation().contact_preset);
  EXPECT_EQ(hop.problem().task.world.contact_scale, squat.problem().task.world.contact_scale);
  Configuration paper;
  paper.task.contact_preset = "paper";
  EXPECT_EQ(SmallProblem(paper, Squatting, 0.5).preparation().contact_preset, "none");
  const SmallProblem paper_hop(paper, Hopping, 0.7);
  EXPECT_EQ(paper_hop.preparation().contact_preset, "flight");
  EXPECT_EQ(paper_hop.problem().task.world.contact_scale, task::Human().contact_presets.at("flight"));
  const SmallProblem crawl(Configuration(), Crawling, 0.5);
  EXPECT_TRUE(crawl.problem().task.schedule.boundaries.empty());
}

TEST(Preparation, TakesWhatIsConfiguredInstead) {
  Configuration configuration;
  configuration.Set("/cost/preset=custom");
  configuration.Set("/cost/pose=1");
  configuration.Set("/cost/balance=7");
  configuration.Set("/cost/drift=2");
  configuration.Set("/cost/effector_position=1.5");
  configuration.Set("/contacts/preset=hands");
  configuration.Set("/gates/root_orientation=30");
  const SmallProblem small(configuration, Hopping, 0.7);
  EXPECT_EQ(small.problem().task.weights.pose, 1);
  EXPECT_EQ(small.problem().task.weights.balance, 7);
  EXPECT_EQ(small.problem().task.weights.drift, 2);
  EXPECT_EQ(small.problem().task.cost.effector_position, 1.5);
  EXPECT_EQ(small.problem().task.world.contact_scale, task::Human().contact_presets.at("hands"));
  EXPECT_NEAR(small.problem().task.gates.root_orientation, Radians(30), 1e-12);
  configuration.Set("/contacts/preset=feet");
  try {
    const SmallProblem refused(configuration, Hopping, 0.7);
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/contacts/preset: found \"feet\""), HasSubstr("flight, hands")));
  }
}

}  // namespace
}  // namespace retrace::runs
