/// The trees of a world: one for each character, and one of a single body for each body that moves freely. Everything
/// that steps the world or looks for contacts counts bodies and joints as Layout does, and takes them from here.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/simulation/environment.h"
#include "retrace/simulation/layout.h"

namespace retrace::simulation {

/// Bodies that hang together by joints.
struct Tree {
  size_t first_body = 0;
  size_t num_bodies = 0;
  size_t first_joint = 0;
  size_t num_joints = 0;
  int root = -1;        // body of the world
  bool planar = false;  // the root keeps to the plane across its x axis
};

/// What a body weighs, about its center of mass.
struct BodyMass {
  double mass = 0;                         // [kg]
  Vec3 inertia = Vec3::Zero();             // principal moments [kg m^2]
  Mat3 principal_axes = Mat3::Identity();  // of the inertia, in the body
  bool turned = false;                     // they are not the body's own

  Mat3 Tensor() const { return principal_axes * inertia.asDiagonal() * principal_axes.transpose(); }
};

struct Forest {
  Forest(std::span<const character::Character* const> characters, const Environment& environment);
  explicit Forest(const character::Character& character, const Environment& environment = {});

  size_t num_bodies() const { return masses.size(); }
  size_t num_characters() const { return layout.num_characters(); }
  size_t TreeOf(int body) const { return tree_of[static_cast<size_t>(body)]; }
  const character::Body& BodyOf(int body) const { return *bodies[static_cast<size_t>(body)]; }

  Layout layout;
  std::vector<const character::Body*> bodies;  // of the characters, which must outlive the forest
  std::vector<character::Joint> joints;        // of the characters; parent and child are bodies of the world
  std::vector<BodyMass> masses;                // (bodies)
  std::vector<Tree> trees;                     // the characters' first
  std::vector<size_t> tree_of;                 // (bodies)
  /// Pairs of bodies of one character that may touch.
  std::vector<std::pair<int, int>> self_pairs;
};

}  // namespace retrace::simulation
