#include "retrace/response_model/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"
#include "retrace/response_model/contacts.h"

namespace retrace::response_model {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Mean way along the ground of heels and toes while they stand, from the beginning of a stance to its end.
double SlideOf(const ResponseModel& model, FeatureMap& features, const std::vector<character::Pose>& poses) {
  const DeformationOptions& stands = model.options.deformation;
  const double dt = model.options.features.frame_time;
  std::vector<std::vector<Vec3>> feet;
  Posture posture;
  for (const character::Pose& pose : poses) {
    features.Observe(pose, false, posture);
    feet.push_back(posture.feet);
  }
  double sum = 0;
  int stances = 0;
  for (size_t p = 0; !feet.empty() && p < feet[0].size(); ++p) {
    bool stood = false;
    size_t begin = 0;
    for (size_t i = 0; i + 1 < feet.size(); ++i) {
      const double speed = (feet[i + 1][p] - feet[i][p]).norm() / dt;
      const bool stands_now = speed <= stands.standing_speed && feet[i][p].y() <= stands.standing_height;
      if (stands_now && !stood) begin = i;
      if (stood && !stands_now) {
        const Vec3 way = feet[i][p] - feet[begin][p];
        sum += std::hypot(way.x(), way.z());
        ++stances;
      }
      stood = stands_now;
    }
  }
  return stances > 0 ? sum / stances : 0;
}

/// Sums over the frames of motions.
struct FeetSums {
  double skating = 0, unsupported = 0, frames = 0;

  FeetFigures Figures() const {
    if (frames == 0) return {};
    return {skating / frames, unsupported / frames};
  }
};

/// @param stands (feet x poses) which heels and toes should stand
void SumFeet(FeatureMap& features, const std::vector<character::Pose>& poses, const Eigen::ArrayXXi& stands,
             FeetSums& sums) {
  std::vector<int> bodies;
  for (const ObservedPoint& point : features.points()) {
    if (point.foot) bodies.push_back(point.body);
  }
  const double dt = features.options().frame_time;
  Posture before, posture;
  for (size_t i = 0; i < poses.size(); ++i) {
    features.Observe(poses[i], false, posture);
    if (i > 0) {
      const auto now = static_cast<Index>(i);
      bool skates = false, supported = false;
      for (size_t p = 0; p < bodies.size(); ++p) {
        bool should = false, rests = false;  // of the foot whose first point this is
        for (size_t q = p; q < bodies.size() && bodies[q] == bodies[p]; ++q) {
          const Vec3 move = posture.feet[q] - before.feet[q];
          const bool moves = std::hypot(move.x(), move.z()) > kMovingFoot * dt;
          const auto row = static_cast<Index>(q);
          const bool stands_here = stands(row, now) != 0 && stands(row, now - 1) != 0;
          should |= stands_here;
          rests |= stands_here && !moves;
          supported |= !moves;
        }
        if (p == 0 || bodies[p - 1] != bodies[p]) skates |= should && !rests;
      }
      sums.skating += skates ? 1 : 0;
      sums.unsupported += supported ? 0 : 1;
      ++sums.frames;
    }
    std::swap(before, posture);
  }
}

FeetFigures FeetOfExamples(const ResponseModel& model, FeatureMap& features) {
  FeetSums sums;
  for (const Example& example : model.examples) {
    SumFeet(features, example.poses, StandingPoints(features, example.poses), sums);
  }
  return sums.Figures();
}

/// What the examples that are most like a motion have where it is observed, from its third pose on.
FeetFigures FeetOf(const ResponseModel& model, FeatureMap& features, const std::vector<character::Pose>& poses,
                   const MatrixXd& observations) {
  Eigen::ArrayXXi stands = Eigen::ArrayXXi::Zero(model.standing.rows(), static_cast<Index>(poses.size()));
  for (Index i = 0; i < observations.cols(); ++i) {
    Index nearest = 0;
    (model.latent.observations.colwise() - (observations.col(i) - model.mean))
        .colwise()
        .squaredNorm()
        .minCoeff(&nearest);
    stands.col(i + 2) = model.standing.col(nearest);
  }
  FeetSums sums;
  SumFeet(features, poses, stands, sums);
  return sums.Figures();
}

/// Distance of a point from the straight pieces between points that follow one another (columns).
double FromPath(const Eigen::Ref<const MatrixXd>& path, const VectorXd& point) {
  double least = (path.col(0) - point).squaredNorm();
  for (Index i = 1; i < path.cols(); ++i) {
    const VectorXd piece = path.col(i) - path.col(i - 1), from = point - path.col(i - 1);
    const double square = piece.squaredNorm();
    const double along = square > 0 ? std::clamp(from.dot(piece) / square, 0.0, 1.0) : 0.0;
    least = std::min(least, (from - along * piece).squaredNorm());
  }
  return std::sqrt(least);
}

/// Mean time between instants at which a foot overtakes its mean position.
double PeriodOf(const ResponseModel& model, const MatrixXd& observations, Index row) {
  std::vector<double> times;
  for (Index i = observations.cols() / 2 + 1; i < observations.cols(); ++i) {
    const double before = observations(row, i - 1) - model.mean[row], now = observations(row, i) - model.mean[row];
    if (before < 0 && now >= 0) times.push_back(static_cast<double>(i) - now / (now - before));
  }
  if (times.size() < 2) return 0;
  return (times.back() - times.front()) / static_cast<double>(times.size() - 1) * model.options.features.frame_time;
}

/// Where two straight pieces are nearest to one another, in any number of dimensions.
struct Approach {
  double distance = 0;
  double a = 0, b = 0;  // how far along each, 0 to 1
};

Approach Approaching(const VectorXd& a0, const VectorXd& a1, const VectorXd& b0, const VectorXd& b1) {
  const VectorXd a = a1 - a0, b = b1 - b0, between = a0 - b0;
  const double aa = a.squaredNorm(), bb = b.squaredNorm(), ab = a.dot(b);
  const auto along = [](double numerator, double square) {
    return square > 0 ? std::clamp(numerator / square, 0.0, 1.0) : 0.0;
  };
  const double determinant = aa * bb - ab * ab;
  Approach result;
  if (determinant > 1e-12 * aa * bb) result.a = along(ab * between.dot(b) - bb * between.dot(a), determinant);
  result.b = along(between.dot(b) + result.a * ab, bb);
  result.a = along(result.b * ab - between.dot(a), aa);
  result.distance = (between + result.a * a - result.b * b).norm();
  return result;
}

}  // namespace

Plausibility Judge(const ResponseModel& model, const std::vector<character::Pose>& poses) {
  FeatureMap features(*model.character, model.options.features);
  Plausibility result;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Example& example : model.examples) {
    for (const character::Pose& pose : example.poses) {
      low = std::min(low, pose.root_position.y());
      high = std::max(high, pose.root_position.y());
    }
  }
  for (const character::Pose& pose : poses) {
    const double height = pose.root_position.y();
    result.height_excess = std::max({result.height_excess, height - high, low - height});
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      double likest = 0;  // the largest cosine of half an angle
      for (const Example& example : model.examples) {
        for (const character::Pose& other : example.poses) {
          likest = std::max(likest, std::abs(pose.joint_rotations[j].dot(other.joint_rotations[j])));
        }
      }
      result.joint_excess = std::max(result.joint_excess, 2 * std::acos(std::min(1.0, likest)));
    }
  }
  result.slide = SlideOf(model, features, poses);
  result.example_slide = SlideOf(model, features, model.examples.front().poses);
  const MatrixXd observations = features.ObserveAll(poses);
  result.feet = FeetOf(model, features, poses, observations);
  result.example_feet = FeetOfExamples(model, features);
  const auto normals = model.latent.observations.leftCols(model.lengths[0]);
  for (Index i = 0; i < observations.cols(); ++i) {
    const VectorXd observation = observations.col(i) - model.mean;
    const auto nearest = [&](const auto& others) {
      return std::sqrt((others.colwise() - observation).colwise().squaredNorm().minCoeff()) / model.step;
    };
    result.largest_distance = std::max(result.largest_distance, nearest(model.latent.observations));
    if (i + 1 == observations.cols()) result.end_distance = FromPath(normals, observation) / model.step;
  }
  Index row = 0;
  for (const ObservedPoint& point : features.points()) {
    if (point.foot) break;
    row += point.body == model.character->root ? 1 : 3;
  }
  if (row + 2 < features.num_places()) result.period = PeriodOf(model, observations, row + 2);
  return result;
}

double OneStepError(const ResponseModel& model, const Example& motion) {
  FeatureMap features(*model.character, model.options.features);
  const MatrixXd observations = features.ObserveAll(motion.poses).colwise() - model.mean;
  const double dt = model.options.features.frame_time;
  const Index d = model.dimensions(), order = model.options.order;
  MatrixXd places(d, observations.cols());
  for (Index i = 0; i < observations.cols(); ++i) places.col(i) = model.latent.BackProject(observations.col(i));
  learning::Prediction dynamics, observation;
  VectorXd next, mean, joints, contacts;
  double sum = 0;
  int count = 0;
  for (Index i = order - 1; i + 1 < observations.cols(); ++i) {
    const double time = static_cast<double>(i + 2) * dt;
    const bool pushed = std::any_of(motion.pushes.begin(), motion.pushes.end(),
                                    [&](const Push& push) { return ShareOf(push, time, dt) > 0; });
    if (pushed) continue;
    const VectorXd last = places.middleCols(i - order + 1, order).reshaped();
    const double clock = motion.clock ? motion.ClockAt(static_cast<size_t>(i + 2), dt) : time;
    const double rate = model.DynamicsAt(last, clock, 0, dynamics, next);
    model.observation.Predict(next, observation);
    model.MeansAt(next, clock + rate * dt, mean, joints, contacts);
    sum += (observation.mean + mean - observations.col(i + 1)).norm();
    ++count;
  }
  return count > 0 ? sum / (count * model.step) : std::numeric_limits<double>::infinity();
}

int CountCrossings(const ResponseModel& model, const CrossingOptions& options) {
  const MatrixXd& places = model.latent.latent;
  const Index normals = model.lengths[0];
  const double latent_step = (places.middleCols(1, normals - 1) - places.leftCols(normals - 1)).colwise().norm().mean();
  std::vector<Index> pieces;  // the first place of each
  for (size_t e = 0; e < model.examples.size(); ++e) {
    for (Index i = 0; i + 1 < model.lengths[e]; ++i) pieces.push_back(model.FirstOf(e) + i);
  }
  const auto observed = [&](Index piece, double along) -> VectorXd {
    return (1 - along) * model.latent.observations.col(piece) + along * model.latent.observations.col(piece + 1);
  };
  const auto length = [&](Index piece) { return (places.col(piece + 1) - places.col(piece)).norm(); };
  int count = 0;
  for (auto a = pieces.begin(); a != pieces.end(); ++a) {
    const double reach = length(*a) + options.near * latent_step;
    for (auto b = a + 1; b != pieces.end(); ++b) {
      if ((places.col(*a) - places.col(*b)).norm() > reach + length(*b)) continue;
      const Approach near = Approaching(places.col(*a), places.col(*a + 1), places.col(*b), places.col(*b + 1));
      if (near.distance > options.near * latent_step) continue;
      if ((observed(*a, near.a) - observed(*b, near.b)).norm() > options.apart * model.step) ++count;
    }
  }
  return count;
}

PoseDistance DistanceOf(const character::Character& character, const character::Pose& a, const character::Pose& b) {
  character::State first, second;
  const auto mean = [&](const character::Pose& one, const character::Pose& other) {
    character::ForwardKinematics(character, one, first);
    character::ForwardKinematics(character, other, second);
    double sum = 0;
    for (size_t i = 0; i < first.size(); ++i) sum += (first[i].position - second[i].position).norm();
    return sum / static_cast<double>(first.size());
  };
  return {mean(a, b), mean(WithoutHeading(a), WithoutHeading(b))};
}

double PhaseOf(const ResponseModel& model, const std::vector<character::Pose>& three) {
  FeatureMap features(*model.character, model.options.features);
  return PhaseOf(model, VectorXd(features.ObserveAll(three).rightCols(1) - model.mean));
}

double PhaseOf(const ResponseModel& model, const VectorXd& observation) {
  Index nearest = 0;
  (model.latent.observations.leftCols(model.lengths[0]).colwise() - observation)
      .colwise()
      .squaredNorm()
      .minCoeff(&nearest);
  return static_cast<double>(nearest + 2) * model.options.features.frame_time;
}

NearestExample FindNearestExample(const ResponseModel& model, const Push& push, double phase) {
  if (model.examples.size() < 2) throw std::invalid_argument("a model without disturbed examples");
  const double dt = model.options.features.frame_time;
  NearestExample best;
  best.difference = std::numeric_limits<double>::infinity();
  for (size_t e = 1; e < model.examples.size(); ++e) {
    const Example& example = model.examples[e];
    if (example.pushes.empty()) continue;
    const Push& other = example.pushes.front();
    const auto frame = static_cast<size_t>(
        std::clamp(std::floor(other.start / dt + 1e-6), 2.0, static_cast<double>(example.poses.size() - 1)));
    const std::vector<character::Pose> three(example.poses.begin() + static_cast<long>(frame) - 2,
                                             example.poses.begin() + static_cast<long>(frame) + 1);
    const double other_phase = PhaseOf(model, three) + other.start - static_cast<double>(frame) * dt;
    const double apart = std::abs(std::remainder(phase - other_phase, model.period));
    const double difference = (push.force - other.force).norm() / 100 + apart / (0.25 * model.period);
    if (difference < best.difference) best = {e, frame, difference};
  }
  if (best.example == 0) best = {1, 2, 0};
  return best;
}

}  // namespace retrace::response_model
