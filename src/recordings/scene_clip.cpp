#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/recordings/scene.h"

namespace retrace::recordings {
namespace {

using motion::Clip;

constexpr const char* kPivotMark = "_$AssimpFbx$";
constexpr double kLargest = 1e9;          // of a length, as in the other formats [file units]
constexpr size_t kMostJoints = 2000;      // a crowd is not a skeleton
constexpr size_t kMostPlaces = 50000000;  // joints times frames
constexpr double kSlowest = 15;           // keys that are further apart are not frames [1/s]
constexpr double kUsual = 30;             // of a file that states none, with keys that are further apart [1/s]
constexpr double kFastest = 480;          // of what is made of keys at uneven times [1/s]

std::string InQuotes(const std::string& text) {
  return "\"" + text + "\"";
}

std::string QuotedList(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 20; ++i) text += (i == 0 ? "" : ", ") + InQuotes(names[i]);
  return names.size() > 20 ? text + ", ..." : text;
}

/// The orthogonal matrix that is nearest to the linear part: without scale, with a mirroring where there is one.
/// Nothing where the scale is zero. By Newton's iteration for the polar decomposition.
std::optional<Mat3> TurnOf(const Mat4& place) {
  Mat3 turn = place.topLeftCorner<3, 3>();
  const double size = turn.norm();
  if (!(size > 1e-12 && size < 1e12)) return std::nullopt;
  turn /= size;
  if (!(std::abs(turn.determinant()) > 1e-9)) return std::nullopt;
  for (int i = 0; i < 100; ++i) {
    const Mat3 next = 0.5 * (turn + turn.inverse().transpose());
    const double change = (next - turn).norm();
    turn = next;
    if (change < 1e-15) break;
  }
  return turn;
}

template <typename Value>
Value Between(const Value& a, const Value& b, double share) {
  if constexpr (std::is_same_v<Value, Quat>) {
    return a.slerp(share, b);
  } else {
    return a + share * (b - a);
  }
}

/// The value of keys in the order of time, the first and the last one held before and after them. A key that is nearly
/// at that time is taken as it is: times are rounded in files.
template <typename Value>
Value At(const std::vector<Scene::Key<Value>>& keys, double time, double nearly) {
  const auto after = std::lower_bound(keys.begin(), keys.end(), time,
                                      [](const Scene::Key<Value>& key, double t) { return key.time < t; });
  if (after == keys.begin()) return after->value;
  if (after == keys.end()) return keys.back().value;
  const auto before = after - 1;
  if (after->time - time <= nearly) return after->value;
  if (time - before->time <= nearly) return before->value;
  return Between(before->value, after->value, (time - before->time) / (after->time - before->time));
}

class SkeletonFinder {
 public:
  SkeletonFinder(const Scene& scene, const std::string& name) : scene_(scene), name_(name) {
    const size_t count = scene.nodes.size();
    children_.resize(count);
    for (size_t n = 1; n < count; ++n) children_[static_cast<size_t>(scene.nodes[n].parent)].push_back(n);
    animated_.assign(count, false);
    for (const Scene::Animation& animation : scene.animations) {
      for (const Scene::Channel& channel : animation.channels) animated_[static_cast<size_t>(channel.node)] = true;
    }
    // A node that stands for a pivot moves its joint.
    for (size_t n = count; n-- > 1;) {
      if (IsPivot(n) && animated_[n]) animated_[static_cast<size_t>(scene.nodes[n].parent)] = true;
    }
    for (size_t n = 1; n < count; ++n) {
      if (!IsPivot(n) && IsPivot(static_cast<size_t>(scene.nodes[n].parent))) {
        for (int p = scene.nodes[n].parent; p >= 0 && IsPivot(static_cast<size_t>(p)); p = Parent(p)) {
          if (animated_[static_cast<size_t>(p)]) animated_[n] = true;
        }
      }
    }
    const bool has_bones = std::any_of(scene.nodes.begin(), scene.nodes.end(), [](const auto& n) { return n.bone(); });
    mark_.assign(count, false);
    for (size_t n = 0; n < count; ++n) {
      mark_[n] = !IsPivot(n) && (has_bones ? scene.nodes[n].bone() : animated_[n] && !scene.nodes[n].has_mesh);
    }
    if (!has_bones && std::count(mark_.begin(), mark_.end(), true) < 2) {  // rigid pieces, each a mesh
      for (size_t n = 0; n < count; ++n) mark_[n] = !IsPivot(n) && animated_[n];
    }
    FindRoots();
  }

  /// Top nodes of the skeletons, the largest one first.
  const std::vector<size_t>& roots() const { return roots_; }
  std::vector<std::string> RootNames() const {
    std::vector<std::string> names;
    for (const size_t root : roots_) names.push_back(scene_.nodes[root].name);
    return names;
  }

  /// Names of people, without what is small beside them: hair, cloth, things.
  std::vector<std::string> PeopleNames() const {
    std::vector<std::string> names;
    for (const size_t root : roots_) {
      if (3 * marked_below_[root] >= marked_below_[roots_.front()]) names.push_back(scene_.nodes[root].name);
    }
    if (names.size() < 2) names.clear();
    return names;
  }

  size_t Choose(const std::string& performer) const {
    if (roots_.empty()) {
      throw InputError(name_,
                       (scene_.animations.empty() ? "no animation and no skeleton among " : "no skeleton among ") +
                           std::to_string(scene_.nodes.size()) + " nodes",
                       "animated bones of a mesh, or animated nodes");
    }
    if (performer.empty()) return roots_.front();
    for (const size_t root : roots_) {
      for (int n = static_cast<int>(root); n >= 0; n = Parent(n)) {
        if (scene_.nodes[static_cast<size_t>(n)].name == performer) return root;
      }
    }
    throw UsageError(name_ + ": found no performer " + InQuotes(performer) + ", expected one of " +
                     QuotedList(RootNames()));
  }

  /// Nodes of the joints of a skeleton, parents first, and for each the position of its parent in that list.
  void JointsBelow(size_t root, std::vector<size_t>& nodes, std::vector<int>& parents) const {
    struct Visit {
      size_t node;
      int parent;
    };
    std::vector<Visit> visits = {{root, -1}};
    while (!visits.empty()) {
      const auto [node, parent] = visits.back();
      visits.pop_back();
      int here = parent;
      if (!IsPivot(node) && (node == root || mark_[node] || HasMarkedBelow(node) || !scene_.nodes[node].has_mesh)) {
        here = static_cast<int>(nodes.size());
        nodes.push_back(node);
        parents.push_back(parent);
        if (nodes.size() > kMostJoints) {
          throw InputError(name_, "more than " + std::to_string(kMostJoints) + " joints in one skeleton",
                           "a performer");
        }
      } else if (!IsPivot(node)) {
        continue;  // what carries meshes alone
      }
      for (auto child = children_[node].rbegin(); child != children_[node].rend(); ++child) {
        visits.push_back({*child, here});
      }
    }
  }

  /// Whether a node is a joint of a skeleton, or a pivot of one.
  bool MovesAJoint(size_t node) const { return mark_[node] || (IsPivot(node) && HasMarkedBelow(node)); }

  bool IsPivot(size_t node) const { return scene_.nodes[node].name.find(kPivotMark) != std::string::npos; }

 private:
  int Parent(int node) const { return scene_.nodes[static_cast<size_t>(node)].parent; }
  bool HasMarkedBelow(size_t node) const { return marked_below_[node] > 0; }

  /// A marked node without one above it is the root of a skeleton. Where an animated node above it carries more of the
  /// same body, legs and trunk on a pelvis to which no skin is bound, that one is; but not where it carries two bodies.
  void FindRoots() {
    const size_t count = scene_.nodes.size();
    marked_below_.assign(count, 0);
    for (size_t n = count; n-- > 0;) {
      const size_t total = marked_below_[n] + (mark_[n] ? 1 : 0);
      if (scene_.nodes[n].parent >= 0) marked_below_[static_cast<size_t>(scene_.nodes[n].parent)] += total;
    }
    std::set<size_t> tops;
    for (size_t n = 0; n < count; ++n) {
      if (!mark_[n]) continue;
      size_t top = n;
      for (int p = Parent(static_cast<int>(n)); p > 0; p = Parent(p)) {
        const auto above = static_cast<size_t>(p);
        if (mark_[above] || (animated_[above] && !IsPivot(above) && CarriesMoreOf(above, top))) top = above;
      }
      tops.insert(top);
    }
    for (auto top = tops.begin(); top != tops.end();) {  // what was merged into a node above
      bool below = false;
      for (int p = Parent(static_cast<int>(*top)); p >= 0; p = Parent(p))
        below |= tops.contains(static_cast<size_t>(p));
      top = below ? tops.erase(top) : std::next(top);
    }
    roots_.assign(tops.begin(), tops.end());
    std::stable_sort(roots_.begin(), roots_.end(),
                     [&](size_t a, size_t b) { return marked_below_[a] > marked_below_[b]; });
  }

  /// Whether a node carries more marked ones than the skeleton below it, and no second body.
  bool CarriesMoreOf(size_t above, size_t top) const {
    constexpr size_t kBody = 12;  // joints that a body has at least
    const size_t body = marked_below_[top] + (mark_[top] ? 1 : 0);
    const size_t others = marked_below_[above] - body;
    return others > 0 && (body < kBody || others < kBody);
  }

  const Scene& scene_;
  const std::string& name_;
  std::vector<std::vector<size_t>> children_;
  std::vector<bool> animated_;
  std::vector<bool> mark_;
  std::vector<size_t> marked_below_;
  std::vector<size_t> roots_;
};

/// Global positions of all nodes, from their positions in their parents' frames.
void Chain(const Scene& scene, const std::vector<Mat4>& local, std::vector<Mat4>& global) {
  global.resize(local.size());
  for (size_t n = 0; n < local.size(); ++n) {
    const int parent = scene.nodes[n].parent;
    global[n] = parent < 0 ? local[n] : Mat4(global[static_cast<size_t>(parent)] * local[n]);
  }
}

/// The times of an animation's frames.
struct Timing {
  double start = 0;
  double frame_time = 0;
  size_t frames = 0;
};

class TimingFinder {
 public:
  explicit TimingFinder(const std::string& name) : name_(name) {}

  template <typename Value>
  void Add(const std::vector<Scene::Key<Value>>& keys) {
    if (keys.size() < 2) return;  // what does not move has no time
    first_ = std::min(first_, keys.front().time);
    last_ = std::max(last_, keys.back().time);
    std::vector<double> times;
    for (const auto& key : keys) times.push_back(key.time);
    if (const std::optional<double> rate = RateOfFrames(times); rate && times.size() > most_frames_) {
      most_frames_ = times.size();
      rate_of_frames_ = *rate;
    }
    if (times.size() > densest_.size()) densest_ = std::move(times);
  }

  Timing Find(double rate_of_file) const {
    Timing timing;
    timing.start = first_;
    const double rate = Rate(rate_of_file);
    if (!(rate >= 0.1 && rate <= 10000)) {
      throw InputError(name_, io::Number(rate) + " frames per second", "0.1 to 10000");
    }
    timing.frame_time = 1 / rate;
    const double intervals = (last_ - first_) * rate;
    if (!(intervals < static_cast<double>(kMostPlaces))) {
      throw InputError(name_, "an animation of " + io::Number(last_ - first_) + " s", "one that fits into memory");
    }
    timing.frames = static_cast<size_t>(std::floor(intervals + 0.01)) + 1;
    return timing;
  }

 private:
  /// That of the longest list of even keys that stand for frames. Keys that were set by hand or thinned out are in the
  /// time of the file's frames.
  double Rate(double rate_of_file) const {
    if (rate_of_frames_ > 0) return Rounded(rate_of_frames_);
    if (rate_of_file > 0) return rate_of_file;
    if (densest_.size() < 2) return kUsual;
    return Rounded(std::clamp(1 / std::max(MedianStep(densest_), 1e-6), kUsual, kFastest));
  }

  static double MedianStep(const std::vector<double>& times) {
    std::vector<double> steps;
    for (size_t k = 1; k < times.size(); ++k) steps.push_back(times[k] - times[k - 1]);
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return *middle;
  }

  /// The rate of frames at each of which there is a key, from the first to the last one. There may be more keys: Assimp
  /// adds some to FBX where an angle changes by more than half a turn.
  static std::optional<double> RateOfFrames(const std::vector<double>& times) {
    if (times.size() < 3) return std::nullopt;
    const double span = times.back() - times.front();
    const double frames = std::round(span / MedianStep(times));
    if (!(frames >= kSlowest * span && frames >= 2)) return std::nullopt;
    const double step = span / frames;
    size_t k = 0;
    for (double f = 0; f <= frames; ++f) {
      const double time = times.front() + f * step;
      while (k < times.size() && times[k] < time - 0.02 * step) ++k;
      if (k == times.size() || times[k] > time + 0.02 * step) return std::nullopt;
    }
    return 1 / step;
  }

  /// Times are rounded in files.
  static double Rounded(double rate) {
    const double whole = std::round(rate);
    return whole > 0 && std::abs(rate / whole - 1) < 1e-3 ? whole : rate;
  }

  const std::string& name_;
  double first_ = std::numeric_limits<double>::infinity();
  double last_ = -std::numeric_limits<double>::infinity();
  std::vector<double> densest_;  // times of the longest list of keys
  size_t most_frames_ = 0;
  double rate_of_frames_ = 0;
};

class ClipMaker {
 public:
  ClipMaker(const Scene& scene, const std::string& name, const Choice& choice)
      : scene_(scene), name_(name), finder_(scene, name) {
    const size_t root = finder_.Choose(choice.performer);
    finder_.JointsBelow(root, nodes_, parents_);
    if (nodes_.size() < 2) {
      throw InputError(name, "a skeleton of one joint, " + InQuotes(scene.nodes[root].name), "joints with bones");
    }
    MarkMovers();
    ChooseAnimation(choice.animation);
    if (finder_.roots().size() > 1) {
      clip_.performers = finder_.PeopleNames();
      clip_.notes.push_back("performer " + InQuotes(scene.nodes[root].name) + " of " + QuotedList(finder_.RootNames()));
    }
    if (scene.animations.size() > 1) {
      std::vector<std::string> names;
      for (const auto& animation : scene.animations) names.push_back(animation.name);
      clip_.notes.push_back("animation " + InQuotes(animation_->name) + " of " + QuotedList(names));
    }
  }

  Clip Make() {
    for (const Scene::Node& node : scene_.nodes) local_.push_back(node.place);
    Chain(scene_, local_, unmoved_);
    AddJoints();
    NoteMirrors();
    AddFrames();
    clip_.unit = scene_.unit;
    return std::move(clip_);
  }

 private:
  /// Nodes that move a joint: joints, and what is above and between them.
  void MarkMovers() {
    moves_joint_.assign(scene_.nodes.size(), false);
    for (const size_t joint : nodes_) {
      for (int n = static_cast<int>(joint); n >= 0 && !moves_joint_[static_cast<size_t>(n)];
           n = scene_.nodes[static_cast<size_t>(n)].parent) {
        moves_joint_[static_cast<size_t>(n)] = true;
      }
    }
  }

  static size_t NumKeys(const Scene::Channel& channel) {
    return std::max({channel.positions.size(), channel.rotations.size(), channel.scales.size()});
  }

  /// The longest list of keys that moves the performer.
  size_t KeysOf(const Scene::Animation& animation) const {
    size_t most = 0;
    for (const Scene::Channel& channel : animation.channels) {
      if (moves_joint_[static_cast<size_t>(channel.node)]) most = std::max(most, NumKeys(channel));
    }
    return most;
  }

  void ChooseAnimation(const std::string& chosen) {
    std::vector<std::string> names;
    for (const Scene::Animation& animation : scene_.animations) {
      names.push_back(animation.name);
      if (!chosen.empty() && animation.name == chosen) animation_ = &animation;
    }
    if (!chosen.empty() && animation_ == nullptr) {
      throw UsageError(name_ + ": found no animation " + InQuotes(chosen) + ", expected " +
                       (names.empty() ? "none to be named: there is none" : "one of " + QuotedList(names)));
    }
    for (const Scene::Animation& animation : scene_.animations) {
      if (animation_ == nullptr && KeysOf(animation) > 1) animation_ = &animation;
    }
    if (animation_ == nullptr || KeysOf(*animation_) < 2) {
      throw InputError(name_,
                       animation_ != nullptr ? "an animation " + InQuotes(animation_->name) + " without motion"
                       : names.empty()       ? "no animation"
                                             : "no animation that moves the skeleton among " + QuotedList(names),
                       "one that moves the skeleton of " + InQuotes(scene_.nodes[nodes_.front()].name));
    }
  }

  void NoteMirrors() {
    for (size_t n = 0; n < scene_.nodes.size(); ++n) {
      if (!moves_joint_[n] || !(scene_.nodes[n].place.topLeftCorner<3, 3>().determinant() < 0)) continue;
      clip_.notes.push_back("node " + InQuotes(scene_.nodes[n].name) +
                            " mirrors what hangs on it: its scale is negative");
      return;
    }
  }

  /// Where the joints were when a skin was bound to them, in the axes and the size of the scene; where there is no
  /// skin, where the nodes are without animation.
  std::vector<Mat4> RestPlaces() const {
    std::vector<Mat4> rest;
    for (const size_t node : nodes_) rest.push_back(unmoved_[node]);
    const auto bound = [&](size_t j) { return scene_.nodes[nodes_[j]].bone(); };
    const size_t bones = static_cast<size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [&](size_t n) { return scene_.nodes[n].bone(); }));
    if (2 * bones < nodes_.size()) return rest;
    // The frame of the skin's vertices is that of the node with the skin, of the scene, or of the node above the
    // skeleton: tools differ. It is the one in which the first bone lies most as it does without animation.
    size_t first = 0;
    while (!bound(first)) ++first;
    int parent = scene_.nodes[nodes_.front()].parent;
    while (parent >= 0 && finder_.IsPivot(static_cast<size_t>(parent))) {
      parent = scene_.nodes[static_cast<size_t>(parent)].parent;
    }
    const auto place = [&](const Mat4& frame, size_t j) -> Mat4 {
      return frame * scene_.nodes[nodes_[j]].bind.inverse();
    };
    const auto difference = [&](const Mat4& frame) {
      const Mat4& unmoved = unmoved_[nodes_[first]];
      const std::optional<Mat3> a = TurnOf(place(frame, first)), b = TurnOf(unmoved);
      if (!a || !b) return std::numeric_limits<double>::infinity();
      const double size = std::abs(place(frame, first).topLeftCorner<3, 3>().determinant() /
                                   unmoved.topLeftCorner<3, 3>().determinant());
      return (*a - *b).norm() + std::abs(std::log(size));
    };
    Mat4 frame = unmoved_[static_cast<size_t>(scene_.nodes[nodes_[first]].skin)];
    const Mat4 others[] = {Mat4::Identity(), parent >= 0 ? unmoved_[static_cast<size_t>(parent)] : frame};
    for (const Mat4& other : others) {
      if (difference(other) < difference(frame) - 1e-6) frame = other;
    }
    std::vector<Mat4> result = rest;
    for (size_t j = 0; j < nodes_.size(); ++j) {
      if (bound(j)) {
        result[j] = place(frame, j);
      } else if (parents_[j] >= 0) {  // as it lies in its parent without animation
        const auto p = static_cast<size_t>(parents_[j]);
        result[j] = result[p] * unmoved_[nodes_[p]].inverse() * rest[j];
      }
      if (!result[j].allFinite() || !TurnOf(result[j])) return rest;
      // A skin that was bound to a body, of which the nodes are the mirror image.
      if (result[j].topLeftCorner<3, 3>().determinant() * rest[j].topLeftCorner<3, 3>().determinant() < 0) return rest;
    }
    // Its size may be another one: a skin in meters on bones in centimeters.
    const auto size = [&](const std::vector<Mat4>& places) {
      double sum = 0;
      for (size_t j = 1; j < places.size(); ++j) {
        sum += (places[j] - places[static_cast<size_t>(parents_[j])]).topRightCorner<3, 1>().norm();
      }
      return sum;
    };
    const double ratio = size(rest) / size(result);
    if (!(ratio > 1e-6 && ratio < 1e6)) return rest;
    if (std::abs(ratio - 1) > 0.2) {
      for (Mat4& at : result) at.topRightCorner<3, 1>() *= ratio;
    }
    return result;
  }

  void AddJoints() {
    const std::vector<Mat4> rest = RestPlaces();
    std::set<std::string> names;
    for (size_t j = 0; j < nodes_.size(); ++j) {
      motion::Joint& joint = clip_.skeleton.joints.emplace_back();
      joint.name = scene_.nodes[nodes_[j]].name;
      if (joint.name.empty()) joint.name = "node";
      for (int copy = 2; !names.insert(joint.name).second; ++copy) {
        joint.name = scene_.nodes[nodes_[j]].name + "_" + std::to_string(copy);
      }
      joint.parent = parents_[j];
      const Vec3 at = rest[j].topRightCorner<3, 1>();
      joint.offset = at;
      if (joint.parent >= 0) joint.offset -= rest[static_cast<size_t>(joint.parent)].topRightCorner<3, 1>();
      RequireFinite(at, j);
      rest_turns_.push_back(RequireTurn(rest[j], j));
    }
  }

  Mat3 RequireTurn(const Mat4& place, size_t joint) const {
    const std::optional<Mat3> turn = place.allFinite() ? TurnOf(place) : std::nullopt;
    if (!turn) {
      throw InputError(name_, "joint " + InQuotes(clip_.skeleton.joints[joint].name) + " of no size",
                       "a scale above 0");
    }
    return *turn;
  }

  void RequireFinite(const Vec3& place, size_t joint) const {
    if (place.allFinite() && place.cwiseAbs().maxCoeff() <= kLargest) return;
    throw InputError(name_, "joint " + InQuotes(clip_.skeleton.joints[joint].name) + " too far away",
                     "places within " + io::Number(kLargest));
  }

  void AddFrames() {
    TimingFinder times(name_);
    for (const Scene::Channel& channel : animation_->channels) {
      if (!moves_joint_[static_cast<size_t>(channel.node)]) continue;
      times.Add(channel.positions);
      times.Add(channel.rotations);
      times.Add(channel.scales);
    }
    Timing timing = times.Find(animation_->rate);
    StartWithOthers(timing);
    if (timing.frames > kMostPlaces / nodes_.size()) {
      throw InputError(name_, std::to_string(timing.frames) + " frames of " + std::to_string(nodes_.size()) + " joints",
                       "what fits into memory");
    }
    clip_.frame_time = timing.frame_time;
    clip_.frames.reserve(timing.frames);
    std::vector<Mat4> global;
    for (size_t f = 0; f < timing.frames; ++f) {
      const double time = timing.start + static_cast<double>(f) * timing.frame_time;
      for (const Scene::Channel& channel : animation_->channels) {
        const auto node = static_cast<size_t>(channel.node);
        if (moves_joint_[node]) local_[node] = PlaceAt(channel, time, 2e-3 * timing.frame_time);
      }
      Chain(scene_, local_, global);
      AddFrame(global);
    }
  }

  /// People in one file have one clock: the first frame of each is that of the first key of any of them.
  void StartWithOthers(Timing& timing) const {
    if (finder_.roots().size() < 2) return;
    double first = timing.start;
    const auto consider = [&](const auto& keys) {
      if (keys.size() > 1) first = std::min(first, keys.front().time);
    };
    for (const Scene::Channel& channel : animation_->channels) {
      if (!finder_.MovesAJoint(static_cast<size_t>(channel.node))) continue;
      consider(channel.positions);
      consider(channel.rotations);
      consider(channel.scales);
    }
    const double before = (timing.start - first) / timing.frame_time;
    if (!(before < static_cast<double>(kMostPlaces))) {
      throw InputError(name_, "keys of another performer " + io::Number(timing.start - first) + " s before",
                       "what fits into memory");
    }
    const auto more = static_cast<size_t>(std::lround(before));
    timing.frames += more;
    timing.start -= static_cast<double>(more) * timing.frame_time;
  }

  Mat4 PlaceAt(const Scene::Channel& channel, double time, double nearly) const {
    const Mat4& unmoved = scene_.nodes[static_cast<size_t>(channel.node)].place;
    Mat4 place = unmoved;
    if (!channel.positions.empty()) place.topRightCorner<3, 1>() = At(channel.positions, time, nearly);
    if (!channel.rotations.empty() || !channel.scales.empty()) {
      Mat3 turn = Mat3::Identity();
      Vec3 scale;
      const Mat3 linear = unmoved.topLeftCorner<3, 3>();
      for (int axis = 0; axis < 3; ++axis) scale[axis] = linear.col(axis).norm();
      if (linear.determinant() < 0) scale = -scale;
      if (!channel.rotations.empty()) {
        turn = At(channel.rotations, time, nearly).normalized().toRotationMatrix();
      } else {
        for (int axis = 0; axis < 3; ++axis) turn.col(axis) = linear.col(axis) / scale[axis];
      }
      if (!channel.scales.empty()) scale = At(channel.scales, time, nearly);
      place.topLeftCorner<3, 3>() = turn * scale.asDiagonal();
    }
    return place;
  }

  void AddFrame(const std::vector<Mat4>& global) {
    motion::Frame& frame = clip_.frames.emplace_back();
    frame.translations.reserve(nodes_.size());
    frame.rotations.reserve(nodes_.size());
    std::vector<Quat> orientations(nodes_.size());
    for (size_t j = 0; j < nodes_.size(); ++j) {
      const Mat4& place = global[nodes_[j]];
      const Vec3 at = place.topRightCorner<3, 1>();
      RequireFinite(at, j);
      Mat3 turn = RequireTurn(place, j) * rest_turns_[j].transpose();
      // Mirrored now and not at rest: its position and those of its children are kept all the same.
      if (turn.determinant() < 0) turn = turn * Vec3(-1, 1, 1).asDiagonal();
      orientations[j] = Quat(turn).normalized();
      if (parents_[j] < 0) {
        frame.translations.push_back(at);
        frame.rotations.push_back(orientations[j]);
        continue;
      }
      const auto p = static_cast<size_t>(parents_[j]);
      const Quat inverse = orientations[p].conjugate();
      frame.translations.push_back(inverse * (at - Vec3(global[nodes_[p]].topRightCorner<3, 1>())));
      frame.rotations.push_back((inverse * orientations[j]).normalized());
    }
  }

  const Scene& scene_;
  const std::string& name_;
  SkeletonFinder finder_;
  std::vector<size_t> nodes_;  // of the joints
  std::vector<int> parents_;   // of the joints, among them
  std::vector<bool> moves_joint_;
  const Scene::Animation* animation_ = nullptr;
  std::vector<Mat4> local_;    // places of all nodes in their parents' frames
  std::vector<Mat4> unmoved_;  // global positions without animation
  std::vector<Mat3> rest_turns_;
  Clip clip_;
};

}  // namespace

Clip ClipOfScene(const Scene& scene, const std::string& name, const Choice& choice) {
  if (scene.nodes.empty()) throw InputError(name, "an empty scene", "nodes");
  return ClipMaker(scene, name, choice).Make();
}

}  // namespace retrace::recordings
