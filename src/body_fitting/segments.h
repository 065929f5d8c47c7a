/// A skinned mesh as parts of a human, in the T-pose of the characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "retrace/body_fitting/skinned_mesh.h"
#include "retrace/io/json.h"

namespace retrace::body_fitting {

/// The number of a joint, vertex or segment as the index of a vector.
inline size_t Index(int i) {
  return static_cast<size_t>(i);
}

/// The segments that the mesh has: pelvis, trunk, head, and with left_ or right_ clavicle (may be missing), upper_arm,
/// lower_arm, hand, thigh, shin and foot. Toes belong to feet, fingers to hands, necks to heads, spines to the trunk.
struct Segments {
  std::string joints_by;           ///< by which names the joints were recognized
  std::vector<std::string> names;  ///< parents before children
  std::vector<int> parents;        ///< (segments)
  std::vector<Vec3> bases;         ///< (segments) where the joint is that moves it
  std::vector<int> of_triangle;    ///< (triangles of the mesh)
  std::vector<int> of_joint;       ///< (joints of the mesh)
  TriangleMesh surface;            ///< with the vertices where the pose puts them
  double scale = 1;                ///< of the file
  /// (segments) What the pose does to what a segment moves alone, from where it is in the file times `scale`.
  std::vector<Eigen::Isometry3d> moves;

  int Find(const std::string& name) const;
};

struct RestPose {
  Segments segments;
  double turned = 0;  ///< about the vertical [rad]
};

/// In the units of the file; the left is at x > 0. Throws InputError.
RestPose PoseAtRest(const SkinnedMesh& mesh, const std::string& name, const io::JsonView* map);

}  // namespace retrace::body_fitting
