#include "segments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/skeleton_mapping.h"

namespace retrace::body_fitting {
namespace {

/// The joints as a recording of one frame, which is how joints are recognized.
motion::Clip ClipOf(const SkinnedMesh& mesh) {
  motion::Clip clip;
  clip.frame_time = 1;
  motion::Frame frame;
  for (const SkinJoint& joint : mesh.joints) {
    if ((joint.parent < 0) != (&joint == &mesh.joints.front()))
      throw std::invalid_argument("joints with several roots");
    const Vec3 above = joint.parent < 0 ? Vec3(Vec3::Zero()) : mesh.joints[Index(joint.parent)].place;
    clip.skeleton.joints.push_back({joint.name, joint.parent, joint.place - above, false});
    frame.translations.push_back(clip.skeleton.joints.back().offset);
    frame.rotations.push_back(Quat::Identity());
  }
  clip.frames.push_back(std::move(frame));
  return clip;
}

/// Which joint belongs to which segment, and at which joint each segment begins.
class JointTable {
 public:
  JointTable(const SkinnedMesh& mesh, const character::SkeletonMap& map, const std::string& name)
      : mesh_(mesh), of_joint_(mesh.joints.size()) {
    for (const auto& [segment, source] : map.segments) {
      Take(source.position, FootOf(segment));
      Take(source.orientation, FootOf(segment));
      if (!segment.ends_with("toe")) base_[segment] = source.position;
    }
    // A spine of several joints is the trunk from its first joint on; a neck of several is the head's.
    TakePath("trunk", "pelvis");
    TakePath("head", "trunk");
    for (size_t j = 0; j < of_joint_.size(); ++j) {
      if (!of_joint_[j].empty()) continue;
      const int parent = mesh.joints[j].parent;
      of_joint_[j] = parent < 0 ? "pelvis" : of_joint_[Index(parent)];
    }
    for (const std::string side : {"left_", "right_"}) {
      if (!base_.contains(side + "hand")) {
        throw InputError(name, "no joint of " + side + "hand", "joints of both hands, or a map that names them");
      }
    }
  }

  bool Has(const std::string& segment) const { return base_.contains(segment); }
  int BaseOf(const std::string& segment) const { return base_.at(segment); }
  const std::string& SegmentOf(int joint) const { return of_joint_[Index(joint)]; }

  /// The joint of a segment that is farthest from where it begins; nothing where it has no other.
  std::optional<Vec3> TipOf(const std::string& segment) const {
    const Vec3& base = mesh_.joints[Index(BaseOf(segment))].place;
    std::optional<Vec3> tip;
    for (size_t j = 0; j < of_joint_.size(); ++j) {
      if (of_joint_[j] != segment || !IsBelow(static_cast<int>(j), BaseOf(segment))) continue;
      if (!tip || (mesh_.joints[j].place - base).norm() > (*tip - base).norm()) tip = mesh_.joints[j].place;
    }
    if (tip && !((*tip - base).norm() > 0)) tip.reset();
    return tip;
  }

 private:
  static std::string FootOf(const std::string& segment) {
    return segment.ends_with("toe") ? segment.substr(0, segment.size() - 3) + "foot" : segment;
  }

  void Take(int joint, const std::string& segment) {
    std::string& owner = of_joint_[Index(joint)];
    if (owner.empty()) owner = segment;
  }

  bool IsBelow(int joint, int ancestor) const {
    for (int j = mesh_.joints[Index(joint)].parent; j >= 0; j = mesh_.joints[Index(j)].parent) {
      if (j == ancestor) return true;
    }
    return false;
  }

  /// Gives the joints between two segments to the lower one, which then begins at the first of them.
  void TakePath(const std::string& segment, const std::string& above) {
    const int arm = base_.at("left_upper_arm"), leg = base_.at("left_thigh");
    std::vector<int> path;
    int j = mesh_.joints[Index(base_.at(segment))].parent;
    for (; j >= 0 && j != base_.at(above); j = mesh_.joints[Index(j)].parent) {
      if (IsBelow(leg, j) || (segment == "head" && IsBelow(arm, j))) return Give(path, segment);
      path.push_back(j);
    }
    if (j >= 0) Give(path, segment);
  }
  void Give(const std::vector<int>& path, const std::string& segment) {
    for (const int joint : path) {
      if (!of_joint_[Index(joint)].empty()) continue;
      of_joint_[Index(joint)] = segment;
      base_[segment] = joint;
    }
  }

  const SkinnedMesh& mesh_;
  std::vector<std::string> of_joint_;
  std::map<std::string, int> base_;
};

struct SegmentRule {
  const char* name;
  const char* parent;
};
/// '@' stands for a side; parents first.
constexpr SegmentRule kTrunkRules[] = {{"pelvis", ""}, {"trunk", "pelvis"}, {"head", "trunk"}};
constexpr SegmentRule kLimbRules[] = {{"clavicle", "trunk"}, {"upper_arm", "clavicle"}, {"lower_arm", "upper_arm"},
                                      {"hand", "lower_arm"}, {"thigh", "pelvis"},       {"shin", "thigh"},
                                      {"foot", "shin"}};

class Poser {
 public:
  Poser(const SkinnedMesh& mesh, const JointTable& joints, double yaw)
      : mesh_(mesh), joints_(joints), turn_(AxisRotation(1, yaw)) {
    for (const SegmentRule& rule : kTrunkRules) Add(rule.name, rule.parent);
    for (const std::string side : {"left_", "right_"}) {
      for (const SegmentRule& rule : kLimbRules) {
        const std::string parent = rule.parent;
        const bool middle = parent == "trunk" || parent == "pelvis";
        Add(side + rule.name, middle ? parent : side + parent);
      }
    }
    AssignTriangles();
  }

  Segments Pose() {
    const auto count = segments_.names.size();
    rotations_.assign(count, Quat::Identity());
    moved_.resize(count);
    for (size_t s = 0; s < count; ++s) {
      const int parent = segments_.parents[s];
      moved_[s] = parent < 0 ? segments_.bases[s] : Moved(Index(parent), segments_.bases[s]);
      rotations_[s] = parent < 0 ? Quat(Quat::Identity()) : RotationOf(s, rotations_[Index(parent)]);
    }
    Segments posed = segments_;
    posed.surface = mesh_.surface;
    for (size_t v = 0; v < posed.surface.vertices.size(); ++v) {
      Vec3 sum = Vec3::Zero();
      for (const SkinWeight& weight : mesh_.weights[v]) {
        sum += weight.share * Moved(Index(SegmentOf(weight.joint)), turn_ * mesh_.surface.vertices[v]);
      }
      posed.surface.vertices[v] = sum;
    }
    posed.bases = moved_;
    for (size_t s = 0; s < count; ++s) {
      Eigen::Isometry3d move(rotations_[s] * turn_);
      move.translation() = Moved(s, Vec3::Zero());
      posed.moves.push_back(move);
    }
    for (size_t j = 0; j < mesh_.joints.size(); ++j) posed.of_joint.push_back(SegmentOf(static_cast<int>(j)));
    return posed;
  }

 private:
  void Add(const std::string& name, const std::string& parent) {
    if (!joints_.Has(name)) return;  // a clavicle
    int above = parent.empty() ? -1 : segments_.Find(parent);
    if (!parent.empty() && above < 0) above = segments_.Find("trunk");
    segments_.names.push_back(name);
    segments_.parents.push_back(above);
    segments_.bases.push_back(Place(joints_.BaseOf(name)));
  }

  Vec3 Place(int joint) const { return turn_ * mesh_.joints[Index(joint)].place; }
  int SegmentOf(int joint) const { return segments_.Find(joints_.SegmentOf(joint)); }

  void AssignTriangles() {
    std::vector<double> shares(segments_.names.size());
    for (const auto& triangle : mesh_.surface.triangles) {
      std::fill(shares.begin(), shares.end(), 0.0);
      for (const int corner : triangle) {
        for (const SkinWeight& weight : mesh_.weights[Index(corner)]) {
          shares[Index(SegmentOf(weight.joint))] += weight.share;
        }
      }
      segments_.of_triangle.push_back(
          static_cast<int>(std::max_element(shares.begin(), shares.end()) - shares.begin()));
    }
  }

  /// Where a segment's turn takes what it moves.
  Vec3 Moved(size_t segment, const Vec3& place) const {
    return moved_[segment] + rotations_[segment] * (place - segments_.bases[segment]);
  }

  /// Where the bone of a segment points in the file.
  Vec3 BoneOf(size_t s) const {
    for (size_t child = s + 1; child < segments_.names.size(); ++child) {
      if (segments_.parents[child] == static_cast<int>(s)) return segments_.bases[child] - segments_.bases[s];
    }
    if (const std::optional<Vec3> tip = joints_.TipOf(segments_.names[s])) return turn_ * *tip - segments_.bases[s];
    Vec3 sum = Vec3::Zero();
    double count = 0;
    for (size_t t = 0; t < segments_.of_triangle.size(); ++t) {
      if (segments_.of_triangle[t] != static_cast<int>(s)) continue;
      for (const int corner : mesh_.surface.triangles[t]) sum += turn_ * mesh_.surface.vertices[Index(corner)];
      count += 3;
    }
    return count > 0 ? Vec3(sum / count - segments_.bases[s]) : Vec3(Vec3::Zero());
  }

  Quat RotationOf(size_t s, const Quat& above) const {
    const std::string& name = segments_.names[s];
    const Vec3 bone = BoneOf(s);
    if (!(bone.norm() > 0)) return above;
    const auto turned_to = [&](const Vec3& direction) { return Quat(ShortestArc(above * bone, direction) * above); };
    if (name.ends_with("arm") || name.ends_with("hand")) {
      return turned_to(name.starts_with("left_") ? Vec3::UnitX() : Vec3(-Vec3::UnitX()));
    }
    if (name.ends_with("thigh") || name.ends_with("shin")) return turned_to(-Vec3::UnitY());
    // Feet stand on the floor in the file; only where they point to is changed.
    if (name.ends_with("foot") && std::hypot(bone.x(), bone.z()) > 0) {
      return AxisRotation(1, -std::atan2(bone.x(), bone.z()));
    }
    return Quat::Identity();
  }

  const SkinnedMesh& mesh_;
  const JointTable& joints_;
  Quat turn_;
  Segments segments_;
  std::vector<Quat> rotations_;  // (segments)
  std::vector<Vec3> moved_;      // (segments) their bases
};

/// About the vertical, so that the left is at x > 0. Throws InputError for a body that does not stand.
double YawOf(const SkinnedMesh& mesh, const JointTable& joints, const std::string& name) {
  const auto place = [&](const char* segment) { return mesh.joints[Index(joints.BaseOf(segment))].place; };
  const Vec3 spine = place("head") - place("pelvis");
  if (!(spine.y() > 0.7 * spine.norm())) {
    throw InputError(name, "a head that is not above the pelvis along y",
                     "a body that stands upright, y up as in glTF");
  }
  const Vec3 side = place("left_upper_arm") - place("right_upper_arm") + place("left_thigh") - place("right_thigh");
  if (!(std::hypot(side.x(), side.z()) > 0.1 * spine.norm())) {
    throw InputError(name, "shoulders and hips that are not beside each other", "a body with a left and a right side");
  }
  return std::atan2(side.z(), side.x());
}

}  // namespace

int Segments::Find(const std::string& name) const {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

RestPose PoseAtRest(const SkinnedMesh& mesh, const std::string& name, const io::JsonView* map) {
  const character::SkeletonMap found = character::MapClip(ClipOf(mesh), name, map);
  const JointTable joints(mesh, found, name);
  RestPose pose;
  pose.turned = YawOf(mesh, joints, name);
  pose.segments = Poser(mesh, joints, pose.turned).Pose();
  pose.segments.joints_by = found.family;
  return pose;
}

}  // namespace retrace::body_fitting
