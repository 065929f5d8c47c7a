/// How long a latent model takes to learn, and to tell a pose from a latent position: 300 observations of 116
/// dimensions, as of a walk and three disturbed ones at 30 frames per second (Ye and Liu 2010: ten minutes).
#include <benchmark/benchmark.h>

#include <cmath>

#include "retrace/learning/latent_model.h"
#include "retrace/math/random.h"

namespace retrace::bench {
namespace {

constexpr Eigen::Index kObservations = 300, kDimensions = 116;

/// A cycle of 32 frames, of which parts are led aside, as smooth functions with a little noise.
Eigen::MatrixXd Observations() {
  RandomStream random(1, RandomStage::kTest, 0, 0);
  Eigen::MatrixXd lift(kDimensions, 4), observations(kDimensions, kObservations);
  for (Eigen::Index k = 0; k < 4; ++k) {
    for (Eigen::Index i = 0; i < kDimensions; ++i) lift(i, k) = random.Normal();
  }
  for (Eigen::Index i = 0; i < kObservations; ++i) {
    const double phase = 2 * std::acos(-1.0) * static_cast<double>(i) / 32;
    const double aside = i < 96 ? 0 : 0.5 * std::sin(static_cast<double>(i) / 11);
    const Eigen::Vector4d place(std::cos(phase), std::sin(phase), aside, 1);
    for (Eigen::Index j = 0; j < kDimensions; ++j) {
      observations(j, i) = std::tanh(0.7 * lift.row(j).dot(place)) + 0.01 * random.Normal();
    }
  }
  observations.colwise() -= observations.rowwise().mean().eval();
  return observations;
}

void Evaluate(benchmark::State& bench) {
  learning::LatentObjective objective(Observations(), {});
  const Eigen::VectorXd start = objective.Start();
  Eigen::VectorXd gradient(start.size());
  for (auto _ : bench) benchmark::DoNotOptimize(objective(start, gradient));
}

void Learn(benchmark::State& bench) {
  const Eigen::MatrixXd observations = Observations();
  learning::LatentOptions options;
  options.minimization.most_iterations = 300;
  options.minimization.gradient_tolerance = 0;
  for (auto _ : bench) {
    bench.counters["evaluations"] = learning::LearnLatentModel(observations, options).minimum.evaluations;
  }
}

void Predict(benchmark::State& bench) {
  const Eigen::MatrixXd observations = Observations();
  learning::LatentObjective objective(observations, {});
  const learning::LatentModel model = objective.Model(objective.Start());
  learning::GaussianProcess process;
  if (!process.Fit(model.latent, observations, model.kernel)) return bench.SkipWithError("no factor");
  learning::Prediction there;
  const Eigen::VectorXd place = model.latent.col(40);
  for (auto _ : bench) process.PredictWithGradients(place, there);
}

BENCHMARK(Evaluate)->Unit(benchmark::kMillisecond);
BENCHMARK(Learn)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(Predict)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace retrace::bench

BENCHMARK_MAIN();
