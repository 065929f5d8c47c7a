/// Places of the joints of a recording as a table: frame, joint, x, y, z [m, or file units where the file states none].
///
/// usage: joint_positions FILE [SKELETON]
#include <cstdio>
#include <exception>

#include "retrace/recordings/recording.h"

int main(int argc, char** argv) try {
  using namespace retrace;
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s FILE [SKELETON]\n", argv[0]);
    return 2;
  }
  const motion::Clip clip = recordings::ReadRecording(argv[1], argc == 3 ? argv[2] : "");
  const double unit = clip.unit > 0 ? clip.unit : 1;
  motion::GlobalPose pose;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    motion::ForwardKinematics(clip.skeleton, clip.frames[f], pose);
    for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
      if (clip.skeleton.joints[j].end_site) continue;
      const Vec3 place = unit * pose.positions[j];
      std::printf("%zu\t%s\t%.9g\t%.9g\t%.9g\n", f, clip.skeleton.joints[j].name.c_str(), place.x(), place.y(),
                  place.z());
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
