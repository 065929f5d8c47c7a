#include "retrace/recordings/asf_amc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/math/euler.h"
#include "retrace/math/rotation.h"
#include "retrace/motion/append_vector.h"
#include "scanner.h"

namespace retrace::motion {
namespace {

/// The database's lengths are inches, times the `length` value [m].
constexpr double kInch = 0.0254;
constexpr double kDefaultRate = 120;  ///< frames per second of the CMU database

/// A degree of freedom: one number of a bone's line in the AMC file.
struct Dof {
  int axis = 0;  ///< 0 x, 1 y, 2 z
  bool rotation = false;
};

struct Bone {
  std::string name;
  Token place;  ///< of the name, for messages
  Vec3 direction = Vec3::Zero();
  double length = 0;
  Quat axis = Quat::Identity();  ///< orientation at rest of the frame in which the motion's angles are given
  std::vector<Dof> dofs;
  int parent = -1;
  std::vector<int> children;
  int joint = -1;  ///< in the clip's skeleton
};

struct AsfSkeleton {
  std::vector<Bone> bones;  ///< bones[0] is the root
  std::unordered_map<std::string, int> index;
  Vec3 root_position = Vec3::Zero();
  double unit = 0;      ///< [m], 0 when it is not in the file
  bool degrees = true;  ///< of the angles in the ASF, and in an AMC without a unit
};

class AsfReader {
 public:
  AsfReader(std::string_view text, const std::string& name) : scanner_(text, name, Scanner::Braces::kOrdinary) {}

  AsfSkeleton Read() {
    asf_.bones.emplace_back().name = "root";
    asf_.index["root"] = 0;
    bool sections[3] = {};  // root, bonedata, hierarchy
    const char* const names[3] = {":root", ":bonedata", ":hierarchy"};
    for (Token token = NextLine(); !token.end(); token = NextLine()) {
      if (token.text[0] != ':') scanner_.Fail(token, "a section (':units', ':root', ':bonedata', ':hierarchy')");
      for (int i = 0; i < 3; ++i) {
        if (EqualsNoCase(token.text, names[i]) && std::exchange(sections[i], true)) {
          scanner_.Fail(token, "a second " + Quoted(token.text), "one section of each kind");
        }
      }
      if (EqualsNoCase(token.text, ":units")) {
        ReadUnits();
      } else if (EqualsNoCase(token.text, ":root")) {
        ReadRoot();
      } else if (EqualsNoCase(token.text, ":bonedata")) {
        ReadBones();
      } else if (EqualsNoCase(token.text, ":hierarchy")) {
        if (!sections[1]) scanner_.Fail(token, "':bonedata' in front of ':hierarchy'");
        ReadHierarchy();
      } else {
        SkipSection();
      }
    }
    for (int i = 0; i < 3; ++i) {
      if (!sections[i]) scanner_.Fail(scanner_.Peek(), std::string("a section '") + names[i] + "'");
    }
    Check();
    return std::move(asf_);
  }

 private:
  static bool IsComment(const Token& token) { return !token.end() && token.text[0] == '#'; }

  /// First word of the next line that is neither empty nor a comment, without consuming it.
  const Token& PeekLine() {
    scanner_.SkipLine();
    while (IsComment(scanner_.Peek())) {
      scanner_.Next();
      scanner_.SkipLine();
    }
    return scanner_.Peek();
  }
  Token NextLine() {
    PeekLine();
    return scanner_.Next();
  }
  /// First word of the next line of the section, or nothing at the section's end.
  std::optional<Token> NextInSection() {
    if (PeekLine().end() || scanner_.Peek().text[0] == ':') return std::nullopt;
    return scanner_.Next();
  }
  void SkipSection() {
    while (NextInSection()) {
    }
  }

  double Angle(const std::string& what) {
    const double angle = scanner_.NumberInLine(what);
    return asf_.degrees ? Radians(angle) : angle;
  }

  Vec3 ReadVector(const std::string& what) {
    const double x = scanner_.NumberInLine("the x of " + what);
    const double y = scanner_.NumberInLine("the y of " + what);
    const double z = scanner_.NumberInLine("the z of " + what);
    return {x, y, z};
  }

  /// Order such as XYZ in which rotations about the axes are applied; XYZ when the line ends here.
  std::array<int, 3> ReadAxisOrder() {
    std::array<int, 3> order{0, 1, 2};
    if (scanner_.AtLineEnd()) return order;
    const Token token = scanner_.Next();
    bool used[3] = {};
    bool good = token.text.size() == 3;
    for (size_t i = 0; good && i < 3; ++i) {
      order[i] = (token.text[i] | 0x20) - 'x';
      good = order[i] >= 0 && order[i] < 3 && !std::exchange(used[order[i]], true);
    }
    if (!good) scanner_.Fail(token, "an order of the three axes such as XYZ");
    return order;
  }

  /// The rotation applied first stands first in the order: XYZ is Rz Ry Rx.
  static Quat AxisFrame(const Vec3& angles, const std::array<int, 3>& order) {
    Quat q = Quat::Identity();
    for (int i = 0; i < 3; ++i) q = AxisRotation(order[i], angles[i]) * q;
    return q;
  }

  std::vector<Dof> ReadDofs() {
    std::vector<Dof> dofs;
    bool used[2][3] = {};
    while (!scanner_.AtLineEnd()) {
      const Token token = scanner_.Next();
      Dof dof;
      const char kind = static_cast<char>(token.text[0] | 0x20);
      dof.rotation = kind == 'r';
      dof.axis = token.text.size() == 2 ? (token.text[1] | 0x20) - 'x' : -1;
      if ((kind != 'r' && kind != 't') || dof.axis < 0 || dof.axis > 2) {
        scanner_.Fail(token, "a degree of freedom (tx, ty, tz, rx, ry or rz)");
      }
      if (std::exchange(used[dof.rotation][dof.axis], true)) {
        scanner_.Fail(token, "a second " + Quoted(token.text), "each degree of freedom once");
      }
      dofs.push_back(dof);
    }
    return dofs;
  }

  void ReadUnits() {
    while (const auto token = NextInSection()) {
      if (EqualsNoCase(token->text, "length")) {
        const Token place = scanner_.Peek();
        const double length = scanner_.NumberInLine("the unit of length");
        if (length < 1e-6) scanner_.Fail(place, "a unit of length above 1e-6");
        asf_.unit = kInch / length;
      } else if (EqualsNoCase(token->text, "angle")) {
        if (scanner_.AtLineEnd()) scanner_.FailAtLineEnd("the end of the line", "'deg' or 'rad'");
        const Token unit = scanner_.Next();
        const bool radians = unit.text.size() >= 3 && EqualsNoCase(unit.text.substr(0, 3), "rad");
        if (!radians && (unit.text.size() < 3 || !EqualsNoCase(unit.text.substr(0, 3), "deg"))) {
          scanner_.Fail(unit, "'deg' or 'rad'");
        }
        if (angles_read_) scanner_.Fail(*token, "the unit of angles behind the first angle", "':units' first");
        asf_.degrees = !radians;
      }
    }
  }

  void ReadRoot() {
    angles_read_ = true;
    Bone& root = asf_.bones[0];
    Vec3 orientation = Vec3::Zero();
    std::array<int, 3> order{0, 1, 2};
    while (const auto token = NextInSection()) {
      if (EqualsNoCase(token->text, "order")) {
        root.dofs = ReadDofs();
      } else if (EqualsNoCase(token->text, "axis")) {
        order = ReadAxisOrder();
      } else if (EqualsNoCase(token->text, "position")) {
        asf_.root_position = ReadVector("the root's position");
      } else if (EqualsNoCase(token->text, "orientation")) {
        for (int i = 0; i < 3; ++i) orientation[i] = Angle("an angle of the root's orientation");
      }
    }
    if (root.dofs.empty()) scanner_.Fail(scanner_.Peek(), "'order' of the root in section ':root'");
    root.axis = AxisFrame(orientation, order);
  }

  void ReadBones() {
    angles_read_ = true;
    while (const auto token = NextInSection()) {
      if (!EqualsNoCase(token->text, "begin")) scanner_.Fail(*token, "'begin' of a bone");
      ReadBone(*token);
    }
  }

  void ReadBone(const Token& begin) {
    Bone bone;
    bool has_name = false, has_direction = false, has_length = false, has_axis = false, in_limits = false;
    for (;;) {
      const auto token = NextInSection();
      const std::string where = " of the bone that begins in line " + std::to_string(begin.line);
      if (!token) scanner_.Fail(scanner_.Peek(), "'end'" + where);
      const auto once = [&](bool& has) {
        if (std::exchange(has, true)) scanner_.Fail(*token, "a second " + Quoted(token->text) + where, "one");
      };
      double number = 0;
      if (in_limits && (token->text[0] == '(' || io::ParseNumber(token->text, number))) continue;
      in_limits = EqualsNoCase(token->text, "limits");
      if (EqualsNoCase(token->text, "end")) {
        if (!has_name || !has_direction || !has_length || !has_axis) {
          const char* const missing = !has_name        ? "'name'"
                                      : !has_direction ? "'direction'"
                                      : !has_length    ? "'length'"
                                                       : "'axis'";
          scanner_.Fail(*token, missing + where);
        }
        break;
      }
      if (EqualsNoCase(token->text, "begin")) {
        scanner_.Fail(*token, "'end'" + where);
      } else if (EqualsNoCase(token->text, "name")) {
        once(has_name);
        bone.place = scanner_.Peek();
        bone.name = scanner_.Name("the bone's name");
      } else if (EqualsNoCase(token->text, "direction")) {
        once(has_direction);
        bone.direction = ReadVector("the bone's direction");
      } else if (EqualsNoCase(token->text, "length")) {
        once(has_length);
        const Token place = scanner_.Peek();
        bone.length = scanner_.NumberInLine("the bone's length");
        if (bone.length < 0) scanner_.Fail(place, "a length of 0 or more");
      } else if (EqualsNoCase(token->text, "axis")) {
        once(has_axis);
        Vec3 angles;
        for (int i = 0; i < 3; ++i) angles[i] = Angle("an angle of the bone's axis");
        bone.axis = AxisFrame(angles, ReadAxisOrder());
      } else if (EqualsNoCase(token->text, "dof")) {
        bone.dofs = ReadDofs();
      } else {
        scanner_.SkipLine();  // id, limits, masses and what else there is do not shape the motion
      }
      if (!scanner_.AtLineEnd() && !IsComment(scanner_.Peek())) scanner_.Fail(scanner_.Peek(), "the end of the line");
    }
    if (asf_.bones.size() >= kMaxJoints) {
      scanner_.Fail(begin, "another bone", "at most " + std::to_string(kMaxJoints) + " bones");
    }
    if (!asf_.index.emplace(bone.name, static_cast<int>(asf_.bones.size())).second) {
      scanner_.Fail(bone.place, "a second bone named " + Quoted(bone.name), "names that are all different");
    }
    asf_.bones.push_back(std::move(bone));
  }

  int FindBone(const Token& token) {
    const auto found = asf_.index.find(std::string(token.text));
    if (found == asf_.index.end()) scanner_.Fail(token, "a bone of section ':bonedata'");
    return found->second;
  }

  void ReadHierarchy() {
    const auto begin = NextInSection();
    if (!begin || !EqualsNoCase(begin->text, "begin")) {
      scanner_.Fail(begin ? *begin : scanner_.Peek(), "'begin' of the hierarchy");
    }
    for (;;) {
      const auto token = NextInSection();
      if (!token) scanner_.Fail(scanner_.Peek(), "'end' of the hierarchy");
      if (EqualsNoCase(token->text, "end")) break;
      const int parent = FindBone(*token);
      while (!scanner_.AtLineEnd()) {
        const Token child_token = scanner_.Next();
        const int child = FindBone(child_token);
        Bone& bone = asf_.bones[child];
        if (child == 0) scanner_.Fail(child_token, "a bone (the root hangs on nothing)");
        if (bone.parent >= 0) {
          scanner_.Fail(child_token,
                        Quoted(bone.name) + " as a child of both " + Quoted(asf_.bones[bone.parent].name) + " and " +
                            Quoted(token->text),
                        "one parent");
        }
        bone.parent = parent;
        asf_.bones[parent].children.push_back(child);
      }
    }
    if (const auto extra = NextInSection()) scanner_.Fail(*extra, "the end of section ':hierarchy'");
  }

  /// Every bone must be reached from the root. As a bone has one parent only, a cycle is never reached.
  void Check() {
    std::vector<int> depth(asf_.bones.size(), -1);
    std::vector<int> open{0};
    depth[0] = 0;
    bool has_size = false;
    while (!open.empty()) {
      const int b = open.back();
      open.pop_back();
      const Bone& bone = asf_.bones[b];
      has_size = has_size || bone.length * bone.direction.norm() > 0;
      if (depth[b] > kMaxDepth) {
        scanner_.Fail(bone.place, "a bone below " + std::to_string(kMaxDepth) + " others", "a shorter chain");
      }
      for (const int child : bone.children) {
        depth[child] = depth[b] + 1;
        open.push_back(child);
      }
    }
    for (size_t b = 1; b < asf_.bones.size(); ++b) {
      if (depth[b] < 0) {
        scanner_.Fail(asf_.bones[b].place,
                      "bone " + Quoted(asf_.bones[b].name) + ", which the hierarchy does not " + "connect to the root",
                      "every bone below the root");
      }
    }
    if (!has_size) scanner_.Fail(scanner_.Peek(), "a skeleton of zero size", "bones with a length");
  }

  Scanner scanner_;
  AsfSkeleton asf_;
  bool angles_read_ = false;
};

/// Joints in the order of a walk through the hierarchy, each bone in front of its children.
Skeleton BuildSkeleton(AsfSkeleton& asf) {
  Skeleton skeleton;
  std::vector<int> open{0};
  while (!open.empty()) {
    const int b = open.back();
    open.pop_back();
    Bone& bone = asf.bones[b];
    bone.joint = static_cast<int>(skeleton.joints.size());
    Joint joint;
    joint.name = bone.name;
    if (bone.parent < 0) {
      joint.offset = asf.root_position;
    } else {
      const Bone& parent = asf.bones[bone.parent];
      joint.parent = parent.joint;
      joint.offset = parent.direction * parent.length;
    }
    skeleton.joints.push_back(joint);
    if (bone.children.empty()) {
      skeleton.joints.push_back({bone.name + "_end", bone.joint, bone.direction * bone.length, true});
    }
    open.insert(open.end(), bone.children.rbegin(), bone.children.rend());
  }
  return skeleton;
}

class AmcReader {
 public:
  AmcReader(AsfSkeleton asf, std::string_view text, const std::string& name)
      : scanner_(text, name, Scanner::Braces::kOrdinary), asf_(std::move(asf)), text_size_(text.size()) {}

  Clip Read() {
    clip_.skeleton = BuildSkeleton(asf_);
    clip_.unit = asf_.unit;
    clip_.frame_time = 1 / kDefaultRate;
    clip_.frame_time_known = false;
    degrees_ = asf_.degrees;
    ReadHeader();
    seen_.assign(asf_.bones.size(), 0);
    do {
      ReadFrame();
    } while (!PeekLine().end());
    return std::move(clip_);
  }

 private:
  const Token& PeekLine() {
    scanner_.SkipLine();
    while (!scanner_.Peek().end() && scanner_.Peek().text[0] == '#') {
      scanner_.Next();
      scanner_.SkipLine();
    }
    return scanner_.Peek();
  }

  void ReadHeader() {
    bool has_unit = false;
    while (!PeekLine().end() && scanner_.Peek().text[0] == ':') {
      const Token token = scanner_.Next();
      const bool radians = EqualsNoCase(token.text, ":radians");
      if (radians || EqualsNoCase(token.text, ":degrees")) {
        if (std::exchange(has_unit, true) && degrees_ == radians) {
          scanner_.Fail(token, Quoted(token.text) + " behind the other unit", "one unit of angles");
        }
        degrees_ = !radians;
      } else if (EqualsNoCase(token.text, ":samples-per-second")) {
        const Token place = scanner_.Peek();
        const double rate = scanner_.NumberInLine("the number of frames per second");
        if (rate < 1.0 / 60 || rate > 1e6) scanner_.Fail(place, "a rate from 1/60 to 1e6 frames per second");
        clip_.frame_time = 1 / rate;
        clip_.frame_time_known = true;
      }
    }
  }

  void ReadFrame() {
    const Token number_token = PeekLine();
    scanner_.Next();
    int64_t number = 0;
    if (!ParseInteger(number_token.text, number) || number < 0) {
      scanner_.Fail(number_token, clip_.frames.empty() ? "the number of the first frame" : "the number of a frame");
    }
    if (!scanner_.AtLineEnd()) scanner_.Fail(scanner_.Peek(), "the end of the line behind the number of the frame");
    if (!clip_.frames.empty() && number != last_number_ + 1) {
      scanner_.Fail(number_token,
                    "frame " + Quoted(number_token.text) + " behind frame " + std::to_string(last_number_),
                    "frame " + std::to_string(last_number_ + 1));
    }
    last_number_ = number;

    const size_t begin = scanner_.position();
    Frame& frame = clip_.frames.emplace_back();
    const std::vector<Joint>& joints = clip_.skeleton.joints;
    frame.rotations.assign(joints.size(), Quat::Identity());
    frame.translations.reserve(joints.size());
    for (const Joint& joint : joints) frame.translations.push_back(joint.offset);
    const auto stamp = static_cast<int>(clip_.frames.size());
    const auto is_number = [](const Token& token) {
      return !token.end() && token.text[0] >= '0' && token.text[0] <= '9' &&
             std::all_of(token.text.begin(), token.text.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    while (!PeekLine().end() && !is_number(scanner_.Peek())) ReadBone(frame, stamp);
    for (size_t b = 0; b < asf_.bones.size(); ++b) {
      if (seen_[b] != stamp && !asf_.bones[b].dofs.empty()) {
        const std::string found = scanner_.Peek().end() ? "the end of the file" : Quoted(scanner_.Peek().text);
        scanner_.Fail(scanner_.Peek(), found,
                      "bone " + Quoted(asf_.bones[b].name) + " in frame " + std::to_string(number) +
                          " (each frame gives every bone that has degrees of freedom)");
      }
    }
    // The frames of a file are about equally long: the length of the first gives an estimate of their number.
    if (stamp == 1) clip_.frames.reserve((text_size_ - begin) / std::max<size_t>(scanner_.position() - begin, 1) + 2);
  }

  void ReadBone(Frame& frame, int stamp) {
    const Token token = scanner_.Next();
    key_.assign(token.text.substr(0, kMaxNameLength + 1));
    const auto found = asf_.index.find(key_);
    if (found == asf_.index.end()) {
      scanner_.Fail(token, "the number of a frame or the name of a bone of the skeleton, in frame " +
                               std::to_string(last_number_));
    }
    const Bone& bone = asf_.bones[found->second];
    if (std::exchange(seen_[found->second], stamp) == stamp) {
      scanner_.Fail(token, "bone " + Quoted(token.text) + " twice in frame " + std::to_string(last_number_),
                    "each bone once");
    }
    // Angles turn about the axes of the bone's own frame, and the rotation applied first stands first.
    Quat turn = Quat::Identity();
    Vec3 shift = Vec3::Zero();
    const auto expected = [&] {
      return std::to_string(bone.dofs.size()) + " values of bone " + Quoted(bone.name) + " in frame " +
             std::to_string(last_number_);
    };
    for (size_t i = 0; i < bone.dofs.size(); ++i) {
      if (scanner_.AtLineEnd()) scanner_.FailAtLineEnd("a line with " + std::to_string(i), expected());
      const Token place = scanner_.Peek();
      double value = 0;
      if (!io::ParseNumber(place.text, value) || !(std::abs(value) <= kMaxMagnitude)) {
        scanner_.Fail(place, "a finite number of magnitude at most 1e9 among the " + expected());
      }
      scanner_.Next();
      if (bone.dofs[i].rotation) {
        turn = AxisRotation(bone.dofs[i].axis, degrees_ ? Radians(value) : value) * turn;
      } else {
        shift[bone.dofs[i].axis] = value;
      }
    }
    if (!scanner_.AtLineEnd()) {
      scanner_.Fail(scanner_.Peek(), "one more value, " + Quoted(scanner_.Peek().text), expected());
    }
    frame.rotations[bone.joint] = bone.axis * turn * bone.axis.conjugate();
    // The root's position is given in the world, a bone's in its own frame.
    frame.translations[bone.joint] += found->second == 0 ? shift : bone.axis * shift;
  }

  Scanner scanner_;
  AsfSkeleton asf_;
  size_t text_size_;
  Clip clip_;
  bool degrees_ = true;
  int64_t last_number_ = 0;
  std::vector<int> seen_;  ///< number of the frame in which each bone was last seen, counted from 1
  std::string key_;
};

/// A bone as it is written. Bones and joints are not the same: all children of a bone start at its tip, while those of
/// a joint may start anywhere. A joint whose children all start in one place becomes one bone to that position. Any
/// other becomes a bone of zero length with one synthetic bone, rigid with it, to each place where children start, as
/// the database's own hip joints are. The root of an ASF has no length and its name is `root`, so that a skeleton whose
/// root is named otherwise hangs below it as a whole.
struct PlannedBone {
  std::string name;
  Vec3 vector = Vec3::Zero();
  int parent = 0;  ///< index of a planned bone; 0 is the ASF's root
  int joint = -1;  ///< of the clip, -1 for a synthetic bone
  bool turns = false;
  bool moves = false;
  std::vector<int> children;
};

class Plan {
 public:
  explicit Plan(const Clip& clip) : joints_(clip.skeleton.joints), bones_(1) {
    bones_[0].name = "root";
    used_.insert("root");
    if (joints_.empty()) return;
    const bool has_root = joints_[0].name == "root";
    std::vector<std::vector<int>> children(joints_.size());
    std::vector<std::string> names(joints_.size());
    for (size_t j = 0; j < joints_.size(); ++j) {
      if (joints_[j].parent >= 0) children[joints_[j].parent].push_back(static_cast<int>(j));
      // Joints take their names first, so that a synthetic bone never takes one from them.
      if (!joints_[j].end_site && !(j == 0 && has_root)) names[j] = Unique(joints_[j].name);
    }
    std::vector<int> bone_of(joints_.size(), 0);
    bones_[0].joint = 0;
    bones_[0].turns = bones_[0].moves = true;
    if (!has_root) {
      bone_of[0] = Add(names[0], 0, -1);
      bones_[bone_of[0]].vector = CommonOffset(children[0]);
    }
    for (size_t j = 0; j < joints_.size(); ++j) {
      if (joints_[j].end_site) continue;
      const int parent = bone_of[j];
      const Vec3 tip = bones_[parent].vector;
      std::vector<std::pair<Vec3, int>> links;
      for (const int child : children[j]) {
        const Vec3 rest = joints_[child].offset - tip;
        if (joints_[child].end_site) {
          if (children[j].size() == 1 && parent != 0) continue;  // the bone's own tip
          const int bone = Add(Unique(joints_[j].name + "_tip"), parent, -1);
          bones_[bone].vector = rest;
          continue;
        }
        int hung_on = parent;
        if (rest != Vec3::Zero()) {
          const auto known =
              std::find_if(links.begin(), links.end(), [&](const auto& link) { return link.first == rest; });
          if (known != links.end()) {
            hung_on = known->second;
          } else {
            hung_on = Add(Unique(names[child] + "_link"), parent, -1);
            bones_[hung_on].vector = rest;
            links.emplace_back(rest, hung_on);
          }
        }
        bone_of[child] = Add(names[child], hung_on, child);
        PlannedBone& bone = bones_[bone_of[child]];
        bone.vector = CommonOffset(children[child]);
        for (const Frame& frame : clip.frames) {
          bone.turns = bone.turns || frame.rotations[child].vec() != Vec3::Zero();
          bone.moves = bone.moves || frame.translations[child] != joints_[child].offset;
        }
      }
    }
  }

  const std::vector<PlannedBone>& bones() const { return bones_; }

 private:
  /// Where all these joints start, in their parent's frame; zero when they start in different positions.
  Vec3 CommonOffset(const std::vector<int>& children) const {
    if (children.empty()) return Vec3::Zero();
    const Vec3& first = joints_[children.front()].offset;
    const auto differs = [&](int child) { return joints_[child].offset != first; };
    return std::any_of(children.begin(), children.end(), differs) ? Vec3::Zero() : first;
  }

  int Add(std::string name, int parent, int joint) {
    const int index = static_cast<int>(bones_.size());
    PlannedBone& bone = bones_.emplace_back();
    bone.name = std::move(name);
    bone.parent = parent;
    bone.joint = joint;
    bones_[parent].children.push_back(index);
    return index;
  }

  /// ASF names are words, and a line that starts with '#' or ':' is none of a bone.
  std::string Unique(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ' ' || c == '\t'; }, '_');
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool number = std::all_of(name.begin(), name.end(), is_digit);
    if (number || name[0] == '#' || name[0] == ':' || EqualsNoCase(name, "end") || EqualsNoCase(name, "begin")) {
      name.insert(name.begin(), '_');
    }
    std::string candidate = name;
    for (int i = 2; !used_.insert(candidate).second; ++i) candidate = name + '_' + std::to_string(i);
    return candidate;
  }

  const std::vector<Joint>& joints_;
  std::vector<PlannedBone> bones_;
  std::unordered_set<std::string> used_;
};

}  // namespace

Clip ParseAsfAmc(std::string_view asf, const std::string& asf_name, std::string_view amc, const std::string& amc_name) {
  return AmcReader(AsfReader(asf, asf_name).Read(), amc, amc_name).Read();
}

Clip ReadAsfAmc(const std::filesystem::path& asf, const std::filesystem::path& amc) {
  return ParseAsfAmc(io::ReadFile(asf), asf.string(), io::ReadFile(amc), amc.string());
}

std::string FormatAsf(const Clip& clip) {
  const Plan plan(clip);
  std::string text = "# Written by Retrace\n:version 1.10\n:name retrace\n:units\n  mass 1.0\n";
  if (clip.unit > 0) {
    text += "  length ";
    io::AppendNumber(text, kInch / clip.unit);
    text += '\n';
  }
  text +=
      "  angle deg\n:documentation\n  Bones between the joints of a motion capture clip\n"
      ":root\n  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n:bonedata\n";
  for (size_t b = 1; b < plan.bones().size(); ++b) {
    const PlannedBone& bone = plan.bones()[b];
    const double length = bone.vector.norm();
    text += "  begin\n    id " + std::to_string(b) + "\n    name " + bone.name + "\n    direction";
    AppendVector(text, length > 0 ? Vec3(bone.vector / length) : Vec3::Zero());
    text += "\n    length ";
    io::AppendNumber(text, length);
    text += "\n    axis 0 0 0 XYZ\n";
    if (bone.moves || bone.turns) {
      text += std::string("    dof") + (bone.moves ? " tx ty tz" : "") + (bone.turns ? " rx ry rz" : "") + '\n';
    }
    text += "  end\n";
  }
  text += ":hierarchy\n  begin\n";
  for (const PlannedBone& bone : plan.bones()) {
    if (bone.children.empty()) continue;
    text += "    " + bone.name;
    for (const int child : bone.children) text += ' ' + plan.bones()[child].name;
    text += '\n';
  }
  text += "  end\n";
  return text;
}

std::string FormatAmc(const Clip& clip) {
  const Plan plan(clip);
  std::string text = "# Written by Retrace\n:FULLY-SPECIFIED\n:DEGREES\n";
  if (clip.frame_time_known) {
    text += ":SAMPLES-PER-SECOND ";
    io::AppendNumber(text, 1 / clip.frame_time);
    text += '\n';
  }
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    const Frame& frame = clip.frames[f];
    text += std::to_string(f + 1) + '\n';
    for (const PlannedBone& bone : plan.bones()) {
      if (!bone.moves && !bone.turns) continue;
      text += bone.name;
      if (bone.moves) {
        const Vec3& translation = frame.translations[bone.joint];
        const bool is_root = &bone == &plan.bones().front();
        AppendVector(text, is_root ? translation : Vec3(translation - clip.skeleton.joints[bone.joint].offset));
      }
      if (bone.turns) {
        const auto [z, y, x] = EulerAngles(frame.rotations[bone.joint].toRotationMatrix(), 2, 1, 0);
        AppendVector(text, {Degrees(x), Degrees(y), Degrees(z)});
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace retrace::motion
