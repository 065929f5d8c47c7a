#include "retrace/control/controller.h"

#include <algorithm>

#include "retrace/math/rotation.h"

namespace retrace::control {
namespace {

/// Calls `set(j, target)` for each joint.
template <typename Set>
void InterpolateTargets(const Fragment& fragment, int step, size_t num_joints, const Set& set) {
  if (fragment.has_commands()) {
    const std::vector<simulation::JointCommand>& commands = fragment.CommandsOf(step);
    for (size_t j = 0; j < num_joints; ++j) set(j, commands[j].target);
    return;
  }
  const size_t last = fragment.targets.size() - 1;
  if (last == 0) {
    for (size_t j = 0; j < num_joints; ++j) set(j, fragment.targets[0][j]);
    return;
  }
  const double x = static_cast<double>(step + 1) / fragment.num_steps * static_cast<double>(last);
  const size_t knot = std::min(static_cast<size_t>(x), last - 1);
  const double t = x - static_cast<double>(knot);
  const TargetPose& a = fragment.targets[knot];
  const TargetPose& b = fragment.targets[knot + 1];
  for (size_t j = 0; j < num_joints; ++j) set(j, Nlerp(a[j], b[j], t));
}

}  // namespace

void TargetsAt(const Fragment& fragment, int step, std::span<Quat> pose) {
  InterpolateTargets(fragment, step, pose.size(), [&](size_t j, const Quat& target) { pose[j] = target; });
}

void CommandsAt(const Fragment& fragment, int step, std::span<simulation::JointCommand> commands) {
  if (fragment.has_commands()) {
    const std::vector<simulation::JointCommand>& of_step = fragment.CommandsOf(step);
    std::copy(of_step.begin(), of_step.end(), commands.begin());
    return;
  }
  // What commands of a fragment before this one had besides a target is over.
  InterpolateTargets(fragment, step, commands.size(),
                     [&](size_t j, const Quat& target) { commands[j] = {.target = target}; });
}

const Fragment& OpenLoop::FragmentAt(int step) {
  if (step < fragments_[current_].first_step) current_ = 0;
  while (current_ + 1 < fragments_.size() && step >= fragments_[current_].end_step()) ++current_;
  return fragments_[current_];
}

void OpenLoop::Command(const StepContext& now, std::span<simulation::JointCommand> commands) {
  if (fragments_.empty()) return;
  const Fragment& fragment = FragmentAt(now.step);
  CommandsAt(fragment, std::clamp(now.step - fragment.first_step, 0, fragment.num_steps - 1), commands);
}

bool OpenLoop::RestartsAt(int step) {
  return !fragments_.empty() && FragmentAt(step).first_step == step;
}

}  // namespace retrace::control
