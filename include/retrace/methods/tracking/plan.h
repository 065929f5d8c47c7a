/// Accelerations, torques and contact forces of an instant, as a quadratic program (da Silva et al. 2008, section 4.4):
///
///     minimize   1/2 |a - a_d|^2_W + c/2 |J a + b|^2 + r/2 |l|^2                     (7a; 7e with a quadratic slack)
///     subject to M a + h = u + J^T V l,  u = 0 at the root                           (7d)
///                l >= 0                                                              (7b)
///                -limit <= u <= limit                                                (7c)
///
/// with accelerations a, torques u, and contact forces V l of the points with Jacobian J. V spans a cone of friction
/// with four edges at each point. What equation 7e asks for, points that do not slip, is a constraint in the paper;
/// with more rows than freedoms, or with a point that is about to leave, it has no solution. Where a planar root is
/// held, a = 0 stands instead of u = 0.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "retrace/math/types.h"
#include "retrace/optimization/quadratic_program.h"

namespace retrace::tracking {

/// What the ground is to do to some of the contact points together.
struct ForceGoal {
  int first = 0;  ///< contact point
  int count = 0;
  Vec3 force = Vec3::Zero();  ///< [N]
  double weight = 0;          ///< of the squared difference [1/N^2]
};

/// Accelerations J a that are wanted besides those of the coordinates.
struct Task {
  Eigen::MatrixXd jacobian;  ///< (k x n)
  Eigen::VectorXd desired;   ///< (k)
  double weight = 0;         ///< of the squared difference
};

/// The data of one instant, with n degrees of freedom and c contact points.
struct Dynamics {
  Eigen::MatrixXd mass;      ///< M (n x n)
  Eigen::VectorXd bias;      ///< h (n)
  Eigen::VectorXd desired;   ///< a_d (n)
  Eigen::VectorXd weights;   ///< the diagonal of W (n)
  Eigen::MatrixXd jacobian;  ///< J (3 c x n)
  Eigen::VectorXd slip;      ///< b (3 c): the accelerations of the points are to be -b apart from J a
  Eigen::MatrixXd cone;      ///< V, the part of each point under the one before (3 c x 4), unit vectors
  /// Orthonormal axes of the root's coordinates, and how many of the last ones are held (CharacterDynamics::RootAxes).
  Eigen::Matrix<double, 6, 6> root_axes = Eigen::Matrix<double, 6, 6>::Identity();
  int num_held = 0;
  /// Softness of each point along its normal (c): its acceleration is to be -b - softness f for a force f [1/kg].
  Eigen::VectorXd softness;
  Eigen::MatrixXd normals;  ///< of each point (3 c x 1), unit vectors
  std::vector<ForceGoal> force_goals;
  double contact_weight = 1e4;
  double regularization = 1e-6;
  double torque_limit = 400;  ///< of all joints [N m]
  Eigen::VectorXd efforts;    ///< largest torques besides that (n - 6), 0: any; empty: there are none [N m]

  int size() const { return static_cast<int>(bias.size()); }
  /// The smaller of both (n - 6) [N m].
  Eigen::ArrayXd LargestTorques() const;
  int num_contacts() const { return static_cast<int>(slip.size() / 3); }
  /// Everything becomes zero but the weights, which become one.
  void Resize(int size, int num_contacts);
  /// Other contact points, all zero; the rest stays.
  void ResizeContacts(int num_contacts);

  std::span<const Task> tasks() const { return {tasks_.data(), static_cast<size_t>(num_tasks_)}; }
  /// Another task, of any size. Its memory is that of a task before the last Resize where there was one.
  Task& AddTask() {
    if (num_tasks_ == static_cast<int>(tasks_.size())) tasks_.emplace_back();
    return tasks_[static_cast<size_t>(num_tasks_++)];
  }

 private:
  std::vector<Task> tasks_;  // those from num_tasks_ on are memory alone
  int num_tasks_ = 0;
};

/// The edges of a cone of friction about a normal, as columns of unit length.
Eigen::Matrix<double, 3, 4> FrictionCone(const Vec3& normal, double friction);

/// The solution.
struct Plan {
  optimization::Status status = optimization::Status::kNotFinite;
  int iterations = 0;
  int num_variables = 0;         ///< of the program that was solved
  Eigen::VectorXd acceleration;  ///< a (n)
  Eigen::VectorXd torque;        ///< u (n), zero at the root [N, N m]
  Eigen::VectorXd force;         ///< V l (3 c) [N]
  double residual = 0;           ///< optimization::Summary::residual
  double slack = 0;              ///< largest entry of J a + b [m/s^2]
};

/// Number of variables of the paper's form, as its Table 4 counts them: two for each degree of freedom, four for each
/// contact point.
constexpr int NumPaperVariables(int degrees_of_freedom, int contacts) {
  return 2 * degrees_of_freedom + 4 * contacts;
}

/// Solves one instant after the other.
class Planner {
 public:
  enum class Form {
    kReduced,  ///< torques are eliminated: u = M a + h - J^T V l
    kPaper,    ///< accelerations, torques and cone coefficients; a small weight on torques makes it strictly convex
  };

  /// The plan is valid until the next call. What it holds besides the status is meaningful for kOptimal alone.
  const Plan& Solve(const Dynamics& dynamics, Form form = Form::kReduced);

 private:
  /// Turns the six rows of a root without force, from `first` on, into its axes, and holds it along the last ones.
  void HoldRoot(const Dynamics& dynamics, Eigen::Index first);
  void BuildReduced(const Dynamics& dynamics);
  void BuildPaper(const Dynamics& dynamics);
  /// @param first column of the first cone coefficient
  void AddSoftness(const Dynamics& dynamics, int first);
  void AddTasks(const Dynamics& dynamics);
  void AddForceGoals(const Dynamics& dynamics, int first);

  optimization::QuadraticProgramSolver solver_;
  optimization::QuadraticProgram program_;
  Eigen::MatrixXd generalized_;  // J^T V (n x 4 c)
  Plan plan_;
};

}  // namespace retrace::tracking
