/// How the end of each fragment of a path follows from its start and its targets when they are a little different: the
/// linear system along the path, by central differences of the simulation itself (Tassa, Erez and Todorov 2012).
///
/// States are differences in generalized coordinates (dynamics/tangent.h, 2 n numbers), controls rotations that are put
/// before the offsets of the joints (m = n - 6 numbers, in the parents' axes [rad]).
#pragma once

#include <functional>
#include <vector>

#include "retrace/dynamics/tangent.h"
#include "retrace/methods/sampling/problem.h"
#include "retrace/methods/sampling/rollout.h"
#include "retrace/optimization/linear_quadratic.h"
#include "retrace/parallel/task_farm.h"
#include "tree.h"

namespace retrace::sampling {

/// The system of one fragment. It is kept in single precision, which is more than differences over centimeters have.
struct FragmentModel {
  std::vector<float> numbers;  ///< A (2 n x 2 n), then B (2 n x m), by columns
  std::vector<double> defect;  ///< (2 n) from the end of the path to that of the simulation, whose targets never jump

  optimization::LinearStep System() const;
};

/// Finds the models of fragments `first` to `end` (without it) of a path, appended to `models`. The same numbers for
/// any number of workers, which come from MakeWorkerFactory of the problem.
/// @param path complete nodes, from the first fragment to the last
/// @param cpu_seconds is increased by what the simulations took
void Linearize(const Problem& problem, const std::vector<Node>& path, int first, int end, parallel::TaskFarm& farm,
               std::vector<FragmentModel>& models, double& cpu_seconds);

/// Simulations of a fragment that its model takes.
size_t RolloutsOfModel(const Problem& problem);

/// The worker's side: whether a task is one of Linearize, and what it finds.
bool IsLinearization(std::span<const std::byte> task);
void RunLinearization(const Problem& problem, std::span<const std::byte> task, RolloutWorker& worker,
                      parallel::Bytes& result);

/// As bytes for a store, and back; Restore throws std::logic_error for bytes of other fragments.
void Store(const std::vector<FragmentModel>& models, int first, double cpu_seconds, parallel::Bytes& bytes);
void Restore(const parallel::Bytes& bytes, int first, int end, size_t state_size, std::vector<FragmentModel>& models,
             double& cpu_seconds);

/// Rotations of all joints (m) as rotation vectors (joints), and back.
std::vector<Vec3> TurnsOf(const dynamics::Coordinates& coordinates, const Eigen::VectorXd& numbers);
Eigen::VectorXd NumbersOf(const dynamics::Coordinates& coordinates, std::span<const Vec3> turns);

}  // namespace retrace::sampling
