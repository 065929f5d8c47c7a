#include "retrace/methods/tracking/controller.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "contact_set.h"
#include "foot_placement.h"
#include "force_guidance.h"
#include "paper_servo.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/control/time_grid.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/io/cpu_time.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/tracking/plan.h"
#include "slow_balance.h"
#include "take_off.h"
#include "variation.h"

namespace retrace::tracking {
namespace {

constexpr double kFragment = 0.1;  // [s]
constexpr double kNoForce = 1;     // a point for which less is planned is let go where forces guide [N]

}  // namespace

struct TrackingController::Impl {
  explicit Impl(const Problem& p)
      : problem(p),
        options(p.options),
        character(*p.task.character),
        dynamics(character, p.task.world.gravity),
        motion(*p.tracked, dynamics.coordinates()),
        contact_set(character, p.task.world, options),
        placement(character, *p.tracked, p.task.world.environment, options),
        take_off(character, motion, p.flights, options, p.task.world.gravity),
        slow_balance(character, *p.tracked, p.flights, options, p.task.world.gravity),
        servo(character, p.options.stiffness, p.options.servo == Servo::kPaperRelative),
        by_the_letter(p.options.servo != Servo::kCharacter),
        steps_per_solution(std::max(1, static_cast<int>(std::lround(1 / (p.time_step() * p.options.solve_rate))))),
        fragment_steps(control::TimeGrid{p.time_step()}.PartSteps(kFragment)),
        error(dynamics.size()),
        velocity(dynamics.size()),
        torque(Eigen::VectorXd::Zero(dynamics.size())) {
    if (p.options.guidance > 0) guidance.emplace(character, *p.tracked, options, p.task.world);
  }

  const dynamics::Coordinates& coordinates() const { return dynamics.coordinates(); }

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) {
    const double h = problem.time_step();
    if (now.step == next_step) {
      std::swap(goal, next_goal);
    } else {
      motion.At(now.time, goal);
    }
    motion.At(now.time + h, next_goal);
    next_step = now.step + 1;
    const character::State& state = now.state;
    placement.Update(state, goal, now.time, surface_velocity, h);
    target = goal.pose;
    if (!guidance) placement.Apply(state, goal, slow_balance.SlownessAt(now.time), target);
    if (now.step % steps_per_solution == 0) Solve(now);
    FindGivenTorques(state);
    for (size_t j = 0; j < character.joints.size(); ++j) SetCommand(j, commands[j]);
  }

  /// Feedforward torque, and a weak servo that also knows the velocity that it is to have.
  void SetCommand(size_t j, simulation::JointCommand& command) const {
    const character::Joint& joint = character.joints[j];
    command.target =
        (target.joint_rotations[j] * goal.pose.joint_rotations[j].conjugate()) * next_goal.pose.joint_rotations[j];
    command.target.normalize();
    command.gain = by_the_letter ? 0 : options.stiffness;
    command.torque.setZero();
    int k = coordinates().FirstOf(static_cast<int>(j));
    for (int a = 0; a < 3; ++a) {
      if (!joint.UsesAxis(a)) continue;
      const double damping = command.gain * joint.kd * joint.strength_scale[a];
      command.torque[a] = given[k] + damping * next_goal.velocity[k];
      ++k;
    }
  }

  /// What is planned, and equations 8 to 10 where they are asked for.
  void FindGivenTorques(const character::State& state) {
    given = torque;
    if (!by_the_letter || options.stiffness == 0) return;
    dynamics.SetMotion(state);
    coordinates().PoseOf(state, pose);
    coordinates().VelocityOf(state, velocity);
    coordinates().Difference(pose, target, error);
    servo.AddTorques(dynamics, error, velocity, goal.velocity, given);
  }

  void Solve(const control::StepContext& now) {
    const double begin = io::ThreadCpuSeconds();
    SolveRecord& record = records.emplace_back();
    record.time = now.time;
    dynamics.SetMotion(now.state);
    coordinates().PoseOf(now.state, pose);
    coordinates().VelocityOf(now.state, velocity);
    program.Resize(dynamics.size(), 0);
    dynamics.MassMatrix(program.mass);
    dynamics.BiasForces(program.bias);
    program.root_axes = dynamics.RootAxes();
    program.num_held = dynamics.num_held();
    SetWeights();
    std::vector<ContactPlace>& places = contact_set.Find(now.state, now.step, goal);
    if (guidance) {
      guidance->Update(dynamics, goal, places, now.time, steps_per_solution * problem.time_step());
      guidance->SetTasks(dynamics, program);
    }
    take_off.AddTasks(dynamics, goal, now.time, program);
    if (!guidance) {
      slow_balance.AddTask(dynamics, goal, now.time, placement.distance_error(), surface_velocity, program);
    }
    const Plan* solution = &SolveWith(places);
    if (solution->status == optimization::Status::kOptimal && Release(*solution, places)) {
      record.iterations = solution->iterations;
      solution = &SolveWith(places);
    }
    const Plan& plan = *solution;
    record.status = plan.status;
    record.contacts = static_cast<int>(places.size());
    record.variables = plan.num_variables;
    record.iterations += plan.iterations;
    record.squared_error = SquaredError();
    if (plan.status == optimization::Status::kOptimal) {
      torque = plan.torque;
      record.slack = plan.slack;
      for (size_t c = 0; c < places.size(); ++c) {
        record.vertical_force += plan.force[3 * static_cast<Eigen::Index>(c) + 1];
      }
    }
    record.largest_torque = torque.cwiseAbs().maxCoeff();
    record.cpu_seconds = io::ThreadCpuSeconds() - begin;
  }

  const Plan& SolveWith(const std::vector<ContactPlace>& places) {
    program.ResizeContacts(static_cast<int>(places.size()));
    SetContacts(places);
    if (guidance) guidance->SetForces(dynamics, places, program);
    SetDesired();
    return planner.Solve(program);
  }

  /// Takes away the points that a plan does not load and the reference moves. Whether there are any, and others remain.
  bool Release(const Plan& plan, std::vector<ContactPlace>& places) const {
    const auto leaves = [&](size_t c) {
      const double force = plan.force.segment<3>(3 * static_cast<Eigen::Index>(c)).dot(places[c].normal);
      if (guidance) return force <= kNoForce;
      return force <= options.released_force && places[c].speed_in_reference >= options.released_speed;
    };
    if (options.released_force == 0) return false;
    size_t kept = 0;
    for (size_t c = 0; c < places.size(); ++c) kept += leaves(c) ? 0 : 1;
    if (kept == 0 || kept == places.size()) return false;
    size_t next = 0;
    for (size_t c = 0; c < places.size(); ++c) {
      if (!leaves(c)) places[next++] = places[c];
    }
    places.resize(kept);
    return true;
  }

  void SetContacts(const std::vector<ContactPlace>& places) {
    surface_velocity.setZero();
    for (size_t c = 0; c < places.size(); ++c) {
      const ContactPlace& place = places[c];
      const Eigen::Index row = 3 * static_cast<Eigen::Index>(c);
      dynamics.PointJacobian(place.body, place.point, program.jacobian.middleRows<3>(row));
      const Vec3 slipping = dynamics.VelocityOf(place.body, place.point) - place.surface_velocity;
      program.slip.segment<3>(row) =
          dynamics.PointBias(place.body, place.point) - place.surface_acceleration + options.contact_damping * slipping;
      program.cone.middleRows<3>(row) = FrictionCone(place.normal, options.friction);
      if (options.soft_contacts) SetLaw(place, slipping, c);
      surface_velocity += place.surface_velocity / static_cast<double>(places.size());
    }
  }

  /// In position of equation 7e along the normal: with rate v, force f and the step h, v + h a + compliance f = push,
  /// the law of the simulation's step.
  void SetLaw(const ContactPlace& place, const Vec3& slipping, size_t contact) {
    const double h = problem.time_step(), rate = slipping.dot(place.normal);
    auto slip = program.slip.segment<3>(3 * static_cast<Eigen::Index>(contact));
    slip += ((rate - place.push) / h - options.contact_damping * rate) * place.normal;
    program.normals.middleRows<3>(3 * static_cast<Eigen::Index>(contact)) = place.normal;
    program.softness[static_cast<Eigen::Index>(contact)] = place.compliance / h;
  }

  /// Equation 4, with the changes of equation 11. The position of the root has no feedback but by that of the center of
  /// mass over the feet; on a surface that moves, the root is to move with it.
  void SetDesired() {
    const double feedback = options.feedback, damping = 2 * std::sqrt(feedback);
    coordinates().Difference(pose, target, error);
    error.head<3>().setZero();
    program.desired = goal.acceleration + feedback * error + damping * (goal.velocity - velocity);
    program.desired.head<3>() += damping * surface_velocity - options.stance_feedback * placement.distance_error();
  }

  void SetWeights() {
    program.weights.head<3>().setConstant(options.root_translation_weight);
    program.weights.segment<3>(3).setConstant(options.root_rotation_weight);
    program.contact_weight = options.contact_weight;
    program.regularization = options.regularization;
    program.torque_limit = options.torque_limit;
    program.efforts.resize(0);
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const character::Joint& joint = character.joints[j];
      if (!joint.limited()) continue;
      if (program.efforts.size() == 0) program.efforts.setZero(dynamics.size() - 6);
      Eigen::Index k = coordinates().FirstOf(static_cast<int>(j)) - 6;
      for (int a = 0; a < 3; ++a) {
        if (joint.UsesAxis(a)) program.efforts[k++] = joint.effort[a];
      }
    }
  }

  double SquaredError() {
    coordinates().Difference(pose, goal.pose, error);
    error.head<3>().setZero();
    return error.squaredNorm() + (goal.velocity - velocity).squaredNorm();
  }

  const Problem& problem;
  Options options;  // the problem's, or varied
  const character::Character& character;
  dynamics::CharacterDynamics dynamics;
  TrackedMotion motion;
  ContactSet contact_set;
  FootPlacement placement;
  TakeOff take_off;
  SlowBalance slow_balance;
  Planner planner;
  PaperServo servo;
  bool by_the_letter;  // the servo is the paper's
  int steps_per_solution;
  int fragment_steps;
  int next_step = -1;  // of which next_goal is the goal
  Goal goal, next_goal;
  character::Pose target;  // the goal's pose with the changes of equation 11
  character::Pose pose;
  Dynamics program;
  Eigen::VectorXd error, velocity;       // (n)
  Eigen::VectorXd torque;                // (n) planned
  Eigen::VectorXd given;                 // (n) with the paper's servo
  Vec3 surface_velocity = Vec3::Zero();  // of what the character stands on
  std::vector<SolveRecord> records;
  std::optional<ForceGuidance> guidance;  // where forces guide
};

TrackingController::TrackingController(const Problem& problem) : impl_(std::make_unique<Impl>(problem)) {}
TrackingController::~TrackingController() = default;

void TrackingController::Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) {
  impl_->Command(now, commands);
}

bool TrackingController::RestartsAt(int step) {
  return step % impl_->fragment_steps == 0;
}

int TrackingController::fragment_steps() const {
  return impl_->fragment_steps;
}

const std::vector<SolveRecord>& TrackingController::records() const {
  return impl_->records;
}

std::vector<SolveRecord> TrackingController::TakeRecords() {
  return std::exchange(impl_->records, {});
}

void TrackingController::Vary(const Variation& variation) {
  impl_->options = Varied(impl_->problem.options, variation);
  if (impl_->guidance) impl_->guidance->set_variation(variation);
}

std::vector<double> TrackingController::Memory() const {
  std::vector<double> numbers(impl_->torque.begin(), impl_->torque.end());
  numbers.insert(numbers.end(), impl_->surface_velocity.begin(), impl_->surface_velocity.end());
  impl_->placement.AppendMemory(numbers);
  if (impl_->guidance) impl_->guidance->AppendMemory(numbers);
  return numbers;
}

void TrackingController::Recall(std::span<const double> memory) {
  const auto take = [&](auto& values) {
    std::copy_n(memory.begin(), values.size(), values.begin());
    memory = memory.subspan(static_cast<size_t>(values.size()));
  };
  take(impl_->torque);
  take(impl_->surface_velocity);
  memory = impl_->placement.Recall(memory);
  if (impl_->guidance) impl_->guidance->Recall(memory);
  impl_->next_step = -1;
  impl_->planner = Planner();
}

character::State TrackingController::StartState() const {
  if (impl_->problem.start) return *impl_->problem.start;
  const Options& options = impl_->problem.options;
  Goal goal;
  impl_->motion.At(0, goal);
  // Raised as a whole, a character falls on the foot that carries it. What forces guide is sensitive to that.
  if (options.guidance > 0) {
    character::RaiseFeet(impl_->character, goal.state, goal.pose);
    impl_->coordinates().StateOf(goal.pose, goal.velocity, goal.state);
  }
  const double raised = task::DepthInGround(impl_->character, goal.state);
  if (!options.soft_contacts) goal.pose.root_position.y() += raised;
  RandomStream random(options.seed, RandomStage::kStart, 0, 0);
  for (double& number : goal.velocity) number += options.perturbation * random.Normal();
  character::State state;
  impl_->coordinates().StateOf(goal.pose, goal.velocity, state);
  if (const int held = impl_->dynamics.num_held(); held > 0) {  // a planar character begins in its plane
    impl_->dynamics.SetMotion(state);
    const auto axes = impl_->dynamics.RootAxes().rightCols(held).eval();
    goal.velocity.head<6>() -= axes * (axes.transpose() * goal.velocity.head<6>());
  }
  impl_->coordinates().StateOf(goal.pose, goal.velocity, state);
  impl_->problem.task.world.environment.AppendStart(state);
  return state;
}

}  // namespace retrace::tracking
