#include "retrace/exports/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exports/simulated_motion.h"
#include "retrace/exports/csv.h"
#include "retrace/exports/trc.h"
#include "retrace/io/error.h"

namespace retrace::exports {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr ExportFormat kAllFormats[] = {ExportFormat::kGlb,    ExportFormat::kBvh,   ExportFormat::kCsv,
                                        ExportFormat::kNpz,    ExportFormat::kSto,   ExportFormat::kTrc,
                                        ExportFormat::kJoints, ExportFormat::kMujoco};

TEST(Formats, AreNamedInAnyOrderAndTakenOnce) {
  EXPECT_EQ(ParseFormats({"trc,glb", "glb"}), (std::vector{ExportFormat::kGlb, ExportFormat::kTrc}));
  EXPECT_EQ(ParseFormats({"csv", "all"}), std::vector(std::begin(kAllFormats), std::end(kAllFormats)));
  EXPECT_TRUE(ParseFormats({}).empty());
  for (const char* wrong : {"fbx", "glb,", "", "GLB", "glb bvh"}) {
    EXPECT_THAT([&] { ParseFormats({wrong}); },
                ThrowsMessage<UsageError>(HasSubstr("expected glb, bvh, csv, npz, sto, trc")))
        << wrong;
  }
}

TEST(Formats, EachCharacterOfASceneHasItsFilesButForGlb) {
  EXPECT_EQ(FilesOf(ExportFormat::kCsv), (std::vector<std::string>{"bodies.csv", "joints.csv"}));
  EXPECT_EQ(FilesOf(ExportFormat::kCsv, 2),
            (std::vector<std::string>{"character_1/bodies.csv", "character_1/joints.csv", "character_2/bodies.csv",
                                      "character_2/joints.csv"}));
  EXPECT_EQ(FilesOf(ExportFormat::kGlb, 2), std::vector<std::string>{"motion.glb"});
}

TEST(Formats, HaveARateUnlessTheyHaveEveryStep) {
  EXPECT_EQ(DefaultRate(ExportFormat::kGlb), 60);
  for (const ExportFormat format : kAllFormats) {
    if (format != ExportFormat::kGlb) {
      EXPECT_EQ(DefaultRate(format), format == ExportFormat::kMujoco ? 240 : 120);
    }
    EXPECT_EQ(HasRate(format), format != ExportFormat::kNpz && format != ExportFormat::kSto);
  }
}

TEST(Formats, EveryFileHasItsContents) {
  const Simulation drop = Drop("human", 12);
  const std::vector<ExportedMotion> pair = {drop.motion(), drop.motion()};
  for (const ExportFormat format : kAllFormats) {
    const std::vector<std::string> one = Format(format, {pair.data(), 1}, 60), two = Format(format, pair, 60);
    ASSERT_EQ(one.size(), FilesOf(format).size());
    ASSERT_EQ(two.size(), FilesOf(format, 2).size());
    for (const std::string& file : one) EXPECT_FALSE(file.empty());
    if (format == ExportFormat::kGlb) continue;
    for (size_t f = 0; f < two.size(); ++f) EXPECT_EQ(two[f], one[f % one.size()]);
  }
  EXPECT_EQ(Format(ExportFormat::kCsv, {pair.data(), 1}, 60)[1], FormatJointsTable(drop.motion(), 60));
  EXPECT_EQ(Format(ExportFormat::kTrc, {pair.data(), 1}, 60)[0], FormatTrc(drop.motion(), 60));
}

}  // namespace
}  // namespace retrace::exports
