/// A step as ODE takes it by itself (dWorldStep): the oracle of the solver of this project, and what runs where that
/// one cannot.
#pragma once

#include <ode/ode.h>

#include <span>
#include <vector>

#include "forest.h"
#include "step.h"

namespace retrace::simulation {

class OdeStepper {
 public:
  /// The forest must outlive the stepper.
  OdeStepper(const Forest& forest, const StepLaw& law);
  ~OdeStepper();
  OdeStepper(const OdeStepper&) = delete;
  OdeStepper& operator=(const OdeStepper&) = delete;

  /// Moves the bodies by a step; `forces`, unless it is null, receives what was found. Throws std::runtime_error when
  /// ODE reports an error: the stepper must then be replaced.
  void Step(std::span<BodyMotion> bodies, const StepInput& input, StepForces* forces);

 private:
  void MakeBodies();
  void MakeJoints();
  void HoldPlanarRoots();
  bool Rests(std::span<const char> resting, size_t body) const;
  void SetBodies(std::span<const BodyMotion> bodies, std::span<const char> resting);
  void DriveMotors(std::span<const Motor> motors);
  void AddContacts(std::span<const ContactPoint> contacts, bool with_feedback);
  void ReadForces(std::span<const BodyMotion> before, const StepInput& input, StepForces& forces) const;

  const Forest& forest_;
  const StepLaw law_;
  dWorldID world_ = nullptr;
  dThreadingImplementationID threading_ = nullptr;
  dJointGroupID contact_joints_ = nullptr;
  std::vector<dBodyID> bodies_;
  std::vector<dJointID> motors_;                // a hinge itself carries its motor
  std::vector<dJointFeedback> feedback_;        // (contacts)
  std::vector<dJointFeedback> motor_feedback_;  // (joints)
  bool own_push_ = false;                       // contacts push by the law, which ODE's parameters cannot express
  bool broken_ = false;
};

}  // namespace retrace::simulation
