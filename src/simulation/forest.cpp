#include "forest.h"

#include <Eigen/Eigenvalues>

namespace retrace::simulation {
namespace {

BodyMass MassOf(const FreeBody& body) {
  if (!body.compound()) return {body.mass, body.Inertia()};
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(body.tensor);
  BodyMass mass{body.mass, solver.eigenvalues(), solver.eigenvectors(), true};
  if (mass.principal_axes.determinant() < 0) mass.principal_axes.col(0) *= -1;
  return mass;
}

}  // namespace

Forest::Forest(std::span<const character::Character* const> characters, const Environment& environment)
    : layout(characters, environment) {
  for (size_t c = 0; c < characters.size(); ++c) {
    const character::Character& character = *characters[c];
    const Tree tree{masses.size(),           character.bodies.size(),          joints.size(),
                    character.joints.size(), layout.BodyOf(c, character.root), character.planar};
    for (const character::Body& body : character.bodies) {
      bodies.push_back(&body);
      masses.push_back({body.mass, body.inertia, body.principal_axes, body.turned});
      tree_of.push_back(trees.size());
    }
    for (character::Joint joint : character.joints) {
      joint.parent = layout.BodyOf(c, joint.parent);
      joint.child = layout.BodyOf(c, joint.child);
      joints.push_back(std::move(joint));
    }
    for (const auto& [a, b] : character.self_pairs) {
      self_pairs.emplace_back(layout.BodyOf(c, a), layout.BodyOf(c, b));
    }
    trees.push_back(tree);
  }
  for (size_t f = 0; f < environment.bodies.size(); ++f) {
    trees.push_back({masses.size(), 1, joints.size(), 0, layout.FreeBody(f)});
    tree_of.push_back(trees.size() - 1);
    masses.push_back(MassOf(environment.bodies[f]));
  }
}

Forest::Forest(const character::Character& character, const Environment& environment)
    : Forest(std::vector<const character::Character*>{&character}, environment) {}

}  // namespace retrace::simulation
