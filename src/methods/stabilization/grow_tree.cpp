#include "retrace/methods/stabilization/grow_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "retrace/control/command_recorder.h"
#include "retrace/control/feedback_controller.h"
#include "retrace/control/time_grid.h"
#include "retrace/io/cpu_time.h"
#include "retrace/methods/stabilization/reindexing.h"
#include "retrace/methods/stabilization/stabilize.h"
#include "retrace/optimization/cma_es.h"
#include "retrace/optimization/linear_quadratic.h"
#include "retrace/parallel/bytes.h"
#include "retrace/parallel/keyed_farm.h"

namespace retrace::stabilization {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Beyond any distance of a motion that stays within tolerance: the sooner it leaves them, the worse.
constexpr double kOutside = 1e6;
/// Weight of the last state beside the mean of all (w_l of equation 21 times the number of states).
constexpr double kLastState = 10;
/// Weight of the spline's squared turns, so that what does not matter stays small.
constexpr double kEffort = 0.1;
/// Number of nodes that keep their linear systems at a time.
constexpr int kNodesHeld = 240;
// Keys of the two kinds of tasks.
constexpr uint64_t kLinearize = 0, kTry = 1;

/// The outcome of a state.
struct Attempt {
  int32_t recovered = 0;
  int32_t connected = 0;
  int32_t simulations = 0;
  int32_t parent = -1;
  int32_t first_node = 0;
  int32_t num_nodes = 0;
  double search_seconds = 0;
  double linearize_seconds = 0;
};

/// Tries states: pushes the motion, and searches for paths back. Belongs to one thread.
class Trier {
 public:
  explicit Trier(const TreeProblem& problem)
      : p_(problem),
        feedback_(*problem.feedback),
        nominal_(problem.problem->nominal),
        coordinates_(*problem.problem->character),
        world_(*problem.problem->character, problem.problem->control->world),
        turn_(TorquesOfTurn(*problem.problem->character, 1)),
        difference_(feedback_.num_differences()),
        offset_(feedback_.num_torques()) {}

  void Run(int state, const control::FeedbackTree& tree, parallel::Bytes& bytes) {
    tree_ = &tree;
    Attempt attempt;
    double before = io::ThreadCpuSeconds();
    const int shift_and_branch = Push(state, attempt);
    if (shift_and_branch == 0 && attempt.recovered == 0) Search(state, attempt);
    double now = io::ThreadCpuSeconds();
    attempt.search_seconds = now - before;
    const size_t head = bytes.size();
    parallel::Put(bytes, &attempt, 1);
    if (attempt.connected == 0) return;
    WriteBranch(bytes);
    attempt.linearize_seconds = io::ThreadCpuSeconds() - now;
    std::memcpy(bytes.data() + head, &attempt, sizeof attempt);
  }

 private:
  Model ModelOf() const {
    const Problem& problem = *p_.problem;
    return {problem.character, problem.control, problem.disturbed(), &feedback_, tree_};
  }
  int NodeAt(int step) const { return (step - feedback_.first_step) / feedback_.interval; }
  int StepAt(int node) const { return feedback_.first_step + node * feedback_.interval; }
  const character::State& NominalAt(int step) const {
    return nominal_.states[static_cast<size_t>(std::clamp(NodeAt(step), 0, nominal_.num_nodes()))];
  }
  double GateRatio(int step, const character::State& state) const {
    return metrics::LargestGateRatio(*p_.problem->character, state, NominalAt(step), p_.gates);
  }

  /// Pushes the motion under the feedback with the tree. Leaves the state at the first node after the push, and what
  /// would be followed from there. Not 0: there is nothing to search for.
  int Push(int state, Attempt& attempt) {
    const control::Push push = PushOf(p_, state);
    const control::TimeGrid grid{p_.problem->control->world.time_step};
    ReindexingController controller(ModelOf(), p_.reindexing);
    control::Controller* const controllers[] = {&controller};
    const int first = grid.Nearest(push.start);
    const int end = feedback_.first_step + feedback_.num_steps;
    const int pushed = first + grid.PartSteps(push.duration);
    start_.clear();
    world_.SetState(nominal_.states[static_cast<size_t>(NodeAt(first))], first);
    bool inside = true;
    double ratio = 0;
    for (int step = first; step < end && inside; step += feedback_.interval) {
      if (step > first && controller.RestartsAt(step)) world_.Restart(0);
      if (start_.empty() && step >= pushed) {
        world_.GetState(start_);
        start_step_ = step;
        ReindexingController chooser(ModelOf(), p_.reindexing);
        chooser.ChooseFrom(step, start_);
        branch_ = chooser.acting().branch();
        shift_ = chooser.acting().shift();
      }
      const int steps = std::min(feedback_.interval, end - step);
      inside = control::Simulate(world_, controllers, step, steps, {&push, 1}, scratch_, [](int) {});
      if (!inside) break;
      world_.GetState(scratch_.state);
      ratio = GateRatio(step + steps, scratch_.state);
      inside = ratio <= 1;
    }
    attempt.recovered = inside && ratio <= p_.growth.close ? 1 : 0;
    return start_.empty() ? 1 : 0;  // it exceeded the tolerances while it was pushed
  }

  /// The cost of a spline that acts from the state on beside what is followed from there (equation 21).
  /// @param back whether the motion is within tolerance to the end of the horizon, and close to the nominal one there
  double CostOf(const Eigen::Ref<const Eigen::VectorXd>& parameters, control::FeedbackController& controller,
                bool& back) {
    const int horizon = control::TimeGrid{p_.problem->control->world.time_step}.PartSteps(p_.growth.horizon);
    const int end = std::min(feedback_.first_step + feedback_.num_steps, start_step_ + horizon);
    const int total = std::max(1, (end - start_step_ + feedback_.interval - 1) / feedback_.interval);
    control::Controller* const controllers[] = {&controller};
    const Eigen::Map<const Eigen::MatrixXd> knots(parameters.data(), turn_.size(), p_.growth.knots);
    controller.set_shift(shift_);
    controller.set_branch(branch_);
    controller.Restart();
    world_.SetState(start_, start_step_);
    back = false;
    double sum = kEffort * parameters.squaredNorm() / static_cast<double>(parameters.size());
    double ratio = 0;
    for (int node = 0; node < total; ++node) {
      const int step = start_step_ + node * feedback_.interval;
      if (node > 0 && controller.RestartsAt(step)) world_.Restart(0);
      SetOffset(knots, node, controller);
      const int steps = std::min(feedback_.interval, end - step);
      if (!control::Simulate(world_, controllers, step, steps, {}, scratch_, [](int) {})) return kInfinity;
      world_.GetState(scratch_.state);
      ratio = GateRatio(step + steps, scratch_.state);
      if (!(ratio <= 1)) return kOutside * (1 + static_cast<double>(total - node) / total) + sum;
      sum += DistanceAt(step + steps) * (node + 1 == total ? 1 + kLastState : 1) / total;
    }
    back = ratio <= p_.growth.close;
    return sum;
  }

  void SetOffset(const Eigen::Ref<const Eigen::MatrixXd>& knots, int node, control::FeedbackController& controller) {
    if (node < num_nodes()) {
      SplineAt(knots, p_.growth.cubic, node, num_nodes(), offset_);
      offset_ = offset_.cwiseProduct(turn_);
    } else {
      offset_.setZero();
    }
    controller.set_offset(offset_);
  }
  int num_nodes() const {
    return control::TimeGrid{feedback_.interval * p_.problem->control->world.time_step}.PartSteps(p_.growth.duration);
  }

  /// As the choice of nodes has it: from the node that is followed, and from that of the time wherever it is.
  double DistanceAt(int step) {
    dynamics::Reduce(coordinates_, scratch_.state, point_);
    const int last = feedback_.num_nodes();
    const int of_time = std::clamp(NodeAt(step), 0, last), aligned = std::clamp(NodeAt(step) + shift_, 0, last);
    dynamics::Difference(coordinates_, feedback_.nominal[static_cast<size_t>(aligned)], point_, difference_);
    const double distance = SquaredDistance(difference_);
    dynamics::Difference(coordinates_, feedback_.nominal[static_cast<size_t>(of_time)], point_, difference_);
    difference_[0] = difference_[2] = 0;
    return distance + SquaredDistance(difference_);
  }

  void Search(int state, Attempt& attempt) {
    const int first_node = NodeAt(start_step_) + shift_;
    if (first_node + num_nodes() > feedback_.num_nodes()) return;
    const Problem& problem = *p_.problem;
    control::FeedbackController controller(*problem.character, problem.control->fragments, problem.disturbed(),
                                           feedback_, tree_);
    const Eigen::Index size = turn_.size() * p_.growth.knots;
    optimization::CmaOptions options;
    options.population = p_.growth.samples;
    options.deviation = p_.growth.deviation;
    options.separable = true;
    options.lower = Eigen::VectorXd::Constant(size, -p_.growth.largest_turn);
    options.upper = -options.lower;
    // Each state has random numbers of its own.
    options.seed = RandomStream(p_.growth.seed, RandomStage::kTree, 1, static_cast<uint32_t>(state)).NextBits();
    options.stage = RandomStage::kTree;
    optimization::CmaEs search(Eigen::VectorXd::Zero(size), options);
    std::vector<double> costs(static_cast<size_t>(search.population()));
    best_cost_ = kInfinity;
    while (search.iteration() < static_cast<uint32_t>(p_.growth.iterations) && attempt.connected == 0) {
      const Eigen::MatrixXd& samples = search.Ask();
      for (Eigen::Index k = 0; k < samples.cols(); ++k) {
        bool back = false;
        const double cost = CostOf(samples.col(k), controller, back);
        costs[static_cast<size_t>(k)] = cost;
        ++attempt.simulations;
        if (!back || !(cost < best_cost_)) continue;
        attempt.connected = 1;
        best_cost_ = cost;
        best_ = samples.col(k);
      }
      search.Tell(costs);
    }
    attempt.parent = tree_->BranchAt(branch_, first_node);
    attempt.first_node = first_node;
    attempt.num_nodes = num_nodes();
  }

  /// Simulates the branch once more and adds its points, feedforward torques and linear systems.
  void WriteBranch(parallel::Bytes& bytes) {
    const Problem& problem = *p_.problem;
    control::FeedbackController controller(*problem.character, problem.control->fragments, problem.disturbed(),
                                           feedback_, tree_);
    control::CommandRecorder recorder(controller);
    control::Controller* const controllers[] = {&recorder};
    controller.set_shift(shift_);
    controller.set_branch(branch_);
    const Eigen::Map<const Eigen::MatrixXd> knots(best_.data(), turn_.size(), p_.growth.knots);
    world_.SetState(start_, start_step_);
    for (int node = 0; node < num_nodes(); ++node) {
      const int step = start_step_ + node * feedback_.interval;
      if (node > 0 && recorder.RestartsAt(step)) world_.Restart(0);
      SetOffset(knots, node, controller);
      control::Simulate(world_, controllers, step, feedback_.interval, {}, scratch_, [](int) {});
      PutPoint(controller.law().point(), bytes);
      parallel::Put(bytes, controller.torques().data(), static_cast<size_t>(controller.torques().size()));
    }
    // A control of its own, which the branch makes to the bit.
    control::OpenLoopControl along{problem.control->world, start_, recorder.TakeFragments()};
    Options options = problem.options;
    options.interval = feedback_.interval * problem.control->world.time_step;
    options.full_servos = false;
    const Problem branch = MakeProblem(*problem.character, along, {}, options);
    if (branch.nominal.diverged) throw std::logic_error("a branch that diverges");
    const parallel::Worker linearizer = MakeWorkerFactory(branch)();
    parallel::Bytes task, result;
    for (int32_t node = 0; node < num_nodes(); ++node) {
      task.clear();
      result.clear();
      parallel::Put(task, &node, 1);
      linearizer(task, result);
      parallel::Put(bytes, result.data() + sizeof(double), result.size() - sizeof(double));
    }
  }

  void PutPoint(const dynamics::MotionPoint& point, parallel::Bytes& bytes) const {
    parallel::Put(bytes, point.pose.root_position.data(), 3);
    parallel::Put(bytes, point.pose.root_orientation.coeffs().data(), 4);
    for (const Quat& rotation : point.pose.joint_rotations) parallel::Put(bytes, rotation.coeffs().data(), 4);
    parallel::Put(bytes, point.velocity.data(), static_cast<size_t>(point.velocity.size()));
  }

  const TreeProblem& p_;
  const control::Feedback& feedback_;
  const Nominal& nominal_;
  const control::FeedbackTree* tree_ = nullptr;
  dynamics::Coordinates coordinates_;
  simulation::World world_;
  Eigen::VectorXd turn_;  // (m) torques of a turn of 1 rad
  control::SimulationScratch scratch_;
  character::State start_;  // after the push
  int start_step_ = 0;
  int branch_ = -1, shift_ = 0;  // that are followed from there
  Eigen::VectorXd best_;
  double best_cost_ = kInfinity;
  dynamics::MotionPoint point_;
  Eigen::VectorXd difference_, offset_;
};

/// The cost-to-go of the control's regulator at each node, and at the end.
std::vector<Eigen::MatrixXd> CostsToGo(const TreeProblem& tree, parallel::TaskFarm& farm, double& cpu_seconds) {
  const Problem& problem = *tree.problem;
  optimization::RiccatiRecursion regulator(CostOf(*problem.character, problem.options));
  const int nodes = problem.nominal.num_nodes();
  std::vector<Eigen::MatrixXd> costs(static_cast<size_t>(nodes) + 1);
  costs.back() = regulator.cost_to_go();
  std::vector<optimization::LinearStep> steps;
  Eigen::MatrixXd gain;
  for (int end = nodes; end > 0; end -= kNodesHeld) {
    const int first = std::max(0, end - kNodesHeld);
    steps.assign(static_cast<size_t>(end - first), {});
    Linearize(
        problem, farm, first, end,
        [&](int node, optimization::LinearStep step) { steps[static_cast<size_t>(node - first)] = std::move(step); },
        cpu_seconds);
    for (int node = end; node-- > first;) {
      if (!regulator.StepBack(steps[static_cast<size_t>(node - first)], gain)) {
        throw std::invalid_argument("a control whose regulator overflows");
      }
      costs[static_cast<size_t>(node)] = regulator.cost_to_go();
    }
  }
  return costs;
}

/// A branch from what a worker found for it; false where its regulator overflows.
bool ReadBranch(const TreeProblem& tree, const Attempt& attempt, const std::vector<Eigen::MatrixXd>& costs,
                parallel::Reader& reader, control::Branch& branch) {
  const Problem& problem = *tree.problem;
  const control::Feedback& feedback = *tree.feedback;
  const Eigen::Index n = feedback.num_differences(), m = feedback.num_torques();
  branch.parent = attempt.parent;
  branch.first_node = attempt.first_node;
  branch.points.assign(static_cast<size_t>(attempt.num_nodes), feedback.nominal.front());  // for the sizes
  branch.torques.resize(m, attempt.num_nodes);
  for (int node = 0; node < attempt.num_nodes; ++node) {
    dynamics::MotionPoint& point = branch.points[static_cast<size_t>(node)];
    reader.Take(point.pose.root_position.data(), 3);
    reader.Take(point.pose.root_orientation.coeffs().data(), 4);
    for (Quat& rotation : point.pose.joint_rotations) reader.Take(rotation.coeffs().data(), 4);
    reader.Take(point.velocity.data(), static_cast<size_t>(point.velocity.size()));
    reader.Take(branch.torques.col(node).data(), static_cast<size_t>(m));
  }
  std::vector<optimization::LinearStep> steps(static_cast<size_t>(attempt.num_nodes));
  for (optimization::LinearStep& step : steps) {
    step.state.resize(n, n);
    step.control.resize(n, m);
    reader.Take(step.state.data(), static_cast<size_t>(step.state.size()));
    reader.Take(step.control.data(), static_cast<size_t>(step.control.size()));
  }
  optimization::RiccatiRecursion regulator(CostOf(*problem.character, problem.options),
                                           costs[static_cast<size_t>(branch.end_node())]);
  branch.gains.resize(static_cast<size_t>(attempt.num_nodes * n * m));
  Eigen::MatrixXd gain;
  for (size_t node = steps.size(); node-- > 0;) {
    if (!regulator.StepBack(steps[node], gain) || !(gain.cwiseAbs().maxCoeff() < 1e30)) return false;
    float* to = branch.gains.data() + node * static_cast<size_t>(n * m);
    for (Eigen::Index i = 0; i < gain.size(); ++i) to[i] = static_cast<float>(gain.data()[i]);
  }
  return true;
}

/// The states of one batch. What a worker needs of the tree is in each task, so that it depends on nothing else.
class Batch final : public parallel::Work {
 public:
  using Results = std::vector<parallel::Bytes>;
  Batch(int first, int count, const std::string& tree, Results& results)
      : first_(first), tree_(tree), results_(results) {
    results_.assign(static_cast<size_t>(count), {});
  }

  size_t num_tasks() const override { return results_.size(); }
  parallel::Bytes Pack(size_t task) override {
    parallel::Bytes bytes;
    const int32_t state = first_ + static_cast<int>(task);
    parallel::Put(bytes, &state, 1);
    parallel::Put(bytes, tree_.data(), tree_.size());
    return bytes;
  }
  void Handle(size_t task, std::span<const std::byte> result) override {
    results_[task].assign(result.begin(), result.end());
  }

 private:
  int first_;
  const std::string& tree_;
  Results& results_;
};

}  // namespace

control::Push PushOf(const TreeProblem& problem, int state) {
  const GrowthOptions& o = problem.growth;
  const control::Feedback& feedback = *problem.feedback;
  const double h = problem.problem->control->world.time_step;
  RandomStream random(o.seed, RandomStage::kTree, 0, static_cast<uint32_t>(state));
  const int latest =
      feedback.num_nodes() - control::TimeGrid{feedback.interval * h}.PartSteps(o.push_duration + o.rest);
  const int node = static_cast<int>(random.Uniform() * (std::max(0, latest) + 1));
  const double angle = random.Uniform(-3.14159265358979323846, 3.14159265358979323846);
  const double size = random.Uniform(o.smallest_force, o.largest_force);
  control::Push push;
  push.body = problem.body;
  push.force = Vec3(size * std::cos(angle), 0, size * std::sin(angle));
  push.start = (feedback.first_step + node * feedback.interval) * h;
  push.duration = o.push_duration;
  return push;
}

void SplineAt(const Eigen::Ref<const Eigen::MatrixXd>& knots, bool cubic, int node, int nodes,
              Eigen::Ref<Eigen::VectorXd> value) {
  const Eigen::Index last = knots.cols() - 1;
  const double at = last == 0 || nodes < 2 ? 0 : static_cast<double>(node) * static_cast<double>(last) / (nodes - 1);
  const Eigen::Index left =
      std::clamp<Eigen::Index>(static_cast<Eigen::Index>(at), 0, std::max<Eigen::Index>(0, last - 1));
  const Eigen::Index right = std::min(left + 1, last);
  const double t = at - static_cast<double>(left);
  if (!cubic) {
    value = (1 - t) * knots.col(left) + t * knots.col(right);
    return;
  }
  const auto slope = [&](Eigen::Index k) -> Eigen::VectorXd {
    const Eigen::Index before = std::max<Eigen::Index>(0, k - 1), after = std::min(last, k + 1);
    return (after == before ? 0.0 : 1.0 / static_cast<double>(after - before)) * (knots.col(after) - knots.col(before));
  };
  const double t2 = t * t, t3 = t2 * t;
  value = (2 * t3 - 3 * t2 + 1) * knots.col(left) + (t3 - 2 * t2 + t) * slope(left) +
          (3 * t2 - 2 * t3) * knots.col(right) + (t3 - t2) * slope(right);
}

GrowthSummary GrowTree(const TreeProblem& problem, parallel::TaskFarm& farm, int branches, int states,
                       control::FeedbackTree& tree, const GrowthHooks& hooks) {
  GrowthSummary summary;
  const auto is_full = [&] { return static_cast<int>(tree.branches.size()) >= branches; };
  const auto is_done = [&] { return is_full() || static_cast<int>(tree.states.size()) >= states; };
  std::vector<Eigen::MatrixXd> costs;
  if (!is_done()) {
    parallel::KeyedFarm linearizing(farm, kLinearize);
    costs = CostsToGo(problem, linearizing, summary.linearize_cpu_seconds);
  }
  parallel::KeyedFarm trying(farm, kTry);
  while (!is_done()) {
    const int first = static_cast<int>(tree.states.size());
    const int count = std::min(problem.growth.batch, states - first);
    const std::string packed = control::FormatTree(tree);
    Batch::Results results;
    Batch batch(first, count, packed, results);
    trying.Run(batch);
    for (int i = 0; i < count; ++i) {
      parallel::Reader reader(results[static_cast<size_t>(i)]);
      Attempt attempt;
      reader.Take(&attempt, 1);
      summary.search_cpu_seconds += attempt.search_seconds;
      summary.linearize_cpu_seconds += attempt.linearize_seconds;
      const control::Push push = PushOf(problem, first + i);
      control::PerturbedState state{push.start, push.force, attempt.recovered != 0, false, attempt.simulations};
      if (attempt.connected != 0 && !is_full()) {
        control::Branch branch;
        branch.state = first + i;
        state.connected = ReadBranch(problem, attempt, costs, reader, branch);
        if (state.connected) tree.branches.push_back(std::move(branch));
      }
      tree.states.push_back(state);
    }
    if (hooks.on_batch) hooks.on_batch(tree);
    if (!is_done() && hooks.stop && hooks.stop()) {
      summary.stopped = true;
      break;
    }
  }
  summary.is_full = is_full();
  return summary;
}

parallel::WorkerFactory MakeTreeWorkerFactory(const TreeProblem& problem) {
  return parallel::MakeKeyedFactory([&problem](uint64_t key) -> parallel::Worker {
    if (key == kLinearize) return MakeWorkerFactory(*problem.problem)();
    const auto trier = std::make_shared<Trier>(problem);
    return [trier](std::span<const std::byte> task, parallel::Bytes& bytes) {
      int32_t state = 0;
      parallel::Reader(task).Take(&state, 1);
      const control::FeedbackTree tree = control::ParseTree(parallel::ToText(task.subspan(sizeof state)), "tree");
      trier->Run(state, tree, bytes);
    };
  });
}

}  // namespace retrace::stabilization
