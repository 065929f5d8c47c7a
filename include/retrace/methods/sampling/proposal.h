/// Where the samples of a start state get their targets from. The worker that simulates a sample and the master that
/// keeps it draw from the same proposal, so that the targets of a sample need not be sent back.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/control/control.h"
#include "retrace/methods/sampling/problem.h"

namespace retrace::sampling {

/// Rotation that is put before the reference's target of each joint (joints).
using Offsets = std::vector<Quat>;

/// Offsets that leave the reference as it is.
Offsets NoOffsets(const Problem& problem);

/// Uniform in the character's sampling windows around a center (Liu et al. 2010, section 3.2.2). The undisplaced sample
/// drives the servos at the reference itself. The center is what that sample misses, as feedforward offsets (section
/// 3.2.3), or the reference when Options::feedforward is off.
struct UniformOffsets {};

/// Independent normal distributions of the components of each joint's rotation vector, in the parent's axes: fitted to
/// elite samples (the cross-entropy method). The undisplaced sample has the means.
struct NormalOffsets {
  std::vector<Vec3> mean;       ///< (joints) [rad]
  std::vector<Vec3> deviation;  ///< (joints) standard deviations [rad]
  /// (joints) rotations that the fragment should end with. Where they are given, the center is the means corrected by
  /// what the undisplaced sample misses of them (Options::correction); otherwise it is the means.
  std::optional<std::vector<Quat>> goal = {};
};

/// Around the offsets of a path that is refined (guidance.h). The undisplaced sample takes the whole step that a linear
/// quadratic model proposes, the next one a part of it, and the others random parts of it, with noise.
struct GuidedOffsets {
  Offsets path = {};                ///< (joints) of the path
  std::vector<Vec3> feedback = {};  ///< (joints) turns before them, for the start state's distance from the path [rad]
  std::vector<Vec3> correction = {};  ///< (joints) for the path's distance from the reference, at most [rad]
  double noise = 0;                   ///< standard deviation [rad]
};

using OffsetDistribution = std::variant<UniformOffsets, NormalOffsets, GuidedOffsets>;

/// All that the offsets of a start state's samples follow from, in one fragment.
struct Proposal {
  OffsetDistribution distribution = UniformOffsets{};
  int undisplaced = 0;  ///< number of the sample that has no random displacement: candidate 0 of the start state
  /// (joints) displacement of the start state, of which its samples keep a share [rad], see Options::correlation.
  std::optional<std::vector<Vec3>> kept = {};
  /// Offsets of the fragment before, from which the targets go over (Options::ramp). Without them, they jump.
  std::optional<Offsets> ramp_from = {};
  /// What samples are drawn around. It is absent until it has been found for the start state.
  std::optional<Offsets> center = {};

  bool fitted() const { return std::holds_alternative<NormalOffsets>(distribution); }
  const GuidedOffsets* guided() const { return std::get_if<GuidedOffsets>(&distribution); }

  /// Offsets of the undisplaced sample.
  Offsets Undisplaced(const Problem& problem) const;
  /// Whether the center depends on where the undisplaced sample ends. If not, or if that sample diverges, the center is
  /// the offsets of the undisplaced sample.
  bool CenterNeedsSimulation(const Options& options) const;
  /// The center that follows from the fragment of the undisplaced sample and from the state in which it ends.
  Offsets FindCenter(const Problem& problem, const control::Fragment& fragment, const character::State& end) const;

  /// Total offsets of a sample: those of the undisplaced one, or the center with a random displacement. A pure function
  /// of the proposal and of (seed, iteration, sample). Requires the center for a displaced sample.
  Offsets Draw(const Problem& problem, int iteration, int sample) const;
  /// (joints) displacement of a sample's offsets from the center [rad]. Requires the center.
  std::vector<Vec3> Displacement(const Offsets& offsets) const;
};

}  // namespace retrace::sampling
