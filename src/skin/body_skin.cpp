#include "retrace/skin/body_skin.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "flesh.h"
#include "retrace/math/rotation.h"
#include "surface_net.h"

namespace retrace::skin {
namespace {

constexpr double kLoweredArms = 0.8;  // [rad] below the T-pose: midway between arms that hang and arms that are raised
constexpr double kBand = 0.04;        // over which the weights of neighbors run into each other [m], at 1.75 m
constexpr int kRounds = 4;            // of smoothing the weights

/// Two distances as one that runs smoothly from one to the other (Quilez 2013, Smooth Minimum).
double Blended(double a, double b, double width) {
  const double share = std::max(width - std::abs(a - b), 0.0) / width;
  return std::min(a, b) - 0.25 * width * share * share;
}

/// Where the bodies stand when the surface is made: the rest pose with lowered arms.
std::vector<Bind> BindPose(const character::Character& character) {
  std::vector<Bind> binds;
  for (const character::Body& body : character.bodies) binds.push_back({body.rest_position, Quat::Identity()});
  for (const char* side : {"left_", "right_"}) {
    const int upper = character.FindBody(std::string(side) + "upper_arm");
    const Vec3 shoulder = character.joints[static_cast<size_t>(character.JointOf(upper))].anchor;
    const Quat turn = AxisRotation(2, shoulder.x() > 0 ? -kLoweredArms : kLoweredArms);
    for (size_t b = 0; b < binds.size(); ++b) {
      // What the upper arm carries.
      int body = static_cast<int>(b);
      while (body >= 0 && body != upper) {
        const int joint = character.JointOf(body);
        body = joint < 0 ? -1 : character.joints[static_cast<size_t>(joint)].parent;
      }
      if (body < 0) continue;
      binds[b].position = shoulder + turn * (binds[b].position - shoulder);
      binds[b].orientation = turn;
    }
  }
  return binds;
}

/// The distance from a body's flesh with the bodies in the bind pose.
class PosedFlesh {
 public:
  PosedFlesh(const character::Character& character, const FleshedBody& flesh, const std::vector<Bind>& binds)
      : flesh_(flesh) {
    for (size_t b = 0; b < binds.size(); ++b) {
      const Quat back = binds[b].orientation.conjugate();
      turn_.push_back(back.toRotationMatrix());
      shift_.push_back(character.bodies[b].rest_position - turn_.back() * binds[b].position);
      turned_.push_back(binds[b].orientation.vec() != Vec3::Zero());
    }
  }

  double At(const Vec3& place) const {
    double trunk = 1e9;
    for (const Flesh& flesh : flesh_.trunk) trunk = Blended(trunk, DistanceOf(flesh, place), flesh.blend);
    double least = trunk;
    for (size_t l = 0; l < flesh_.limbs.size(); ++l) {
      double limb = 1e9;
      const double width = flesh_.limbs[l].front().blend;  // with which it runs into the trunk
      for (const Flesh& flesh : flesh_.limbs[l]) {
        limb = std::min(1e9, Blended(limb, DistanceOf(flesh, place), flesh.blend));
      }
      limb = std::max(limb, flesh_.soles[l] - place.y());
      least = std::min(least, Blended(trunk, limb, width));
    }
    return least;
  }

  /// From each body's own flesh.
  void DistancesAt(const Vec3& place, std::vector<double>& distances) const {
    std::fill(distances.begin(), distances.end(), 1e9);
    const auto add = [&](const Flesh& flesh) {
      double& distance = distances[static_cast<size_t>(flesh.body)];
      distance = std::min(distance, DistanceOf(flesh, place));
    };
    for (const Flesh& flesh : flesh_.trunk) add(flesh);
    for (const auto& limb : flesh_.limbs) {
      for (const Flesh& flesh : limb) add(flesh);
    }
  }

 private:
  double DistanceOf(const Flesh& flesh, const Vec3& place) const {
    const auto b = static_cast<size_t>(flesh.body);
    return flesh.At(turned_[b] ? Vec3(turn_[b] * place + shift_[b]) : place);
  }

  const FleshedBody& flesh_;
  std::vector<Mat3> turn_;
  std::vector<Vec3> shift_;
  std::vector<bool> turned_;
};

/// Weights of the nearest body and of those that a joint connects with it, made smooth over the surface.
std::vector<std::array<Influence, kInfluences>> WeightsOf(const TriangleMesh& surface, const PosedFlesh& flesh,
                                                          const character::Character& character, double band) {
  const size_t bodies = character.bodies.size();
  std::vector<std::vector<double>> weights(surface.vertices.size(), std::vector<double>(bodies, 0));
  std::vector<double> distances(bodies);
  const auto are_joined = [&](size_t a, size_t b) {
    const auto carries = [&](size_t parent, size_t child) {
      const int joint = character.JointOf(static_cast<int>(child));
      return joint >= 0 && character.joints[static_cast<size_t>(joint)].parent == static_cast<int>(parent);
    };
    return a == b || carries(a, b) || carries(b, a);
  };
  for (size_t v = 0; v < surface.vertices.size(); ++v) {
    flesh.DistancesAt(surface.vertices[v], distances);
    const auto nearest = static_cast<size_t>(std::min_element(distances.begin(), distances.end()) - distances.begin());
    double sum = 0;
    for (size_t b = 0; b < bodies; ++b) {
      if (!are_joined(nearest, b)) continue;
      const double share = std::max(0.0, 1 - (distances[b] - distances[nearest]) / band);
      weights[v][b] = share * share;
      sum += weights[v][b];
    }
    for (double& weight : weights[v]) weight /= sum;
  }
  std::vector<std::vector<int>> neighbors(weights.size());
  for (const auto& triangle : surface.triangles) {
    for (size_t k = 0; k < 3; ++k) neighbors[static_cast<size_t>(triangle[k])].push_back(triangle[(k + 1) % 3]);
  }
  std::vector<std::vector<double>> next = weights;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t v = 0; v < weights.size(); ++v) {
      for (size_t b = 0; b < bodies; ++b) {
        double sum = weights[v][b];
        for (const int other : neighbors[v]) sum += weights[static_cast<size_t>(other)][b];
        next[v][b] = sum / static_cast<double>(neighbors[v].size() + 1);
      }
    }
    std::swap(weights, next);
  }
  std::vector<std::array<Influence, kInfluences>> influences;
  for (const std::vector<double>& shares : weights) influences.push_back(LargestShares(shares));
  return influences;
}

}  // namespace

std::array<Influence, kInfluences> LargestShares(const std::vector<double>& shares) {
  std::vector<Influence> all;
  for (size_t b = 0; b < shares.size(); ++b) all.push_back({static_cast<int>(b), shares[b]});
  all.resize(std::max(all.size(), kInfluences));
  std::stable_sort(all.begin(), all.end(), [](const Influence& a, const Influence& b) { return a.share > b.share; });
  double sum = 0;
  for (size_t k = 0; k < kInfluences; ++k) sum += all[k].share;
  std::array<Influence, kInfluences> largest;
  for (size_t k = 0; k < kInfluences; ++k) largest[k] = {all[k].body, all[k].share / sum};
  return largest;
}

BodySkin MakeBodySkin(const character::Character& character, double spacing) {
  BodySkin skin;
  const std::optional<FleshedBody> flesh = FleshOf(character);
  if (!flesh) return skin;
  skin.binds = BindPose(character);
  const PosedFlesh posed(character, *flesh, skin.binds);
  const double unit = character.height / 1.75;
  Vec3 low = Vec3::Constant(1e9), high = -low;
  for (size_t b = 0; b < skin.binds.size(); ++b) {
    for (const character::Shape& shape : character.bodies[b].shapes) {
      const Vec3 middle = skin.binds[b].position + skin.binds[b].orientation * shape.offset;
      const Vec3 reach = Vec3::Constant(shape.BoundingRadius() + 0.06 * unit);
      low = low.cwiseMin(middle - reach);
      high = high.cwiseMax(middle + reach);
    }
  }
  skin.surface = SurfaceNet([&](const Vec3& place) { return posed.At(place); }, low, high, spacing * unit);
  skin.influences = WeightsOf(skin.surface, posed, character, kBand * unit);
  return skin;
}

std::vector<Vec3> Posed(const BodySkin& skin, const character::State& state) {
  std::vector<Mat3> turns;
  std::vector<Vec3> shifts;
  for (size_t b = 0; b < skin.binds.size(); ++b) {
    const Quat turn = state[b].orientation * skin.binds[b].orientation.conjugate();
    turns.push_back(turn.toRotationMatrix());
    shifts.push_back(state[b].position - turns.back() * skin.binds[b].position);
  }
  std::vector<Vec3> places(skin.surface.vertices.size());
  for (size_t v = 0; v < places.size(); ++v) {
    Vec3 sum = Vec3::Zero();
    for (const Influence& influence : skin.influences[v]) {
      if (influence.share <= 0) continue;
      const auto b = static_cast<size_t>(influence.body);
      sum += influence.share * (turns[b] * skin.surface.vertices[v] + shifts[b]);
    }
    places[v] = sum;
  }
  return places;
}

}  // namespace retrace::skin
