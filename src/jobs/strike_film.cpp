#include "retrace/jobs/strike_film.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/io/number.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {

RecordedBeginning BeginningOf(const StrikeJob& strike, const Strike& simulated) {
  const double h = simulated.scene.world.time_step;
  const auto frames = static_cast<size_t>(std::floor(strike.start / kCompositionFrame + 1e-9));
  RecordedBeginning beginning;
  beginning.steps = static_cast<int>(std::lround(static_cast<double>(frames) * kCompositionFrame / h));
  beginning.motions.frame_time = kCompositionFrame;
  const double first = strike.start - static_cast<double>(frames) * kCompositionFrame;
  for (const character::ReferenceMotion& motion : strike.motions) {
    beginning.motions.poses.push_back(motion.Sample(first, frames + 2, kCompositionFrame));
  }
  beginning.sources = {strike.options.receiver.file.string(), strike.options.attacker.file.string()};
  beginning.strike = StrikeMember(strike, simulated);
  beginning.inputs = strike.inputs;
  return beginning;
}

void WriteFilm(results::RunFolder& folder, const StrikeJob& strike, const Strike& simulated, const ResponseJob& job,
               const Response& response, const RunContext& context) {
  const RecordedBeginning beginning = BeginningOf(strike, simulated);
  WriteResponse(folder, job, response, context, beginning.steps > 0 ? &beginning : nullptr);
}

std::string DescribeFilm(const Response& response) {
  const metrics::Gate* const left = response.evaluation.FirstViolated();
  std::string text = "the one that is struck: ";
  text.append(left == nullptr
                  ? "within tolerance to its end"
                  : "out of tolerance " + io::Fixed(left->first_violation, 2) + " s after the film's strike began");
  if (response.ending != "completed") text.append(" (").append(response.ending).append(")");
  for (const OtherCharacter& other : response.others) {
    text.append("\nthe attacker: ")
        .append(other.within() ? "within tolerance to the end of its clip" : "out of tolerance");
    if (other.by_feedback) text.append(", led back by feedback");
  }
  return text;
}

}  // namespace retrace::runs
