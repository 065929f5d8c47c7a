#include "retrace/response_model/alignment.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "retrace/character/reference_motion.h"
#include "retrace/math/filter.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"
#include "retrace/response_model/response_model.h"
#include "step_cycle.h"

namespace retrace::response_model {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr int kSubframes = 4;           // of a frame of the cycle, among which a pose finds its time
constexpr size_t kFewestOfPiece = 8;    // of a piece
constexpr double kPosesBeforePush = 3;  // an observation takes as many
constexpr double kLikeAtEnd = 1.25;     // factor on the least distance, within which a piece has returned
constexpr double kReturnedStep = 0.25;  // and so much more [steps]

/// The normal motion: poses without headings, what the root moves by, and what is observed, at any time of its clock.
class NormalMotion {
 public:
  NormalMotion(const std::vector<character::Pose>& poses, const character::Cycle& cycle, FeatureMap& features)
      : length_(static_cast<Index>(cycle.length)), frame_time_(features.options().frame_time) {
    // One round after the first, because an observation takes three poses.
    const std::vector<character::Pose> rounds =
        character::Repeat(poses, cycle, 2 * cycle.length + static_cast<size_t>(kRounded));
    const MatrixXd all = features.ObserveAll(rounds);
    observations_.resize(all.rows(), length_);
    moves_.resize(3, length_);
    for (Index k = 0; k < length_; ++k) {
      const auto at = static_cast<size_t>(k + length_);
      observations_.col(k) = all.col(k + length_ - 2);
      moves_.col(k) = MoveBetween(rounds[at - 1], rounds[at]);
      poses_.push_back(WithoutHeading(rounds[at]));
    }
    for (Index k = 0; k < length_; ++k) step_ += (observations_.col((k + 1) % length_) - observations_.col(k)).norm();
    step_ /= static_cast<double>(length_);
  }

  /// Forwards, sideways (x, z in the heading frame of the first) and by heading.
  static Vec3 MoveBetween(const character::Pose& first, const character::Pose& second) {
    const double heading = HeadingAngle(first.root_orientation);
    const Vec3 moved = AxisRotation(1, -heading) * Vec3(second.root_position - first.root_position);
    return {moved.x(), moved.z(), std::remainder(HeadingAngle(second.root_orientation) - heading, 2 * kPi)};
  }

  Index length() const { return length_; }
  double period() const { return static_cast<double>(length_) * frame_time_; }
  double step() const { return step_; }

  character::Pose PoseAt(double time) const {
    const auto [before, after, share] = Between(time / frame_time_);
    character::Pose pose;
    character::Interpolate(poses_[static_cast<size_t>(before)], poses_[static_cast<size_t>(after)], share, pose);
    return WithoutHeading(pose);
  }
  /// What the root moves by in a frame that ends at a time.
  Vec3 MoveAt(double time) const {
    const auto [before, after, share] = Between(time / frame_time_);
    return (1 - share) * moves_.col(before) + share * moves_.col(after);
  }
  /// @param frame any number
  VectorXd ObservationAt(double frame) const {
    const auto [before, after, share] = Between(frame);
    return (1 - share) * observations_.col(before) + share * observations_.col(after);
  }

 private:
  static constexpr int kRounded = 1;

  struct Neighbors {
    Index before, after;
    double share;
  };
  Neighbors Between(double frame) const {
    const double whole = std::floor(frame);
    const Index before = ((static_cast<Index>(whole) % length_) + length_) % length_;
    return {before, (before + 1) % length_, frame - whole};
  }

  Index length_;
  double frame_time_;
  double step_ = 0;
  std::vector<character::Pose> poses_;  // without headings
  Eigen::Matrix3Xd moves_;              // in a frame that ends with the pose
  MatrixXd observations_;
};

/// A time of the clock for each observation of a piece [frames], which rises.
std::vector<double> TimesOf(const NormalMotion& normal, const MatrixXd& observations, const AlignmentOptions& options) {
  const Index count = observations.cols(), size = kSubframes * normal.length();
  MatrixXd distances(size, count);
  for (Index k = 0; k < size; ++k) {
    const VectorXd there = normal.ObservationAt(static_cast<double>(k) / kSubframes);
    distances.row(k) = (observations.colwise() - there).colwise().norm() / normal.step();
  }
  const auto fewest = static_cast<Index>(std::floor(options.slowest * kSubframes));
  const auto most = static_cast<Index>(std::ceil(options.fastest * kSubframes));
  VectorXd cost = distances.col(0), next(size);
  Eigen::MatrixXi steps(size, count);
  for (Index i = 1; i < count; ++i) {
    for (Index k = 0; k < size; ++k) {
      next[k] = std::numeric_limits<double>::infinity();
      for (Index step = fewest; step <= most; ++step) {
        const double uneven = static_cast<double>(step) / kSubframes - 1;
        const double sum = cost[(k - step % size + size) % size] + options.evenness * uneven * uneven;
        if (sum < next[k]) {
          next[k] = sum;
          steps(k, i) = static_cast<int>(step);
        }
      }
      next[k] += distances(k, i);
    }
    cost = next;
  }
  Index last = 0;
  cost.minCoeff(&last);
  std::vector<double> times(static_cast<size_t>(count));
  Index unwrapped = 0;
  for (Index i = count; i-- > 0;) {
    times[static_cast<size_t>(i)] = static_cast<double>(last + unwrapped) / kSubframes;
    if (i == 0) break;
    const Index step = steps(last, i);
    last -= step;
    if (last < 0) {
      last += size;
      unwrapped -= size;
    }
  }
  return times;
}

/// From 1 at 0 to 0 at 1, level at both.
double FadingOut(double share) {
  return 1 - SmoothStep(std::clamp(share, 0.0, 1.0));
}

class Aligner {
 public:
  Aligner(const NormalMotion& normal, FeatureMap& features, const AlignmentOptions& options)
      : normal_(normal), features_(features), options_(options), frame_time_(features.options().frame_time) {}

  Example Align(const Example& piece, AlignedExample& report) {
    if (piece.poses.size() < kFewestOfPiece) {
      throw std::invalid_argument(piece.name + ": found " + std::to_string(piece.poses.size()) +
                                  " poses, expected at least " + std::to_string(kFewestOfPiece));
    }
    FindTimes(piece);
    FindDistances(piece);
    FindEnds(piece, report);
    return Deviation(piece, report);
  }

 private:
  /// Smoothed times of all poses, and the rates of the clock that lead to them [s].
  void FindTimes(const Example& piece) {
    observations_ = features_.ObserveAll(piece.poses);
    std::vector<double> frames = TimesOf(normal_, observations_, options_);
    frames.insert(frames.begin(), {frames[0] - 2, frames[0] - 1});  // the first two poses are not observed
    const double sigma = std::max(options_.smooth_time / frame_time_, 1e-3);
    const MatrixXd smooth =
        GaussianSmooth(Eigen::Map<const VectorXd>(frames.data(), static_cast<Index>(frames.size())), sigma);
    times_.assign(frames.size(), 0);
    for (size_t i = 0; i < frames.size(); ++i) times_[i] = smooth(static_cast<Index>(i), 0) * frame_time_;
  }

  void FindDistances(const Example& piece) {
    distances_.assign(piece.poses.size(), 0);
    for (size_t i = 2; i < piece.poses.size(); ++i) {
      const VectorXd there = normal_.ObservationAt(times_[i] / frame_time_);
      distances_[i] = (observations_.col(static_cast<Index>(i) - 2) - there).norm() / normal_.step();
    }
    distances_[0] = distances_[1] = distances_[2];
  }

  void FindEnds(const Example& piece, AlignedExample& report) {
    const size_t last = piece.poses.size() - 1;
    report.first = 0;
    if (!piece.pushes.empty()) {
      const double before = piece.pushes.front().start / frame_time_ - kPosesBeforePush;
      report.first = std::min(static_cast<size_t>(std::max(before, 0.0)), last + 1 - kFewestOfPiece);
    }
    const auto farthest = std::max_element(distances_.begin() + static_cast<long>(report.first), distances_.end());
    report.farthest = *farthest;
    const auto peak = static_cast<size_t>(farthest - distances_.begin());
    if (!BeginsAtPush(piece)) {
      while (report.first < peak && distances_[report.first] < options_.departed * report.farthest) ++report.first;
      // Two poses before it are observed with it.
      report.first = std::min(report.first - std::min<size_t>(report.first, 2), last + 1 - kFewestOfPiece);
    }
    const double least = *std::min_element(farthest, distances_.end());
    report.returned = peak;
    while (report.returned < last && distances_[report.returned] > kLikeAtEnd * least + kReturnedStep)
      ++report.returned;
    report.left = distances_[report.returned];
    const auto fading = static_cast<size_t>(std::lround(options_.return_time / frame_time_));
    end_ = std::clamp(report.returned + fading, report.first + kFewestOfPiece - 1, last);
    fading_ = std::min(fading, (end_ - report.first) / 2);
  }

  /// The normal motion with the piece's deviation from it.
  Example Deviation(const Example& piece, AlignedExample& report) {
    const size_t first = report.first;
    Example example;
    example.name = piece.name;
    for (Push push : piece.pushes) {
      push.start -= static_cast<double>(first) * frame_time_;
      example.pushes.push_back(push);
    }
    const double push_start = piece.pushes.empty() ? 0 : piece.pushes.front().start;
    const dynamics::Coordinates& coordinates = features_.coordinates();
    VectorXd manner, deviation(coordinates.size());
    Vec3 manner_move = Vec3::Zero();
    double time = times_[first], heading = HeadingAngle(piece.poses[first].root_orientation);
    Vec3 root = piece.poses[first].root_position;
    for (size_t i = first; i <= end_; ++i) {
      const double kept = FadingOut((static_cast<double>(i) - static_cast<double>(end_ - fading_)) /
                                    static_cast<double>(std::max<size_t>(fading_, 1)));
      coordinates.Difference(normal_.PoseAt(times_[i]), WithoutHeading(piece.poses[i]), deviation);
      Vec3 move = Vec3::Zero();
      if (i > 0) {
        const double rate = (times_[i] - times_[i - 1]) / frame_time_;
        move = NormalMotion::MoveBetween(piece.poses[i - 1], piece.poses[i]) - rate * normal_.MoveAt(times_[i]);
        report.least_rate = std::min(report.least_rate, rate);
        report.greatest_rate = std::max(report.greatest_rate, rate);
        if (i > first) {
          const double faded = 1 + kept * (rate - 1);
          time += faded * frame_time_;
          move = kept * (move - Manner(i, push_start, piece) * manner_move) + faded * normal_.MoveAt(time);
        }
      }
      if (i == first) {
        manner = deviation;
        manner_move = move;
      }
      deviation = kept * (deviation - Manner(i, push_start, piece) * manner);
      character::Pose pose = normal_.PoseAt(time);
      coordinates.Advance(deviation, pose);
      if (i > first) {
        root += AxisRotation(1, heading) * Vec3(move[0], 0, move[1]);
        heading += move[2];
      }
      pose = WithoutHeading(pose);
      pose.root_position.x() = root.x();
      pose.root_position.z() = root.z();
      pose.root_orientation = AxisRotation(1, heading) * pose.root_orientation;
      example.poses.push_back(pose);
      example.times.push_back(time);
    }
    example.clock = example.times.front();
    return example;
  }

  bool BeginsAtPush(const Example& piece) const { return options_.begins_at_push && !piece.pushes.empty(); }

  /// How much of the manner before the push is taken off a pose.
  double Manner(size_t pose, double push_start, const Example& piece) const {
    if (!BeginsAtPush(piece)) return 0;
    return FadingOut((static_cast<double>(pose) * frame_time_ - push_start) / options_.manner_time);
  }

  const NormalMotion& normal_;
  FeatureMap& features_;
  const AlignmentOptions& options_;
  double frame_time_;
  // What belongs to the present piece:
  MatrixXd observations_;
  std::vector<double> times_, distances_;
  size_t end_ = 0, fading_ = 0;
};

}  // namespace

Alignment Align(const character::Character& character, const std::vector<Example>& examples,
                const FeatureOptions& features, const AlignmentOptions& options) {
  if (examples.empty()) throw std::invalid_argument("no examples");
  const Example& first = examples.front();
  FeatureMap map(character, features);
  const std::optional<character::Cycle> found = CycleOfSteps(map, first.poses);
  if (!found) {
    throw std::invalid_argument(first.name +
                                ": found no cycle in the normal motion in which each foot steps, expected two steps of "
                                "a walk or more, of which the end is like the beginning");
  }
  const character::Cycle& cycle = *found;
  const NormalMotion normal(first.poses, cycle, map);
  Alignment result;
  result.period = normal.period();
  Example closed;
  closed.name = first.name;
  closed.clock = 0;
  closed.poses =
      character::Repeat(first.poses, cycle, static_cast<size_t>(std::max(options.rounds, 2)) * cycle.length + 3);
  result.examples.push_back(std::move(closed));
  Aligner aligner(normal, map, options);
  for (size_t e = 1; e < examples.size(); ++e) {
    const Example& example = result.examples.emplace_back(aligner.Align(examples[e], result.pieces.emplace_back()));
    const double push = example.pushes.empty() ? 0 : std::max(example.pushes.front().start, 0.0);
    const double end = static_cast<double>(example.poses.size() - 1) * features.frame_time;
    result.longest_response = std::max(result.longest_response, end - push);
  }
  return result;
}

}  // namespace retrace::response_model
