#include "retrace/recordings/bvh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
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

using Channel = BvhLayout::Channel;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), scanner_(text, name, Scanner::Braces::kAlone) {}

  BvhLayout ReadLayout() {
    const Token first = scanner_.Peek();
    ReadHierarchy();
    const std::string_view motion = scanner_.Peek().text;
    BvhLayout layout;
    const auto from = static_cast<size_t>(first.text.data() - text_.data());
    const auto to = motion.empty() ? text_.size() : static_cast<size_t>(motion.data() - text_.data());
    for (size_t i = from; i < to; ++i) {
      if (text_[i] != '\r') layout.hierarchy += text_[i];
      if (text_[i] == '\r' && (i + 1 == to || text_[i + 1] != '\n')) layout.hierarchy += '\n';
    }
    layout.channels = std::move(channels_);
    return layout;
  }

  Clip Read() {
    ReadHierarchy();
    ReadMotion();
    RequireSize();
    return std::move(clip_);
  }

 private:
  /// A joint whose braces are still open.
  struct OpenJoint {
    int index = 0;
    int end_sites = 0;
    bool has_offset = false;
    bool has_channels = false;
  };

  void Expect(std::string_view lower, const std::string& expected) {
    const Token token = scanner_.Next();
    if (!EqualsNoCase(token.text, lower)) scanner_.Fail(token, expected);
  }

  Vec3 ReadVector() {
    const double x = scanner_.Number("the x of an offset");
    const double y = scanner_.Number("the y of an offset");
    const double z = scanner_.Number("the z of an offset");
    return {x, y, z};
  }

  int AddJoint(const Token& at, Joint joint) {
    if (clip_.skeleton.joints.size() >= kMaxJoints) {
      scanner_.Fail(at, "another joint", "at most " + std::to_string(kMaxJoints) + " joints");
    }
    clip_.skeleton.joints.push_back(std::move(joint));
    return static_cast<int>(clip_.skeleton.joints.size()) - 1;
  }

  void Open(const Token& keyword) {
    std::string name;
    const Token first = scanner_.Peek();
    while (!scanner_.AtLineEnd() && scanner_.Peek().text != "{" && name.size() <= kMaxNameLength) {
      if (!name.empty()) name += ' ';
      name += scanner_.Next().text.substr(0, kMaxNameLength + 1);
    }
    if (name.empty()) scanner_.Fail(first, "the name of the joint behind " + Quoted(keyword.text));
    scanner_.CheckName(first, name);
    if (!names_.insert(name).second) {
      scanner_.Fail(first, "a second joint named " + Quoted(name), "names that are all different");
    }
    Expect("{", "'{' behind the name of the joint");
    if (stack_.size() >= kMaxDepth) {
      scanner_.Fail(keyword, "a joint inside " + std::to_string(stack_.size()) + " others",
                    "at most " + std::to_string(kMaxDepth) + " joints in a chain");
    }
    Joint joint;
    joint.name = std::move(name);
    joint.parent = stack_.empty() ? -1 : stack_.back().index;
    stack_.push_back({AddJoint(first, std::move(joint)), 0, false, false});
  }

  void ReadEndSite(const Token& keyword) {
    OpenJoint& parent = stack_.back();
    Expect("site", "'Site' behind 'End'");
    while (!scanner_.AtLineEnd() && scanner_.Peek().text != "{") scanner_.Next();  // some exporters name the site
    Expect("{", "'{' behind 'End Site'");
    Expect("offset", "'OFFSET' of the end site");
    Joint site;
    site.name = clip_.skeleton.joints[parent.index].name + "_end";
    if (++parent.end_sites > 1) site.name += std::to_string(parent.end_sites);
    site.parent = parent.index;
    site.offset = ReadVector();
    site.end_site = true;
    Expect("}", "'}' at the end of the end site");
    AddJoint(keyword, std::move(site));
  }

  void ReadChannels() {
    const Token count_token = scanner_.Next();
    int64_t count = 0;
    if (!ParseInteger(count_token.text, count) || count < 0 || count > 6) {
      scanner_.Fail(count_token, "a number of channels from 0 to 6");
    }
    const int joint = stack_.back().index;
    bool used[2][3] = {};
    for (int64_t i = 0; i < count; ++i) {
      const Token token = scanner_.Next();
      const std::string_view text = token.text;
      Channel channel;
      channel.joint = joint;
      channel.rotation = text.size() == 9 && EqualsNoCase(text.substr(1), "rotation");
      const bool position = text.size() == 9 && EqualsNoCase(text.substr(1), "position");
      channel.axis = text.empty() ? -1 : (text[0] | 0x20) - 'x';
      if ((!channel.rotation && !position) || channel.axis < 0 || channel.axis > 2) {
        scanner_.Fail(token, "channel " + std::to_string(i + 1) + " of " + std::to_string(count) +
                                 " (Xposition, Yposition, Zposition, Xrotation, Yrotation or Zrotation)");
      }
      if (std::exchange(used[channel.rotation][channel.axis], true)) {
        scanner_.Fail(token, "a second " + Quoted(text) + " on one joint", "each channel once");
      }
      channels_.push_back(channel);
    }
  }

  void ReadHierarchy() {
    Expect("hierarchy", "'HIERARCHY' at the start of a BVH file");
    const Token root = scanner_.Next();
    if (!EqualsNoCase(root.text, "root")) scanner_.Fail(root, "'ROOT'");
    Open(root);
    while (!stack_.empty()) {
      OpenJoint& top = stack_.back();
      const Token token = scanner_.Next();
      if (EqualsNoCase(token.text, "offset")) {
        if (std::exchange(top.has_offset, true)) scanner_.Fail(token, "a second 'OFFSET'", "one for each joint");
        clip_.skeleton.joints[top.index].offset = ReadVector();
      } else if (EqualsNoCase(token.text, "channels")) {
        if (std::exchange(top.has_channels, true)) scanner_.Fail(token, "a second 'CHANNELS'", "one for each joint");
        ReadChannels();
      } else if (EqualsNoCase(token.text, "joint")) {
        RequireOffset(token);
        Open(token);
      } else if (EqualsNoCase(token.text, "end")) {
        RequireOffset(token);
        ReadEndSite(token);
      } else if (token.text == "}") {
        RequireOffset(token);
        stack_.pop_back();
      } else {
        scanner_.Fail(token, "OFFSET, CHANNELS, JOINT, End Site or '}' in joint " +
                                 Quoted(clip_.skeleton.joints[top.index].name));
      }
    }
    if (channels_.empty()) scanner_.Fail(root, "a skeleton without any channel", "channels for its joints");
    root_ = root;
  }

  /// Bones have a length: from their offsets, or given in the frames where the offsets are all 0.
  void RequireSize() {
    const auto has_length = [](const Joint& joint) { return joint.parent >= 0 && joint.offset != Vec3::Zero(); };
    const auto has_moved = [](const Frame& frame) {
      return std::any_of(frame.translations.begin() + 1, frame.translations.end(),
                         [](const Vec3& v) { return v != Vec3::Zero(); });
    };
    const std::vector<Joint>& joints = clip_.skeleton.joints;
    if (std::any_of(joints.begin(), joints.end(), has_length)) return;
    if (std::any_of(clip_.frames.begin(), clip_.frames.end(), has_moved)) return;
    scanner_.Fail(root_, "a skeleton of zero size (all offsets are 0)", "bones with a length");
  }

  void RequireOffset(const Token& token) {
    if (stack_.back().has_offset) return;
    scanner_.Fail(token, "'OFFSET' of joint " + Quoted(clip_.skeleton.joints[stack_.back().index].name));
  }

  /// A keyword of the motion's header with its colon, which may stand apart.
  bool TryHeader(std::string_view lower) {
    const std::string_view text = scanner_.Peek().text;
    const bool with_colon = text.size() == lower.size() + 1 && text.back() == ':';
    if (!EqualsNoCase(with_colon ? text.substr(0, lower.size()) : text, lower)) return false;
    scanner_.Next();
    if (!with_colon) Expect(":", "':' behind '" + std::string(lower) + "'");
    return true;
  }

  void ReadMotion() {
    const Token motion = scanner_.Next();
    if (!EqualsNoCase(motion.text, "motion")) {
      scanner_.Fail(motion, "'MOTION' behind the hierarchy (one ROOT only, as many '}' as '{')");
    }
    scanner_.SplitAfterColon();
    Token count_token;
    int64_t frame_count = -1;
    while (frame_count < 0 || clip_.frame_time == 0) {
      if (frame_count < 0 && TryHeader("frames")) {
        count_token = scanner_.Next();
        if (!ParseInteger(count_token.text, frame_count) || frame_count < 1) {
          scanner_.Fail(count_token, "a number of frames of at least 1");
        }
      } else if (clip_.frame_time == 0 && EqualsNoCase(scanner_.Peek().text, "frame")) {
        scanner_.Next();
        if (!TryHeader("time")) scanner_.Fail(scanner_.Peek(), "'Time:' behind 'Frame'");
        const Token token = scanner_.Peek();
        clip_.frame_time = scanner_.Number("the frame time in seconds");
        if (clip_.frame_time < 1e-6 || clip_.frame_time > 60) {
          scanner_.Fail(token, "a frame time from 1e-6 to 60 seconds");
        }
      } else {
        scanner_.Fail(scanner_.Peek(), frame_count < 0 ? "'Frames:'" : "'Frame Time:'");
      }
    }
    // A number takes two bytes at least, its blank included: a count that the rest of the file cannot hold is refused
    // before anything is allocated for it.
    const auto row_bytes = static_cast<int64_t>(2 * channels_.size());
    const auto room = static_cast<int64_t>(scanner_.remaining()) + 1;
    if (frame_count > room / row_bytes) {
      scanner_.Fail(count_token, Quoted(count_token.text) + " frames",
                    "no more than the rest of the file has room for (" + std::to_string(room / row_bytes) + ")");
    }
    clip_.frames.reserve(static_cast<size_t>(frame_count));
    for (int64_t f = 0; f < frame_count; ++f) ReadFrame(f, frame_count, count_token.line);
    if (!scanner_.Peek().end()) {
      scanner_.Fail(scanner_.Peek(), "the end of the file behind the " + std::to_string(frame_count) +
                                         " frames that line " + std::to_string(count_token.line) + " states");
    }
  }

  /// A value that is not a plain number on the current line: on the next line, with a sign that C accepts, or a fault.
  double ReadValue(size_t channel, int64_t frame, int64_t count, int count_line) {
    if (scanner_.Peek().end()) {
      scanner_.Fail(
          scanner_.Peek(),
          "the end of the file behind " + std::to_string(channel) + " values of frame " + std::to_string(frame + 1),
          std::to_string(channels_.size()) + " values in each of the " + std::to_string(count) + " frames that line " +
              std::to_string(count_line) + " states");
    }
    return scanner_.Number("value " + std::to_string(channel + 1) + " of " + std::to_string(channels_.size()) +
                           " of frame " + std::to_string(frame + 1));
  }

  void ReadFrame(int64_t index, int64_t count, int count_line) {
    const Token first = scanner_.Peek();
    if (!first.starts_line) scanner_.Fail(first, "the first frame on a line of its own");
    Frame& frame = clip_.frames.emplace_back();
    const std::vector<Joint>& joints = clip_.skeleton.joints;
    frame.rotations.assign(joints.size(), Quat::Identity());
    frame.translations.reserve(joints.size());
    for (const Joint& joint : joints) frame.translations.push_back(joint.offset);
    for (size_t c = 0; c < channels_.size(); ++c) {
      const Channel& channel = channels_[c];
      double value = 0;
      if (!scanner_.TryNumber(value)) value = ReadValue(c, index, count, count_line);
      if (channel.rotation) {
        TurnAboutAxis(frame.rotations[channel.joint], channel.axis, Radians(value));
      } else {
        frame.translations[channel.joint][channel.axis] = value;
      }
    }
    // Rows may be wrapped, but a frame ends where a line ends: a row with a value too many or too few is then found
    // instead, and not at the end of the file or, where two faults cancel, never.
    if (!scanner_.AtLineEnd()) {
      scanner_.Fail(scanner_.Peek(), "the end of the line: frame " + std::to_string(index + 1) + ", from line " +
                                         std::to_string(first.line) + ", has its " + std::to_string(channels_.size()) +
                                         " values");
    }
  }

  std::string_view text_;
  Scanner scanner_;
  Token root_;
  Clip clip_;
  std::vector<Channel> channels_;
  std::vector<OpenJoint> stack_;
  std::unordered_set<std::string> names_;
};

/// The rotation channels of a joint, and what their angles were in the frame before [rad].
struct Turning {
  std::vector<int> axes;
  std::array<double, 3> angles = {};
};

double Nearest(double angle, double to) {
  return angle + 2 * kPi * std::round((to - angle) / (2 * kPi));
}

/// Angles of a rotation about up to three axes; the same rotation has two triples, of which the one nearer to those
/// before is taken. Returns what the angles miss [rad].
double Turn(const Quat& rotation, Turning& turning) {
  const std::vector<int>& axes = turning.axes;
  if (axes.empty()) return AngleBetween(rotation, Quat::Identity());
  if (axes.size() == 1) {
    const Quat twist = Twist(rotation, Vec3::Unit(axes[0]));
    turning.angles[0] = Nearest(RotationVector(twist)[axes[0]], turning.angles[0]);
    return AngleBetween(rotation, twist);
  }
  const int last = 3 - axes[0] - axes[1];
  const std::array<double, 3> one = EulerAngles(rotation.toRotationMatrix(), axes[0], axes[1], last);
  const std::array<double, 3> other = {one[0] + kPi, kPi - one[1], one[2] + kPi};
  const bool three = axes.size() == 3;
  double least = std::numeric_limits<double>::infinity();
  std::array<double, 3> best = one;
  for (std::array<double, 3> angles : {one, other}) {
    double distance = 0;
    for (size_t k = 0; k < 3; ++k) {
      // With two axes the third angle is what is lost: it is to be near 0.
      angles[k] = Nearest(angles[k], k < 2 || three ? turning.angles[k] : 0);
      distance += std::abs(angles[k] - (k < 2 || three ? turning.angles[k] : 0));
    }
    if (distance < least - 1e-9) least = distance, best = angles;
  }
  const double missed = three ? 0 : std::abs(best[2]);
  if (!three) best[2] = 0;
  turning.angles = best;
  return missed;
}

}  // namespace

BvhLayout ParseBvhLayout(std::string_view text, const std::string& name) {
  return Reader(text, name).ReadLayout();
}

std::string FormatBvh(const Clip& clip, const BvhLayout& layout, BvhLoss& loss) {
  const std::vector<Joint>& joints = clip.skeleton.joints;
  std::vector<Turning> turnings(joints.size());
  std::vector<std::array<bool, 3>> moves(joints.size(), {false, false, false});
  for (const Channel& channel : layout.channels) {
    const auto joint = static_cast<size_t>(channel.joint);
    if (joint >= joints.size()) throw std::logic_error("a layout of another skeleton");
    if (channel.rotation) {
      turnings[joint].axes.push_back(channel.axis);
    } else {
      moves[joint][static_cast<size_t>(channel.axis)] = true;
    }
  }
  std::string text = layout.hierarchy;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text.append("MOTION\nFrames: ").append(std::to_string(clip.frames.size())).append("\nFrame Time: ");
  io::AppendNumber(text, clip.frame_time);
  text += '\n';
  std::vector<size_t> next(joints.size());
  for (const Frame& frame : clip.frames) {
    for (size_t j = 0; j < joints.size(); ++j) {
      if (!joints[j].end_site) loss.angle = std::max(loss.angle, Turn(frame.rotations[j], turnings[j]));
      next[j] = 0;
      for (size_t axis = 0; axis < 3; ++axis) {
        if (moves[j][axis]) continue;
        const auto at = static_cast<Eigen::Index>(axis);
        loss.distance = std::max(loss.distance, std::abs(frame.translations[j][at] - joints[j].offset[at]));
      }
    }
    bool first = true;
    for (const Channel& channel : layout.channels) {
      const auto joint = static_cast<size_t>(channel.joint);
      if (!std::exchange(first, false)) text += ' ';
      io::AppendNumber(text, channel.rotation ? Degrees(turnings[joint].angles[next[joint]++])
                                              : frame.translations[joint][channel.axis]);
    }
    text += '\n';
  }
  return text;
}

Clip ParseBvh(std::string_view text, const std::string& name) {
  return Reader(text, name).Read();
}

Clip ReadBvh(const std::filesystem::path& path) {
  return ParseBvh(io::ReadFile(path), path.string());
}

BvhText::BvhText(const Skeleton& skeleton, std::vector<bool> moves) : moves_(std::move(moves)) {
  const std::vector<Joint>& joints = skeleton.joints;
  std::vector<std::vector<int>> children(joints.size());
  for (size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].parent >= 0) {
      children[static_cast<size_t>(joints[j].parent)].push_back(static_cast<int>(j));
    } else {
      moves_[j] = true;
    }
  }

  std::string& text = hierarchy_;
  text = "HIERARCHY\n";
  struct Visit {
    int joint;
    int depth;
    bool closing;
  };
  std::vector<Visit> visits;
  if (!joints.empty()) visits.push_back({0, 0, false});
  while (!visits.empty()) {
    const auto [j, depth, closing] = visits.back();
    visits.pop_back();
    const std::string indent(depth, '\t');
    if (closing) {
      text += indent + "}\n";
      continue;
    }
    const Joint& joint = joints[j];
    text += indent + (joint.end_site ? "End Site" : (depth == 0 ? "ROOT " : "JOINT ") + joint.name) + '\n';
    text += indent + "{\n" + indent + "\tOFFSET";
    AppendVector(text, joint.offset);
    text += '\n';
    visits.push_back({j, depth, true});
    if (joint.end_site) continue;
    order_.push_back(static_cast<size_t>(j));
    text += indent + (moves_[j] ? "\tCHANNELS 6 Xposition Yposition Zposition " : "\tCHANNELS 3 ") +
            "Zrotation Xrotation Yrotation\n";
    for (auto child = children[j].rbegin(); child != children[j].rend(); ++child) {
      visits.push_back({*child, depth + 1, false});
    }
  }
}

std::string BvhText::Head(size_t frames, double frame_time) const {
  std::string text = hierarchy_;
  text.append("MOTION\nFrames: ").append(std::to_string(frames)).append("\nFrame Time: ");
  io::AppendNumber(text, frame_time);
  return text += '\n';
}

void BvhText::AppendRow(const Frame& frame, std::string& text) const {
  const size_t row = text.size();
  for (const size_t j : order_) {
    if (moves_[j]) AppendVector(text, frame.translations[j]);
    const auto [z, x, y] = EulerAngles(frame.rotations[j].toRotationMatrix(), 2, 0, 1);
    AppendVector(text, {Degrees(z), Degrees(x), Degrees(y)});
  }
  if (text.size() == row) return;
  text.erase(row, 1);  // the first blank
  text += '\n';
}

std::string FormatBvh(const Clip& clip) {
  const std::vector<Joint>& joints = clip.skeleton.joints;
  std::vector<bool> moves(joints.size(), false);
  for (size_t j = 0; j < joints.size(); ++j) {
    moves[j] = std::any_of(clip.frames.begin(), clip.frames.end(),
                           [&](const Frame& frame) { return frame.translations[j] != joints[j].offset; });
  }
  const BvhText bvh(clip.skeleton, std::move(moves));
  std::string text = bvh.Head(clip.frames.size(), clip.frame_time);
  for (const Frame& frame : clip.frames) bvh.AppendRow(frame, text);
  return text;
}

}  // namespace retrace::motion
