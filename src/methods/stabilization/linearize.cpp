#include "retrace/methods/stabilization/linearize.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "retrace/control/time_grid.h"
#include "retrace/io/cpu_time.h"
#include "retrace/io/error.h"
#include "retrace/methods/stabilization/full_servos.h"
#include "retrace/parallel/bytes.h"

namespace retrace::stabilization {
namespace {

using character::Joint;
using character::JointType;

/// Keeps the states that an open loop sees at the nodes.
class NodeRecorder final : public control::Controller {
 public:
  NodeRecorder(std::span<const control::Fragment> fragments, Nominal& nominal)
      : open_loop_(fragments), nominal_(nominal) {}

  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override {
    if ((now.step - nominal_.first_step) % nominal_.interval == 0) nominal_.states.push_back(now.state);
    open_loop_.Command(now, commands);
  }
  bool RestartsAt(int step) override { return open_loop_.RestartsAt(step); }

 private:
  control::OpenLoop open_loop_;
  Nominal& nominal_;
};

/// An open loop with a constant torque about one axis of a joint.
class DisturbedOpenLoop final : public control::Controller {
 public:
  DisturbedOpenLoop(std::span<const control::Fragment> fragments, size_t num_joints)
      : open_loop_(fragments), commands_(num_joints) {}

  void Disturb(size_t joint, const Vec3& torque) {
    joint_ = joint;
    torque_ = torque;
  }
  void Command(const control::StepContext& now, std::span<simulation::JointCommand> commands) override {
    open_loop_.Command(now, commands_);
    std::copy(commands_.begin(), commands_.end(), commands.begin());
    if (!commands.empty()) commands[joint_].torque += torque_;
  }
  bool UsesState() const override { return false; }
  bool RestartsAt(int step) override { return open_loop_.RestartsAt(step); }

 private:
  control::OpenLoop open_loop_;
  std::vector<simulation::JointCommand> commands_;
  size_t joint_ = 0;
  Vec3 torque_ = Vec3::Zero();
};

/// Simulates the intervals of nodes from states that are a little different.
class Linearizer {
 public:
  explicit Linearizer(const Problem& problem)
      : problem_(problem),
        coordinates_(*problem.character),
        world_(*problem.character, problem.control->world),
        controller_(problem.disturbed(), problem.character->joints.size()),
        torque_steps_(TorquesOfTurn(*problem.character, problem.options.torque_difference)) {
    const Eigen::Index size = 2 * Eigen::Index{coordinates_.size()};
    displacement_ = Eigen::VectorXd::Zero(size);
    ahead_.resize(size);
    behind_.resize(size);
  }

  void Run(int node, optimization::LinearStep& step) {
    const Nominal& nominal = problem_.nominal;
    const Eigen::Index n = coordinates_.size();
    from_ = &nominal.states[static_cast<size_t>(node)];
    first_step_ = nominal.first_step + node * nominal.interval;
    num_steps_ = std::min(nominal.interval, nominal.first_step + nominal.num_steps - first_step_);
    dynamics::Reduce(coordinates_, *from_, start_);
    dynamics::Reduce(coordinates_, nominal.states[static_cast<size_t>(node) + 1], goal_);
    step.state.setZero(2 * n, 2 * n);
    step.control.setZero(2 * n, n - 6);
    controller_.Disturb(0, Vec3::Zero());
    for (Eigen::Index i = 0; i < 2 * n; ++i) {
      if (IsHeld(i % n)) continue;
      const double by = i < n ? problem_.options.position_difference : problem_.options.velocity_difference;
      if (Simulate(i, by, ahead_) && Simulate(i, -by, behind_)) step.state.col(i) = (ahead_ - behind_) / (2 * by);
    }
    for (size_t j = 0; j < problem_.character->joints.size(); ++j) {
      const Joint& joint = problem_.character->joints[j];
      for (int k = 0; k < joint.num_axes(); ++k) {
        const Eigen::Index input = coordinates_.FirstOf(static_cast<int>(j)) - 6 + k;
        const double by = torque_steps_[input];
        const Vec3 torque = by * Vec3::Unit(joint.type == JointType::kBall ? k : joint.axis);
        controller_.Disturb(j, torque);
        if (!Simulate(-1, 0, ahead_)) continue;
        controller_.Disturb(j, -torque);
        if (!Simulate(-1, 0, behind_)) continue;
        step.control.col(input) = (ahead_ - behind_) / (2 * by);
      }
    }
  }

 private:
  /// The coordinates of a planar character's root in which nothing can move.
  bool IsHeld(Eigen::Index coordinate) const {
    return problem_.character->planar && (coordinate == 0 || coordinate == 4 || coordinate == 5);
  }

  /// The difference at the end of the interval; `coordinate` below 0: the start is the nominal one. False where the
  /// simulation diverged.
  bool Simulate(Eigen::Index coordinate, double by, Eigen::VectorXd& difference) {
    point_ = start_;
    if (coordinate >= 0) {
      displacement_[coordinate] = by;
      dynamics::Apply(coordinates_, displacement_, point_);
      displacement_[coordinate] = 0;
    }
    dynamics::Expand(coordinates_, point_, state_);
    state_.insert(state_.end(), from_->begin() + static_cast<std::ptrdiff_t>(state_.size()), from_->end());
    world_.SetState(state_, first_step_);
    control::Controller* const controller = &controller_;
    if (!control::Simulate(world_, {&controller, 1}, first_step_, num_steps_, problem_.pushes, scratch_, [](int) {})) {
      return false;
    }
    world_.GetState(state_);
    state_.resize(problem_.character->bodies.size());
    dynamics::Reduce(coordinates_, state_, point_);
    dynamics::Difference(coordinates_, goal_, point_, difference);
    return difference.allFinite();
  }

  const Problem& problem_;
  dynamics::Coordinates coordinates_;
  simulation::World world_;
  DisturbedOpenLoop controller_;
  Eigen::VectorXd torque_steps_;
  control::SimulationScratch scratch_;
  const character::State* from_ = nullptr;
  int first_step_ = 0;
  int num_steps_ = 0;
  dynamics::MotionPoint start_, goal_, point_;
  character::State state_;
  Eigen::VectorXd displacement_, ahead_, behind_;
};

}  // namespace

Eigen::VectorXd TorquesOfTurn(const character::Character& character, double turn) {
  const dynamics::Coordinates coordinates(character);
  Eigen::VectorXd torques(coordinates.size() - 6);
  for (size_t j = 0; j < character.joints.size(); ++j) {
    const Joint& joint = character.joints[j];
    for (int k = 0; k < joint.num_axes(); ++k) {
      const int axis = joint.type == JointType::kBall ? k : joint.axis;
      torques[coordinates.FirstOf(static_cast<int>(j)) - 6 + k] = turn * joint.kp * joint.strength_scale[axis];
    }
  }
  return torques;
}

Problem MakeProblem(const character::Character& character, const control::OpenLoopControl& control,
                    std::vector<control::Push> pushes, const Options& options) {
  if (const auto wrong = options.Validate()) throw UsageError(*wrong);
  if (control.fragments.empty())
    throw UsageError("found a control without any step, expected one that can be simulated");
  Problem problem{&character, &control, std::move(pushes), options, {}, {}};
  Nominal& nominal = problem.nominal;
  nominal.first_step = control.fragments.front().first_step;
  nominal.num_steps = control.num_steps() - nominal.first_step;
  nominal.interval = control::TimeGrid{control.world.time_step}.PartSteps(options.interval);
  NodeRecorder recorder(control.fragments, nominal);
  control::Controller* const controller = &recorder;
  simulation::World world(character, control.world);
  world.SetState(control.start, nominal.first_step);
  control::SimulationScratch scratch;
  nominal.diverged = !control::Simulate(world, {&controller, 1}, nominal.first_step, nominal.num_steps, problem.pushes,
                                        scratch, [](int) {});
  if (nominal.diverged) return problem;
  world.GetState(nominal.states.emplace_back());
  if (options.full_servos && MayHaveWeakServos(control)) {
    problem.full_servos = WithFullServos(character, control, problem.pushes);
  }
  return problem;
}

void Linearize(const Problem& problem, parallel::TaskFarm& farm, int first, int end,
               const std::function<void(int node, optimization::LinearStep step)>& receive, double& cpu_seconds) {
  std::vector<parallel::Bytes> tasks;
  for (int32_t node = first; node < end; ++node) parallel::Put(tasks.emplace_back(), &node, 1);
  const Eigen::Index n = dynamics::Coordinates(*problem.character).size();
  farm.Run(tasks, [&](size_t task, std::span<const std::byte> bytes) {
    parallel::Reader reader(bytes);
    double seconds = 0;
    reader.Take(&seconds, 1);
    cpu_seconds += seconds;
    optimization::LinearStep step;
    step.state.resize(2 * n, 2 * n);
    step.control.resize(2 * n, n - 6);
    reader.Take(step.state.data(), static_cast<size_t>(step.state.size()));
    reader.Take(step.control.data(), static_cast<size_t>(step.control.size()));
    receive(first + static_cast<int>(task), std::move(step));
  });
}

parallel::WorkerFactory MakeWorkerFactory(const Problem& problem) {
  return [&problem]() -> parallel::Worker {
    auto linearizer = std::make_shared<Linearizer>(problem);
    auto step = std::make_shared<optimization::LinearStep>();
    return [linearizer, step](std::span<const std::byte> task, parallel::Bytes& bytes) {
      const double before = io::ThreadCpuSeconds();
      int32_t node = 0;
      parallel::Reader(task).Take(&node, 1);
      linearizer->Run(node, *step);
      const double seconds = io::ThreadCpuSeconds() - before;
      parallel::Put(bytes, &seconds, 1);
      parallel::Put(bytes, step->state.data(), static_cast<size_t>(step->state.size()));
      parallel::Put(bytes, step->control.data(), static_cast<size_t>(step->control.size()));
    };
  };
}

}  // namespace retrace::stabilization
