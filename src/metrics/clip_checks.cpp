#include "retrace/metrics/clip_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/math/types.h"
#include "retrace/metrics/floor_contacts.h"

namespace retrace::metrics {
namespace {

using character::Character;
using character::ReferenceMotion;
using character::State;

constexpr double kAirborne = 0.03;       // nothing is nearer to the floor in flight [m]
constexpr double kShortestFlight = 0.1;  // [s]
constexpr double kFlightEdge = 0.03;     // filtered contact forces reach this far into the flight [s]
constexpr double kFalls = 0.5;           // of gravity: a body over steps that falls with less is carried
constexpr double kAlike = 2;             // accelerations of flights that show one playback speed differ by less
constexpr double kHeld = 1;              // a body that falls more slowly is held [m/s^2]
constexpr double kWrongSpeed = 0.15;     // relative error of the playback speed that is worth a warning
const double kJump = Radians(40);        // between two frames, where its neighbors turn much less
constexpr double kJumpRatio = 6;
const double kKneeBackwards = Radians(15);
const double kHandTwisted = Radians(120);
constexpr double kLightest = 10, kHeaviest = 60;  // body mass index [kg/m2]
constexpr double kHandsUnder = 0.05;              // [m]
constexpr double kSlidingSpeed = 0.35;            // of a planted foot [m/s]
constexpr double kFastestBody = 15;               // [m/s]
constexpr double kFastestRoot = 9;                // [m/s]

/// @param levels feet stand over the floor at times: what does not fall there is carried by steps, and no flight
void FindFlights(const ReferenceMotion& reference, const std::vector<State>& states, bool levels, ClipChecks& checks) {
  const Character& character = reference.character();
  std::vector<bool> airborne;
  std::vector<double> heights;
  for (const State& state : states) {
    double lowest = std::numeric_limits<double>::infinity();
    for (size_t b = 0; b < state.size(); ++b) {
      lowest = std::min(lowest, character::LowestPoint(character.bodies[b], state[b]));
    }
    airborne.push_back(lowest > kAirborne);
    heights.push_back(character::CenterOfMass(character, state).y());
  }
  const double frame_time = reference.frame_time();
  const auto edge = static_cast<std::ptrdiff_t>(std::lround(kFlightEdge / frame_time));
  double weighted = 0;
  double total = 0;
  for (const Interval& interval : Stretches(airborne, frame_time)) {
    const double length = interval.end - interval.start;
    if (length < kShortestFlight) continue;
    const auto first = static_cast<std::ptrdiff_t>(std::lround(interval.start / frame_time)) + edge;
    const auto last = static_cast<std::ptrdiff_t>(std::lround(interval.end / frame_time)) - edge;
    if (last - first < 4) continue;
    const std::vector<double> inner(heights.begin() + first, heights.begin() + last + 1);
    const double acceleration = DownwardAcceleration(inner, frame_time);
    if (levels && acceleration < kFalls * kStandardGravity) continue;
    checks.flights.push_back({interval, acceleration});
    weighted += length * acceleration;
    total += length;
  }
  if (total == 0) return;
  checks.flight_acceleration = weighted / total;
  const auto [least, most] =
      std::minmax_element(checks.flights.begin(), checks.flights.end(),
                          [](const FreeFlight& a, const FreeFlight& b) { return a.acceleration < b.acceleration; });
  if (most->acceleration > kHeld && least->acceleration < most->acceleration / kAlike) {
    checks.warnings.push_back(
        {checks.flights.front().interval.start, "flights_differ",
         "the flights contradict one another: the body falls with " + io::Fixed(least->acceleration, 1) + " to " +
             io::Fixed(most->acceleration, 1) +
             " m/s2, which no playback speed explains: is something missing that holds it, or are markers lost?"});
    return;
  }
  if (checks.flight_acceleration < kHeld) {
    checks.warnings.push_back({checks.flights.front().interval.start, "flight_speed",
                               "the body does not fall while nothing touches the floor: is something missing, a "
                               "support or the root's motion?"});
    return;
  }
  // Accelerations go with the square of the playback speed.
  checks.time_scale = std::sqrt(checks.flight_acceleration / kStandardGravity);
  if (std::abs(checks.time_scale - 1) > kWrongSpeed) {
    checks.warnings.push_back({checks.flights.front().interval.start, "flight_speed",
                               "in free flight the body falls with " + io::Fixed(checks.flight_acceleration, 1) +
                                   " m/s2: the clip plays at the wrong speed; a time scale of " +
                                   io::Fixed(checks.time_scale, 2) + " gives 9.8"});
  }
}

void FindJumps(const motion::Clip& clip, const character::ReferenceReport& report, ClipChecks& checks) {
  const size_t frames = clip.frames.size() - static_cast<size_t>(report.lead_out_frames);
  const size_t first = static_cast<size_t>(report.lead_in_frames);
  int found = 0;
  std::string where;
  double worst = 0;
  double worst_time = 0;
  for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
    if (clip.skeleton.joints[j].end_site) continue;
    const auto turn = [&](size_t f) {
      return AngleBetween(clip.frames[f].rotations[j], clip.frames[f + 1].rotations[j]);
    };
    for (size_t f = first; f + 1 < frames; ++f) {
      const double angle = turn(f);
      if (angle < kJump) continue;
      const double before = f > first ? turn(f - 1) : 0;
      const double after = f + 2 < frames ? turn(f + 1) : 0;
      if (angle < kJumpRatio * std::max(before, after)) continue;
      ++found;
      if (angle > worst) {
        worst = angle;
        worst_time = static_cast<double>(f) / report.frame_rate;
        where = clip.skeleton.joints[j].name;
      }
    }
  }
  if (found > 0) {
    checks.warnings.push_back({worst_time, "jump",
                               where + " turns by " + io::Fixed(Degrees(worst), 0) + " degrees between two frames at " +
                                   io::Fixed(worst_time, 2) + " s of the recording" +
                                   (found > 1 ? "; " + std::to_string(found) + " such jumps" : "")});
  }
}

/// Keeps the worst value of a figure and when it was.
struct Worst {
  double value = 0;
  double time = 0;
  void Update(double v, double t) {
    if (v > value) {
      value = v;
      time = t;
    }
  }
};

/// Angle by which a knee is bent in the rest pose [rad].
double BendAtRest(const Character& character, size_t knee) {
  const character::Joint& joint = character.joints[knee];
  const int above = character.JointOf(joint.parent);
  if (above < 0) return 0;
  for (const character::Joint& below : character.joints) {
    if (below.parent != joint.child) continue;
    const Vec3 thigh = joint.anchor - character.joints[static_cast<size_t>(above)].anchor;
    const Vec3 shin = below.anchor - joint.anchor;
    return std::atan2(joint.Along(thigh.cross(shin)), thigh.dot(shin));
  }
  return 0;
}

void CheckJoints(const ReferenceMotion& reference, ClipChecks& checks) {
  const Character& character = reference.character();
  for (size_t j = 0; j < character.joints.size(); ++j) {
    const character::Joint& joint = character.joints[j];
    const character::Body& child = character.bodies[static_cast<size_t>(joint.child)];
    // Only a human's knee is known to bend in one direction; that of a robot has a range.
    const bool knee = !joint.range && (child.segment == "left_shin" || child.segment == "right_shin");
    const double bent = knee ? BendAtRest(character, j) : 0;
    Worst backwards;
    Worst twisted;
    for (size_t f = 0; f < reference.poses().size(); ++f) {
      const double time = static_cast<double>(f) * reference.frame_time();
      const Vec3 turn = RotationVector(reference.poses()[f].joint_rotations[j]);
      if (knee) backwards.Update(-joint.Along(turn) - bent, time);
      if (child.part == character::Part::kHand) twisted.Update(turn.norm(), time);
    }
    if (backwards.value > kKneeBackwards) {
      checks.warnings.push_back({backwards.time, "knee",
                                 joint.name + " bends backwards by " + io::Fixed(Degrees(backwards.value), 0) +
                                     " degrees at " + io::Fixed(backwards.time, 2) + " s"});
    }
    if (twisted.value > kHandTwisted) {
      checks.warnings.push_back({twisted.time, "hand",
                                 joint.name + " is turned by " + io::Fixed(Degrees(twisted.value), 0) + " degrees at " +
                                     io::Fixed(twisted.time, 2) + " s: flipped?"});
    }
  }
}

void CheckBodies(const ReferenceMotion& reference, const std::vector<State>& states, ClipChecks& checks) {
  const Character& character = reference.character();
  const double frame_time = reference.frame_time();
  Worst under;
  Worst fast;
  std::string fastest;
  Worst root;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    const character::Body& body = character.bodies[b];
    const bool hand = body.part == character::Part::kHand;
    for (size_t f = 0; f < states.size(); ++f) {
      const double time = static_cast<double>(f) * frame_time;
      if (hand) under.Update(-character::LowestPoint(body, states[f][b]), time);
      if (f == 0) continue;
      const double speed = (states[f][b].position - states[f - 1][b].position).norm() / frame_time;
      if (speed > fast.value) fastest = body.name;
      fast.Update(speed, time);
      if (static_cast<int>(b) == character.root) root.Update(speed, time);
    }
  }
  if (under.value > kHandsUnder) {
    checks.warnings.push_back(
        {under.time, "hands_under_floor",
         "a hand is " + io::Fixed(under.value, 2) + " m under the floor at " + io::Fixed(under.time, 2) + " s"});
  }
  if (fast.value > kFastestBody || root.value > kFastestRoot) {
    const bool by_root = root.value > kFastestRoot;
    const Worst& worst = by_root ? root : fast;
    checks.warnings.push_back({worst.time, "speed",
                               (by_root ? "the root" : fastest) + " moves at " + io::Fixed(worst.value, 1) +
                                   " m/s at " + io::Fixed(worst.time, 2) + " s: wrong unit, frame rate or a jump?"});
  }
}

/// The mass that people of this height have, by the body mass index.
void CheckMass(const Character& character, ClipChecks& checks) {
  const auto has = [&](const char* segment) { return character::BodyOfSegment(character, segment) >= 0; };
  const double square = character.height * character.height;
  if (!has("left_shin") || !has("right_shin") || !(square > 0)) return;
  const double index = character.total_mass() / square;
  if (index >= kLightest && index <= kHeaviest) return;
  checks.warnings.push_back({0, "mass",
                             "a mass of " + io::Fixed(character.total_mass(), 1) + " kg at a height of " +
                                 io::Fixed(character.height, 2) + " m is a body mass index of " + io::Fixed(index, 0) +
                                 ", which people do not have: from " + io::Fixed(kLightest * square, 0) + " to " +
                                 io::Fixed(kHeaviest * square, 0) +
                                 " kg it is 10 to 60 (give the mass, or a \"height\" of the character in m)"});
}

void CheckFeet(const ReferenceMotion& reference, const std::vector<State>& states, ClipChecks& checks) {
  const Character& character = reference.character();
  double planted = 0;
  double sliding = 0;
  Worst worst;
  for (const int effector : character.end_effectors) {
    const size_t body = static_cast<size_t>(effector);
    if (character.bodies[body].part != character::Part::kFoot) continue;
    const std::vector<bool> touches = TouchesFloor(reference, states, effector);
    for (size_t f = 1; f < states.size(); ++f) {
      if (!touches[f] || !touches[f - 1]) continue;
      Vec3 step = states[f][body].position - states[f - 1][body].position;
      step.y() = 0;
      const double speed = step.norm() / reference.frame_time();
      planted += 1;
      sliding += speed > kSlidingSpeed;
      worst.Update(speed, static_cast<double>(f) * reference.frame_time());
    }
  }
  if (planted > 0 && sliding > 0.2 * planted) {
    checks.warnings.push_back({worst.time, "sliding",
                               "feet slide during " + io::Fixed(100 * sliding / planted, 0) +
                                   " % of the time in which they touch the floor, at up to " +
                                   io::Fixed(worst.value, 1) + " m/s"});
  }
}

}  // namespace

double DownwardAcceleration(const std::vector<double>& heights, double frame_time) {
  // The parabola of least squares. About the middle of evenly spaced times, this part of the square is orthogonal to
  // constants and lines.
  const auto n = static_cast<double>(heights.size());
  const auto squared_time = [&](double i) { return std::pow((i - 0.5 * (n - 1)) * frame_time, 2); };
  const double mean_square = frame_time * frame_time * (n * n - 1) / 12;
  double with_heights = 0, with_itself = 0;
  for (size_t i = 0; i < heights.size(); ++i) {
    const double part = squared_time(static_cast<double>(i)) - mean_square;
    with_heights += part * heights[i];
    with_itself += part * part;
  }
  return -2 * with_heights / with_itself;
}

io::Json ClipChecks::ToJson() const {
  io::Json json = {{"contacts", io::Json::object()},    {"flights", io::Json::array()},
                   {"supports", io::Json::array()},     {"ground", io::Json::array()},
                   {"unsupported", ground.unsupported}, {"flight_acceleration", flight_acceleration},
                   {"time_scale", time_scale},          {"warnings", io::Json::array()}};
  for (const auto& [body, intervals] : contacts) {
    io::Json list = io::Json::array();
    for (const Interval& interval : intervals) list.push_back({interval.start, interval.end});
    json["contacts"][body] = list;
  }
  for (const FreeFlight& flight : flights) {
    json["flights"].push_back(
        {{"start", flight.interval.start}, {"end", flight.interval.end}, {"acceleration", flight.acceleration}});
  }
  for (const Support& support : supports) {
    json["supports"].push_back(
        {{"start", support.interval.start}, {"end", support.interval.end}, {"height", support.height}});
  }
  for (const RecordedSurface& surface : ground.surfaces) json["ground"].push_back(surface.ToJson());
  for (const ClipWarning& warning : warnings) {
    json["warnings"].push_back({{"time", warning.time}, {"kind", warning.kind}, {"text", warning.text}});
  }
  return json;
}

ClipChecks CheckClip(const ReferenceMotion& reference, const motion::Clip& clip,
                     const character::ReferenceReport& report) {
  ClipChecks checks;
  for (const character::Doubt& doubt : report.doubts) checks.warnings.push_back({0, doubt.kind, doubt.text});
  const std::vector<State> states = reference.StatesOfPoses();
  const Character& character = reference.character();
  for (const int effector : character.end_effectors) {
    checks.contacts.emplace_back(character.bodies[static_cast<size_t>(effector)].name,
                                 Stretches(TouchesFloor(reference, states, effector), reference.frame_time()));
  }
  checks.ground = FindRecordedGround(reference, states);
  FindFlights(reference, states, !report.levels.empty() || checks.ground.strong(), checks);
  FindJumps(clip, report, checks);
  CheckJoints(reference, checks);
  CheckBodies(reference, states, checks);
  CheckFeet(reference, states, checks);
  FindSupports(reference, states, !report.levels.empty(), checks.ground, checks.supports, checks.warnings);
  CheckMass(character, checks);
  if (report.start_speed_lost > 0.1) {
    checks.warnings.push_back(
        {0, "start_velocity",
         "the filter takes " + io::Fixed(report.start_speed_lost, 2) + " m/s from the root's velocity at the start"});
  }
  return checks;
}

}  // namespace retrace::metrics
