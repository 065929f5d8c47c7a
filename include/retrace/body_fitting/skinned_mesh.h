/// The surface of a body with the joints that move it: a GLB file (binary glTF 2.0) with a skin.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "retrace/math/triangle_mesh.h"
#include "retrace/math/types.h"

namespace retrace::body_fitting {

inline constexpr size_t kLargestMesh = size_t{200} << 20;  ///< the file [bytes]
inline constexpr size_t kMostMeshVertices = 200000;        ///< of the surface, those of all primitives together
inline constexpr size_t kMostMeshTriangles = 400000;       ///< the same
inline constexpr size_t kMostMeshJoints = 1000;            ///< nodes of the file

struct SkinJoint {
  std::string name;
  int parent = -1;              ///< comes before its children; -1: of the first joint, the only root
  Vec3 place = Vec3::Zero();    ///< in the pose of the file [file units, axes of the file's scene]
  bool moves_vertices = false;  ///< a joint of a skin, and no other node of the scene
};

/// How much of a vertex a joint moves.
struct SkinWeight {
  int joint = -1;
  double share = 0;  ///< the shares of a vertex sum up to 1
};

struct SkinnedMesh {
  TriangleMesh surface;                          ///< in the pose of the file, as a viewer shows it [file units]
  std::vector<std::vector<SkinWeight>> weights;  ///< (vertices)
  std::vector<SkinJoint> joints;
};

/// Reads a GLB file: all triangles of all meshes that have a skin, posed by the nodes of the file. Vertices at one
/// place are joined, because exporters part them where texture or normals are. Throws InputError with the JSON pointer,
/// what was found and what was expected, also for a surface that is not closed, for triangles without area, for
/// vertices without weights, and for files whose numbers do not fit their bytes. Memory is in proportion to the file.
/// @param name stands for the file in messages
SkinnedMesh ParseSkinnedGlb(const std::string& bytes, const std::string& name);

/// Bytes of a GLB file of the mesh: one node per joint, which has its position and no rotation, one mesh, one skin.
/// Places and weights are 32-bit floats; the four largest weights of a vertex are written.
std::string FormatSkinnedGlb(const SkinnedMesh& mesh, const std::string& name);

}  // namespace retrace::body_fitting
