#include "retrace/rendering/video.h"

#include <fcntl.h>
#include <gif_lib.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/program_path.h"

namespace retrace::rendering {
namespace fs = std::filesystem;
namespace {

/// The file until it is finished: a name beside its own.
fs::path UnfinishedNameOf(const fs::path& file) {
  return file.parent_path() / ("." + file.filename().string() + ".unfinished");
}

/// FFmpeg, which is given pixels and writes the file.
class FfmpegWriter : public VideoWriter {
 public:
  FfmpegWriter(const fs::path& file, VideoKind kind, const fs::path& program, int width, int height, double rate)
      : file_(file), unfinished_(UnfinishedNameOf(file)), program_(program) {
    // arguments of another program
    std::vector<std::string> words = {program.string(), "-hide_banner", "-loglevel", "error", "-y"};
    const auto add = [&](std::initializer_list<const char*> more) {
      words.insert(words.end(), more.begin(), more.end());
    };
    add({"-f", "rawvideo", "-pix_fmt", "rgb24", "-s"});
    words.push_back(std::to_string(width) + "x" + std::to_string(height));
    add({"-r"});
    words.push_back(io::Number(rate));
    add({"-i", "pipe:0", "-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p"});
    add({"-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-fflags", "+bitexact"});
    if (kind == VideoKind::kMp4) {
      add({"-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-movflags", "+faststart", "-f", "mp4"});
    } else {
      add({"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "6", "-row-mt", "1", "-b:v", "0", "-crf", "26"});
      add({"-f", "webm"});
    }
    // A name that begins with - or has a colon is no option and no protocol.
    words.push_back("file:" + fs::absolute(unfinished_).string());
    Start(words);
  }

  ~FfmpegWriter() override {
    if (child_ <= 0) return;
    ::close(socket_);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::error_code ignored;
    fs::remove(unfinished_, ignored);
  }

  void Add(const Image& image) override {
    const uint8_t* bytes = image.pixels.data();
    for (size_t left = image.pixels.size(); left > 0;) {
      const ssize_t count = ::send(socket_, bytes, left, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) Fail();
      bytes += count;
      left -= static_cast<size_t>(count);
    }
  }

  void Finish() override {
    ::shutdown(socket_, SHUT_WR);
    if (!HasSucceeded()) throw OutputError(Failure());
    std::error_code failure;
    fs::rename(unfinished_, file_, failure);
    if (failure) throw OutputError(file_.string() + ": cannot be written: " + failure.message());
  }

 private:
  void Start(const std::vector<std::string>& words) {
    int ends[2];  // sockets, to which one can write without a signal when the program is gone
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw ResourceError(std::string("no socket: ") + std::strerror(errno));
    }
    std::string pattern = (fs::temp_directory_path() / "retrace-video-XXXXXX").string();
    messages_ = ::mkostemp(pattern.data(), O_CLOEXEC);
    if (messages_ >= 0) ::unlink(pattern.c_str());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (messages_ >= 0) posix_spawn_file_actions_adddup2(&actions, messages_, 2);
    const int failure = io::StartProgram(words, actions, 0, child_);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    socket_ = ends[0];
    if (failure == 0) return;
    child_ = 0;
    ::close(socket_);
    throw OutputError(program_.string() + ": does not start: " + std::strerror(failure));
  }

  bool HasSucceeded() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    ::close(socket_);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  [[noreturn]] void Fail() {
    HasSucceeded();
    throw OutputError(Failure());
  }

  /// With the first line that the program said.
  std::string Failure() {
    std::error_code ignored;
    fs::remove(unfinished_, ignored);
    std::array<char, 400> text{};
    const ssize_t count = messages_ < 0 ? 0 : ::pread(messages_, text.data(), text.size() - 1, 0);
    std::string said(text.data(), static_cast<size_t>(std::max<ssize_t>(0, count)));
    said = said.substr(0, said.find('\n'));
    return file_.string() + ": " + program_.string() + " cannot write it" + (said.empty() ? "" : ": " + said);
  }

  fs::path file_, unfinished_, program_;
  pid_t child_ = 0;
  int socket_ = -1;
  int messages_ = -1;
};

/// A GIF with one palette, which is that of its first second.
class GifWriter : public VideoWriter {
 public:
  GifWriter(const fs::path& file, int width, int height, double rate)
      : file_(file), width_(width), height_(height), delay_(std::max(2, static_cast<int>(std::lround(100 / rate)))) {
    int error = 0;
    gif_ = EGifOpen(this, &GifWriter::Write, &error);
    if (gif_ == nullptr) throw OutputError(file.string() + ": cannot be made: " + GifErrorString(error));
    EGifSetGifVersion(gif_, true);
  }
  ~GifWriter() override {
    if (gif_ != nullptr) EGifCloseFile(gif_, nullptr);
    if (palette_ != nullptr) GifFreeMapObject(palette_);
  }

  void Add(const Image& image) override {
    if (palette_ == nullptr) {
      first_.push_back(image);
      if (100 <= delay_ * static_cast<int>(first_.size())) Begin();
    } else {
      Put(image);
    }
  }

  void Finish() override {
    if (palette_ == nullptr) Begin();
    GifFileType* const gif = std::exchange(gif_, nullptr);
    int error = 0;
    if (EGifCloseFile(gif, &error) != GIF_OK) Check(error);
    io::WriteFile(file_, bytes_);
  }

 private:
  static int Write(GifFileType* gif, const GifByteType* bytes, int count) {
    static_cast<GifWriter*>(gif->UserData)
        ->bytes_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
    return count;
  }
  void Check(int error) const { throw OutputError(file_.string() + ": cannot be made: " + GifErrorString(error)); }
  void Must(int result) const {
    if (result != GIF_OK) Check(gif_->Error);
  }

  /// The palette of what has come so far, by some of its pixels.
  void Begin() {
    constexpr size_t kMostPixels = 400000;
    size_t pixels = 0;
    for (const Image& image : first_) pixels += image.pixels.size() / 3;
    const size_t stride = pixels / kMostPixels + 1;
    std::array<std::vector<GifByteType>, 3> channels;
    size_t k = 0;
    for (const Image& image : first_) {
      for (size_t at = 0; at < image.pixels.size(); at += 3, ++k) {
        if (k % stride != 0) continue;
        for (size_t c = 0; c < 3; ++c) channels[c].push_back(image.pixels[at + c]);
      }
    }
    palette_ = GifMakeMapObject(256, nullptr);
    if (palette_ == nullptr || channels[0].empty()) throw OutputError(file_.string() + ": a video without a picture");
    int colors = 256;
    std::vector<GifByteType> ignored(channels[0].size());
    if (GifQuantizeBuffer(static_cast<unsigned>(ignored.size()), 1, &colors, channels[0].data(), channels[1].data(),
                          channels[2].data(), ignored.data(), palette_->Colors) != GIF_OK) {
      throw OutputError(file_.string() + ": its colors cannot be chosen");
    }
    nearest_.assign(size_t{1} << 19, -1);
    Must(EGifPutScreenDesc(gif_, width_, height_, 8, 0, palette_));
    const GifByteType forever[3] = {1, 0, 0};
    Must(EGifPutExtensionLeader(gif_, APPLICATION_EXT_FUNC_CODE));
    Must(EGifPutExtensionBlock(gif_, 11, "NETSCAPE2.0"));
    Must(EGifPutExtensionBlock(gif_, 3, forever));
    Must(EGifPutExtensionTrailer(gif_));
    for (const Image& image : first_) Put(image);
    first_.clear();
  }

  void Put(const Image& image) {
    GraphicsControlBlock control{};
    control.DisposalMode = DISPOSE_DO_NOT;
    control.DelayTime = delay_;
    control.TransparentColor = NO_TRANSPARENT_COLOR;
    GifByteType extension[4];
    EGifGCBToExtension(&control, extension);
    Must(EGifPutExtension(gif_, GRAPHICS_EXT_FUNC_CODE, sizeof extension, extension));
    Must(EGifPutImageDesc(gif_, 0, 0, width_, height_, false, nullptr));
    std::vector<GifPixelType> row(static_cast<size_t>(width_));
    for (int y = 0; y < height_; ++y) {
      const uint8_t* pixel = image.Row(y);
      for (GifPixelType& index : row) {
        index = Nearest(pixel);
        pixel += 3;
      }
      Must(EGifPutLine(gif_, row.data(), width_));
    }
  }

  GifPixelType Nearest(const uint8_t* pixel) {
    const size_t key =
        (static_cast<size_t>(pixel[0] >> 2) << 13) | (static_cast<size_t>(pixel[1] >> 1) << 6) | (pixel[2] >> 2);
    int16_t& known = nearest_[key];
    if (known >= 0) return static_cast<GifPixelType>(known);
    int least = std::numeric_limits<int>::max();
    for (int k = 0; k < palette_->ColorCount; ++k) {
      const GifColorType& color = palette_->Colors[k];
      const int r = color.Red - pixel[0], g = color.Green - pixel[1], b = color.Blue - pixel[2];
      const int squared = 3 * r * r + 6 * g * g + b * b;  // as eyes weigh them
      if (squared >= least) continue;
      least = squared;
      known = static_cast<int16_t>(k);
    }
    return static_cast<GifPixelType>(known);
  }

  fs::path file_;
  int width_, height_;
  int delay_;  // [1/100 s] of a picture
  GifFileType* gif_ = nullptr;
  ColorMapObject* palette_ = nullptr;
  std::vector<Image> first_;
  std::vector<int16_t> nearest_;  // color of the palette for each color of 6, 7 and 6 bits, where known
  std::string bytes_;
};

}  // namespace

VideoKind VideoKindOf(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".mp4") return VideoKind::kMp4;
  if (ending == ".webm") return VideoKind::kWebm;
  if (ending == ".gif") return VideoKind::kGif;
  throw UsageError(file.string() + ": found the ending " + (ending.empty() ? "(none)" : ending) +
                   ", expected .mp4, .webm or .gif");
}

fs::path FindVideoProgram(VideoKind kind, const std::string& wanted) {
  if (kind == VideoKind::kGif) return {};
  const std::string name = wanted.empty() ? "ffmpeg" : wanted;
  fs::path found = io::FindProgram(name);
  if (!found.empty()) return found;
  if (!wanted.empty()) throw UsageError(wanted + ": found no such program, expected FFmpeg");
  throw UsageError(
      "a video as MP4 or WebM needs FFmpeg, and there is none on the PATH: install it (on Debian: apt-get install "
      "ffmpeg), or choose the ending .gif, which needs nothing");
}

std::unique_ptr<VideoWriter> OpenVideo(const fs::path& file, VideoKind kind, const fs::path& program, int width,
                                       int height, double frames_per_second) {
  if (kind == VideoKind::kGif) return std::make_unique<GifWriter>(file, width, height, frames_per_second);
  return std::make_unique<FfmpegWriter>(file, kind, program, width, height, frames_per_second);
}

}  // namespace retrace::rendering
