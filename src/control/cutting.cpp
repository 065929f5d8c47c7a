#include "retrace/control/cutting.h"

#include <algorithm>

namespace retrace::control {
namespace {

/// Steps [first, end) of the whole motion as commands, where the last command of the fragment holds beyond its end.
Fragment CommandsOf(const Fragment& whole, int first, int end) {
  Fragment part;
  part.first_step = first;
  part.num_steps = end - first;
  const size_t num_joints = whole.has_commands() ? whole.commands[0].size() : whole.targets[0].size();
  for (int step = first; step < end; ++step) {
    CommandsAt(whole, std::min(step - whole.first_step, whole.num_steps - 1), part.commands.emplace_back(num_joints));
  }
  return part;
}

}  // namespace

std::vector<Fragment> Truncate(int step, const std::vector<Fragment>& fragments) {
  std::vector<Fragment> before;
  for (const Fragment& fragment : fragments) {
    if (fragment.first_step >= step) break;
    const bool whole = fragment.end_step() <= step;
    before.push_back(whole ? fragment : CommandsOf(fragment, fragment.first_step, step));
  }
  return before;
}

std::vector<Fragment> SplitAt(const std::vector<int>& steps, const std::vector<Fragment>& fragments) {
  std::vector<Fragment> cut;
  if (fragments.empty() || steps.empty()) return fragments;
  for (const Fragment& fragment : fragments) {
    int first = fragment.first_step;
    for (const int step : steps) {
      if (step <= first || step >= fragment.end_step()) continue;
      cut.push_back(CommandsOf(fragment, first, step));
      first = step;
    }
    cut.push_back(first == fragment.first_step ? fragment : CommandsOf(fragment, first, fragment.end_step()));
  }
  const Fragment& last = fragments.back();
  int first = last.end_step();
  for (const int step : steps) {
    if (step <= first) continue;
    cut.push_back(CommandsOf(last, first, step));
    first = step;
  }
  return cut;
}

}  // namespace retrace::control
