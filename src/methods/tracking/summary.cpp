#include "retrace/methods/tracking/summary.h"

#include <algorithm>

#include "retrace/io/number.h"

namespace retrace::tracking {

std::string Name(Status status) {
  switch (status) {
    case Status::kReachedEnd:
      return "reached the end";
    case Status::kFell:
      return "fell";
    case Status::kStopped:
      return "stopped";
    default:
      return "diverged";
  }
}

std::string Summary::BriefReport() const {
  double slack = 0, error = 0, iterations = 0;
  int variables = 0;
  for (const SolveRecord& record : records) {
    slack = std::max(slack, record.slack);
    error += record.squared_error;
    iterations += record.iterations;
    variables = std::max(variables, record.variables);
  }
  const double count = std::max(1.0, static_cast<double>(records.size()));
  std::string text = Name(status);
  text.append(", ").append(std::to_string(records.size())).append(" quadratic programs of up to ");
  text.append(std::to_string(variables)).append(" variables, ").append(std::to_string(unsolved));
  text.append(" unsolved, ").append(io::Fixed(iterations / count, 1)).append(" iterations and ");
  text.append(io::Fixed(1e6 * solve_cpu_seconds / count, 0)).append(" us in the mean; squared error ");
  text.append(io::Fixed(error / count, 2)).append(" in the mean, slack at most ").append(io::Fixed(slack, 1));
  return text.append(" m/s^2");
}

}  // namespace retrace::tracking
