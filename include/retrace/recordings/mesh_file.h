/// Triangles of mesh files: STL, OBJ, Collada and what else Assimp reads.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "retrace/math/triangle_mesh.h"

namespace retrace::recordings {

/// All triangles of a file, in the file's own axes, scaled. Nothing where there is no such file, or where it cannot be
/// read; `why` then says it.
std::optional<TriangleMesh> ReadMesh(const std::filesystem::path& file, const Vec3& scale, std::string& why);

}  // namespace retrace::recordings
