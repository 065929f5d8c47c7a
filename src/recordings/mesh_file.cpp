#include "retrace/recordings/mesh_file.h"

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#include <cmath>

namespace retrace::recordings {
namespace {

constexpr uintmax_t kLargestMesh = uintmax_t{200} << 20;  // [bytes]

}  // namespace

std::optional<TriangleMesh> ReadMesh(const std::filesystem::path& file, const Vec3& scale, std::string& why) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  if (error) {
    why = "is not there";
    return std::nullopt;
  }
  if (size > kLargestMesh) {
    why = "is larger than 200 MB";
    return std::nullopt;
  }
  Assimp::Importer importer;
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);  // links have axes of their own
  const aiScene* scene = importer.ReadFile(file.string(), aiProcess_Triangulate | aiProcess_PreTransformVertices);
  TriangleMesh mesh;
  for (unsigned m = 0; scene != nullptr && m < scene->mNumMeshes; ++m) {
    const aiMesh& part = *scene->mMeshes[m];
    const auto first = static_cast<int>(mesh.vertices.size());
    for (unsigned v = 0; v < part.mNumVertices; ++v) {
      const aiVector3D& vertex = part.mVertices[v];
      mesh.vertices.push_back(scale.cwiseProduct(Vec3(vertex.x, vertex.y, vertex.z)));
      if (!mesh.vertices.back().allFinite()) {
        why = "has a vertex that is no number";
        return std::nullopt;
      }
    }
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      if (face.mNumIndices != 3) continue;
      mesh.triangles.push_back({first + static_cast<int>(face.mIndices[0]), first + static_cast<int>(face.mIndices[1]),
                                first + static_cast<int>(face.mIndices[2])});
    }
  }
  if (mesh.triangles.empty()) {
    why = scene == nullptr ? "cannot be read" : "has no triangles";
    return std::nullopt;
  }
  return mesh;
}

}  // namespace retrace::recordings
