/// How well the steps that are offered see what a fine one sees: from states along a walk, a roll and a fall, samples
/// of the search are simulated for 0.1 s with each configuration and with an explicit servo at 1e-4 s. Told are the
/// rank correlation of their costs (Spearman), the overlap of the cheapest 20 %, and the distance of the end states.
/// Prints a table in Markdown; the prototype's is in section 3c of its notes on physics.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "retrace/math/random.h"
#include "scenes.h"

namespace retrace::bench {
namespace {

constexpr int kStarts = 5;
constexpr int kSamples = 100;    // of each start
constexpr double kWindow = 0.1;  // [s]
const task::CostWeights kWeights{5, 3, 30, 10};

/// A state to start from and targets around which samples are drawn.
struct Start {
  character::State state;
  control::TargetPose from, to;
  character::State reference;  // at the end of the window
};
struct Motion {
  std::string name;
  std::vector<Start> starts;
};

simulation::WorldOptions Fine() {
  simulation::WorldOptions options;
  options.time_step = 1e-4;
  options.servo = simulation::Servo::kExplicit;
  return options;
}

/// Simulates towards targets that run from one pose to another.
bool Simulate(simulation::World& world, const character::State& start, const control::TargetPose& from,
              const control::TargetPose& to, character::State& end) {
  control::Fragment fragment;
  fragment.num_steps = static_cast<int>(std::lround(kWindow / world.options().time_step));
  fragment.targets = {from, to};
  control::SimulationScratch scratch;
  return control::SimulateFragment(world, start, fragment, scratch, end);
}

/// Starts along a tracking without feedback of a bundled clip at the fine step.
Motion Along(const std::string& name, const std::string& clip, double first, double interval) {
  const SearchProblem search(clip);
  const character::ReferenceMotion& reference = *search.problem().task.reference;
  Motion motion{name, {}};
  simulation::World world(Human(), Fine());
  character::Pose pose;
  character::State state = search.problem().task.start;
  double time = 0;
  for (int i = 0; i < kStarts; ++i) {
    const double begin = first + i * interval;
    while (time < begin - 1e-9) {
      reference.PoseAt(time, pose);
      const control::TargetPose from = pose.joint_rotations;
      reference.PoseAt(time + kWindow, pose);
      if (!Simulate(world, state, from, pose.joint_rotations, state)) std::abort();
      time += kWindow;
    }
    Start start;
    start.state = state;
    reference.PoseAt(time, pose);
    start.from = pose.joint_rotations;
    reference.PoseAt(time + kWindow, pose);
    start.to = pose.joint_rotations;
    reference.StateAt(time + kWindow, start.reference);
    motion.starts.push_back(start);
  }
  return motion;
}

/// Falls of half a meter that strike the ground within the window, tilted more from start to start.
Motion Falls(const std::string& name, double first_tilt) {
  Motion motion{name, {}};
  for (int i = 0; i < kStarts; ++i) {
    character::Pose pose = RestPose();
    pose.root_orientation = AxisRotation(0, first_tilt + 0.15 * i) * AxisRotation(2, 0.1 * i);
    character::State state = StateOf(pose);
    double lowest = 1e9;
    for (size_t b = 0; b < state.size(); ++b) {
      lowest = std::min(lowest, character::LowestPoint(Human().bodies[b], state[b]));
    }
    const double speed = std::sqrt(2 * 9.81 * 0.5);
    pose.root_position.y() += speed * 0.03 - lowest;  // it strikes after 0.03 s
    Start start;
    start.state = StateOf(pose);
    for (auto& body : start.state) body.linear_velocity.y() = -speed;
    start.from = start.to = pose.joint_rotations;
    start.reference = start.state;
    motion.starts.push_back(start);
  }
  return motion;
}

struct Outcome {
  bool diverged = false;
  double cost = 0;
  character::State end;
};

/// All samples of a motion with one configuration.
std::vector<Outcome> Run(const Motion& motion, const simulation::WorldOptions& options) {
  simulation::World world(Human(), options);
  std::vector<Outcome> outcomes;
  for (size_t s = 0; s < motion.starts.size(); ++s) {
    const Start& start = motion.starts[s];
    const task::CostReference cost(Human(), start.reference);
    for (int i = 0; i < kSamples; ++i) {
      RandomStream random(1, RandomStage::kTest, static_cast<uint32_t>(s), static_cast<uint32_t>(i));
      control::TargetPose from = start.from;
      control::TargetPose to = start.to;
      for (size_t j = 0; j < from.size(); ++j) {
        Vec3 turn = Vec3::Zero();
        for (int a = 0; a < 3; ++a) turn[a] = Human().joints[j].window[a] * random.Uniform(-1, 1);
        from[j] = FromRotationVector(turn) * from[j];
        to[j] = FromRotationVector(turn) * to[j];
      }
      Outcome& outcome = outcomes.emplace_back();
      outcome.diverged = !Simulate(world, start.state, from, to, outcome.end);
      outcome.cost = outcome.diverged ? 1e9 : cost.Evaluate(outcome.end).Total(kWeights);
    }
  }
  return outcomes;
}

std::vector<double> Ranks(const Outcome* outcomes) {
  std::vector<int> order(kSamples);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return outcomes[a].cost < outcomes[b].cost; });
  std::vector<double> ranks(kSamples);
  for (int r = 0; r < kSamples; ++r) ranks[static_cast<size_t>(order[static_cast<size_t>(r)])] = r;
  return ranks;
}

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

void Compare(const std::vector<Outcome>& outcomes, const std::vector<Outcome>& reference) {
  double correlation = 0;
  double overlap = 0;
  std::vector<double> angles, distances;
  int diverged = 0;
  for (int s = 0; s < kStarts; ++s) {
    const std::vector<double> a = Ranks(&outcomes[static_cast<size_t>(s * kSamples)]);
    const std::vector<double> b = Ranks(&reference[static_cast<size_t>(s * kSamples)]);
    double squares = 0;
    int both = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      squares += (a[i] - b[i]) * (a[i] - b[i]);
      both += a[i] < kSamples / 5 && b[i] < kSamples / 5;
    }
    correlation += 1 - 6 * squares / (kSamples * (1.0 * kSamples * kSamples - 1));
    overlap += both / (kSamples / 5.0);
  }
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].diverged || reference[i].diverged) {
      ++diverged;
      continue;
    }
    double sum = 0;
    for (const character::Joint& joint : Human().joints) {
      const double angle = AngleBetween(character::JointRotation(joint, outcomes[i].end),
                                        character::JointRotation(joint, reference[i].end));
      sum += angle * angle;
    }
    angles.push_back(std::sqrt(sum / static_cast<double>(Human().joints.size())));
    distances.push_back(
        1000 * (character::CenterOfMass(Human(), outcomes[i].end) - character::CenterOfMass(Human(), reference[i].end))
                   .norm());
  }
  std::printf(" %.4f | %.2f | %.4f / %.4f | %.2f / %.2f | %d |", correlation / kStarts, overlap / kStarts,
              Quantile(angles, 0.5), Quantile(angles, 0.95), Quantile(distances, 0.5), Quantile(distances, 0.95),
              diverged);
}

int Main() {
  const std::vector<Motion> motions = {Along("walk", "walk", 0.2, 0.1), Along("roll", "roll_sideways", 0.2, 0.2),
                                       Falls("drop on the feet", 0), Falls("fall on the body", 0.8)};
  struct Configuration {
    std::string name;
    simulation::WorldOptions options;
  };
  std::vector<Configuration> configurations;
  const auto add = [&](const char* name, auto change) {
    Configuration& c = configurations.emplace_back();
    c.name = name;
    change(c.options);
  };
  add("5e-5 s, explicit", [](auto& o) { o = Fine(), o.time_step = 5e-5; });
  add("--paper: 0.0005 s, explicit", [](auto& o) {
    o = Fine();
    o.time_step = 0.0005;
    o.speculative_contacts = false;
    o.ground_points_per_shape = 8;
    o.self_points_per_pair = 8;
  });
  add("0.002 s", [](auto& o) { o.time_step = 0.002; });
  add("**1/240 s** (default)", [](auto&) {});
  add("1/240 s, stock solver", [](auto& o) { o.solver = simulation::Solver::kStock; });
  add("1/240 s, no speculative contacts", [](auto& o) { o.speculative_contacts = false; });
  add("1/240 s, friction 0.9 instead of 0.8", [](auto& o) { o.friction = 0.9; });
  add("1/240 s, no self collision", [](auto& o) { o.self_collision = false; });
  add("**1/120 s**", [](auto& o) { o.time_step = 1.0 / 120; });
  add("1/60 s", [](auto& o) { o.time_step = 1.0 / 60; });
  std::printf(
      "| configuration | motion | rank correlation | best 20 %% | pose [rad], median / p95 | center of mass [mm] | "
      "diverged |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const Motion& motion : motions) {
    const std::vector<Outcome> reference = Run(motion, Fine());
    for (const Configuration& configuration : configurations) {
      std::printf("| %s | %s |", configuration.name.c_str(), motion.name.c_str());
      Compare(Run(motion, configuration.options), reference);
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace retrace::bench

int main() {
  return retrace::bench::Main();
}
