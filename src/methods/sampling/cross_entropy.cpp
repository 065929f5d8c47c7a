#include "cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::sampling {

std::vector<std::vector<size_t>> RankByDescendants(const Tree& tree) {
  struct Merit {
    size_t reach = 0;                                       // last fragment with a descendant
    double cost = std::numeric_limits<double>::infinity();  // of the cheapest path to there
  };
  std::vector<std::vector<size_t>> ranks(tree.size() - 1);
  std::vector<Merit> below;  // of the fragment after
  for (size_t level = tree.size() - 1; level > 0; --level) {
    const std::vector<Node>& nodes = tree[level];
    std::vector<Merit> merits(nodes.size());
    for (size_t n = 0; n < nodes.size(); ++n) merits[n] = {level, nodes[n].path_cost};
    if (level + 1 < tree.size()) {
      for (size_t child = 0; child < below.size(); ++child) {
        Merit& merit = merits[tree[level + 1][child].parent];
        const Merit& other = below[child];
        if (other.reach > merit.reach || (other.reach == merit.reach && other.cost < merit.cost)) merit = other;
      }
    }
    std::vector<size_t>& order = ranks[level - 1];
    order.resize(nodes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return merits[a].reach != merits[b].reach ? merits[a].reach > merits[b].reach : merits[a].cost < merits[b].cost;
    });
    below = std::move(merits);
  }
  return ranks;
}

std::optional<std::vector<Quat>> GoalOf(const Problem& problem, int fragment, const character::State& reached) {
  if (problem.options.correction == 0) return std::nullopt;
  std::vector<Quat> goal;
  character::State reference;
  problem.task.reference->StateAt(problem.task.schedule.steps[static_cast<size_t>(fragment) + 1] * problem.time_step(),
                                  reference);
  for (const character::Joint& joint : problem.task.character->joints) {
    goal.push_back(Nlerp(character::JointRotation(joint, reached), character::JointRotation(joint, reference),
                         problem.options.goal));
  }
  return goal;
}

void FitDistributions(const Problem& problem, const Tree& tree, int first_fragment,
                      std::vector<OffsetDistribution>& distributions) {
  const std::vector<std::vector<size_t>> ranks = RankByDescendants(tree);
  const Options& search = problem.options;
  for (auto fragment = static_cast<size_t>(first_fragment); fragment < ranks.size(); ++fragment) {
    const auto count = static_cast<size_t>(std::ceil(search.elites * static_cast<double>(ranks[fragment].size())));
    if (count == 0) continue;
    const bool first = std::holds_alternative<UniformOffsets>(distributions[fragment]);
    if (first) {
      const std::vector<Vec3> zero(problem.task.character->joints.size(), Vec3::Zero());
      distributions[fragment] = NormalOffsets{zero, zero};
    }
    auto& known = std::get<NormalOffsets>(distributions[fragment]);
    known.goal = GoalOf(problem, static_cast<int>(fragment), *tree[fragment + 1][ranks[fragment].front()].end);
    std::vector<Offsets> elites;
    for (size_t e = 0; e < count; ++e) {
      elites.push_back(OffsetsOf(problem, tree[fragment + 1][ranks[fragment][e]]));
    }
    for (size_t j = 0; j < known.mean.size(); ++j) {
      Vec3 sum = Vec3::Zero();
      Vec3 squares = Vec3::Zero();
      for (const Offsets& elite : elites) {
        const Vec3 turn = problem.task.character->joints[j].PerAxis(RotationVector(elite[j]));
        sum += turn;
        squares += turn.cwiseProduct(turn);
      }
      const Vec3 mean = sum / static_cast<double>(count);
      const Vec3 deviation = (squares / static_cast<double>(count) - mean.cwiseProduct(mean)).cwiseMax(0).cwiseSqrt();
      const double rate = first ? 1 : search.refit_rate;
      const Vec3 least = search.smallest_deviation * search.window_scale * problem.task.character->joints[j].window;
      known.mean[j] += rate * (mean - known.mean[j]);
      known.deviation[j] = (known.deviation[j] + rate * (deviation - known.deviation[j])).cwiseMax(least);
    }
  }
}

}  // namespace retrace::sampling
