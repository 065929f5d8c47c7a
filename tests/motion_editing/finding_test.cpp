/// What is said of something in a reference that no body can perform.
#include "retrace/motion_editing/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace retrace::repair {
namespace {

using testing::HasSubstr;

constexpr Kind kKinds[] = {Kind::kFall,  Kind::kSkim,   Kind::kUnsupported, Kind::kTremble, Kind::kDrift,
                           Kind::kSlide, Kind::kStance, Kind::kFloat,       Kind::kPull,    Kind::kPress};

TEST(Finding, HasANameAndASentenceOfItsOwnForEachKind) {
  std::set<std::string> names, texts;
  for (const Kind kind : kKinds) {
    const Finding finding{kind, {0.334, 0.651}, -56.7, "left_foot"};
    names.insert(NameOf(kind));
    texts.insert(finding.Text());
    EXPECT_EQ(finding.Text().rfind("from 0.33 to 0.65 s ", 0), 0u) << finding.Text();
    EXPECT_EQ(finding.repairable(), kind != Kind::kUnsupported);
  }
  EXPECT_EQ(names.size(), std::size(kKinds));
  EXPECT_EQ(texts.size(), std::size(kKinds));
}

TEST(Finding, SaysFiguresWithTheirUnits) {
  EXPECT_EQ((Finding{Kind::kFall, {0.33, 0.65}, 56.71, ""}.Text()), "from 0.33 to 0.65 s the body falls at 56.7 m/s2");
  EXPECT_THAT((Finding{Kind::kStance, {0, 1}, 0.0314, "left_foot"}.Text()),
              HasSubstr("left_foot stands 0.031 m over the floor"));
  EXPECT_THAT((Finding{Kind::kStance, {0, 1}, -0.0314, "left_foot"}.Text()),
              HasSubstr("left_foot stands 0.031 m under the floor"));
  EXPECT_THAT((Finding{Kind::kPull, {0, 1}, -0.5, ""}.Text()), HasSubstr("pull by 0.5 of the weight"));
  EXPECT_THAT((Finding{Kind::kPress, {0, 1}, 7.25, ""}.Text()), HasSubstr("press with 7.2 times the weight"));
}

TEST(Finding, IsWrittenForScripts) {
  const Finding stance{Kind::kStance, {0.5, 0.75}, 0.02, "right_foot"};
  const io::Json json = stance.ToJson();
  EXPECT_EQ(json.at("kind"), "stance");
  EXPECT_EQ(json.at("start"), 0.5);
  EXPECT_EQ(json.at("end"), 0.75);
  EXPECT_EQ(json.at("value"), 0.02);
  EXPECT_EQ(json.at("body"), "right_foot");
  EXPECT_EQ(json.at("text"), stance.Text());
  EXPECT_FALSE((Finding{Kind::kFall, {0, 1}, 5, ""}.ToJson().contains("body")));
}

}  // namespace
}  // namespace retrace::repair
