#include "retrace/motion_editing/foot_contact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "filters.h"
#include "retrace/character/corners.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/legs.h"
#include "retrace/io/number.h"
#include "retrace/math/smooth_step.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/metrics/surface.h"

namespace retrace::task {
namespace {

constexpr double kLoaded = 0.1;              // share of the weight from which on the height of a foot counts fully
constexpr double kSmooth = 0.03;             // standard deviation of the filter over shifts [s]
constexpr double kLeastWeight = 1e-3;        // of the mean, where a foot is in the air
constexpr double kClearanceOfSwing = 0.015;  // of a foot that swings [m]
constexpr double kAwayFromFloor = 0.1;  // time after lifting off, and before coming down, that it may take for it [s]
constexpr double kAroundRaise = 0.02;   // reach of the largest raise around an instant [s]
constexpr double kNegligible = 0.005;   // share of the weight under which a foot is in the air

/// Heights of a body's corners over the ground [m].
std::vector<double> HeightsOf(const character::Body& body, const character::BodyState& state,
                              const metrics::Surface& ground) {
  std::vector<double> heights;
  for (const character::Shape& shape : body.shapes) {
    for (const Vec3& corner : character::CornersOf(shape)) {
      heights.push_back(ground.HeightOf(Vec3(state.position + state.orientation * corner)));
    }
  }
  return heights;
}

/// By how much a body must be moved upwards so that springs under its corners carry a load [m].
double ShiftFor(std::vector<double> heights, double load, double stiffness) {
  std::sort(heights.begin(), heights.end());
  // With the n lowest corners in the floor, stiffness (n (-shift) - sum of heights) = load.
  double sum = 0, shift = 0;
  for (size_t n = 1; n <= heights.size(); ++n) {
    sum += heights[n - 1];
    shift = -(load / stiffness + sum) / static_cast<double>(n);
    if (n == heights.size() || heights[n] + shift >= 0) break;
  }
  return shift;
}

/// What becomes of a foot (poses).
struct SeatedFoot {
  std::vector<double> shifts;   ///< upwards, times the weight [m]
  std::vector<double> weights;  ///< from 0, in the air, to 1, loaded
};

/// Time from each pose to the nearest one with a load [s].
std::vector<double> TimesFromLoad(const std::vector<double>& weights, double frame_time) {
  std::vector<double> times(weights.size(), std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < times.size(); ++i) {
    if (weights[i] > 0) times[i] = 0;
    if (i > 0) times[i] = std::min(times[i], times[i - 1] + frame_time);
  }
  for (size_t i = times.size() - 1; i-- > 0;) times[i] = std::min(times[i], times[i + 1] + frame_time);
  return times;
}

class FootSeater {
 public:
  FootSeater(const character::ReferenceMotion& reference, double stiffness, double gravity,
             const simulation::Environment& ground)
      : character_(reference.character()),
        ground_(ground),
        frame_time_(reference.frame_time()),
        stiffness_(stiffness),
        weight_(character_.total_mass() * kStandardGravity),
        legs_(character::LegsOf(character_)),
        states_(reference.StatesOfPoses()) {
    metrics::RequiredForcesOptions options;
    options.gravity = gravity;
    options.environment = ground;
    required_ = metrics::RequiredForcesOf(reference, options);
    result_.poses = reference.poses();
  }

  FootSeating Seat() {
    if (legs_.empty() || required_.empty()) return std::move(result_);
    for (character::Leg& leg : legs_) {
      leg.folding = character::FoldingOf(character_, leg, states_);
      feet_.push_back(FindShifts(leg));
    }
    if (!Lower()) return std::move(result_);
    for (size_t l = 0; l < legs_.size(); ++l) Bend(legs_[l], feet_[l]);
    std::string note = "for soft soles the motion is lowered by ";
    note.append(io::Fixed(result_.lowering, 3)).append(" m, and ankles are moved by ");
    note.append(io::Fixed(result_.largest_shift, 3)).append(" m in height at most besides");
    result_.notes.push_back(std::move(note));
    return std::move(result_);
  }

 private:
  int FootOf(const character::Leg& leg) const { return character_.joints[static_cast<size_t>(leg.ankle)].child; }

  double LoadOf(int foot, size_t pose) const {
    for (const metrics::SupportForce& support : required_[std::clamp<size_t>(pose, 1, required_.size()) - 1].support) {
      if (support.body == foot) return std::max(0.0, support.force.y());
    }
    return 0;
  }

  SeatedFoot FindShifts(const character::Leg& leg) const {
    const int foot = FootOf(leg);
    const auto body = static_cast<size_t>(foot);
    SeatedFoot seated{std::vector<double>(states_.size(), 0), std::vector<double>(states_.size(), 0)};
    for (size_t i = 0; i < states_.size(); ++i) {
      const double load = LoadOf(foot, i);
      if (load < kNegligible * weight_) continue;
      seated.weights[i] = std::min(1.0, load / (kLoaded * weight_));
      seated.shifts[i] =
          seated.weights[i] * ShiftFor(HeightsOf(character_.bodies[body], states_[i][body], ground_), load, stiffness_);
    }
    return seated;
  }

  /// Lowers the whole motion. Whether a foot ever stands.
  bool Lower() {
    double sum = 0, total = 0;
    for (const SeatedFoot& foot : feet_) {
      sum += std::accumulate(foot.shifts.begin(), foot.shifts.end(), 0.0);
      total += std::accumulate(foot.weights.begin(), foot.weights.end(), 0.0);
    }
    if (total == 0) return false;
    result_.lowering = -sum / total;
    for (size_t i = 0; i < states_.size(); ++i) {
      result_.poses[i].root_position.y() -= result_.lowering;
      character::Translate(states_[i], Vec3(0, -result_.lowering, 0));
    }
    return true;
  }

  /// Moves an ankle in height by what its foot needs besides.
  void Bend(const character::Leg& leg, const SeatedFoot& seated) {
    const auto foot = static_cast<size_t>(FootOf(leg));
    const double width = kSmooth / frame_time_;
    const std::vector<double> shifts = Smoothed(seated.shifts, width), weights = Smoothed(seated.weights, width);
    const std::vector<double> times = TimesFromLoad(seated.weights, frame_time_);
    std::vector<double> rests, raises;
    for (size_t i = 0; i < states_.size(); ++i) {
      const double mean = (shifts[i] - kLeastWeight * result_.lowering) / (weights[i] + kLeastWeight);
      rests.push_back(mean + result_.lowering);
      const double clearance = kClearanceOfSwing * SmoothStep(std::min(1.0, times[i] / kAwayFromFloor));
      const double height = ground_.HeightOf(character_.bodies[foot], states_[i][foot]) + rests[i];
      raises.push_back(times[i] > 0 ? std::max(0.0, clearance - height) : 0.0);
    }
    raises = LargestAround(raises, static_cast<int>(std::lround(kAroundRaise / frame_time_)));
    raises = Smoothed(raises, 0.5 * width);
    for (size_t i = 0; i < states_.size(); ++i) {
      const double rest = rests[i] + (times[i] > 0 ? raises[i] : 0.0);
      result_.largest_shift = std::max(result_.largest_shift, std::abs(rest));
      const character::Joint& joint = character_.joints[static_cast<size_t>(leg.ankle)];
      const Vec3 ankle = character::JointPosition(character_, joint, states_[i]) + Vec3(0, rest, 0);
      character::BendLeg(character_, leg, states_[i], {ankle, Quat::Identity()}, result_.poses[i]);
    }
  }

  const character::Character& character_;
  metrics::Surface ground_;
  double frame_time_;
  double stiffness_;
  double weight_;  // [N]
  std::vector<character::Leg> legs_;
  std::vector<character::State> states_;           // (poses)
  std::vector<metrics::RequiredForces> required_;  // (poses less two)
  std::vector<SeatedFoot> feet_;                   // (legs)
  FootSeating result_;
};

}  // namespace

io::Json FootSeating::ToJson() const {
  return {{"lowering", lowering}, {"largest_shift", largest_shift}, {"notes", notes}};
}

FootSeating SeatFeet(const character::ReferenceMotion& reference, double stiffness, double gravity,
                     const simulation::Environment& ground) {
  return FootSeater(reference, stiffness, gravity, ground).Seat();
}

}  // namespace retrace::task
