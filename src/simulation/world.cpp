#include "retrace/simulation/world.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "collision.h"
#include "contact_forces.h"
#include "contact_laws.h"
#include "object_collision.h"
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
// A free body that is slower than this before and after a step, while something holds it, is put to rest. Gravity alone
// is faster after one step of 1/240 s.
constexpr double kRestSpeed = 0.005;    // [m/s]
constexpr double kRestRate = 0.05;      // [rad/s]
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

StepLaw LawOf(const WorldOptions& options, const ContactLaws& laws) {
  StepLaw law = LawOf(options);
  law.others = laws.others();
  for (const Box& box : options.environment.boxes) law.moving_surfaces = law.moving_surfaces || box.course;
  return law;
}

std::vector<FreeMass> MassesOf(const Environment& environment) {
  std::vector<FreeMass> masses;
  for (const FreeBody& body : environment.bodies) masses.push_back({body.mass, body.Inertia()});
  return masses;
}

CollisionOptions CollisionOf(const WorldOptions& options, const ContactLaws& laws) {
  CollisionOptions collision;
  collision.time_step = options.time_step;
  collision.gravity = options.gravity;
  collision.self_collision = options.self_collision;
  collision.speculative_contacts = options.speculative_contacts;
  collision.ground_points_per_shape = options.ground_points_per_shape;
  collision.self_points_per_pair = options.self_points_per_pair;
  collision.ground = options.environment.ground.present;
  collision.ground_height = options.environment.ground.height;
  collision.ground_law = laws.Of(ContactLaws::kCharacter, ContactLaws::kGround);
  return collision;
}

}  // namespace

struct World::Impl {
  Impl(const Character& character_, const WorldOptions& options_)
      : character(character_),
        options(options_),
        laws(options_, LawOf(options_).contact),
        law(LawOf(options_, laws)),
        free_masses(MassesOf(options_.environment)),
        collision(character_, CollisionOf(options_, laws)),
        ode(std::make_unique<OdeStepper>(character_, law, free_masses)) {
    if (options.environment.num_objects() > 0) objects.emplace(character_, options, laws);
    const bool fits = character.bodies.size() <= TreeDynamics::kMaxBodies;
    if (options.solver == Solver::kReduced && fits && WhyStockSolver().empty())
      tree.emplace(character, law, free_masses);
    bodies.resize(num_own() + free_masses.size());
    for (size_t i = 0; i < num_own(); ++i) bodies[i].position = character.bodies[i].rest_position;
    resting.assign(free_masses.size(), 0);
    candidates.assign(free_masses.size(), 0);
    held.assign(free_masses.size(), 0);
    before.resize(free_masses.size());
    SetFreeBodiesToStart();
    motors.resize(character.joints.size());
    if (options.servo == Servo::kExplicit) body_torques.resize(character.bodies.size());
    scale.resize(character.joints.size());
    contacts.reserve(256);
    torques.assign(character.joints.size(), Vec3::Zero());
  }

  size_t num_own() const { return character.bodies.size(); }

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

  void SetFreeBodiesToStart() {
    for (size_t f = 0; f < free_masses.size(); ++f) {
      const FreeBody& start = options.environment.bodies[f];
      bodies[num_own() + f] = {start.position, start.orientation, start.orientation.toRotationMatrix(),
                               start.linear_velocity, start.angular_velocity};
    }
  }

  void SetFreeBodies(const State& state) {
    if (state.size() == num_own()) {
      SetFreeBodiesToStart();
    } else {
      for (size_t i = num_own(); i < bodies.size(); ++i) {
        BodyMotion& body = bodies[i];
        body.position = state[i].position;
        // As it is where it is one: what is at rest stays so to the bit.
        body.orientation = state[i].orientation;
        if (!(std::abs(body.orientation.squaredNorm() - 1) < 1e-12)) body.orientation.normalize();
        body.rotation = body.orientation.toRotationMatrix();
        body.linear_velocity = state[i].linear_velocity;
        body.angular_velocity = state[i].angular_velocity;
        has_state = has_state && std::abs(body.orientation.norm() - 1) < 1e-9;
      }
    }
    if (has_state && objects && !free_masses.empty()) {
      try {
        objects->FindResting(bodies, Time(), resting);
      } catch (const std::runtime_error&) {
        has_state = false;
      }
    }
  }

  /// Bodies that hardly move, and did not before, while something holds them, are at rest from now on.
  void PutToRest(std::span<const ContactPoint> points) {
    const auto slow = [](const Vec3& velocity, const Vec3& rate) {
      return velocity.squaredNorm() < kRestSpeed * kRestSpeed && rate.squaredNorm() < kRestRate * kRestRate;
    };
    for (size_t f = 0; f < resting.size(); ++f) {
      BodyMotion& body = bodies[num_own() + f];
      candidates[f] = resting[f] == 0 && slow(before[f].first, before[f].second) &&
                      slow(body.linear_velocity, body.angular_velocity);
    }
    for (size_t f = 0; f < resting.size(); ++f) held[f] = 0;
    for (const ContactPoint& point : points) {
      const auto b = static_cast<size_t>(point.body);
      if (b >= num_own() && point.other < 0 && point.surface_velocity == Vec3::Zero()) held[b - num_own()] = 1;
      if (point.surface_velocity != Vec3::Zero() && b >= num_own()) candidates[b - num_own()] = 0;
      if (b < num_own() && point.other >= static_cast<int>(num_own())) {
        candidates[static_cast<size_t>(point.other) - num_own()] = 0;
      }
    }
    for (size_t f = 0; f < resting.size(); ++f) {
      if (candidates[f] == 0 || held[f] == 0) continue;
      resting[f] = 1;
      bodies[num_own() + f].linear_velocity.setZero();
      bodies[num_own() + f].angular_velocity.setZero();
      objects->PutToRest(f, bodies[num_own() + f]);
    }
  }

  double Time() const { return step * options.time_step; }

  void SetState(const State& state, int first_step) {
    contact_forces.Reset();
    has_state = true;
    step = first_step;
    for (size_t i = 0; i < num_own(); ++i) {
      BodyMotion& body = bodies[i];
      body.position = state[i].position;
      body.orientation = state[i].orientation.normalized();
      body.rotation = body.orientation.toRotationMatrix();
      body.linear_velocity = state[i].linear_velocity;
      body.angular_velocity = state[i].angular_velocity;
      // What cannot be normalised is no orientation: the next step tells.
      has_state = has_state && std::abs(body.orientation.norm() - 1) < 1e-9;
    }
    SetFreeBodies(state);
  }

  /// With ODE's own solver. False when it reports an error.
  bool StepWithOde(const StepInput& input) {
    try {
      ode->Step(bodies, input, recording ? &forces : nullptr);
      return true;
    } catch (const std::runtime_error&) {
      ode = std::make_unique<OdeStepper>(character, law,
                                         free_masses);  // nothing inside the other can be relied on any more
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
      collision.Find(std::span(bodies).first(num_own()));
      if (objects) objects->Find(bodies, Time(), resting, collision.grounded(), collision.points());
    } catch (const std::runtime_error&) {
      return false;
    }
    UpdateScales();
    DriveServos(targets);
    const StepInput input{collision.points(), motors, body_torques, body_forces, resting};
    for (size_t f = 0; f < before.size(); ++f) {
      before[f] = {bodies[num_own() + f].linear_velocity, bodies[num_own() + f].angular_velocity};
    }
    if (!(tree ? StepWithTree(input) : StepWithOde(input))) return false;
    ++step;
    if (!resting.empty()) PutToRest(input.contacts);
    contacts.clear();
    for (size_t c = 0; c < input.contacts.size(); ++c) {
      const ContactPoint& point = input.contacts[c];
      if (static_cast<size_t>(point.body) >= num_own()) continue;
      Contact& contact = contacts.emplace_back();
      contact = {point.body, point.other, point.position, Vec3::Zero(), point.normal, point.object};
      if (point.other >= static_cast<int>(num_own())) {
        contact.other = -1;
        contact.object = point.other - static_cast<int>(num_own()) + first_free_object();
      }
      if (recording) contact.force = forces.contacts[c];
    }
    if (recording) {
      if (options.servo == Servo::kImplicit) torques = forces.motors;
    }
    return true;
  }

  const Character& character;
  int first_free_object() const {
    return static_cast<int>(options.environment.num_objects() - options.environment.bodies.size());
  }

  const WorldOptions options;
  const ContactLaws laws;
  const StepLaw law;
  const std::vector<FreeMass> free_masses;
  Collision collision;
  std::optional<ObjectCollision> objects;  // none: nothing but the ground
  std::unique_ptr<OdeStepper> ode;
  std::optional<TreeDynamics> tree;  // none: ODE's own solver
  ContactForces contact_forces;
  bool has_state = true;           // that can be simulated
  int step = 0;                    // that comes next
  std::vector<BodyMotion> bodies;  // the character's, then those that move freely
  std::vector<char> resting;       // (free bodies) which are at rest
  std::vector<char> candidates, held;
  std::vector<std::pair<Vec3, Vec3>> before;  // (free bodies) velocities before a step
  std::vector<Motor> motors;                  // (joints)
  std::vector<Vec3> body_torques;             // (bodies of the character) of explicit servos
  std::vector<Vec3> body_forces;              // (bodies of the character) from outside; empty: none
  std::vector<double> scale;                  // (joints) of this step
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
  return impl_->tree ? Solver::kReduced : Solver::kStock;
}

void World::SetState(const State& state, int step) {
  impl_->SetState(state, step);
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
