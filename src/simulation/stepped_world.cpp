#include "stepped_world.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "available_passes.h"
#include "retrace/character/limits.h"
#include "retrace/io/error.h"
#include "retrace/math/rotation.h"
#include "retrace/simulation/solver_proof.h"

namespace retrace::simulation {

namespace {

using character::Character;
using character::Joint;
using character::State;

// No motion is so fast: the simulation has diverged.
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

SteppedWorld::SteppedWorld(std::span<const Character* const> characters, const WorldOptions& options_)
    : options(options_),
      forest(characters, options.environment),
      laws(options_, LawOf(options_).contact),
      law(LawOf(options_, laws)),
      collision(forest, CollisionOf(options_, laws)),
      ode(std::make_unique<OdeStepper>(forest, law)) {
  if (options.environment.num_objects() > 0) objects.emplace(forest, options, laws);
  bool fits = true;
  for (const Tree& tree : forest.trees) fits = fits && tree.num_bodies <= ForestDynamics::kMaxTreeBodies;
  reduced = options.solver == Solver::kReduced && fits && WhyStockSolver().empty();
  bodies.resize(forest.num_bodies());
  for (size_t i = 0; i < num_own(); ++i) bodies[i].position = forest.bodies[i]->rest_position;
  resting.assign(num_free(), 0);
  candidates.assign(num_free(), 0);
  held.assign(num_free(), 0);
  before.resize(num_free());
  SetFreeBodiesToStart();
  motors.resize(forest.joints.size());
  body_torques.resize(forest.num_bodies(), Vec3::Zero());
  body_forces.resize(forest.num_bodies(), Vec3::Zero());
  for (const Joint& joint : forest.joints) {
    has_armature = has_armature || joint.armature > 0;
    if (joint.limited() && options.servo == Servo::kImplicit) holds.assign(forest.joints.size(), Vec3::Zero());
    if (reduced || joint.armature == 0) continue;
    throw UsageError("found the stock solver for the joint \"" + joint.name +
                     "\", which has armature, expected the reduced solver");
  }
  if (reduced) ode_bodies.resize(forest.num_bodies());
  if (!reduced) {
    near.emplace(collision, kScalarPasses);
    servos = ServosOf(forest, options.time_step);
  }
  scale.resize(forest.joints.size());
  parent_rotations.resize(forest.joints.size());
  contacts.reserve(256);
  torques.assign(forest.joints.size(), Vec3::Zero());
}

// ---- servos

void SteppedWorld::UpdateScales() {
  std::fill(scale.begin(), scale.end(), 1.0);
  if (options.contact_scale.empty()) return;
  std::vector<char>& grounded = collision.grounded();
  for (size_t j = forest.joints.size(); j-- > 0;) {  // children come after parents
    const Joint& joint = forest.joints[j];
    const bool touched = grounded[static_cast<size_t>(joint.child)];
    if (touched) scale[j] = options.contact_scale[j];
    // A joint nearer the root carries what touches beyond it, within the same limb.
    const bool at_root = joint.parent == forest.trees[forest.TreeOf(joint.parent)].root;
    if (touched && !at_root) grounded[static_cast<size_t>(joint.parent)] = true;
  }
}

void SteppedWorld::AddTorque(const Joint& joint, const Vec3& torque) {
  const Vec3 world_torque = bodies[static_cast<size_t>(joint.parent)].rotation * joint.FromAxes(torque);
  body_torques[static_cast<size_t>(joint.child)] += world_torque;
  body_torques[static_cast<size_t>(joint.parent)] -= world_torque;
}

Vec3 SteppedWorld::TorqueBesideServo(const JointCommand& command, size_t j) const {
  const Joint& joint = forest.joints[j];
  const bool acts = options.servo == Servo::kImplicit && scale[j] * command.gain > 0;
  Vec3 torque = Vec3::Zero();
  for (int a = 0; a < 3; ++a) {
    if (joint.UsesAxis(a)) torque[a] = command.torque[a];
    if (joint.effort[a] > 0 && options.servo == Servo::kImplicit) torque[a] = acts ? 0 : joint.Limited(torque[a], a);
  }
  return torque;
}

void SteppedWorld::FindTorques(std::span<const JointCommand> commands) {
  has_torques = options.servo == Servo::kExplicit;
  for (const JointCommand& command : commands) has_torques = has_torques || command.torque != Vec3::Zero();
  if (!has_torques) return;
  std::fill(body_torques.begin(), body_torques.end(), Vec3::Zero());
  for (size_t j = 0; j < forest.joints.size(); ++j) {
    const Joint& joint = forest.joints[j];
    const JointCommand& command = commands[j];
    if (options.servo == Servo::kImplicit) {
      AddTorque(joint, TorqueBesideServo(command, j));
      continue;
    }
    const double gain = scale[j] * command.gain;
    const BodyMotion& parent = bodies[static_cast<size_t>(joint.parent)];
    const BodyMotion& child = bodies[static_cast<size_t>(joint.child)];
    const Quat rotation = parent.orientation.conjugate() * child.orientation;
    const Vec3 error = joint.PerAxis(RotationVector(command.target * rotation.conjugate()));  // in the parent's axes
    const Vec3 rates = joint.PerAxis(parent.rotation.transpose() * (child.angular_velocity - parent.angular_velocity));
    Vec3 torque = Vec3::Zero();
    for (int a = 0; a < 3; ++a) {
      if (!joint.UsesAxis(a)) continue;
      torque[a] = joint.strength_scale[a] * gain * (joint.kp * error[a] - joint.kd * rates[a]);
    }
    if (command.torque != Vec3::Zero()) torque += TorqueBesideServo(command, j);
    for (int a = 0; a < 3; ++a) torque[a] = joint.Limited(torque[a], a);
    torques[j] = torque;
    AddTorque(joint, torque);
  }
}

// ---- steps

bool SteppedWorld::IsSane() const {
  // Without branches, and written so that not-a-number fails.
  bool sane = true;
  for (const BodyMotion& body : bodies) {
    for (int k = 0; k < 3; ++k) {
      sane &= std::abs(body.position[k]) < character::kFarAway;
      sane &= std::abs(body.linear_velocity[k]) < kTooFastLinear;
      sane &= std::abs(body.angular_velocity[k]) < kTooFast;
    }
  }
  return sane;
}

void SteppedWorld::SetFreeBodiesToStart() {
  for (size_t f = 0; f < num_free(); ++f) {
    const simulation::FreeBody& start = options.environment.bodies[f];
    FreeBody(f) = {start.position, start.orientation, start.orientation.toRotationMatrix(), start.linear_velocity,
                   start.angular_velocity};
  }
}

void SteppedWorld::SetBody(size_t index, const character::BodyState& state) {
  BodyMotion& body = bodies[index];
  body.position = state.position;
  body.orientation = state.orientation;
  body.linear_velocity = state.linear_velocity;
  body.angular_velocity = state.angular_velocity;
}

void SteppedWorld::NormalizeCharacter(size_t c) {
  const Tree& tree = forest.trees[c];
  for (size_t i = tree.first_body; i < tree.first_body + tree.num_bodies; ++i) {
    BodyMotion& body = bodies[i];
    body.orientation = body.orientation.normalized();
    body.rotation = body.orientation.toRotationMatrix();
    // What cannot be normalized is not an orientation: the next step reports it.
    has_state = has_state && std::abs(body.orientation.norm() - 1) < 1e-9;
  }
}

void SteppedWorld::NormalizeFreeBodies() {
  for (size_t f = 0; f < num_free(); ++f) {
    BodyMotion& body = FreeBody(f);
    // As it is where it is one: what is at rest stays so to the bit.
    if (!(std::abs(body.orientation.squaredNorm() - 1) < 1e-12)) body.orientation.normalize();
    body.rotation = body.orientation.toRotationMatrix();
    has_state = has_state && std::abs(body.orientation.norm() - 1) < 1e-9;
  }
}

void SteppedWorld::FindResting() {
  if (!has_state || !objects || num_free() == 0) return;
  try {
    objects->FindResting(bodies, Time(), resting);
  } catch (const std::runtime_error&) {
    has_state = false;
  }
}

void SteppedWorld::PutToRest(std::span<const ContactPoint> points) {
  const auto slow = [](const Vec3& velocity, const Vec3& rate) {
    return velocity.squaredNorm() < kRestSpeed * kRestSpeed && rate.squaredNorm() < kRestRate * kRestRate;
  };
  for (size_t f = 0; f < resting.size(); ++f) {
    BodyMotion& body = FreeBody(f);
    candidates[f] =
        resting[f] == 0 && slow(before[f].first, before[f].second) && slow(body.linear_velocity, body.angular_velocity);
  }
  for (size_t f = 0; f < resting.size(); ++f) held[f] = 0;
  for (const ContactPoint& point : points) {
    const bool still = point.surface_velocity == Vec3::Zero();
    if (layout().IsFree(point.body)) {
      const size_t f = layout().FreeIndexOf(point.body);
      if (point.other < 0 && still) held[f] = 1;
      if (!still) candidates[f] = 0;
    } else if (point.other >= 0 && layout().IsFree(point.other)) {
      candidates[layout().FreeIndexOf(point.other)] = 0;
    }
  }
  for (size_t f = 0; f < resting.size(); ++f) {
    if (candidates[f] == 0 || held[f] == 0) continue;
    // A chair that rocks is slow where it turns back.
    if (options.environment.bodies[f].compound() && !objects->Hold(points, f, FreeBody(f))) continue;
    resting[f] = 1;
    FreeBody(f).linear_velocity.setZero();
    FreeBody(f).angular_velocity.setZero();
    objects->PutToRest(f, FreeBody(f));
  }
}

void SteppedWorld::SetState(const State& state, int first_step) {
  contact_forces.Reset();
  std::fill(holds.begin(), holds.end(), Vec3::Zero());
  has_state = true;
  step = first_step;
  const bool with_free_bodies = state.size() > num_own();
  for (size_t i = 0; i < (with_free_bodies ? bodies.size() : num_own()); ++i) SetBody(i, state[i]);
  if (!with_free_bodies) SetFreeBodiesToStart();
  for (size_t c = 0; c < layout().num_characters(); ++c) NormalizeCharacter(c);
  if (with_free_bodies) NormalizeFreeBodies();
  FindResting();
  std::fill(body_forces.begin(), body_forces.end(), Vec3::Zero());
  has_forces = false;
}

void SteppedWorld::Restart(size_t c) {
  if (!has_state) return;
  contact_forces.Reset(c);
  if (!holds.empty()) {
    const Tree& tree = forest.trees[c];
    std::fill_n(holds.begin() + static_cast<ptrdiff_t>(tree.first_joint), tree.num_joints, Vec3::Zero());
  }
  for (size_t t = layout().num_characters(); t < forest.trees.size(); ++t) contact_forces.Reset(t);
  NormalizeCharacter(c);
  NormalizeFreeBodies();
  FindResting();
}

bool SteppedWorld::StepWithOde(std::span<BodyMotion> moved, const StepInput& input) {
  try {
    ode->Step(moved, input, recording ? &forces : nullptr);
    return true;
  } catch (const std::runtime_error&) {
    ode = std::make_unique<OdeStepper>(forest, law);  // nothing inside the other can be relied on any more
    return false;
  }
}

void SteppedWorld::FindContactForces(ContactSolver& solver, ForestDynamics& dynamics, size_t lane, LaneStep& taken) {
  const bool solved = solver.Solve(taken.input.contacts, law, dynamics, lane, bodies, contact_forces);
  taken.left_out = solved ? std::span<const char>() : std::span<const char>(contact_forces.failed);
}

bool SteppedWorld::StepLeftOut(const ForestDynamics& dynamics, size_t lane, const LaneStep& taken) {
  if (taken.left_out.empty()) return true;
  if (!taken.commands.empty()) dynamics.CopyMotors(lane, motors);
  return StepFailedTrees(taken.input);
}

void SteppedWorld::NoteRotations() {
  for (size_t j = 0; j < parent_rotations.size(); ++j) {
    parent_rotations[j] = bodies[static_cast<size_t>(forest.joints[j].parent)].rotation;
  }
}

void SteppedWorld::RecordForces(const ForestDynamics& dynamics, size_t lane, const LaneStep& taken) {
  const bool solved = taken.left_out.empty();
  forces.contacts.resize(taken.input.contacts.size());
  forces.motors.resize(motors.size());
  for (size_t c = 0; c < taken.input.contacts.size(); ++c) {
    if (solved || !Failed(taken.input.contacts[c].body)) forces.contacts[c] = contact_forces.forces[c];
  }
  for (size_t j = 0; j < motors.size(); ++j) {
    if (solved || !Failed(forest.joints[j].child)) {
      forces.motors[j] = dynamics.MotorTorque(lane, static_cast<int>(j), parent_rotations[j]);
    }
  }
}

bool SteppedWorld::StepFailedTrees(const StepInput& input) {
  if (has_armature || !IsSane()) return false;  // of which the other solver knows nothing
  std::copy(bodies.begin(), bodies.end(), ode_bodies.begin());
  if (!StepWithOde(ode_bodies, input)) return false;
  for (size_t t = 0; t < forest.trees.size(); ++t) {
    if (contact_forces.failed[t] == 0) continue;
    const Tree& tree = forest.trees[t];
    for (size_t i = tree.first_body; i < tree.first_body + tree.num_bodies; ++i) bodies[i] = ode_bodies[i];
  }
  return true;
}

void SteppedWorld::ApplyForce(int body, const Vec3& force) {
  if (body < 0 || static_cast<size_t>(body) >= bodies.size()) {
    throw std::invalid_argument("a force on a body that the world does not have");
  }
  body_forces[static_cast<size_t>(body)] += force;
  has_forces = true;
  if (layout().IsFree(body) && force != Vec3::Zero()) resting[layout().FreeIndexOf(body)] = 0;
}

bool SteppedWorld::PrepareStep(std::span<const JointCommand> commands, const NearShapes& near_shapes,
                               StepInput& input) {
  contacts.clear();
  contacts_of_step.reset();
  try {
    collision.Find(std::span(bodies).first(num_own()), near_shapes);
    if (objects) objects->Find(bodies, Time(), resting, collision.grounded(), collision.points());
  } catch (const std::runtime_error&) {
    return false;
  }
  UpdateScales();
  FindTorques(commands);
  input = {collision.points(), motors, has_torques ? std::span<const Vec3>(body_torques) : std::span<const Vec3>(),
           has_forces ? std::span<const Vec3>(body_forces) : std::span<const Vec3>(), resting};
  for (size_t f = 0; f < before.size(); ++f) {
    before[f] = {FreeBody(f).linear_velocity, FreeBody(f).angular_velocity};
  }
  return true;
}

void SteppedWorld::NoteStep(std::span<const JointCommand> commands, const StepInput& input) {
  ++step;
  if (!resting.empty()) PutToRest(input.contacts);
  contacts_of_step = input.contacts;
  if (recording) RecordContacts();
  if (recording && options.servo == Servo::kImplicit) {
    torques = forces.motors;
    for (size_t j = 0; has_torques && j < torques.size(); ++j) {
      torques[j] += TorqueBesideServo(commands[j], j);
    }
  }
}

void SteppedWorld::EndStep(bool whole) {
  has_state = whole && IsSane();
  if (has_forces) std::fill(body_forces.begin(), body_forces.end(), Vec3::Zero());
  has_forces = false;
}

bool SteppedWorld::StepByItself(std::span<const JointCommand> commands) {
  if (!has_state) return false;
  const auto* numbers = reinterpret_cast<const std::byte*>(bodies.data());
  near->Find(numbers);
  StepInput input;
  bool whole = PrepareStep(commands, near->OfLane(0), input);
  if (whole && options.servo == Servo::kImplicit) {
    kScalarPasses.drive(servos.data(), servos.size(), numbers, reinterpret_cast<const std::byte*>(commands.data()),
                        reinterpret_cast<const std::byte*>(scale.data()), reinterpret_cast<std::byte*>(motors.data()));
  }
  whole = whole && StepWithOde(bodies, input);
  if (whole) NoteStep(commands, input);
  EndStep(whole);
  return has_state;
}

void SteppedWorld::RecordContacts() {
  contacts.clear();
  for (size_t c = 0; c < contacts_of_step->size(); ++c) {
    const ContactPoint& point = (*contacts_of_step)[c];
    if (layout().IsFree(point.body)) continue;
    Contact& contact = contacts.emplace_back();
    contact = {point.body, point.other, point.position, Vec3::Zero(), point.normal, point.object};
    const ContactLaw& of_contact = law.Contact(point.law);
    contact.push = law.Push(point.depth, of_contact);
    contact.compliance = of_contact.cfm;
    if (point.other >= 0 && layout().IsFree(point.other)) {
      contact.other = -1;
      contact.object = options.environment.ObjectOfFreeBody(layout().FreeIndexOf(point.other));
    }
    if (recording) contact.force = forces.contacts[c];
  }
  contacts_of_step.reset();
}

}  // namespace retrace::simulation
