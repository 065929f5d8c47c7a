#include "retrace/task/schedule.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/control/time_grid.h"
#include "retrace/metrics/floor_contacts.h"
#include "retrace/metrics/surface.h"
#include "retrace/motion/segmentation.h"

namespace retrace::task {
namespace {

using character::Character;
using character::State;

/// The bodies from an end effector up to, and without, the body where its limb is attached (one with several limbs).
std::vector<int> LimbOf(const Character& character, int effector, int& base) {
  std::vector<int> limb;
  int body = effector;
  for (;;) {
    limb.push_back(body);
    const int joint = character.JointOf(body);
    if (joint < 0) break;
    body = character.joints[static_cast<size_t>(joint)].parent;
    const auto children = std::count_if(character.joints.begin(), character.joints.end(),
                                        [&](const character::Joint& j) { return j.parent == body; });
    if (children > 1 || body == character.root) break;
  }
  base = body;
  return limb;
}

std::vector<double> SwingEnds(const Character& character, const std::vector<State>& states, int effector,
                              double frame_time) {
  int base = -1;
  const std::vector<int> limb = LimbOf(character, effector, base);
  Eigen::MatrixX3d centroid(static_cast<Eigen::Index>(states.size()), 3);
  for (size_t f = 0; f < states.size(); ++f) {
    Vec3 sum = Vec3::Zero();
    for (const int body : limb) sum += states[f][static_cast<size_t>(body)].position;
    const auto& anchor = states[f][static_cast<size_t>(base)];
    const Vec3 local = anchor.orientation.conjugate() * Vec3(sum / static_cast<double>(limb.size()) - anchor.position);
    centroid.row(static_cast<Eigen::Index>(f)) = local.transpose();
  }
  return motion::CentroidBoundaries(centroid, frame_time);
}

}  // namespace

void Describe(ScheduleOptions& o, io::FieldVisitor& v) {
  v.Field({"sampling_step", "Time between the instants at which control is sampled", "s"}, o.sampling_step,
          io::Real{{0.01, 1}});
  v.Field({"segmentation",
           "Whether the instants are moved to contact switches and to the ends of swings of limbs; automatic: for "
           "motions on the feet"},
          o.segmentation,
          io::Words<Segmentation>{
              {{Segmentation::kOff, "off"}, {Segmentation::kOn, "on"}, {Segmentation::kAutomatic, "automatic"}}});
}

std::vector<Boundary> FindBoundaries(const character::ReferenceMotion& reference,
                                     const simulation::Environment* ground) {
  const Character& character = reference.character();
  const std::vector<State> states = reference.StatesOfPoses();
  const double frame_time = reference.frame_time();
  // Contacts before swings: a boundary from an earlier list displaces those of later lists that come too close.
  std::vector<std::vector<double>> sources;
  std::vector<std::string> reasons;
  const simulation::Environment plane;
  const metrics::Surface surface(ground == nullptr ? plane : *ground);
  const auto height = [&surface](const character::Body& body, const character::BodyState& state) {
    return surface.HeightOf(body, state);
  };
  for (const int effector : character.end_effectors) {
    sources.push_back(motion::SwitchTimes(metrics::Touches(reference, states, effector, height), frame_time));
    reasons.push_back("contact of " + character.bodies[static_cast<size_t>(effector)].name);
  }
  for (const int effector : character.end_effectors) {
    sources.push_back(SwingEnds(character, states, effector, frame_time));
    reasons.push_back("swing of " + character.bodies[static_cast<size_t>(effector)].name);
  }
  motion::MergeOptions merge;
  merge.min_gap = 0.06;
  merge.end = reference.duration();
  std::vector<Boundary> boundaries;
  for (const double time : motion::MergeBoundaries(sources, merge)) {
    for (size_t s = 0; s < sources.size(); ++s) {
      if (std::find(sources[s].begin(), sources[s].end(), time) == sources[s].end()) continue;
      boundaries.push_back({time, reasons[s]});
      break;
    }
  }
  return boundaries;
}

Schedule MakeSchedule(const character::ReferenceMotion& reference, double time_step, const ScheduleOptions& options,
                      bool segment, const simulation::Environment* ground) {
  Schedule schedule;
  const bool use =
      options.segmentation == Segmentation::kOn || (options.segmentation == Segmentation::kAutomatic && segment);
  if (use) schedule.boundaries = FindBoundaries(reference, ground);
  const control::TimeGrid grid{time_step};
  std::vector<int> fixed = {0};
  for (const Boundary& boundary : schedule.boundaries) fixed.push_back(grid.Nearest(boundary.time));
  fixed.push_back(grid.Floor(reference.duration()));
  schedule.steps = {0};
  for (size_t i = 0; i + 1 < fixed.size(); ++i) {
    const int span = fixed[i + 1] - fixed[i];
    const int count = std::max(1, static_cast<int>(std::lround(span * time_step / options.sampling_step)));
    for (int k = 1; k <= count; ++k) {
      schedule.steps.push_back(fixed[i] + static_cast<int>(std::lround(static_cast<double>(span) * k / count)));
    }
  }
  return schedule;
}

}  // namespace retrace::task
