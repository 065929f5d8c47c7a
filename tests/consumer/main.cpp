/// From a clip to a verified control, with nothing but the installed headers and libraries. Small, so that it takes a
/// second.
///
/// usage: consumer CLIP.bvh [PREFIX]
///   PREFIX   where the package is: its characters are used, and no others
#include <retrace/runs/data_files.h>
#include <retrace/runs/reconstruction.h>
#include <retrace/runs/stored_run.h>

#include <cstdio>
#include <cstdlib>

#include "retrace/runs/stored/verification.h"

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) throw std::invalid_argument("usage: consumer CLIP.bvh [PREFIX]");
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
  retrace::runs::WriteRun(folder, job, result);
  const std::string difference = retrace::runs::Verify(StoredRun(folder)).difference;
  std::filesystem::remove_all(folder);
  std::printf("%.2f s: %s, %s\n", result.control().duration(), result.success() ? "success" : "below the gates",
              difference.empty() ? "verified" : difference.c_str());
  return result.success() && difference.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::fprintf(stderr, "consumer: %s\n", error.what());
  return EXIT_FAILURE;
}
