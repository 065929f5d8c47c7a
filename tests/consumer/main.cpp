/// Reads a clip and measures its frames on two threads, with nothing but the installed headers and libraries.
#include <retrace/io/error.h>
#include <retrace/motion/bvh.h>
#include <retrace/parallel/task_farm.h>
#include <retrace/reconstruction/search.h>
#include <retrace/results/run_folder.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  using namespace retrace;
  parallel::MpiSession session(&argc, &argv);
  if (argc != 2) return static_cast<int>(ExitCode::kUsage);
  const motion::Clip clip = motion::ReadBvh(argv[1]);

  std::vector<parallel::Bytes> tasks;
  for (size_t frame = 0; frame < clip.frames.size(); ++frame) {
    tasks.emplace_back(sizeof frame);
    std::memcpy(tasks.back().data(), &frame, sizeof frame);
  }
  const auto farm = parallel::MakeThreadFarm(2, [&]() -> parallel::Worker {
    return [&](std::span<const std::byte> task, parallel::Bytes& result) {
      size_t frame = 0;
      std::memcpy(&frame, task.data(), sizeof frame);
      const double height = clip.frames[frame].translations[0].y();
      result.resize(sizeof height);
      std::memcpy(result.data(), &height, sizeof height);
    };
  });
  double sum = 0;
  farm->Run(tasks, [&](size_t, std::span<const std::byte> result) {
    double height = 0;
    std::memcpy(&height, result.data(), sizeof height);
    sum += height;
  });
  std::printf("%zu frames, mean height of the root %g\n", clip.frames.size(),
              sum / static_cast<double>(clip.frames.size()));
  return sum > 0 ? 0 : 1;
}
