/// What of a run returns on the skeleton of its recording; whole files are tested where the program is.
#include "retrace/jobs/source_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::runs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string RefusalOf(const std::vector<std::string>& formats) {
  try {
    ParseSourceFormats(formats);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(SourceExport, FormatsAreThoseWithASkeleton) {
  EXPECT_THAT(ParseSourceFormats({"glb", "bvh"}), ElementsAre(SourceFormat::kBvh, SourceFormat::kGlb));
  EXPECT_THAT(ParseSourceFormats({"bvh,glb,bvh"}), ElementsAre(SourceFormat::kBvh, SourceFormat::kGlb));
  EXPECT_THAT(ParseSourceFormats({"all"}), ElementsAre(SourceFormat::kBvh, SourceFormat::kGlb));
  EXPECT_THAT(ParseSourceFormats({"glb"}), ElementsAre(SourceFormat::kGlb));
  EXPECT_THAT(RefusalOf({"npz"}), HasSubstr("found \"npz\", expected bvh, glb"));
  EXPECT_THAT(RefusalOf({"bvh,"}), HasSubstr("found \"\""));
  EXPECT_THAT(RefusalOf({"fbx"}), HasSubstr("refused by its own reader"));
}

TEST(SourceExport, FilesGoIntoTheRunOrWhereTheUserSays) {
  const fs::path folder = fs::temp_directory_path() / "retrace_source_export_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "run");
  SourceExportOptions options;
  options.folder = folder / "run";
  options.formats = {SourceFormat::kBvh, SourceFormat::kGlb};
  EXPECT_THAT(SourceExportTargets(options),
              ElementsAre(folder / "run/export/source_skeleton.bvh", folder / "run/export/source_skeleton.glb"));
  options.formats = {SourceFormat::kGlb};
  options.output = folder / "mine.glb";
  EXPECT_THAT(SourceExportTargets(options), ElementsAre(folder / "mine.glb"));
  io::WriteFile(folder / "mine.glb", "mine");
  EXPECT_THROW(SourceExportTargets(options), UsageError);
  options.force = true;
  EXPECT_THAT(SourceExportTargets(options), ElementsAre(folder / "mine.glb"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace retrace::runs
