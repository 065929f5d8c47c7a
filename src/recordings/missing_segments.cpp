#include "missing_segments.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "retrace/math/rotation.h"

namespace retrace::recordings {
namespace {

// Shares of the leg from hip to ankle, those of the character adult (de Leva 1996).
constexpr double kHipToWaist = 0.145, kWaistToShoulder = 0.44, kHalfShoulders = 0.236, kUpperArm = 0.34,
                 kLowerArm = 0.31, kHalfHips = 0.109, kThigh = 0.51, kAnkleHeight = 0.09, kFoot = 0.2;
constexpr double kHead = 0.28;          // its height [m]
constexpr double kBentKnee = -kPi / 2;  // of a leg that is not to stand, about z
constexpr double kTrunkOfLegs = 2;      // a pelvis that has the trunk's mass, too, is as much heavier than a leg
constexpr std::array kTrunks = {"torso", "thorax", "trunk", "spine"};

std::string NameOf(const char* segment, bool right) {
  return std::string(segment) + (right ? "_r" : "_l");
}

class Completion {
 public:
  explicit Completion(motion::Clip& clip) : clip_(clip) {
    for (size_t j = 0; j < joints().size(); ++j) {
      const int parent = joints()[j].parent;
      rest_.push_back(parent < 0 ? Vec3(Vec3::Zero()) : Vec3(rest_[static_cast<size_t>(parent)] + joints()[j].offset));
    }
  }

  void Add() {
    const bool known = Trunk() >= 0 || Has("femur", true) || Has("femur", false);
    if (!known) return;
    const bool legs = AddLeg();
    const bool torso = Trunk() >= 0;
    const double leg = legs ? LegLength() : LegOfArms();
    if (leg > 0 && !legs) AddLegs(leg);
    if (leg > 0 && !torso) AddTorso(leg);
    AddArms(leg, torso);
  }

 private:
  std::vector<motion::Joint>& joints() { return clip_.skeleton.joints; }
  const std::vector<motion::Joint>& joints() const { return clip_.skeleton.joints; }
  int Find(const std::string& name) const { return clip_.skeleton.Find(name); }
  bool Has(const char* segment, bool right) const { return Find(NameOf(segment, right)) >= 0; }
  const Vec3& RestOf(int joint) const { return rest_[static_cast<size_t>(joint)]; }
  const std::string& Name(int joint) const { return joints()[static_cast<size_t>(joint)].name; }

  int Trunk() const {
    for (const char* name : kTrunks) {
      if (const int found = Find(name); found >= 0) return found;
    }
    for (const bool right : {true, false}) {
      const int arm = Find(NameOf("humerus", right));
      if (arm >= 0) return joints()[static_cast<size_t>(TopOf(arm))].parent;
    }
    return -1;
  }

  /// Adds a joint that does not move in its parent.
  int Append(const std::string& name, int parent, const Vec3& offset, bool end = false,
             const Quat& turn = Quat::Identity()) {
    joints().push_back({name, parent, offset, end});
    rest_.push_back(RestOf(parent) + offset);
    if (!clip_.masses.empty()) clip_.masses.emplace_back();
    for (motion::Frame& frame : clip_.frames) {
      frame.translations.push_back(offset);
      frame.rotations.push_back(turn);
    }
    return static_cast<int>(joints().size()) - 1;
  }

  /// The limb that a joint belongs to, from where its names have a side on.
  int TopOf(int joint) const {
    const std::string side = Name(joint).substr(Name(joint).size() - 2);
    const auto above = [&] { return joints()[static_cast<size_t>(joint)].parent; };
    while (above() >= 0 && Name(above()).ends_with(side)) joint = above();
    return joint;
  }

  /// Adds the mirror image of a limb at rest. @param bent joint that is turned, or none
  void Mirror(int top, const std::string& bent) {
    std::vector<int> image(joints().size(), -1);
    const size_t count = joints().size();
    for (size_t j = static_cast<size_t>(top); j < count; ++j) {
      const motion::Joint joint = joints()[j];
      const bool first = static_cast<int>(j) == top;
      const int parent = first ? joint.parent : image[static_cast<size_t>(joint.parent)];
      if (parent < 0) continue;
      std::string name = joint.name;
      if (name.ends_with("_r") || name.ends_with("_l")) name.back() = name.back() == 'r' ? 'l' : 'r';
      image[j] = Append(name, parent, Vec3(joint.offset.x(), joint.offset.y(), -joint.offset.z()), joint.end_site,
                        name == bent ? AxisRotation(2, kBentKnee) : Quat(Quat::Identity()));
      if (clip_.masses.empty()) continue;
      const Vec3 signs(1, 1, -1);
      motion::StatedMass mass = clip_.masses[j];
      mass.center.z() = -mass.center.z();
      mass.inertia = (signs.asDiagonal() * mass.inertia * signs.asDiagonal()).eval();
      clip_.masses[static_cast<size_t>(image[j])] = mass;
    }
  }

  /// Adds a leg that is missing beside the other one. @return whether there are legs then
  bool AddLeg() {
    const bool right = Has("femur", true), left = Has("femur", false);
    if (!right && !left) return false;
    if (right != left) {
      const int top = TopOf(Find(NameOf("femur", right)));
      Mirror(top, NameOf("tibia", !right));
      clip_.doubts.push_back(std::string("the model has no ") + (right ? "left" : "right") +
                             " leg: one like the other goes with " + Name(joints()[static_cast<size_t>(top)].parent) +
                             ", bent, and carries nothing; forces hold where the person does not stand on it");
    }
    return true;
  }

  double LegLength() const {
    const int hip = Find("femur_r"), knee = Find("tibia_r"), ankle = Find("talus_r");
    if (hip < 0 || knee < 0 || ankle < 0) return 0;
    return (RestOf(hip) - RestOf(knee)).norm() + (RestOf(knee) - RestOf(ankle)).norm();
  }

  /// How long legs are beside such arms.
  double LegOfArms() const {
    for (const bool right : {true, false}) {
      const int shoulder = Find(NameOf("humerus", right)), elbow = Find(NameOf("radius", right));
      if (shoulder >= 0 && elbow >= 0) return (RestOf(shoulder) - RestOf(elbow)).norm() / kUpperArm;
    }
    return 0;
  }

  /// Puts a pelvis under a trunk that is the root.
  void PutPelvisUnder(const Vec3& waist_to_pelvis) {
    for (motion::Joint& joint : joints()) ++joint.parent;
    joints()[0].offset = -waist_to_pelvis;
    joints().insert(joints().begin(), motion::Joint{"pelvis", -1, Vec3::Zero(), false});
    rest_.insert(rest_.begin(), waist_to_pelvis);
    for (motion::Frame& frame : clip_.frames) {
      const Quat turn = frame.rotations[0];
      frame.translations.insert(frame.translations.begin(), frame.translations[0] + turn * waist_to_pelvis);
      frame.translations[1] = -waist_to_pelvis;
      frame.rotations.insert(frame.rotations.begin(), turn);
      frame.rotations[1] = Quat::Identity();
    }
  }

  void AddLegs(double leg) {
    clip_.masses.clear();
    std::string missing = "legs";
    if (Find("pelvis") < 0) {
      const int trunk = Trunk();
      if (joints()[static_cast<size_t>(trunk)].parent >= 0 || trunk != 0) return;
      PutPelvisUnder(Vec3(0, -0.5 * kHipToWaist * leg, 0));
      missing = "pelvis and no legs";
    }
    const int pelvis = Find("pelvis");
    const double hips = RestOf(Trunk()).y() - kHipToWaist * leg - RestOf(pelvis).y();
    for (const bool right : {true, false}) {
      const double side = right ? 1 : -1;
      const int thigh = Append(NameOf("femur", right), pelvis, Vec3(0, hips, side * kHalfHips * leg));
      const int shin = Append(NameOf("tibia", right), thigh, Vec3(0, -kThigh * leg, 0));
      const int foot = Append(NameOf("talus", right), shin, Vec3(0, -(1 - kThigh) * leg, 0));
      Append(NameOf("talus_end", right), foot, Vec3(kFoot * leg, -kAnkleHeight * leg, 0), true);
    }
    clip_.doubts.push_back("the model has no " + missing +
                           ": they go with the rest, straight down, and the mass is that of the height");
  }

  void AddTorso(double leg) {
    const int hip = Find("femur_r");
    const int pelvis = joints()[static_cast<size_t>(hip)].parent;
    if (pelvis < 0) return;
    const double waist = RestOf(hip).y() + kHipToWaist * leg - RestOf(pelvis).y();
    const int torso = Append("torso", pelvis, Vec3(0, waist, 0));
    DoubtPelvisMass(pelvis, torso);
  }

  /// A pelvis that weighs as a pelvis leaves out the mass of the trunk: none is then known of the person.
  void DoubtPelvisMass(int pelvis, int torso) {
    if (clip_.masses.empty()) return;
    double leg = 0;
    for (const char* segment : {"femur", "tibia", "talus", "calcn", "toes"}) {
      if (const int joint = Find(NameOf(segment, true)); joint >= 0)
        leg += clip_.masses[static_cast<size_t>(joint)].mass;
    }
    if (clip_.masses[static_cast<size_t>(pelvis)].mass > kTrunkOfLegs * leg) return;
    clip_.masses.clear();
    clip_.notes.push_back("the model states no mass of " + Name(torso) + ": the mass is that of the height");
  }

  void AddArms(double leg, bool had_torso) {
    const int trunk = Trunk();
    if (trunk < 0) return;
    const bool right = Has("humerus", true), left = Has("humerus", false), head = Find("head") >= 0;
    // A trunk that was added goes with what it was added to.
    const std::string on = Name(had_torso ? trunk : joints()[static_cast<size_t>(trunk)].parent);
    if (right != left) {
      Mirror(TopOf(Find(NameOf("humerus", right))), "");
      clip_.notes.push_back(std::string("the model has no ") + (right ? "left" : "right") +
                            " arm: one like the other goes with " + on);
    }
    Vec3 shoulders = kWaistToShoulder * leg * Vec3::UnitY();
    if (right || left) {
      shoulders = 0.5 * (RestOf(Find("humerus_r")) + RestOf(Find("humerus_l"))) - RestOf(trunk);
      if (head) return;
      AddHead(trunk, shoulders);
      clip_.notes.push_back("the model has no head: one goes with " + on);
      return;
    }
    if (!(leg > 0)) return;
    if (!head) AddHead(trunk, shoulders);
    for (const bool is_right : {true, false}) {
      const double side = is_right ? 1 : -1;
      const int upper =
          Append(NameOf("humerus", is_right), trunk, shoulders + side * kHalfShoulders * leg * Vec3::UnitZ());
      const int lower = Append(NameOf("radius", is_right), upper, -kUpperArm * leg * Vec3::UnitY());
      const int hand = Append(NameOf("hand", is_right), lower, -kLowerArm * leg * Vec3::UnitY());
      Append(NameOf("hand_end", is_right), hand, -0.5 * kLowerArm * leg * Vec3::UnitY(), true);
    }
    const std::string what = head ? "no arms: they go with " : "no arms and no head: they go with ";
    clip_.notes.push_back("the model has " + what + on + (clip_.masses.empty() ? "" : ", whose mass is theirs, too"));
  }

  void AddHead(int trunk, const Vec3& offset) {
    const int head = Append("head", trunk, offset);
    Append("head_end", head, Vec3(0, kHead, 0), true);
  }

  motion::Clip& clip_;
  std::vector<Vec3> rest_;  // (joints) from the root
};

}  // namespace

void AddMissingSegments(motion::Clip& clip) {
  Completion(clip).Add();
}

}  // namespace retrace::recordings
