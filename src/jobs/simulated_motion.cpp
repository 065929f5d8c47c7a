#include "retrace/jobs/simulated_motion.h"

#include <utility>

#include "retrace/runs/stored/replay.h"

namespace retrace::runs {

control::Motion SimulateAgain(const Job& job, const Reconstruction& result) {
  return {job.character(), control::Replay(job.character(), result.control())};
}

std::vector<control::Motion> SimulateAgain(const StoredRun& run, const std::vector<control::Push>& pushes) {
  std::vector<control::Push> all = run.pushes;
  all.insert(all.end(), pushes.begin(), pushes.end());
  Replayed replayed = Replay(run, std::move(all));
  std::vector<control::Motion> motions;
  for (size_t c = 0; c < replayed.characters.size(); ++c) {
    motions.emplace_back(run.scene.characters[c], std::move(replayed.characters[c].trajectory));
  }
  return motions;
}

}  // namespace retrace::runs
