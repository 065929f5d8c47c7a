/// What kind of motion a reference is, and the presets that go with it. One rule for all clips.
#pragma once

#include <string>

#include "retrace/character/reference_motion.h"
#include "retrace/io/json.h"
#include "retrace/simulation/environment.h"
#include "retrace/task/cost.h"

namespace retrace::task {

enum class MotionKind {
  kLocomotion,  ///< on the feet throughout: walk, squat, kick
  kFlight,      ///< on the feet and in the air: run, jump
  kHands,       ///< on hands and feet: cartwheel, crawl
  kGetUp,       ///< from the ground to the feet
  kRoll,        ///< the trunk on the ground: rolls
};

/// What was measured in the reference to decide the kind.
struct MotionKindReport {
  MotionKind kind = MotionKind::kLocomotion;
  double trunk_on_ground = 0;  ///< share of the time with pelvis, trunk, head, thighs or upper arms at the floor
  double hands_on_ground = 0;  ///< share of the time with a hand or forearm at the floor
  double in_flight = 0;        ///< share of the time with nothing near the floor
  double rise = 0;             ///< of the root from its lowest to the end, as a share of its standing height

  io::Json ToJson() const;
};

std::string Name(MotionKind kind);

/// @param ground that the motion stands on; null: the floor. A body that sits on it does not have its trunk on the
/// ground.
MotionKindReport ClassifyMotion(const character::ReferenceMotion& reference,
                                const simulation::Environment* ground = nullptr);

/// Weights of Liu et al. 2010, tables 4 and 5, for the kind.
CostWeights PresetWeights(MotionKind kind);

/// Name of the contact preset in the character's file for the kind (Liu et al. 2010, section 4: walks use ankle scale
/// 1, runs 5, get-ups strong arms, rolls none).
std::string PresetContacts(MotionKind kind);

}  // namespace retrace::task
