/// The character of Liu et al. 2010 (Tables 1 and 2) straight in ODE, as the tests and benchmarks of the LCP solver
/// need it: 17 bodies, 14 ball joints and 2 knees with implicit servos, contacts with the ground and with itself.
#pragma once

#include <ode/ode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "retrace/math/rotation.h"
#include "simulation/eliminated_lcp.h"

namespace retrace::simulation::testing {

enum class Shape { kBox, kCapsuleX, kCapsuleY };

struct Segment {
  double mass;
  Vec3 inertia, position;
  Shape shape;
  Vec3 size;  // box: sides; capsule: radius, length of the cylinder
};

struct Link {
  int parent, child;
  Vec3 anchor;
  bool hinge;  // about x
  double kp, kd;
  Vec3 scale;
};

inline const std::array<Segment, 17> kSegments = {{
    {5.494, {3.441e-2, 2.210e-2, 3.441e-2}, {0, 1.585, 0.01}, Shape::kCapsuleY, {0.085, 0.06, 0}},     // 0 head
    {14.31, {1.300e-1, 1.601e-1, 2.122e-1}, {0, 1.18, 0}, Shape::kBox, {0.319, 0.276, 0.181}},         // 1 trunk
    {4.836, {1.620e-2, 4.732e-2, 4.022e-2}, {0, 0.95, 0}, Shape::kBox, {0.297, 0.106, 0.170}},         // 2 pelvis
    {2.399, {5.062e-3, 8.265e-3, 8.265e-3}, {0.105, 1.385, 0}, Shape::kBox, {0.150, 0.100, 0.112}},    // 3 clavicles
    {2.399, {5.062e-3, 8.265e-3, 8.265e-3}, {-0.105, 1.385, 0}, Shape::kBox, {0.150, 0.100, 0.112}},   // 4
    {1.814, {2.173e-3, 9.104e-3, 9.104e-3}, {0.325, 1.385, 0}, Shape::kCapsuleX, {0.042, 0.18, 0}},    // 5 upper arms
    {1.814, {2.173e-3, 9.104e-3, 9.104e-3}, {-0.325, 1.385, 0}, Shape::kCapsuleX, {0.042, 0.18, 0}},   // 6
    {1.526, {1.640e-3, 6.753e-3, 6.753e-3}, {0.575, 1.385, 0}, Shape::kCapsuleX, {0.038, 0.16, 0}},    // 7 lower arms
    {1.526, {1.640e-3, 6.753e-3, 6.753e-3}, {-0.575, 1.385, 0}, Shape::kCapsuleX, {0.038, 0.16, 0}},   // 8
    {0.4588, {3.766e-4, 1.597e-3, 1.274e-3}, {0.785, 1.385, 0}, Shape::kBox, {0.180, 0.026, 0.096}},   // 9 hands
    {0.4588, {3.766e-4, 1.597e-3, 1.274e-3}, {-0.785, 1.385, 0}, Shape::kBox, {0.180, 0.026, 0.096}},  // 10
    {6.524, {8.714e-2, 1.709e-2, 8.714e-2}, {0.09, 0.69, 0}, Shape::kCapsuleY, {0.065, 0.29, 0}},      // 11 thighs
    {6.524, {8.714e-2, 1.709e-2, 8.714e-2}, {-0.09, 0.69, 0}, Shape::kCapsuleY, {0.065, 0.29, 0}},     // 12
    {4.612, {5.565e-2, 8.931e-3, 5.565e-2}, {0.09, 0.28, 0}, Shape::kCapsuleY, {0.052, 0.29, 0}},      // 13 shins
    {4.612, {5.565e-2, 8.931e-3, 5.565e-2}, {-0.09, 0.28, 0}, Shape::kCapsuleY, {0.052, 0.29, 0}},     // 14
    {1.612, {9.479e-3, 9.706e-3, 1.714e-3}, {0.09, 0.03, 0.045}, Shape::kBox, {0.09, 0.06, 0.25}},     // 15 feet
    {1.612, {9.479e-3, 9.706e-3, 1.714e-3}, {-0.09, 0.03, 0.045}, Shape::kBox, {0.09, 0.06, 0.25}},    // 16
}};

inline const std::array<Link, 16> kLinks = {{
    {2, 1, {0, 1.02, 0}, false, 1000, 100, {0.4, 1, 1}},       // 0 waist
    {1, 0, {0, 1.45, 0}, false, 100, 10, {1, 0.4, 1}},         // 1 neck
    {1, 3, {0.02, 1.385, 0}, false, 300, 30, {0.1, 1, 1}},     // 2 sternoclavicular joints
    {1, 4, {-0.02, 1.385, 0}, false, 300, 30, {0.1, 1, 1}},    // 3
    {3, 5, {0.195, 1.385, 0}, false, 100, 5, {0.2, 1, 1}},     // 4 shoulders
    {4, 6, {-0.195, 1.385, 0}, false, 100, 5, {0.2, 1, 1}},    // 5
    {5, 7, {0.455, 1.385, 0}, false, 100, 5, {0.2, 1, 1}},     // 6 elbows
    {6, 8, {-0.455, 1.385, 0}, false, 100, 5, {0.2, 1, 1}},    // 7
    {7, 9, {0.695, 1.385, 0}, false, 20, 1, {0.1, 1, 1}},      // 8 wrists
    {8, 10, {-0.695, 1.385, 0}, false, 20, 1, {0.1, 1, 1}},    // 9
    {2, 11, {0.09, 0.90, 0}, false, 300, 30, {1, 0.2, 1}},     // 10 hips
    {2, 12, {-0.09, 0.90, 0}, false, 300, 30, {1, 0.2, 1}},    // 11
    {11, 13, {0.09, 0.48, 0}, true, 300, 30, {1, 1, 1}},       // 12 knees
    {12, 14, {-0.09, 0.48, 0}, true, 300, 30, {1, 1, 1}},      // 13
    {13, 15, {0.09, 0.075, 0}, false, 100, 10, {1, 1, 0.5}},   // 14 ankles
    {14, 16, {-0.09, 0.075, 0}, false, 100, 10, {1, 1, 0.5}},  // 15
}};                                                            // parents before children

inline constexpr int kPelvis = 2;

/// Rotation vectors of the joints.
using Pose = std::array<Vec3, 16>;

inline Pose RestPose() {
  Pose pose;
  pose.fill(Vec3::Zero());
  return pose;
}
inline Pose StandPose() {
  Pose pose = RestPose();
  pose[4] = {0, 0, -1.2};
  pose[5] = {0, 0, 1.2};
  pose[6] = {0, -0.3, 0};
  pose[7] = {0, 0.3, 0};
  return pose;
}
inline Pose CurlPose() {
  Pose pose = RestPose();
  pose[0] = {0.5, 0.1, 0};
  pose[1] = {0.3, 0, 0};
  pose[4] = {0.3, -0.9, -0.9};
  pose[5] = {0.3, 0.9, 0.9};
  pose[6] = {0, -1.6, 0};
  pose[7] = {0, 1.6, 0};
  pose[10] = {-1.5, 0, 0};
  pose[11] = {-1.4, 0, 0};
  pose[12] = {1.9, 0, 0};
  pose[13] = {1.8, 0, 0};
  return pose;
}

/// Position, quaternion (w x y z), velocity, angular velocity of each body.
using State = std::array<std::array<double, 13>, 17>;

/// The pose standing on or lying just above the ground.
inline State StateOf(const Pose& pose, const Quat& root, double clearance) {
  std::array<Vec3, 17> positions;
  std::array<Quat, 17> orientations;
  positions[kPelvis] = Vec3::Zero();
  orientations[kPelvis] = root;
  for (size_t j = 0; j < kLinks.size(); ++j) {
    const Link& link = kLinks[j];
    orientations[link.child] = (orientations[link.parent] * FromRotationVector(pose[j])).normalized();
    positions[link.child] = positions[link.parent] +
                            orientations[link.parent] * (link.anchor - kSegments[link.parent].position) -
                            orientations[link.child] * (link.anchor - kSegments[link.child].position);
  }
  double lowest = 0;
  for (size_t i = 0; i < kSegments.size(); ++i) {
    const Segment& s = kSegments[i];
    const Mat3 r = orientations[i].toRotationMatrix();
    const double reach = s.shape == Shape::kBox
                             ? 0.5 * r.row(1).cwiseAbs().dot(s.size)
                             : s.size[0] + 0.5 * s.size[1] * std::fabs(r(1, s.shape == Shape::kCapsuleX ? 0 : 1));
    lowest = std::min(lowest, positions[i].y() - reach);
  }
  State state{};
  for (size_t i = 0; i < kSegments.size(); ++i) {
    const Vec3& p = positions[i];
    const Quat& q = orientations[i];
    state[i] = {p.x(), p.y() - lowest + clearance, p.z(), q.w(), q.x(), q.y(), q.z(), 0, 0, 0, 0, 0, 0};
  }
  return state;
}
inline State Standing() {
  return StateOf(StandPose(), Quat::Identity(), -0.0005);
}
inline State Airborne() {
  return StateOf(StandPose(), Quat::Identity(), 5);
}
inline State Lying() {
  return StateOf(StandPose(), FromRotationVector({-1.5, 0.2, 0.1}), 0.01);
}
inline State Rolling() {
  State state = StateOf(CurlPose(), FromRotationVector({-1.3, 0, 0}), 0.002);
  for (auto& body : state) body[9] = 1, body[10] = 3;  // forward velocity, forward turn
  return state;
}

/// One world; not to be shared between threads.
class Humanoid {
 public:
  explicit Humanoid(bool servos = true, double time_step = 1.0 / 240);
  ~Humanoid();
  Humanoid(const Humanoid&) = delete;
  Humanoid& operator=(const Humanoid&) = delete;

  void SetTargets(const Pose& pose) {
    for (size_t j = 0; j < pose.size(); ++j) targets_[j] = FromRotationVector(pose[j]);
  }
  /// Returns the number of contacts.
  int Step();
  State Get() const;
  void Set(const State& state);

 private:
  void AddBody(const Segment& segment);
  void AddJoint(const Link& link);
  void AddMotor(const Link& link, dJointID ball);
  void DriveServos();
  void CollideGround(size_t body);
  void CollidePair(size_t a, size_t b);
  void AddContact(const dContactGeom& point, dBodyID a, dBodyID b);
  double ServoDamping(const Link& link, int axis) const {  // h kp + kd
    return (time_step_ * link.kp + link.kd) * link.scale[axis];
  }

  bool servos_;
  double time_step_;
  double stiffness_ = 4e7, damping_ = 8e4;  // of contacts
  dWorldID world_ = dWorldCreate();
  dThreadingImplementationID threading_ = dThreadingAllocateSelfThreadedImplementation();
  dJointGroupID contacts_ = dJointGroupCreate(0);
  std::vector<dBodyID> bodies_;
  std::vector<dGeomID> geoms_;
  std::vector<double> radii_;
  std::vector<dJointID> joints_, motors_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  std::array<Quat, 16> targets_;
  int contact_count_ = 0;
};

inline Humanoid::Humanoid(bool servos, double time_step) : servos_(servos), time_step_(time_step) {
  dWorldSetStepThreadingImplementation(world_, dThreadingImplementationGetFunctions(threading_), threading_);
  dWorldSetGravity(world_, 0, -9.81, 0);
  dWorldSetContactSurfaceLayer(world_, 0);
  for (const Segment& segment : kSegments) AddBody(segment);
  for (const Link& link : kLinks) AddJoint(link);
  for (size_t a = 0; a < kSegments.size(); ++a) {
    for (size_t b = a + 1; b < kSegments.size(); ++b) {
      // Bodies that touch in the rest pose do not collide.
      if ((kSegments[a].position - kSegments[b].position).norm() > 0.35) pairs_.emplace_back(a, b);
    }
  }
  SetTargets(RestPose());
}

inline Humanoid::~Humanoid() {
  dJointGroupDestroy(contacts_);
  for (const dGeomID geom : geoms_) dGeomDestroy(geom);
  dWorldDestroy(world_);
  dThreadingFreeImplementation(threading_);
}

inline void Humanoid::AddBody(const Segment& s) {
  dMass mass;
  dMassSetParameters(&mass, s.mass, 0, 0, 0, s.inertia.x(), s.inertia.y(), s.inertia.z(), 0, 0, 0);
  const dBodyID body = dBodyCreate(world_);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, s.position.x(), s.position.y(), s.position.z());
  dGeomID geom = nullptr;
  if (s.shape == Shape::kBox) {
    geom = dCreateBox(nullptr, s.size[0], s.size[1], s.size[2]);
    radii_.push_back(0.5 * s.size.norm());
  } else {
    geom = dCreateCapsule(nullptr, s.size[0], s.size[1]);  // along z
    radii_.push_back(s.size[0] + 0.5 * s.size[1]);
  }
  dGeomSetBody(geom, body);
  if (s.shape != Shape::kBox) {
    dQuaternion q;
    dQFromAxisAndAngle(q, s.shape == Shape::kCapsuleY, s.shape == Shape::kCapsuleX, 0, kPi / 2);
    dGeomSetOffsetQuaternion(geom, q);
  }
  bodies_.push_back(body);
  geoms_.push_back(geom);
}

inline void Humanoid::AddJoint(const Link& link) {
  const dJointID joint = link.hinge ? dJointCreateHinge(world_, nullptr) : dJointCreateBall(world_, nullptr);
  dJointAttach(joint, bodies_[link.parent], bodies_[link.child]);
  joints_.push_back(joint);
  if (link.hinge) {
    dJointSetHingeAnchor(joint, link.anchor.x(), link.anchor.y(), link.anchor.z());
    dJointSetHingeAxis(joint, 1, 0, 0);
    if (servos_) {
      dJointSetHingeParam(joint, dParamFMax, dInfinity);
      dJointSetHingeParam(joint, dParamCFM, 1 / ServoDamping(link, 0));
    }
    motors_.push_back(joint);
  } else {
    dJointSetBallAnchor(joint, link.anchor.x(), link.anchor.y(), link.anchor.z());
    AddMotor(link, joint);
  }
}

inline void Humanoid::AddMotor(const Link& link, dJointID ball) {
  if (!servos_) {
    motors_.push_back(ball);
    return;
  }
  const dJointID motor = dJointCreateAMotor(world_, nullptr);
  dJointAttach(motor, bodies_[link.parent], bodies_[link.child]);
  dJointSetAMotorMode(motor, dAMotorUser);
  dJointSetAMotorNumAxes(motor, 3);
  for (int axis = 0; axis < 3; ++axis) {
    dJointSetAMotorAxis(motor, axis, 1, axis == 0, axis == 1, axis == 2);
    dJointSetAMotorParam(motor, dParamFMax + dParamGroup * axis, dInfinity);
    dJointSetAMotorParam(motor, dParamCFM + dParamGroup * axis, 1 / ServoDamping(link, axis));
  }
  motors_.push_back(motor);
}

/// Implicit PD: torque + (h kp + kd) w = kp error, as a motor row.
inline void Humanoid::DriveServos() {
  for (size_t j = 0; j < kLinks.size(); ++j) {
    const Link& link = kLinks[j];
    const dReal* p = dBodyGetQuaternion(bodies_[link.parent]);
    const dReal* c = dBodyGetQuaternion(bodies_[link.child]);
    const Quat relative = Quat(p[0], p[1], p[2], p[3]).conjugate() * Quat(c[0], c[1], c[2], c[3]);
    const Vec3 error = RotationVector(targets_[j] * relative.conjugate());
    if (link.hinge) {
      dJointSetHingeParam(motors_[j], dParamVel, -link.kp * error.x() / ServoDamping(link, 0));
      continue;
    }
    for (int axis = 0; axis < 3; ++axis) {
      dJointSetAMotorParam(motors_[j], dParamVel + dParamGroup * axis,
                           -link.kp * link.scale[axis] * error[axis] / ServoDamping(link, axis));
    }
  }
}

inline int Humanoid::Step() {
  contact_count_ = 0;
  if (servos_) DriveServos();
  for (size_t i = 0; i < bodies_.size(); ++i) CollideGround(i);
  for (const auto& [a, b] : pairs_) CollidePair(a, b);
  dWorldStep(world_, time_step_);
  dJointGroupEmpty(contacts_);
  return contact_count_;
}

/// Boxes touch with their corners, at most the four deepest, capsules with their ends.
inline void Humanoid::CollideGround(size_t body) {
  const dReal* p = dBodyGetPosition(bodies_[body]);
  const dReal* r = dBodyGetRotation(bodies_[body]);
  const Segment& s = kSegments[body];
  if (p[1] > radii_[body]) return;
  std::array<Vec3, 8> points;
  int count = 0;
  for (int k = 0; k < (s.shape == Shape::kBox ? 8 : 2); ++k) {
    Vec3 local = Vec3::Zero();
    if (s.shape == Shape::kBox) {
      local =
          0.5 * Vec3(k & 1 ? s.size[0] : -s.size[0], k & 2 ? s.size[1] : -s.size[1], k & 4 ? s.size[2] : -s.size[2]);
    } else {
      local[s.shape == Shape::kCapsuleX ? 0 : 1] = k == 0 ? 0.5 * s.size[1] : -0.5 * s.size[1];
    }
    Vec3 point;
    for (int i = 0; i < 3; ++i)
      point[i] = p[i] + r[4 * i] * local[0] + r[4 * i + 1] * local[1] + r[4 * i + 2] * local[2];
    if (s.shape != Shape::kBox) point.y() -= s.size[0];
    if (point.y() < 0) points[count++] = point;
  }
  const int kept = std::min(count, 4);
  std::partial_sort(points.begin(), points.begin() + kept, points.begin() + count,
                    [](const Vec3& a, const Vec3& b) { return a.y() < b.y(); });
  for (int k = 0; k < kept; ++k) {
    dContactGeom geom{};
    for (int i = 0; i < 3; ++i) geom.pos[i] = points[k][i];
    geom.normal[1] = 1;
    geom.depth = -points[k].y();
    AddContact(geom, bodies_[body], nullptr);
  }
}

inline void Humanoid::CollidePair(size_t a, size_t b) {
  const dReal* p = dBodyGetPosition(bodies_[a]);
  const dReal* q = dBodyGetPosition(bodies_[b]);
  const double reach = radii_[a] + radii_[b];
  if (Vec3(p[0] - q[0], p[1] - q[1], p[2] - q[2]).squaredNorm() > reach * reach) return;
  std::array<dContactGeom, 2> points;
  const int count = dCollide(geoms_[a], geoms_[b], 2, points.data(), sizeof points[0]);
  for (int k = 0; k < count; ++k) AddContact(points[k], bodies_[a], bodies_[b]);
}

inline void Humanoid::AddContact(const dContactGeom& point, dBodyID a, dBodyID b) {
  dContact contact{};
  contact.geom = point;
  contact.surface.mode = dContactApprox1 | dContactSoftERP | dContactSoftCFM;
  contact.surface.mu = 0.8;
  contact.surface.soft_erp = time_step_ * stiffness_ / (time_step_ * stiffness_ + damping_);
  contact.surface.soft_cfm = 1 / (time_step_ * stiffness_ + damping_);
  dJointAttach(dJointCreateContact(world_, contacts_, &contact), a, b);
  ++contact_count_;
}

inline State Humanoid::Get() const {
  State state;
  for (size_t i = 0; i < bodies_.size(); ++i) {
    double* to = state[i].data();
    to = std::copy_n(dBodyGetPosition(bodies_[i]), 3, to);
    to = std::copy_n(dBodyGetQuaternion(bodies_[i]), 4, to);
    to = std::copy_n(dBodyGetLinearVel(bodies_[i]), 3, to);
    std::copy_n(dBodyGetAngularVel(bodies_[i]), 3, to);
  }
  return state;
}

inline void Humanoid::Set(const State& state) {
  for (size_t i = 0; i < bodies_.size(); ++i) {
    const std::array<double, 13>& s = state[i];
    const dQuaternion q = {s[3], s[4], s[5], s[6]};
    dBodySetPosition(bodies_[i], s[0], s[1], s[2]);
    dBodySetQuaternion(bodies_[i], q);
    dBodySetLinearVel(bodies_[i], s[7], s[8], s[9]);
    dBodySetAngularVel(bodies_[i], s[10], s[11], s[12]);
    dBodySetForce(bodies_[i], 0, 0, 0);
    dBodySetTorque(bodies_[i], 0, 0, 0);
  }
}

}  // namespace retrace::simulation::testing
