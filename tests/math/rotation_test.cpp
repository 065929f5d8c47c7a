/// Rotations: each routine against its closed form or the property that defines it.
#include "retrace/math/rotation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "math/any_stream.h"
#include "retrace/math/random.h"

namespace retrace {
namespace {

Vec3 AnyDirection(RandomStream& random) {
  for (;;) {
    const Vec3 v(random.Uniform(-1, 1), random.Uniform(-1, 1), random.Uniform(-1, 1));
    if (v.norm() > 0.1 && v.norm() < 1) return v.normalized();
  }
}

/// Angles of all sizes: tiny ones, near half a turn, and between.
double AnyAngle(RandomStream& random) {
  const double kind = random.Uniform();
  if (kind < 0.25) return std::pow(10, random.Uniform(-18, -1));
  if (kind < 0.5) return kPi - std::pow(10, random.Uniform(-14, -1));
  return random.Uniform(0, kPi);
}

Quat AnyRotation(RandomStream& random) {
  return FromRotationVector(random.Uniform(0, kPi) * AnyDirection(random));
}

Quat Negated(const Quat& q) {
  return Quat(-q.w(), -q.x(), -q.y(), -q.z());
}

RC_GTEST_PROP(RotationProperty, LogarithmUndoesExponential, ()) {
  RandomStream random = AnyStream();
  const Vec3 v = AnyAngle(random) * AnyDirection(random);
  const Vec3 back = RotationVector(FromRotationVector(v));
  // Near half a turn the cosine of half the angle is lost in its last bit: an absolute bound.
  RC_ASSERT((back - v).norm() <= 1e-15 + 4e-15 * v.norm());
}

RC_GTEST_PROP(RotationProperty, ExponentialUndoesLogarithm, ()) {
  RandomStream random = AnyStream();
  const Quat q = AnyRotation(random);
  RC_ASSERT(AngleBetween(FromRotationVector(RotationVector(q)), q) < 1e-14);
}

RC_GTEST_PROP(RotationProperty, ExponentialIsTheTurnAboutItsAxis, ()) {
  RandomStream random = AnyStream();
  const Vec3 axis = AnyDirection(random);
  const double angle = random.Uniform(-20, 20);
  const Quat q = FromRotationVector(angle * axis);
  RC_ASSERT(std::abs(q.norm() - 1) < 1e-15);
  const Mat3 expected = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
  RC_ASSERT((q.toRotationMatrix() - expected).norm() < 1e-13);
}

RC_GTEST_PROP(RotationProperty, TurningAboutAnAxisIsTheProductWithThatTurn, ()) {
  RandomStream random = AnyStream();
  const Quat q = AnyRotation(random);
  const int axis = *rc::gen::inRange(0, 3);
  const double angle = random.Uniform(-4 * kPi, 4 * kPi);
  Quat turned = q;
  TurnAboutAxis(turned, axis, angle);
  RC_ASSERT((turned.coeffs() - (q * AxisRotation(axis, angle)).coeffs()).norm() < 1e-15);
}

RC_GTEST_PROP(RotationProperty, SignOfTheQuaternionDoesNotMatter, ()) {
  RandomStream random = AnyStream();
  const Quat a = AnyRotation(random);
  const Quat b = AnyRotation(random);
  RC_ASSERT(RotationVector(a) == RotationVector(Negated(a)));
  RC_ASSERT(AngleBetween(a, b) == AngleBetween(Negated(a), b));
  const double t = random.Uniform();
  RC_ASSERT(AngleBetween(Nlerp(a, b, t), Nlerp(a, Negated(b), t)) < 1e-14);
}

RC_GTEST_PROP(RotationProperty, AngleIsTheLengthOfTheRotationVector, ()) {
  RandomStream random = AnyStream();
  const Quat a = AnyRotation(random);
  const Vec3 v = AnyAngle(random) * AnyDirection(random);
  RC_ASSERT(std::abs(AngleBetween(FromRotationVector(v) * a, a) - v.norm()) < 1e-14);
  RC_ASSERT(std::abs(AngleBetween(a, FromRotationVector(v) * a) - v.norm()) < 1e-14);
}

TEST(Rotation, HalfATurnHasTheLengthPi) {
  for (const Vec3& axis : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(0.6, 0, 0.8)}) {
    const Vec3 v = RotationVector(Quat(0, axis.x(), axis.y(), axis.z()));
    EXPECT_NEAR(v.norm(), kPi, 1e-15);
    EXPECT_NEAR(v.cross(axis).norm(), 0, 1e-15);
  }
}

TEST(Rotation, IdentityHasNoVector) {
  EXPECT_EQ(RotationVector(Quat::Identity()), Vec3::Zero());
  EXPECT_EQ(RotationVector(Quat(-1, 0, 0, 0)), Vec3::Zero());
  EXPECT_EQ(FromRotationVector(Vec3::Zero()).coeffs(), Quat::Identity().coeffs());
}

TEST(Rotation, BeyondHalfATurnTheShorterWayIsTaken) {
  const Vec3 v = RotationVector(FromRotationVector(Vec3(0, kPi + 0.5, 0)));
  EXPECT_NEAR((v - Vec3(0, 0.5 - kPi, 0)).norm(), 0, 1e-14);
}

TEST(Rotation, AxisRotationTurnsByTheRightHand) {
  EXPECT_NEAR((AxisRotation(0, kPi / 2) * Vec3::UnitY() - Vec3::UnitZ()).norm(), 0, 1e-15);
  EXPECT_NEAR((AxisRotation(1, kPi / 2) * Vec3::UnitZ() - Vec3::UnitX()).norm(), 0, 1e-15);
  EXPECT_NEAR((AxisRotation(2, kPi / 2) * Vec3::UnitX() - Vec3::UnitY()).norm(), 0, 1e-15);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double angle : {-3.0, -1e-9, 0.0, 0.7, 3.1}) {
      EXPECT_LT(AngleBetween(AxisRotation(axis, angle), FromRotationVector(angle * Vec3::Unit(axis))), 1e-15);
    }
  }
}

TEST(Rotation, DegreesAndRadians) {
  EXPECT_DOUBLE_EQ(Radians(180), kPi);
  EXPECT_DOUBLE_EQ(Degrees(Radians(12.5)), 12.5);
}

RC_GTEST_PROP(ShortestArcProperty, TurnsOneDirectionIntoTheOther, ()) {
  RandomStream random = AnyStream();
  const Vec3 from = random.Uniform(0.1, 10) * AnyDirection(random);
  const Vec3 to = random.Uniform(0.1, 10) * AnyDirection(random);
  const Quat q = ShortestArc(from, to);
  RC_ASSERT((q * from.normalized() - to.normalized()).norm() < 1e-7);
  // The shortest: about an axis perpendicular to both, by the angle between them.
  const double angle = std::atan2(from.cross(to).norm(), from.dot(to));
  RC_ASSERT(std::abs(AngleBetween(q, Quat::Identity()) - angle) < 1e-7);
  RC_ASSERT(std::abs(q.vec().dot(from.normalized())) < 1e-7);
}

RC_GTEST_PROP(ShortestArcProperty, NearlyAndExactlyOppositeDirections, ()) {
  RandomStream random = AnyStream();
  const Vec3 from = AnyDirection(random);
  const double off = random.Uniform() < 0.3 ? 0 : std::pow(10, random.Uniform(-16, -3));
  const Vec3 to = -random.Uniform(0.1, 10) * (from + off * AnyDirection(random));
  const Quat q = ShortestArc(from, to);
  RC_ASSERT(std::abs(q.norm() - 1) < 1e-12);
  RC_ASSERT((q * from - to.normalized()).norm() < 1e-5);
}

RC_GTEST_PROP(TwistProperty, SplitsARotationInSwingAndTwist, ()) {
  RandomStream random = AnyStream();
  const Quat q = AnyRotation(random);
  const Vec3 axis = AnyDirection(random);
  RC_PRE(std::hypot(q.w(), q.vec().dot(axis)) > 1e-3);
  const Quat twist = Twist(q, axis);
  RC_ASSERT(std::abs(twist.norm() - 1) < 1e-12);
  RC_ASSERT(twist.vec().cross(axis).norm() < 1e-12);  // about the axis alone
  const Quat swing = q * twist.conjugate();
  RC_ASSERT(std::abs(swing.vec().dot(axis)) < 1e-9);  // about an axis perpendicular to it
  RC_ASSERT(AngleBetween(Twist(twist, axis), twist) < 1e-9);
}

TEST(Twist, HalfATurnAcrossTheAxisHasNoTwist) {
  EXPECT_EQ(Twist(Quat(0, 1, 0, 0), Vec3::UnitY()).coeffs(), Quat::Identity().coeffs());
}

RC_GTEST_PROP(HeadingProperty, OfATurnAboutTheVerticalIsTheTurn, ()) {
  RandomStream random = AnyStream();
  const double angle = random.Uniform(-3.1, 3.1);
  RC_ASSERT(AngleBetween(Heading(AxisRotation(1, angle)), AxisRotation(1, angle)) < 1e-14);
}

RC_GTEST_PROP(HeadingProperty, TurnsWithTheWorld, ()) {
  RandomStream random = AnyStream();
  const Quat q = AnyRotation(random);
  RC_PRE(std::hypot(q.w(), q.y()) > 1e-3);
  const Quat yaw = AxisRotation(1, random.Uniform(-3, 3));
  RC_ASSERT(AngleBetween(Heading(yaw * q), yaw * Heading(q)) < 1e-9);
}

TEST(Heading, LeaningDoesNotChangeIt) {
  for (int axis : {0, 2}) {
    EXPECT_LT(AngleBetween(Heading(AxisRotation(1, 0.8) * AxisRotation(axis, 0.6)), AxisRotation(1, 0.8)), 1e-14);
  }
}

RC_GTEST_PROP(NlerpProperty, EndsAtItsEndsAndStaysCloseToTheSphericalOne, ()) {
  RandomStream random = AnyStream();
  const Quat a = AnyRotation(random);
  const double step = random.Uniform(0, 0.5);
  const Quat b = FromRotationVector(step * AnyDirection(random)) * a;
  RC_ASSERT(AngleBetween(Nlerp(a, b, 0), a) < 1e-14);
  RC_ASSERT(AngleBetween(Nlerp(a, b, 1), b) < 1e-14);
  const double t = random.Uniform();
  const Quat exact(Eigen::Quaterniond(a).slerp(t, Eigen::Quaterniond(b)));
  RC_ASSERT(AngleBetween(Nlerp(a, b, t), exact) <= step * step * step + 1e-14);
  RC_ASSERT(AngleBetween(Nlerp(a, b, 0.5), Quat(Eigen::Quaterniond(a).slerp(0.5, Eigen::Quaterniond(b)))) < 1e-14);
}

RC_GTEST_PROP(FromAxesProperty, ColumnsComeBack, ()) {
  RandomStream random = AnyStream();
  const Quat q = AnyRotation(random);
  const Mat3 m = q.toRotationMatrix();
  RC_ASSERT(AngleBetween(FromAxes(m.col(0), m.col(1), m.col(2)), q) < 1e-7);
}

RC_GTEST_PROP(MeanRotationProperty, OfOneAndOfEqualOnes, ()) {
  RandomStream random = AnyStream();
  const Quat q = AnyRotation(random);
  const std::vector<Quat> same = {q, Negated(q), q};
  RC_ASSERT(AngleBetween(MeanRotation(same, {}), q) < 1e-7);
}

RC_GTEST_PROP(MeanRotationProperty, LiesHalfWayAndTurnsWithTheWorld, ()) {
  RandomStream random = AnyStream();
  const Quat a = AnyRotation(random);
  const Quat b = FromRotationVector(random.Uniform(0.01, 2.5) * AnyDirection(random)) * a;
  const std::vector<Quat> two = {a, Negated(b)};
  const Quat mean = MeanRotation(two, {});
  RC_ASSERT(std::abs(AngleBetween(mean, a) - 0.5 * AngleBetween(a, b)) < 1e-7);
  RC_ASSERT(std::abs(AngleBetween(mean, b) - 0.5 * AngleBetween(a, b)) < 1e-7);
  const Quat turn = AnyRotation(random);
  const std::vector<Quat> turned = {turn * a, turn * b};
  RC_ASSERT(AngleBetween(MeanRotation(turned, {}), turn * mean) < 1e-7);
}

TEST(MeanRotation, WeightsCountAsRepetitions) {
  const std::vector<Quat> two = {AxisRotation(0, 0.2), AxisRotation(1, 0.9)};
  const std::vector<Quat> four = {two[0], two[0], two[0], two[1]};
  const std::vector<double> weights = {3, 1};
  EXPECT_LT(AngleBetween(MeanRotation(two, weights), MeanRotation(four, {})), 1e-12);
  EXPECT_LT(AngleBetween(MeanRotation(two, std::vector<double>{1, 0}), two[0]), 1e-12);
}

}  // namespace
}  // namespace retrace
