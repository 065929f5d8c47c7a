#include "stated_masses.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "retarget.h"
#include "retrace/character/builder.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/segments.h"
#include "retrace/retargeting/reference_report.h"

namespace retrace::character {
namespace {

constexpr double kSmallestMass = 1e-3;  // of a body with a part of another's [kg]

/// Mass, center and moments about it, in the axes of a body.
struct MassPart {
  double mass = 0;
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();

  Mat3 About(const Vec3& point) const {
    const Vec3 d = center - point;
    return inertia + mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  }
};

MassPart Sum(const std::vector<MassPart>& parts) {
  MassPart sum;
  for (const MassPart& part : parts) {
    sum.mass += part.mass;
    sum.center += part.mass * part.center;
  }
  if (!(sum.mass > 0)) return sum;
  sum.center /= sum.mass;
  for (const MassPart& part : parts) sum.inertia += part.About(sum.center);
  return sum;
}

/// Whether a body can have such moments.
bool Possible(const Mat3& inertia) {
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(inertia).eigenvalues();
  return moments[0] > 0 && moments[0] + moments[1] > moments[2];
}

/// The nearest moments that a body can have: some files round theirs, or leave them out.
Mat3 MadePossible(const Mat3& inertia, double mass) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(0.5 * (inertia + inertia.transpose()));
  // Second moments of the mass along the principal axes.
  constexpr double kThinnest = 0.01;  // [m]
  const Vec3& moments = solver.eigenvalues();
  const Vec3 second = (0.5 * moments.sum() - moments.array()).max(mass * kThinnest * kThinnest).matrix();
  const Vec3 possible = (second.sum() - second.array()).matrix();
  return solver.eigenvectors() * possible.asDiagonal() * solver.eigenvectors().transpose();
}

class StatedMasses {
 public:
  StatedMasses(const Character& character, const motion::Clip& clip, const SkeletonMap& map)
      : character_(character), clip_(clip), map_(map), parts_(character.bodies.size()), carrier_(parts_.size(), -1) {
    for (const Joint& joint : character.joints) carrier_[static_cast<size_t>(joint.child)] = joint.parent;
  }

  std::optional<Character> Make(const std::string& name, const ReferenceOptions& options) {
    if (clip_.masses.size() != clip_.skeleton.joints.size()) return std::nullopt;
    ReferenceReport report;
    const std::vector<Pose> poses = Retarget(character_, clip_, name, options, report);
    if (report.up_axis != "y" || poses.empty()) return std::nullopt;
    FindParts(poses, report);
    if (!(parts_[static_cast<size_t>(character_.root)].mass > 0)) return std::nullopt;
    Share();
    KeepShares();
    return Build(name);
  }

 private:
  /// The body of the character that a joint of the clip moves; -1: none.
  int BodyOf(size_t joint, const motion::GlobalPose& rest) const {
    const auto mapped = [&](size_t j) {
      for (const auto& [segment, source] : map_.segments) {
        if (source.orientation != static_cast<int>(j) && source.position != static_cast<int>(j)) continue;
        if (const int body = BodyOfSegment(character_, segment); body >= 0) return body;
      }
      return -1;
    };
    const int own = mapped(joint);
    if (own >= 0) return own;
    // The nearest joint of a segment, before it or after it.
    const Vec3 center = rest.positions[joint] + clip_.masses[joint].center;
    int body = -1;
    double nearest = 0;
    const auto look_at = [&](size_t j) {
      const int candidate = mapped(j);
      if (candidate < 0) return false;
      const double distance = (rest.positions[j] - center).norm();
      if (body < 0 || distance < nearest) {
        body = candidate;
        nearest = distance;
      }
      return true;
    };
    const auto parent = [&](size_t j) { return clip_.skeleton.joints[j].parent; };
    for (int j = parent(joint); j >= 0 && !look_at(static_cast<size_t>(j)); j = parent(static_cast<size_t>(j))) {
    }
    for (size_t j = joint + 1; j < clip_.skeleton.joints.size(); ++j) {
      int above = parent(j);
      while (above > static_cast<int>(joint)) above = parent(static_cast<size_t>(above));
      if (above == static_cast<int>(joint)) look_at(j);
    }
    return body;
  }

  void FindParts(const std::vector<Pose>& poses, const ReferenceReport& report) {
    motion::Frame at_rest;
    for (const motion::Joint& joint : clip_.skeleton.joints) {
      at_rest.translations.push_back(joint.offset);
      at_rest.rotations.push_back(Quat::Identity());
    }
    motion::GlobalPose pose;
    motion::ForwardKinematics(clip_.skeleton, at_rest, pose);
    std::vector<int> body_of;
    for (size_t j = 0; j < clip_.masses.size(); ++j) {
      body_of.push_back(clip_.masses[j].mass > 0 ? BodyOf(j, pose) : -1);
    }
    std::vector<MassPart> means(clip_.masses.size());
    beside_.assign(parts_.size(), std::vector<BodyState>(parts_.size()));
    State state;
    const double share = 1 / static_cast<double>(poses.size());
    const double scale = report.scale;
    for (size_t i = 0; i < poses.size(); ++i) {
      motion::ForwardKinematics(clip_.skeleton, clip_.frames[static_cast<size_t>(report.lead_in_frames) + i], pose);
      ForwardKinematics(character_, poses[i], state);
      for (size_t j = 0; j < means.size(); ++j) {
        if (body_of[j] < 0) continue;
        const BodyState& body = state[static_cast<size_t>(body_of[j])];
        const Vec3 center = scale * (pose.positions[j] + pose.orientations[j] * clip_.masses[j].center);
        means[j].center += share * (body.orientation.conjugate() * (center - body.position));
        const Mat3 turn = (body.orientation.conjugate() * pose.orientations[j]).toRotationMatrix();
        means[j].inertia += share * scale * scale * turn * clip_.masses[j].inertia * turn.transpose();
      }
    }
    for (size_t b = 0; b < parts_.size(); ++b) {
      for (size_t other = 0; other < parts_.size(); ++other) {  // those of one group move as one: any pose shows it
        const Quat back = state[b].orientation.conjugate();
        beside_[b][other].position = back * (state[other].position - state[b].position);
        beside_[b][other].orientation = back * state[other].orientation;
      }
      std::vector<MassPart> of_body;
      for (size_t j = 0; j < means.size(); ++j) {
        if (body_of[j] != static_cast<int>(b)) continue;
        means[j].mass = clip_.masses[j].mass;
        of_body.push_back(means[j]);
      }
      parts_[b] = Sum(of_body);
    }
  }

  /// Bodies of which nothing is stated move as the body that carries them: they get a part of its mass.
  void Share() {
    std::vector<std::vector<size_t>> takers(parts_.size());
    for (size_t b = 0; b < parts_.size(); ++b) {
      if (parts_[b].mass > 0) continue;
      int giver = carrier_[b];
      while (giver >= 0 && !(parts_[static_cast<size_t>(giver)].mass > 0)) giver = carrier_[static_cast<size_t>(giver)];
      if (giver >= 0) takers[static_cast<size_t>(giver)].push_back(b);
    }
    for (size_t giver = 0; giver < parts_.size(); ++giver) {
      if (!takers[giver].empty()) Divide(giver, takers[giver]);
    }
  }

  /// Generic models that are scaled to a person have feet of 2.5 % of the mass, twice those of people, and the fore-aft
  /// force of a walk comes out a third too small: shares of mass and the centers of the limbs stay the character's
  /// (de Leva 1996). The center of the trunk, on which the center of pressure depends most, is the model's.
  void KeepShares() {
    double mass = 0;
    for (const MassPart& part : parts_) mass += part.mass;
    for (size_t b = 0; b < parts_.size(); ++b) {
      const Body& body = character_.bodies[b];
      const double kept = mass * body.mass / character_.total_mass();
      parts_[b].inertia *= kept / parts_[b].mass;
      parts_[b].mass = kept;
      const bool trunk = body.segment == "pelvis" || body.segment == "trunk" || body.segment == "head";
      if (!trunk) parts_[b].center.setZero();
    }
  }

  void Divide(size_t giver, const std::vector<size_t>& takers) {
    const std::vector<Body>& bodies = character_.bodies;
    const MassPart whole = parts_[giver];
    double usual = bodies[giver].mass;
    for (const size_t b : takers) usual += bodies[b].mass;
    constexpr int kMostHalvings = 12;
    for (int halvings = 0; halvings < kMostHalvings; ++halvings) {
      MassPart rest = whole;
      Vec3 moment = whole.mass * whole.center;
      std::vector<MassPart> given;
      for (const size_t b : takers) {
        MassPart part;
        part.mass = std::max(kSmallestMass, std::ldexp(whole.mass * bodies[b].mass / usual, -halvings));
        const BodyState& beside = beside_[giver][b];
        const Mat3 turn = beside.orientation.toRotationMatrix();
        part.inertia = turn * bodies[b].InertiaTensor() * turn.transpose() * (part.mass / bodies[b].mass);
        part.center = beside.position;
        rest.mass -= part.mass;
        moment -= part.mass * part.center;
        given.push_back(part);
      }
      rest.center = moment / rest.mass;
      rest.inertia = whole.About(rest.center);
      for (const MassPart& part : given) rest.inertia -= part.About(rest.center);
      if (!Possible(rest.inertia) && halvings + 1 < kMostHalvings) continue;
      parts_[giver] = rest;
      for (size_t k = 0; k < takers.size(); ++k) {
        MassPart& part = parts_[takers[k]];  // as before, with another mass
        part.mass = given[k].mass;
        part.inertia = bodies[takers[k]].InertiaTensor() * (part.mass / bodies[takers[k]].mass);
      }
      return;
    }
  }

  Character Build(const std::string& name) const {
    double mass = 0;
    for (const MassPart& part : parts_) mass += part.mass;
    const double heavier = mass / character_.total_mass();
    CharacterBuilder builder(character_);
    builder.SetSource(
        "The lengths of a recorded skeleton, with the mass, the moments of inertia and the center of the trunk that "
        "its "
        "file states; shares of mass are the character's.");
    for (size_t b = 0; b < parts_.size(); ++b) {
      const Body& body = character_.bodies[b];
      const MassPart& part = parts_[b];
      builder.SetPosition(body.name, body.rest_position + part.center);
      builder.SetMass(body.name, part.mass);
      builder.SetInertia(body.name, Possible(part.inertia) ? part.inertia : MadePossible(part.inertia, part.mass));
      std::vector<Shape> shapes = body.shapes;
      for (Shape& shape : shapes) shape.offset -= part.center;
      builder.SetShapes(body.name, shapes);
    }
    for (const Joint& joint : character_.joints) {
      builder.SetServo(joint.name, heavier * joint.kp, heavier * joint.kd);
    }
    return builder.Build(name);
  }

  const Character& character_;
  const motion::Clip& clip_;
  const SkeletonMap& map_;
  std::vector<MassPart> parts_;                 // (bodies) from the center of mass that the body has in the character
  std::vector<std::vector<BodyState>> beside_;  // (bodies, bodies) where a body is in the axes of another, in a pose
  std::vector<int> carrier_;                    // (bodies) that the body hangs on; -1: it is the root
};

}  // namespace

std::optional<Character> WithStatedMasses(const Character& character, const motion::Clip& clip, const SkeletonMap& map,
                                          const std::string& name, const ReferenceOptions& options) {
  return StatedMasses(character, clip, map).Make(name, options);
}

}  // namespace retrace::character
