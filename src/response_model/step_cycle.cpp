#include "step_cycle.h"

#include "retrace/response_model/contacts.h"

namespace retrace::response_model {

using Eigen::Index;

namespace {

constexpr double kShortestCycles[] = {0.5, 0.8, 1.1};  // [s]

}  // namespace

std::optional<character::Cycle> CycleOfSteps(FeatureMap& features, const std::vector<character::Pose>& poses) {
  const double dt = features.options().frame_time;
  const Eigen::ArrayXXi stands = StandingPoints(features, poses);
  const auto steps = [&](const character::Cycle& cycle) {
    const auto around = stands.middleCols(static_cast<Index>(cycle.first), static_cast<Index>(cycle.length));
    return (around.rowwise().maxCoeff() > around.rowwise().minCoeff()).all();
  };
  for (const double shortest : kShortestCycles) {
    const std::optional<character::Cycle> cycle = character::FindCycle(poses, dt, shortest);
    if (cycle && steps(*cycle)) return cycle;
  }
  return {};
}

}  // namespace retrace::response_model
