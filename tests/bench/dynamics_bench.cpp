/// Speed of rigid-body dynamics in generalized coordinates, and of quadratic programs of the sizes that a controller
/// has which looks for accelerations and contact forces.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include "dynamics/sample_motion.h"
#include "optimization/random_programs.h"
#include "retrace/character/kinematics.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/methods/tracking/plan.h"

namespace retrace::bench {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// @param what one of the algorithms, called after SetMotion
template <typename What>
void Dynamics(benchmark::State& bench, const char* name, const What& what) {
  dynamics::CharacterDynamics dynamics(dynamics::Bundled(name));
  RandomStream random(1, RandomStage::kTest, 0, 0);
  const dynamics::Motion motion = dynamics::AnyMotion(dynamics.coordinates(), random);
  const int n = dynamics.size();
  MatrixXd mass(n, n);
  VectorXd forces = VectorXd::Zero(n), acceleration = VectorXd::Zero(n);
  for (auto _ : bench) {
    dynamics.SetMotion(motion.pose, motion.velocity);
    what(dynamics, mass, forces, acceleration);
    benchmark::DoNotOptimize(mass.data());
    benchmark::DoNotOptimize(forces.data());
    benchmark::DoNotOptimize(acceleration.data());
  }
}

/// Accelerations of 6 + `joints` coordinates and forces at the edges of the friction pyramids of `contacts` points,
/// with the root without force (equalities) and bounds of torques. From one problem to the next, little changes.
void Programs(benchmark::State& bench, int joints, int contacts, optimization::QuadraticProgramSolver::Start start) {
  const int n = 6 + joints + 4 * contacts;
  RandomStream random(2, RandomStage::kTest, 0, 0);
  optimization::QuadraticProgram program;
  program.Resize(n, 6, 4 * contacts + 2 * joints);
  const MatrixXd motion = optimization::AnyMatrix(random, joints + 6, n);
  program.hessian = motion.transpose() * motion / n + 1e-2 * MatrixXd::Identity(n, n);
  program.equality_matrix = optimization::AnyMatrix(random, 6, n);
  program.inequality_matrix.block(0, 6 + joints, 4 * contacts, 4 * contacts).setIdentity();
  const MatrixXd torques = optimization::AnyMatrix(random, joints, n);
  program.inequality_matrix.middleRows(4 * contacts, joints) = torques;
  program.inequality_matrix.bottomRows(joints) = -torques;
  program.inequality_bounds.tail(2 * joints).setConstant(-40);
  const VectorXd first = optimization::AnyMatrix(random, n, 1) * 3, change = optimization::AnyMatrix(random, n, 1);
  optimization::QuadraticProgramSolver solver;
  int64_t solved = 0, iterations = 0, optimal = 0;
  for (auto _ : bench) {
    program.gradient = first + 0.3 * std::sin(0.05 * static_cast<double>(solved++)) * change;
    const optimization::Summary& summary = solver.Solve(program, start);
    iterations += summary.iterations;
    optimal += summary.status == optimization::Status::kOptimal;
  }
  bench.counters["iterations"] = static_cast<double>(iterations) / static_cast<double>(solved);
  bench.counters["optimal"] = static_cast<double>(optimal) / static_cast<double>(solved);
}

/// The human with the 57 degrees of freedom of Table 3 of da Silva et al. 2008: knees and one more joint of the spine
/// are balls.
character::Character WithAllBalls() {
  io::Json document = dynamics::Bundled("human").json;
  for (io::Json& joint : document["joints"]) {
    if (joint["type"] != "hinge") continue;
    joint["type"] = "ball";
    joint.erase("axis");
    joint["strength_scale"] = {1, 1, 1};
    joint["window"] = {0.2, 0.2, 0.2};
  }
  io::Json loin = document["bodies"][2], spine = document["joints"][0];
  loin["name"] = "loin";
  spine["name"] = "loin";
  spine["child"] = "loin";
  document["joints"][0]["parent"] = "loin";
  document["bodies"].push_back(loin);
  document["joints"].push_back(spine);
  return character::ParseCharacter(document, "human of 57 degrees of freedom");
}

/// Instants of a stand on both feet that is to speed up, as the tracking controller plans them. The points are corners
/// of soles, and more between them up to the number of contacts.
void Plans(benchmark::State& bench, int contacts) {
  const character::Character human = WithAllBalls();
  dynamics::CharacterDynamics dynamics(human);
  character::State state;
  character::ForwardKinematics(human, character::RestPose(human), state);
  dynamics.SetMotion(state);
  tracking::Dynamics instant;
  instant.Resize(dynamics.size(), contacts);
  dynamics.MassMatrix(instant.mass);
  dynamics.BiasForces(instant.bias);
  for (int c = 0; c < contacts; ++c) {
    const int body = human.FindBody(c % 2 == 0 ? "left_foot" : "right_foot");
    const Vec3 half = human.bodies[static_cast<size_t>(body)].shapes[0].HalfExtents();
    const int place = c / 2;
    const Vec3 local(place % 2 == 0 ? half.x() : -half.x(), -half.y(), half.z() * (1 - 2 * (place / 2) / 2.0));
    const Vec3 point = dynamics.CenterOf(body) + local;
    dynamics.PointJacobian(body, point, instant.jacobian.middleRows<3>(3 * c));
    instant.cone.middleRows<3>(3 * c) = tracking::FrictionCone(Vec3::UnitY(), 0.7);
  }
  instant.weights.head<3>().setConstant(10);
  instant.weights.segment<3>(3).setConstant(100);
  RandomStream random(4, RandomStage::kTest, 0, 0);
  const VectorXd first = optimization::AnyMatrix(random, dynamics.size(), 1) * 20;
  const VectorXd change = optimization::AnyMatrix(random, dynamics.size(), 1) * 20;
  tracking::Planner planner;
  int64_t solved = 0, iterations = 0, optimal = 0, variables = 0;
  for (auto _ : bench) {
    instant.desired = first + std::sin(0.05 * static_cast<double>(solved++)) * change;
    const tracking::Plan& plan = planner.Solve(instant);
    iterations += plan.iterations;
    optimal += plan.status == optimization::Status::kOptimal;
    variables = plan.num_variables;
  }
  bench.counters["iterations"] = static_cast<double>(iterations) / static_cast<double>(solved);
  bench.counters["optimal"] = static_cast<double>(optimal) / static_cast<double>(solved);
  bench.counters["variables"] = static_cast<double>(variables);
  bench.counters["of_the_paper"] = tracking::NumPaperVariables(dynamics.size(), contacts);
}

void Register() {
  using dynamics::CharacterDynamics;
  for (const char* name : dynamics::kCharacters) {
    const auto add = [&](const std::string& algorithm, const auto& what) {
      benchmark::RegisterBenchmark((algorithm + "/" + name).c_str(),
                                   [name, what](benchmark::State& bench) { Dynamics(bench, name, what); });
    };
    add("mass matrix and bias", [](CharacterDynamics& d, MatrixXd& mass, VectorXd& forces, VectorXd&) {
      d.MassMatrix(mass);
      d.BiasForces(forces);
    });
    add("inverse dynamics", [](CharacterDynamics& d, MatrixXd&, VectorXd& forces, VectorXd& acceleration) {
      d.InverseDynamics(acceleration, {}, forces);
    });
    add("forward dynamics", [](CharacterDynamics& d, MatrixXd&, VectorXd& forces, VectorXd& acceleration) {
      d.ForwardDynamics(forces, {}, acceleration);
    });
  }
  using Start = optimization::QuadraticProgramSolver::Start;
  for (const auto& [joints, contacts] : {std::pair(44, 4), std::pair(44, 8), std::pair(51, 11)}) {
    for (const Start start : {Start::kCold, Start::kWarm}) {
      const std::string name = "quadratic program/" + std::to_string(6 + joints) + " coordinates, " +
                               std::to_string(contacts) + " contacts/" + (start == Start::kCold ? "cold" : "warm");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [joints = joints, contacts = contacts, start](benchmark::State& bench) {
                                     Programs(bench, joints, contacts, start);
                                   });
    }
  }
  for (const int contacts : {9, 10, 11}) {
    const std::string name = "plan of an instant/57 coordinates, " + std::to_string(contacts) + " contacts";
    benchmark::RegisterBenchmark(name.c_str(), [contacts](benchmark::State& bench) { Plans(bench, contacts); });
  }
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  retrace::bench::Register();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
