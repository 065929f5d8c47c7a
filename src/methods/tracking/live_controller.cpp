#include "retrace/methods/tracking/live_controller.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "retrace/control/time_grid.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/io/error.h"
#include "retrace/methods/tracking/problem.h"
#include "retrace/methods/tracking/tracked_motion.h"

namespace retrace::tracking {
namespace {

/// The motion is prepared anew once in each fragment of a control.
constexpr double kPart = 0.1;  // [s]

}  // namespace

struct LiveController::Impl {
  Impl(const character::Character& one, const simulation::WorldOptions& world, double frame_time,
       const Options& options, const LiveOptions& live)
      : character(one),
        reference(one, frame_time, world, options, live),
        layout(one, world.environment),
        part_steps(control::TimeGrid{world.time_step}.PartSteps(kPart)),
        commands(one.joints.size()),
        dynamics(one, world.gravity),
        mass(dynamics.size(), dynamics.size()),
        torques(one.joints.size(), Vec3::Zero()) {
    if (const auto wrong = world.Validate()) throw UsageError(*wrong);
    if (options.candidates > 0) throw UsageError("a motion that is not known to its end has no search of candidates");
    problem.task.character = &character;
    problem.task.world = world;
    problem.task.world.contact_scale.clear();
    problem.options = options;
    for (Eigen::VectorXd* vector : {&error, &velocity, &implicit, &asked, &torque}) vector->setZero(dynamics.size());
  }

  double TimeOf(int step) const { return step * problem.time_step(); }

  /// The controller of the part of the motion that a step is in: one that goes on with what the one before remembered.
  TrackingController& At(int step) {
    const int first = step - step % part_steps;
    if (controller && first == first_step) return *controller;
    std::vector<double> memory;
    if (controller) {
      memory = controller->Memory();
      KeepRecords();
    }
    reference.Prepare(TimeOf(first));
    problem.tracked = &reference.motion();
    problem.flights = reference.flights();
    controller = std::make_unique<TrackingController>(problem);
    if (!memory.empty()) controller->Recall(memory);
    motion.emplace(reference.motion(), dynamics.coordinates());
    first_step = first;
    return *controller;
  }

  /// Their times become those of the whole motion.
  void KeepRecords() {
    for (SolveRecord& record : controller->TakeRecords()) {
      record.time += reference.begin();
      records.push_back(record);
    }
  }

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> to) {
    TrackingController& present = At(now.step);
    present.Command({now.step, TimeOf(now.step) - reference.begin(), now.state, now.layout, now.character}, to);
  }

  /// What commands come to in a simulator without servos. With the servos' stiffness K and damping D, and errors of
  /// pose and rate that would stay if the plan came true, the servos accelerate the body by a with
  ///     (M + h D + h^2 K) a = K e_pose + D e_rate
  /// for the errors at the end of the step, and their torques are the right side less (h D + h^2 K) a.
  void FindTorques(int step, const character::State& state) {
    Command({step, TimeOf(step), state, layout, 0}, commands);
    const double h = problem.time_step();
    const dynamics::Coordinates& coordinates = dynamics.coordinates();
    motion->At(TimeOf(step + 1) - reference.begin(), goal);
    for (size_t j = 0; j < commands.size(); ++j) goal.pose.joint_rotations[j] = commands[j].target;
    dynamics.SetMotion(state);
    coordinates.PoseOf(state, pose);
    coordinates.VelocityOf(state, velocity);
    coordinates.Difference(pose, goal.pose, error);
    ForEachAxis([&](size_t j, int a, int k) {
      const character::Joint& joint = character.joints[j];
      const double gain = commands[j].gain * joint.strength_scale[a];
      const double stiffness = gain * joint.kp, damping = gain * joint.kd;
      implicit[k] = h * damping + h * h * stiffness;
      asked[k] = stiffness * (error[k] - h * velocity[k]) + damping * (goal.velocity[k] - velocity[k]);
      torque[k] = commands[j].torque[a] - damping * goal.velocity[k] + asked[k];  // of the command: with that damping
    });
    dynamics.MassMatrix(mass);
    mass.diagonal() += implicit;
    torque -= implicit.cwiseProduct(mass.llt().solve(asked));
    ForEachAxis([&](size_t j, int a, int k) { torques[j][a] = character.joints[j].Limited(torque[k], a); });
    for (size_t j = 0; j < torques.size(); ++j) {
      const character::Joint& joint = character.joints[j];
      torques[j] = state[static_cast<size_t>(joint.parent)].orientation * joint.FromAxes(torques[j]);
    }
  }

  /// Calls visit(joint, axis, coordinate).
  template <typename Visit>
  void ForEachAxis(const Visit& visit) {
    for (size_t j = 0; j < character.joints.size(); ++j) {
      int k = dynamics.coordinates().FirstOf(static_cast<int>(j));
      torques[j].setZero();
      for (int a = 0; a < 3; ++a) {
        if (character.joints[j].UsesAxis(a)) visit(j, a, k++);
      }
    }
  }

  const character::Character& character;
  LiveReference reference;
  simulation::Layout layout;
  int part_steps;
  Problem problem;
  std::unique_ptr<TrackingController> controller;  // of the present part; it refers to the problem
  int first_step = 0;                              // of that part
  std::vector<SolveRecord> records;
  // of torques
  std::vector<simulation::JointCommand> commands;  // (joints)
  dynamics::CharacterDynamics dynamics;
  std::optional<TrackedMotion> motion;  // of the present part
  Goal goal;
  character::Pose pose;
  Eigen::VectorXd error, velocity, implicit, asked, torque;  // (n)
  Eigen::MatrixXd mass;                                      // (n x n)
  std::vector<Vec3> torques;                                 // (joints)
};

LiveController::LiveController(const character::Character& character, const simulation::WorldOptions& world,
                               double frame_time, const Options& options, const LiveOptions& live)
    : impl_(std::make_unique<Impl>(character, world, frame_time, options, live)) {}
LiveController::~LiveController() = default;

void LiveController::Append(character::Pose pose) {
  impl_->reference.Append(std::move(pose));
}

void LiveController::Finish() {
  impl_->reference.Finish();
}

bool LiveController::Suffices(int step) const {
  return impl_->reference.Suffices(impl_->TimeOf(step - step % impl_->part_steps));
}

double LiveController::duration() const {
  return impl_->reference.duration();
}

character::State LiveController::StartState() {
  return impl_->At(0).StartState();
}

void LiveController::Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) {
  impl_->Command(now, commands);
}

std::span<const Vec3> LiveController::Torques(int step, const character::State& state) {
  impl_->FindTorques(step, state);
  return impl_->torques;
}

bool LiveController::RestartsAt(int step) {
  return step % impl_->part_steps == 0;
}

std::vector<SolveRecord> LiveController::TakeRecords() {
  if (impl_->controller) impl_->KeepRecords();
  return std::exchange(impl_->records, {});
}

}  // namespace retrace::tracking
