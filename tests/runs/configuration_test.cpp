#include "retrace/runs/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "methods/sampling/small_problem.h"
#include "retrace/io/error.h"

namespace retrace::runs {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
  if (pointer == "/simulation/solver") return "stock";
  if (pointer == "/search/method") return "2010";
  if (pointer == "/search/samples") return 777;
  if (pointer == "/search/max_rewinds") return 7;
  if (value.is_number_integer()) return value.get<int>() + 1;
  return value == 0 ? 0.5 : 0.75 * value.get<double>();
}

TEST(Configuration, CommentsChangeNothing) {
  Configuration configuration;
  const io::Json parsed = io::ParseJson(configuration.ToCommentedJson(), "printed");
  EXPECT_EQ(parsed, configuration.ToJson());
  Configuration read;
  read.search.seed = 99;
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
      EXPECT_THAT(Refusal(pointer + "=" + bad), AllOf(HasSubstr("--set: " + pointer), HasSubstr("expected"))) << bad;
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
    EXPECT_THAT(Refusal(pointer + "=-1"), AllOf(HasSubstr("--set: " + pointer + ": found -1"), HasSubstr("expected")));
  });
  for (const char* assignment :
       {"/search/samples=0", "/search/samples=1.5", "/search/saved=0", "/search/discarded=1", "/search/exponent=0",
        "/search/target_knots=0", "/search/target_knots=101", "/search/seed=1.5", "/schedule/sampling_step=0.001",
        "/simulation/time_step=0", "/simulation/time_step=0.1", "/simulation/ground_points_per_shape=9",
        "/gates/root_orientation=181", "/gates/root_height=0", "/reference/smoothing=2",
        "/search/samples=99999999999999999999"}) {
    const std::string pointer = std::string(assignment).substr(0, std::string(assignment).find('='));
    EXPECT_THAT(Refusal(assignment), HasSubstr("--set: " + pointer + ": found ")) << assignment;
  }
}

TEST(Configuration, MisspeltPointersAreRefusedAndNamed) {
  ForEachSetting([](const std::string& pointer, const io::Json&) {
    EXPECT_THAT(Refusal(pointer + "x=1"), HasSubstr(pointer + "x: there is no such setting"));
  });
  for (const char* pointer : {"/", "/search", "/nothing/samples", "/search/samples/0", "/search/"}) {
    EXPECT_THAT(Refusal(std::string(pointer) + "=1"), HasSubstr("no such setting")) << pointer;
  }
  EXPECT_THAT(Refusal("/search/~=1"), HasSubstr("not a JSON pointer"));
  for (const char* assignment : {"", "/search/samples", "samples=3", "=3"}) {
    EXPECT_THAT(Refusal(assignment), HasSubstr("expected /section/name=value")) << assignment;
  }
}

TEST(Configuration, FilesMayBePartialButNotMisspelt) {
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
  EXPECT_EQ(read("{}"), "1400 200");
  EXPECT_EQ(read(R"({"search": {"samples": 300}})"), "300 200");
  EXPECT_THAT(read(R"({"serach": {}})"),
              HasSubstr("c.json: /serach: found the key \"serach\", expected one of search"));
  EXPECT_THAT(read(R"({"search": {"sample": 3}})"), HasSubstr("c.json: /search/sample: found the key \"sample\""));
  EXPECT_THAT(read(R"({"search": 3})"), HasSubstr("c.json: /search: found 3, expected an object"));
  EXPECT_THAT(read("[]"), HasSubstr("c.json: /: found an array"));
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
}

/// What the paper does where the default differs, step and servo aside.
void ExpectMethodOf2010(const Configuration& configuration) {
  EXPECT_EQ(configuration.sampling.method, Method::k2010);
  EXPECT_EQ(configuration.sampling.max_rewinds, 0);
  EXPECT_EQ(configuration.sampling.budget, 0);
  EXPECT_FALSE(configuration.sampling.keep_inside_gates);
  EXPECT_EQ(configuration.sampling.target_knots, 1);
  EXPECT_EQ(configuration.sampling.feedforward_gain, 1);
  EXPECT_EQ(configuration.task.contact_preset, "paper");
  EXPECT_EQ(configuration.task.cost.balance_velocity, 0.1);
  EXPECT_EQ(configuration.task.cost.effector_position, 0);
  EXPECT_EQ(configuration.task.drift_weight, 0);
  EXPECT_FALSE(configuration.task.reference.raise_hands);
}

TEST(Method, Of2010IsThePapersAndMayBeOverridden) {
  Configuration configuration;
  configuration.Set("/cost/drift=3");
  configuration.Set("/search/samples=77");
  configuration.Set("/search/method=2010");  // a word, though it reads as a number
  ExpectMethodOf2010(configuration);
  EXPECT_EQ(configuration.sampling.samples, 77);
  EXPECT_EQ(configuration.task.world.time_step, Configuration().world.time_step);
  configuration.Set("/search/max_rewinds=5");
  configuration.Set("/cost/balance_velocity=0.2");
  EXPECT_EQ(configuration.sampling.method, Method::k2010);
  EXPECT_EQ(configuration.sampling.max_rewinds, 5);
  EXPECT_EQ(configuration.task.cost.balance_velocity, 0.2);
  EXPECT_EQ(configuration.sampling.target_knots, 1) << "a later setting undoes the method";
  configuration.Set("/search/method=rewinding");
  configuration.Set("/search/samples=1400");
  EXPECT_EQ(configuration.ToJson(), Configuration().ToJson());
  Configuration paper;
  paper.UsePaperMode();
  ExpectMethodOf2010(paper);
}

TEST(Method, OfAFileSetsWhatTheFileDoesNotName) {
  Configuration configuration;
  const io::Json document = io::ParseJson(R"({"search": {"max_rewinds": 3, "method": "2010"}})", "c.json");
  configuration.Read(io::JsonView(document, "c.json"));
  EXPECT_EQ(configuration.sampling.max_rewinds, 3);
  EXPECT_EQ(configuration.sampling.target_knots, 1);
  EXPECT_EQ(configuration.task.contact_preset, "paper");
  // What is printed is read back as it was.
  Configuration read;
  read.Read(io::JsonView(configuration.ToJson(), "printed"));
  EXPECT_EQ(read.ToJson(), configuration.ToJson());
  EXPECT_THAT(Refusal("/search/method=2015"),
              AllOf(HasSubstr("/search/method: found \"2015\""), HasSubstr("rewinding")));
}

TEST(Preparation, FollowsTheKindOfMotion) {
  const SmallProblem squat({}, Squatting, 0.5);
  EXPECT_EQ(squat.preparation().cost_preset, "locomotion");
  EXPECT_EQ(squat.problem().task.weights.end_effector, 30);
  const SmallProblem hop({}, Hopping, 0.7);
  EXPECT_EQ(hop.preparation().cost_preset, "flight");
  // The contact scales are the same for all motions, but the paper's follow the kind.
  EXPECT_EQ(hop.preparation().contact_preset, squat.preparation().contact_preset);
  EXPECT_EQ(hop.problem().task.world.contact_scale, squat.problem().task.world.contact_scale);
  Configuration paper;
  paper.contact_preset = "paper";
  EXPECT_EQ(SmallProblem(paper, Squatting, 0.5).preparation().contact_preset, "none");
  const SmallProblem paper_hop(paper, Hopping, 0.7);
  EXPECT_EQ(paper_hop.preparation().contact_preset, "flight");
  EXPECT_EQ(paper_hop.problem().task.world.contact_scale, task::Human().contact_presets.at("flight"));
  const SmallProblem crawl({}, Crawling, 0.5);
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
