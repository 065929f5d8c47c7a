#include "retrace/simulation/solver_proof.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "contact_forces.h"
#include "forest.h"
#include "forest_dynamics.h"
#include "ode_stepper.h"
#include "retrace/io/number.h"

namespace retrace::simulation {
namespace {

/// Three boxes in a row: the first and the second joined by a ball, the second and the third by a hinge.
character::Character Chain() {
  character::Character chain;
  chain.root = 0;
  chain.height = 1;
  for (int i = 0; i < 3; ++i) {
    character::Body body;
    body.mass = 2.0 + i;
    body.inertia = Vec3(0.01, 0.03, 0.02) * body.mass;
    body.rest_position = Vec3(0.35 * i, 0.05, 0);
    chain.bodies.push_back(body);
    chain.joint_of_body.push_back(i - 1);
    if (i == 0) continue;
    character::Joint joint;
    joint.parent = i - 1;
    joint.child = i;
    joint.type = i == 1 ? character::JointType::kBall : character::JointType::kHinge;
    joint.axis = 2;
    joint.anchor = Vec3(0.35 * i - 0.175, 0.06, 0.01);
    chain.joints.push_back(joint);
  }
  return chain;
}

std::optional<std::string> Compare() {
  constexpr int kSteps = 30;
  constexpr double kLargestDifference = 1e-9;  // of velocities [m/s, rad/s]
  const character::Character chain = Chain();
  StepLaw law;
  law.time_step = 1.0 / 240;
  law.gravity = 9.81;
  law.joint_erp = 0.5;
  law.contact = {0.3, 1e-5, 1, 0.5, 1e-10};
  const Forest forest(chain);
  OdeStepper ode(forest, law);
  ForestDynamics dynamics(forest, law);
  ContactSolver contact_solver;
  ContactForces contact_forces;
  std::vector<BodyMotion> bodies(chain.bodies.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    const double n = static_cast<double>(i);
    bodies[i].position = chain.bodies[i].rest_position;
    bodies[i].linear_velocity = Vec3(0.1, -0.2, 0.3 * n);
    bodies[i].angular_velocity = Vec3(0.3 * n, 0.2, -0.5);
  }
  const std::vector<Motor> motors = {{Vec3(0, 0.2, 0.4), Vec3::Constant(0.1)}, {Vec3(0, 0, -0.3), Vec3::Constant(0.2)}};
  for (int step = 0; step < kSteps; ++step) {
    std::vector<ContactPoint> contacts;
    for (size_t i = 0; i < bodies.size(); ++i) {
      for (const double x : {-0.15, 0.15}) {
        const Vec3 corner = bodies[i].position + bodies[i].rotation * Vec3(x, -0.05, 0.1);
        if (corner.y() < 0.003) contacts.push_back({static_cast<int>(i), -1, corner, Vec3::UnitY(), -corner.y()});
      }
    }
    const Vec3 between = 0.5 * (bodies[0].position + bodies[2].position);
    contacts.push_back({0, 2, between, Vec3(-0.6, 0, 0.8), 0.001});
    const StepInput input{contacts, motors, {}};
    std::vector<BodyMotion> expected = bodies;
    ode.Step(expected, input, nullptr);
    const LaneStep taken{bodies, input};
    dynamics.Take({&taken, 1});
    dynamics.Begin({&taken, 1});
    ContactSolver::Begin(contacts, dynamics);
    dynamics.FindResponses();
    if (!contact_solver.Solve(contacts, law, dynamics, 0, bodies, contact_forces))
      return "a contact problem was not solved";
    dynamics.Finish({&taken, 1});
    for (size_t i = 0; i < bodies.size(); ++i) {
      const double difference =
          std::max((bodies[i].linear_velocity - expected[i].linear_velocity).cwiseAbs().maxCoeff(),
                   (bodies[i].angular_velocity - expected[i].angular_velocity).cwiseAbs().maxCoeff());
      if (!(difference < kLargestDifference)) {
        return std::string("velocities differ by ").append(io::Number(difference)).append(" from those of ODE's step");
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ProveTreeSolver() {
  try {
    return Compare();
  } catch (const std::bad_alloc&) {  // which says nothing of the solver
    throw;
  } catch (const std::exception& error) {
    return std::string("ODE reports: ").append(error.what());
  }
}

std::string WhyStockSolver() {
  static const std::string problem = ProveTreeSolver().value_or("");
  return problem;
}

}  // namespace retrace::simulation
