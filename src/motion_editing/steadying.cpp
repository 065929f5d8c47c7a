#include "steadying.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "retrace/character/body_points.h"
#include "retrace/character/kinematics.h"
#include "retrace/motion_editing/missing.h"
#include "retrace/optimization/least_squares.h"
#include "retrace/retargeting/resampling.h"

namespace retrace::repair {
namespace {

using character::Pose;

// A motion trembles that misses so much moment, of which a short smoothing leaves a small part: what a body does in
// earnest, also where it is played too fast, is spread over longer times, and keeps half and more.
constexpr double kTrembleMoment = 0.15;    // by the weight [m]
constexpr double kLeftOfTremble = 0.2;     // share
constexpr double kShortestTremble = 0.03;  // deviations of the smoothing that are tried [s]
constexpr double kLongestTremble = 0.071;
constexpr double kTrembleStep = 0.01;

// Feet slide that carry a body which is on them for most of the time.
constexpr double kOnFoot = 0.8;             // share of the poses
constexpr double kCarries = 0.3;            // share of the weight
constexpr double kSlides = 0.3;             // in the median [m/s]
constexpr double kSlidesAndTrembles = 0.1;  // and where an estimate shows by its trembling [m/s]
constexpr double kDrifts = 0.06;            // of steps over or under the floor [m]
constexpr double kStepWithin = 0.2;         // the lowest points are those of twice such a time [s]
constexpr double kNearStep = 0.02;          // and what is no higher over them [m]
constexpr double kFalls = 0.5;              // share of gravity by which a body falls that does not drift

// Weights of the curve that holds feet.
constexpr double kBesideLowest = 0.05;  // a foot that is no higher over the lowest point carries [m]
constexpr double kHeldSpeed = 0.1;      // [m/s]
constexpr double kOutlier = 3;          // times that: feet that swing pull no harder
constexpr double kDriftSpeed = 1;       // [m/s]
constexpr double kDriftBend = 2.5;      // [m/s^2]
constexpr int kTrustRounds = 10;
constexpr double kFarthestHeld = 0.6;  // what would have to be shifted farther slides because it is meant to [m]

/// Velocity over the floor of the foot's points next to the floor.
Vec3 SoleVelocity(const character::Body& body, const Course& course, size_t i, size_t b) {
  const double lowest = character::LowestPoint(body, course.states[i][b]);
  const character::BodyState &before = course.states[i - 1][b], &after = course.states[i + 1][b],
                             &state = course.states[i][b];
  Vec3 sum = Vec3::Zero();
  double count = 0;
  character::ForEachPoint(body, state, [&](const Vec3& center, double radius) {
    if (center.y() - radius > lowest + 0.3 * kBesideLowest) return;
    const Vec3 in_body = state.orientation.conjugate() * (center - radius * Vec3::UnitY() - state.position);
    sum += after.position + after.orientation * in_body - before.position - before.orientation * in_body;
    count += 1;
  });
  return sum / (2 * course.frame_time * std::max(count, 1.0));
}

struct Step {
  Eigen::Index pose = 0;
  Vec3 velocity = Vec3::Zero();
};

/// Feet that may carry the body, with how they move.
std::vector<Step> StepsOf(const character::Character& character, const Course& course) {
  std::vector<Step> steps;
  for (size_t i = 1; i + 1 < course.size(); ++i) {
    if (!course.on_foot[i]) continue;
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      const character::Body& body = character.bodies[b];
      if (body.part != character::Part::kFoot || body.shapes.empty()) continue;
      if (character::LowestPoint(body, course.states[i][b]) > course.lowest[i] + kBesideLowest) continue;
      steps.push_back({static_cast<Eigen::Index>(i), SoleVelocity(body, course, i, b)});
    }
  }
  return steps;
}

/// The shift along an axis, smooth and as small as may be, with which feet stand (poses).
Eigen::VectorXd Holding(const std::vector<Step>& steps, Eigen::Index count, double frame_time, int axis) {
  const double root_time = std::sqrt(frame_time), h2 = frame_time * frame_time;
  std::vector<double> trust(steps.size(), 1);
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(count);
  for (int round = 0; round < kTrustRounds; ++round) {
    const auto hold = [&](const Eigen::VectorXd& x, optimization::Residuals& out) {
      for (size_t k = 0; k < steps.size(); ++k) {
        const Eigen::Index before = steps[k].pose - 1, after = steps[k].pose + 1;
        const double scale = root_time * trust[k] / kHeldSpeed, slope = scale / (2 * frame_time);
        out.Add(scale * steps[k].velocity[axis] + slope * (x[after] - x[before]), {{after, slope}, {before, -slope}});
      }
      for (Eigen::Index i = 0; i < count; ++i) {
        out.Add(root_time * x[i], {{i, root_time}});  // else nothing says where the whole is
        if (i > 0) {
          const double scale = root_time / (kDriftSpeed * frame_time);
          out.Add(scale * (x[i] - x[i - 1]), {{i, scale}, {i - 1, -scale}});
        }
        if (i == 0 || i + 1 == count) continue;
        const double scale = root_time / (kDriftBend * h2);
        out.Add(scale * (x[i - 1] - 2 * x[i] + x[i + 1]), {{i - 1, scale}, {i, -2 * scale}, {i + 1, scale}});
      }
    };
    shift = optimization::MinimizeSquares(hold, shift, {}).x;
    for (size_t k = 0; k < steps.size(); ++k) {
      const Eigen::Index i = steps[k].pose;
      const double speed = steps[k].velocity[axis] + (shift[i + 1] - shift[i - 1]) / (2 * frame_time);
      trust[k] = std::sqrt(1 / (1 + std::pow(speed / (kOutlier * kHeldSpeed), 2)));
    }
  }
  return shift;
}

/// Height at a pose of the straight line under all heights about it that is highest there: floors may climb.
double LineUnder(const std::vector<double>& heights, size_t i, size_t near) {
  double least = heights[i];
  for (size_t j = i > near ? i - near : 0; j < i; ++j) {
    for (size_t k = i + 1; k <= std::min(heights.size() - 1, i + near); ++k) {
      const double share = static_cast<double>(i - j) / static_cast<double>(k - j);
      least = std::min(least, (1 - share) * heights[j] + share * heights[k]);
    }
  }
  return least;
}

/// The shift upwards with which the steps of a body that does not fall are on the floor (poses).
std::vector<double> LevelSteps(const Course& course, double gravity) {
  const auto near = static_cast<size_t>(std::lround(kStepWithin / course.frame_time));
  std::vector<std::optional<double>> wanted(course.size());
  for (size_t i = 0; i < course.size(); ++i) {
    if (!course.on_foot[i] || course.acceleration(static_cast<Eigen::Index>(i), 1) < -kFalls * gravity) continue;
    if (course.lowest[i] < LineUnder(course.lowest, i, near) + kNearStep) wanted[i] = -course.lowest[i];
  }
  return LevelCurve(wanted, course.frame_time);
}

/// The median speed of what carries the body; 0 where that is not on its feet for most of the time [m/s].
double SlideOf(const Course& course, double gravity) {
  std::vector<double> speeds;
  for (size_t i = 1; i + 1 < course.size(); ++i) {
    const double force = course.acceleration(static_cast<Eigen::Index>(i), 1) / gravity + 1;
    if (course.on_foot[i] && force > kCarries) speeds.push_back(course.slide[i]);
  }
  if (static_cast<double>(speeds.size()) < kOnFoot * static_cast<double>(course.size())) return 0;
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  return *middle;
}

void Smooth(const character::ReferenceMotion& reference, double gravity, Steadying& steadying) {
  const double before = MissingOf(reference, gravity).moment;
  if (before < kTrembleMoment) return;
  for (double deviation = kShortestTremble; deviation < kLongestTremble; deviation += kTrembleStep) {
    std::vector<Pose> poses = character::SmoothPoses(reference.poses(), deviation / reference.frame_time());
    const double moment = MissingOf(reference.WithPoses(poses), gravity).moment;
    if (moment > kLeftOfTremble * before) continue;
    steadying.smoothing = deviation;
    steadying.moment_before = before;
    steadying.moment = moment;
    steadying.poses = std::move(poses);
    return;
  }
}

}  // namespace

Steadying Steady(const character::ReferenceMotion& reference, double gravity) {
  Steadying steadying;
  steadying.poses = reference.poses();
  if (gravity <= 0) return steadying;
  Smooth(reference, gravity, steadying);
  const character::Character& character = reference.character();
  const double h = reference.frame_time();
  const Course course = MeasureCourse(character, steadying.poses, h);
  const double slide = SlideOf(course, gravity);
  if (slide < (steadying.smoothing > 0 ? kSlidesAndTrembles : kSlides)) return steadying;
  const std::vector<Step> steps = StepsOf(character, course);
  const auto count = static_cast<Eigen::Index>(course.size());
  const Eigen::VectorXd across = Holding(steps, count, h, 2);
  const Eigen::VectorXd aside =
      character.planar ? Eigen::VectorXd(Eigen::VectorXd::Zero(count)) : Holding(steps, count, h, 0);
  if (std::max(across.cwiseAbs().maxCoeff(), aside.cwiseAbs().maxCoeff()) > kFarthestHeld) return steadying;
  steadying.slide = slide;
  std::vector<double> level = LevelSteps(course, gravity);
  for (const double height : level) steadying.drift = std::max(steadying.drift, std::abs(height));
  if (steadying.drift < kDrifts) {
    steadying.drift = 0;
    level.assign(course.size(), 0);
  }
  for (size_t i = 0; i < course.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    steadying.poses[i].root_position += Vec3(aside[row], level[i], across[row]);
  }
  return steadying;
}

}  // namespace retrace::repair
