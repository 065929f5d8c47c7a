/// Writes a recorded motion of any format that is read (C3D, FBX, glTF, AMC, TRC, SMPL ...) as BVH.
///
/// usage: convert recording.c3d motion.bvh
///        convert motion.amc motion.bvh skeleton.asf
#include <retrace/retrace.h>

#include <cstdio>
#include <fstream>

int main(int argc, char** argv) try {
  if (argc < 3 || argc > 4) throw retrace::UsageError("usage: convert RECORDING OUTPUT.bvh [SKELETON]");
  const retrace::motion::Clip clip = retrace::recordings::ReadRecording(argv[1], argc > 3 ? argv[3] : "");
  for (const std::string& note : clip.notes) std::printf("%s\n", note.c_str());
  std::ofstream output(argv[2]);
  output << retrace::motion::FormatBvh(clip);
  if (!output.flush()) throw retrace::OutputError(std::string(argv[2]) + ": cannot be written");
  std::printf("%zu joints, %zu frames, %.2f s\n", clip.skeleton.joints.size(), clip.frames.size(), clip.duration());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "convert: %s\n", error.what());
  return 1;
}
