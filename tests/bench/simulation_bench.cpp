/// Speed of simulation on one core: steps of the human in four scenes, with the project's solver, with ODE's and, where
/// it is installed, in MuJoCo; and samples of the search on a walk, end to end: restore a state, simulate a fragment,
/// evaluate the cost, keep the end; the same of the robot of triangle meshes.
/// `scripts/experiments/simulation-speed/run` makes the table of it.
#include <benchmark/benchmark.h>

#include "scenes.h"
#ifdef RETRACE_HAS_MUJOCO
#include "mujoco_human.h"
#endif

namespace retrace::bench {
namespace {

constexpr int kRollout = 24;  // steps that are measured again and again: 0.1 s, as a sample of the search has

void Steps(benchmark::State& bench, const Scene& scene, simulation::Solver solver) {
  simulation::WorldOptions options;
  options.solver = solver;
  simulation::World world(Human(), options);
  int64_t steps = 0;
  size_t contacts = 0;
  for (auto _ : bench) {
    if (steps++ % kRollout == 0) world.SetState(scene.start);
    world.Step(scene.targets);
    contacts += world.contacts().size();
  }
  bench.counters["contacts"] = static_cast<double>(contacts) / static_cast<double>(steps);
}

#ifdef RETRACE_HAS_MUJOCO
void MujocoSteps(benchmark::State& bench, const Scene& scene) {
  MujocoHuman human(1.0 / 240);
  const bool lying = scene.name == "lying";
  human.Settle(lying ? Vec3(0, 0.2, 0) : RestPose().root_position,
               lying ? AxisRotation(0, -kPi / 2) : Quat(1, 0, 0, 0));
  int64_t steps = 0;
  int64_t contacts = 0;
  for (auto _ : bench) {
    if (steps++ % kRollout == 0) human.Restore();
    human.Step();
    contacts += human.contacts();
  }
  bench.counters["contacts"] = static_cast<double>(contacts) / static_cast<double>(steps);
}
#endif

// As a search deals them out: of each start state so many samples.
constexpr int kOf200 = 4;   // 200 from 50
constexpr int kOf1400 = 7;  // 1400 from 200

/// @param starts of the fragments, from a search at 1/240 s
void Samples(benchmark::State& bench, const std::string& clip, bool paper, const std::vector<std::string>& settings,
             const std::vector<character::State>& starts, double fragment_seconds,
             const character::Character& character = Human(), int of_each = kOf200) {
  const SearchProblem search(clip, paper, settings, character);
  const sampling::Problem& problem = search.problem();
  sampling::RolloutWorker worker(problem);
  std::vector<sampling::RolloutTask> tasks;
  std::vector<sampling::RolloutResult> results;
  constexpr int kStarts = 8;
  int64_t done = 0;
  int64_t diverged = 0;
  size_t fragment = 0;
  double simulated = 0;
  for (auto _ : bench) {
    const int f = static_cast<int>(fragment++ % static_cast<size_t>(problem.task.schedule.num_iterations()));
    // The fragments of other step sizes differ a little in their ends: the state of the same place serves.
    const double place = problem.task.schedule.steps[static_cast<size_t>(f)] * problem.time_step() / fragment_seconds;
    const size_t start = std::min(static_cast<size_t>(place + 0.5), starts.size() - 1);
    tasks.clear();
    for (int s = 0; s < kStarts; ++s) {
      tasks.push_back({f, f, s * of_each, of_each, starts[start]});
      tasks.back().proposal.undisplaced = s * of_each;
    }
    worker.Run(tasks, results);
    done += kStarts * of_each;
    for (const auto& result : results) {
      for (const auto& sample : result.samples) diverged += sample.diverged;
    }
    simulated +=
        kStarts * of_each * problem.time_step() *
        (problem.task.schedule.steps[static_cast<size_t>(f) + 1] - problem.task.schedule.steps[static_cast<size_t>(f)]);
  }
  bench.SetItemsProcessed(done);
  bench.counters["diverged"] = static_cast<double>(diverged) / static_cast<double>(done);
  bench.counters["fragment"] = simulated / static_cast<double>(done);
}

void RegisterAll() {
  static const std::vector<Scene> scenes = Scenes();
  for (const Scene& scene : scenes) {
    const auto add = [&](const char* solver, auto run) {
      benchmark::RegisterBenchmark((std::string("step/") + scene.name + "/" + solver).c_str(), run)
          ->Unit(benchmark::kMicrosecond);
    };
    add("reduced", [&](benchmark::State& b) { Steps(b, scene, simulation::Solver::kReduced); });
    add("stock", [&](benchmark::State& b) { Steps(b, scene, simulation::Solver::kStock); });
#ifdef RETRACE_HAS_MUJOCO
    if (scene.name == "standing" || scene.name == "lying") {
      add("mujoco", [&](benchmark::State& b) { MujocoSteps(b, scene); });
    }
#endif
  }
  for (const char* clip : {"walk", "roll_sideways"}) {
    static std::map<std::string, std::vector<character::State>> starts;
    const SearchProblem search(clip);
    const sampling::Problem& problem = search.problem();
    starts[clip] = StatesAlong(problem);
    const double seconds =
        problem.task.schedule.steps.back() * problem.time_step() / problem.task.schedule.num_iterations();
    for (const char* solver : {"reduced", "stock"}) {
      const std::string solver_setting = std::string("/simulation/solver=\"") + solver + "\"";
      const struct {
        const char* name;
        bool paper;
        std::vector<std::string> settings;
      } configurations[] = {
          {"240", false, {}}, {"120", false, {"/simulation/time_step=0.008333333333333333"}}, {"paper", true, {}}};
      for (const auto& c : configurations) {
        std::vector<std::string> settings = c.settings;
        settings.push_back(solver_setting);
        benchmark::RegisterBenchmark(
            (std::string("sample/") + clip + "/" + c.name + "/" + solver).c_str(),
            [=, paper = c.paper](benchmark::State& b) { Samples(b, clip, paper, settings, starts[clip], seconds); })
            ->Unit(benchmark::kMillisecond);
      }
    }
    benchmark::RegisterBenchmark(
        (std::string("sample/") + clip + "/240/reduced/1400").c_str(),
        [=](benchmark::State& b) { Samples(b, clip, false, {}, starts[clip], seconds, Human(), kOf1400); })
        ->Unit(benchmark::kMillisecond);
    // Torques that are limited, from the same states: never met, and met in every fragment.
    static const character::Character far = LimitedHuman(1e6), near = LimitedHuman(100);
    for (const auto& [name, human] : {std::pair{"limits_not_met", &far}, std::pair{"limits_met", &near}}) {
      benchmark::RegisterBenchmark(
          (std::string("sample/") + clip + "/240/reduced/" + name).c_str(),
          [=](benchmark::State& b) { Samples(b, clip, false, {}, starts[clip], seconds, *human); })
          ->Unit(benchmark::kMillisecond);
    }
    // The robot, whose shapes are triangle meshes.
    static std::map<std::string, std::vector<character::State>> robot_starts;
    const SearchProblem robot_search(clip, false, {}, Robot());
    robot_starts[clip] = StatesAlong(robot_search.problem());
    const task::Schedule& schedule = robot_search.problem().task.schedule;
    const double robot_seconds = schedule.steps.back() * robot_search.problem().time_step() / schedule.num_iterations();
    benchmark::RegisterBenchmark(
        (std::string("sample/") + clip + "/240/reduced/robot").c_str(),
        [=](benchmark::State& b) { Samples(b, clip, false, {}, robot_starts[clip], robot_seconds, Robot()); })
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  retrace::bench::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
