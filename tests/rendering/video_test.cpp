/// Videos as programs of others read them.
#include "retrace/rendering/video.h"

#include <gif_lib.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/program_path.h"

namespace retrace::rendering {
namespace {

Image Plain(uint8_t r, uint8_t g, uint8_t b) {
  Image image(64, 48);
  for (size_t k = 0; k < image.pixels.size(); k += 3) {
    image.pixels[k] = r;
    image.pixels[k + 1] = g;
    image.pixels[k + 2] = b;
  }
  return image;
}

class Video : public ::testing::Test {
 protected:
  Video()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                (std::string("retrace-video-") + ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Video() override { std::filesystem::remove_all(folder_); }
  size_t NumFiles() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
  std::filesystem::path folder_;
};

TEST_F(Video, KindsFollowEndings) {
  EXPECT_EQ(VideoKindOf("a.mp4"), VideoKind::kMp4);
  EXPECT_EQ(VideoKindOf("a.webm"), VideoKind::kWebm);
  EXPECT_EQ(VideoKindOf("a.gif"), VideoKind::kGif);
  for (const char* name : {"a", "a.avi", "a.MP4", "mp4"}) EXPECT_THROW(VideoKindOf(name), UsageError) << name;
  EXPECT_TRUE(FindVideoProgram(VideoKind::kGif, "").empty());
  EXPECT_THROW(FindVideoProgram(VideoKind::kMp4, "/nowhere/ffmpeg"), UsageError);
}

TEST_F(Video, AGifHasItsPicturesTheirColorsAndTheirTime) {
  const std::filesystem::path file = folder_ / "a.gif";
  const auto video = OpenVideo(file, VideoKind::kGif, {}, 64, 48, 20);
  for (int k = 0; k < 30; ++k) video->Add(k < 15 ? Plain(200, 30, 40) : Plain(20, 60, 220));
  EXPECT_EQ(NumFiles(), 0U);  // not before it is finished
  video->Finish();
  int error = 0;
  GifFileType* const gif = DGifOpenFileName(file.c_str(), &error);
  ASSERT_NE(gif, nullptr);
  ASSERT_EQ(DGifSlurp(gif), GIF_OK);
  EXPECT_EQ(gif->SWidth, 64);
  EXPECT_EQ(gif->SHeight, 48);
  ASSERT_EQ(gif->ImageCount, 30);
  for (const auto& [k, red, blue] : {std::array{0, 200, 40}, std::array{29, 20, 220}}) {
    const GifColorType& color = gif->SColorMap->Colors[gif->SavedImages[k].RasterBits[100]];
    EXPECT_NEAR(color.Red, red, 8);
    EXPECT_NEAR(color.Blue, blue, 8);
  }
  GraphicsControlBlock control;
  ASSERT_EQ(DGifSavedExtensionToGCB(gif, 3, &control), GIF_OK);
  EXPECT_EQ(control.DelayTime, 5);
  DGifCloseFile(gif, &error);
}

TEST_F(Video, FfmpegWritesWhatItReadsBack) {
  const std::filesystem::path program = io::FindProgram("ffmpeg");
  if (program.empty()) GTEST_SKIP() << "there is no ffmpeg";
  for (const auto& [name, kind] : {std::pair{"a.mp4", VideoKind::kMp4}, std::pair{"b.webm", VideoKind::kWebm}}) {
    const std::filesystem::path file = folder_ / name, raw = folder_ / "raw";
    const auto video = OpenVideo(file, kind, program, 64, 48, 25);
    for (int k = 0; k < 10; ++k) video->Add(Plain(200, 60, 40));
    video->Finish();
    const std::string command =
        program.string() + " -loglevel error -y -i " + file.string() + " -f rawvideo -pix_fmt rgb24 " + raw.string();
    ASSERT_EQ(std::system(command.c_str()), 0) << name;
    const std::string pixels = io::ReadFile(raw);
    ASSERT_EQ(pixels.size(), 10U * 64 * 48 * 3) << name;
    EXPECT_NEAR(static_cast<uint8_t>(pixels[3000]), 200, 6) << name;
    EXPECT_NEAR(static_cast<uint8_t>(pixels[3001]), 60, 6) << name;
    EXPECT_NEAR(static_cast<uint8_t>(pixels[3002]), 40, 6) << name;
  }
}

TEST_F(Video, AProgramThatFailsIsOneMessageAndLeavesNoFile) {
  const auto video = OpenVideo(folder_ / "a.mp4", VideoKind::kMp4, "/bin/false", 64, 48, 25);
  EXPECT_THROW(
      {
        for (int k = 0; k < 200; ++k) video->Add(Plain(0, 0, 0));
        video->Finish();
      },
      OutputError);
  EXPECT_EQ(NumFiles(), 0U);
  EXPECT_THROW(OpenVideo(folder_ / "a.mp4", VideoKind::kMp4, "/nowhere/ffmpeg", 64, 48, 25), OutputError);
}

}  // namespace
}  // namespace retrace::rendering
