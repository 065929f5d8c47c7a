/// Bodies from numbers: a closed surface with skin weights, slim, medium or heavy.
#pragma once

#include <string>
#include <vector>

#include "retrace/body_fitting/skinned_mesh.h"

namespace retrace::make_meshes {

/// What distinguishes the bodies. Lengths of bones follow the height; girths are radii [m].
struct BodyNumbers {
  std::string name;
  double height;
  double hips, waist, chest;  ///< half widths of the trunk at these heights
  double belly, back;         ///< half depths of waist and chest
  double belly_forward;       ///< how far the belly's middle is in front of the spine
  double thigh, knee, calf, ankle;
  double upper_arm, elbow, wrist;
  double neck, head;
};

/// slim, medium, heavy.
const std::vector<BodyNumbers>& Bodies();

/// @param arms angle of the arms below the horizontal: 0 for a T-pose [rad] @param spacing of the grid on which the
/// surface is found [m]
body_fitting::SkinnedMesh MakeBodyMesh(const BodyNumbers& numbers, double arms = 0, double spacing = 0.02);

}  // namespace retrace::make_meshes
