#include "retrace/methods/trajectory/plan.h"

#include <algorithm>
#include <cmath>

#include "retrace/control/time_grid.h"
#include "retrace/math/rotation.h"

namespace retrace::trajectory {
namespace {

/// Between two target poses of a fragment [s]: a quarter of a knot interval at the paper's numbers.
constexpr double kPoseInterval = 0.02;
/// Scale of an axis that has no sampling window [rad]: the window of a shoulder.
constexpr double kUnsampledWindow = 0.2;

}  // namespace

void Spline::At(double knots, Eigen::Ref<Eigen::VectorXd> value) const {
  const Eigen::Index last = points.cols() - 4;
  const Eigen::Index i = std::clamp<Eigen::Index>(static_cast<Eigen::Index>(std::floor(knots)), 0, last);
  const double x = knots - static_cast<double>(i);
  const double rest = 1 - x;
  value = (rest * rest * rest / 6) * points.col(i) + ((3 * x * x * x - 6 * x * x + 4) / 6) * points.col(i + 1) +
          ((-3 * x * x * x + 3 * x * x + 3 * x + 1) / 6) * points.col(i + 2) + (x * x * x / 6) * points.col(i + 3);
}

Plan::Plan(const Problem& problem) {
  const Options& o = problem.options;
  const int steps = problem.num_steps();
  const int length = control::TimeGrid{problem.time_step()}.PartSteps(o.window);
  const int count = std::max(1, static_cast<int>(std::lround(static_cast<double>(steps) / length)));
  const int intervals = o.knots - 1;  // of a window
  knots_per_step = static_cast<double>(intervals) / length;
  const auto intervals_until = [&](int step) {  // all that are begun
    return static_cast<Eigen::Index>((static_cast<int64_t>(step) * intervals + length - 1) / length);
  };
  const auto begin_of = [&](int window) { return window >= count ? steps : window * length; };
  for (int w = 0; w < count; ++w) {
    Window& window = windows.emplace_back();
    window.first_step = begin_of(w);
    window.kept_step = begin_of(w + 1);
    window.last_step = begin_of(w + o.together);
    // Points up to i + 3 act in the interval that ends where the window begins; those after it are free.
    window.first_point = w == 0 ? 0 : static_cast<Eigen::Index>(w) * intervals + 3;
    window.num_points = intervals_until(window.last_step) + 3 - window.first_point;
  }
  num_points = intervals_until(steps) + 3;
  const auto& joints = problem.task.character->joints;
  for (size_t j = 0; j < joints.size(); ++j) {
    for (int a = 0; a < 3; ++a) {
      const double window = joints[j].window[a];
      if (!joints[j].UsesAxis(a) || (window == 0 && o.axes == Axes::kSampled)) continue;
      axes.push_back({static_cast<int>(j), a, window > 0 ? window : kUnsampledWindow});
    }
  }
}

double Plan::SecondsPerSample(const Problem& problem) const {
  double steps = 0;
  for (const Window& window : windows) steps += window.last_step - window.first_step;
  return steps * problem.time_step();
}

control::Fragment MakeFragment(const Problem& problem, const Plan& plan, const Spline& spline, int first_step,
                               int end_step) {
  control::Fragment fragment;
  fragment.first_step = first_step;
  fragment.num_steps = end_step - first_step;
  const int intervals =
      std::max(1, static_cast<int>(std::lround(fragment.num_steps * problem.time_step() / kPoseInterval)));
  const character::ReferenceMotion& baseline =
      problem.baseline != nullptr ? *problem.baseline : *problem.task.reference;
  const size_t joints = problem.task.character->joints.size();
  character::Pose pose;
  pose.joint_rotations.assign(joints, Quat::Identity());
  std::vector<Vec3> turns(joints, Vec3::Zero());
  Eigen::VectorXd offsets(static_cast<Eigen::Index>(plan.axes.size()));
  fragment.targets.reserve(static_cast<size_t>(intervals) + 1);
  for (int k = 0; k <= intervals; ++k) {
    const double step = first_step + static_cast<double>(k) / intervals * fragment.num_steps;
    if (problem.options.start == Start::kReference) baseline.PoseAt(step * problem.time_step(), pose);
    spline.At(step * plan.knots_per_step, offsets);
    for (size_t i = 0; i < plan.axes.size(); ++i) {
      const Axis& axis = plan.axes[i];
      turns[static_cast<size_t>(axis.joint)][axis.axis] = offsets[static_cast<Eigen::Index>(i)];
    }
    control::TargetPose& target = fragment.targets.emplace_back(joints);
    for (size_t j = 0; j < joints; ++j) {
      target[j] = FromRotationVector(problem.task.character->joints[j].FromAxes(turns[j])) * pose.joint_rotations[j];
      target[j].normalize();
    }
  }
  return fragment;
}

}  // namespace retrace::trajectory
