#include "retrace/exports/trc.h"

#include <vector>

#include "opensim.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/number.h"

namespace retrace::exports {
namespace {

/// A point that is fixed to a body.
struct Marker {
  std::string name;
  size_t body = 0;
  Vec3 place = Vec3::Zero();  ///< from its center of mass, in its axes [m]
};

std::vector<Marker> MarkersOf(const character::Character& character) {
  std::vector<Marker> markers = {{"root", static_cast<size_t>(character.root), Vec3::Zero()}};
  const auto from_center = [&](size_t body, const Vec3& at_rest) {
    return Vec3(at_rest - character.bodies[body].rest_position);
  };
  for (const character::Joint& joint : character.joints) {
    const auto parent = static_cast<size_t>(joint.parent);
    markers.push_back({joint.name, parent, from_center(parent, joint.anchor)});
  }
  const motion::Skeleton skeleton = character::SkeletonOf(character);
  for (const motion::Joint& tip : skeleton.joints) {
    if (!tip.end_site) continue;
    const int body = character.FindBody(skeleton.joints[static_cast<size_t>(tip.parent)].name);
    const int joint = character.JointOf(body);
    const auto b = static_cast<size_t>(body);
    const Vec3 base =
        joint < 0 ? character.bodies[b].rest_position : character.joints[static_cast<size_t>(joint)].anchor;
    markers.push_back({tip.name, b, from_center(b, base + tip.offset)});
  }
  return markers;
}

}  // namespace

std::string FormatTrc(const ExportedMotion& motion, double rate) {
  const std::vector<Marker> markers = MarkersOf(motion.character);
  const std::vector<character::State> frames = FramesAt(motion.trajectory, rate);
  const std::string per_second = io::Number(rate), count = std::to_string(frames.size());
  std::string text = "PathFileType\t4\t(X/Y/Z)\tmarkers.trc\n";
  text += "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n";
  for (const std::string& value : {per_second, per_second, count, std::to_string(markers.size()), std::string("mm"),
                                   per_second, std::string("1")}) {
    text.append(value).append("\t");
  }
  text.append(count).append("\n");
  text += "Frame#\tTime";
  for (const Marker& marker : markers) text.append("\t").append(ColumnName(marker.name)).append("\t\t");
  text += "\n\t";
  for (size_t i = 1; i <= markers.size(); ++i) {
    for (const char* axis : {"\tX", "\tY", "\tZ"}) text.append(axis).append(std::to_string(i));
  }
  text += "\n\n";
  for (size_t k = 0; k < frames.size(); ++k) {
    text += std::to_string(k + 1) + "\t";
    io::AppendNumber(text, static_cast<double>(k) / rate);
    for (const Marker& marker : markers) {
      const character::BodyState& body = frames[k][marker.body];
      const Vec3 at = ToOpenSim(Vec3(1000 * (body.position + body.orientation * marker.place)));
      for (int axis = 0; axis < 3; ++axis) {
        text += '\t';
        io::AppendFixed(text, at[axis], 6);
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace retrace::exports
