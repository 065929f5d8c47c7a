#include "retrace/motion/calibration.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace retrace::motion {
namespace {

// Limits for the mean point of the bones. In 130 recordings of all kinds of motion, falls, flips and kicks among them,
// no frame at either end of the motion comes near all of these.
constexpr double kFarJump = 0.03;      // within a frame [m]
constexpr double kImpossible = 50;     // acceleration [m/s2]
constexpr double kMoreThanUsual = 4;   // times
constexpr double kHeld = 0.25;         // a pose that lasts longer may be where the body stands before the motion [s]
constexpr double kFarFromHeld = 0.15;  // within a frame, from such a pose: a T-pose, and no stand [m]
constexpr size_t kNeighbors = 3;       // frames that show what is usual
constexpr double kStandsStill = 0.3;   // [m/s]
constexpr double kMoves = 0.1;         // mean of a motion [m/s]
constexpr size_t kMovingShare = 5;     // what is usual is taken from the frames that move where one in so many does

/// How the bones move: means over the positions of joints, each with the length of the bone that ends there as its
/// weight, because hands have many joints [m].
struct Course {
  std::vector<double> steps;  ///< from each frame to the next: their number is one less than that of frames
  std::vector<double> bends;  ///< between each step and the next one, as vectors: one less again

  Course Backwards() const { return {{steps.rbegin(), steps.rend()}, {bends.rbegin(), bends.rend()}}; }
};

Course CourseOf(const Clip& clip, double unit) {
  const std::vector<Joint>& joints = clip.skeleton.joints;
  std::vector<double> weights;
  for (const Joint& joint : joints) weights.push_back(joint.parent < 0 ? 0 : joint.offset.norm());
  if (std::accumulate(weights.begin(), weights.end(), 0.0) <= 0) weights.assign(joints.size(), 1);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto mean = [&](const auto& length) {
    double sum = 0;
    for (size_t j = 0; j < joints.size(); ++j) sum += weights[j] * length(j);
    return unit * sum / total;
  };
  Course course;
  GlobalPose pose, before, earlier;
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    ForwardKinematics(clip.skeleton, clip.frames[f], pose);
    const auto &a = earlier.positions, &b = before.positions, &c = pose.positions;
    if (f > 0) course.steps.push_back(mean([&](size_t j) { return (c[j] - b[j]).norm(); }));
    if (f > 1) course.bends.push_back(mean([&](size_t j) { return (c[j] - 2 * b[j] + a[j]).norm(); }));
    std::swap(earlier, before);
    std::swap(before, pose);
  }
  return course;
}

/// 0 of none.
double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Number of frames before the motion, of a course in the order that leads into it.
size_t CountPoses(const Course& course, double frame_time) {
  const std::vector<double>& steps = course.steps;
  const std::vector<double>& bends = course.bends;
  const double impossible = kImpossible * frame_time * frame_time;
  const auto is_jump = [&](size_t f, double usual_step, double usual_bend) {
    if (!(steps[f] > kFarJump)) return false;
    const bool by_step = steps[f] > kMoreThanUsual * usual_step && steps[f] - usual_step > impossible;
    const bool by_bend = bends[f] > kMoreThanUsual * usual_bend && bends[f] > impossible;
    return by_step || by_bend;
  };
  const auto largest_after = [](const std::vector<double>& values, size_t f) {
    const auto after = values.begin() + static_cast<std::ptrdiff_t>(std::min(f + 1, values.size()));
    const auto end =
        after + static_cast<std::ptrdiff_t>(std::min(kNeighbors, static_cast<size_t>(values.end() - after)));
    return after == end ? 0 : *std::max_element(after, end);
  };
  // Poses may be held for longer than the motion takes: of all frames, standing still would be usual. In a recording
  // that hardly moves, such as sitting, only the jumps between poses would be left.
  std::vector<double> moving_steps, moving_bends;
  for (size_t f = 0; f < bends.size(); ++f) {
    if (!(steps[f] > kStandsStill * frame_time)) continue;
    moving_steps.push_back(steps[f]);
    moving_bends.push_back(bends[f]);
  }
  const bool moves = kMovingShare * moving_steps.size() > bends.size();
  const double median_step = MedianOf(moves ? moving_steps : steps),
               median_bend = MedianOf(moves ? moving_bends : bends);
  size_t count = 0, held_from = 0;
  bool after_stand = false;  // which is a calibration only where it is followed by a pose far from the motion
  for (size_t f = 0; f < bends.size(); ++f) {
    const bool jump = is_jump(f, largest_after(steps, f), largest_after(bends, f));
    const bool from_pose_to_pose = !jump && is_jump(f, median_step, median_bend);
    if (jump || from_pose_to_pose) {
      const bool held = static_cast<double>(f + 1 - held_from) * frame_time > kHeld;
      const bool far = steps[f] >= kFarFromHeld;
      after_stand = !far && (held || after_stand);  // perhaps of a body that stood there, and of which frames were lost
      if (jump && !after_stand) count = f + 1;
      held_from = f + 1;
    } else if (steps[f] > kStandsStill * frame_time) {
      break;  // a motion
    }
  }
  return count;
}

}  // namespace

MotionFrames FindMotionFrames(const Clip& clip, double unit) {
  const size_t frames = clip.frames.size();
  const MotionFrames all{0, frames, 0, 0};
  if (frames < 3) return all;
  const Course course = CourseOf(clip, unit);
  MotionFrames motion = all;
  motion.first = CountPoses(course, clip.frame_time);
  motion.end = frames - CountPoses(course.Backwards(), clip.frame_time);
  if (motion.end < motion.first + 3) return all;
  if (motion.first > 0) motion.jump_before = course.steps[motion.first - 1];
  if (motion.end < frames) motion.jump_after = course.steps[motion.end - 1];
  // Poses alone, one after the other.
  const auto begin = course.steps.begin() + static_cast<std::ptrdiff_t>(motion.first);
  const auto end = course.steps.begin() + static_cast<std::ptrdiff_t>(motion.end) - 1;
  const double seconds = static_cast<double>(end - begin) * clip.frame_time;
  const bool moves = std::accumulate(begin, end, 0.0) > kMoves * seconds;
  return moves || 2 * (motion.end - motion.first) > frames ? motion : all;
}

}  // namespace retrace::motion
