#include "retrace/simulation/world.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "collision.h"
#include "contact_forces.h"
#include "ode_library.h"
#include "ode_stepper.h"
#include "retrace/math/rotation.h"
#include "solver_proof.h"
#include "tree_dynamics.h"

namespace retrace::simulation {
namespace {

using character::Character;
using character::Joint;
using character::State;

constexpr double kFarAway = 1000;       // [m] no motion goes there: the simulation has diverged
constexpr double kTooFast = 300;        // [rad/s]
constexpr double kTooFastLinear = 100;  // [m/s]
constexpr double kFrictionCfm = 1e-10;  // keeps friction at points on one line determined [m/s/N]

StepLaw LawOf(const WorldOptions& options) {
  const double h = options.time_step;
  StepLaw law;
  law.time_step = h;
  law.gravity = options.gravity;
  law.joint_erp = options.joint_correction * h / (1 + options.joint_correction * h);
  // The same spring and damper at every step size (ODE manual, section on ERP and CFM).
  law.contact.erp = h * options.contact_stiffness / (h * options.contact_stiffness + options.contact_damping);
  law.contact.cfm = 1 / (h * options.contact_stiffness + options.contact_damping);
  law.contact.fastest_push = options.contact_correcting_velocity;
  law.contact.friction = options.friction;
  law.contact.friction_cfm = kFrictionCfm;
  return law;
}

CollisionOptions CollisionOf(const WorldOptions& options) {
  CollisionOptions collision;
  collision.time_step = options.time_step;
  collision.gravity = options.gravity;
  collision.self_collision = options.self_collision;
  collision.speculative_contacts = options.speculative_contacts;
  collision.ground_points_per_shape = options.ground_points_per_shape;
  collision.self_points_per_pair = options.self_points_per_pair;
  return collision;
}

}  // namespace

struct World::Impl {
  Impl(const Character& character_, const WorldOptions& options_)
      : character(character_),
        options(options_),
        law(LawOf(options_)),
        collision(character_, CollisionOf(options_)),
        ode(std::make_unique<OdeStepper>(character_, law)) {
    const bool fits = character.bodies.size() <= TreeDynamics::kMaxBodies;
    if (options.solver == Solver::kEliminated && fits && WhyStockSolver().empty()) tree.emplace(character, law);
    bodies.resize(character.bodies.size());
    for (size_t i = 0; i < bodies.size(); ++i) bodies[i].position = character.bodies[i].rest_position;
    motors.resize(character.joints.size());
    if (options.servo == Servo::kExplicit) body_torques.resize(character.bodies.size());
    scale.resize(character.joints.size());
    contacts.reserve(256);
    torques.assign(character.joints.size(), Vec3::Zero());
  }

  // ---- servos

  /// Factor on a joint's gains: its contact scale while it or anything beyond it touches the ground.
  void UpdateScales() {
    std::fill(scale.begin(), scale.end(), 1.0);
    if (options.contact_scale.empty()) return;
    std::vector<char>& grounded = collision.grounded();
    for (size_t j = character.joints.size(); j-- > 0;) {  // children come after parents
      const Joint& joint = character.joints[j];
      const bool touched = grounded[static_cast<size_t>(joint.child)];
      if (touched) scale[j] = options.contact_scale[j];
      // A joint nearer the root carries what touches beyond it, within the same limb.
      if (touched && joint.parent != character.root) grounded[static_cast<size_t>(joint.parent)] = true;
    }
  }

  void DriveServos(std::span<const Quat> targets) {
    std::fill(body_torques.begin(), body_torques.end(), Vec3::Zero());
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const Joint& joint = character.joints[j];
      const BodyMotion& parent = bodies[static_cast<size_t>(joint.parent)];
      const BodyMotion& child = bodies[static_cast<size_t>(joint.child)];
      const Quat rotation = parent.orientation.conjugate() * child.orientation;
      const Vec3 error = RotationVector(targets[j] * rotation.conjugate());  // in the parent's axes
      if (options.servo == Servo::kImplicit) {
        // With w+ the relative rate and tau the torque at the end of the step,
        //   tau = kp (err - h w+) - kd w+   <=>   w+ + tau / (h kp + kd) = kp err / (h kp + kd).
        const double damping = options.time_step * joint.kp + joint.kd;
        for (int a = 0; a < 3; ++a) {
          if (!joint.UsesAxis(a)) continue;
          motors[j].rate[a] = joint.kp / damping * error[a];  // the scales cancel
          motors[j].compliance[a] = 1 / (damping * joint.strength_scale[a] * scale[j]);
        }
      } else {
        const Vec3 rates = parent.rotation.transpose() * (child.angular_velocity - parent.angular_velocity);
        Vec3 torque = Vec3::Zero();
        for (int a = 0; a < 3; ++a) {
          if (!joint.UsesAxis(a)) continue;
          torque[a] = joint.strength_scale[a] * scale[j] * (joint.kp * error[a] - joint.kd * rates[a]);
        }
        torques[j] = torque;
        const Vec3 world_torque = parent.rotation * torque;
        body_torques[static_cast<size_t>(joint.child)] += world_torque;
        body_torques[static_cast<size_t>(joint.parent)] -= world_torque;
      }
    }
  }

  // ---- steps

  bool IsSane() const {
    for (const BodyMotion& body : bodies) {
      for (int k = 0; k < 3; ++k) {
        // Written so that not-a-number fails.
        if (!(std::abs(body.position[k]) < kFarAway && std::abs(body.linear_velocity[k]) < kTooFastLinear &&
              std::abs(body.angular_velocity[k]) < kTooFast)) {
          return false;
        }
      }
    }
    return true;
  }

  void SetState(const State& state) {
    contact_forces.Reset();
    has_state = true;
    for (size_t i = 0; i < bodies.size(); ++i) {
      BodyMotion& body = bodies[i];
      body.position = state[i].position;
      body.orientation = state[i].orientation.normalized();
      body.rotation = body.orientation.toRotationMatrix();
      body.linear_velocity = state[i].linear_velocity;
      body.angular_velocity = state[i].angular_velocity;
      // What cannot be normalised is no orientation: the next step tells.
      has_state = has_state && std::abs(body.orientation.norm() - 1) < 1e-9;
    }
  }

  /// With ODE's own solver. False when it reports an error.
  bool StepWithOde(const StepInput& input) {
    try {
      ode->Step(bodies, input, recording ? &forces : nullptr);
      return true;
    } catch (const std::runtime_error&) {
      ode = std::make_unique<OdeStepper>(character, law);  // nothing inside the other can be relied on any more
      return false;
    }
  }

  bool StepWithTree(const StepInput& input) {
    tree->Begin(bodies, input);
    if (!contact_forces.Solve(input.contacts, law, *tree, bodies)) {
      contact_forces.Reset();
      return IsSane() && StepWithOde(input);
    }
    tree->Finish(bodies);
    if (recording) {
      forces.contacts = contact_forces.forces();
      forces.motors.resize(motors.size());
      for (size_t j = 0; j < motors.size(); ++j) forces.motors[j] = tree->MotorTorque(static_cast<int>(j));
    }
    return true;
  }

  bool Step(std::span<const Quat> targets) {
    if (!has_state) return false;
    has_state = TakeStep(targets) && IsSane();
    return has_state;
  }

  bool TakeStep(std::span<const Quat> targets) {
    try {
      collision.Find(bodies);
    } catch (const std::runtime_error&) {
      return false;
    }
    UpdateScales();
    DriveServos(targets);
    const StepInput input{collision.points(), motors, body_torques, body_forces};
    if (!(tree ? StepWithTree(input) : StepWithOde(input))) return false;
    contacts.clear();
    for (const ContactPoint& point : input.contacts) {
      contacts.push_back({point.body, point.other, point.position, Vec3::Zero(), point.normal});
    }
    if (recording) {
      for (size_t c = 0; c < contacts.size(); ++c) contacts[c].force = forces.contacts[c];
      if (options.servo == Servo::kImplicit) torques = forces.motors;
    }
    return true;
  }

  const Character& character;
  const WorldOptions options;
  const StepLaw law;
  Collision collision;
  std::unique_ptr<OdeStepper> ode;
  std::optional<TreeDynamics> tree;  // none: ODE's own solver
  ContactForces contact_forces;
  bool has_state = true;  // that can be simulated
  std::vector<BodyMotion> bodies;
  std::vector<Motor> motors;       // (joints)
  std::vector<Vec3> body_torques;  // (bodies) of explicit servos
  std::vector<Vec3> body_forces;   // (bodies) from outside; empty: none
  std::vector<double> scale;       // (joints) of this step
  std::vector<Contact> contacts;
  bool recording = false;
  StepForces forces;
  std::vector<Vec3> torques;
};

World::World(const Character& character, const WorldOptions& options)
    : impl_(std::make_unique<Impl>(character, options)) {}
World::~World() = default;

const WorldOptions& World::options() const {
  return impl_->options;
}
Solver World::solver() const {
  return impl_->tree ? Solver::kEliminated : Solver::kStock;
}

void World::SetState(const State& state) {
  impl_->SetState(state);
}

void World::GetState(State& state) const {
  state.resize(impl_->bodies.size());
  for (size_t i = 0; i < impl_->bodies.size(); ++i) {
    const BodyMotion& body = impl_->bodies[i];
    state[i] = {body.position, body.orientation, body.linear_velocity, body.angular_velocity};
  }
}

void World::SetForces(std::span<const Vec3> forces) {
  if (!forces.empty() && forces.size() != impl_->bodies.size()) throw std::invalid_argument("one force for each body");
  impl_->body_forces.assign(forces.begin(), forces.end());
}

bool World::Step(std::span<const Quat> targets) {
  return impl_->Step(targets);
}

void World::set_recording(bool recording) {
  impl_->recording = recording;
}
const std::vector<Contact>& World::contacts() const {
  return impl_->contacts;
}
const std::vector<Vec3>& World::torques() const {
  return impl_->torques;
}

std::string WhyStockSolver() {
  static const std::string problem = ProveTreeSolver().value_or("");
  return problem;
}

}  // namespace retrace::simulation
