#include "retrace/planning/response/aim.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/io/error.h"
#include "retrace/io/field_error.h"
#include "retrace/io/nearest_words.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::runs {
namespace {

using character::Character;
using character::Pose;
using character::ReferenceMotion;
using character::State;

constexpr double kSample = 1.0 / 120;      // between instants at which a strike is looked for [s]
constexpr double kDifference = 1.0 / 120;  // over which velocities are taken [s]
constexpr double kBeforeEnd = 0.2;         // of a clip, in which nothing may land [s]
constexpr double kFromStart = 0.1;         // likewise [s]
constexpr double kReach = 0.6;             // share of the farthest reach of a limb from which on it may strike
constexpr double kRetreat = -0.3;          // share of the speed at which a limb may come back to the root
constexpr double kFastEnough = 0.7;        // share of the speed of a strike at which it may land
constexpr double kBlowWithin = 0.12;       // of its peak, in which it may land [s]
constexpr double kLongestLead = 10;        // before the strike that is shown [s]
constexpr double kNearTouch = 0.6;         // before the strike, in which most other touches come [s]
constexpr double kCoarse = 1.0 / 40;       // between instants at which these are looked for [s]
constexpr double kFarthestPlace = 1.5;     // from the strike at which a body may be put to be met [m]
constexpr double kTouching = 2e-4;         // to which a body is put [m]
constexpr double kStepHeight = 0.5;        // share of the height of the root at rest
constexpr double kInstantsApart = 0.03;    // at which a strike is tried [s]
constexpr size_t kMostInstants = 24, kMostTries = 1500;
// What is shown before the strike where the two meet by other bodies earlier [s].
constexpr double kShortLeads[] = {0.6, 0.3, 0.15};
constexpr double kShifts[] = {0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3, 0.45, -0.45, 0.6, -0.6, 0.8, -0.8};  // [s]
constexpr double kSideways[] = {0, 0.05, -0.05, 0.1, -0.1, 0.15, -0.15, 0.2, -0.2};                    // [m]

/// Position and velocity of a body of a motion.
std::pair<Vec3, Vec3> MotionOf(const ReferenceMotion& motion, int body, double time, State& state) {
  Pose pose;
  const auto at = [&](double when) {
    motion.PoseAt(when, pose);
    character::ForwardKinematics(motion.character(), pose, state);
    return state[static_cast<size_t>(body)].position;
  };
  const Vec3 after = at(time + kDifference), before = at(time - kDifference);
  return {at(time), (after - before) / (2 * kDifference)};
}

bool HasSide(const std::string& name) {
  return name.starts_with("left_") || name.starts_with("right_");
}

int BodyOf(const Character& character, const std::string& field, const std::string& name) {
  const int body = character.FindBody(name);
  if (body >= 0) return body;
  std::vector<std::string> names;
  std::string list;
  for (const character::Body& one : character.bodies) {
    names.push_back(one.name);
    list.append(list.empty() ? "" : ", ").append(one.name);
  }
  const std::string meant = io::DidYouMean(name, names);
  throw FieldError(field, "found no body \"" + name + "\" of " + character.name + ", expected one of " + list +
                              (meant.empty() ? "" : "; " + meant));
}

/// A body at an instant of a motion.
struct Moment {
  double time = 0;
  Vec3 position, velocity, reach;  ///< the last one from the root

  bool ReachesOut(double farthest) const {
    return reach.norm() >= kReach * farthest && velocity.dot(reach) >= kRetreat * velocity.norm() * reach.norm();
  }
};

/// @param farthest becomes its farthest reach [m]
std::vector<Moment> MomentsOf(const ReferenceMotion& motion, int body, double from, double to, double& farthest) {
  std::vector<Moment> moments;
  State state;
  farthest = 0;
  for (double time = from; time <= to; time += kSample) {
    const auto [position, velocity] = MotionOf(motion, body, time, state);
    const Vec3 reach = position - state[static_cast<size_t>(motion.character().root)].position;
    moments.push_back({time, position, velocity, reach});
    farthest = std::max(farthest, reach.norm());
  }
  return moments;
}

/// One instant at which a strike may land.
struct Instant {
  double time = 0, speed = 0, distance = 0;
  Vec3 position = Vec3::Zero(), velocity = Vec3::Zero();
  double cost = 0;
};

ReferenceMotion Placed(const ReferenceMotion& motion, const Quat& turn, const Vec3& offset) {
  std::vector<Pose> poses = motion.poses();
  for (Pose& pose : poses) character::Place(turn, offset, pose);
  return motion.WithPoses(std::move(poses));
}

ReferenceMotion PartOf(const ReferenceMotion& motion, double start, double duration) {
  const auto count = static_cast<size_t>(std::ceil(duration / kSample)) + 2;
  return motion.WithPoses(motion.Sample(start, count, motion.frame_time()));
}

class Aiming {
 public:
  Aiming(const ReferenceMotion& attacker, const ReferenceMotion& receiver, const AimOptions& options, double within,
         const std::string& name)
      : attacker_(attacker),
        receiver_(receiver),
        character_(receiver.character()),
        o_(options),
        name_(name),
        within_(within),
        at_(options.at.empty() ? -1 : BodyOf(character_, "at", options.at)) {
    const int with = options.with.empty() ? -1 : BodyOf(attacker.character(), "with", options.with);
    blow_ = FindBlow(attacker, with, kFromStart, std::min(within, attacker.duration() - kBeforeEnd));
    if (blow_.with < 0) {
      throw InputError(name, "no instant at which " + (options.with.empty() ? "a limb" : options.with) + " reaches out",
                       "a strike between " + io::Fixed(kFromStart, 1) + " s and " + io::Fixed(kBeforeEnd, 1) +
                           " s before the end of the clip");
    }
    root_ = static_cast<size_t>(attacker.character().root);
  }

  std::vector<Aim> Run(size_t most) {
    FindInstants(within_);
    for (const double shift : kShifts) {
      for (const double sideways : kSideways) {
        for (const Instant& instant : instants_) {
          if (tries_ >= kMostTries || aims_.size() >= most) return Found();
          Try(instant, shift, sideways);
        }
      }
    }
    return Found();
  }

 private:
  /// Instants at which it is fast enough, the best first.
  void FindInstants(double within) {
    for (const Moment& moment :
         MomentsOf(attacker_, blow_.with, kFromStart, std::min(within, attacker_.duration() - kBeforeEnd), farthest_)) {
      Instant instant{moment.time, moment.velocity.norm(), 0, moment.position, moment.velocity, 0};
      if (instant.speed < kFastEnough * blow_.speed || !moment.ReachesOut(farthest_)) continue;
      instant.cost = 1 - instant.speed / blow_.speed;
      if (o_.height) instant.cost += std::abs(instant.position.y() - *o_.height) / kTenth;
      instants_.push_back(instant);
    }
    std::stable_sort(instants_.begin(), instants_.end(),
                     [](const Instant& a, const Instant& b) { return a.cost < b.cost; });
    // Neighbors are alike: the best of every few.
    std::vector<Instant> apart;
    for (const Instant& instant : instants_) {
      const bool near = std::any_of(apart.begin(), apart.end(), [&](const Instant& other) {
        return std::abs(other.time - instant.time) < kInstantsApart;
      });
      if (!near && apart.size() < kMostInstants) apart.push_back(instant);
    }
    instants_ = std::move(apart);
  }

  /// Bodies that may be hit at an instant, the likeliest first.
  std::vector<int> TargetsAt(const State& receiver, double height) const {
    if (at_ >= 0) return {at_};
    std::vector<int> targets;
    for (size_t b = 0; b < character_.bodies.size(); ++b) {
      if (!HasSide(character_.bodies[b].name)) targets.push_back(static_cast<int>(b));
    }
    std::stable_sort(targets.begin(), targets.end(), [&](int a, int b) {
      const auto off = [&](int body) { return std::abs(receiver[static_cast<size_t>(body)].position.y() - height); };
      return off(a) < off(b);
    });
    return targets;
  }

  /// Keeps what lands as aimed.
  void Try(const Instant& instant, double shift, double sideways) {
    const double wanted = std::clamp(instant.time, 0.1, std::max(0.1, receiver_.duration() - 1));
    const double hit = wanted + shift;  // of the receiver's motion
    if (hit < 0.1 || hit > receiver_.duration() - 0.3) return;
    const double lead = std::min({instant.time, hit, kLongestLead});
    ++tries_;
    State struck, striking;
    Pose pose;
    receiver_.PoseAt(hit, pose);
    character::ForwardKinematics(character_, pose, struck);
    attacker_.PoseAt(instant.time, pose);
    character::ForwardKinematics(attacker_.character(), pose, striking);
    // The receiver's heading is that from which the strike comes, turned.
    Vec3 along(instant.velocity.x(), 0, instant.velocity.z());
    if (along.norm() < 0.3 * instant.speed) {  // it comes from above or below: the attacker's front is along
      along = Heading(striking[root_].orientation) * Vec3::UnitZ();
    }
    along.normalize();
    const double toward = std::atan2(-along.x(), -along.z());
    const Quat turn = AxisRotation(1, toward - o_.facing) *
                      Heading(struck[static_cast<size_t>(character_.root)].orientation).conjugate();
    character::Place(turn, Vec3::Zero(), struck);
    const Vec3 across = Vec3::UnitY().cross(along);
    const character::Body& with = attacker_.character().bodies[static_cast<size_t>(blow_.with)];
    const character::BodyState& blow = striking[static_cast<size_t>(blow_.with)];
    for (const int at : TargetsAt(struck, instant.position.y())) {
      const character::Body& body = character_.bodies[static_cast<size_t>(at)];
      character::BodyState there = struck[static_cast<size_t>(at)];
      const auto distance = [&](double ahead) {
        there.position.x() = instant.position.x() + ahead * along.x() + sideways * across.x();
        there.position.z() = instant.position.z() + ahead * along.z() + sideways * across.z();
        return character::BodyDistance(with, blow, body, there);
      };
      double inside = 0, outside = kFarthestPlace;
      if (const double least = distance(0); least > 0) {
        nearest_ = std::min(nearest_, least);
        struck_height_ = struck[static_cast<size_t>(at)].position.y();
        continue;
      }
      while (outside - inside > kTouching) {
        const double middle = 0.5 * (inside + outside);
        (distance(middle) > 0 ? outside : inside) = middle;
      }
      distance(outside);
      Vec3 offset = there.position - struck[static_cast<size_t>(at)].position;
      offset.y() = 0;
      Aim aim{blow_, at, 0, 0, turn, offset, 0, {}};
      aim.blow.time = instant.time;
      aim.blow.speed = instant.speed;
      aim.blow.position = instant.position;
      aim.blow.velocity = instant.velocity;
      const Vec3 apart = struck[static_cast<size_t>(character_.root)].position + offset - striking[root_].position;
      aim.distance = std::hypot(apart.x(), apart.z());
      double shown = lead;
      for (size_t k = 0; k <= std::size(kShortLeads); ++k) {
        aim.at = at;
        aim.attacker_start = instant.time - shown;
        aim.receiver_start = hit - shown;
        if (Judge(aim, shown)) {
          aims_.push_back(aim);
          return;
        }
        while (k < std::size(kShortLeads) && kShortLeads[k] >= shown) ++k;
        // Where it is the strike itself that is hindered a later beginning does not help.
        if (k == std::size(kShortLeads) || aim.first_touch.time >= shown - kShortLeads[k]) break;
        shown = kShortLeads[k];
      }
    }
  }

  /// Looks for the first touch; the aim is kept where it is the best so far.
  bool Judge(Aim& aim, double lead) {
    const ReferenceMotion other =
        Placed(PartOf(receiver_, aim.receiver_start, lead + kBlowWithin), aim.turn, aim.offset);
    const ReferenceMotion own = PartOf(attacker_, aim.attacker_start, lead + kBlowWithin);
    // Most obstacles are met shortly before; a coarse look at that costs little.
    bool in_the_way = false;
    Pose pose;
    State a, b;
    for (double time = std::max(0.0, lead - kNearTouch); time < lead - kCoarse && !in_the_way; time += kCoarse) {
      other.PoseAt(time, pose);
      character::ForwardKinematics(character_, pose, a);
      own.PoseAt(time, pose);
      character::ForwardKinematics(attacker_.character(), pose, b);
      const character::BodyPair pair = character::NearestBodies(character_, a, attacker_.character(), b);
      if (pair.distance > 0) continue;
      in_the_way = true;
      aim.first_touch = {time, pair, true};
    }
    if (!in_the_way) aim.first_touch = character::FirstTouch(other, own, 0, lead + kBlowWithin);
    // If the target is not named, it is what the strike meets first.
    const bool with_other = aim.first_touch.touch && aim.first_touch.bodies.second == blow_.with && !in_the_way;
    if (at_ < 0 && with_other && !aim.as_aimed()) {
      aim.at = aim.first_touch.bodies.first;
      const double cost = kOfOthers + CostOf(aim, lead);
      if (cost < best_cost_) {
        best_cost_ = cost;
        best_ = aim;
      }
      return false;
    }
    const double cost = CostOf(aim, lead);
    if (cost < best_cost_) {
      best_cost_ = cost;
      best_ = aim;
    }
    return aim.first_touch.touch && aim.as_aimed() && DistanceOff(aim) < kTenth;
  }

  double DistanceOff(const Aim& aim) const { return o_.distance ? std::abs(aim.distance - *o_.distance) : 0; }

  double CostOf(const Aim& aim, double lead) const {
    if (!aim.first_touch.touch) return 100;
    const double early = std::abs(lead - aim.first_touch.time);
    return (aim.as_aimed() ? 0 : 10) + early + DistanceOff(aim) / kTenth + 1 - aim.blow.speed / blow_.speed;
  }

  std::vector<Aim> Found() const {
    if (!aims_.empty()) return aims_;
    if (best_) return {*best_};
    const std::string with = attacker_.character().bodies[static_cast<size_t>(blow_.with)].name;
    const std::string at = o_.at.empty() ? "the head or the trunk" : "the " + o_.at;
    if (nearest_ == std::numeric_limits<double>::infinity()) {
      throw InputError(name_,
                       "a receiver whose clip of " + io::Fixed(receiver_.duration(), 2) +
                           " s has no instant at which it can be struck",
                       "at least 0.4 s");
    }
    throw InputError(name_,
                     "a strike of the " + with + " that passes " + at + " at " + io::Fixed(100 * nearest_, 0) +
                         " cm: it is " + io::Fixed(blow_.position.y(), 2) +
                         " m above the ground where it is fastest, and " + at + " " + io::Fixed(struck_height_, 2) +
                         " m",
                     "a body at the height of the strike");
  }

  static constexpr double kOfOthers = 2;  // cost of a limb that is met where the trunk or the head was looked for
  static constexpr double kTenth = 0.1;  // [m] by which a height or a distance may be off, and which costs as all speed

  const ReferenceMotion &attacker_, &receiver_;
  const Character& character_;
  const AimOptions& o_;
  const std::string& name_;
  double within_;
  int at_;
  Blow blow_;
  size_t root_ = 0;
  double farthest_ = 0;  // reach of the body that strikes [m]
  std::vector<Instant> instants_;
  size_t tries_ = 0;
  std::vector<Aim> aims_;
  std::optional<Aim> best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
  double nearest_ = std::numeric_limits<double>::infinity(), struck_height_ = 0;
};

}  // namespace

Blow FindBlow(const ReferenceMotion& motion, int with, double from, double to) {
  const Character& character = motion.character();
  std::vector<int> limbs;
  if (with >= 0) {
    limbs.push_back(with);
  } else {
    for (const int limb : character.end_effectors) {
      if (HasSide(character.bodies[static_cast<size_t>(limb)].name)) limbs.push_back(limb);
    }
  }
  Blow best;
  double best_score = 0;
  const double rest_height = character.bodies[static_cast<size_t>(character.root)].rest_position.y();
  for (const int limb : limbs) {
    double farthest = 0;
    for (const Moment& moment : MomentsOf(motion, limb, from, to, farthest)) {
      // A step is no kick: what is not asked for by name strikes above the knee.
      if (!moment.ReachesOut(farthest) || (with < 0 && moment.position.y() < kStepHeight * rest_height)) continue;
      const double speed = moment.velocity.norm(), score = speed * moment.reach.norm() / farthest;
      if (score <= best_score) continue;
      best_score = score;
      best = {limb, moment.time, speed, moment.position, moment.velocity};
    }
  }
  return best;
}

std::vector<Aim> AimsAt(const ReferenceMotion& attacker, const ReferenceMotion& receiver, const AimOptions& options,
                        double within, const std::string& name, size_t most) {
  return Aiming(attacker, receiver, options, within, name).Run(most);
}

}  // namespace retrace::runs
