#include "recorded_spikes.h"

#include <algorithm>
#include <optional>
#include <string>

#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::character {
namespace {

// No limb turns like the first and comes back like the second: kicks reach some 30 rad/s out and 15 rad/s back [rad/s].
constexpr double kFastTurn = 40, kFastReturn = 25;
constexpr double kCalmTurn = 12;        // a spike reaches to where it is slower than this [rad/s]
constexpr double kSpikeGap = 0.1;       // between two fast steps of one spike [s]
constexpr double kLongestSpike = 0.25;  // [s]
const double kDetour = Radians(60);     // a spike turns at least so much farther than straight from before to after it
constexpr size_t kMostNotes = 4;

struct Spike {
  std::string segment;
  size_t first = 0, last = 0;  // frames that are right, before and after
  double largest_turn = 0;     // between two frames [rad]
};

/// Between two frames, turned steadily.
Quat Straight(const std::vector<Quat>& rotations, size_t first, size_t last, size_t frame) {
  const double t = static_cast<double>(frame - first) / static_cast<double>(last - first);
  return rotations[first].slerp(t, rotations[last]);
}

/// Largest turn between two frames of what goes elsewhere and back between `first` and `last` as no limb does [rad];
/// nothing where a limb might.
std::optional<double> SpikeBetween(const std::vector<Quat>& rotations, double frame_time, size_t first, size_t last) {
  size_t tip = first;
  double path = 0, farthest = 0, out = 0, back = 0;
  for (size_t f = first; f < last; ++f) {
    const double apart = AngleBetween(rotations[f], Straight(rotations, first, last, f));
    if (apart > farthest) {
      farthest = apart;
      tip = f;
    }
  }
  for (size_t f = first; f < last; ++f) {
    const double turn = AngleBetween(rotations[f], rotations[f + 1]);
    path += turn;
    (f < tip ? out : back) = std::max(f < tip ? out : back, turn);
  }
  const double fast = std::max(out, back) / frame_time, slow = std::min(out, back) / frame_time;
  const double detour = path - AngleBetween(rotations[first], rotations[last]);
  if (detour < kDetour || fast < kFastTurn || slow < kFastReturn) return std::nullopt;
  return std::max(out, back);
}

/// The spikes of one rotation, bridged in `rotations`. `turns` are those of the segment in the world, per step.
void BridgeRotation(const std::string& segment, double frame_time, const std::vector<double>& turns,
                    std::vector<Quat>& rotations, std::vector<Spike>& found) {
  const size_t steps = turns.size();
  const auto frames = [&](double seconds) { return static_cast<size_t>(seconds / frame_time); };
  const size_t gap = frames(kSpikeGap), longest = std::max<size_t>(2, frames(kLongestSpike));
  for (size_t f = 0; f < steps; ++f) {
    if (turns[f] < kFastTurn * frame_time) continue;
    size_t first = f, last = f + 1;
    for (size_t g = last; g < steps && g <= last + gap; ++g) {
      if (turns[g] >= kFastTurn * frame_time) last = g + 1;
    }
    f = last - 1;
    while (first > 0 && turns[first - 1] > kCalmTurn * frame_time && last - first <= longest) --first;
    while (last < steps && turns[last] > kCalmTurn * frame_time && last - first <= longest) ++last;
    if (first == 0 || last == steps || last - first > longest) continue;  // what is right at its ends is not known
    const std::optional<double> turn = SpikeBetween(rotations, frame_time, first, last);
    if (!turn) continue;
    for (size_t g = first + 1; g < last; ++g) rotations[g] = Straight(rotations, first, last, g);
    found.push_back({segment, first, last, *turn});
    f = last - 1;
  }
}

/// One note for the spikes that are at the same time.
void NoteSpikes(double frame_time, double first_time, std::vector<Spike> spikes, ReferenceReport& report) {
  std::stable_sort(spikes.begin(), spikes.end(), [](const Spike& a, const Spike& b) { return a.first < b.first; });
  size_t notes = 0;
  for (size_t i = 0; i < spikes.size();) {
    Spike all = spikes[i];
    size_t next = i + 1;
    for (; next < spikes.size() && spikes[next].first < all.last; ++next) {
      if (all.segment.find(spikes[next].segment) == std::string::npos) all.segment += ", " + spikes[next].segment;
      all.last = std::max(all.last, spikes[next].last);
      all.largest_turn = std::max(all.largest_turn, spikes[next].largest_turn);
    }
    if (notes++ < kMostNotes) {
      const auto time = [&](size_t frame) {
        return io::Fixed(first_time + static_cast<double>(frame) * frame_time, 2);
      };
      report.notes.push_back(all.segment + " bridged from " + time(all.first) + " to " + time(all.last) +
                             " s: turned by " + io::Fixed(Degrees(all.largest_turn), 0) +
                             " degrees between two frames, and back");
    }
    i = next;
  }
  if (notes > 0) {
    report.doubts.push_back({"recording", "joints jump elsewhere and back at " + std::to_string(notes) +
                                              (notes == 1 ? " instant" : " instants") +
                                              " of the recording; these frames are bridged"});
  }
  if (notes > kMostNotes) {
    report.notes.push_back("and so at " + std::to_string(notes - kMostNotes) + " more instants");
  }
}

}  // namespace

void BridgeSpikes(const Character& character, double frame_time, double time_scale, double first_time,
                  std::vector<Pose>& poses, ReferenceReport& report) {
  if (poses.size() < 4) return;
  const double played = frame_time * time_scale;  // how long a frame lasts in the motion [s]
  const size_t bodies = character.bodies.size();
  std::vector<std::vector<double>> turns(bodies);  // (bodies, steps) in the world [rad]
  State before, after;
  ForwardKinematics(character, poses.front(), before);
  for (size_t f = 1; f < poses.size(); ++f) {
    ForwardKinematics(character, poses[f], after);
    for (size_t b = 0; b < bodies; ++b) turns[b].push_back(AngleBetween(before[b].orientation, after[b].orientation));
    std::swap(before, after);
  }
  std::vector<Spike> spikes;
  const auto bridge = [&](int body, const auto& rotation) {
    const auto b = static_cast<size_t>(body);
    if (*std::max_element(turns[b].begin(), turns[b].end()) < kFastTurn * played) return;
    std::vector<Quat> rotations;
    for (Pose& pose : poses) rotations.push_back(rotation(pose));
    const size_t before_it = spikes.size();
    BridgeRotation(character.bodies[b].segment, played, turns[b], rotations, spikes);
    for (size_t s = before_it; s < spikes.size(); ++s) {
      for (size_t f = spikes[s].first + 1; f < spikes[s].last; ++f) rotation(poses[f]) = rotations[f];
    }
  };
  bridge(character.root, [](Pose& pose) -> Quat& { return pose.root_orientation; });
  for (size_t j = 0; j < character.joints.size(); ++j) {
    bridge(character.joints[j].child, [j](Pose& pose) -> Quat& { return pose.joint_rotations[j]; });
  }
  NoteSpikes(frame_time, first_time, std::move(spikes), report);
}

}  // namespace retrace::character
