#include "retrace/response_model/recording_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "retrace/math/filter.h"
#include "retrace/math/rotation.h"
#include "step_cycle.h"

namespace retrace::response_model {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kPosesBefore = 2;       // that the first observation needs
constexpr double kLeastNovelty = 0.25;  // that is usual: walks of a controller repeat themselves exactly [steps]

double Median(VectorXd values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Apart {
 public:
  Apart(const character::Character& character, const std::vector<character::Pose>& poses,
        const FeatureOptions& features, const PartOptions& options)
      : poses_(poses),
        options_(options),
        features_(character, features),
        observations_(features_.ObserveAll(poses)),
        count_(observations_.cols()) {}

  RecordingParts Take() {
    RecordingParts result;
    const Index away = Frames(options_.elsewhere);
    if (count_ < (2 * options_.likest + 2) * away) return result;
    step_ = Median((observations_.rightCols(count_ - 1) - observations_.leftCols(count_ - 1)).colwise().norm());
    FindNovelty(away);
    usual_ = std::max(Median(novelty_), kLeastNovelty * step_);
    result.usual = usual_ / step_;
    const std::vector<RecordingPart> unusual = UnusualParts();
    FindNormal(result);
    if (result.normal) ChooseResponses(unusual, result);
    return result;
  }

 private:
  Index Frames(double seconds) const {
    return std::max<Index>(static_cast<Index>(std::lround(seconds / features_.options().frame_time)), 1);
  }

  void FindNovelty(Index away) {
    MatrixXd novelty(count_, 1);
    VectorXd distances(count_);
    const auto leave_out = [&](Index center) {
      const Index first = std::max<Index>(center - away, 0), last = std::min(center + away, count_ - 1);
      distances.segment(first, last - first + 1).setConstant(std::numeric_limits<double>::infinity());
    };
    for (Index i = 0; i < count_; ++i) {
      distances = (observations_.colwise() - observations_.col(i)).colwise().squaredNorm();
      leave_out(i);
      Index likest = 0;
      for (int rank = 0; rank < options_.likest; ++rank) {
        if (rank > 0) leave_out(likest);
        distances.minCoeff(&likest);
      }
      novelty(i, 0) = std::sqrt(distances[likest]);
    }
    novelty_ = GaussianSmooth(novelty, static_cast<double>(Frames(options_.smooth_time)));
  }

  /// Parts that stand out, the most novel first, in observations; marks all that is not usual as taken.
  std::vector<RecordingPart> UnusualParts() {
    std::vector<Index> peaks(static_cast<size_t>(count_));
    std::iota(peaks.begin(), peaks.end(), 0);
    std::stable_sort(peaks.begin(), peaks.end(), [&](Index a, Index b) { return novelty_[a] > novelty_[b]; });
    taken_.assign(static_cast<size_t>(count_), false);
    std::vector<RecordingPart> parts;
    for (const Index peak : peaks) {
      if (novelty_[peak] < options_.unusual * usual_) break;
      if (taken_[static_cast<size_t>(peak)]) continue;
      Index first = peak, last = peak;
      while (first > 0 && novelty_[first] > options_.usual * usual_) --first;
      while (last + 1 < count_ && novelty_[last] > options_.usual * usual_) ++last;
      std::fill(taken_.begin() + first, taken_.begin() + last + 1, true);
      parts.push_back(
          {static_cast<size_t>(first), static_cast<size_t>(last), static_cast<size_t>(peak), novelty_[peak] / usual_});
    }
    return parts;
  }

  /// Those of the unusual parts that lead from walking to walking are responses.
  void ChooseResponses(const std::vector<RecordingPart>& parts, RecordingParts& result) {
    const Index before = Frames(options_.before), after = Frames(options_.after);
    const double speed =
        options_.walking * MeanSpeed(static_cast<Index>(result.normal->first), static_cast<Index>(result.normal->last));
    for (const RecordingPart& part : parts) {
      const auto first = static_cast<Index>(part.first), last = static_cast<Index>(part.last);
      const Index around = Frames(options_.around);
      const double seconds = static_cast<double>(last - first) * features_.options().frame_time;
      const bool walks = first - around >= 0 && last + around < count_ && MeanSpeed(first - around, first) >= speed &&
                         MeanSpeed(last, last + around) >= speed;
      if (!walks || seconds > options_.longest) {
        ++result.unreturned;
      } else if (std::abs(Turn(first, last)) > options_.largest_turn) {
        ++result.turns;
      } else if (result.responses.size() == options_.most_responses) {
        ++result.left_out;
      } else {
        // It goes on while the walk is plain again, as long as the recording has that.
        Index end = last + 1;
        while (end < std::min(last + after, count_ - 1) && !taken_[static_cast<size_t>(end)]) ++end;
        result.responses.push_back(Part(std::max<Index>(first - before, 0), end, static_cast<Index>(part.peak)));
      }
    }
    std::sort(result.responses.begin(), result.responses.end(),
              [](const RecordingPart& a, const RecordingPart& b) { return a.first < b.first; });
  }

  const character::Pose& PoseOf(Index observation) const {
    return poses_[static_cast<size_t>(observation + kPosesBefore)];
  }

  /// Along the ground, between two observations, of the straight line [m/s].
  double MeanSpeed(Index first, Index last) const {
    const Vec3 moved = PoseOf(last).root_position - PoseOf(first).root_position;
    return std::hypot(moved.x(), moved.z()) / (static_cast<double>(last - first) * features_.options().frame_time);
  }

  /// The heading turns by so much from one observation to another [rad].
  double Turn(Index first, Index last) const {
    return std::remainder(HeadingAngle(PoseOf(last).root_orientation) - HeadingAngle(PoseOf(first).root_orientation),
                          2 * kPi);
  }

  RecordingPart Part(Index first, Index last, Index peak) const {
    return {static_cast<size_t>(first), static_cast<size_t>(last + kPosesBefore),
            static_cast<size_t>(peak + kPosesBefore), novelty_[peak] / usual_};
  }

  /// The part whose cycle is nearest to the whole recording, and straight.
  void FindNormal(RecordingParts& result) {
    const Index length = std::min(Frames(options_.normal_time), count_ - 1);
    double least = std::numeric_limits<double>::infinity();
    for (Index first = 0; first + length < count_; first += Frames(options_.candidates)) {
      if (std::any_of(taken_.begin() + first, taken_.begin() + first + length + 1, [](bool t) { return t; })) continue;
      const std::vector<character::Pose> part(poses_.begin() + first,
                                              poses_.begin() + first + length + kPosesBefore + 1);
      const std::optional<character::Cycle> cycle = CycleOfSteps(features_, part);
      if (!cycle || cycle->seam > character::kWorstSeam) continue;
      const auto begin = static_cast<Index>(std::max<size_t>(cycle->first, kPosesBefore)) - kPosesBefore;
      const auto around = observations_.middleCols(first + begin, static_cast<Index>(cycle->length));
      VectorXd nearest(count_);
      for (Index i = 0; i < count_; ++i) {
        nearest[i] = (around.colwise() - observations_.col(i)).colwise().norm().minCoeff();
      }
      // A turn counts as what it changes in the observations.
      const double rate = std::abs(Turn(first + begin, first + begin + static_cast<Index>(cycle->length))) /
                          (static_cast<double>(cycle->length) * features_.options().frame_time);
      const double score = Median(nearest) + features_.options().root_time * rate;
      if (score >= least) continue;
      least = score;
      result.normal = Part(first, first + length, first);
    }
  }

  const std::vector<character::Pose>& poses_;
  const PartOptions& options_;
  FeatureMap features_;
  MatrixXd observations_;
  Index count_;
  double step_ = 0, usual_ = 0;
  VectorXd novelty_;
  std::vector<bool> taken_;
};

}  // namespace

RecordingParts TakeApart(const character::Character& character, const std::vector<character::Pose>& poses,
                         const FeatureOptions& features, const PartOptions& options) {
  return Apart(character, poses, features, options).Take();
}

}  // namespace retrace::response_model
