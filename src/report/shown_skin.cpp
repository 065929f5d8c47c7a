#include "shown_skin.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "packed.h"
#include "retrace/skin/body_skin.h"

namespace retrace::report {
namespace {

/// Shares in 255ths that sum up to 255: the largest one takes what rounding leaves.
void AddShares(const std::array<skin::Influence, skin::kInfluences>& influences, std::vector<uint8_t>& bodies,
               std::vector<uint8_t>& shares) {
  int left = 255;
  const size_t first = shares.size();
  for (const skin::Influence& influence : influences) {
    const int share = static_cast<int>(std::lround(255 * influence.share));
    bodies.push_back(static_cast<uint8_t>(influence.body));
    shares.push_back(static_cast<uint8_t>(share));
    left -= share;
  }
  shares[first] = static_cast<uint8_t>(shares[first] + left);
}

}  // namespace

io::Json SkinToJson(const character::Character& character) {
  const skin::BodySkin body = skin::MakeBodySkin(character);
  if (body.empty() || body.binds.size() > std::numeric_limits<uint8_t>::max()) return {};
  Vec3 low = body.surface.vertices.front(), high = low;
  for (const Vec3& vertex : body.surface.vertices) {
    low = low.cwiseMin(vertex);
    high = high.cwiseMax(vertex);
  }
  const double step = (high - low).maxCoeff() / std::numeric_limits<uint16_t>::max();
  std::vector<uint16_t> vertices;
  std::vector<uint8_t> bodies, shares;
  for (size_t v = 0; v < body.surface.vertices.size(); ++v) {
    for (int axis = 0; axis < 3; ++axis) {
      vertices.push_back(static_cast<uint16_t>(std::lround((body.surface.vertices[v][axis] - low[axis]) / step)));
    }
    AddShares(body.influences[v], bodies, shares);
  }
  const auto indices = [&](auto number) {
    std::vector<decltype(number)> all;
    for (const auto& triangle : body.surface.triangles) {
      for (const int index : triangle) all.push_back(static_cast<decltype(number)>(index));
    }
    return Pack(all);
  };
  const bool few = body.surface.vertices.size() <= std::numeric_limits<uint16_t>::max();
  Floats binds;
  for (const skin::Bind& bind : body.binds) {
    binds.Add(bind.position);
    binds.Add(bind.orientation);
  }
  return {{"low", io::ToJson(low)},     {"step", step},
          {"vertices", Pack(vertices)}, {"triangles", few ? indices(uint16_t{0}) : indices(uint32_t{0})},
          {"bodies", Pack(bodies)},     {"shares", Pack(shares)},
          {"binds", binds.Packed()}};
}

}  // namespace retrace::report
