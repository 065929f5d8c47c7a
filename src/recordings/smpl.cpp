#include "retrace/recordings/smpl.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "npz.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::recordings {
namespace {

constexpr double kDefaultRate = 30;  // of most video [1/s]
constexpr double kLargestPlace = 1e5;
constexpr double kSameRate = 1e-3;    // relative
constexpr double kSameLength = 0.02;  // likewise
constexpr double kLongestBody = 10;   // from the origin to a joint at rest [m]
constexpr size_t kBody = 22;          // joints of all models, the root included
constexpr size_t kWithHands = 24;

struct SmplJoint {
  const char* name;
  int parent;
  double x, y, z;  // from the parent [m]
};

/// Mean joints of SMPL (Loper et al. 2015), of the neutral body, as published characters of simulators have them.
constexpr SmplJoint kJoints[] = {
    {"Pelvis", -1, -0.0018, -0.2233, 0.0282},    {"L_Hip", 0, 0.0695, -0.0914, -0.0068},
    {"R_Hip", 0, -0.0677, -0.0905, -0.0043},     {"Spine1", 0, -0.0025, 0.1090, -0.0267},
    {"L_Knee", 1, 0.0343, -0.3752, -0.0045},     {"R_Knee", 2, -0.0383, -0.3826, -0.0089},
    {"Spine2", 3, 0.0055, 0.1352, 0.0011},       {"L_Ankle", 4, -0.0136, -0.3980, -0.0437},
    {"R_Ankle", 5, 0.0158, -0.3984, -0.0423},    {"Spine3", 6, 0.0015, 0.0529, 0.0254},
    {"L_Foot", 7, 0.0264, -0.0558, 0.1193},      {"R_Foot", 8, -0.0254, -0.0481, 0.1233},
    {"Neck", 9, -0.0028, 0.2139, -0.0429},       {"L_Collar", 9, 0.0788, 0.1217, -0.0341},
    {"R_Collar", 9, -0.0818, 0.1188, -0.0386},   {"Head", 12, 0.0052, 0.0650, 0.0513},
    {"L_Shoulder", 13, 0.0910, 0.0305, -0.0089}, {"R_Shoulder", 14, -0.0960, 0.0326, -0.0091},
    {"L_Elbow", 16, 0.2596, -0.0128, -0.0275},   {"R_Elbow", 17, -0.2537, -0.0133, -0.0214},
    {"L_Wrist", 18, 0.2492, 0.0090, -0.0012},    {"R_Wrist", 19, -0.2553, 0.0078, -0.0056},
    {"L_Hand", 20, 0.0840, -0.0082, -0.0149},    {"R_Hand", 21, -0.0846, -0.0061, -0.0103},
};
/// Tips, so that feet and head have a direction and the body a height.
constexpr SmplJoint kTips[] = {
    {"L_Foot_end", 10, 0, -0.01, 0.07}, {"R_Foot_end", 11, 0, -0.01, 0.07}, {"Head_end", 15, 0, 0.19, 0.01}};

const std::vector<std::string> kPoses = {"poses",     "pose",       "smpl_poses", "fullpose",
                                         "full_pose", "pose_world", "poses_world"};
const std::vector<std::string> kRoots = {"root_orient", "global_orient", "smpl_root"};
const std::vector<std::string> kBodies = {"pose_body", "body_pose"};
const std::vector<std::string> kPlaces = {"trans", "transl", "translation", "trans_world", "smpl_trans", "root_trans"};
const std::vector<std::string> kAmassRates = {"mocap_framerate", "mocap_frame_rate"};
const std::vector<std::string> kRates = {"fps", "frame_rate", "framerate"};
const std::string kLength = "mocap_time_length";
const std::vector<std::string> kRestJoints = {"rest_joints", "joints_rest"};

const std::vector<std::string>* const kAllNames[] = {&kPoses,      &kRoots, &kBodies,    &kPlaces,
                                                     &kAmassRates, &kRates, &kRestJoints};

using Arrays = std::map<std::string, Array>;

/// An array of the archive.
struct Named {
  std::string name;
  const Array* array;
};

/// Throws InputError for an array that is there, and of a type that is not read: it is not the same as none.
std::optional<Named> FindFirst(const Arrays& arrays, const std::string& file, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = arrays.find(name);
    if (found == arrays.end()) continue;
    if (!found->second.unread.empty()) {
      throw InputError(file + ": " + name, "an array of type \"" + found->second.unread + "\"",
                       "numbers (save it as an array of floats, or under another name)");
    }
    return Named{name, &found->second};
  }
  return std::nullopt;
}

std::string NamesOf(const Arrays& arrays) {
  std::string names;
  for (const auto& [array, content] : arrays) names += (names.empty() ? "" : ", ") + array;
  return names;
}

/// Gives arrays the names that are known.
void Rename(const NameMap& names, const std::string& archive, Arrays& arrays) {
  Arrays renamed;
  for (const auto& entry : names) {
    const std::string &known = entry.first, &in_file = entry.second;
    const bool is_known = std::any_of(std::begin(kAllNames), std::end(kAllNames), [&](const auto* list) {
      return std::find(list->begin(), list->end(), known) != list->end();
    });
    if (!is_known) throw UsageError("a map of arrays: found \"" + known + "\", expected a name such as poses or trans");
    const auto found = arrays.find(in_file);
    if (found == arrays.end()) {
      throw UsageError(archive + ": found no array \"" + in_file + "\", expected one of " + NamesOf(arrays));
    }
    renamed[known] = found->second;
  }
  for (auto& [known, array] : renamed) arrays[known] = std::move(array);
}

std::string Alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

std::string ShapeOf(const Array& array) {
  std::string text;
  for (const size_t size : array.shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "a single number" : text + " numbers";
}

enum class Kind { kVector, kMatrix, kColumns };

size_t NumbersOf(Kind kind) {
  return kind == Kind::kVector ? 3 : kind == Kind::kMatrix ? 9 : 6;
}

/// What the shape of an array of rotations says.
struct Layout {
  Kind kind = Kind::kVector;
  size_t joints = 0;
  size_t frames = 0;
  size_t people = 1;

  size_t row() const { return joints * NumbersOf(kind); }
};

/// @param counts numbers of joints that there may be
/// @param beside the layout of an array with the same frames of the same people; null: there is none
std::optional<Layout> LayoutOf(const Array& array, const std::vector<size_t>& counts, const Layout* beside) {
  const std::vector<size_t>& shape = array.shape;
  const auto legal = [&](size_t joints) { return std::find(counts.begin(), counts.end(), joints) != counts.end(); };
  const auto with = [&](Kind kind, size_t joints, size_t dimensions) -> std::optional<Layout> {
    if (shape.size() < dimensions + 1 || !legal(joints)) return std::nullopt;
    Layout layout{kind, joints, shape[shape.size() - dimensions - 1], 1};
    for (size_t d = 0; d + dimensions + 1 < shape.size(); ++d) layout.people *= shape[d];
    const bool fits = beside == nullptr || (layout.frames == beside->frames && layout.people == beside->people);
    return layout.people > 0 && layout.frames > 0 && fits ? std::optional(layout) : std::nullopt;
  };
  const size_t n = shape.size();
  if (n >= 3 && shape[n - 1] == 3 && shape[n - 2] == 3) {
    if (auto layout = with(Kind::kMatrix, n >= 4 ? shape[n - 3] : 0, 3)) return layout;
    if (auto layout = with(Kind::kMatrix, 1, 2)) return layout;  // a root alone
  }
  if (n >= 2) {
    for (const Kind kind : {Kind::kVector, Kind::kColumns, Kind::kMatrix}) {
      if (shape[n - 1] == NumbersOf(kind)) {
        if (auto layout = with(kind, shape[n - 2], 2)) return layout;
      }
    }
    for (const Kind kind : {Kind::kVector, Kind::kColumns, Kind::kMatrix}) {
      if (shape[n - 1] % NumbersOf(kind) == 0) {
        if (auto layout = with(kind, shape[n - 1] / NumbersOf(kind), 1)) return layout;
      }
    }
  }
  return std::nullopt;
}

/// Rotations of joints over time.
class Rotations {
 public:
  /// Layout of joints with one of these `counts`; `beside` as in LayoutOf.
  Rotations(const Named& named, const std::string& file, const std::vector<size_t>& counts,
            const Layout* beside = nullptr)
      : array_(*named.array), place_(file + ": " + named.name) {
    const std::optional<Layout> layout = LayoutOf(array_, counts, beside);
    if (!layout) {
      std::string expected = "frames of rotations of ";
      for (size_t i = 0; i < counts.size(); ++i) expected += (i == 0 ? "" : " or ") + std::to_string(counts[i]);
      expected += " joints: vectors, matrices or two columns of a matrix";
      if (beside != nullptr) {
        expected += ", for " + std::to_string(beside->people) + " x " + std::to_string(beside->frames) +
                    " frames, as in the array beside it";
      }
      throw InputError(place_, ShapeOf(array_), expected);
    }
    layout_ = *layout;
    if (layout_.kind == Kind::kColumns) by_rows_ = IsByRows();
  }

  const Layout& layout() const { return layout_; }

  Quat At(size_t person, size_t frame, size_t joint) const {
    const size_t numbers = NumbersOf(layout_.kind);
    const double* v = &array_.values[(person * layout_.frames + frame) * layout_.row() + joint * numbers];
    for (size_t i = 0; i < numbers; ++i) {
      if (!(std::abs(v[i]) < 1e3)) Fail(frame, joint, "the number " + io::Number(v[i]), "a rotation");
    }
    if (layout_.kind == Kind::kVector) return FromRotationVector({v[0], v[1], v[2]}).normalized();
    Mat3 matrix;
    if (layout_.kind == Kind::kMatrix) {
      matrix << v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8];
    } else {
      const Vec3 a = by_rows_ ? Vec3(v[0], v[2], v[4]) : Vec3(v[0], v[1], v[2]);
      const Vec3 b = by_rows_ ? Vec3(v[1], v[3], v[5]) : Vec3(v[3], v[4], v[5]);
      const Vec3 x = a.normalized();
      const Vec3 y = (b - b.dot(x) * x).normalized();
      matrix.col(0) = x;
      matrix.col(1) = y;
      matrix.col(2) = x.cross(y);
    }
    if (!((matrix.transpose() * matrix - Mat3::Identity()).norm() < 0.05 && matrix.determinant() > 0)) {
      Fail(frame, joint, "a matrix that is no rotation", "one whose columns are square and of length 1");
    }
    return Quat(matrix).normalized();
  }

 private:
  [[noreturn]] void Fail(size_t frame, size_t joint, const std::string& found, const std::string& expected) const {
    throw InputError(place_ + ": frame " + std::to_string(frame + 1) + ", joint " + std::to_string(joint), found,
                     expected);
  }

  /// Whether six numbers are the rows of two columns, by which reading makes them square and of length 1.
  bool IsByRows() const {
    double columns = 0, rows = 0;
    const size_t count = std::min<size_t>(array_.values.size() / 6, 1000);
    for (size_t i = 0; i < count; ++i) {
      const double* v = &array_.values[6 * i];
      const auto fault = [](const Vec3& a, const Vec3& b) {
        return std::abs(a.norm() - 1) + std::abs(b.norm() - 1) + std::abs(a.dot(b));
      };
      columns += fault({v[0], v[1], v[2]}, {v[3], v[4], v[5]});
      rows += fault({v[0], v[2], v[4]}, {v[1], v[3], v[5]});
    }
    return rows < columns;
  }

  const Array& array_;
  std::string place_;
  Layout layout_;
  bool by_rows_ = false;
};

class SmplReader {
 public:
  SmplReader(const Arrays& arrays, const std::string& name, const Choice& choice)
      : arrays_(arrays), name_(name), choice_(choice) {}

  motion::Clip Read() {
    ReadRotations();
    ReadRate();
    ReadPlaces();
    UseRestJoints();
    TurnUp();
    clip_.unit = 1;
    return std::move(clip_);
  }

 private:
  void ReadRotations() {
    const std::optional<Named> all = FindFirst(arrays_, name_, kPoses);
    const std::optional<Named> root = FindFirst(arrays_, name_, kRoots);
    const std::optional<Named> body = FindFirst(arrays_, name_, kBodies);
    if (all) {
      const Rotations rotations(*all, name_, {kBody, kWithHands, 52, 55});
      Take(rotations, 0, nullptr);
    } else if (root && body) {
      const Rotations rotations(*body, name_, {kBody - 1, kWithHands - 1});
      const Rotations turns(*root, name_, {1}, &rotations.layout());
      Take(rotations, 1, &turns);
    } else {
      const std::string there = NamesOf(arrays_);
      throw InputError(name_, there.empty() ? "no array of numbers" : "the arrays " + there,
                       Alternatives(kPoses) + ", or " + Alternatives(kRoots) + " with " + Alternatives(kBodies));
    }
  }

  /// @param root rotations of the root where they are apart, and `first` is then 1
  void Take(const Rotations& rotations, size_t first, const Rotations* root) {
    people_ = rotations.layout().people;
    frames_ = rotations.layout().frames;
    person_ = ChoosePerson();
    const size_t joints = rotations.layout().joints + first;
    const bool has_hands = joints == kWithHands;
    clip_.skeleton = SmplSkeleton(has_hands);
    const size_t turned = has_hands ? kWithHands : kBody;
    clip_.frames.resize(frames_);
    for (size_t f = 0; f < frames_; ++f) {
      motion::Frame& frame = clip_.frames[f];
      for (const motion::Joint& joint : clip_.skeleton.joints) frame.translations.push_back(joint.offset);
      frame.rotations.assign(clip_.skeleton.joints.size(), Quat::Identity());
      for (size_t j = 0; j < turned; ++j) {
        frame.rotations[j] = j < first ? root->At(person_, f, 0) : rotations.At(person_, f, j - first);
      }
    }
  }

  size_t ChoosePerson() {
    if (!choice_.animation.empty()) {
      throw UsageError(name_ + ": found a choice of an animation, expected none: the file has one motion");
    }
    if (people_ > 1) {
      clip_.notes.push_back("performer " + (choice_.performer.empty() ? "1" : choice_.performer) + " of " +
                            std::to_string(people_));
      for (size_t p = 1; p <= people_; ++p) clip_.performers.push_back(std::to_string(p));
    }
    if (choice_.performer.empty()) return 0;
    size_t number = 0;
    const char* end = choice_.performer.data() + choice_.performer.size();
    const auto [stop, fault] = std::from_chars(choice_.performer.data(), end, number);
    if (fault != std::errc() || stop != end || number < 1 || number > people_) {
      throw UsageError(name_ + ": found no performer \"" + choice_.performer + "\", expected a number from 1 to " +
                       std::to_string(people_));
    }
    return number - 1;
  }

  void ReadRate() {
    is_amass_ = FindFirst(arrays_, name_, kAmassRates).has_value();
    std::optional<Named> rate;
    double value = kDefaultRate;
    for (const auto* names : {&kAmassRates, &kRates}) {
      for (const std::string& name : *names) {
        const std::optional<Named> found = FindFirst(arrays_, name_, {name});
        if (!found) continue;
        const std::string place = name_ + ": " + name;
        if (found->array->values.size() != 1) throw InputError(place, ShapeOf(*found->array), "frames per second");
        const double other = found->array->values[0];
        if (!(other >= 1 && other <= 10000)) {
          throw InputError(place, io::Number(other), "1 to 10000 frames per second");
        }
        if (rate && std::abs(other / value - 1) > kSameRate) {
          throw InputError(place, io::Number(other) + " frames per second",
                           io::Number(value) + ", as " + rate->name + " says");
        }
        if (rate) continue;
        rate = found;
        value = other;
      }
    }
    clip_.frame_time_known = rate.has_value();
    clip_.frame_time = 1 / value;
    if (const std::optional<Named> length = FindFirst(arrays_, name_, {kLength}); length && rate) {
      const double seconds = length->array->values.size() == 1 ? length->array->values[0] : 0;
      const double held = static_cast<double>(frames_) / value;
      if (std::abs(held - seconds) > std::max(kSameLength * held, 2 / value)) {
        clip_.doubts.push_back("the file says that it lasts " + io::Fixed(seconds, 2) + " s (" + kLength +
                               "), and its " + std::to_string(frames_) + " frames at " + io::Number(value) +
                               " per second (" + rate->name + ") last " + io::Fixed(held, 2) +
                               " s: it was trimmed, or has another frame rate, which may be given");
      }
    }
  }

  /// The model turns the body about the root joint, and moves it then.
  void ReadPlaces() {
    const std::optional<Named> places = FindFirst(arrays_, name_, kPlaces);
    if (!places) {
      clip_.notes.push_back("the file has no path of the body: it stays in one place");
      return;
    }
    const std::string place = name_ + ": " + places->name;
    if (places->array->values.size() != 3 * frames_ * people_ || places->array->shape.back() != 3) {
      throw InputError(place, ShapeOf(*places->array), std::to_string(frames_) + " x 3 numbers, as there are frames");
    }
    for (size_t f = 0; f < frames_; ++f) {
      const double* v = &places->array->values[3 * (person_ * frames_ + f)];
      const Vec3 moved(v[0], v[1], v[2]);
      if (!(moved.cwiseAbs().maxCoeff() <= kLargestPlace)) {
        throw InputError(place + ": frame " + std::to_string(f + 1), "a place too far away",
                         "meters, at most " + io::Number(kLargestPlace));
      }
      clip_.frames[f].translations[0] += moved;
    }
  }

  /// Bones between the rest joints of the archive. Without them they are those of the mean shape: what shapes (betas)
  /// do to joints is a part of the model, which is not ours to copy.
  void UseRestJoints() {
    const std::optional<Named> rest = FindFirst(arrays_, name_, kRestJoints);
    if (!rest) {
      clip_.notes.push_back(
          "the skeleton is the mean one of SMPL" +
          std::string(arrays_.contains("betas") ? "; the shape in the file (betas) is not used" : ""));
      return;
    }
    const Array& array = *rest->array;
    const std::string place = name_ + ": " + rest->name;
    std::vector<size_t> shape = array.shape;
    while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
    if (shape.size() != 2 || shape[0] < kBody || shape[1] != 3) {
      throw InputError(place, ShapeOf(array), "places of at least " + std::to_string(kBody) + " joints x 3 numbers");
    }
    const auto joint = [&](size_t j) {
      return Vec3(array.values[3 * j], array.values[3 * j + 1], array.values[3 * j + 2]);
    };
    const size_t given =
        std::min(shape[0] >= kWithHands && shape[0] < 52 ? kWithHands : kBody, clip_.skeleton.joints.size());
    std::vector<motion::Joint>& joints = clip_.skeleton.joints;
    for (size_t j = 0; j < given; ++j) {
      if (!(joint(j).cwiseAbs().maxCoeff() <= kLongestBody)) {
        throw InputError(place, "a joint " + io::Number(joint(j).cwiseAbs().maxCoeff()) + " m away",
                         "a body in its rest pose [m]");
      }
    }
    const Vec3 moved = joint(0) - joints[0].offset;
    for (size_t j = 0; j < given; ++j) {
      joints[j].offset = j == 0 ? joint(0) : Vec3(joint(j) - joint(static_cast<size_t>(joints[j].parent)));
    }
    for (motion::Frame& frame : clip_.frames) {
      frame.translations[0] += moved;
      for (size_t j = 1; j < given; ++j) frame.translations[j] = joints[j].offset;
    }
    clip_.notes.push_back("bones are those between the joints of " + rest->name);
  }

  void TurnUp() {
    Vec3 up = Vec3::UnitZ();
    if (!is_amass_) {
      Vec3 trunk = Vec3::Zero();
      motion::GlobalPose pose;
      for (const motion::Frame& frame : clip_.frames) {
        ForwardKinematics(clip_.skeleton, frame, pose);
        trunk += (pose.positions[12] - pose.positions[0]).normalized();
      }
      Eigen::Index axis = 0;
      trunk.cwiseAbs().maxCoeff(&axis);
      up = Vec3::Unit(axis) * (trunk[axis] < 0 ? -1 : 1);
      if (up == Vec3::UnitY()) return;
      const char* names[] = {"x", "y", "z"};
      clip_.notes.push_back(std::string("up is ") + (trunk[axis] < 0 ? "-" : "") + names[axis] +
                            " in the file, along which the trunk lies in the mean: turned to y");
    }
    const Quat turn = up == -Vec3::UnitY() ? AxisRotation(0, kPi) : ShortestArc(up, Vec3::UnitY());
    for (motion::Frame& frame : clip_.frames) {
      frame.translations[0] = turn * frame.translations[0];
      frame.rotations[0] = (turn * frame.rotations[0]).normalized();
    }
  }

  const Arrays& arrays_;
  const std::string& name_;
  const Choice& choice_;
  bool is_amass_ = false;
  size_t people_ = 1;
  size_t person_ = 0;
  size_t frames_ = 0;
  motion::Clip clip_;
};

}  // namespace

motion::Skeleton SmplSkeleton(bool has_hands) {
  motion::Skeleton skeleton;
  for (const SmplJoint& joint : kJoints) {
    const bool end = !has_hands && skeleton.joints.size() >= kBody;
    skeleton.joints.push_back(
        {end ? std::string(joint.name) + "_end" : joint.name, joint.parent, {joint.x, joint.y, joint.z}, end});
  }
  for (const SmplJoint& tip : kTips) skeleton.joints.push_back({tip.name, tip.parent, {tip.x, tip.y, tip.z}, true});
  return skeleton;
}

motion::Clip ParseSmpl(std::string_view bytes, const std::string& name, const Choice& choice, const NameMap& names) {
  Arrays arrays = ParseNpz(bytes, name);
  Rename(names, name, arrays);
  return SmplReader(arrays, name, choice).Read();
}

}  // namespace retrace::recordings
