/// Has a character of one's own, with the mass of a person, perform the first second of a recorded motion.
///
/// usage: own_character walk.bvh character.json 82.5
#include <retrace/retrace.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) try {
  if (argc != 4) throw retrace::UsageError("usage: own_character CLIP CHARACTER.json MASS");
  retrace::runs::JobOptions options;
  options.clip.file = argv[1];
  options.clip.end = 1;
  options.character = argv[2];
  options.mass = std::atof(argv[3]);  // [kg]; bodies and servos follow
  const retrace::runs::Job job(options);
  for (const retrace::character::Body& body : job.character().bodies) {
    std::printf("%-16s %6.2f kg\n", body.name.c_str(), body.mass);
  }
  const retrace::runs::Reconstruction result = retrace::runs::Reconstruct(job);
  std::printf("%s: %s\n", job.character().name.c_str(), result.success() ? "performed" : "outside the tolerances");
  return result.success() ? 0 : 4;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_character: %s\n", error.what());
  return 1;
}
