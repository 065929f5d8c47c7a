#include "retrace/character/skeleton_map.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "retrace/io/error.h"

namespace retrace::character {
namespace {

/// Lower-case letters and digits of a name, without the prefixes that exporters put in front.
std::string Normalise(const std::string& name) {
  const size_t colon = name.rfind(':');
  std::string plain;
  for (const char c : colon == std::string::npos ? name : name.substr(colon + 1)) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  static const std::string kPrefix = "character1";
  if (plain.starts_with(kPrefix) && plain.size() > kPrefix.size()) plain.erase(0, kPrefix.size());
  return plain;
}

/// Names that a family gives to a segment, most specific first. '@' stands for left/right, '%' for l/r.
struct Rule {
  const char* segment;
  std::vector<const char*> position;
  std::vector<const char*> orientation = {};  ///< where it differs
};
struct Family {
  const char* name;
  std::vector<Rule> rules;
};

const std::array<Family, 5>& Families() {
  static const std::array<Family, 5> kFamilies = {{
      {"CMU",
       {{"pelvis", {"root"}},
        {"trunk", {"thorax"}},
        {"head", {"head"}},
        {"@_clavicle", {"%clavicle"}},
        {"@_upper_arm", {"%humerus"}},
        {"@_lower_arm", {"%radius"}},
        {"@_hand", {"%wrist"}, {"%hand"}},
        {"@_thigh", {"%femur"}},
        {"@_shin", {"%tibia"}},
        {"@_foot", {"%foot"}},
        {"@_toe", {"%toes"}}}},
      {"HumanIK",
       {{"pelvis", {"hips", "pelvis", "hip"}},
        {"trunk", {"spine3", "spine2", "chest2", "spine1", "chest", "spine", "trunk"}},
        {"head", {"head"}},
        {"@_clavicle", {"@shoulder", "@shoulder1", "@collar", "%collar", "@clavicle"}},
        {"@_upper_arm", {"@arm", "@upperarm", "@uparm", "%shldr"}},
        {"@_lower_arm", {"@forearm", "@lowerarm", "@lowarm", "%forearm"}},
        {"@_hand", {"@hand", "%hand"}},
        {"@_thigh", {"@upleg", "@upperleg", "@thigh", "%thigh"}},
        {"@_shin", {"@leg", "@lowerleg", "@lowleg", "@shin", "%shin"}},
        {"@_foot", {"@foot", "%foot"}},
        {"@_toe", {"@toebase", "@toe", "@toes"}}}},
      {"GAMES-105",
       {{"pelvis", {"rootjoint"}},
        {"trunk", {"lowerbacktorso"}},
        {"head", {"torsohead"}},
        {"@_clavicle", {"%torsoclavicle"}},
        {"@_upper_arm", {"%shoulder"}},
        {"@_lower_arm", {"%elbow"}},
        {"@_hand", {"%wrist"}},
        {"@_thigh", {"%hip"}},
        {"@_shin", {"%knee"}},
        {"@_foot", {"%ankle"}},
        {"@_toe", {"%toejoint"}}}},
      {"BioVision",
       {{"pelvis", {"hips", "pelvis", "hip"}},
        {"trunk", {"chest4", "chest3", "chest2", "chest1", "chest", "spine2", "spine1", "spine", "torso"}},
        {"head", {"head", "neck"}},
        {"@_clavicle", {"@collar", "@clavicle"}},
        {"@_upper_arm", {"@shoulder"}},
        {"@_lower_arm", {"@elbow"}},
        {"@_hand", {"@wrist"}},
        {"@_thigh", {"@hip"}},
        {"@_shin", {"@knee"}},
        {"@_foot", {"@ankle"}},
        {"@_toe", {"@toe", "@toebase"}}}},
      {"iClone",
       {{"pelvis", {"ccbasehip"}},
        {"trunk", {"ccbasespine02", "ccbasespine01"}},
        {"head", {"ccbasehead"}},
        {"@_clavicle", {"ccbase%clavicle"}},
        {"@_upper_arm", {"ccbase%upperarm"}},
        {"@_lower_arm", {"ccbase%forearm"}},
        {"@_hand", {"ccbase%hand"}},
        {"@_thigh", {"ccbase%thigh"}},
        {"@_shin", {"ccbase%calf"}},
        {"@_foot", {"ccbase%foot"}},
        {"@_toe", {"ccbase%toebase"}}}},
  }};
  return kFamilies;
}

bool IsOptional(const std::string& segment) {
  return segment.ends_with("clavicle") || segment.ends_with("hand") || segment.ends_with("toe");
}

std::string ForSide(const std::string& pattern, const std::string& side) {
  std::string name;
  for (const char c : pattern) {
    if (c == '@') {
      name += side;
    } else if (c == '%') {
      name += side[0];
    } else {
      name += c;
    }
  }
  return name;
}

SkeletonMap Match(const Family& family, const std::map<std::string, int>& joints) {
  SkeletonMap map;
  map.family = family.name;
  const auto find = [&](const std::vector<const char*>& names, const std::string& side) {
    for (const char* name : names) {
      const auto it = joints.find(ForSide(name, side));
      if (it != joints.end()) return it->second;
    }
    return -1;
  };
  for (const Rule& rule : family.rules) {
    const bool sided = rule.segment[0] == '@';
    for (const std::string side : {"left", "right"}) {
      SegmentSource source;
      source.position = find(rule.position, side);
      source.orientation = rule.orientation.empty() ? source.position : find(rule.orientation, side);
      if (source.position >= 0 && source.orientation >= 0) map.segments[ForSide(rule.segment, side)] = source;
      if (!sided) break;
    }
  }
  return map;
}

std::vector<std::string> MissingSegments(const SkeletonMap& map, const Family& family) {
  std::vector<std::string> missing;
  for (const Rule& rule : family.rules) {
    for (const std::string side : {"left", "right"}) {
      const std::string segment = ForSide(rule.segment, side);
      if (!IsOptional(segment) && !map.Has(segment)) missing.push_back(segment);
      if (rule.segment[0] != '@') break;
    }
  }
  return missing;
}

}  // namespace

SkeletonMap MapSkeleton(const motion::Skeleton& skeleton, const std::string& name) {
  std::map<std::string, int> joints;
  for (size_t j = 0; j < skeleton.joints.size(); ++j) {
    // The first of two equal names wins: exporters append helper joints of the same name further down the tree.
    if (!skeleton.joints[j].end_site) joints.try_emplace(Normalise(skeleton.joints[j].name), static_cast<int>(j));
  }
  SkeletonMap best;
  std::vector<std::string> missing;
  for (const Family& family : Families()) {
    SkeletonMap map = Match(family, joints);
    if (best.family.empty() || map.segments.size() > best.segments.size()) {
      missing = MissingSegments(map, family);
      best = std::move(map);
    }
  }
  if (missing.empty()) return best;
  std::string wanted;
  for (const std::string& segment : missing) wanted += (wanted.empty() ? "" : ", ") + segment;
  std::string found;
  int listed = 0;
  for (const motion::Joint& joint : skeleton.joints) {
    if (joint.end_site) continue;
    if (++listed > 30) {
      found += ", ...";
      break;
    }
    found += (found.empty() ? "" : ", ") + joint.name;
  }
  throw InputError(name, "joints " + found + ", none of which is known as " + wanted,
                   "joint names of a known family (CMU, HumanIK, Mixamo, GAMES-105, BioVision, iClone)");
}

}  // namespace retrace::character
