#include "retrace/runs/stored/perturbation.h"

#include <algorithm>

#include "retrace/character/builder.h"
#include "retrace/dynamics/tangent.h"
#include "retrace/io/assignment.h"
#include "retrace/math/random.h"
#include "retrace/runs/stored/stored_run.h"

namespace retrace::runs {
namespace {

/// With other masses and moments, and the same servos.
character::Character WithMass(const character::Character& character, double mass) {
  const double factor = mass / character.total_mass();
  character::CharacterBuilder builder(character);
  for (const character::Body& body : character.bodies) {
    builder.SetMass(body.name, factor * body.mass);
    builder.SetInertia(body.name, factor * body.InertiaTensor());
  }
  return builder.Build(character.name + " with another mass");
}

void AddNoise(const character::Character& character, double deviation, uint64_t seed, character::State& start) {
  const dynamics::Coordinates coordinates(character);
  const Eigen::Index n = coordinates.size();
  RandomStream random(seed, RandomStage::kStart, 0, 0);
  Eigen::VectorXd difference = Eigen::VectorXd::Zero(2 * n);
  for (Eigen::Index i = 6; i < n; ++i) {
    difference[i] = 0.1 * deviation * random.Normal();
    difference[n + i] = deviation * random.Normal();
  }
  const auto own = static_cast<std::ptrdiff_t>(character.bodies.size());
  character::State bodies(start.begin(), start.begin() + own);
  dynamics::MotionPoint point;
  dynamics::Reduce(coordinates, bodies, point);
  dynamics::Apply(coordinates, difference, point);
  dynamics::Expand(coordinates, point, bodies);
  std::copy(bodies.begin(), bodies.end(), start.begin());
}

}  // namespace

void Describe(Perturbation& p, io::FieldVisitor& v) {
  v.Section({"simulation", "The world; null: as it was"}, [&](io::FieldVisitor& section) {
    section.Field({"friction", "Coefficient of friction"}, p.friction, io::OptionalReal{simulation::kFrictions});
    section.Field({"gravity", "Acceleration of free fall, downwards", "m/s^2"}, p.gravity,
                  io::OptionalReal{simulation::kGravities});
    section.Field({"contact_stiffness", "Stiffness of a contact point", "N/m"}, p.contact_stiffness,
                  io::OptionalReal{simulation::kStiffnesses});
    section.Field({"contact_damping", "Damping of a contact point", "N s/m"}, p.contact_damping,
                  io::OptionalReal{simulation::kDampings});
  });
  v.Section({"character", "The body; null: as it was"}, [&](io::FieldVisitor& section) {
    section.Field({"mass", "Mass of the whole character, with the servos as they are", "kg"}, p.mass,
                  io::OptionalReal{{1e-3, 1e6}});
  });
  v.Section({"start", "The start"}, [&](io::FieldVisitor& section) {
    section.Field({"noise",
                   "Standard deviation of random rates of the joints, in rad/s; that of their angles is a tenth of "
                   "the number, in rad"},
                  p.noise, io::Real{{0, 10}});
    section.Field({"seed", "Seed of these"}, p.seed, io::Natural{});
  });
}

void Describe(ReplaySettings& s, io::FieldVisitor& v) {
  Describe(s.perturbation, v);
  Describe(s.reindexing, v);
  Describe(s.sensors, v);
}

void ReplaySettings::Set(const std::string& assignment) {
  io::TakeAssignment(assignment, *this);
}

void Perturb(const Perturbation& perturbation, StoredRun& run) {
  if (perturbation.empty()) return;
  run.RequireOneCharacter("another world, body or start is that of one");
  simulation::WorldOptions& world = run.scene.world;
  if (perturbation.friction) world.friction = *perturbation.friction;
  if (perturbation.gravity) world.gravity = *perturbation.gravity;
  if (perturbation.contact_stiffness) world.contact_stiffness = *perturbation.contact_stiffness;
  if (perturbation.contact_damping) world.contact_damping = *perturbation.contact_damping;
  if (perturbation.mass) run.scene.characters[0] = WithMass(run.scene.characters[0], *perturbation.mass);
  if (perturbation.noise > 0) {
    AddNoise(run.scene.characters[0], perturbation.noise, perturbation.seed, run.scene.start);
  }
}

}  // namespace retrace::runs
