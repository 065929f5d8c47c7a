#include "retrace/kinetics/residual_reduction.h"

#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "retrace/character/builder.h"
#include "retrace/character/segments.h"
#include "retrace/dynamics/pose_dynamics.h"
#include "retrace/math/rotation.h"
#include "retrace/optimization/least_squares.h"

namespace retrace::kinetics {
namespace {

using character::Pose;
using dynamics::SupportForce;
using dynamics::Vec6;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kKnots = 0.05;       // apart [s]
constexpr int kMasses = 4;            // unknown numbers: the factor, and the shift of the trunk
constexpr int kIterations = 8;        // of Gauss and Newton
constexpr double kDone = 0.01;        // ends when a step lessens the objective by a smaller share of it
constexpr int kMostStiffenings = 20;  // where a bound is exceeded: a million times as stiff is rigid
constexpr double kStiffening = 2;     // of the cost of changes, each time
constexpr double kShiftStep = 1e-3;   // of the trunk, for derivatives [m]
constexpr double kHeld = 1e-6;        // error of a number that is at its bound

/// Cubic B-splines at even knots: the four that are not 0 at a pose, and their values.
struct SplineAt {
  Index first = 0;
  std::array<double, 4> value{};
};

SplineAt SplineOf(double time) {
  const double at = time / kKnots;
  SplineAt spline;
  spline.first = static_cast<Index>(std::floor(at));
  const double t = at - std::floor(at), s = 1 - t;
  spline.value = {s * s * s / 6, (4 - 6 * t * t + 3 * t * t * t) / 6, (4 - 6 * s * s + 3 * s * s * s) / 6,
                  t * t * t / 6};
  return spline;
}

/// The character with other masses.
struct MassChange {
  double factor = 1;
  Vec3 shift = Vec3::Zero();
};

character::Character WithMasses(const character::Character& character, int trunk, const MassChange& change) {
  character::CharacterBuilder builder(character);
  if (trunk >= 0 && change.shift != Vec3::Zero()) {
    const character::Body& body = character.bodies[static_cast<size_t>(trunk)];
    builder.SetPosition(body.name, body.rest_position + change.shift);
    std::vector<character::Shape> shapes = body.shapes;
    for (character::Shape& shape : shapes) shape.offset -= change.shift;
    builder.SetShapes(body.name, shapes);
  }
  if (change.factor != 1) builder.ScaleMass(change.factor);
  return builder.Build(character.name);
}

class Reduction {
 public:
  Reduction(const character::ReferenceMotion& reference, const std::vector<std::vector<SupportForce>>& given,
            const std::vector<bool>& known, const ResidualReductionOptions& options)
      : reference_(reference),
        original_(reference.character()),
        given_(given),
        known_(known),
        options_(options),
        trunk_(character::BodyOfSegment(original_, "trunk")),
        coordinates_(original_),
        n_(coordinates_.size()) {
    const size_t poses = reference.poses().size();
    for (size_t i = 0; i < poses; ++i) splines_.push_back(SplineOf(static_cast<double>(i) * reference.frame_time()));
    knots_ = splines_.back().first + 4;
    unknowns_ = knots_ * n_ + (options.masses ? kMasses : 0);
    weight_ = original_.total_mass() * (options.gravity > 0 ? options.gravity : kStandardGravity);
    held_[2] = 0;                               // the height of the trunk's center hardly shows in forces
    if (trunk_ == original_.root) trunk_ = -1;  // its position is that of the motion
    known_[0] = known_[poses - 1] = false;
    if (std::none_of(known_.begin(), known_.end(), [](bool is_known) { return is_known; })) {
      throw std::invalid_argument("no pose of which all forces are known");
    }
  }

  ReducedResiduals Find() {
    Build(MassChange());
    const MatrixXd before = ResidualsOf(*motion_);
    double stiffness = 1;
    bool bounded = false;
    ReducedResiduals found;
    for (int stiffenings = 0;;) {
      Solve(stiffness);
      found.bodies = Changes();
      const BodyChange largest = found.Largest();
      const bool inside = largest.most_place <= options_.most_place && largest.most_turn <= options_.most_turn;
      const bool held = HoldMasses();
      if ((inside && !held) || stiffenings == kMostStiffenings) break;
      bounded = true;
      if (inside) continue;
      stiffness *= kStiffening;
      ++stiffenings;
    }
    const MatrixXd after = ResidualsOf(*motion_);
    found.character = character_;
    found.motion = motion_;
    found.before = SizesOf(before);
    found.after = SizesOf(after);
    found.residuals.resize(before.rows(), 12);
    found.residuals << before, after;
    found.mass = masses_.factor;
    found.trunk = masses_.shift;
    found.bounded = bounded;
    return found;
  }

 private:
  /// The character with its masses and the motion with its changes.
  void Build(const MassChange& masses) {
    masses_ = masses;
    character_ = std::make_shared<character::Character>(WithMasses(original_, trunk_, masses));
    motion_.emplace(Moved(*character_));
  }

  VectorXd ChangeAt(size_t pose) const {
    VectorXd change = VectorXd::Zero(n_);
    if (changes_.size() == 0) return change;
    const SplineAt& spline = splines_[pose];
    for (Index k = 0; k < 4; ++k)
      change += spline.value[static_cast<size_t>(k)] * changes_.segment((spline.first + k) * n_, n_);
    return change;
  }

  character::ReferenceMotion Moved(const character::Character& character) const {
    std::vector<Pose> poses = reference_.poses();
    for (size_t i = 0; i < poses.size(); ++i) coordinates_.Advance(ChangeAt(i), poses[i]);
    return reference_.Of(character).WithPoses(std::move(poses));
  }

  /// (poses x 6) force and moment that are required and not given; 0 where they are not known.
  MatrixXd ResidualsOf(const character::ReferenceMotion& motion) const {
    MatrixXd residuals = MatrixXd::Zero(static_cast<Index>(known_.size()), 6);
    dynamics::PoseDynamics pose(motion, options_.gravity);
    for (size_t i = 0; i < known_.size(); ++i) {
      if (!known_[i]) continue;
      pose.SetPose(i);
      dynamics::RequiredForces result;
      pose.Require(result);
      for (const SupportForce& support : given_[i]) pose.Press(support);
      pose.FindTorques(result);
      residuals.row(static_cast<Index>(i)) << result.missing_force.transpose(), result.missing_moment.transpose();
    }
    return residuals;
  }

  ResidualSizes SizesOf(const MatrixXd& residuals) const {
    ResidualSizes sizes;
    double count = 0;
    for (size_t i = 0; i < known_.size(); ++i) {
      if (!known_[i]) continue;
      const auto row = residuals.row(static_cast<Index>(i));
      const double force = row.head<3>().norm(), moment = row.tail<3>().norm();
      sizes.force += force * force;
      sizes.moment += moment * moment;
      sizes.most_force = std::max(sizes.most_force, force);
      sizes.most_moment = std::max(sizes.most_moment, moment);
      count += 1;
    }
    sizes.force = std::sqrt(sizes.force / count);
    sizes.moment = std::sqrt(sizes.moment / count);
    return sizes;
  }

  /// Gauss-Newton steps, each halved until it helps.
  void Solve(double stiffness) {
    changes_.setZero(knots_ * n_);
    VectorXd step = VectorXd::Zero(unknowns_);
    double least = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      Build(masses_);
      Linearize(stiffness);
      const Eigen::Map<const VectorXd> wanted(wanted_.data(), static_cast<Index>(wanted_.size()));
      const double value = wanted.squaredNorm();
      if (value >= least) {
        step *= 0.5;
        Move(-step);
        continue;
      }
      if (least - value < kDone * value) return;
      least = value;
      Eigen::SparseMatrix<double> rows(wanted.size(), unknowns_);
      rows.setFromTriplets(entries_.begin(), entries_.end());
      step = optimization::LinearSquares(rows).Solve(wanted).col(0);
      Move(step);
    }
    Build(masses_);
  }

  void Move(const VectorXd& step) {
    changes_ += step.head(knots_ * n_);
    if (!options_.masses) return;
    masses_.factor += step[knots_ * n_];
    masses_.shift += step.tail<3>();
  }

  void Linearize(double stiffness) {
    entries_.clear();
    wanted_.clear();
    AddResiduals();
    AddChanges(stiffness);
    if (options_.masses) AddMasses();
  }

  /// Adds the residuals: what changes at a pose and its neighbors does to them.
  void AddResiduals() {
    const MatrixXd residuals = ResidualsOf(*motion_);
    std::array<MatrixXd, 3> shifted;
    if (options_.masses && trunk_ >= 0) {
      for (int axis = 0; axis < 3; ++axis) {
        MassChange more = masses_;
        more.shift[axis] += kShiftStep;
        const character::Character other = WithMasses(original_, trunk_, more);
        shifted[static_cast<size_t>(axis)] = (ResidualsOf(Moved(other)) - residuals) / kShiftStep;
      }
    }
    const double step = reference_.frame_time();
    Vec6 error;
    error << Vec3::Constant(options_.force_error * weight_), Vec3::Constant(options_.moment_error * weight_);
    dynamics::CharacterDynamics now(*character_, options_.gravity);
    std::array<MatrixXd, 3> momenta;  // of the pose before, of the pose and of the one after it
    MatrixXd center(3, n_);
    const VectorXd rest = VectorXd::Zero(n_);
    const auto momentum_at = [&](size_t i, MatrixXd& matrix) {
      now.SetMotion(motion_->poses()[i], rest);
      matrix.resize(6, n_);
      now.MomentumMatrix(matrix);
      matrix = (MatrixXd(6, n_) << matrix.bottomRows(3), matrix.topRows(3)).finished();  // the force first
    };
    for (size_t i = 1; i + 1 < known_.size(); ++i) {
      if (!known_[i]) continue;
      momentum_at(i - 1, momenta[0]);
      momentum_at(i + 1, momenta[2]);
      momentum_at(i, momenta[1]);
      now.CenterOfMassJacobian(center);
      Vec3 supplied = Vec3::Zero();
      for (const SupportForce& support : given_[i]) supplied += support.force;
      const MatrixXd before = 0.5 / (step * step) * (momenta[0] + momenta[1]);
      const MatrixXd after = 0.5 / (step * step) * (momenta[1] + momenta[2]);
      MatrixXd middle = -before - after;
      for (Index column = 0; column < n_; ++column) {  // the given forces stay where they are
        middle.col(column).tail<3>() += Vec3(center.col(column)).cross(supplied);
      }
      const MatrixXd* const parts[] = {&before, &middle, &after};
      const Index first = splines_[i - 1].first, last = splines_[i + 1].first + 3;
      const Index row = static_cast<Index>(wanted_.size());
      for (Index knot = first; knot <= last; ++knot) {
        MatrixXd block = MatrixXd::Zero(6, n_);
        for (size_t part = 0; part < 3; ++part) {
          const SplineAt& spline = splines_[i - 1 + part];
          const Index at = knot - spline.first;
          if (at >= 0 && at < 4) block += spline.value[static_cast<size_t>(at)] * *parts[part];
        }
        for (Index r = 0; r < 6; ++r) {
          for (Index c = 0; c < n_; ++c) Enter(row + r, knot * n_ + c, block(r, c) / error[r]);
        }
      }
      const auto residual = residuals.row(static_cast<Index>(i));
      for (Index r = 0; r < 6; ++r) {
        if (options_.masses) {
          // All that is required is in proportion to the masses.
          const double supply = r < 3 ? supplied[r] : MomentOf(given_[i], now.CenterOfMass())[r - 3];
          Enter(row + r, knots_ * n_, (residual[r] + supply) / masses_.factor / error[r]);
          for (Index axis = 0; axis < 3 && trunk_ >= 0; ++axis) {
            Enter(row + r, knots_ * n_ + 1 + axis,
                  shifted[static_cast<size_t>(axis)](static_cast<Index>(i), r) / error[r]);
          }
        }
        wanted_.push_back(-residual[r] / error[r]);
      }
    }
  }

  static Vec3 MomentOf(const std::vector<SupportForce>& supports, const Vec3& center) {
    Vec3 moment = Vec3::Zero();
    for (const SupportForce& support : supports) {
      moment += (support.center - center).cross(support.force) + support.free_moment * Vec3::UnitY();
    }
    return moment;
  }

  /// Adds what changes of positions and orientations cost.
  void AddChanges(double stiffness) {
    dynamics::CharacterDynamics recorded(original_, options_.gravity);
    MatrixXd jacobian(6, n_);
    const VectorXd rest = VectorXd::Zero(n_);
    // Twice between two knots: else splines could leave the motion in between.
    const auto apart = static_cast<size_t>(std::max(1.0, std::round(0.5 * kKnots / reference_.frame_time())));
    const double share = std::sqrt(stiffness * static_cast<double>(apart) * reference_.frame_time() / kKnots);
    const size_t last = known_.size() - 1;
    for (size_t i = 0; i <= last; i = i == last ? last + 1 : std::min(i + apart, last)) {
      recorded.SetMotion(reference_.poses()[i], rest);
      const VectorXd changed = ChangeAt(i);
      const SplineAt& spline = splines_[i];
      for (size_t b = 0; b < original_.bodies.size(); ++b) {
        const int body = static_cast<int>(b);
        recorded.PointJacobian(body, recorded.CenterOf(body), jacobian.topRows(3));
        recorded.AngularJacobian(body, jacobian.bottomRows(3));
        const bool foot = original_.bodies[b].segment.ends_with("_foot");
        for (Index r = 0; r < 6; ++r) {
          const double error = r >= 3 ? options_.turn_error : foot ? options_.foot_error : options_.place_error;
          const auto row = static_cast<Index>(wanted_.size());
          for (Index c = 0; c < n_; ++c) {
            if (jacobian(r, c) == 0) continue;
            for (Index k = 0; k < 4; ++k) {
              Enter(row, (spline.first + k) * n_ + c,
                    share * spline.value[static_cast<size_t>(k)] * jacobian(r, c) / error);
            }
          }
          wanted_.push_back(-share * jacobian.row(r).dot(changed) / error);
        }
      }
    }
    // Splines at the ends reach few poses: they stay near to nothing by themselves.
    constexpr double kLoose = 1e-3;
    for (Index u = 0; u < knots_ * n_; ++u) {
      Enter(static_cast<Index>(wanted_.size()), u, kLoose / options_.place_error);
      wanted_.push_back(-kLoose * changes_[u] / options_.place_error);
    }
  }

  void AddMasses() {
    for (Index m = 0; m < kMasses; ++m) {
      const double value = m == 0 ? masses_.factor - 1 : masses_.shift[m - 1];
      const auto& held = held_[static_cast<size_t>(m)];
      const double error = held ? kHeld : m == 0 ? options_.mass_error : options_.trunk_error;
      Enter(static_cast<Index>(wanted_.size()), knots_ * n_ + m, 1 / error);
      wanted_.push_back((held.value_or(0) - value) / error);
    }
  }

  /// Holds masses at bounds that they exceed. @return whether there were any that were not held before
  bool HoldMasses() {
    bool any = false;
    for (Index m = 0; m < kMasses && options_.masses; ++m) {
      const double value = m == 0 ? masses_.factor - 1 : masses_.shift[m - 1];
      const double most = m == 0 ? options_.most_mass : options_.most_trunk;
      auto& held = held_[static_cast<size_t>(m)];
      if (held || std::abs(value) <= most) continue;
      held = std::copysign(most, value);
      any = true;
    }
    return any;
  }

  std::vector<BodyChange> Changes() const {
    // With the masses as they were, so that centers of mass are at the same points of their bodies.
    const std::vector<character::State> from = reference_.StatesOfPoses(), to = Moved(original_).StatesOfPoses();
    std::vector<BodyChange> changes(original_.bodies.size());
    for (size_t b = 0; b < changes.size(); ++b) {
      BodyChange& change = changes[b];
      for (size_t i = 0; i < from.size(); ++i) {
        const double place = (to[i][b].position - from[i][b].position).norm();
        const double turn = AngleBetween(to[i][b].orientation, from[i][b].orientation);
        change.place += place * place;
        change.turn += turn * turn;
        change.most_place = std::max(change.most_place, place);
        change.most_turn = std::max(change.most_turn, turn);
      }
      change.place = std::sqrt(change.place / static_cast<double>(from.size()));
      change.turn = std::sqrt(change.turn / static_cast<double>(from.size()));
    }
    return changes;
  }

  void Enter(Index row, Index column, double value) { entries_.emplace_back(row, column, value); }

  const character::ReferenceMotion& reference_;
  const character::Character& original_;
  const std::vector<std::vector<SupportForce>>& given_;
  std::vector<bool> known_;
  ResidualReductionOptions options_;
  int trunk_;
  dynamics::Coordinates coordinates_;
  Index n_;
  std::vector<SplineAt> splines_;  // (poses)
  Index knots_ = 0, unknowns_ = 0;
  double weight_ = 0;
  VectorXd changes_;  // (knots x coordinates)
  MassChange masses_;
  std::array<std::optional<double>, kMasses> held_;
  std::shared_ptr<const character::Character> character_;
  std::optional<character::ReferenceMotion> motion_;
  std::vector<Eigen::Triplet<double>> entries_;
  std::vector<double> wanted_;
};

}  // namespace

BodyChange ReducedResiduals::Largest() const {
  BodyChange largest;
  for (const BodyChange& body : bodies) {
    largest.place = std::max(largest.place, body.place);
    largest.turn = std::max(largest.turn, body.turn);
    largest.most_place = std::max(largest.most_place, body.most_place);
    largest.most_turn = std::max(largest.most_turn, body.most_turn);
  }
  return largest;
}

ReducedResiduals ReduceResiduals(const character::ReferenceMotion& reference,
                                 const std::vector<std::vector<SupportForce>>& given, const std::vector<bool>& known,
                                 const ResidualReductionOptions& options) {
  if (given.size() != reference.poses().size() || known.size() != given.size() || given.size() < 3) {
    throw std::invalid_argument("forces of other poses than the motion's");
  }
  return Reduction(reference, given, known, options).Find();
}

}  // namespace retrace::kinetics
