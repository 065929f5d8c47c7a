#include "motion_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "targets.h"

namespace retrace::idling {
namespace {

constexpr double kReachedAngle = 3 * (kPi / 180);  // within which a joint has reached the goal [rad]
constexpr double kForearmWidth = 0.2;              // of joints that the character's own search leaves alone [rad]

control::TargetPose RotationsOf(const character::Character& character, const character::State& state) {
  control::TargetPose rotations;
  for (const character::Joint& joint : character.joints) rotations.push_back(character::JointRotation(joint, state));
  return rotations;
}

}  // namespace

PathPlanner::PathPlanner(const Problem& problem, const Support& support, const std::vector<RelaxedKey>& keys,
                         Simulator& simulator)
    : problem_(problem),
      options_(problem.options),
      support_(support),
      keys_(keys),
      simulator_(simulator),
      judge_(problem, support, keys) {}

std::vector<Path> PathPlanner::FindPaths(Leg leg, const std::function<bool()>& stop) {
  leg_ = leg;
  FindWidths();
  std::vector<Path> paths;
  const auto pair = static_cast<uint32_t>(leg.from * keys_.size() + leg.to);
  for (int attempt = 0; attempt < options_.paths * options_.attempts; ++attempt) {
    if (static_cast<int>(paths.size()) == options_.paths || (stop && stop())) break;
    std::optional<Path> path = GrowTree(pair << 12 | static_cast<uint32_t>(attempt));
    if (!path || !IsDistinct(*path, paths)) continue;
    Simplify(*path, paths);
    Smooth(*path, paths);
    path->number = static_cast<int>(paths.size()) + 1;
    paths.push_back(std::move(*path));
  }
  return paths;
}

/// A start state is driven directly to the goal: what gets there by itself needs no sampling (section 3.3).
void PathPlanner::FindWidths() {
  const character::Character& character = *problem_.character;
  widths_.clear();
  for (const character::Joint& joint : character.joints) {
    Vec3 width = options_.tube * joint.window;
    const bool forearm = character.bodies[static_cast<size_t>(joint.child)].part == character::Part::kLowerArm;
    for (int a = 0; a < 3; ++a) {
      if (forearm && width[a] == 0 && joint.UsesAxis(a)) width[a] = options_.tube * kForearmWidth;
    }
    widths_.push_back(width);
  }
  const RelaxedKey& from = keys_[leg_.from];
  const RelaxedKey& to = keys_[leg_.to];
  const Drive drive{to.targets, StepsBetween(from.targets, to.targets)};
  character::State end;
  if (!simulator_.Run(from.settled, from.targets, drive, 0, end, [](const auto&, const auto&) { return true; })) return;
  for (size_t j = 0; j < character.joints.size(); ++j) {
    const Quat there = character::JointRotation(character.joints[j], to.settled);
    const Quat here = character::JointRotation(character.joints[j], end);
    if (AngleBetween(there, here) <= kReachedAngle) widths_[j].setZero();
  }
}

int PathPlanner::StepsBetween(const control::TargetPose& a, const control::TargetPose& b) const {
  return simulator_.StepsOf(std::max(options_.shortest, options_.pace * LargestAngle(a, b)));
}

bool PathPlanner::Reaches(const character::State& state) const {
  const RelaxedKey& goal = keys_[leg_.to];
  return support_.PoseDistance(state, goal.settled) <= options_.reach &&
         JointRate(*problem_.character, state) <= options_.reach_rate &&
         judge_.RootOffset(state, {leg_.to, leg_.to}) <= options_.drift;
}

std::optional<Path> PathPlanner::GrowTree(uint32_t stream) {
  const RelaxedKey& from = keys_[leg_.from];
  const RelaxedKey& to = keys_[leg_.to];
  nodes_.clear();
  nodes_.push_back({from.settled, from.targets, RotationsOf(*problem_.character, from.settled)});
  for (int extension = 0; extension < options_.nodes; ++extension) {
    RandomStream random(options_.seed, RandomStage::kIdlingPaths, stream, static_cast<uint32_t>(extension));
    const bool towards_goal = random.Uniform() < options_.goal_bias;
    int node = towards_goal ? NearestToGoal() : -1;
    int added = -1;
    if (node >= 0) {
      added = Extend(static_cast<size_t>(node), to.targets);
      if (added < 0) nodes_[static_cast<size_t>(node)].tried_goal = true;
    } else {
      const control::TargetPose sample =
          Perturbed(Between(from.targets, to.targets, random.Uniform()), widths_, random);
      added = Extend(NearestTo(sample), sample);
    }
    if (added < 0) continue;
    const Node& end = nodes_[static_cast<size_t>(added)];
    if (!Reaches(end.state)) continue;
    // The path ends with the key's own targets.
    if (LargestAngle(end.targets, to.targets) > 0) {
      added = Extend(static_cast<size_t>(added), to.targets);
      ++extension;
      if (added < 0 || LargestAngle(nodes_[static_cast<size_t>(added)].targets, to.targets) > 0 ||
          !Reaches(nodes_[static_cast<size_t>(added)].state)) {
        continue;
      }
    }
    Path path = PathTo(static_cast<size_t>(added));
    path.nodes = extension + 1;
    path.distance = support_.PoseDistance(nodes_[static_cast<size_t>(added)].state, to.settled);
    return path;
  }
  return std::nullopt;
}

size_t PathPlanner::NearestTo(const control::TargetPose& targets) const {
  size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const double angle = RmsAngle(nodes_[n].reached, targets);
    if (angle < least) {
      least = angle;
      nearest = n;
    }
  }
  return nearest;
}

int PathPlanner::NearestToGoal() const {
  int nearest = -1;
  double least = std::numeric_limits<double>::infinity();
  for (size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].tried_goal) continue;
    const double distance = support_.PoseDistance(nodes_[n].state, keys_[leg_.to].settled);
    if (distance < least) {
      least = distance;
      nearest = static_cast<int>(n);
    }
  }
  return nearest;
}

int PathPlanner::Extend(size_t n, const control::TargetPose& targets) {
  const double time = options_.pace * LargestAngle(nodes_[n].targets, targets);
  const bool whole = time <= options_.longest;
  const Drive drive{whole ? targets : Between(nodes_[n].targets, targets, options_.longest / time),
                    simulator_.StepsOf(std::clamp(time, options_.shortest, options_.longest))};
  Node node;
  judge_.Begin();
  if (!simulator_.Run(nodes_[n].state, nodes_[n].targets, drive, 0, node.state,
                      [&](const character::State& state, std::span<const simulation::Contact> contacts) {
                        return judge_.IsValid(state, contacts, leg_);
                      })) {
    return -1;
  }
  node.targets = drive.target;
  node.reached = RotationsOf(*problem_.character, node.state);
  node.parent = static_cast<int>(n);
  node.num_steps = drive.num_steps;
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

Path PathPlanner::PathTo(size_t end) const {
  Path path;
  path.from = leg_.from;
  path.to = leg_.to;
  for (int n = static_cast<int>(end); nodes_[static_cast<size_t>(n)].parent >= 0;) {
    const Node& node = nodes_[static_cast<size_t>(n)];
    path.drives.push_back({node.targets, node.num_steps});
    n = node.parent;
  }
  std::reverse(path.drives.begin(), path.drives.end());
  return path;
}

bool PathPlanner::Reaches(Path& path) {
  const RelaxedKey& from = keys_[leg_.from];
  character::State state = from.settled;
  const control::TargetPose* targets = &from.targets;
  judge_.Begin();
  int step = 0;
  for (const Drive& drive : path.drives) {
    if (!simulator_.Run(state, *targets, drive, step, state,
                        [&](const character::State& now, std::span<const simulation::Contact> contacts) {
                          return judge_.IsValid(now, contacts, leg_);
                        })) {
      return false;
    }
    step += drive.num_steps;
    targets = &drive.target;
  }
  path.distance = support_.PoseDistance(state, keys_[leg_.to].settled);
  return Reaches(state);
}

bool PathPlanner::IsDistinct(const Path& path, std::span<const Path> others) const {
  const control::TargetPose& start = keys_[leg_.from].targets;
  return std::all_of(others.begin(), others.end(), [&](const Path& other) {
    return AngleBetweenPaths(start, path.drives, other.drives) > options_.distinct;
  });
}

bool PathPlanner::Accept(Path& path, std::span<const Path> others) {
  return IsDistinct(path, others) && Reaches(path);
}

/// Leaves drives out, one after the other, where the key is still reached.
void PathPlanner::Simplify(Path& path, std::span<const Path> others) {
  const control::TargetPose& start = keys_[leg_.from].targets;
  for (size_t d = 0; d + 1 < path.drives.size();) {
    Path shorter = path;
    shorter.drives.erase(shorter.drives.begin() + static_cast<std::ptrdiff_t>(d));
    Drive& next = shorter.drives[d];
    next.num_steps = StepsBetween(d == 0 ? start : shorter.drives[d - 1].target, next.target);
    if (Accept(shorter, others)) {
      path = std::move(shorter);
      ++path.removed;
    } else {
      ++d;
    }
  }
}

/// Moves all targets between towards the middle of their neighbors, where the key is still reached.
void PathPlanner::Smooth(Path& path, std::span<const Path> others) {
  const control::TargetPose& start = keys_[leg_.from].targets;
  for (int pass = 0; pass < options_.smoothing_passes; ++pass) {
    Path smoother = path;
    for (size_t d = 0; d + 1 < path.drives.size(); ++d) {
      const control::TargetPose& before = d == 0 ? start : path.drives[d - 1].target;
      const control::TargetPose middle = Between(before, path.drives[d + 1].target, 0.5);
      smoother.drives[d].target = Between(path.drives[d].target, middle, 0.5);
    }
    if (path.drives.size() < 2 || !Accept(smoother, others)) return;
    path = std::move(smoother);
    ++path.smoothed;
  }
}

}  // namespace retrace::idling
