#include "retrace/methods/stabilization/stabilize.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "retrace/io/cpu_time.h"
#include "retrace/io/number.h"

namespace retrace::stabilization {
namespace {

/// So many nodes are held at a time: 120 kB each of a human.
constexpr int kNodesPerPart = 240;

}  // namespace

std::string Summary::BriefReport() const {
  std::string text = status == Status::kDone        ? "feedback at "
                     : status == Status::kNotFinite ? "the regulator overflows at "
                                                    : "stopped at ";
  text.append(std::to_string(feedback.num_nodes())).append(" nodes, ");
  text.append(std::to_string(simulations)).append(" simulations of ").append(std::to_string(feedback.interval));
  text.append(" steps in ").append(io::Fixed(simulation_cpu_seconds, 2)).append(" CPU s, regulator ");
  text.append(io::Fixed(regulator_cpu_seconds, 2)).append(" CPU s, largest gain ");
  return text.append(io::Fixed(largest_gain, 0));
}

std::vector<bool> TrunkJoints(const character::Character& character) {
  std::vector<int> ends(character.bodies.size(), 0);  // beyond and at each body
  for (const int body : character.end_effectors) ++ends[static_cast<size_t>(body)];
  // Each joint stands after the one that moves its parent.
  for (size_t j = character.joints.size(); j-- > 0;) {
    const character::Joint& joint = character.joints[j];
    ends[static_cast<size_t>(joint.parent)] += ends[static_cast<size_t>(joint.child)];
  }
  const int all = static_cast<int>(character.end_effectors.size());
  std::vector<bool> trunk;
  for (const character::Joint& joint : character.joints) {
    const int beyond = ends[static_cast<size_t>(joint.child)];
    trunk.push_back(beyond >= 2 && all - beyond >= 2);
  }
  return trunk;
}

optimization::QuadraticCost CostOf(const character::Character& character, const Options& options) {
  const dynamics::Coordinates coordinates(character);
  const Eigen::Index n = coordinates.size();
  optimization::QuadraticCost cost;
  cost.state.resize(2 * n);
  cost.state.head(n).setConstant(options.position_cost);
  cost.state.tail(n).setConstant(options.velocity_cost);
  cost.terminal = options.terminal_factor * cost.state;
  const Eigen::ArrayXd of_turn = TorquesOfTurn(character, 1).array();
  cost.control = options.torque_cost + options.turn_cost / of_turn.square();
  const std::vector<bool> trunk = TrunkJoints(character);
  for (size_t j = 0; j < trunk.size(); ++j) {
    if (!trunk[j]) continue;
    cost.control.segment(coordinates.FirstOf(static_cast<int>(j)) - 6, character.joints[j].num_axes()) *=
        options.trunk_factor;
  }
  return cost;
}

Summary Run(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks) {
  const Nominal& nominal = problem.nominal;
  if (nominal.diverged) throw std::invalid_argument("a control whose motion diverges cannot be stabilized");
  const dynamics::Coordinates coordinates(*problem.character);
  Summary summary;
  control::Feedback& feedback = summary.feedback;
  feedback.first_step = nominal.first_step;
  feedback.num_steps = nominal.num_steps;
  feedback.interval = nominal.interval;
  feedback.full_servos = !problem.full_servos.empty();
  feedback.largest_torque = TorquesOfTurn(*problem.character, problem.options.largest_turn);
  for (const character::State& state : nominal.states) {
    dynamics::Reduce(coordinates, state, feedback.nominal.emplace_back());
  }
  const int nodes = nominal.num_nodes();
  const auto gain_size = static_cast<size_t>(feedback.num_differences() * feedback.num_torques());
  feedback.gains.resize(static_cast<size_t>(nodes) * gain_size);
  optimization::RiccatiRecursion regulator(CostOf(*problem.character, problem.options));
  std::vector<optimization::LinearStep> steps;
  Eigen::MatrixXd gain;
  for (int end = nodes; end > 0 && summary.status == Status::kDone; end -= kNodesPerPart) {
    const int first = std::max(0, end - kNodesPerPart);
    int done = nodes - end;
    steps.assign(static_cast<size_t>(end - first), {});
    const auto receive = [&](int node, optimization::LinearStep step) {
      steps[static_cast<size_t>(node - first)] = std::move(step);
      if (hooks.on_progress) hooks.on_progress(static_cast<double>(++done) / nodes);
    };
    Linearize(problem, farm, first, end, receive, summary.simulation_cpu_seconds);
    const double before = io::ThreadCpuSeconds();
    for (int node = end; node-- > first && summary.status == Status::kDone;) {
      if (!regulator.StepBack(steps[static_cast<size_t>(node - first)], gain)) {
        summary.status = Status::kNotFinite;
        break;
      }
      summary.largest_gain = std::max(summary.largest_gain, gain.cwiseAbs().maxCoeff());
      float* to = feedback.gains.data() + static_cast<size_t>(node) * gain_size;
      for (Eigen::Index i = 0; i < gain.size(); ++i) to[i] = static_cast<float>(gain.data()[i]);
    }
    summary.regulator_cpu_seconds += io::ThreadCpuSeconds() - before;
    if (summary.status == Status::kDone && first > 0 && hooks.stop && hooks.stop()) summary.status = Status::kStopped;
  }
  const Eigen::Index held = problem.character->planar ? 6 : 0;  // coordinates that are not tried
  summary.simulations = static_cast<size_t>(nodes) * 2 * static_cast<size_t>(3 * coordinates.size() - 6 - held);
  // Gains that no float can hold are none, either.
  if (!(summary.largest_gain < 1e30)) summary.status = Status::kNotFinite;
  if (summary.status != Status::kDone) feedback.gains.clear();
  return summary;
}

}  // namespace retrace::stabilization
