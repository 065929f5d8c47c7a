#include "retrace/optimization/cma_es.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace retrace::optimization {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMostSweeps = 60;
/// Axes are kept within this ratio: beyond it they are rounding alone.
constexpr double kLargestCondition = 1e7;

void CheckBox(const VectorXd& start, const CmaOptions& o) {
  const Index n = start.size();
  const auto fits = [n](const VectorXd& v) { return v.size() == 0 || v.size() == n; };
  const bool good = n > 0 && start.allFinite() && fits(o.scale) && fits(o.lower) && fits(o.upper) &&
                    (o.scale.array() > 0).all() && o.scale.allFinite() && o.deviation > 0 &&
                    std::isfinite(o.deviation) && (o.population == 0 || o.population >= 4) &&
                    (o.lower.size() == 0 || (o.lower.array() <= start.array()).all()) &&
                    (o.upper.size() == 0 || (o.upper.array() >= start.array()).all());
  if (!good) throw std::invalid_argument("options of a search by samples that are none");
}

}  // namespace

void DecomposeSymmetric(MatrixXd& a, MatrixXd& vectors) {
  const Index n = a.rows();
  vectors = MatrixXd::Identity(n, n);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double outside = 0;
    for (Index j = 1; j < n; ++j) {
      for (Index i = 0; i < j; ++i) outside = std::max(outside, std::abs(a(i, j)));
    }
    if (outside <= 1e-300) return;
    bool turned = false;
    for (Index i = 0; i < n - 1; ++i) {
      for (Index j = i + 1; j < n; ++j) {
        // Golub and Van Loan, section 8.5: the turn that makes a(i, j) zero.
        if (std::abs(a(i, j)) <= 1e-17 * std::sqrt(std::abs(a(i, i) * a(j, j)))) continue;
        turned = true;
        const double tau = (a(j, j) - a(i, i)) / (2 * a(i, j));
        const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double c = 1 / std::sqrt(1 + t * t), s = t * c;
        const VectorXd column = a.col(i);
        a.col(i) = c * column - s * a.col(j);
        a.col(j) = s * column + c * a.col(j);
        const Eigen::RowVectorXd row = a.row(i);
        a.row(i) = c * row - s * a.row(j);
        a.row(j) = s * row + c * a.row(j);
        a(i, j) = a(j, i) = 0;
        const VectorXd vector = vectors.col(i);
        vectors.col(i) = c * vector - s * vectors.col(j);
        vectors.col(j) = s * vector + c * vectors.col(j);
      }
    }
    if (!turned) return;
  }
}

CmaEs::CmaEs(const VectorXd& start, const CmaOptions& options)
    : options_(options), mean_(start), best_(start), deviation_(options.deviation) {
  CheckBox(start, options);
  const Index size = start.size();
  const auto n = static_cast<double>(size);
  if (options_.scale.size() == 0) options_.scale = VectorXd::Ones(size);
  population_ = options.population > 0 ? options.population : 4 + static_cast<int>(3 * std::log(n));
  const int chosen = population_ / 2;
  weights_.resize(chosen);
  for (int i = 0; i < chosen; ++i) weights_[i] = std::log(0.5 * (population_ + 1)) - std::log(i + 1.0);
  weights_ /= weights_.sum();
  parents_ = 1 / weights_.squaredNorm();
  path_rate_ = (4 + parents_ / n) / (n + 4 + 2 * parents_ / n);
  deviation_rate_ = (parents_ + 2) / (n + parents_ + 5);
  damping_ = 1 + 2 * std::max(0.0, std::sqrt((parents_ - 1) / (n + 1)) - 1) + deviation_rate_;
  rank_one_ = 2 / ((n + 1.3) * (n + 1.3) + parents_);
  rank_many_ = 2 * (parents_ - 2 + 1 / parents_) / ((n + 2) * (n + 2) + parents_);
  if (options.separable) {  // fewer numbers are learned, faster
    rank_one_ *= (n + 2) / 3;
    rank_many_ *= (n + 2) / 3;
  }
  rank_one_ = std::min(1.0, rank_one_);
  rank_many_ = std::min(1 - rank_one_, rank_many_);
  expected_length_ = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  deviation_path_ = covariance_path_ = VectorXd::Zero(size);
  axes_ = VectorXd::Ones(size);
  if (options.separable) {
    covariance_ = VectorXd::Ones(size);
  } else {
    covariance_ = directions_ = MatrixXd::Identity(size, size);
  }
  samples_.resize(size, population_);
}

const MatrixXd& CmaEs::Ask() {
  if (asked_) return samples_;
  const Index n = mean_.size();
  VectorXd along(n), step(n);
  for (int k = 0; k < population_; ++k) {
    auto sample = samples_.col(k);
    if (iteration_ == 0 && k == 0) {
      sample = mean_;
      continue;
    }
    RandomStream random(options_.seed, options_.stage, options_.first_iteration + iteration_, static_cast<uint32_t>(k));
    for (Index i = 0; i < n; ++i) along[i] = axes_[i] * random.Normal();
    if (options_.separable) {
      step = along;
    } else {
      step.setZero();
      for (Index j = 0; j < n; ++j) step += along[j] * directions_.col(j);
    }
    sample = mean_ + deviation_ * options_.scale.cwiseProduct(step);
    if (options_.lower.size() > 0) sample = sample.cwiseMax(options_.lower);
    if (options_.upper.size() > 0) sample = sample.cwiseMin(options_.upper);
  }
  asked_ = true;
  return samples_;
}

void CmaEs::Tell(std::span<const double> costs) {
  if (!asked_) throw std::logic_error("costs of samples that were not asked for");
  if (costs.size() != static_cast<size_t>(population_)) throw std::invalid_argument("another number of costs");
  const Index n = mean_.size();
  std::vector<double> of(costs.begin(), costs.end());
  for (double& cost : of) {
    if (std::isnan(cost)) cost = std::numeric_limits<double>::infinity();
  }
  std::vector<int> order(of.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return of[static_cast<size_t>(a)] < of[static_cast<size_t>(b)]; });
  const auto first = static_cast<size_t>(order[0]);
  if (of[first] < best_cost_) {
    best_cost_ = of[first];
    best_ = samples_.col(order[0]);
  }
  // From here on in units of the scale and of the common deviation.
  MatrixXd steps(n, weights_.size());
  VectorXd mean_step = VectorXd::Zero(n);
  for (Index k = 0; k < weights_.size(); ++k) {
    steps.col(k) = (samples_.col(order[static_cast<size_t>(k)]) - mean_).cwiseQuotient(options_.scale) / deviation_;
    mean_step += weights_[k] * steps.col(k);
  }
  mean_ += deviation_ * options_.scale.cwiseProduct(mean_step);
  VectorXd whitened(n);
  if (options_.separable) {
    whitened = mean_step.cwiseQuotient(axes_);
  } else {
    whitened.setZero();
    for (Index j = 0; j < n; ++j) {
      const auto direction = directions_.col(j);
      whitened += (direction.dot(mean_step) / axes_[j]) * direction;
    }
  }
  deviation_path_ = (1 - deviation_rate_) * deviation_path_ +
                    std::sqrt(deviation_rate_ * (2 - deviation_rate_) * parents_) * whitened;
  const double length = deviation_path_.norm();
  const double fading = 1 - std::pow(1 - deviation_rate_, 2.0 * (iteration_ + 1));
  const bool grows = length / std::sqrt(fading) < (1.4 + 2 / (static_cast<double>(n) + 1)) * expected_length_;
  covariance_path_ *= 1 - path_rate_;
  if (grows) covariance_path_ += std::sqrt(path_rate_ * (2 - path_rate_) * parents_) * mean_step;
  const double kept = 1 - rank_one_ - rank_many_ + (grows ? 0 : rank_one_ * path_rate_ * (2 - path_rate_));
  covariance_ *= kept;
  if (options_.separable) {
    covariance_.col(0) += rank_one_ * covariance_path_.cwiseAbs2();
    for (Index k = 0; k < weights_.size(); ++k) {
      covariance_.col(0) += (rank_many_ * weights_[k]) * steps.col(k).cwiseAbs2();
    }
  } else {
    for (Index j = 0; j < n; ++j) {
      covariance_.col(j) += (rank_one_ * covariance_path_[j]) * covariance_path_;
      for (Index k = 0; k < weights_.size(); ++k) {
        covariance_.col(j) += (rank_many_ * weights_[k] * steps(j, k)) * steps.col(k);
      }
    }
  }
  deviation_ *= std::exp(std::min(1.0, deviation_rate_ / damping_ * (length / expected_length_ - 1)));
  ++iteration_;
  asked_ = false;
  Decompose();
}

void CmaEs::Decompose() {
  if (options_.separable) {
    axes_ = covariance_.col(0).cwiseSqrt();
  } else {
    // The axes change little in one iteration, and finding them is the dearest part.
    const double every = 1 / (10 * static_cast<double>(mean_.size()) * (rank_one_ + rank_many_));
    if (iteration_ < decomposed_at_ + every) return;
    decomposed_at_ = iteration_;
    covariance_ = (0.5 * (covariance_ + covariance_.transpose())).eval();
    MatrixXd diagonal = covariance_;
    DecomposeSymmetric(diagonal, directions_);
    axes_ = diagonal.diagonal().cwiseMax(0).cwiseSqrt();
  }
  axes_ = axes_.cwiseMax(axes_.maxCoeff() / kLargestCondition);
}

}  // namespace retrace::optimization
