#include "retrace/methods/trajectory/cost_terms.h"

#include "retrace/task/cost.h"

namespace retrace::trajectory {

std::array<const char*, kNumTerms> TermNames(Cost cost) {
  if (cost == Cost::kPaper) return {"com", "com_velocity", "pose", "velocity", "root", "jerk", "gates", "torque"};
  std::array<const char*, kNumTerms> names{};
  for (size_t i = 0; i < task::kCostTerms.size(); ++i) names[i] = task::kCostTerms[i].name;
  names[kGateTerm] = "gates";
  names[kTorqueTerm] = "torque";
  return names;
}
static_assert(task::kCostTerms.size() == kGateTerm);

}  // namespace retrace::trajectory
