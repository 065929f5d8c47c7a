/// From a clip to a verified control, with nothing but the installed headers and libraries. Small, so that it takes a
/// second.
///
/// usage: consumer CLIP.bvh [PREFIX]
///   PREFIX   where the package is: its characters are used, and no others
#include <dlfcn.h>
#include <retrace/math/elementary.h>
#include <retrace/retrace.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

/// The program computes with its own C library, whatever the library calls.
void CheckMathematics() {
  double (*const sine)(double) = std::sin;
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(sine), &info) == 0 ||
      std::string(info.dli_fname).find("libm") == std::string::npos) {
    throw std::runtime_error("std::sin is not that of the C library");
  }
  if (std::abs(retrace_sin(0.5) - 0.479425538604203) > 1e-15) throw std::runtime_error("retrace_sin is no sine");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) throw std::invalid_argument("usage: consumer CLIP.bvh [PREFIX]");
  CheckMathematics();
  const std::filesystem::path character = retrace::runs::FindCharacter("human");
  if (argc > 2 && character != std::string(argv[2]) + "/share/retrace/characters/human.json") {
    throw std::runtime_error(character.string() + " is not of the package");
  }
  std::string folder = std::filesystem::temp_directory_path() / "retrace-consumer-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  retrace::runs::JobOptions options;
  options.clip.file = argv[1];
  options.clip.end = 0.5;
  options.configuration.sampling.samples = 60;
  options.configuration.sampling.selection.saved = 12;
  const retrace::runs::Job job(options);
  const retrace::runs::Reconstruction result = retrace::runs::Reconstruct(job);
  const retrace::control::Motion motion = retrace::runs::SimulateAgain(job, result);
  if (motion.num_steps() != result.num_steps) throw std::runtime_error("the motion is not that of the result");
  retrace::runs::WriteRun(folder, job, result);
  const std::string difference = retrace::runs::Verify(retrace::runs::StoredRun(folder)).difference;
  std::filesystem::remove_all(folder);
  std::printf("%.2f s: %s, %s\n", motion.duration(), result.success() ? "success" : "outside the tolerances",
              difference.empty() ? "verified" : difference.c_str());
  return result.success() && difference.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::fprintf(stderr, "consumer: %s\n", error.what());
  return EXIT_FAILURE;
}
