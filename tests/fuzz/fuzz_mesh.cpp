#include <cmath>
#include <string>

#include "reader_laws.h"
#include "retrace/body_fitting/skinned_mesh.h"

namespace {

using namespace retrace;

void RequireWhole(const body_fitting::SkinnedMesh& mesh) {
  fuzz::Require(!FindFault(mesh.surface).any(), "an accepted surface bounds a solid");
  fuzz::Require(mesh.weights.size() == mesh.surface.vertices.size(), "each vertex has weights");
  for (const auto& weights : mesh.weights) {
    double sum = 0;
    for (const body_fitting::SkinWeight& weight : weights) {
      fuzz::Require(weight.joint >= 0 && static_cast<size_t>(weight.joint) < mesh.joints.size(), "weights have joints");
      sum += weight.share;
    }
    fuzz::Require(std::abs(sum - 1) < 1e-9, "weights sum up to 1");
  }
  for (size_t j = 0; j < mesh.joints.size(); ++j) {
    fuzz::Require(mesh.joints[j].parent < static_cast<int>(j), "parents come first");
    fuzz::Require((mesh.joints[j].parent < 0) == (j == 0), "there is one root");
    fuzz::Require(mesh.joints[j].place.allFinite(), "joints are somewhere");
  }
}

}  // namespace

// The bytes are a GLB file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Reads([&] {
    RequireWhole(body_fitting::ParseSkinnedGlb(std::string(reinterpret_cast<const char*>(data), size), "fuzz.glb"));
  });
  return 0;
}
