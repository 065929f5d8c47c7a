/// Paths between relaxed keys: a rapidly exploring random tree of simulated motions. Internal to the module.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "retrace/methods/idling/judge.h"
#include "simulator.h"

namespace retrace::idling {

class PathPlanner {
 public:
  /// Everything must outlive it.
  PathPlanner(const Problem& problem, const Support& support, const std::vector<RelaxedKey>& keys,
              Simulator& simulator);

  /// Paths that reach the key `leg.to` from `leg.from` and differ from one another, at most as many as wanted.
  /// Gives up when it is asked to stop.
  std::vector<Path> FindPaths(Leg leg, const std::function<bool()>& stop);

 private:
  struct Node {
    character::State state;
    control::TargetPose targets;  // that the servos drive at there
    control::TargetPose reached;  // (joints) rotations
    int parent = -1;
    int num_steps = 0;  // of the drive that led to it
    bool tried_goal = false;
  };

  std::optional<Path> GrowTree(uint32_t stream);
  /// Simulates towards targets, no longer than an extension lasts; returns the new node, or -1.
  int Extend(size_t node, const control::TargetPose& targets);
  size_t NearestTo(const control::TargetPose& targets) const;
  int NearestToGoal() const;
  bool Reaches(const character::State& state) const;
  Path PathTo(size_t end) const;
  /// Simulates a path; whether it stays valid and reaches the key, and how far from it it ends.
  bool Reaches(Path& path);
  bool IsDistinct(const Path& path, std::span<const Path> others) const;
  bool Accept(Path& path, std::span<const Path> others);
  void Simplify(Path& path, std::span<const Path> others);
  void Smooth(Path& path, std::span<const Path> others);
  int StepsBetween(const control::TargetPose& a, const control::TargetPose& b) const;
  void FindWidths();

  const Problem& problem_;
  const Options& options_;
  const Support& support_;
  const std::vector<RelaxedKey>& keys_;
  Simulator& simulator_;
  Judge judge_;
  Leg leg_;
  std::vector<Vec3> widths_;  // (joints) of the tube; 0 for those that servos bring to the goal by themselves
  std::vector<Node> nodes_;
};

}  // namespace retrace::idling
