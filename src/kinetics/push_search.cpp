#include "retrace/kinetics/push_search.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/character/kinematics.h"
#include "retrace/math/filter.h"
#include "retrace/metrics/required_forces.h"

namespace retrace::kinetics {

using Eigen::Index;

namespace {

constexpr double kDeviationOfMedian = 1.4826;  // of a normal distribution, by the median of absolute values
constexpr double kAroundPush = 0.1;            // [s]

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Search {
 public:
  Search(const character::ReferenceMotion& reference, const PushSearchOptions& options)
      : reference_(reference),
        options_(options),
        required_(metrics::RequiredForcesOf(reference)),
        frame_time_(reference.frame_time()) {
    const auto count = static_cast<Index>(required_.size());
    missing_.resize(count, 6);
    for (Index i = 0; i < count; ++i) {
      const metrics::RequiredForces& instant = required_[static_cast<size_t>(i)];
      missing_.row(i) << instant.missing_force.transpose(), instant.missing_moment.transpose();
    }
    if (count > 0) missing_ = GaussianSmooth(missing_, std::max(options.smooth_time / frame_time_, 0.5));
    weight_ = reference.character().total_mass() * kStandardGravity;
  }

  std::vector<FoundPush> Find() {
    const auto margin = static_cast<Index>(std::ceil(options_.margin / frame_time_));
    const Index first = margin, last = missing_.rows() - margin;
    if (last - first < 3) return {};
    std::vector<double> sizes, components;
    for (Index i = first; i < last; ++i) {
      sizes.push_back(Along(i));
      components.push_back(std::abs(missing_(i, 0)));
      components.push_back(std::abs(missing_(i, 2)));
    }
    const double usual = Median(sizes);
    const double least = std::max(options_.least_force * weight_, options_.least_ratio * usual);
    deviation_ = kDeviationOfMedian * Median(components);
    std::vector<Index> peaks;
    for (Index i = first; i < last; ++i) {
      if (Along(i) >= least && Along(i) >= Along(i - 1) && Along(i) > Along(i + 1)) peaks.push_back(i);
    }
    std::stable_sort(peaks.begin(), peaks.end(), [&](Index a, Index b) { return Along(a) > Along(b); });
    std::vector<FoundPush> pushes;
    for (const Index peak : peaks) {
      const double time = required_[static_cast<size_t>(peak)].time;
      const bool near = std::any_of(pushes.begin(), pushes.end(), [&](const FoundPush& push) {
        return time > push.start - options_.apart && time < push.start + push.duration + options_.apart;
      });
      if (!near) pushes.push_back(PushAt(peak));
    }
    std::sort(pushes.begin(), pushes.end(), [](const FoundPush& a, const FoundPush& b) { return a.start < b.start; });
    return pushes;
  }

  double ShareOutOfBalance(const std::vector<std::pair<double, double>>& pushes) const {
    const auto margin = static_cast<Index>(std::ceil(options_.margin / frame_time_));
    double out = 0, all = 0;
    for (Index i = margin; i < missing_.rows() - margin; ++i) {
      const double time = required_[static_cast<size_t>(i)].time;
      const bool pushed = std::any_of(pushes.begin(), pushes.end(), [&](const std::pair<double, double>& push) {
        return time > push.first - kAroundPush && time < push.second + kAroundPush;
      });
      if (pushed) continue;
      out += Along(i) >= options_.least_force * weight_ ? 1 : 0;
      ++all;
    }
    return all > 0 ? out / all : 0;
  }

 private:
  double Along(Index i) const { return std::hypot(missing_(i, 0), missing_(i, 2)); }

  FoundPush PushAt(Index peak) const {
    const auto longest = static_cast<Index>(std::floor(options_.longest / frame_time_));
    const auto shortest = static_cast<Index>(std::ceil(options_.shortest / frame_time_));
    Index begin = peak, end = peak + 1;  // of what is at least half as strong
    const auto strong = [&](Index i) { return Along(i) >= 0.5 * Along(peak); };
    while (begin > 0 && end - begin < longest && strong(begin - 1)) --begin;
    while (end < missing_.rows() && end - begin < longest && strong(end)) ++end;
    while (end - begin < shortest && (begin > 0 || end < missing_.rows())) {
      if (begin > 0) --begin;
      if (end - begin < shortest && end < missing_.rows()) ++end;
    }
    FoundPush push;
    const Eigen::RowVectorXd mean = missing_.middleRows(begin, end - begin).colwise().mean();
    push.force = Vec3(mean[0], 0, mean[2]);
    push.start = required_[static_cast<size_t>(begin)].time - 0.5 * frame_time_;
    push.duration = static_cast<double>(end - begin) * frame_time_;
    push.deviation = deviation_;
    FindBody(begin, end, push);
    return push;
  }

  /// The body on which the force explains the moment best.
  void FindBody(Index begin, Index end, FoundPush& push) const {
    const std::vector<character::Body>& bodies = reference_.character().bodies;
    std::vector<double> misfits(bodies.size(), 0);
    double all = 0;
    character::State state;
    for (Index i = begin; i < end; ++i) {
      const metrics::RequiredForces& instant = required_[static_cast<size_t>(i)];
      character::Pose pose;
      reference_.PoseAt(instant.time, pose);
      character::ForwardKinematics(reference_.character(), pose, state);
      const Vec3 moment = missing_.row(i).tail<3>().transpose();
      all += moment.squaredNorm();
      for (size_t b = 0; b < bodies.size(); ++b) {
        const Vec3 arm = state[b].position - instant.center_of_mass;
        misfits[b] += (moment - arm.cross(push.force)).squaredNorm();
      }
    }
    double least = std::numeric_limits<double>::infinity();
    for (size_t b = 0; b < bodies.size(); ++b) {
      if (bodies[b].part != character::Part::kBody || misfits[b] >= least) continue;
      least = misfits[b];
      push.body = static_cast<int>(b);
    }
    push.moment_misfit = all > 0 ? std::min(1.0, std::sqrt(least / all)) : 0;
  }

  const character::ReferenceMotion& reference_;
  const PushSearchOptions& options_;
  std::vector<metrics::RequiredForces> required_;
  double frame_time_;
  double weight_ = 0, deviation_ = 0;
  Eigen::MatrixXd missing_;  // (instants x 6) force and moment, smoothed
};

}  // namespace

std::vector<FoundPush> FindPushes(const character::ReferenceMotion& reference, const PushSearchOptions& options) {
  return Search(reference, options).Find();
}

double ShareOutOfBalance(const character::ReferenceMotion& reference,
                         const std::vector<std::pair<double, double>>& pushes, const PushSearchOptions& options) {
  return Search(reference, options).ShareOutOfBalance(pushes);
}

}  // namespace retrace::kinetics
