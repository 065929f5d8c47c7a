/// The controller that follows a motion: a quadratic program some hundred times a second, and weak servos in between
/// (da Silva, Abe and Popovic 2008).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "retrace/control/controller.h"
#include "retrace/methods/tracking/problem.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::tracking {

struct Variation;  // of the search for a control

/// What was found at one instant.
struct SolveRecord {
  double time = 0;                                               ///< [s]
  optimization::Status status = optimization::Status::kOptimal;  ///< anything else: the torques before are held
  int contacts = 0;                                              ///< points
  int variables = 0;                                             ///< of the program
  int iterations = 0;                                            ///< changes of its active set
  double squared_error = 0;   ///< of the state from the reference, as paper's Figure 3: squared differences of all
                              ///< rotations [rad^2] and velocities [m^2/s^2, rad^2/s^2]; the position of the root apart
  double slack = 0;           ///< largest acceleration that a contact point is planned to have [m/s^2]
  double largest_torque = 0;  ///< planned, about an axis of a joint [N m]
  double vertical_force = 0;  ///< planned, sum over contact points [N]
  double cpu_seconds = 0;     ///< of this solution, with what it needs; no result depends on it
};

class TrackingController final : public control::Controller {
 public:
  /// The problem must outlive the controller.
  explicit TrackingController(const Problem& problem);
  ~TrackingController() override;

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override;
  bool RestartsAt(int step) override;

  /// A control file keeps the commands in fragments of so many steps (0.1 s); each begins with a restart.
  int fragment_steps() const;
  const std::vector<SolveRecord>& records() const;
  std::vector<SolveRecord> TakeRecords();

  /// Changes how the reference is followed from here on.
  void Vary(const Variation& variation);
  /// What the controller keeps from fragment to fragment, as numbers; recalling it before a fragment makes what follows
  /// a function of it and of the state alone.
  std::vector<double> Memory() const;
  void Recall(std::span<const double> memory);
  /// Where a control begins that follows the motion.
  character::State StartState() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace retrace::tracking
