#include <ode/ode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <thread>

#include "eliminated_lcp.h"
#include "stock_lcp.h"

namespace retrace::simulation {
namespace {

/// Three boxes in a chain, ball joints with motors between them, dropped onto a plane.
class ProofChain {
 public:
  static constexpr int kBodies = 3;
  static constexpr int kPoseSize = 7;    // position, quaternion
  static constexpr int kStateSize = 13;  // and velocity, angular velocity
  using States = std::array<std::array<double, kStateSize>, kBodies>;

  ProofChain() {
    // Without an implementation of its own a world shares one that is not safe with several threads.
    dWorldSetStepThreadingImplementation(world_, dThreadingImplementationGetFunctions(threading_), threading_);
    dWorldSetGravity(world_, 0, -9.81, 0);
    for (int i = 0; i < kBodies; ++i) AddBody(i);
    for (int i = 1; i < kBodies; ++i) Connect(i);
  }
  ~ProofChain() {
    dJointGroupDestroy(contacts_);
    for (const dGeomID box : boxes_) dGeomDestroy(box);
    dGeomDestroy(plane_);
    dWorldDestroy(world_);
    dThreadingFreeImplementation(threading_);
  }
  ProofChain(const ProofChain&) = delete;
  ProofChain& operator=(const ProofChain&) = delete;

  void Step(LcpSolver solver);
  States Get() const;
  void Set(const States& states);

 private:
  void AddBody(int i);
  void Connect(int i);

  dWorldID world_ = dWorldCreate();
  dThreadingImplementationID threading_ = dThreadingAllocateSelfThreadedImplementation();
  dJointGroupID contacts_ = dJointGroupCreate(0);
  dGeomID plane_ = dCreatePlane(nullptr, 0, 1, 0, 0);
  std::array<dBodyID, kBodies> bodies_{};
  std::array<dGeomID, kBodies> boxes_{};
};

void ProofChain::AddBody(int i) {
  dMass mass;
  dMassSetBoxTotal(&mass, 2.0 + i, 0.3, 0.1, 0.2);
  bodies_[i] = dBodyCreate(world_);
  dBodySetMass(bodies_[i], &mass);
  dBodySetPosition(bodies_[i], 0.35 * i, 0.06, 0);
  dBodySetAngularVel(bodies_[i], 0.3 * i, 0.2, -0.5);
  boxes_[i] = dCreateBox(nullptr, 0.3, 0.1, 0.2);
  dGeomSetBody(boxes_[i], bodies_[i]);
}

void ProofChain::Connect(int i) {
  const dJointID ball = dJointCreateBall(world_, nullptr);
  dJointAttach(ball, bodies_[i - 1], bodies_[i]);
  dJointSetBallAnchor(ball, 0.35 * i - 0.175, 0.06, 0);
  const dJointID motor = dJointCreateAMotor(world_, nullptr);
  dJointAttach(motor, bodies_[i - 1], bodies_[i]);
  dJointSetAMotorMode(motor, dAMotorUser);
  dJointSetAMotorNumAxes(motor, 3);
  for (int axis = 0; axis < 3; ++axis) {
    dJointSetAMotorAxis(motor, axis, 1, axis == 0, axis == 1, axis == 2);
    dJointSetAMotorParam(motor, dParamFMax + dParamGroup * axis, dInfinity);
    dJointSetAMotorParam(motor, dParamCFM + dParamGroup * axis, 0.1);
    dJointSetAMotorParam(motor, dParamVel + dParamGroup * axis, 0.2 * axis);
  }
}

void ProofChain::Step(LcpSolver solver) {
  for (int i = 0; i < kBodies; ++i) {
    std::array<dContactGeom, 4> points;
    const int count = dCollide(boxes_[i], plane_, 4, points.data(), sizeof points[0]);
    for (int c = 0; c < count; ++c) {
      dContact contact{};
      contact.geom = points[c];
      contact.surface.mode = dContactApprox1 | dContactSoftCFM;
      contact.surface.mu = 0.5;
      contact.surface.soft_cfm = 1e-5;
      dJointAttach(dJointCreateContact(world_, contacts_, &contact), bodies_[i], nullptr);
    }
  }
  SelectLcpSolver(solver);
  dWorldStep(world_, 1.0 / 240);
  dJointGroupEmpty(contacts_);
}

ProofChain::States ProofChain::Get() const {
  States states;
  for (int i = 0; i < kBodies; ++i) {
    double* to = states[i].data();
    to = std::copy_n(dBodyGetPosition(bodies_[i]), 3, to);
    to = std::copy_n(dBodyGetQuaternion(bodies_[i]), 4, to);
    to = std::copy_n(dBodyGetLinearVel(bodies_[i]), 3, to);
    std::copy_n(dBodyGetAngularVel(bodies_[i]), 3, to);
  }
  return states;
}

void ProofChain::Set(const States& states) {
  for (int i = 0; i < kBodies; ++i) {
    const double* s = states[i].data();
    const dQuaternion q = {s[3], s[4], s[5], s[6]};
    dBodySetPosition(bodies_[i], s[0], s[1], s[2]);
    dBodySetQuaternion(bodies_[i], q);
    dBodySetLinearVel(bodies_[i], s[7], s[8], s[9]);
    dBodySetAngularVel(bodies_[i], s[10], s[11], s[12]);
  }
}

/// Takes some steps with either solver from the same states.
std::optional<std::string> CompareSolvers() {
  constexpr int kSteps = 30;
  constexpr double kTolerance = 1e-9;
  ProofChain chain;
  bool equal = true;
  double largest = 0;
  for (int step = 0; step < kSteps; ++step) {
    const ProofChain::States start = chain.Get();
    chain.Step(LcpSolver::kStock);
    const ProofChain::States expected = chain.Get();
    chain.Set(start);
    chain.Step(LcpSolver::kEliminated);
    const ProofChain::States found = chain.Get();
    for (int i = 0; i < ProofChain::kBodies; ++i) {
      for (int k = 0; k < ProofChain::kPoseSize; ++k) {
        const double difference = std::fabs(found[i][k] - expected[i][k]);
        equal = equal && difference < kTolerance;  // false if it is not a number
        largest = std::max(largest, difference);
      }
    }
  }
  const LcpStatistics& statistics = ThreadLcpStatistics();
  if (statistics.calls == 0) {
    return "libode does not call this executable's dxSolveLCP; is it linked as a static library?";
  }
  if (statistics.calls != 2 * kSteps || statistics.eliminated != kSteps) {
    return "of " + std::to_string(kSteps) + " problems " + std::to_string(statistics.eliminated) +
           " were solved by elimination";
  }
  if (!equal) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.3g", largest);
    return "the poses of the two solvers differ by " + std::string(text.data()) + " after one step";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ProveEliminatedSolver() {
  if (FindStockLcpSolver() == nullptr) {
    return std::string("libode's own solver was not found: it exports no symbol ") + kStockLcpSymbol;
  }
  std::optional<std::string> problem;
  std::thread([&problem] {
    dAllocateODEDataForThread(dAllocateMaskAll);
    try {
      problem = CompareSolvers();
    } catch (const std::exception& error) {  // from a handler for ODE's errors that the caller may have installed
      problem = std::string("ODE reports: ") + error.what();
    }
    dCleanupODEAllDataForThread();
  }).join();
  return problem;
}

}  // namespace retrace::simulation
