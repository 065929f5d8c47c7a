#include "limbs.h"

#include <algorithm>
#include <cmath>

namespace retrace::robots {
namespace {

using character::Part;

constexpr double kLight = 0.002;    // share of the mass below which what hangs on a body is part of it (fingers)
constexpr double kNearFloor = 0.1;  // share of the height within which legs end
constexpr double kLowerPart = 0.4;  // share of a limb's length at which its lower part begins

}  // namespace

Limbs FindLimbs(const std::vector<BodyAtRest>& bodies) {
  const size_t n = bodies.size();
  Limbs found;
  found.parts.assign(n, Part::kBody);
  found.trunk.assign(n, false);
  std::vector<double> carried(n, 0);
  double total = 0, low = 1e9, high = -1e9;
  for (size_t b = n; b-- > 0;) {
    carried[b] += bodies[b].mass;
    if (bodies[b].parent >= 0) carried[static_cast<size_t>(bodies[b].parent)] += carried[b];
    total += bodies[b].mass;
    if (std::isfinite(bodies[b].lowest)) {
      low = std::min(low, bodies[b].lowest);
      high = std::max(high, bodies[b].highest);
    }
  }
  const auto heavy = [&](size_t b) { return carried[b] > kLight * total; };
  std::vector<int> branches(n, 0);
  for (size_t b = 1; b < n; ++b) branches[static_cast<size_t>(bodies[b].parent)] += heavy(b) ? 1 : 0;
  for (size_t b = 1; b < n; ++b) {
    if (!heavy(b) || branches[b] > 0) continue;  // no end of a limb
    Limb limb;
    for (auto at = static_cast<int>(b); at > 0; at = bodies[static_cast<size_t>(at)].parent) {
      if (branches[static_cast<size_t>(at)] > 1) break;
      limb.bodies.insert(limb.bodies.begin(), at);
    }
    // What carries no shape of its own ends where the body before it does.
    double lowest = bodies[b].lowest;
    for (size_t k = n; k-- > b + 1;) {
      int above = bodies[k].parent;
      while (above > static_cast<int>(b)) above = bodies[static_cast<size_t>(above)].parent;
      if (above == static_cast<int>(b)) lowest = std::min(lowest, bodies[k].lowest);
    }
    limb.leg = limb.bodies.size() > 1 && lowest <= low + kNearFloor * (high - low);
    found.limbs.push_back(std::move(limb));
  }
  std::stable_sort(found.limbs.begin(), found.limbs.end(), [](const Limb& a, const Limb& b) { return a.leg > b.leg; });
  for (const Limb& limb : found.limbs) {
    if (limb.bodies.size() < 2) continue;  // a head
    std::vector<double> way = {0};
    for (size_t k = 1; k < limb.bodies.size(); ++k) {
      way.push_back(way.back() + (bodies[static_cast<size_t>(limb.bodies[k])].joint -
                                  bodies[static_cast<size_t>(limb.bodies[k - 1])].joint)
                                     .norm());
    }
    // A neck of several joints is short, and carries the head alone.
    const bool arm = !limb.leg && way.back() > 0.1 * (high - low);
    if (!limb.leg && !arm) continue;
    for (size_t k = 0; k < limb.bodies.size(); ++k) {
      const bool last = k + 1 == limb.bodies.size();
      Part& part = found.parts[static_cast<size_t>(limb.bodies[k])];
      if (last) {
        part = limb.leg ? Part::kFoot : Part::kHand;
      } else if (way[k] >= kLowerPart * way.back() && way.back() > 0) {
        part = limb.leg ? Part::kLowerLeg : Part::kLowerArm;
      }
    }
  }
  for (size_t b = 1; b < n; ++b) {
    if (!heavy(b)) found.parts[b] = found.parts[static_cast<size_t>(bodies[b].parent)];
    found.trunk[b] = branches[b] > 1 || carried[b] > 0.3 * total;
  }
  for (size_t b = n; b-- > 1;) {  // a waist of several joints
    if (found.trunk[b]) found.trunk[static_cast<size_t>(bodies[b].parent)] = true;
  }
  return found;
}

}  // namespace retrace::robots
