#include "retrace/simulation/world.h"

#include <ode/ode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include "eliminated_lcp.h"
#include "retrace/math/rotation.h"

static_assert(sizeof(dReal) == sizeof(double), "ODE must be the double-precision build");

namespace retrace::simulation {
namespace {

using character::Body;
using character::BodyState;
using character::Character;
using character::Joint;
using character::JointType;
using character::Shape;
using character::State;

constexpr double kFarAway = 1000;       // [m] no motion goes there: the simulation has diverged
constexpr double kTooFast = 300;        // [rad/s]
constexpr double kTooFastLinear = 100;  // [m/s]

/// ODE reports broken states (not-a-number quaternions) through these handlers and would abort the process; a diverged
/// rollout is a value, so they throw and Step turns that into `false`.
[[noreturn]] void ThrowOdeError(int, const char* message, va_list) {
  throw std::runtime_error(message);
}
void IgnoreOdeMessage(int, const char*, va_list) {}

void InitialiseOde() {
  static std::once_flag once;
  std::call_once(once, [] {
    dInitODE2(0);
    dSetErrorHandler(ThrowOdeError);
    dSetDebugHandler(ThrowOdeError);
    dSetMessageHandler(IgnoreOdeMessage);
  });
  dAllocateODEDataForThread(dAllocateMaskAll);
}

const std::string& EliminatedSolverProblem() {
  static const std::string problem = [] {
    InitialiseOde();
    return ProveEliminatedSolver().value_or("");
  }();
  return problem;
}

/// An exception that ended a step left jobs in the list of its threading implementation, and ODE does not free a list
/// that is not empty. Few ever get here; they stay where a leak checker finds them.
void Abandon(dThreadingImplementationID threading) {
  static std::mutex mutex;
  static auto* const abandoned = new std::vector<dThreadingImplementationID>;
  const std::lock_guard lock(mutex);
  abandoned->push_back(threading);
}

Quat ToQuat(const dReal* q) {
  return Quat(q[0], q[1], q[2], q[3]);
}
Vec3 ToVec3(const dReal* v) {
  return Vec3(v[0], v[1], v[2]);
}

}  // namespace

std::string WhyStockSolver() {
  return EliminatedSolverProblem();
}

io::Json WorldOptions::ToJson() const {
  return {{"time_step", time_step},
          {"servo", servo == Servo::kImplicit ? "implicit" : "explicit"},
          {"solver", solver == Solver::kStock ? "stock" : "eliminated"},
          {"gravity", gravity},
          {"friction", friction},
          {"contact_stiffness", contact_stiffness},
          {"contact_damping", contact_damping},
          {"contact_correcting_velocity", contact_correcting_velocity},
          {"joint_correction", joint_correction},
          {"self_collision", self_collision},
          {"speculative_contacts", speculative_contacts},
          {"ground_points_per_shape", ground_points_per_shape},
          {"self_points_per_pair", self_points_per_pair},
          {"contact_scale", contact_scale}};
}

WorldOptions ReadWorldOptions(const io::JsonView& view, size_t num_joints) {
  view.AllowOnly({"time_step", "servo", "solver", "gravity", "friction", "contact_stiffness", "contact_damping",
                  "contact_correcting_velocity", "joint_correction", "self_collision", "speculative_contacts",
                  "ground_points_per_shape", "self_points_per_pair", "contact_scale"});
  WorldOptions options;
  options.time_step = view["time_step"].Number({0, 0.1, true});
  const auto choose = [&](const char* key, const char* first, const char* second) {
    const std::string word = view[key].String();
    if (word != first && word != second) view[key].Expect(std::string("\"") + first + "\" or \"" + second + "\"");
    return word == first;
  };
  options.servo = choose("servo", "implicit", "explicit") ? Servo::kImplicit : Servo::kExplicit;
  options.solver = choose("solver", "stock", "eliminated") ? Solver::kStock : Solver::kEliminated;
  options.gravity = view["gravity"].Number();
  options.friction = view["friction"].Number(io::kNonNegative);
  options.contact_stiffness = view["contact_stiffness"].Number(io::kPositive);
  options.contact_damping = view["contact_damping"].Number(io::kPositive);
  options.contact_correcting_velocity = view["contact_correcting_velocity"].Number(io::kPositive);
  options.joint_correction = view["joint_correction"].Number(io::kNonNegative);
  options.self_collision = view["self_collision"].Boolean();
  options.speculative_contacts = view["speculative_contacts"].Boolean();
  options.ground_points_per_shape = view["ground_points_per_shape"].Integer(1, 8);
  options.self_points_per_pair = view["self_points_per_pair"].Integer(1, 8);
  options.contact_scale = view["contact_scale"].Numbers(io::kPositive);
  if (!options.contact_scale.empty() && options.contact_scale.size() != num_joints) {
    view["contact_scale"].Expect("an empty array or " + std::to_string(num_joints) + " numbers, one per joint");
  }
  return options;
}

struct World::Impl {
  /// A collision shape and what the tests against the ground need of it.
  struct Geometry {
    dGeomID geom = nullptr;
    int body = -1;
    const Shape* shape = nullptr;
    double bounding_radius = 0;
  };
  struct GeometryPair {
    size_t first;
    size_t second;
    double reach_squared;
  };

  Impl(const Character& character_, const WorldOptions& options_) : character(character_), options(options_) {
    InitialiseOde();
    solver = options.solver == Solver::kEliminated && EliminatedSolverProblem().empty() ? Solver::kEliminated
                                                                                        : Solver::kStock;
    // The same spring and damper at every step size (ODE manual, section on ERP and CFM).
    const double h = options.time_step;
    contact_erp = h * options.contact_stiffness / (h * options.contact_stiffness + options.contact_damping);
    contact_cfm = 1 / (h * options.contact_stiffness + options.contact_damping);
    MakeWorld();
    MakeBodies();
    MakeJoints();
    MakePairs();
    contacts.reserve(256);
    feedback.resize(1024);
    ground_touched.resize(character.bodies.size());
    torques.assign(character.joints.size(), Vec3::Zero());
    joint_feedback.resize(character.joints.size());
  }

  ~Impl() {
    dJointGroupDestroy(contact_joints);
    for (const Geometry& geometry : geometries) dGeomDestroy(geometry.geom);
    dWorldDestroy(world);
    if (broken) {
      Abandon(threading);
    } else {
      dThreadingFreeImplementation(threading);  // after the world that uses it
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void MakeWorld() {
    world = dWorldCreate();
    // Worlds without an implementation of their own share one with fake locks: two threads would crash.
    threading = dThreadingAllocateSelfThreadedImplementation();
    dWorldSetStepThreadingImplementation(world, dThreadingImplementationGetFunctions(threading), threading);
    dWorldSetGravity(world, 0, -options.gravity, 0);
    const double h = options.time_step;
    dWorldSetERP(world, options.joint_correction * h / (1 + options.joint_correction * h));
    dWorldSetAutoDisableFlag(world, 0);
    dWorldSetContactMaxCorrectingVel(world, options.contact_correcting_velocity);
    dWorldSetContactSurfaceLayer(world, 0);
    contact_joints = dJointGroupCreate(0);
  }

  void MakeBodies() {
    for (const Body& body : character.bodies) {
      const dBodyID id = dBodyCreate(world);
      dMass mass;
      dMassSetZero(&mass);
      dMassSetParameters(&mass, body.mass, 0, 0, 0, body.inertia.x(), body.inertia.y(), body.inertia.z(), 0, 0, 0);
      dBodySetMass(id, &mass);
      dBodySetPosition(id, body.rest_position.x(), body.rest_position.y(), body.rest_position.z());
      for (const Shape& shape : body.shapes)
        geometries.push_back(MakeGeometry(id, static_cast<int>(bodies.size()), shape));
      bodies.push_back(id);
    }
  }

  static Geometry MakeGeometry(dBodyID body, int index, const Shape& shape) {
    Geometry geometry;
    geometry.body = index;
    geometry.shape = &shape;
    geometry.bounding_radius = shape.BoundingRadius();
    // In no space: spaces reorder their geoms with history, and the order of contacts would follow.
    if (shape.kind == Shape::Kind::kBox) {
      geometry.geom = dCreateBox(nullptr, shape.size.x(), shape.size.y(), shape.size.z());
      dGeomSetBody(geometry.geom, body);
    } else {
      geometry.geom = dCreateCapsule(nullptr, shape.radius, shape.length);
      dGeomSetBody(geometry.geom, body);
      if (shape.axis != 2) {  // ODE's capsules lie along z
        dQuaternion turn;
        dQFromAxisAndAngle(turn, shape.axis == 1, shape.axis == 0, 0, kPi / 2);
        dGeomSetOffsetQuaternion(geometry.geom, turn);
      }
    }
    if (shape.offset != Vec3::Zero()) {
      dGeomSetOffsetPosition(geometry.geom, shape.offset.x(), shape.offset.y(), shape.offset.z());
    }
    return geometry;
  }

  void MakeJoints() {
    for (const Joint& joint : character.joints) {
      const dBodyID parent = bodies[static_cast<size_t>(joint.parent)];
      const dBodyID child = bodies[static_cast<size_t>(joint.child)];
      dJointID id;
      dJointID motor;
      if (joint.type == JointType::kBall) {
        id = dJointCreateBall(world, nullptr);
        dJointAttach(id, parent, child);
        dJointSetBallAnchor(id, joint.anchor.x(), joint.anchor.y(), joint.anchor.z());
        motor = dJointCreateAMotor(world, nullptr);
        dJointAttach(motor, parent, child);
        dJointSetAMotorMode(motor, dAMotorUser);
        dJointSetAMotorNumAxes(motor, 3);
        for (int a = 0; a < 3; ++a) dJointSetAMotorAxis(motor, a, 1, a == 0, a == 1, a == 2);  // fixed in the parent
        if (options.servo == Servo::kExplicit) dJointDisable(motor);
      } else {
        id = dJointCreateHinge(world, nullptr);
        dJointAttach(id, parent, child);
        dJointSetHingeAnchor(id, joint.anchor.x(), joint.anchor.y(), joint.anchor.z());
        dJointSetHingeAxis(id, joint.axis == 0, joint.axis == 1, joint.axis == 2);
        motor = id;
      }
      joints.push_back(id);
      motors.push_back(motor);
    }
    motor_scale.assign(joints.size(), 0.0);  // not a legal scale: the first step sets all
  }

  void MakePairs() {
    if (!options.self_collision) return;
    for (const auto& [a, b] : character.self_pairs) {
      for (size_t i = 0; i < geometries.size(); ++i) {
        if (geometries[i].body != a) continue;
        for (size_t j = 0; j < geometries.size(); ++j) {
          if (geometries[j].body != b) continue;
          const double reach = geometries[i].bounding_radius + geometries[j].bounding_radius;
          pairs.push_back({i, j, reach * reach});
        }
      }
    }
  }

  // ---- contacts

  void AddContact(dContact& contact, int body, int other) {
    dSurfaceParameters& surface = contact.surface;
    surface.mode = dContactApprox1 | dContactSoftERP | dContactSoftCFM;
    surface.mu = options.friction;
    surface.soft_erp = contact_erp;
    surface.soft_cfm = contact_cfm;
    if (contact.geom.depth < 0) {
      // Speculative: the gap may close within this step but not more, v_n >= -gap/h.
      surface.mode |= dContactMotionN;
      surface.motionN = contact.geom.depth / options.time_step;
      contact.geom.depth = 0;
    }
    const dJointID joint = dJointCreateContact(world, contact_joints, &contact);
    dJointAttach(joint, bodies[static_cast<size_t>(body)], other < 0 ? nullptr : bodies[static_cast<size_t>(other)]);
    if (recording) {
      if (contacts.size() < feedback.size()) dJointSetFeedback(joint, &feedback[contacts.size()]);
    }
    contacts.push_back({body, other, ToVec3(contact.geom.pos), Vec3::Zero()});
  }

  void AddGroundPoint(int body, const Vec3& point) {
    dContact contact{};
    contact.geom.pos[0] = point.x();
    contact.geom.pos[1] = point.y();
    contact.geom.pos[2] = point.z();
    contact.geom.normal[1] = 1;
    contact.geom.depth = -point.y();
    if (point.y() <= 0) ground_touched[static_cast<size_t>(body)] = true;
    AddContact(contact, body, -1);
  }

  /// Distance from the ground within which a shape can touch it in this step.
  double SpeculativeMargin(const Geometry& geometry) const {
    if (!options.speculative_contacts) return 0;
    const dBodyID body = bodies[static_cast<size_t>(geometry.body)];
    const dReal* v = dBodyGetLinearVel(body);
    const dReal* w = dBodyGetAngularVel(body);
    const double h = options.time_step;
    const double reach = geometry.bounding_radius + geometry.shape->offset.norm();
    const double approach = h * (-v[1] + options.gravity * h + std::sqrt(w[0] * w[0] + w[2] * w[2]) * reach);
    return std::clamp(approach, 0.001, 0.05);
  }

  void CollideWithGround(const Geometry& geometry) {
    const dReal* p = dGeomGetPosition(geometry.geom);
    const double margin = SpeculativeMargin(geometry);
    if (p[1] > geometry.bounding_radius + margin) return;
    if (geometry.shape->kind == Shape::Kind::kBox) {
      CollideBoxWithGround(geometry, p, margin);
    } else {
      CollideCapsuleWithGround(geometry, p, margin);
    }
  }

  void CollideBoxWithGround(const Geometry& geometry, const dReal* p, double margin) {
    const dReal* r = dGeomGetRotation(geometry.geom);
    const Vec3 half = 0.5 * geometry.shape->size;
    struct Corner {
      double height;
      int index;
    };
    std::array<Corner, 8> corners;
    size_t count = 0;
    for (int k = 0; k < 8; ++k) {
      const double height = p[1] + (k & 1 ? 1 : -1) * r[4] * half.x() + (k & 2 ? 1 : -1) * r[5] * half.y() +
                            (k & 4 ? 1 : -1) * r[6] * half.z();
      if (height < margin) corners[count++] = {height, k};
    }
    const size_t kept = std::min<size_t>(count, static_cast<size_t>(options.ground_points_per_shape));
    std::partial_sort(corners.begin(), corners.begin() + static_cast<std::ptrdiff_t>(kept),
                      corners.begin() + static_cast<std::ptrdiff_t>(count), [](const Corner& a, const Corner& b) {
                        return a.height != b.height ? a.height < b.height : a.index < b.index;
                      });
    for (size_t c = 0; c < kept; ++c) {
      const int k = corners[c].index;
      const double x = (k & 1 ? 1 : -1) * half.x();
      const double y = (k & 2 ? 1 : -1) * half.y();
      const double z = (k & 4 ? 1 : -1) * half.z();
      AddGroundPoint(geometry.body, {p[0] + r[0] * x + r[1] * y + r[2] * z, corners[c].height,
                                     p[2] + r[8] * x + r[9] * y + r[10] * z});
    }
  }

  void CollideCapsuleWithGround(const Geometry& geometry, const dReal* p, double margin) {
    const dReal* r = dGeomGetRotation(geometry.geom);  // the capsule's z axis is the third column
    const double half = 0.5 * geometry.shape->length;
    for (const double end : {-half, half}) {
      const double height = p[1] + end * r[6] - geometry.shape->radius;
      if (height < margin) AddGroundPoint(geometry.body, {p[0] + end * r[2], height, p[2] + end * r[10]});
    }
  }

  void CollideSelf() {
    constexpr int kMaxPoints = 8;
    std::array<dContact, kMaxPoints> points;
    const int wanted = std::min(options.self_points_per_pair, kMaxPoints);
    for (const GeometryPair& pair : pairs) {
      const Geometry& a = geometries[pair.first];
      const Geometry& b = geometries[pair.second];
      const dReal* pa = dGeomGetPosition(a.geom);
      const dReal* pb = dGeomGetPosition(b.geom);
      const double dx = pa[0] - pb[0];
      const double dy = pa[1] - pb[1];
      const double dz = pa[2] - pb[2];
      if (dx * dx + dy * dy + dz * dz > pair.reach_squared) continue;
      const int count = dCollide(a.geom, b.geom, wanted, &points[0].geom, sizeof(dContact));
      for (int i = 0; i < count; ++i) {
        points[static_cast<size_t>(i)].surface = {};
        AddContact(points[static_cast<size_t>(i)], a.body, b.body);
      }
    }
  }

  void Collide() {
    contacts.clear();
    std::fill(ground_touched.begin(), ground_touched.end(), false);
    for (const Geometry& geometry : geometries) CollideWithGround(geometry);
    CollideSelf();
  }

  // ---- servos

  /// Factor on a joint's gains: its contact scale while it or anything beyond it touches the ground.
  void UpdateScales() {
    if (options.contact_scale.empty()) {
      std::fill(scale.begin(), scale.end(), 1.0);
      return;
    }
    for (size_t j = character.joints.size(); j-- > 0;) {  // children come after parents
      const Joint& joint = character.joints[j];
      const bool touched = ground_touched[static_cast<size_t>(joint.child)];
      scale[j] = touched ? options.contact_scale[j] : 1.0;
      // A joint nearer the root carries what touches beyond it, within the same limb.
      if (touched && joint.parent != character.root) {
        ground_touched[static_cast<size_t>(joint.parent)] = true;
      }
    }
  }

  void SetMotorGains(size_t j) {
    if (motor_scale[j] == scale[j]) return;
    motor_scale[j] = scale[j];
    const Joint& joint = character.joints[j];
    // Implicit PD as a constraint row: with w+ the relative rate and tau the torque at the end of the step,
    //   tau = kp (err - h w+) - kd w+   <=>   w+ + tau / (h kp + kd) = kp err / (h kp + kd),
    // which is ODE's row J v+ + CFM lambda = c.
    for (int a = 0; a < 3; ++a) {
      if (!joint.UsesAxis(a)) continue;
      const double cfm = 1 / ((options.time_step * joint.kp + joint.kd) * joint.strength_scale[a] * scale[j]);
      if (joint.type == JointType::kBall) {
        dJointSetAMotorParam(motors[j], (a << 8) + dParamFMax, dInfinity);
        dJointSetAMotorParam(motors[j], (a << 8) + dParamCFM, cfm);
      } else {
        dJointSetHingeParam(motors[j], dParamFMax, dInfinity);
        dJointSetHingeParam(motors[j], dParamCFM, cfm);
      }
    }
  }

  void DriveServos(std::span<const Quat> targets) {
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const Joint& joint = character.joints[j];
      const dBodyID parent = bodies[static_cast<size_t>(joint.parent)];
      const dBodyID child = bodies[static_cast<size_t>(joint.child)];
      const Quat parent_orientation = ToQuat(dBodyGetQuaternion(parent));
      const Quat rotation = parent_orientation.conjugate() * ToQuat(dBodyGetQuaternion(child));
      const Vec3 error = RotationVector(targets[j] * rotation.conjugate());  // in the parent's axes
      if (options.servo == Servo::kImplicit) {
        SetMotorGains(j);
        const double rate = joint.kp / (options.time_step * joint.kp + joint.kd);  // the scales cancel
        // Minus: ODE drives the parent's rate less the child's.
        if (joint.type == JointType::kBall) {
          for (int a = 0; a < 3; ++a) dJointSetAMotorParam(motors[j], (a << 8) + dParamVel, -rate * error[a]);
        } else {
          dJointSetHingeParam(motors[j], dParamVel, -rate * error[joint.axis]);
        }
      } else {
        const Vec3 relative = ToVec3(dBodyGetAngularVel(child)) - ToVec3(dBodyGetAngularVel(parent));
        const Vec3 rates = parent_orientation.conjugate() * relative;
        Vec3 torque = Vec3::Zero();
        for (int a = 0; a < 3; ++a) {
          if (joint.UsesAxis(a)) {
            torque[a] = joint.strength_scale[a] * scale[j] * (joint.kp * error[a] - joint.kd * rates[a]);
          }
        }
        if (recording) torques[j] = torque;
        const Vec3 world_torque = parent_orientation * torque;
        dBodyAddTorque(child, world_torque.x(), world_torque.y(), world_torque.z());
        dBodyAddTorque(parent, -world_torque.x(), -world_torque.y(), -world_torque.z());
      }
    }
  }

  // ---- recording

  void BeginRecording() {
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const Joint& joint = character.joints[j];
      parent_before[j] = ToQuat(dBodyGetQuaternion(bodies[static_cast<size_t>(joint.parent)]));
      child_before[j] = ToQuat(dBodyGetQuaternion(bodies[static_cast<size_t>(joint.child)]));
    }
  }

  void EndRecording() {
    for (size_t c = 0; c < std::min(contacts.size(), feedback.size()); ++c) contacts[c].force = ToVec3(feedback[c].f1);
    if (options.servo == Servo::kExplicit) return;
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const Joint& joint = character.joints[j];
      Vec3 torque = ToVec3(joint_feedback[j].t2);
      if (joint.type == JointType::kHinge) {
        // The motor is a row of the hinge itself, whose force on the child at the anchor has a moment of its own.
        const Body& child = character.bodies[static_cast<size_t>(joint.child)];
        torque -= (child_before[j] * (joint.anchor - child.rest_position)).cross(ToVec3(joint_feedback[j].f2));
      }
      torque = parent_before[j].conjugate() * torque;
      for (int a = 0; a < 3; ++a) torques[j][a] = joint.UsesAxis(a) ? torque[a] : 0.0;
    }
  }

  void SetRecording(bool on) {
    recording = on;
    for (size_t j = 0; j < motors.size(); ++j) dJointSetFeedback(motors[j], on ? &joint_feedback[j] : nullptr);
    parent_before.resize(joints.size());
    child_before.resize(joints.size());
  }

  bool IsSane() const {
    for (const dBodyID body : bodies) {
      const dReal* p = dBodyGetPosition(body);
      const dReal* v = dBodyGetLinearVel(body);
      const dReal* w = dBodyGetAngularVel(body);
      for (int k = 0; k < 3; ++k) {
        // Written so that not-a-number fails.
        if (!(std::abs(p[k]) < kFarAway && std::abs(v[k]) < kTooFastLinear && std::abs(w[k]) < kTooFast)) return false;
      }
    }
    return true;
  }

  void SetState(const State& state) {
    warm_start.Reset();
    for (size_t i = 0; i < bodies.size(); ++i) {
      const dBodyID body = bodies[i];
      const BodyState& s = state[i];
      dBodySetPosition(body, s.position.x(), s.position.y(), s.position.z());
      const dQuaternion q = {s.orientation.w(), s.orientation.x(), s.orientation.y(), s.orientation.z()};
      dBodySetQuaternion(body, q);
      dBodySetLinearVel(body, s.linear_velocity.x(), s.linear_velocity.y(), s.linear_velocity.z());
      dBodySetAngularVel(body, s.angular_velocity.x(), s.angular_velocity.y(), s.angular_velocity.z());
      dBodySetForce(body, 0, 0, 0);
      dBodySetTorque(body, 0, 0, 0);
    }
  }

  bool Step(std::span<const Quat> targets) {
    if (!has_state) return false;
    SelectLcpSolver(solver == Solver::kEliminated ? LcpSolver::kEliminated : LcpSolver::kStock, &warm_start);
    scale.resize(joints.size());
    if (recording && contacts.size() > feedback.size()) feedback.resize(2 * contacts.size());
    Collide();
    UpdateScales();
    DriveServos(targets);
    if (recording) BeginRecording();
    dWorldStep(world, options.time_step);
    if (recording) EndRecording();
    dJointGroupEmpty(contact_joints);
    return IsSane();
  }

  const Character& character;
  const WorldOptions options;
  Solver solver;
  LcpWarmStart warm_start;
  bool has_state = true;  // that can be simulated
  bool broken = false;    // an exception ended a step
  double contact_erp = 0;
  double contact_cfm = 0;
  dWorldID world = nullptr;
  dThreadingImplementationID threading = nullptr;
  dJointGroupID contact_joints = nullptr;
  std::vector<dBodyID> bodies;
  std::vector<dJointID> joints;
  std::vector<dJointID> motors;  // the hinge itself carries its motor
  std::vector<Geometry> geometries;
  std::vector<GeometryPair> pairs;
  std::vector<double> scale;         // (joints) of this step
  std::vector<double> motor_scale;   // (joints) that the motors are set to
  std::vector<char> ground_touched;  // (bodies)
  std::vector<Contact> contacts;
  bool recording = false;
  std::vector<dJointFeedback> feedback;        // (contacts)
  std::vector<dJointFeedback> joint_feedback;  // (joints) of the motors
  std::vector<Quat> parent_before;             // (joints) at the start of the step
  std::vector<Quat> child_before;              // (joints)
  std::vector<Vec3> torques;
};

World::World(const Character& character, const WorldOptions& options)
    : impl_(std::make_unique<Impl>(character, options)) {}
World::~World() = default;

const WorldOptions& World::options() const {
  return impl_->options;
}
Solver World::solver() const {
  return impl_->solver;
}

void World::SetState(const State& state) {
  try {
    impl_->SetState(state);
    impl_->has_state = true;
  } catch (const std::runtime_error&) {
    impl_->has_state = false;  // an orientation that cannot be normalised: the next step tells
  }
}

void World::GetState(State& state) const {
  state.resize(impl_->bodies.size());
  for (size_t i = 0; i < impl_->bodies.size(); ++i) {
    const dBodyID body = impl_->bodies[i];
    state[i].position = ToVec3(dBodyGetPosition(body));
    state[i].orientation = ToQuat(dBodyGetQuaternion(body));
    state[i].linear_velocity = ToVec3(dBodyGetLinearVel(body));
    state[i].angular_velocity = ToVec3(dBodyGetAngularVel(body));
  }
}

bool World::Step(std::span<const Quat> targets) {
  try {
    return impl_->Step(targets);
  } catch (const std::runtime_error&) {
    // Thrown in the middle of ODE's step: nothing inside this world can be relied on any more.
    const bool recording = impl_->recording;
    impl_->broken = true;
    impl_ = std::make_unique<Impl>(impl_->character, impl_->options);
    impl_->SetRecording(recording);
    return false;
  }
}

void World::set_recording(bool recording) {
  impl_->SetRecording(recording);
}
const std::vector<Contact>& World::contacts() const {
  return impl_->contacts;
}
const std::vector<Vec3>& World::torques() const {
  return impl_->torques;
}

}  // namespace retrace::simulation
