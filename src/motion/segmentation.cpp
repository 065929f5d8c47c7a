#include "retrace/motion/segmentation.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "retrace/io/error.h"
#include "retrace/io/number.h"

namespace retrace::motion {
namespace {

void Require(bool good, const char* name, double value, const char* expected) {
  if (good) return;
  throw UsageError(std::string(name) + ": found " + io::Number(value) + ", expected " + expected);
}

void CheckFrameTime(double frame_time) {
  Require(std::isfinite(frame_time) && frame_time > 0, "frame_time", frame_time, "seconds above 0");
}

}  // namespace

std::vector<double> CentroidBoundaries(const Eigen::MatrixX3d& centroid, double frame_time,
                                       const CentroidSegmentationOptions& options) {
  CheckFrameTime(frame_time);
  Require(options.min_distance > 0, "min_distance", options.min_distance, "meters above 0");
  Require(options.min_drop >= 0, "min_drop", options.min_drop, "meters, 0 or more");
  std::vector<double> times;
  Eigen::Index start = 0;
  Eigen::Index peak = 0;
  double peak_distance = 0;
  for (Eigen::Index t = 1; t < centroid.rows(); ++t) {
    const double distance = (centroid.row(t) - centroid.row(start)).norm();
    if (distance > peak_distance) {
      peak = t;
      peak_distance = distance;
    } else if (peak_distance >= options.min_distance && distance < peak_distance &&
               peak_distance - distance >= options.min_drop) {
      times.push_back(static_cast<double>(peak) * frame_time);
      start = peak;
      peak_distance = 0;
      t = start;  // the frames behind the peak belong to the new segment
    }
  }
  return times;
}

std::vector<bool> DetectContact(const Eigen::VectorXd& height, const Eigen::VectorXd& speed, double frame_time,
                                const ContactOptions& options) {
  CheckFrameTime(frame_time);
  Require(options.leave_height >= options.enter_height, "leave_height", options.leave_height,
          "no less than enter_height");
  Require(options.enter_speed > 0, "enter_speed", options.enter_speed, "meters per second above 0");
  Require(options.leave_speed >= options.enter_speed, "leave_speed", options.leave_speed, "no less than enter_speed");
  Require(speed.size() == height.size(), "number of speeds", static_cast<double>(speed.size()),
          "as many as there are heights");
  std::vector<bool> flags(static_cast<size_t>(height.size()));
  bool contact = false;
  for (Eigen::Index t = 0; t < height.size(); ++t) {
    if (contact) {
      contact = height[t] <= options.leave_height && speed[t] <= options.leave_speed;
    } else {
      contact = height[t] < options.enter_height && speed[t] < options.enter_speed;
    }
    flags[static_cast<size_t>(t)] = contact;
  }
  return FillShortRuns(flags, frame_time, options.min_duration);
}

std::vector<bool> FillShortRuns(const std::vector<bool>& flags, double frame_time, double min_duration) {
  CheckFrameTime(frame_time);
  Require(min_duration >= 0, "min_duration", min_duration, "seconds, 0 or more");
  std::vector<size_t> lengths;  // of the runs, whose flags alternate
  for (size_t t = 0; t < flags.size(); ++t) {
    if (t == 0 || flags[t] != flags[t - 1]) lengths.push_back(0);
    ++lengths.back();
  }
  // A run and its two neighbors become one, so that the flags alternate still. The tolerance keeps a run of just the
  // duration whatever the rounding of its product with the frame time.
  const auto is_short = [&](size_t length) {
    return static_cast<double>(length) * frame_time < min_duration * (1 - 1e-9);
  };
  while (lengths.size() > 2) {
    const auto shortest = std::min_element(lengths.begin() + 1, lengths.end() - 1);
    if (!is_short(*shortest)) break;
    *(shortest - 1) += *shortest + *(shortest + 1);
    lengths.erase(shortest, shortest + 2);
  }
  std::vector<bool> filled;
  filled.reserve(flags.size());
  bool flag = !flags.empty() && flags[0];
  for (const size_t length : lengths) {
    filled.insert(filled.end(), length, flag);
    flag = !flag;
  }
  return filled;
}

std::vector<double> SwitchTimes(const std::vector<bool>& flags, double frame_time) {
  CheckFrameTime(frame_time);
  std::vector<double> times;
  for (size_t t = 1; t < flags.size(); ++t) {
    if (flags[t] != flags[t - 1]) times.push_back((static_cast<double>(t) - 0.5) * frame_time);
  }
  return times;
}

std::vector<double> MergeBoundaries(const std::vector<std::vector<double>>& sources, const MergeOptions& options) {
  Require(options.min_gap > 0, "min_gap", options.min_gap, "seconds above 0");
  Require(options.end >= options.start, "end", options.end, "no less than start");
  std::set<double> kept;
  for (std::vector<double> times : sources) {
    std::sort(times.begin(), times.end());
    for (const double time : times) {
      Require(std::isfinite(time), "boundary", time, "a finite time");
      if (time - options.start < options.min_gap || options.end - time < options.min_gap) continue;
      const auto next = kept.lower_bound(time);
      if (next != kept.end() && *next - time < options.min_gap) continue;
      if (next != kept.begin() && time - *std::prev(next) < options.min_gap) continue;
      kept.insert(time);
    }
  }
  return {kept.begin(), kept.end()};
}

}  // namespace retrace::motion
