#include "ode_stepper.h"

#include <mutex>
#include <stdexcept>

#include "ode_library.h"

namespace retrace::simulation {
namespace {

using character::Joint;
using character::JointType;

/// An exception that ended a step left jobs in the list of its threading implementation, and ODE does not free a list
/// that is not empty. Few ever get here; they stay where a leak checker finds them.
void Abandon(dThreadingImplementationID threading) {
  static std::mutex mutex;
  static auto* const abandoned = new std::vector<dThreadingImplementationID>;
  const std::lock_guard lock(mutex);
  abandoned->push_back(threading);
}

/// Largest torque of a servo about an axis.
dReal MostTorque(const Joint& joint, int axis) {
  return joint.effort[axis] > 0 ? joint.effort[axis] : dInfinity;
}

}  // namespace

OdeStepper::OdeStepper(const Forest& forest, const StepLaw& law)
    : forest_(forest), law_(law), own_push_(!law.others.empty() || law.moving_surfaces) {
  InitializeOde();
  world_ = dWorldCreate();
  // Worlds without an implementation of their own share one with fake locks: two threads would crash.
  threading_ = dThreadingAllocateSelfThreadedImplementation();
  dWorldSetStepThreadingImplementation(world_, dThreadingImplementationGetFunctions(threading_), threading_);
  dWorldSetGravity(world_, 0, -law.gravity, 0);
  dWorldSetERP(world_, law.joint_erp);
  dWorldSetCFM(world_, 0);  // joints are exact
  dWorldSetAutoDisableFlag(world_, 0);
  dWorldSetContactMaxCorrectingVel(world_, own_push_ ? dInfinity : law.contact.fastest_push);
  dWorldSetContactSurfaceLayer(world_, 0);
  contact_joints_ = dJointGroupCreate(0);
  MakeBodies();
  MakeJoints();
  HoldPlanarRoots();
  feedback_.resize(1024);
  motor_feedback_.resize(forest.joints.size());
}

OdeStepper::~OdeStepper() {
  dJointGroupDestroy(contact_joints_);
  dWorldDestroy(world_);
  if (broken_) {
    Abandon(threading_);
  } else {
    dThreadingFreeImplementation(threading_);  // after the world that uses it
  }
}

void OdeStepper::MakeBodies() {
  for (size_t b = 0; b < forest_.num_bodies(); ++b) {
    const BodyMass& body = forest_.masses[b];
    const dBodyID id = dBodyCreate(world_);
    dMass mass;
    dMassSetZero(&mass);
    const Mat3 inertia = body.Tensor();
    dMassSetParameters(&mass, body.mass, 0, 0, 0, inertia(0, 0), inertia(1, 1), inertia(2, 2), inertia(0, 1),
                       inertia(0, 2), inertia(1, 2));
    dBodySetMass(id, &mass);
    if (!forest_.layout.IsFree(static_cast<int>(b))) {  // where joints are made
      const Vec3& position = forest_.bodies[b]->rest_position;
      dBodySetPosition(id, position.x(), position.y(), position.z());
    }
    bodies_.push_back(id);
  }
}

void OdeStepper::MakeJoints() {
  for (const Joint& joint : forest_.joints) {
    const dBodyID parent = bodies_[static_cast<size_t>(joint.parent)];
    const dBodyID child = bodies_[static_cast<size_t>(joint.child)];
    if (joint.type == JointType::kBall) {
      const dJointID ball = dJointCreateBall(world_, nullptr);
      dJointAttach(ball, parent, child);
      dJointSetBallAnchor(ball, joint.anchor.x(), joint.anchor.y(), joint.anchor.z());
      const dJointID motor = dJointCreateAMotor(world_, nullptr);
      dJointAttach(motor, parent, child);
      dJointSetAMotorMode(motor, dAMotorUser);
      dJointSetAMotorNumAxes(motor, 3);
      for (int a = 0; a < 3; ++a) dJointSetAMotorAxis(motor, a, 1, a == 0, a == 1, a == 2);  // fixed in the parent
      motors_.push_back(motor);
    } else {
      const dJointID hinge = dJointCreateHinge(world_, nullptr);
      dJointAttach(hinge, parent, child);
      dJointSetHingeAnchor(hinge, joint.anchor.x(), joint.anchor.y(), joint.anchor.z());
      const Vec3 axis = joint.direction();
      dJointSetHingeAxis(hinge, axis.x(), axis.y(), axis.z());
      motors_.push_back(hinge);
    }
  }
}

/// Roots of planar characters do not move along their x axes, nor turn about the others.
void OdeStepper::HoldPlanarRoots() {
  for (const Tree& tree : forest_.trees) {
    if (!tree.planar) continue;
    const dBodyID root = bodies_[static_cast<size_t>(tree.root)];
    const dJointID along = dJointCreateLMotor(world_, nullptr);
    dJointAttach(along, root, nullptr);
    dJointSetLMotorNumAxes(along, 1);
    dJointSetLMotorAxis(along, 0, 1, 1, 0, 0);
    dJointSetLMotorParam(along, dParamFMax, dInfinity);
    const dJointID about = dJointCreateAMotor(world_, nullptr);
    dJointAttach(about, root, nullptr);
    dJointSetAMotorMode(about, dAMotorUser);
    dJointSetAMotorNumAxes(about, 2);
    for (int k = 0; k < 2; ++k) {
      dJointSetAMotorAxis(about, k, 1, 0, k == 0, k == 1);
      dJointSetAMotorParam(about, (k << 8) + dParamFMax, dInfinity);
    }
  }
}

/// Whether a body that moves freely stays as it is.
bool OdeStepper::Rests(std::span<const char> resting, size_t body) const {
  const int b = static_cast<int>(body);
  return forest_.layout.IsFree(b) && !resting.empty() && resting[forest_.layout.FreeIndexOf(b)] != 0;
}

void OdeStepper::SetBodies(std::span<const BodyMotion> bodies, std::span<const char> resting) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    const dBodyID body = bodies_[i];
    if (Rests(resting, i)) {
      dBodyDisable(body);
      continue;
    }
    dBodyEnable(body);
    const BodyMotion& s = bodies[i];
    dBodySetPosition(body, s.position.x(), s.position.y(), s.position.z());
    const dQuaternion q = {s.orientation.w(), s.orientation.x(), s.orientation.y(), s.orientation.z()};
    dBodySetQuaternion(body, q);
    dBodySetLinearVel(body, s.linear_velocity.x(), s.linear_velocity.y(), s.linear_velocity.z());
    dBodySetAngularVel(body, s.angular_velocity.x(), s.angular_velocity.y(), s.angular_velocity.z());
    dBodySetForce(body, 0, 0, 0);
    dBodySetTorque(body, 0, 0, 0);
  }
}

void OdeStepper::DriveMotors(std::span<const Motor> motors) {
  for (size_t j = 0; j < motors.size(); ++j) {
    const Joint& joint = forest_.joints[j];
    // ODE's row J v + CFM lambda = c drives the parent's rate less the child's: hence the minus.
    if (joint.type == JointType::kBall) {
      bool any = false;
      for (int a = 0; a < 3; ++a) {
        const bool driven = motors[j].compliance[a] != 0;
        any = any || driven;
        dJointSetAMotorParam(motors_[j], (a << 8) + dParamFMax, driven ? MostTorque(joint, a) : 0);
        dJointSetAMotorParam(motors_[j], (a << 8) + dParamCFM, motors[j].compliance[a]);
        dJointSetAMotorParam(motors_[j], (a << 8) + dParamVel, -motors[j].rate[a]);
      }
      if (any) {
        dJointEnable(motors_[j]);
      } else {
        dJointDisable(motors_[j]);
      }
    } else {
      const bool driven = motors[j].compliance[joint.axis] != 0;
      dJointSetHingeParam(motors_[j], dParamFMax, driven ? MostTorque(joint, joint.axis) : 0);
      dJointSetHingeParam(motors_[j], dParamCFM, motors[j].compliance[joint.axis]);
      dJointSetHingeParam(motors_[j], dParamVel, -motors[j].rate[joint.axis]);
    }
  }
}

void OdeStepper::AddContacts(std::span<const ContactPoint> contacts, bool with_feedback) {
  if (with_feedback && contacts.size() > feedback_.size()) feedback_.resize(2 * contacts.size());
  for (size_t c = 0; c < contacts.size(); ++c) {
    const ContactPoint& point = contacts[c];
    dContact contact{};
    for (int k = 0; k < 3; ++k) {
      contact.geom.pos[k] = point.position[k];
      contact.geom.normal[k] = point.normal[k];
    }
    dSurfaceParameters& surface = contact.surface;
    surface.mode = dContactApprox1 | dContactSoftERP | dContactSoftCFM | dContactSlip1 | dContactSlip2;
    const ContactLaw& law = law_.Contact(point.law);
    surface.mu = law.friction;
    surface.soft_erp = law.erp;
    surface.soft_cfm = law.cfm;
    surface.slip1 = surface.slip2 = law.friction_cfm;
    contact.geom.depth = own_push_ ? 0.0 : std::max(point.depth, 0.0);
    if (own_push_ || point.depth < 0) {
      surface.mode |= dContactMotionN;
      surface.motionN = law_.Push(point.depth, law);
    }
    if (law_.moving_surfaces) {
      Vec3 p, q;
      PlaneSpace(point.normal, p, q);
      surface.mode |= dContactMotion1 | dContactMotion2;
      surface.motionN += point.normal.dot(point.surface_velocity);
      surface.motion1 = p.dot(point.surface_velocity);
      surface.motion2 = q.dot(point.surface_velocity);
    }
    const dJointID joint = dJointCreateContact(world_, contact_joints_, &contact);
    dJointAttach(joint, bodies_[static_cast<size_t>(point.body)],
                 point.other < 0 ? nullptr : bodies_[static_cast<size_t>(point.other)]);
    if (with_feedback) dJointSetFeedback(joint, &feedback_[c]);
  }
}

void OdeStepper::Step(std::span<BodyMotion> bodies, const StepInput& input, StepForces* forces) {
  SetBodies(bodies, input.resting);
  DriveMotors(input.motors);
  for (size_t j = 0; j < motors_.size(); ++j) {
    dJointSetFeedback(motors_[j], forces != nullptr ? &motor_feedback_[j] : nullptr);
  }
  for (size_t i = 0; i < input.torques.size(); ++i) {
    if (Rests(input.resting, i)) continue;
    dBodyAddTorque(bodies_[i], input.torques[i].x(), input.torques[i].y(), input.torques[i].z());
  }
  for (size_t i = 0; i < input.forces.size(); ++i) {
    if (Rests(input.resting, i)) continue;
    dBodyAddForce(bodies_[i], input.forces[i].x(), input.forces[i].y(), input.forces[i].z());
  }
  AddContacts(input.contacts, forces != nullptr);
  try {
    dWorldStep(world_, law_.time_step);
  } catch (...) {
    broken_ = true;
    throw;
  }
  if (forces != nullptr) ReadForces(bodies, input, *forces);
  dJointGroupEmpty(contact_joints_);
  for (size_t i = 0; i < bodies.size(); ++i) {
    const dBodyID body = bodies_[i];
    if (Rests(input.resting, i)) continue;
    BodyMotion& s = bodies[i];
    s.position = ToVec3(dBodyGetPosition(body));
    s.orientation = ToQuat(dBodyGetQuaternion(body));
    s.rotation = s.orientation.toRotationMatrix();
    s.linear_velocity = ToVec3(dBodyGetLinearVel(body));
    s.angular_velocity = ToVec3(dBodyGetAngularVel(body));
  }
}

/// @param before the bodies as they were when the forces acted
void OdeStepper::ReadForces(std::span<const BodyMotion> before, const StepInput& input, StepForces& forces) const {
  forces.contacts.resize(input.contacts.size());
  for (size_t c = 0; c < input.contacts.size(); ++c) forces.contacts[c] = ToVec3(feedback_[c].f1);
  forces.motors.resize(motors_.size());
  for (size_t j = 0; j < motors_.size(); ++j) {
    const Joint& joint = forest_.joints[j];
    const BodyMotion& child = before[static_cast<size_t>(joint.child)];
    Vec3 torque = ToVec3(motor_feedback_[j].t2);
    if (joint.type == JointType::kHinge) {
      // The motor is a row of the hinge itself, whose force on the child at the anchor has a moment of its own.
      const Vec3 arm = joint.anchor - forest_.BodyOf(joint.child).rest_position;
      torque -= (child.rotation * arm).cross(ToVec3(motor_feedback_[j].f2));
    }
    torque = joint.PerAxis(before[static_cast<size_t>(joint.parent)].rotation.transpose() * torque);
    for (int a = 0; a < 3; ++a) {
      forces.motors[j][a] = joint.UsesAxis(a) && input.motors[j].compliance[a] != 0 ? joint.Limited(torque[a], a) : 0.0;
    }
  }
}

}  // namespace retrace::simulation
