#include "retrace/io/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "retrace/io/error.h"

namespace retrace::io {

enum class Shade { kLight, kDark };

/// A whole object with a format of its own.
struct Label {
  std::string text;

  bool empty() const { return text.empty(); }
  Json ToJson() const { return {{"text", text}}; }
};
Label ReadLabel(const JsonView& view) {
  return {view["text"].String()};
}

/// One field of each kind.
struct Lamp {
  double power = 5;
  int bulbs = 2;
  uint64_t serial = 7;
  bool on = false;
  Shade shade = Shade::kLight;
  std::string room = "hall";
  double tilt = 0.5;
  std::optional<double> height;
  std::vector<double> steps = {1, 2};
  Label label;
};

void Describe(Lamp& lamp, FieldVisitor& v) {
  v.Section({"light", "What it gives"}, [&](FieldVisitor& section) {
    section.Field({"power", "Power that it takes", "W", {"watts", "wattage"}}, lamp.power, Real{{0, 100, true}});
    section.Field({"bulbs", "Number of bulbs"}, lamp.bulbs, Integer{1, 8});
    section.Field({"on", "Whether it is on"}, lamp.on, Flag{});
    section.Field({"shade", "Its shade"}, lamp.shade,
                  Words<Shade>{{{Shade::kLight, "light"}, {Shade::kDark, "dark", "gloomy"}}});
    section.Retired({"wick", "oil"});
  });
  v.Field({"serial", "Its number"}, lamp.serial, Natural{});
  v.Field({"room", "Where it is"}, lamp.room, Text{{"hall", "attic", "cellar"}});
  v.Field({"tilt", "Its angle", "degrees"}, lamp.tilt, Angle{{0, 90}});
  v.Field({"height", "Height above the floor", "m"}, lamp.height, OptionalReal{{0, 3, true}});
  v.Field({"steps", "Steps of the dimmer"}, lamp.steps, Reals{{0, 9}, 3});
  v.Field({"label", "What stands on it"}, lamp.label, Part<Label>{ReadLabel});
}

namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Refusal(const std::string& text, JsonReader::Missing missing = JsonReader::Missing::kKept) {
  Lamp lamp;
  const Json document = ParseJson(text, "lamp.json");
  try {
    JsonReader reader(JsonView(document, "lamp.json"), missing);
    Describe(lamp, reader);
    reader.Finish();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

Lamp After(const std::string& text) {
  Lamp lamp;
  const Json document = ParseJson(text, "lamp.json");
  Read(JsonView(document, "lamp.json"), lamp);
  return lamp;
}

TEST(Describe, WritesTheFieldsInTheirOrder) {
  Lamp lamp;
  lamp.tilt = 0;
  EXPECT_EQ(Write(lamp).dump(),
            R"({"light":{"power":5.0,"bulbs":2,"on":false,"shade":"light"},"serial":7,"room":"hall","tilt":0.0,)"
            R"("height":null,"steps":[1.0,2.0]})");
  lamp.label.text = "mine";
  EXPECT_EQ(Write(lamp)["label"]["text"], "mine");
}

TEST(Describe, CommentsSayWhatUnitAndLegalValues) {
  const std::string text = WriteCommented(Lamp());
  EXPECT_EQ(ParseJson(text, "printed"), Write(Lamp()));
  EXPECT_THAT(text,
              StartsWith("{\n  // What it gives\n  \"light\": {\n    // Power that it takes [W] (above 0, at most "
                         "100)\n    \"power\": 5.0,\n    // Number of bulbs (1 to 8)\n"));
  EXPECT_THAT(text, HasSubstr("    // Its shade (light, dark)\n    \"shade\": \"light\"\n  },\n\n  // Its number"));
  EXPECT_THAT(text, HasSubstr("// Height above the floor [m] (above 0, at most 3, or null)\n  \"height\": null,\n"));
  EXPECT_THAT(text, HasSubstr("// Its angle [degrees] (0 to 90)"));
}

TEST(Describe, WritesAnAngleAsTheShortNumberThatItWasReadFrom) {
  for (const double degrees : {60.0, 45.0, 30.5, 0.1, 89.999}) {
    const Json document = {{"tilt", degrees}};
    Lamp lamp;
    Read(JsonView(document, "lamp.json"), lamp);
    EXPECT_EQ(Write(lamp)["tilt"].get<double>(), degrees);
  }
}

TEST(Describe, ReadsWhatIsThereAndKeepsTheRest) {
  const Lamp lamp =
      After(R"({"light": {"power": 9, "shade": "dark"}, "height": 2, "tilt": 90, "label": {"text": "x"}})");
  EXPECT_EQ(lamp.power, 9);
  EXPECT_EQ(lamp.bulbs, 2);
  EXPECT_EQ(lamp.shade, Shade::kDark);
  EXPECT_EQ(lamp.height, 2.0);
  EXPECT_NEAR(lamp.tilt, 1.5707963267948966, 1e-15);
  EXPECT_EQ(lamp.label.text, "x");
  EXPECT_EQ(After(R"({"height": null})").height, std::nullopt);
  EXPECT_EQ(After(R"({"serial": 18446744073709551615})").serial, std::numeric_limits<uint64_t>::max());
}

TEST(Describe, UnderstandsOldNamesButNotBesideTheNewOnes) {
  EXPECT_EQ(After(R"({"light": {"wattage": 11, "shade": "gloomy"}})").power, 11);
  EXPECT_EQ(After(R"({"light": {"wattage": 11, "shade": "gloomy"}})").shade, Shade::kDark);
  EXPECT_EQ(Refusal(R"({"light": {"power": 9, "watts": 11}})"),
            "lamp.json: /light/watts: found the key \"watts\", an old name of \"power\", which is there too, expected "
            "one of them");
  EXPECT_EQ(Refusal(R"({"light": {"watts": 0}})"),
            "lamp.json: /light/watts: found 0, expected a number from 0 to 100 (0 itself excluded)");
  JsonWriter all(JsonWriter::Keys::kAll);
  Lamp lamp;
  Describe(lamp, all);
  EXPECT_EQ(all.json()["light"]["wattage"], 5);
}

TEST(Describe, AcceptsKeysThatNoLongerHaveAMeaningWhereTheyWere) {
  EXPECT_EQ(Write(After(R"({"light": {"wick": 3, "oil": "any", "power": 9}})"))["light"]["power"], 9);
  EXPECT_FALSE(Write(Lamp())["light"].contains("wick"));
  EXPECT_THAT(Refusal(R"({"wick": 3})"), StartsWith("lamp.json: /wick: found the key \"wick\", expected one of"));
}

TEST(Describe, RefusesBadValuesWithTheirPlace) {
  EXPECT_EQ(Refusal("[]"), "lamp.json: /: found an array of 0, expected an object");
  EXPECT_EQ(Refusal(R"({"light": 3})"), "lamp.json: /light: found 3, expected an object");
  EXPECT_EQ(Refusal(R"({"light": {"lumen": 3}})"),
            "lamp.json: /light/lumen: found the key \"lumen\", expected one of power, bulbs, on, shade");
  EXPECT_EQ(Refusal(R"({"light": {"bulbs": 1.5}})"),
            "lamp.json: /light/bulbs: found 1.5, expected a whole number from 1 to 8");
  EXPECT_EQ(Refusal(R"({"light": {"on": 1}})"), "lamp.json: /light/on: found 1, expected true or false");
  EXPECT_EQ(Refusal(R"({"light": {"shade": 1}})"), "lamp.json: /light/shade: found 1, expected \"light\" or \"dark\"");
  EXPECT_EQ(Refusal(R"({"serial": -1})"),
            "lamp.json: /serial: found -1, expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(Refusal(R"({"room": "yard"})"),
            "lamp.json: /room: found \"yard\", expected \"hall\", \"attic\" or \"cellar\"");
  EXPECT_THAT(Refusal(R"({"tilt": 91})"), HasSubstr("/tilt: found 91, expected a number from 0 to 90"));
  EXPECT_THAT(Refusal(R"({"height": 0})"),
              HasSubstr("/height: found 0, expected a number from 0 to 3 (0 itself excluded)"));
  EXPECT_THAT(Refusal(R"({"steps": [1, -1]})"), HasSubstr("/steps/1: found -1"));
  EXPECT_THAT(Refusal(R"({"steps": [1, 2, 3, 4]})"),
              HasSubstr("/steps: found an array of 4, expected an array of at most 3"));
  EXPECT_THAT(Refusal(R"({"label": {}})"), HasSubstr("/label: found no \"text\""));
}

TEST(Describe, ARefusedDocumentChangesNothing) {
  Lamp lamp;
  const Json document = ParseJson(R"({"light": {"power": 9}, "room": "yard"})", "lamp.json");
  EXPECT_THROW(Read(JsonView(document, "lamp.json"), lamp), InputError);
  EXPECT_EQ(lamp.power, 5);
}

TEST(Describe, RefusesMissingFieldsWhereAllAreNeeded) {
  const Json all = Write(Lamp());
  EXPECT_EQ(Refusal(all.dump(), JsonReader::Missing::kRefused), "not refused");
  for (const char* pointer : {"/serial", "/room", "/tilt", "/height", "/steps", "/light", "/light/on"}) {
    const Json::json_pointer where(pointer);
    Json less = all;
    less[where.parent_pointer()].erase(where.back());
    EXPECT_THAT(Refusal(less.dump(), JsonReader::Missing::kRefused), HasSubstr("found no \"" + where.back() + "\""));
    EXPECT_EQ(Refusal(less.dump()), "not refused");
  }
}

/// What a text reads as by a kind, or the refusal.
template <typename T, typename Kind>
std::string FromText(const Kind& kind, const std::string& text) {
  T value{};
  try {
    ReadText(kind, text, "--option", value);
  } catch (const InputError& error) {
    return error.what();
  }
  return kind.Write(value).dump();
}

// Rows 10, 11 and 17: numbers of command lines that were not numbers, infinite, or changed in silence.
TEST(ReadText, Row17KeepsAllDigitsOfWholeNumbers) {
  EXPECT_EQ(FromText<uint64_t>(Natural{}, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(FromText<uint64_t>(Natural{}, "9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(FromText<uint64_t>(Natural{}, "18446744073709551616"),
            "--option: found \"18446744073709551616\", expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(FromText<uint64_t>(Natural{}, "-1"),
            "--option: found -1, expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(FromText<int>(Integer{-5, 5}, "-5"), "-5");
  EXPECT_EQ(FromText<int>(Integer{-5, 5}, "6"), "--option: found 6, expected a whole number from -5 to 5");
  EXPECT_EQ(FromText<int>(Integer{-5, 5}, "1.5"), "--option: found 1.5, expected a whole number from -5 to 5");
  EXPECT_EQ(FromText<int>(Integer{-5, 5}, "4294967296"),
            "--option: found 4294967296, expected a whole number from -5 to 5");
}

TEST(ReadText, Row10RefusesWhatIsNoNumberInTheRange) {
  const Real kind{{0, 10}};
  EXPECT_EQ(FromText<double>(kind, "2.5"), "2.5");
  EXPECT_EQ(FromText<double>(kind, "1e1"), "10.0");
  EXPECT_EQ(FromText<double>(kind, "7"), "7.0");
  EXPECT_EQ(FromText<double>(kind, "nan"), "--option: found nan, expected a number from 0 to 10");
  EXPECT_EQ(FromText<double>(kind, "-inf"), "--option: found -inf, expected a number from 0 to 10");
  EXPECT_EQ(FromText<double>(kind, "10.1"), "--option: found 10.1, expected a number from 0 to 10");
  for (const std::string text : {"1x", "", " 1", "1 ", "1,5", "0x1", "1e999", "--1"}) {
    EXPECT_EQ(FromText<double>(kind, text), "--option: found \"" + text + "\", expected a number from 0 to 10");
  }
}

TEST(ReadText, TakesNegativeZeroForZero) {
  for (const std::string text : {"-0", "-0.", "-00.", "-0e5"}) EXPECT_EQ(FromText<double>(Real{{-1, 1}}, text), "0.0");
}

TEST(Describe, FindsTheFirstIllegalValueSetFromCpp) {
  EXPECT_EQ(FindProblem(Lamp()), std::nullopt);
  const auto problem = [](const auto& change) {
    Lamp lamp;
    change(lamp);
    return FindProblem(lamp).value_or("no problem");
  };
  EXPECT_EQ(problem([](Lamp& l) { l.power = kNan; }),
            "/light/power: found nan, expected a number from 0 to 100 (0 itself excluded)");
  EXPECT_THAT(problem([](Lamp& l) { l.power = -kInfinity; }), StartsWith("/light/power: found -inf"));
  EXPECT_THAT(problem([](Lamp& l) { l.bulbs = 0; }), StartsWith("/light/bulbs: found 0"));
  EXPECT_THAT(problem([](Lamp& l) { l.shade = static_cast<Shade>(9); }),
              StartsWith("/light/shade: found 9, expected \"light\" or \"dark\""));
  EXPECT_THAT(problem([](Lamp& l) { l.room = "yard"; }), StartsWith("/room: found \"yard\""));
  EXPECT_THAT(problem([](Lamp& l) { l.tilt = kNan; }), StartsWith("/tilt: found nan"));
  EXPECT_THAT(problem([](Lamp& l) { l.height = kInfinity; }), StartsWith("/height: found inf"));
  EXPECT_THAT(problem([](Lamp& l) { l.steps[1] = kNan; }), StartsWith("/steps/1: found nan"));
}

}  // namespace
}  // namespace retrace::io
