#include "retrace/jobs/idle_ranks.h"

#include "retrace/io/number.h"
#include "retrace/parallel/scheduler.h"

namespace retrace::runs {

std::string IdleRanksWarning(int ranks, const Configuration& configuration) {
  const Method method = configuration.run.method;
  if (method != Method::kAuto && method != Method::kSampling) return "";
  const int samples = configuration.sampling.samples;
  const double busy = parallel::BusyShare(ranks, samples);
  if (busy >= 0.5) return "";
  return std::to_string(ranks) + " ranks are more than a search with " + std::to_string(samples) +
         " samples per iteration keeps at work: about " + io::Fixed(100 * busy, 0) +
         " % of their time; several controls, side by side, of which the best is kept, would keep them at work";
}

}  // namespace retrace::runs
