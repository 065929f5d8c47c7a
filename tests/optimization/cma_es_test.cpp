#include "retrace/optimization/cma_es.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

namespace retrace::optimization {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Cost = std::function<double(const VectorXd&)>;

double Sphere(const VectorXd& x) {
  return x.squaredNorm();
}

/// Axes from 1 to 1e6 in their squares.
double Ellipsoid(const VectorXd& x) {
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i) {
    sum += std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * x[i] * x[i];
  }
  return sum;
}

double Rosenbrock(const VectorXd& x) {
  double sum = 0;
  for (Index i = 0; i + 1 < x.size(); ++i) {
    sum += 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1 - x[i], 2);
  }
  return sum;
}

/// Evaluations until the cost is below `goal`, at most 60000.
int Evaluations(CmaEs& search, const Cost& cost, double goal) {
  std::vector<double> costs(static_cast<size_t>(search.population()));
  int count = 0;
  while (search.best_cost() > goal && count < 60000) {
    const MatrixXd& samples = search.Ask();
    for (Index k = 0; k < samples.cols(); ++k) costs[static_cast<size_t>(k)] = cost(samples.col(k));
    search.Tell(costs);
    count += search.population();
  }
  return count;
}

MatrixXd AnyRotation(Index n) {
  RandomStream random(3, RandomStage::kTest, 0, 0);
  MatrixXd rotation(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) rotation(i, j) = random.Normal();
    for (Index k = 0; k < j; ++k) rotation.col(j) -= rotation.col(k).dot(rotation.col(j)) * rotation.col(k);
    rotation.col(j).normalize();
  }
  return rotation;
}

CmaOptions With(bool separable, uint64_t seed = 1) {
  CmaOptions options;
  options.separable = separable;
  options.seed = seed;
  options.deviation = 0.5;
  return options;
}

TEST(CmaEs, FindsTheMinimumOfASphere) {
  for (const bool separable : {false, true}) {
    for (const uint64_t seed : {1, 2, 3}) {
      CmaEs search(VectorXd::Constant(10, 1), With(separable, seed));
      EXPECT_LT(Evaluations(search, Sphere, 1e-12), 3500) << separable << seed;
      EXPECT_LT(search.best().norm(), 1e-5);
    }
  }
}

TEST(CmaEs, LearnsAxesOfAThousandfoldLength) {
  for (const bool separable : {false, true}) {
    CmaEs search(VectorXd::Constant(10, 1), With(separable));
    EXPECT_LT(Evaluations(search, Ellipsoid, 1e-9), separable ? 6000 : 9000);
    // The square roots of the curvatures are a thousand apart, and so are the axes.
    EXPECT_GT(search.condition(), 200);
    EXPECT_LT(search.condition(), 5000);
  }
}

TEST(CmaEs, FollowsTheValleyOfRosenbrock) {
  CmaEs search(VectorXd::Zero(8), With(false));
  EXPECT_LT(Evaluations(search, Rosenbrock, 1e-10), 12000);
  EXPECT_LT((search.best() - VectorXd::Ones(8)).norm(), 1e-3);
}

TEST(CmaEs, TheFullCovarianceDoesNotCareHowAxesAreTurned) {
  const MatrixXd rotation = AnyRotation(10);
  const Cost turned = [&](const VectorXd& x) { return Ellipsoid(rotation * x); };
  double straight_count = 0, turned_count = 0, separable_count = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    CmaEs straight(VectorXd::Constant(10, 1), With(false, seed));
    CmaEs along(rotation.transpose() * VectorXd::Constant(10, 1), With(false, seed));
    CmaEs separable(rotation.transpose() * VectorXd::Constant(10, 1), With(true, seed));
    straight_count += Evaluations(straight, Ellipsoid, 1e-9);
    turned_count += Evaluations(along, turned, 1e-9);
    separable_count += Evaluations(separable, turned, 1e-9);
  }
  EXPECT_NEAR(turned_count / straight_count, 1, 0.25);
  EXPECT_GT(separable_count, 3 * turned_count);  // and the diagonal does
}

TEST(CmaEs, StaysInTheBoxAndFindsAMinimumOnItsSide) {
  for (const bool separable : {false, true}) {
    CmaOptions options = With(separable);
    options.lower = VectorXd::Constant(6, 0.5);
    options.upper = VectorXd::Constant(6, 2);
    CmaEs search(VectorXd::Constant(6, 1), options);
    const Cost cost = [&](const VectorXd& x) {
      EXPECT_GE(x.minCoeff(), 0.5);
      EXPECT_LE(x.maxCoeff(), 2);
      return Sphere(x);
    };
    Evaluations(search, cost, 6 * 0.25 + 1e-9);
    EXPECT_LT((search.best() - VectorXd::Constant(6, 0.5)).norm(), 1e-6);
  }
}

TEST(CmaEs, IsNeverWorseThanItsStart) {
  CmaEs search(VectorXd::Zero(5), With(false));
  EXPECT_EQ(search.Ask().col(0), VectorXd::Zero(5));
  std::vector<double> costs(static_cast<size_t>(search.population()));
  for (int i = 0; i < 20; ++i) {
    const MatrixXd& samples = search.Ask();
    for (Index k = 0; k < samples.cols(); ++k) {
      costs[static_cast<size_t>(k)] = samples.col(k).isZero(0) ? 1 : 2 + Sphere(samples.col(k));
    }
    costs[3] = std::numeric_limits<double>::quiet_NaN();
    search.Tell(costs);
  }
  EXPECT_EQ(search.best_cost(), 1);
  EXPECT_EQ(search.best(), VectorXd::Zero(5));
  EXPECT_TRUE(search.mean().allFinite());
}

TEST(CmaEs, IsTheSameHoweverItsSamplesAreEvaluated) {
  const auto run = [](int threads, bool backwards) {
    CmaEs search(VectorXd::Constant(12, 1), With(false, 7));
    std::vector<double> costs(static_cast<size_t>(search.population()));
    for (int i = 0; i < 40; ++i) {
      const MatrixXd samples = search.Ask();
      EXPECT_EQ(samples, search.Ask());  // to ask again changes nothing
      std::vector<std::thread> workers;
      for (int t = 0; t < threads; ++t) {
        workers.emplace_back([&, t] {
          for (Index k = t; k < samples.cols(); k += threads) {
            const Index of = backwards ? samples.cols() - 1 - k : k;
            costs[static_cast<size_t>(of)] = Rosenbrock(samples.col(of));
          }
        });
      }
      for (std::thread& worker : workers) worker.join();
      search.Tell(costs);
    }
    return search.mean();
  };
  const VectorXd one = run(1, false);
  EXPECT_EQ(one, run(1, true));
  EXPECT_EQ(one, run(4, false));
}

TEST(CmaEs, AnotherSeedGivesOtherSamples) {
  CmaEs a(VectorXd::Zero(4), With(true, 1)), b(VectorXd::Zero(4), With(true, 2));
  EXPECT_NE(a.Ask(), b.Ask());
}

TEST(CmaEs, RefusesWhatItCannotSearch) {
  CmaOptions options;
  EXPECT_THROW(CmaEs(VectorXd(), options), std::invalid_argument);
  options.deviation = 0;
  EXPECT_THROW(CmaEs(VectorXd::Zero(2), options), std::invalid_argument);
  options = {};
  options.lower = VectorXd::Constant(2, 1);
  EXPECT_THROW(CmaEs(VectorXd::Zero(2), options), std::invalid_argument);
  options = {};
  options.scale = VectorXd::Ones(3);
  EXPECT_THROW(CmaEs(VectorXd::Zero(2), options), std::invalid_argument);
  CmaEs search(VectorXd::Zero(2), {});
  EXPECT_THROW(search.Tell(std::vector<double>(6)), std::logic_error);
  search.Ask();
  EXPECT_THROW(search.Tell(std::vector<double>(3)), std::invalid_argument);
}

TEST(DecomposeSymmetric, GivesTheMatrixBack) {
  const MatrixXd rotation = AnyRotation(20);
  VectorXd values(20);
  for (Index i = 0; i < 20; ++i) values[i] = std::pow(10, 0.4 * static_cast<double>(i) - 4);
  const MatrixXd matrix = rotation * values.asDiagonal() * rotation.transpose();
  MatrixXd diagonal = 0.5 * (matrix + matrix.transpose()), vectors;
  DecomposeSymmetric(diagonal, vectors);
  EXPECT_LT((vectors * diagonal * vectors.transpose() - matrix).norm(), 1e-12 * matrix.norm());
  EXPECT_LT((vectors.transpose() * vectors - MatrixXd::Identity(20, 20)).norm(), 1e-12);
  EXPECT_LT((diagonal - MatrixXd(diagonal.diagonal().asDiagonal())).norm(), 1e-12 * matrix.norm());
}

}  // namespace
}  // namespace retrace::optimization
