#include "course.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "retrace/character/body_points.h"
#include "retrace/character/kinematics.h"
#include "retrace/metrics/clip_checks.h"
#include "retrace/optimization/least_squares.h"

namespace retrace::repair {
namespace {

using character::Character;
using character::State;

// A foot stands that moves slower than this for so long, and the lowest part of the body is hardly lower.
constexpr double kStillAcross = 0.3;    // [m/s]
constexpr double kStillUpwards = 0.12;  // [m/s]
constexpr double kStandsFor = 0.12;     // [s]
constexpr double kOtherLower = 0.04;    // [m]
constexpr double kSpeedOver = 0.05;     // the interval over which speeds are taken [s]
constexpr double kUpright = 0.45;       // share of the standing root's height that the root has over a foot at least
constexpr double kFarthest = 0.25;      // a foot that is farther from the floor does not stand beside it [m]
constexpr double kStandsNear = 0.045;   // a sole no farther than this from the floor is on it [m]

// Weights of the curve that levels stances.
constexpr double kLeveled = 0.003;   // [m]
constexpr double kLevelBend = 3;     // [m/s^2]
constexpr double kLevelShift = 0.3;  // [m]

constexpr double kAirborne = 0.03;       // nothing is nearer to the floor in flight [m]
constexpr double kShortestFlight = 0.1;  // [s]
constexpr double kHeldNear = 0.12;       // a body that comes no farther from the floor [m]
constexpr double kHeldFall = 0.3;        // and falls by less than this share of gravity is held up
constexpr double kPressedNear = 0.05;    // the ground may press on what is no farther from it [m]
constexpr double kFlightEdge = 0.03;     // filtered contact forces reach this far into the flight [s]
constexpr size_t kLeastPoses = 5;
constexpr double kHighestFloat = 0.5;   // none floats higher [m]
constexpr double kHighestFloor = 0.35;  // nor comes so far from the floor all the time [m]
constexpr double kStepsWithin = 0.2;    // the lowest points over a floor are those of such a time [s]
constexpr double kNearLeast = 0.02;     // and what is no higher over them, for floors may climb [m]
constexpr double kFloatsFrom = 0.06;    // an upright body that is farther from the floor and hardly falls floats [m]
constexpr double kNextToFloor = 0.05;   // what is no higher over it, or over the lowest point [m]
constexpr double kSkims = 1;            // nothing carries a body that moves so fast over the floor [m/s]
constexpr double kLongestSkim = 0.5;    // what slides longer than it may fly is meant to [s]
constexpr double kSkimCarried = 0.7;    // share of gravity that holds a body up which hardly falls

constexpr double kOtherSpeed = 0.15;    // relative error of the playback speed
constexpr double kOffParabola = 0.02;   // by which the middle of the flight is higher or lower than a fall has it [m]
constexpr double kLongestFlight = 1.6;  // on the right clock: 3 m high [s]

void AddStances(int body, const std::vector<bool>& still, const std::vector<double>& lows, double frame_time,
                std::vector<Stance>& stances) {
  const auto shortest = static_cast<size_t>(std::lround(kStandsFor / frame_time));
  for (size_t first = 0; first < still.size();) {
    size_t end = first;
    double sum = 0;
    while (end < still.size() && still[end]) sum += lows[end++];
    const double height = sum / static_cast<double>(std::max<size_t>(end - first, 1));
    if (end - first >= shortest && std::abs(height) < kFarthest) stances.push_back({body, first, end - 1, height});
    first = end + 1;
  }
}

/// Speed over the floor of the slowest point of a state that is next to the floor, or to the lowest point where that is
/// over the floor [m/s].
double SlowestPoint(const Character& character, const State& before, const State& state, const State& after,
                    double lowest, double time) {
  const double near = std::max(lowest, 0.0) + kNextToFloor;
  double slowest = std::numeric_limits<double>::infinity();
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const auto speed = [&](const Vec3& point) {
      const Vec3 in_body = state[b].orientation.conjugate() * (point - state[b].position);
      const Vec3 way =
          after[b].position + after[b].orientation * in_body - before[b].position - before[b].orientation * in_body;
      return std::hypot(way.x(), way.z()) / time;
    };
    character::ForEachPoint(character.bodies[b], state[b], [&](const Vec3& center, double radius) {
      if (center.y() - radius < near) slowest = std::min(slowest, speed(center - radius * Vec3::UnitY()));
    });
  }
  return slowest;
}

/// Where feet move over the floor too fast to carry the body, which does not fall (poses).
std::vector<bool> SkimmingPoses(const Course& course, double gravity) {
  const size_t count = course.size();
  std::vector<bool> skims(count, false);
  const auto shortest = static_cast<size_t>(std::lround(kShortestFlight / course.frame_time));
  for (size_t first = 0; first < count;) {
    size_t end = first;
    double sum = 0;
    const auto skims_at = [&](size_t i) {
      return course.on_foot[i] && course.lowest[i] < kNextToFloor && course.slide[i] > kSkims;
    };
    for (; end < count && skims_at(end); ++end) {
      sum += course.acceleration(static_cast<Eigen::Index>(end), 1) / gravity + 1;
    }
    const size_t length = end - first;
    const bool short_enough = static_cast<double>(length) * course.frame_time < kLongestSkim;
    if (length >= shortest && short_enough && sum > kSkimCarried * static_cast<double>(length)) {
      for (size_t i = first; i < end; ++i) skims[i] = true;
    }
    first = end + 1;
  }
  return skims;
}

/// All stretches in which nothing is near the floor for long enough, with the body raised by a shift. @param skims
/// where what is near the floor does not count (poses)
std::vector<Flight> AirborneParts(const Course& course, const std::vector<Stance>& stances,
                                  const std::vector<double>& shift, const std::vector<bool>& skims) {
  const size_t count = course.size();
  std::vector<bool> airborne(count);
  for (size_t i = 0; i < count; ++i) airborne[i] = course.lowest[i] + shift[i] > kAirborne;
  for (const Stance& stance : stances) {
    if (IsBesideFloor(stance)) continue;  // the shift has it
    for (size_t i = stance.first; i <= stance.last; ++i) {
      if (course.lowest[i] < kStandsNear) airborne[i] = false;
    }
  }
  for (size_t i = 0; i < count; ++i) airborne[i] = airborne[i] || skims[i];
  const auto edge = static_cast<size_t>(std::lround(kFlightEdge / course.frame_time));
  const auto shortest = static_cast<size_t>(std::lround(kShortestFlight / course.frame_time));
  std::vector<Flight> parts;
  for (size_t first = 0; first < count;) {
    size_t end = first;
    while (end < count && airborne[end]) ++end;
    Flight part{first, end - 1, 0, 0, std::numeric_limits<double>::infinity(), false};
    const size_t length = end - first;
    first = end + 1;
    if (length < std::max(shortest, 2 * edge + kLeastPoses)) continue;
    std::vector<double> heights;
    for (size_t i = part.first + edge; i + edge <= part.last; ++i) {
      heights.push_back(course.center(static_cast<Eigen::Index>(i), 1) + shift[i]);
      part.clearance = std::max(part.clearance, course.lowest[i] + shift[i]);
      part.nearest = std::min(part.nearest, course.lowest[i] + shift[i]);
      part.skims = part.skims || skims[i];
    }
    part.acceleration = metrics::DownwardAcceleration(heights, course.frame_time);
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

Course MeasureCourse(const Character& character, const std::vector<character::Pose>& poses, double frame_time) {
  Course course;
  course.frame_time = frame_time;
  const size_t count = poses.size();
  const auto rows = static_cast<Eigen::Index>(count);
  course.states.resize(count);
  course.center.resize(rows, 3);
  course.velocity.resize(rows, 3);
  course.acceleration.setZero(rows, 3);
  course.momentum.resize(rows, 3);
  course.moment.setZero(rows, 3);
  const auto root = static_cast<size_t>(character.root);
  const double upright = kUpright * character.bodies[root].rest_position.y();
  for (size_t i = 0; i < count; ++i) {
    character::ForwardKinematics(character, poses[i], course.states[i]);
    course.center.row(static_cast<Eigen::Index>(i)) = character::CenterOfMass(character, course.states[i]).transpose();
    double lowest = std::numeric_limits<double>::infinity();
    bool foot = false;
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      const double height = character::LowestPoint(character.bodies[b], course.states[i][b]);
      if (height < lowest) foot = character.bodies[b].part == character::Part::kFoot;
      lowest = std::min(lowest, height);
    }
    course.lowest.push_back(lowest);
    course.on_foot.push_back(foot && course.states[i][root].position.y() - lowest > upright);
  }
  for (size_t i = 0; i < count; ++i) {
    const size_t before = i > 0 ? i - 1 : i, after = std::min(i + 1, count - 1);
    const double time = static_cast<double>(std::max<size_t>(after - before, 1)) * frame_time;
    State state = course.states[i];
    character::DifferenceVelocities(course.states[before], course.states[after], time, state);
    const auto row = static_cast<Eigen::Index>(i);
    course.velocity.row(row) = character::CenterOfMassVelocity(character, state).transpose();
    course.momentum.row(row) = character::AngularMomentum(character, state).transpose();
    if (count < 3) continue;
    const Eigen::Index m = std::clamp<Eigen::Index>(row, 1, rows - 2);
    course.acceleration.row(row) =
        (course.center.row(m + 1) - 2 * course.center.row(m) + course.center.row(m - 1)) / (frame_time * frame_time);
  }
  course.slide.assign(count, 0);
  for (size_t i = 1; i + 1 < count; ++i) {
    course.slide[i] = SlowestPoint(character, course.states[i - 1], course.states[i], course.states[i + 1],
                                   course.lowest[i], 2 * frame_time);
  }
  for (Eigen::Index i = 1; i + 1 < rows; ++i) {
    course.moment.row(i) = (course.momentum.row(i + 1) - course.momentum.row(i - 1)) / (2 * frame_time);
  }
  return course;
}

Vec3 SupportReach::Direction(size_t k) {
  static const double diagonal = std::sqrt(0.5);
  static const std::array<Vec3, kDirections> directions = {
      Vec3(1, 0, 0),  Vec3(diagonal, 0, diagonal),   Vec3(0, 0, 1),  Vec3(-diagonal, 0, diagonal),
      Vec3(-1, 0, 0), Vec3(-diagonal, 0, -diagonal), Vec3(0, 0, -1), Vec3(diagonal, 0, -diagonal)};
  return directions[k];
}

std::vector<SupportReach> MeasureSupport(const Character& character, const Course& course,
                                         const std::vector<double>& shift) {
  std::vector<SupportReach> support(course.size());
  for (size_t i = 0; i < course.size(); ++i) {
    support[i].reach.fill(-std::numeric_limits<double>::infinity());
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      character::ForEachPoint(character.bodies[b], course.states[i][b], [&](const Vec3& center, double radius) {
        if (center.y() - radius + shift[i] > kPressedNear) return;
        support[i].any = true;
        for (size_t k = 0; k < SupportReach::kDirections; ++k) {
          support[i].reach[k] = std::max(support[i].reach[k], SupportReach::Direction(k).dot(center));
        }
      });
    }
  }
  return support;
}

std::vector<Stance> FindStances(const Character& character, const Course& course) {
  std::vector<Stance> stances;
  const size_t count = course.size();
  const auto reach = static_cast<size_t>(std::lround(0.5 * kSpeedOver / course.frame_time));
  const auto root = static_cast<size_t>(character.root);
  const double upright = kUpright * character.bodies[root].rest_position.y();
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Body& body = character.bodies[b];
    if (body.part != character::Part::kFoot || body.shapes.empty()) continue;
    std::vector<double> lows;
    for (const State& state : course.states) lows.push_back(character::LowestPoint(body, state[b]));
    std::vector<bool> still(count, false);
    for (size_t i = 0; i < count; ++i) {
      const size_t before = i > reach ? i - reach : 0, after = std::min(i + reach, count - 1);
      const double time = static_cast<double>(std::max<size_t>(after - before, 1)) * course.frame_time;
      const Vec3 way = course.states[after][b].position - course.states[before][b].position;
      still[i] = std::hypot(way.x(), way.z()) < kStillAcross * time &&
                 std::abs(lows[after] - lows[before]) < kStillUpwards * time &&
                 lows[i] < course.lowest[i] + kOtherLower && course.states[i][root].position.y() - lows[i] > upright;
    }
    AddStances(static_cast<int>(b), still, lows, course.frame_time, stances);
  }
  return stances;
}

bool IsBesideFloor(const Stance& stance) {
  return std::abs(stance.height) > kStandsNear;
}

std::vector<double> LevelCurve(const std::vector<std::optional<double>>& wanted, double frame_time) {
  const double root_time = std::sqrt(frame_time), h2 = frame_time * frame_time;
  const auto level = [&](const Eigen::VectorXd& x, optimization::Residuals& out) {
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      out.Add(root_time * x[i] / kLevelShift, {{i, root_time / kLevelShift}});
      if (const std::optional<double>& height = wanted[static_cast<size_t>(i)]) {
        out.Add(root_time * (x[i] - *height) / kLeveled, {{i, root_time / kLeveled}});
      }
      if (i == 0 || i + 1 == x.size()) continue;
      const double scale = root_time / (kLevelBend * h2);
      out.Add(scale * (x[i - 1] - 2 * x[i] + x[i + 1]), {{i - 1, scale}, {i, -2 * scale}, {i + 1, scale}});
    }
  };
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(wanted.size()));
  const Eigen::VectorXd leveled = optimization::MinimizeSquares(level, zero, {}).x;
  return {leveled.begin(), leveled.end()};
}

std::vector<double> LevelStances(const Course& course, const std::vector<Stance>& stances,
                                 const std::vector<Flight>& floats) {
  if (floats.empty() && std::none_of(stances.begin(), stances.end(), IsBesideFloor)) {
    return std::vector<double>(course.size(), 0);
  }
  // The lowest of several feet decides, and legs bring the others down.
  std::vector<const Stance*> decides(course.size(), nullptr);
  for (const Stance& stance : stances) {
    for (size_t i = stance.first; i <= stance.last; ++i) {
      if (decides[i] == nullptr || stance.height < decides[i]->height) decides[i] = &stance;
    }
  }
  std::vector<std::optional<double>> wanted(course.size());
  const auto near = static_cast<size_t>(std::lround(kStepsWithin / course.frame_time));
  for (const Flight& part : floats) {
    for (size_t i = part.first; i <= part.last; ++i) {
      const size_t first = std::max(part.first, i > near ? i - near : 0), last = std::min(part.last, i + near);
      const double least = *std::min_element(course.lowest.begin() + static_cast<std::ptrdiff_t>(first),
                                             course.lowest.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      if (course.lowest[i] < least + kNearLeast) wanted[i] = -course.lowest[i];
    }
  }
  for (size_t i = 0; i < course.size(); ++i) {
    if (decides[i] != nullptr) wanted[i] = IsBesideFloor(*decides[i]) ? -decides[i]->height : 0;
  }
  return LevelCurve(wanted, course.frame_time);
}

std::vector<Flight> FindFloats(const Course& course, const std::vector<Stance>& stances, double gravity) {
  std::vector<Flight> floats;
  if (gravity <= 0) return floats;
  const std::vector<bool> none(course.size(), false);
  for (const Flight& part : AirborneParts(course, stances, LevelStances(course, stances, {}), none)) {
    const double fall = part.clearance < kHeldNear ? kHeldFall : 1 / (kMostFactor * kMostFactor);
    if (part.clearance < kFloatsFrom || part.nearest > kHighestFloor || part.clearance > kHighestFloat) continue;
    if (part.acceleration > fall * gravity) continue;
    const auto first = course.on_foot.begin() + static_cast<std::ptrdiff_t>(part.first);
    const auto end = course.on_foot.begin() + static_cast<std::ptrdiff_t>(part.last) + 1;
    if (std::find(first, end, false) == end) floats.push_back(part);
  }
  return floats;
}

std::vector<Flight> FindFlights(const Course& course, const std::vector<Stance>& stances,
                                const std::vector<double>& shift, double gravity) {
  const auto find = [&](const std::vector<bool>& skims) {
    std::vector<Flight> flights = AirborneParts(course, stances, shift, skims);
    std::erase_if(flights, [&](const Flight& part) {
      return !part.skims && part.clearance < kHeldNear && part.acceleration < kHeldFall * gravity;
    });
    return flights;
  };
  std::vector<Flight> flights = find(std::vector<bool>(course.size(), false));
  const bool other_clock = std::any_of(flights.begin(), flights.end(), [&](const Flight& flight) {
    return FallsOtherwise(flight, gravity, course.frame_time);
  });
  // On a clock that is wrong, speeds over the floor say nothing.
  return other_clock ? flights : find(SkimmingPoses(course, gravity));
}

bool FallsOtherwise(const Flight& flight, double gravity, double frame_time) {
  const double time = static_cast<double>(flight.last - flight.first) * frame_time;
  const double off = std::abs(flight.acceleration - gravity) * time * time / 8;
  const double share = flight.acceleration / gravity;
  const bool other_speed =
      !(share > (1 - kOtherSpeed) * (1 - kOtherSpeed)) || !(share < (1 + kOtherSpeed) * (1 + kOtherSpeed));
  return off > kOffParabola && other_speed;
}

bool IsUnsupported(const Flight& flight, double gravity, double frame_time) {
  if (!FallsOtherwise(flight, gravity, frame_time) || flight.skims) return false;
  const double share = flight.acceleration / gravity;
  if (!(share > 1 / (kMostFactor * kMostFactor)) || share > kMostFactor * kMostFactor) return true;
  const double time = static_cast<double>(flight.last - flight.first) * frame_time;
  return time * std::sqrt(share) > kLongestFlight;
}

}  // namespace retrace::repair
