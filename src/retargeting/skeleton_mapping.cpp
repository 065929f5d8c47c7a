#include "retrace/retargeting/skeleton_mapping.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/remedy.h"
#include "skeleton_topology.h"

namespace retrace::character {
namespace {

/// Lower-case letters and digits of a name, without the prefixes that exporters put in front.
std::string Normalize(const std::string& name) {
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

/// The words of a name, in lower case: they end at separators, at digits' ends and where a capital follows a small
/// letter. "Bip01 L UpperArm" is bip01, l, upper, arm.
std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words;
  char before = ' ';
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (std::isalnum(code)) {
      const bool begins = !std::isalnum(static_cast<unsigned char>(before)) ||
                          (std::isupper(code) && !std::isupper(static_cast<unsigned char>(before)));
      if (begins) words.emplace_back();
      words.back() += static_cast<char>(std::tolower(code));
    }
    before = c;
  }
  return words;
}

/// A name with its side, if any, written out in front, and without the words that rigs put before all names.
std::string SideFirst(const std::string& name) {
  static const std::set<std::string> kRigWords = {"bip01",     "bip001", "bip", "def",  "org",
                                                  "mixamorig", "rig",    "jnt", "joint"};
  std::string side;
  std::string rest;
  for (const std::string& word : WordsOf(name.substr(name.rfind(':') + 1))) {
    if (side.empty() && (word == "l" || word == "left")) {
      side = "left";
    } else if (side.empty() && (word == "r" || word == "right")) {
      side = "right";
    } else if (!kRigWords.contains(word)) {
      rest += word;
    }
  }
  return side + rest;
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

const std::array<Family, 6>& Families() {
  static const std::array<Family, 6> kFamilies = {{
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
        {"@_toe", {"@toe", "@toebase", "@foot"}}}},
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
      // Names whose words give the side, wherever it stands (see SideFirst): Unreal, Blender, Biped, DAZ, Bandai, SMPL,
      // OpenSim, and the joints of this toolkit's own characters, as a GLB file has them.
      {"words",
       {{"pelvis", {"pelvis", "hips", "hip", "root"}},
        {"trunk",
         {"chestupper", "upperchest", "chest", "spine03", "spine3", "spine003", "spine02", "spine2", "spine002",
          "spine01", "spine1", "spine001", "thorax", "torso", "spine", "abdomenupper", "abdomen", "waist"}},
        {"head", {"head", "neck"}},
        {"@_clavicle", {"@clavicle", "@collar", "@sternoclavicular", "@shoulder"}},
        {"@_upper_arm", {"@upperarm", "@uparm", "@arm", "@shldr", "@shldrbend", "@humerus", "@shoulder"}},
        {"@_lower_arm", {"@lowerarm", "@forearm", "@lowarm", "@forearmbend", "@elbow", "@radius"}},
        {"@_hand", {"@hand", "@wrist"}},
        {"@_thigh", {"@upperleg", "@upleg", "@thigh", "@thighbend", "@hip", "@femur"}},
        {"@_shin", {"@lowerleg", "@lowleg", "@calf", "@shin", "@knee", "@tibia", "@leg"}},
        {"@_foot", {"@ankle", "@foot", "@talus"}},
        {"@_toe", {"@toes", "@toe", "@toebase", "@ball", "@foot"}}}},
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
  // One joint moves one segment: names that serve for two count for the one that cannot be done without.
  const auto same = [&](const std::string& a, const std::string& b) {
    return map.Has(a) && map.Has(b) && map.segments[a].position == map.segments[b].position;
  };
  for (const std::string side : {"left_", "right_"}) {
    if (same(side + "clavicle", side + "upper_arm")) map.segments.erase(side + "clavicle");
    if (same(side + "toe", side + "foot")) map.segments.erase(side + "toe");
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

/// All segments that a map can have.
std::set<std::string> SegmentNames() {
  std::set<std::string> names;
  for (const Rule& rule : Families().front().rules) {
    for (const char* side : {"left", "right"}) names.insert(ForSide(rule.segment, side));
  }
  return names;
}

/// The family with the most segments, and what it lacks.
SkeletonMap BestFamily(const motion::Skeleton& skeleton, std::vector<std::string>& missing) {
  std::map<std::string, int> plain;
  std::map<std::string, int> by_words;
  for (size_t j = 0; j < skeleton.joints.size(); ++j) {
    // The first of two equal names wins: exporters append helper joints of the same name further down the tree.
    if (skeleton.joints[j].end_site) continue;
    plain.try_emplace(Normalize(skeleton.joints[j].name), static_cast<int>(j));
    by_words.try_emplace(SideFirst(skeleton.joints[j].name), static_cast<int>(j));
  }
  SkeletonMap best;
  for (const Family& family : Families()) {
    SkeletonMap map = Match(family, std::string(family.name) == "words" ? by_words : plain);
    if (best.family.empty() || map.segments.size() > best.segments.size()) {
      missing = MissingSegments(map, family);
      best = std::move(map);
    }
  }
  return best;
}

std::string NamesOf(const motion::Skeleton& skeleton) {
  std::string names;
  int listed = 0;
  for (const motion::Joint& joint : skeleton.joints) {
    if (joint.end_site) continue;
    if (++listed > 30) return names + ", ...";
    names += (names.empty() ? "" : ", ") + joint.name;
  }
  return names;
}

std::string Listed(const std::set<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// Puts the joints that a user names into a map.
void ReadUserMap(const motion::Clip& clip, const io::JsonView& user, const std::set<std::string>& known,
                 SkeletonMap& map) {
  const auto joint = [&](const io::JsonView& view) {
    const int index = clip.skeleton.Find(view.String());
    if (index < 0) view.Expect("one of the joints " + NamesOf(clip.skeleton));
    return index;
  };
  if (!user.json().is_object()) user.Expect("an object of segments and the joints that move them");
  for (const auto& [segment, view] : user.Members()) {
    if (!known.contains(segment)) view.Fail("the segment \"" + segment + "\"", "one of " + Listed(known));
    SegmentSource source;
    if (view.json().is_object()) {
      view.AllowOnly({"position", "orientation"});
      source = {joint(view["position"]), joint(view["orientation"])};
    } else {
      source.position = source.orientation = joint(view);
    }
    map.segments[segment] = source;
  }
}

}  // namespace

SkeletonMap MapByNames(const motion::Clip& clip, const std::string& name, const std::vector<std::string>& segments,
                       const std::vector<std::string>& needed, const io::JsonView* user) {
  std::map<std::string, int> joints;
  for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
    if (!clip.skeleton.joints[j].end_site)
      joints.try_emplace(Normalize(clip.skeleton.joints[j].name), static_cast<int>(j));
  }
  SkeletonMap map;
  map.family = "the character's own names";
  for (const std::string& segment : segments) {
    const auto it = joints.find(Normalize(segment));
    if (it != joints.end()) map.segments[segment] = {it->second, it->second};
  }
  if (user != nullptr) {
    ReadUserMap(clip, *user, {segments.begin(), segments.end()}, map);
    map.family += ", with a map of the user";
  }
  std::set<std::string> missing;
  for (const std::string& segment : needed) {
    if (!map.Has(segment)) missing.insert(segment);
  }
  if (!missing.empty()) {
    throw WithHint<InputError>({Remedy::kSkeletonMap}, name,
                               "joints " + NamesOf(clip.skeleton) + ", none of which is named " + Listed(missing),
                               "joints named as the segments of the character, which is not human, or a map");
  }
  return map;
}

SkeletonMap MapSkeleton(const motion::Skeleton& skeleton, const std::string& name) {
  std::vector<std::string> missing;
  SkeletonMap map = BestFamily(skeleton, missing);
  if (missing.empty()) return map;
  std::string wanted;
  for (const std::string& segment : missing) wanted += (wanted.empty() ? "" : ", ") + segment;
  throw WithHint<InputError>(
      {Remedy::kSkeletonMap}, name, "joints " + NamesOf(skeleton) + ", none of which is known as " + wanted,
      "joint names of a known family (CMU, HumanIK, Mixamo, GAMES-105, BioVision, iClone, or names of "
      "which the words name side and part), a skeleton shaped like a human, or a map");
}

SkeletonMap MapClip(const motion::Clip& clip, const std::string& name, const io::JsonView* user) {
  std::vector<std::string> missing;
  SkeletonMap map = BestFamily(clip.skeleton, missing);
  if (!missing.empty()) {
    if (std::optional<SkeletonMap> shape = MapByTopology(clip)) {
      map = std::move(*shape);
      missing.clear();
    }
  }
  if (user == nullptr) return missing.empty() ? map : MapSkeleton(clip.skeleton, name);
  ReadUserMap(clip, *user, SegmentNames(), map);
  map.family = missing.empty() ? map.family + ", with a map of the user" : "a map of the user";
  std::string wanted;
  for (const std::string& segment : SegmentNames()) {
    if (!IsOptional(segment) && !map.Has(segment)) wanted += (wanted.empty() ? "" : ", ") + segment;
  }
  if (!wanted.empty()) user->Fail("a map without " + wanted, "a joint for each of them");
  return map;
}

}  // namespace retrace::character
