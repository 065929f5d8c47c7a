/// Pictures one after another as a file: MP4 and WebM by FFmpeg, GIF without it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "retrace/rendering/image.h"

namespace retrace::rendering {

enum class VideoKind { kMp4, kWebm, kGif };

/// By the ending of a file's name. Throws UsageError for another one.
VideoKind VideoKindOf(const std::filesystem::path& file);

/// The program that a kind needs, or an empty path: `wanted` where it is not empty, else ffmpeg on the PATH. Throws
/// UsageError saying how to get it.
std::filesystem::path FindVideoProgram(VideoKind kind, const std::string& wanted);

/// A video that grows by a picture at a time. The file appears under its name when it is finished.
class VideoWriter {
 public:
  virtual ~VideoWriter() = default;
  /// All have one size. Throws OutputError when the program fails or the disk is full.
  virtual void Add(const Image& image) = 0;
  virtual void Finish() = 0;
};

/// @param frames_per_second of the file; a GIF's are rounded to hundredths of a second for a picture
/// @param program of FindVideoProgram
std::unique_ptr<VideoWriter> OpenVideo(const std::filesystem::path& file, VideoKind kind,
                                       const std::filesystem::path& program, int width, int height,
                                       double frames_per_second);

}  // namespace retrace::rendering
