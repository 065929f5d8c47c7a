/// Every complaint about a JSON document names the file, the position, what was found and what was expected.
#include "retrace/io/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "retrace/io/error.h"
#include "retrace/math/rotation.h"

namespace retrace::io {
namespace {

using ::testing::ElementsAre;

std::string Refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    EXPECT_EQ(error.code(), ExitCode::kInput);
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InputError: " << error.what();
    return "";
  }
  ADD_FAILURE() << "not refused";
  return "";
}

const char* const kDocument = R"({
  "number": 1.5, "whole": 7, "big": 4000000000, "negative": -3, "huge": 18446744073709551615, "flag": true,
  "text": "a word", "nothing": null,
  "long": "0123456789012345678901234567890123456789012345678901234567890123456789",
  "vector": [1, 2, 3], "words": ["a", "b"], "mixed": [1, "two", 3],
  "object": {"in/side~": {"deep": [10, 20, "thirty"]}},
  "rotation": [1, 0, 0, 0], "bent": [1, 0.1, 0, 0], "short": [1, 0, 0]
})";

constexpr Range kAny{-1e9, 1e9};
const char* const kNoNumber = "expected a number from -1e+09 to 1e+09";

class View : public ::testing::Test {
 protected:
  const Json document_ = ParseJson(kDocument, "f.json");
  const JsonView view_{document_, "f.json"};
};

TEST_F(View, ReadsWhatIsThere) {
  EXPECT_EQ(view_["number"].Number(kAny), 1.5);
  EXPECT_EQ(view_["whole"].Number({0, 7, true}), 7);
  EXPECT_EQ(view_["whole"].Integer(7, 7), 7);
  EXPECT_EQ(view_["negative"].Integer(-3, -3), -3);
  EXPECT_TRUE(view_["flag"].Boolean());
  EXPECT_EQ(view_["text"].String(), "a word");
  EXPECT_EQ(view_["vector"].Vector(kAny), Vec3(1, 2, 3));
  EXPECT_THAT(view_["vector"].Numbers(kAny, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(view_["words"].Strings(2), ElementsAre("a", "b"));
  EXPECT_EQ(view_["vector"].size(), 3u);
  EXPECT_TRUE(view_.Has("text"));
  EXPECT_FALSE(view_.Has("texts"));
  EXPECT_FALSE(view_["text"].Has("text"));
  EXPECT_EQ(view_["object"].Members()[0].first, "in/side~");
  EXPECT_EQ(ReadQuaternion(view_["rotation"]).w(), 1);
}

TEST_F(View, PointersAreEscaped) {
  const JsonView deep = view_["object"]["in/side~"]["deep"][2];
  EXPECT_EQ(deep.pointer(), "/object/in~1side~0/deep/2");
  EXPECT_EQ(&document_.at(Json::json_pointer(deep.pointer())), &deep.json());
  EXPECT_EQ(Refusal([&] { deep.Number(kAny); }),
            std::string("f.json: /object/in~1side~0/deep/2: found \"thirty\", ").append(kNoNumber));
  EXPECT_EQ(view_["object"].Members()[0].second.pointer(), "/object/in~1side~0");
}

TEST_F(View, RootIsASlash) {
  EXPECT_EQ(Refusal([&] { view_.Number(kAny); }), std::string("f.json: /: found an object, ").append(kNoNumber));
}

TEST_F(View, EveryReaderSaysWhatItWants) {
  struct Case {
    std::function<void()> read;
    std::string message;
  };
  const auto at = [&](const char* key) { return view_[key]; };
  const std::vector<Case> cases = {
      {[&] { at("missing"); }, "/: found no \"missing\", expected an object with \"missing\""},
      {[&] { at("number")["x"]; }, "/number: found 1.5, expected an object with \"x\""},
      {[&] { at("vector")["x"]; }, "/vector: found an array of 3, expected an object with \"x\""},
      {[&] { at("text")[0]; }, "/text: found \"a word\", expected an array"},
      {[&] { at("vector")[3]; }, "/vector: found an array of 3, expected an array of at least 4"},
      {[&] { at("object").size(); }, "/object: found an object, expected an array"},
      {[&] {
         at("text").Number({0, 1});
       },
       "/text: found \"a word\", expected a number from 0 to 1"},
      {[&] {
         at("nothing").Number({0, 1});
       },
       "/nothing: found null, expected a number from 0 to 1"},
      {[&] {
         at("flag").Number({0, 1});
       },
       "/flag: found true, expected a number from 0 to 1"},
      {[&] {
         at("negative").Number({0, 9});
       },
       "/negative: found -3, expected a number from 0 to 9"},
      {[&] {
         at("whole").Number({0, 3.2});
       },
       "/whole: found 7, expected a number from 0 to 3.2"},
      {[&] {
         at("whole").Number({7, 9, true});
       },
       "/whole: found 7, expected a number from 7 to 9 (7 itself excluded)"},
      {[&] { at("number").Integer(0, 9); }, "/number: found 1.5, expected a whole number from 0 to 9"},
      {[&] { at("whole").Integer(0, 6); }, "/whole: found 7, expected a whole number from 0 to 6"},
      {[&] { at("big").Integer(0, 2147483647); },
       "/big: found 4000000000, expected a whole number from 0 to 2147483647"},
      {[&] { at("huge").Integer(-1, 2147483647); },
       "/huge: found 18446744073709551615, expected a whole number from -1 to 2147483647"},
      {[&] { at("text").Integer(0, 1); }, "/text: found \"a word\", expected a whole number from 0 to 1"},
      {[&] { at("whole").Boolean(); }, "/whole: found 7, expected true or false"},
      {[&] { at("flag").String(); }, "/flag: found true, expected a string"},
      {[&] { at("object").String(); }, "/object: found an object, expected a string"},
      {[&] { at("words").Vector(kAny); }, "/words: found an array of 2, expected an array of 3 numbers"},
      {[&] { at("whole").Vector(kAny); }, "/whole: found 7, expected an array of 3 numbers"},
      {[&] {
         at("mixed").Vector({0, 9});
       },
       "/mixed/1: found \"two\", expected a number from 0 to 9"},
      {[&] {
         at("vector").Numbers({2, 3}, 3);
       },
       "/vector/0: found 1, expected a number from 2 to 3"},
      {[&] { at("vector").Numbers(kAny, 2); }, "/vector: found an array of 3, expected an array of at most 2"},
      {[&] { at("mixed").Strings(3); }, "/mixed/0: found 1, expected a string"},
      {[&] { at("flag").Elements(1); }, "/flag: found true, expected an array"},
      {[&] { at("words").Elements(1); }, "/words: found an array of 2, expected an array of at most 1"},
      {[&] { at("flag").Name(); },
       "/flag: found true, expected a name of 1 to 100 bytes without control characters, braces and stray blanks"},
      {[&] { at("words").Members(); }, "/words: found an array of 2, expected an object"},
      {[&] { ReadQuaternion(at("short")); }, "/short: found an array of 3, expected a unit quaternion [w, x, y, z]"},
      {[&] { ReadQuaternion(at("whole")); }, "/whole: found 7, expected a unit quaternion [w, x, y, z]"},
      {[&] { ReadQuaternion(at("bent")); },
       "/bent: found a quaternion of norm 1.004987562112089, expected a unit quaternion [w, x, y, z]"},
      {[&] {
         at("object").AllowOnly({"a", "b"});
       },
       "/object/in~1side~0: found the key \"in/side~\", expected one of a, b"},
      {[&] { at("text").AllowOnly({"a"}); }, "/text: found \"a word\", expected an object"},
      {[&] { at("text").Fail("this", "that"); }, "/text: found this, expected that"},
  };
  for (const Case& c : cases) EXPECT_EQ(Refusal(c.read), "f.json: " + c.message);
}

TEST_F(View, LongValuesAreCutInMessages) {
  const std::string message = Refusal([&] { view_["long"].Number({0, 1}); });
  EXPECT_EQ(message,
            "f.json: /long: found \"01234567890123456789012345678901234567890123456789012345..., expected a number "
            "from 0 to 1");
}

TEST_F(View, KnownKeysAreAllowed) {
  EXPECT_NO_THROW(view_["object"].AllowOnly({"x", "in/side~"}));
  EXPECT_NO_THROW(JsonView(Json::object(), "g").AllowOnly({}));
}

TEST_F(View, NumbersThatAreNotFiniteAreRefused) {
  const Json infinite = std::numeric_limits<double>::infinity();
  const Json nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(JsonView(infinite, "g").Number(kAny), InputError);
  EXPECT_THROW(JsonView(nan, "g").Number(kAny), InputError);
}

TEST_F(View, TextThatIsNotUtf8IsStillDescribed) {
  const Json bad = std::string("\xff\xfe");
  EXPECT_THAT(Refusal([&] { JsonView(bad, "g").Number(kAny); }), ::testing::StartsWith("g: /: found \""));
}

TEST(ParseJson, PlaceOfTheMistake) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"", "f:1:1: found the end of the file, expected valid JSON"},
      {"{", "f:1:2: found the end of the file, expected valid JSON"},
      {"{\"a\": 1", "f:1:8: found the end of the file, expected valid JSON"},
      {"x", "f:1:1: found 'x', expected valid JSON"},
      {"[\n\x01]", "f:2:1: found the byte 0x01, expected valid JSON"},
      {"[1, 2,, 3]", "f:1:7: found ',', expected valid JSON"},
      {"{\n  \"a\": 1,\n  \"b\" 2\n}", "f:3:7: found '2', expected valid JSON"},
      {"[\n1\n2\n]", "f:3:1: found '2', expected valid JSON"},
      {"\n\n  }", "f:3:3: found '}', expected valid JSON"},
      {"[1] [2]", "f:1:5: found '[', expected valid JSON"},
  };
  for (const Case& c : cases) EXPECT_EQ(Refusal([&] { ParseJson(c.text, "f"); }), c.message) << c.text;
}

TEST(ParseJson, RefusesWhatIsNoJson) {
  for (const char* text : {"nan", "[NaN]", "[1e]", "[01]", "{a: 1}", "['a']", "[1,]", "\"open", "[\"\x01\"]"}) {
    EXPECT_THAT(Refusal([&] { ParseJson(text, "f"); }),
                ::testing::MatchesRegex("f:1:[0-9]+: found .*, expected valid JSON"));
  }
}

// Row 14 of the list of defects: a number that is too large ended as an internal error.
TEST(ParseJson, Row14NumbersThatNoDoubleHoldsAreRefusedWithTheirPlace) {
  EXPECT_EQ(Refusal([] { ParseJson("{\"a\": [1,\n  1e999]}", "f"); }),
            "f:2:3: found 1e999, expected a number of at most 1.8e308 in magnitude");
  EXPECT_EQ(Refusal([] { ParseJson("-1e400", "f"); }),
            "f:1:1: found -1e400, expected a number of at most 1.8e308 in magnitude");
  EXPECT_EQ(ParseJson("[1e-999, 1.7e308]", "f")[0], 0.0);
}

// Row 6: a document that is nested deep used up the stack.
TEST(ParseJson, Row06DeepNestingIsRefusedWithItsPlace) {
  const auto nested = [](size_t depth, const std::string& open, const std::string& close) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += open;
    text += "1";
    for (size_t i = 0; i < depth; ++i) text += close;
    return text;
  };
  EXPECT_NO_THROW(ParseJson(nested(200, "[", "]"), "f"));
  EXPECT_NO_THROW(ParseJson(nested(100, "[{\"a\": ", "}]"), "f"));
  EXPECT_EQ(Refusal([&] { ParseJson(nested(201, "[", "]"), "f"); }),
            "f:1:201: found arrays and objects nested more than 200 deep, expected fewer");
  EXPECT_EQ(Refusal([&] { ParseJson(std::string(200000, '['), "f"); }),
            "f:1:201: found arrays and objects nested more than 200 deep, expected fewer");
}

TEST(ParseJson, KeysThatStandTwiceAreRefusedWithTheirPlace) {
  EXPECT_EQ(Refusal([] { ParseJson("{\"a\": 1,\n \"b\": {\"a\": 2},\n \"a\": 3}", "f"); }),
            "f:3:2: found the key \"a\" a second time, expected each key once");
  EXPECT_EQ(Refusal([] { ParseJson(R"({"\u0061\"b": 1, "a\"b": 2})", "f"); }),
            R"(f:1:18: found the key "a\"b" a second time, expected each key once)");
}

TEST(ParseJson, TextThatIsNotUtf8IsRefusedWithItsPlace) {
  EXPECT_EQ(Refusal([] { ParseJson("{\"a\": \"b\xff\"}", "f"); }),
            "f:1:9: found the byte 0xFF, expected valid JSON in UTF-8");
}

TEST(ParseJson, IsTheSameAsThatOfTheLibrary) {
  const std::string text = R"({"a": [1, -2, 3.5, "x\u00e9", null, true, [], {}], "b": {"c": [[{"d": 1}]], "e": ""}})";
  EXPECT_EQ(ParseJson(text, "f"), Json::parse(text));
  EXPECT_EQ(ParseJson(text, "f").dump(), Json::parse(text).dump());
}

TEST(Range, HasTwoEnds) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(Range(0, infinity), std::invalid_argument);
  EXPECT_THROW(Range(-infinity, 0), std::invalid_argument);
  EXPECT_THROW(Range(0, std::nan("")), std::invalid_argument);
  EXPECT_THROW(Range(1, 0), std::invalid_argument);
  constexpr Range kOpen{0, 1, true};
  EXPECT_TRUE(kOpen.Contains(1));
  EXPECT_FALSE(kOpen.Contains(0) || kOpen.Contains(1.1) || kOpen.Contains(std::nan("")));
}

// Row 12: a name with a line feed was written into files that could not be read again.
TEST(Names, Row12HaveNoControlCharactersAndAreShort) {
  for (const std::string& good : {std::string("trunk"), std::string(100, 'x'), std::string("Fuß, links"),
                                  std::string("a b"), std::string("骨")}) {
    EXPECT_TRUE(IsName(good)) << good;
  }
  for (const std::string& bad : {std::string(), std::string(101, 'x'), std::string("a\nb"), std::string("a\0b", 3),
                                 std::string("\x7f"), std::string("a\xc2\x85z"), std::string("tab\t"),
                                 std::string("a  b"), std::string(" a"), std::string("a "), std::string("a {")}) {
    EXPECT_FALSE(IsName(bad)) << bad;
  }
}

/// By the library, which refuses to write what is not.
bool CanBeWritten(const std::string& text) {
  try {
    Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

TEST(Utf8, IsKnown) {
  for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << CanBeWritten(good);
  }
  for (const char* bad : {"\x80", "\xc1\xbf", "\xc2", "\xc2z", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf8\x88\x80\x80\x80", "x\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(bad)) << CanBeWritten(bad);
    EXPECT_FALSE(IsName(bad));
  }
}

RC_GTEST_PROP(Utf8Property, IsWhatCanBeWritten, ()) {
  // Near UTF-8: bytes of all kinds, more often those with which sequences begin and go on.
  const auto bytes = *rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::inRange<char>(-128, -64), rc::gen::inRange<char>(-64, 0)));
  RC_ASSERT(IsUtf8(bytes) == CanBeWritten(bytes));
  RC_ASSERT(IsUtf8(Dump(Json(bytes))));
}

TEST(Dump, InPiecesIsTheSameAsWhole) {
  Json document = {{"empty", Json::object()}, {"none", Json::array()}, {"text\n\"\xff", "a\xff\"b"}, {"null", nullptr}};
  for (int k = 0; k < 20000; ++k) document["numbers"].push_back({{"k", k}, {"third", k / 3.0}, {"pair", {k, "x"}}});
  for (const Json& tree : {document, Json(3), Json("text"), Json::array(), Json({1, 2})}) {
    std::string text;
    size_t longest = 0;
    DumpInPieces(tree, [&](std::string_view piece) {
      text += piece;
      longest = std::max(longest, piece.size());
    });
    EXPECT_EQ(text, Dump(tree));
    EXPECT_LT(longest, 100'000U);
  }
}

TEST(ParseJson, CommentsAreAllowed) {
  EXPECT_EQ(ParseJson("// one\n[1, /* two */ 2] // three\n", "f").size(), 2u);
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(ParseJson(R"({"z": 1, "a": 2, "m": 3})", "f").dump(), R"({"z":1,"a":2,"m":3})");
}

TEST(ReadJson, MissingFile) {
  EXPECT_EQ(Refusal([] { ReadJson("/no/such/file.json"); }),
            "/no/such/file.json: cannot be opened: No such file or directory");
}

RC_GTEST_PROP(JsonProperty, VectorsAndQuaternionsReadBackToTheSameBits, ()) {
  const auto bits = *rc::gen::container<std::vector<double>>(6, rc::gen::arbitrary<double>());
  const Vec3 v(bits[0], bits[1], bits[2]);
  const Quat q = FromRotationVector(Vec3(bits[3], bits[4], bits[5]).normalized() * 3);
  RC_PRE(v.allFinite() && q.coeffs().allFinite());
  const Json document = ParseJson(Json{{"v", ToJson(v)}, {"q", ToJson(q)}}.dump(), "f");
  const JsonView view(document, "f");
  RC_ASSERT(view["v"].Vector({-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}) == v);
  RC_ASSERT(ReadQuaternion(view["q"]).coeffs() == q.coeffs());
}

}  // namespace
}  // namespace retrace::io
