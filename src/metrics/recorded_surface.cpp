#include "retrace/metrics/recorded_surface.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace retrace::metrics {

std::string Name(SurfaceKind kind) {
  switch (kind) {
    case SurfaceKind::kStep:
      return "step";
    case SurfaceKind::kSlope:
      return "slope";
    case SurfaceKind::kSeat:
      return "seat";
    case SurfaceKind::kTable:
      return "table";
  }
  return "";
}

double RecordedSurface::confidence() const {
  const bool rest = kind == SurfaceKind::kSeat || kind == SurfaceKind::kTable;
  const double half = rest ? kStrongRest : kStrongEvidence;
  return seconds / (seconds + half);
}

bool RecordedSurface::strong() const {
  return confidence() >= 0.5;
}

double RecordedSurface::tilt() const {
  return std::acos(std::clamp((orientation * Vec3::UnitY()).normalized().y(), -1.0, 1.0));
}

io::Json RecordedSurface::ToJson() const {
  return {{"kind", Name(kind)},        {"center", io::ToJson(center)}, {"orientation", io::ToJson(orientation)},
          {"size", {size_x, size_z}},  {"contacts", contacts},         {"start", interval.start},
          {"end", interval.end},       {"seconds", seconds},           {"borne", borne},
          {"confidence", confidence()}};
}

}  // namespace retrace::metrics
