#include "recorded_spikes.h"

#include <algorithm>
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
    const auto straight = [&](size_t g) {
      return rotations[first].slerp(static_cast<double>(g - first) / static_cast<double>(last - first),
                                    rotations[last]);
    };
    size_t tip = first;
    double path = 0, farthest = 0;
    std::vector<double> steps_of_it;
    for (size_t g = first; g < last; ++g) {
      steps_of_it.push_back(AngleBetween(rotations[g], rotations[g + 1]));
      path += steps_of_it.back();
      const double apart = AngleBetween(rotations[g], straight(g));
      if (apart <= farthest) continue;
      farthest = apart;
      tip = g;
    }
    if (path < AngleBetween(rotations[first], rotations[last]) + kDetour) continue;
    const auto middle = steps_of_it.begin() + static_cast<std::ptrdiff_t>(tip - first);
    if (middle == steps_of_it.begin()) continue;
    const double out = *std::max_element(steps_of_it.begin(), middle);
    const double back = *std::max_element(middle, steps_of_it.end());
    if (std::max(out, back) < kFastTurn * frame_time || std::min(out, back) < kFastReturn * frame_time) continue;
    const double largest = std::max(out, back);
    for (size_t g = first + 1; g < last; ++g) rotations[g] = straight(g);
    found.push_back({segment, first, last, largest});
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
  if (notes > kMostNotes) {
    report.notes.push_back("so at " + std::to_string(notes - kMostNotes) + " other times of the recording");
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
