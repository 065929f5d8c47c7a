#include "retrace/io/number.h"
#include "retrace/task/task.h"

namespace retrace::task {
namespace {

/// Longest simulation step for which the boundaries of segments, which are at least 0.06 s apart, fall on different
/// steps [s].
constexpr double kLongestStep = 0.05;

std::optional<std::string> FindProblemOfClip(const character::ReferenceOptions& reference) {
  io::Validator validator("/clip");
  DescribeClip(reference, validator);
  DescribeRange(reference, validator);
  return validator.problem();
}

}  // namespace

std::optional<std::string> Options::Validate() const {
  if (auto problem = io::FindProblem(*this)) return problem;
  if (auto problem = FindProblemOfClip(reference)) return problem;
  // What a configuration does not hold of the world and of the weights.
  if (const auto problem = world.Validate()) return "/simulation" + *problem;
  for (const double weight : {cost_custom.drift, cost_custom.smoothness}) {
    if (!kWeights.Contains(weight)) {
      return "the custom weight of drift or smoothness: found " + io::Number(weight) + ", expected a number of " +
             io::Real{kWeights}.Legal();
    }
  }
  if (world.time_step > kLongestStep) {
    return "/simulation/time_step: found " + io::Number(world.time_step) + ", expected at most " +
           io::Number(kLongestStep) + " for a task";
  }
  if (world.time_step > schedule.sampling_step) {
    return "/schedule/sampling_step: found " + io::Number(schedule.sampling_step) +
           ", expected at least /simulation/time_step, which is " + io::Number(world.time_step);
  }
  return std::nullopt;
}

}  // namespace retrace::task
