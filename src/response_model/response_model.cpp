#include "retrace/response_model/response_model.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "retrace/io/cpu_time.h"
#include "retrace/math/rotation.h"
#include "retrace/math/smooth_step.h"
#include "retrace/response_model/contacts.h"
#include "retrace/retargeting/cycle.h"

namespace retrace::response_model {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kLinearRidge = 1e-6;       // of the linear mean, per example
constexpr double kObservationRidge = 1e-4;  // of the mean of what is observed, the same
constexpr Index kPhases = 128;              // of the cycle of the normal motion
constexpr double kSilence = 1;              // in which the examples lose their say [s]
constexpr double kSlowest = 2;              // in which the slowest part of the mean falls to a third [s]
constexpr double kSlowestOfPeople = 1;      // the same where the examples lose their say [s]
constexpr size_t kFewestPoses = 5;
constexpr double kAboveStanding = 0.01;  // [m]
constexpr double kSlowestClock = 0.3;    // beside what examples have
constexpr double kFastestClock = 2.5;
constexpr double kLargestJointScale = 1e4;  // [1/rad]

learning::LatentOptions LatentOptionsOf(const ResponseOptions& options) {
  learning::LatentOptions latent;
  latent.dimensions = options.dimensions;
  latent.back_constraint = options.back_constraint;
  latent.back_rate = options.back_rate;
  latent.start_deviation = options.start_deviation;
  latent.least_noise = options.least_noise;
  latent.seed = options.seed;
  latent.minimization.most_iterations = options.iterations;
  latent.minimization.minimizer = options.conjugate_gradients ? optimization::Minimizer::kScaledConjugateGradients
                                                              : optimization::Minimizer::kLbfgs;
  return latent;
}

void Check(const std::vector<Example>& examples, const ResponseOptions& options) {
  if (options.order < 1 || options.order > 2 || options.dimensions < 1) {
    throw std::invalid_argument("a response model with options that are none");
  }
  if (examples.empty()) throw std::invalid_argument("no examples");
  if (options.clock_period > 0 && options.dimensions < 2) {
    throw std::invalid_argument("a clock and one latent coordinate: the phase takes two");
  }
  for (const Example& example : examples) {
    if (example.poses.size() < kFewestPoses) {
      throw std::invalid_argument(example.name + ": found " + std::to_string(example.poses.size()) +
                                  " poses, expected at least " + std::to_string(kFewestPoses));
    }
    if (!example.times.empty() && example.times.size() != example.poses.size()) {
      throw std::invalid_argument(example.name + ": found " + std::to_string(example.times.size()) +
                                  " times of the clock, expected one for each of " +
                                  std::to_string(example.poses.size()) + " poses");
    }
    if (options.clock_period > 0 && !example.clock) {
      throw std::invalid_argument(example.name + ": found no time on the clock of the other examples");
    }
  }
}

/// The mean of the observations over whole cycles of the normal motion, and the cycle [poses].
double CycleLength(const std::vector<character::Pose>& poses, double frame_time, const std::string& name) {
  const std::optional<character::Cycle> cycle = character::FindCycle(poses, frame_time);
  if (!cycle) {
    throw std::invalid_argument(name +
                                ": found no cycle in the normal motion, expected two steps of a walk or more, "
                                "of which the end is like the beginning");
  }
  return static_cast<double>(cycle->length);
}

/// Y (D x N) of all examples side by side, with the mean.
MatrixXd Observe(FeatureMap& features, const std::vector<Example>& examples, std::vector<Index>& lengths) {
  std::vector<MatrixXd> parts;
  Index count = 0;
  lengths.clear();
  for (const Example& example : examples) {
    parts.push_back(features.ObserveAll(example.poses));
    lengths.push_back(parts.back().cols());
    count += parts.back().cols();
  }
  MatrixXd all(features.size(), count);
  Index first = 0;
  for (const MatrixXd& part : parts) {
    all.middleCols(first, part.cols()) = part;
    first += part.cols();
  }
  return all;
}

/// The displacements (n x N) of all poses that are observed from the rest pose, without headings.
MatrixXd Displacements(const dynamics::Coordinates& coordinates, const std::vector<Example>& examples,
                       const character::Pose& rest, Index count) {
  MatrixXd all(coordinates.size(), count);
  Index column = 0;
  for (const Example& example : examples) {
    for (size_t i = 2; i < example.poses.size(); ++i) {
      VectorXd displacement(coordinates.size());
      coordinates.Difference(rest, WithoutHeading(example.poses[i]), displacement);
      all.col(column++) = displacement;
    }
  }
  return all;
}

/// The latent places that would have followed without the pushes (d x N): those of the examples where none acts.
MatrixXd PlacesWithoutPushes(const ResponseModel& model, FeatureMap& features) {
  MatrixXd places = model.latent.latent;
  if (!model.options.takes_pushes_off) return places;
  PushDeformation deformation(*model.character, model.options.deformation);
  const double dt = model.options.features.frame_time;
  Posture postures[3];
  VectorXd displacement, observation;
  Index first = 0;
  for (size_t e = 0; e < model.examples.size(); ++e) {
    const Example& example = model.examples[e];
    for (size_t i = 2; i < example.poses.size() && !example.pushes.empty(); ++i) {
      const double time = static_cast<double>(i - 1) * dt;
      const bool acts = std::any_of(example.pushes.begin(), example.pushes.end(),
                                    [&](const Push& push) { return ShareOf(push, time, dt) > 0; });
      if (!acts) continue;
      for (size_t k = 0; k < 3; ++k) features.Observe(example.poses[i - 2 + k], false, postures[k]);
      deformation.Solve(example.poses[i - 1], example.pushes, time, dt, features.points(), postures[1].feet,
                        postures[2].feet, displacement);
      character::Pose pose = example.poses[i];
      features.coordinates().Advance(-displacement, pose);
      features.Observe(pose, false, postures[2]);
      features.Combine(postures[0], postures[1], postures[2], observation);
      places.col(first + static_cast<Index>(i) - 2) = model.latent.BackProject(observation - model.mean);
    }
    first += model.lengths[e];
  }
  return places;
}

/// The phase of a clock as a part of a point of the dynamics (d): of as many numbers as a latent position, because the
/// parts of a kernel are equal.
VectorXd PhasePart(const ResponseOptions& options, double clock) {
  VectorXd part = VectorXd::Zero(options.dimensions);
  const double phase = 2 * kPi * clock / options.clock_period;
  part[0] = std::cos(phase);
  part[1] = std::sin(phase);
  return part;
}

/// Points (parts of d x M) and values (d x M) of the dynamics.
void Transitions(const ResponseModel& model, FeatureMap& features, MatrixXd& points, MatrixXd& values) {
  const ResponseOptions& options = model.options;
  const Index d = model.dimensions();
  learning::DynamicsExamples(model.latent.latent, model.lengths, options.order, points, values);
  if (options.clock_period > 0) {
    points.conservativeResize(points.rows() + d, Eigen::NoChange);
    Index column = 0;
    for (size_t e = 0; e < model.examples.size(); ++e) {
      // The first observation is that of the third pose; the point of a transition is at its last position.
      for (Index i = options.order - 1; i + 1 < model.lengths[e]; ++i, ++column) {
        const double time = model.examples[e].ClockAt(static_cast<size_t>(i + 2), options.features.frame_time);
        points.col(column).tail(d) = PhasePart(options, time);
      }
    }
  }
  MatrixXd unused;
  learning::DynamicsExamples(PlacesWithoutPushes(model, features), model.lengths, model.options.order, unused, values);
}

/// The clock at a point of the dynamics, from 0 to the period [s].
double ClockAt(const ResponseOptions& options, const VectorXd& point) {
  const auto phase = point.tail(options.dimensions);
  const double turns = std::atan2(phase[1], phase[0]) / (2 * kPi);
  return (turns < 0 ? turns + 1 : turns) * options.clock_period;
}

/// A column between those of even phases, at a time of the clock.
VectorXd AtPhase(const MatrixXd& cycle, double clock, double period) {
  const Index size = cycle.cols();
  const double turns = clock / period;
  const double at = (turns - std::floor(turns)) * static_cast<double>(size);
  const Index before = static_cast<Index>(at) % size;
  const double share = at - std::floor(at);
  return (1 - share) * cycle.col(before) + share * cycle.col((before + 1) % size);
}

/// The position of the normal motion at a time of the clock.
VectorXd CyclePlace(const ResponseModel& model, double clock) {
  return AtPhase(model.cycle, clock, model.options.clock_period);
}

/// What the normal motion has (columns) at even phases of the clock (K): means of that within a frame, the nearer the
/// more.
MatrixXd CycleOf(const ResponseModel& model, const MatrixXd& columns) {
  const ResponseOptions& options = model.options;
  const double dt = options.features.frame_time;
  MatrixXd cycle = MatrixXd::Zero(columns.rows(), kPhases);
  for (Index k = 0; k < kPhases; ++k) {
    const double clock = options.clock_period * static_cast<double>(k) / kPhases;
    double sum = 0;
    for (Index i = 0; i < model.lengths[0]; ++i) {
      const double time = model.examples[0].ClockAt(static_cast<size_t>(i + 2), dt);
      const double weight = 1 - std::abs(std::remainder(time - clock, options.clock_period)) / dt;
      if (weight <= 0) continue;
      cycle.col(k) += weight * columns.col(i);
      sum += weight;
    }
    if (!(sum > 0)) throw std::invalid_argument("a normal motion that is shorter than the cycle of its clock");
    cycle.col(k) /= sum;
  }
  return cycle;
}

/// How far the last positions of a point of the dynamics are from those of the normal motion at their times (order d).
VectorXd FromCycle(const ResponseModel& model, const VectorXd& point, double clock) {
  const Index d = model.dimensions();
  const int order = model.options.order;
  VectorXd apart(order * d);
  for (int part = 0; part < order; ++part) {
    const double time = clock - (order - 1 - part) * model.options.features.frame_time;
    apart.segment(part * d, d) = point.segment(part * d, d) - CyclePlace(model, time);
  }
  return apart;
}

/// The mean of the dynamics at a point.
VectorXd MeanAt(const ResponseModel& model, const VectorXd& point) {
  if (!model.options.linear_mean) return VectorXd::Zero(model.dimensions());
  if (model.cycle.size() != 0) {
    const double clock = ClockAt(model.options, point);
    return CyclePlace(model, clock + model.options.features.frame_time) + model.linear * FromCycle(model, point, clock);
  }
  return model.linear.col(0) + model.linear.rightCols(point.size()) * point;
}

/// The greatest absolute value of the eigenvalues of a square matrix, by the growth of its powers up to the 2^39th
/// (Gelfand's formula).
double SpectralRadius(MatrixXd power) {
  double logarithm = 0, share = 1;
  for (int doubling = 0; doubling < 40; ++doubling, share /= 2) {
    const double size = power.norm();
    if (!(size > 0)) return 0;
    logarithm += share * std::log(size);
    power /= size;
    power *= power.eval();
  }
  return std::exp(logarithm);
}

/// Makes what is linear in the last positions die away: its slowest part within kSlowest.
void Calm(const ResponseOptions& options, MatrixXd& linear) {
  const Index d = linear.rows(), n = linear.cols();
  MatrixXd companion = MatrixXd::Zero(n, n);
  companion.bottomRows(d) = linear;
  companion.topRightCorner(n - d, n - d).setIdentity();
  const double largest = SpectralRadius(companion);
  const double slowest = options.longest_response > 0 ? kSlowestOfPeople : kSlowest;
  const double most = std::exp(-options.features.frame_time / slowest);
  if (!(largest > most)) return;
  // By the powers of one factor all eigenvalues are multiplied with it.
  const double factor = most / largest;
  const Index parts = n / d;
  for (Index part = 0; part < parts; ++part) {
    linear.middleCols(part * d, d) *= std::pow(factor, static_cast<double>(parts - part));
  }
}

/// Finds `cycle` and `linear` from points and values of the dynamics, by least squares.
void FitMean(ResponseModel& model, const MatrixXd& points, const MatrixXd& values) {
  const ResponseOptions& options = model.options;
  model.cycle.resize(0, 0);
  model.linear.resize(0, 0);
  if (!options.linear_mean) return;
  MatrixXd inputs, outputs = values;
  if (options.clock_period > 0) {
    model.cycle = CycleOf(model, model.latent.latent);
    inputs.resize(options.order * model.dimensions(), points.cols());
    for (Index i = 0; i < points.cols(); ++i) {
      const double clock = ClockAt(options, points.col(i));
      inputs.col(i) = FromCycle(model, points.col(i), clock);
      outputs.col(i) -= CyclePlace(model, clock + options.features.frame_time);
    }
  } else {
    inputs.resize(points.rows() + 1, points.cols());
    inputs.row(0).setOnes();
    inputs.bottomRows(points.rows()) = points;
  }
  MatrixXd square = inputs * inputs.transpose();
  square.diagonal().array() += kLinearRidge * static_cast<double>(points.cols());
  model.linear = square.ldlt().solve(inputs * outputs.transpose()).transpose();
  if (options.clock_period > 0) Calm(options, model.linear);
}

/// How much the examples have to say at a point of the dynamics, 0 to 1.
double SayOfExamples(const ResponseModel& model, const VectorXd& point, double since_push) {
  const ResponseOptions& options = model.options;
  double say = 1;
  if (model.cycle.size() == 0) return say;
  if (options.plain_radius > 0) {
    const double radius = options.plain_radius * model.latent_step;
    const VectorXd apart = FromCycle(model, point, ClockAt(options, point));
    const double distance = apart.tail(model.dimensions()).norm();
    say *= SmoothStep(std::clamp((distance - radius) / (2 * radius), 0.0, 1.0));
  }
  if (options.longest_response > 0) {
    say *= 1 - SmoothStep(std::clamp((since_push - options.longest_response) / kSilence, 0.0, 1.0));
  }
  return say;
}

MatrixXd LeftOver(const ResponseModel& model, const MatrixXd& points, const MatrixXd& values) {
  MatrixXd left = values;
  for (Index i = 0; i < points.cols(); ++i) left.col(i) -= MeanAt(model, points.col(i));
  return left;
}

/// How much faster than evenly the clock goes on at each transition (M); empty where it goes evenly in all examples.
VectorXd RatesOf(const ResponseModel& model, Index transitions) {
  const ResponseOptions& options = model.options;
  const double dt = options.features.frame_time;
  const auto uneven = [](const Example& example) { return !example.times.empty(); };
  if (options.clock_period <= 0 || std::none_of(model.examples.begin(), model.examples.end(), uneven)) return {};
  VectorXd rates = VectorXd::Zero(transitions);
  Index column = 0;
  for (size_t e = 0; e < model.examples.size(); ++e) {
    for (Index i = options.order - 1; i + 1 < model.lengths[e]; ++i, ++column) {
      const auto pose = static_cast<size_t>(i + 2);
      rates[column] = (model.examples[e].ClockAt(pose + 1, dt) - model.examples[e].ClockAt(pose, dt)) / dt - 1;
    }
  }
  return rates;
}

/// Finds which heels and toes stand in all poses that are observed, and how high they are then.
void FindStanding(ResponseModel& model, FeatureMap& features) {
  Index column = 0;
  Posture posture;
  for (const Example& example : model.examples) {
    const Eigen::ArrayXXi stands = StandingPoints(features, example.poses);
    if (column == 0) {
      model.standing.resize(stands.rows(), model.num_observations());
      model.standing_heights.setConstant(stands.rows(), -std::numeric_limits<double>::infinity());
    }
    for (Index i = 2; i < stands.cols(); ++i, ++column) {
      model.standing.col(column) = stands.col(i);
      features.Observe(example.poses[static_cast<size_t>(i)], false, posture);
      for (Index p = 0; p < stands.rows(); ++p) {
        if (stands(p, i) == 0) continue;
        double& height = model.standing_heights[p];
        height = std::max(height, posture.feet[static_cast<size_t>(p)].y() + kAboveStanding);
      }
    }
  }
}

/// Finds the means of what is observed, and takes them off (columns of all poses).
void TakeMeansOff(ResponseModel& model, MatrixXd& observations, MatrixXd& joints, MatrixXd& contacts) {
  const ResponseOptions& options = model.options;
  for (MatrixXd* const part : {&model.observation_cycle, &model.joint_cycle, &model.contact_cycle,
                               &model.observation_linear, &model.joint_linear}) {
    part->resize(0, 0);
  }
  if (!options.observation_mean || options.clock_period <= 0) return;
  const MatrixXd places = CycleOf(model, model.latent.latent);
  model.observation_cycle = CycleOf(model, observations);
  model.joint_cycle = CycleOf(model, joints);
  model.contact_cycle = CycleOf(model, contacts);
  MatrixXd apart(model.dimensions(), observations.cols());
  Index column = 0;
  for (size_t e = 0; e < model.examples.size(); ++e) {
    for (Index i = 0; i < model.lengths[e]; ++i, ++column) {
      const double clock = model.examples[e].ClockAt(static_cast<size_t>(i + 2), options.features.frame_time);
      const auto off = [&](MatrixXd& columns, const MatrixXd& cycle) {
        columns.col(column) -= AtPhase(cycle, clock, options.clock_period);
      };
      apart.col(column) = model.latent.latent.col(column);
      off(apart, places);
      off(observations, model.observation_cycle);
      off(joints, model.joint_cycle);
      off(contacts, model.contact_cycle);
    }
  }
  MatrixXd square = apart * apart.transpose();
  square.diagonal().array() += kObservationRidge * static_cast<double>(apart.cols());
  const Eigen::LDLT<MatrixXd> factor(square);
  model.observation_linear = factor.solve(apart * observations.transpose()).transpose();
  model.joint_linear = factor.solve(apart * joints.transpose()).transpose();
  observations -= model.observation_linear * apart;
  joints -= model.joint_linear * apart;
}

/// All but the kernels and what follows from them.
void AssembleLatent(ResponseModel& model, FeatureMap& features) {
  Check(model.examples, model.options);
  const Example& normal = model.examples.front();
  const double frames = CycleLength(normal.poses, model.options.features.frame_time, normal.name);
  model.period = frames * model.options.features.frame_time;
  model.latent.observations = Observe(features, model.examples, model.lengths);
  const auto whole = static_cast<Index>(std::floor(static_cast<double>(model.lengths[0]) / frames) * frames);
  model.mean = model.latent.observations.leftCols(std::max<Index>(whole, 1)).rowwise().mean();
  model.latent.observations.colwise() -= model.mean;
  const auto normals = model.latent.observations.leftCols(model.lengths[0]);
  model.step = (normals.rightCols(normals.cols() - 1) - normals.leftCols(normals.cols() - 1)).colwise().norm().mean();
  model.rest = WithoutHeading(normal.poses.front());
}

}  // namespace

ResponseOptions PaperOptions() {
  ResponseOptions options;
  options.features.velocity_time = 0;
  options.dimensions = 3;
  options.conjugate_gradients = true;
  options.linear_mean = false;
  options.least_noise = options.least_dynamics_noise = 0;
  options.takes_pushes_off = false;
  options.deformation.paper = true;
  options.deformation.foot_weight = 1e7;
  return options;
}

character::Pose WithoutHeading(const character::Pose& pose) {
  character::Pose turned = pose;
  turned.root_position = Vec3(0, pose.root_position.y(), 0);
  turned.root_orientation = AxisRotation(1, -HeadingAngle(pose.root_orientation)) * pose.root_orientation;
  return turned;
}

Index ResponseModel::FirstOf(size_t example) const {
  Index first = 0;
  for (size_t e = 0; e < example; ++e) first += lengths[e];
  return first;
}

void ResponseModel::MeansAt(const VectorXd& place, double clock, VectorXd& observed, VectorXd& joints,
                            VectorXd& contacts) const {
  if (observation_cycle.size() == 0) {
    observed.setZero(latent.observations.rows());
    joints.setZero(joint_weights.rows());
    contacts.setZero(contact_weights.rows());
    return;
  }
  const VectorXd apart = place - CyclePlace(*this, clock);
  observed = AtPhase(observation_cycle, clock, options.clock_period) + observation_linear * apart;
  joints = AtPhase(joint_cycle, clock, options.clock_period) + joint_linear * apart;
  contacts = AtPhase(contact_cycle, clock, options.clock_period);
}

double ResponseModel::DynamicsAt(const VectorXd& last, double clock, double since_push,
                                 learning::Prediction& prediction, VectorXd& next) const {
  VectorXd point = last;
  if (options.clock_period > 0) {
    point.conservativeResize(last.size() + options.dimensions);
    point.tail(options.dimensions) = PhasePart(options, clock);
  }
  dynamics.Predict(point, prediction);
  double say = SayOfExamples(*this, point, since_push);
  if (options.plain_radius > 0) {
    // Between and beside the examples a smooth process carries on what it cannot know.
    const double known = std::clamp(1 - prediction.variance / dynamics.kernel().variance, 0.0, 1.0);
    say *= known * known;
  }
  next = MeanAt(*this, point) + say * prediction.mean;
  if (rate_weights.size() == 0) return 1;
  return std::clamp(1 + say * rate_weights.dot(prediction.kernel), kSlowestClock, kFastestClock);
}

void Assemble(ResponseModel& model) {
  FeatureMap features(*model.character, model.options.features);
  AssembleLatent(model, features);
  learning::LatentOptions latent = LatentOptionsOf(model.options);
  latent.least_noise = 0;  // the kernel has all of it
  VectorXd learned(model.back_weights.size() + 2);
  if (model.back_weights.rows() != model.num_observations() || model.back_weights.cols() != model.options.dimensions) {
    throw std::invalid_argument("weights of another number of observations");
  }
  learned.head(model.back_weights.size()) = model.back_weights.reshaped();
  learned[learned.size() - 2] = std::log(model.kernel.rates[0]);
  learned[learned.size() - 1] = std::log(model.kernel.noise);
  model.latent = learning::LatentObjective(model.latent.observations, latent).Model(learned);
  MatrixXd observations = model.latent.observations;
  MatrixXd joints = Displacements(features.coordinates(), model.examples, model.rest, model.num_observations());
  const MatrixXd all_joints = joints;
  FindStanding(model, features);
  MatrixXd contacts = model.standing.cast<double>().matrix().array() - 0.5;
  TakeMeansOff(model, observations, joints, contacts);
  if (model.latent.scales.size() == 0 || !model.observation.Fit(model.latent.latent, observations, model.kernel)) {
    throw std::runtime_error("the covariance of the observations cannot be factored: more noise is needed");
  }
  const auto solved = [&](const MatrixXd& columns) {
    MatrixXd transposed = columns.transpose();
    model.observation.covariance().Solve(transposed);
    return transposed;
  };
  model.joint_weights = solved(joints).transpose();
  model.joint_scales = learning::SquaredScales(all_joints, solved(all_joints)).cwiseSqrt();
  for (Index j = 0; j < model.joint_scales.size(); ++j) {
    // What never moves has no scale; it stays where it is for all that is observed.
    if (!(model.joint_scales[j] < kLargestJointScale)) model.joint_scales[j] = kLargestJointScale;
  }
  model.joint_scales[0] = model.joint_scales[2] = 0;
  model.contact_weights = solved(contacts).transpose();
  const auto walk = model.latent.latent.leftCols(model.lengths[0]);
  model.latent_step = (walk.rightCols(walk.cols() - 1) - walk.leftCols(walk.cols() - 1)).colwise().norm().mean();
  MatrixXd points, values;
  Transitions(model, features, points, values);
  FitMean(model, points, values);
  if (!model.dynamics.Fit(points, LeftOver(model, points, values), model.dynamics_kernel)) {
    throw std::runtime_error("the covariance of the dynamics cannot be factored: more noise is needed");
  }
  MatrixXd rates = RatesOf(model, points.cols());
  if (rates.size() != 0) model.dynamics.covariance().Solve(rates);
  model.rate_weights = rates;
}

ResponseLearning LearnResponse(const character::Character& character, std::vector<Example> examples,
                               const ResponseOptions& options,
                               const std::function<bool(int iteration, double value)>& on_iteration) {
  const double begin = io::ThreadCpuSeconds();
  size_t poses = 0;
  for (const Example& example : examples) poses += example.poses.size();
  if (examples.size() > kMostModelExamples || poses > kMostModelPoses) {  // whose file could not be read
    throw std::invalid_argument(std::to_string(examples.size()) + " examples with " + std::to_string(poses) +
                                " poses, more than " + std::to_string(kMostModelExamples) + " or " +
                                std::to_string(kMostModelPoses));
  }
  ResponseLearning result;
  ResponseModel& model = result.model;
  model.character = &character;
  model.options = options;
  model.examples = std::move(examples);
  FeatureMap features(character, options.features);
  AssembleLatent(model, features);
  learning::LatentOptions latent = LatentOptionsOf(options);
  if (on_iteration) {
    latent.minimization.after_iteration = [&](int iteration, const VectorXd&, double value) {
      return on_iteration(iteration, value);
    };
  }
  learning::LatentObjective objective(model.latent.observations, latent);
  result.latent = optimization::Minimize(std::ref(objective), objective.Start(), latent.minimization);
  const VectorXd& learned = result.latent.x;
  const Index entries = learned.size() - 2;
  model.back_weights = learned.head(entries).reshaped(model.num_observations(), options.dimensions);
  model.kernel.rates[0] = std::exp(learned[entries]);
  model.kernel.noise = options.least_noise + std::exp(learned[entries + 1]);
  model.latent = objective.Model(learned);

  MatrixXd points, values;
  Transitions(model, features, points, values);
  FitMean(model, points, values);
  learning::Kernel start;
  start.rates.setOnes(options.order + (options.clock_period > 0 ? 1 : 0));
  start.noise = 1;
  optimization::MinimizationOptions minimization;
  minimization.most_iterations = options.dynamics_iterations;
  const learning::LearnedKernel dynamics =
      learning::LearnKernel(points, LeftOver(model, points, values), start, minimization, options.least_dynamics_noise);
  model.dynamics_kernel = dynamics.kernel;
  result.dynamics = dynamics.minimum;
  Assemble(model);
  result.cpu_seconds = io::ThreadCpuSeconds() - begin;

  const auto normals = model.latent.observations.leftCols(model.lengths[0]);
  for (size_t e = 0; e < model.examples.size(); ++e) {
    const Index last = model.FirstOf(e) + model.lengths[e] - 1;
    result.end_distances.push_back(
        (normals.colwise() - model.latent.observations.col(last)).colwise().norm().minCoeff() / model.step);
  }
  return result;
}

}  // namespace retrace::response_model
