#include "retrace/metrics/motion_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "ball_of_foot.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/math/filter.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/floor_contacts.h"
#include "retrace/metrics/surface.h"
#include "retrace/metrics/trajectory_states.h"

namespace retrace::metrics {
namespace {

using character::BodyState;
using character::Character;
using character::ReferenceMotion;
using character::State;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kSegment = 1;            // of segment_drift [s]
constexpr double kSkateHeight = 0.05;     // [m]
constexpr double kSkateSpeed = 0.5;       // [m/s]
constexpr int kSkateWindow = 5;           // intervals of the mean speed
constexpr double kLabelTolerance = 0.05;  // of contact labels [s]

/// Both motions at a constant rate, the first states at time 0, as long as the shorter one.
struct Sampled {
  std::vector<State> simulated;
  std::vector<State> reference;
};

Sampled Sample(const Character& character, const control::Trajectory& trajectory, const ReferenceMotion& reference,
               double rate) {
  const double duration =
      std::min(static_cast<double>(trajectory.num_steps()) * trajectory.time_step, reference.duration());
  const auto count = static_cast<size_t>(std::floor(duration * rate + 1e-6)) + 1;
  Sampled sampled{std::vector<State>(count), std::vector<State>(count)};
  character::Pose pose;
  for (size_t k = 0; k < count; ++k) {
    const double time = static_cast<double>(k) / rate;
    StateAt(trajectory, time, sampled.simulated[k]);
    reference.PoseAt(time, pose);
    character::ForwardKinematics(character, pose, sampled.reference[k]);
  }
  return sampled;
}

/// The turn about the vertical and the horizontal shift that bring a reference's root over a simulated one.
struct Alignment {
  Quat turn;
  Vec3 from;  // root of the reference
  Vec3 to;    // its position: the simulated root, at the reference's height

  Alignment(const BodyState& simulated, const BodyState& reference)
      : turn(Heading(simulated.orientation * reference.orientation.conjugate())),
        from(reference.position),
        to(simulated.position.x(), reference.position.y(), simulated.position.z()) {}
  Vec3 operator()(const Vec3& point) const { return to + turn * (point - from); }
};

/// Mean over joints of the distance between p and f(q).
template <typename Function>
double MeanDistance(const std::vector<Vec3>& p, const std::vector<Vec3>& q, const Function& f) {
  double sum = 0;
  for (size_t j = 0; j < p.size(); ++j) sum += (p[j] - f(q[j])).norm();
  return sum / static_cast<double>(p.size());
}

void JointPositions(const Character& character, const State& state, std::vector<Vec3>& positions) {
  positions.clear();
  for (const auto& joint : character.joints) positions.push_back(character::JointPosition(character, joint, state));
}

double SkateRatio(const Character& character, const std::vector<State>& states, const Surface& surface) {
  if (states.size() < 2 || surface.moves()) return kNotANumber;
  const size_t intervals = states.size() - 1;
  std::vector<bool> slides(intervals, false);
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Body& body = character.bodies[b];
    if (body.part != character::Part::kFoot || body.shapes.empty()) continue;
    const Vec3 ball = BallOfFoot(body);
    std::vector<Vec3> path;
    for (const State& state : states) path.emplace_back(state[b].position + state[b].orientation * ball);
    std::vector<double> heights;
    for (const Vec3& at : path) heights.push_back(surface.HeightOf(at));
    std::vector<double> speeds(intervals);
    for (size_t k = 0; k < intervals; ++k) {
      const Vec3 step = path[k + 1] - path[k];
      speeds[k] = std::hypot(step.x(), step.z()) * kSkateRate;
    }
    for (size_t k = 0; k < intervals; ++k) {
      if (speeds[k] <= kSkateSpeed || heights[k] >= kSkateHeight || heights[k + 1] >= kSkateHeight) continue;
      // At the ends of the motion the mean is over the intervals that there are.
      const size_t first = k < kSkateWindow / 2 ? 0 : k - kSkateWindow / 2;
      const size_t last = std::min(intervals - 1, k + kSkateWindow / 2);
      const double sum = std::accumulate(speeds.begin() + static_cast<std::ptrdiff_t>(first),
                                         speeds.begin() + static_cast<std::ptrdiff_t>(last) + 1, 0.0);
      if (sum / static_cast<double>(last - first + 1) > kSkateSpeed) slides[k] = true;
    }
  }
  return static_cast<double>(std::count(slides.begin(), slides.end(), true)) / static_cast<double>(intervals);
}

/// Mean over time of the sum over joints of the size of the third derivative [rad/s^3].
double MeanJerk(const Character& character, const std::vector<State>& states, double rate) {
  if (states.size() < 4) return kNotANumber;
  double sum = 0;
  for (const auto& joint : character.joints) {
    std::vector<Vec3> velocity;
    for (size_t k = 0; k + 1 < states.size(); ++k) {
      const Quat turn =
          character::JointRotation(joint, states[k + 1]) * character::JointRotation(joint, states[k]).conjugate();
      velocity.push_back(RotationVector(turn) * rate);
    }
    for (size_t k = 1; k + 1 < velocity.size(); ++k) {
      sum += (velocity[k + 1] - 2 * velocity[k] + velocity[k - 1]).norm() * rate * rate;
    }
  }
  return sum / static_cast<double>(states.size() - 3);
}

/// Mean squared distance from the mean.
double Variance(const std::vector<Vec3>& values) {
  const double n = static_cast<double>(values.size());
  Vec3 mean = Vec3::Zero();
  for (const Vec3& value : values) mean += value / n;
  double sum = 0;
  for (const Vec3& value : values) sum += (value - mean).squaredNorm() / n;
  return sum;
}

/// A ratio whose lower part may be nothing but rounding.
double Ratio(double a, double b, double smallest) {
  return b > smallest ? a / b : kNotANumber;
}

double NoiseToSignal(const Character& character, const Sampled& sampled) {
  double noise = 0;
  double signal = 0;
  for (const auto& joint : character.joints) {
    std::vector<Vec3> differences;
    std::vector<Vec3> rotations;
    for (size_t k = 0; k < sampled.reference.size(); ++k) {
      const Quat target = character::JointRotation(joint, sampled.reference[k]);
      differences.push_back(RotationVector(target.conjugate() * character::JointRotation(joint, sampled.simulated[k])));
      rotations.push_back(RotationVector(target));
    }
    noise += Variance(differences);
    signal += Variance(rotations);
  }
  return 100 * Ratio(noise, signal, 1e-12);
}

class PenetrationMeter {
 public:
  explicit PenetrationMeter(const Surface& surface) : surface_(surface) {}
  void Update(const Character& character, const State& state) {
    double depth = 0;
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      depth = std::max(depth, surface_.DepthOf(character.bodies[b], state[b]));
    }
    sum_ += depth;
    visible_ += depth > kVisiblePenetration;
    largest_ = std::max(largest_, depth);
    states_ += 1;
  }
  Penetration Result() const {
    if (surface_.moves()) return {kNotANumber, kNotANumber, kNotANumber};
    return {sum_ / states_, visible_ / states_, largest_};
  }

 private:
  const Surface& surface_;
  double sum_ = 0, visible_ = 0, largest_ = 0, states_ = 0;
};

double ContactAgreement(const Character& character, const control::Trajectory& trajectory,
                        const ReferenceMotion& reference, const Surface& surface) {
  if (surface.moves()) return kNotANumber;
  const auto height_of = [&](const auto& body, const auto& state) { return surface.HeightOf(body, state); };
  const std::vector<State> states = reference.StatesOfPoses();
  // How many labels of `ours` have one of `theirs` within the tolerance.
  const auto agreeing = [](const std::vector<bool>& ours, const std::vector<bool>& theirs, std::ptrdiff_t tolerance) {
    double count = 0;
    const auto n = static_cast<std::ptrdiff_t>(ours.size());
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      if (!ours[static_cast<size_t>(i)]) continue;
      const auto first = theirs.begin() + std::max<std::ptrdiff_t>(0, i - tolerance);
      const auto last = theirs.begin() + std::min(n, i + tolerance + 1);
      count += std::find(first, last, true) != last;
    }
    return count;
  };
  const auto tolerance = static_cast<std::ptrdiff_t>(std::lround(kLabelTolerance / trajectory.time_step));
  double simulated_labels = 0, reference_labels = 0, simulated_right = 0, reference_right = 0;
  for (const int effector : character.end_effectors) {
    const std::vector<bool> touches = Touches(reference, states, effector, height_of);
    std::vector<bool> simulated(trajectory.num_steps(), false);
    std::vector<bool> recorded(trajectory.num_steps(), false);
    for (size_t i = 0; i < trajectory.num_steps(); ++i) {
      simulated[i] = std::any_of(trajectory.contacts[i].begin(), trajectory.contacts[i].end(),
                                 [&](const auto& contact) { return contact.body == effector && contact.other < 0; });
      const double time = static_cast<double>(i + 1) * trajectory.time_step;
      const auto frame = static_cast<size_t>(std::lround(time / reference.frame_time()));
      recorded[i] = touches[std::min(frame, touches.size() - 1)];
    }
    simulated_labels += static_cast<double>(std::count(simulated.begin(), simulated.end(), true));
    reference_labels += static_cast<double>(std::count(recorded.begin(), recorded.end(), true));
    simulated_right += agreeing(simulated, recorded, tolerance);
    reference_right += agreeing(recorded, simulated, tolerance);
  }
  if (simulated_labels + reference_labels == 0) return kNotANumber;
  if (simulated_right == 0 || reference_right == 0) return 0;
  const double precision = simulated_right / simulated_labels;
  const double recall = reference_right / reference_labels;
  return 2 * precision * recall / (precision + recall);
}

void MeasureTorques(const Character& character, const control::Trajectory& trajectory, MotionMetrics& metrics) {
  metrics.torque_rms.assign(character.joints.size(), 0);
  if (trajectory.torques.empty()) return;
  for (const auto& torques : trajectory.torques) {
    for (size_t j = 0; j < torques.size(); ++j) {
      metrics.torque_rms[j] += torques[j].squaredNorm();
      metrics.torque_peak = std::max(metrics.torque_peak, torques[j].norm());
    }
  }
  for (double& rms : metrics.torque_rms) rms = std::sqrt(rms / static_cast<double>(trajectory.torques.size()));
}

/// Everything that is a mean or a maximum over all simulated states.
void MeasureStates(const Character& character, const control::Trajectory& trajectory, const ReferenceMotion& reference,
                   const Surface& surface, MotionMetrics& metrics) {
  const size_t root = static_cast<size_t>(character.root);
  const int trunk_body = character::BodyOfSegment(character, "trunk");
  const size_t trunk = trunk_body < 0 ? root : static_cast<size_t>(trunk_body);
  const size_t count = trajectory.states.size();
  const double share = 1 / static_cast<double>(count);
  PenetrationMeter simulated_meter(surface);
  PenetrationMeter reference_meter(surface);
  std::optional<Alignment> segment;
  int segment_number = -1;
  int quarters = 0;
  std::vector<Vec3> p;
  std::vector<Vec3> q;
  State target;
  character::Pose pose;
  for (size_t i = 0; i < count; ++i) {
    const double time = static_cast<double>(i) * trajectory.time_step;
    const State& state = trajectory.states[i];
    reference.PoseAt(time, pose);
    character::ForwardKinematics(character, pose, target);
    JointPositions(character, state, p);
    JointPositions(character, target, q);
    const Alignment aligned(state[root], target[root]);
    if (const int number = static_cast<int>((time + 0.5 * trajectory.time_step) / kSegment); number > segment_number) {
      segment_number = number;
      segment.emplace(aligned);
    }
    const Vec3 shift = state[root].position - target[root].position;
    metrics.joint_error += share * JointPositionError(character, state, target);
    const double apart = MeanDistance(p, q, [](const Vec3& x) { return x; });
    metrics.world_error += share * apart;
    metrics.largest_world_error = std::max(metrics.largest_world_error, apart);
    metrics.local_error += share * MeanDistance(p, q, [&](const Vec3& x) -> Vec3 { return x + shift; });
    metrics.aligned_error += share * MeanDistance(p, q, aligned);
    metrics.segment_drift += share * MeanDistance(p, q, *segment);
    metrics.root_angle_error += share * AngleBetween(state[root].orientation, target[root].orientation);
    metrics.drift = std::hypot(shift.x(), shift.z());
    for (size_t b = 0; b < target.size(); ++b) {
      const double distance = (state[b].position - aligned(target[b].position)).norm();
      metrics.largest_body_error = std::max(metrics.largest_body_error, distance);
    }
    const Vec3 com_error =
        character::CenterOfMass(character, state) - aligned(character::CenterOfMass(character, target));
    metrics.com_height_error = std::max(metrics.com_height_error, std::abs(com_error.y()));
    metrics.com_facing_error = std::max(metrics.com_facing_error, std::hypot(com_error.x(), com_error.z()));
    // The end of the schedule may fall short of the reference's by a step.
    while (quarters < 4 && time >= 0.25 * (quarters + 1) * reference.duration() - 1.01 * trajectory.time_step) {
      ++quarters;
      metrics.quarter_trunk_error =
          std::max(metrics.quarter_trunk_error,
                   AngleBetween(state[trunk].orientation, aligned.turn * target[trunk].orientation));
    }
    simulated_meter.Update(character, state);
    reference_meter.Update(character, target);
  }
  metrics.penetration = simulated_meter.Result();
  metrics.reference_penetration = reference_meter.Result();
}

void MeasureDerivatives(const Character& character, const Sampled& sampled, MotionMetrics& metrics) {
  const size_t count = sampled.simulated.size();
  std::vector<std::vector<Vec3>> errors(count);  // (frames x joints) simulated - reference
  std::vector<Vec3> q;
  for (size_t k = 0; k < count; ++k) {
    JointPositions(character, sampled.simulated[k], errors[k]);
    JointPositions(character, sampled.reference[k], q);
    for (size_t j = 0; j < q.size(); ++j) errors[k][j] -= q[j];
  }
  double velocity = 0;
  double acceleration = 0;
  const size_t joints = character.joints.size();
  for (size_t k = 1; k < count; ++k) {
    for (size_t j = 0; j < joints; ++j) {
      velocity += (errors[k][j] - errors[k - 1][j]).norm();
      if (k >= 2) acceleration += (errors[k][j] - 2 * errors[k - 1][j] + errors[k - 2][j]).norm();
    }
  }
  const double n = static_cast<double>(joints);
  metrics.velocity_error = count < 2 ? kNotANumber : velocity / (n * static_cast<double>(count - 1));
  metrics.acceleration_error = count < 3 ? kNotANumber : acceleration / (n * static_cast<double>(count - 2));
}

void MeasureForces(const Character& character, const control::Trajectory& trajectory, const ReferenceMotion& reference,
                   double gravity, MotionMetrics& metrics) {
  metrics.force_error = metrics.force_peak = kNotANumber;
  const double weight = character.total_mass() * gravity;
  const double interval = 1 / kJerkRate;
  const auto steps = static_cast<Eigen::Index>(trajectory.contacts.size());
  const double duration = static_cast<double>(steps) * trajectory.time_step;
  if (duration < 4 * interval || !(weight > 0)) return;
  Eigen::MatrixXd forces = Eigen::MatrixXd::Zero(steps, 2);  // simulated, required
  State state;
  const auto height = [&](double time) {
    reference.StateAt(std::clamp(time, 0.0, reference.duration()), state);
    return character::CenterOfMass(character, state).y();
  };
  for (Eigen::Index i = 0; i < steps; ++i) {
    for (const simulation::Contact& contact : trajectory.contacts[static_cast<size_t>(i)]) {
      const bool on_character = contact.body >= 0 && contact.body < static_cast<int>(character.bodies.size());
      if (on_character && contact.other < 0) forces(i, 0) += contact.force.y();
    }
    // The reference has no acceleration at its very ends.
    const double time = std::clamp((static_cast<double>(i) + 0.5) * trajectory.time_step, interval,
                                   std::max(interval, reference.duration() - interval));
    const double change = height(time + interval) - 2 * height(time) + height(time - interval);
    forces(i, 1) = weight * (1 + change / (interval * interval * gravity));
  }
  metrics.force_peak = forces.col(0).maxCoeff() / weight;
  const double sigma = std::sqrt(std::log(2.0)) / (2 * kPi * kForceCutoff) / trajectory.time_step;
  forces = GaussianSmooth(forces, sigma);
  const auto left_out = static_cast<Eigen::Index>(3 * sigma) + 1;  // at each end, where the filter lacks values
  const Eigen::VectorXd errors = (forces.col(0) - forces.col(1)).segment(left_out, steps - 2 * left_out);
  metrics.force_error = errors.norm() / (std::sqrt(static_cast<double>(errors.size())) * weight);
}

io::Json ToJson(const Penetration& penetration) {
  return {{"mean", penetration.mean}, {"share", penetration.share}, {"largest", penetration.largest}};
}

/// The joints whose torques are limited, each with its limits per axis [N m]; null where there are none.
io::Json TorqueLimits(const Character& character) {
  io::Json limits;
  for (const character::Joint& joint : character.joints) {
    if (joint.limited()) limits[joint.name] = io::ToJson(joint.effort);
  }
  return limits;
}

}  // namespace

io::Json MotionMetrics::ToJson(const Character& character) const {
  io::Json json = {{"joint_error", joint_error},
                   {"world_error", world_error},
                   {"largest_world_error", largest_world_error},
                   {"local_error", local_error},
                   {"aligned_error", aligned_error},
                   {"largest_body_error", largest_body_error},
                   {"segment_drift", segment_drift},
                   {"drift", drift},
                   {"velocity_error", velocity_error},
                   {"acceleration_error", acceleration_error},
                   {"root_angle_error_degrees", Degrees(root_angle_error)},
                   {"jerk_ratio", jerk_ratio},
                   {"jerk_ratio_30", jerk_ratio_30},
                   {"noise_to_signal", noise_to_signal},
                   {"skate_ratio", skate_ratio},
                   {"reference_skate_ratio", reference_skate_ratio},
                   {"penetration", metrics::ToJson(penetration)},
                   {"reference_penetration", metrics::ToJson(reference_penetration)},
                   {"torque_peak", torque_peak},
                   {"torque_limits", TorqueLimits(character)},
                   {"force_error", force_error},
                   {"force_peak", force_peak},
                   {"contact_agreement", contact_agreement},
                   {"com_height_error", com_height_error},
                   {"com_facing_error", com_facing_error},
                   {"quarter_trunk_error_degrees", Degrees(quarter_trunk_error)}};
  for (size_t j = 0; j < torque_rms.size(); ++j) json["torque_rms"][character.joints[j].name] = torque_rms[j];
  return json;
}

MotionMetrics MeasureMotion(const Character& character, const control::Trajectory& trajectory,
                            const ReferenceMotion& reference, const simulation::Environment& world, double gravity) {
  MotionMetrics metrics;
  const Surface surface(world);
  MeasureStates(character, trajectory, reference, surface, metrics);
  const auto jerk_ratio = [&](const Sampled& sampled, double rate) {
    return Ratio(MeanJerk(character, sampled.simulated, rate), MeanJerk(character, sampled.reference, rate), 1e-3);
  };
  const Sampled common = Sample(character, trajectory, reference, kPositionRate);
  MeasureDerivatives(character, common, metrics);
  metrics.jerk_ratio_30 = jerk_ratio(common, kPositionRate);
  const Sampled fine = Sample(character, trajectory, reference, kJerkRate);
  metrics.jerk_ratio = jerk_ratio(fine, kJerkRate);
  metrics.noise_to_signal = NoiseToSignal(character, fine);
  const Sampled coarse = Sample(character, trajectory, reference, kSkateRate);
  metrics.skate_ratio = SkateRatio(character, coarse.simulated, surface);
  metrics.reference_skate_ratio = SkateRatio(character, coarse.reference, surface);
  MeasureTorques(character, trajectory, metrics);
  MeasureForces(character, trajectory, reference, gravity, metrics);
  metrics.contact_agreement = ContactAgreement(character, trajectory, reference, surface);
  return metrics;
}

SuccessLevels JudgeLevels(const Evaluation& evaluation, const MotionMetrics& m, MotionClass motion_class,
                          double body_height, const LevelLimits& limits) {
  const double com_height =
      motion_class == MotionClass::kOnFeet ? limits.com_height_on_feet : limits.com_height_on_ground;
  SuccessLevels levels;
  levels.loose = evaluation.completed && m.com_height_error < com_height * body_height &&
                 m.com_facing_error < limits.com_facing * body_height && m.quarter_trunk_error < limits.quarter_trunk;
  levels.main = evaluation.success();
  const double skating = m.skate_ratio - m.reference_skate_ratio;  // not a number: nothing to compare
  levels.world = evaluation.near_in_world();
  levels.strict = levels.main && m.largest_body_error <= limits.body_position * (body_height / kHumanHeight) &&
                  !(skating > limits.skate_over_reference) && !(m.penetration.share >= limits.penetration_share) &&
                  !(m.penetration.largest >= limits.penetration_depth);
  return levels;
}

}  // namespace retrace::metrics
