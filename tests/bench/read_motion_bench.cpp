/// Speed of reading motion files, in bytes of text per second of CPU time on one core. The file is 100 MB of a human of
/// 22 joints, as a long recording is, and is made in the folder for temporary files.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"

namespace retrace::motion {
namespace {

constexpr size_t kFileBytes = 100'000'000;
constexpr int kJoints = 22;

/// Value of a channel at a frame: smooth, with the digits that a recording has.
double Value(size_t frame, int channel) {
  return 60 * std::sin(0.01 * static_cast<double>(frame) + 0.7 * channel);
}

/// @param decimals as exporters print them: 6 (most), 4 (some)
std::string MakeBvh(size_t bytes, int decimals) {
  std::string text =
      "HIERARCHY\nROOT joint0\n{\nOFFSET 0 90 0\n"
      "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n";
  for (int j = 1; j < kJoints; ++j) {
    text += std::string("JOINT joint").append(std::to_string(j)) +
            "\n{\nOFFSET 1 10 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n";
  }
  text += "End Site\n{\nOFFSET 0 10 0\n}\n" + std::string(kJoints, '}') + "\nMOTION\n";
  std::string rows;
  size_t frames = 0;
  for (; rows.size() < bytes; ++frames) {
    for (int c = 0; c < 3 + 3 * kJoints; ++c) {
      if (c > 0) rows += ' ';
      io::AppendFixed(rows, Value(frames, c), decimals);
    }
    rows += '\n';
  }
  return text + "Frames: " + std::to_string(frames) + "\nFrame Time: 0.008333\n" + rows;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "read_motion_bench.XXXXXX").string();
    const int file = ::mkstemp(name.data());
    if (file < 0) std::abort();
    ::close(file);
    path_ = name;
    io::WriteFile(path_, bytes);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void ReadBvhFile(benchmark::State& bench) {
  const std::string text = MakeBvh(kFileBytes, static_cast<int>(bench.range(0)));
  const TemporaryFile file(text);
  for (auto _ : bench) benchmark::DoNotOptimize(ReadBvh(file.path()));
  bench.SetBytesProcessed(static_cast<int64_t>(bench.iterations() * text.size()));
}
BENCHMARK(ReadBvhFile)->Arg(6)->Arg(4)->ArgName("decimals")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace retrace::motion

BENCHMARK_MAIN();
