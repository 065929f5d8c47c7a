/// Each term of the cost against numbers worked out by hand, one thing moved at a time.
#include "retrace/task/cost.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "task/synthetic_motion.h"

namespace retrace::task {
namespace {

using character::State;

constexpr double kTolerance = 1e-12;

class Cost : public testing::Test {
 protected:
  Cost() {
    character::ForwardKinematics(Human(), SquatPose(0.5), reference_);
    for (size_t b = 0; b < reference_.size(); ++b) {
      const double i = static_cast<double>(b);
      reference_[b].linear_velocity = Vec3(0.1 * i, -0.02 * i, 0.3);
      reference_[b].angular_velocity = Vec3(0.2, 0.05 * i, -0.1 * i);
    }
    state_ = reference_;
  }

  CostTerms Terms() const { return CostReference(Human(), reference_, options_).Evaluate(state_); }
  void Expect(double pose, double root, double end_effector, double balance) const {
    const CostTerms terms = Terms();
    EXPECT_NEAR(terms.pose, pose, kTolerance);
    EXPECT_NEAR(terms.root, root, kTolerance);
    EXPECT_NEAR(terms.end_effector, end_effector, kTolerance);
    EXPECT_NEAR(terms.balance, balance, kTolerance);
  }

  const double joints_ = static_cast<double>(Human().joints.size());
  const double effectors_ = static_cast<double>(Human().end_effectors.size());
  CostOptions options_;
  State reference_;
  State state_;
};

TEST_F(Cost, IsZeroAtTheReference) {
  Expect(0, 0, 0, 0);
}

TEST_F(Cost, IgnoresWhereInTheWorldTheCharacterIs) {
  character::Translate(state_, Vec3(3, 0, -7));
  Expect(0, 0, 0, 0);
}

TEST_F(Cost, JointsCountByTheirWeights) {  // eq. 2, w_i
  const size_t hand = BodyIndex("left_hand");
  state_[hand].orientation = state_[hand].orientation * AxisRotation(0, 0.3);
  const CostTerms even = Terms();
  EXPECT_NEAR(even.pose, 0.3 / joints_, 1e-9);
  std::vector<double> weights(Human().joints.size(), 1);
  weights[static_cast<size_t>(Human().JointOf(static_cast<int>(hand)))] = 4;
  const CostReference weighted(Human(), reference_, options_, weights);
  EXPECT_NEAR(weighted.Evaluate(state_).pose, 4 * 0.3 / joints_, 1e-9);
  character::Character character = Human();
  for (character::Joint& joint : character.joints) joint.cost_weight = 0.5;
  EXPECT_NEAR(CostReference(character, reference_, options_).Evaluate(state_).pose, 0.5 * even.pose, kTolerance);
}

TEST_F(Cost, EndEffectorsCountByHeight) {  // eq. 4
  character::Translate(state_, Vec3(0, 0.07, 0));
  Expect(0, 0, 0.07, 0);
  character::Translate(state_, Vec3(0, -0.17, 0));
  Expect(0, 0, 0.10, 0);
}

TEST_F(Cost, OneEndEffectorHigher) {
  // A hand that is dislocated upwards: no rotation changes; the center of mass moves straight up.
  state_[BodyIndex("left_hand")].position.y() += 0.12;
  Expect(0, 0, 0.12 / effectors_, 0);
}

TEST_F(Cost, OneEndEffectorAside) {  // eq. 5, first part
  const size_t hand = BodyIndex("left_hand");
  state_[hand].position += Vec3(0.03, 0, -0.04);
  // The center of mass follows by the hand's share of the mass; seen from the others it moves by that, seen from the
  // hand by the rest.
  const double share = Human().bodies[hand].mass / Human().total_mass();
  const double moved = 0.05 * (1 - share) + (effectors_ - 1) * 0.05 * share;
  Expect(0, 0, 0, moved / (Human().height * effectors_));
}

TEST_F(Cost, VelocityOfTheCenterOfMass) {  // eq. 5, second part
  for (auto& body : state_) body.linear_velocity += Vec3(0.3, 0, 0.4);
  Expect(0, 0, 0, 0.4 * 0.5);
  options_.balance_velocity = 0.1;  // the paper's
  Expect(0, 0, 0, 0.1 * 0.5);
}

TEST_F(Cost, AngleOfOneJoint) {  // eq. 2
  // The head turns about itself; its center stays.
  auto& head = state_[BodyIndex("head")];
  head.orientation = head.orientation * FromRotationVector(Vec3(0.3, 0.4, 0));
  Expect(0.5 / joints_, 0, 0, 0);
}

TEST_F(Cost, AnglesNeverExceedHalfATurn) {
  auto& head = state_[BodyIndex("head")];
  head.orientation = head.orientation * AxisRotation(1, 2 * kPi - 0.25);
  Expect(0.25 / joints_, 0, 0, 0);
  head.orientation.coeffs() *= -1;  // the same rotation
  Expect(0.25 / joints_, 0, 0, 0);
}

TEST_F(Cost, RateOfOneJoint) {
  state_[BodyIndex("head")].angular_velocity += Vec3(0.3, -0.4, 0);
  Expect(0.1 * 0.5 / joints_, 0, 0, 0);
}

TEST_F(Cost, RateOfAJointInTheMiddleCountsOnBothSides) {
  state_[BodyIndex("left_shin")].angular_velocity += Vec3(0, 0, 2);
  Expect(2 * 0.1 * 2 / joints_, 0, 0, 0);
}

TEST_F(Cost, RootCountsByItself) {  // eq. 3
  auto& pelvis = state_[BodyIndex("pelvis")];
  pelvis.angular_velocity += Vec3(0, 1.5, 0);
  // All joints of the pelvis see its rate too: the waist and the hips.
  Expect(3 * 0.1 * 1.5 / joints_, 0.1 * 1.5, 0, 0);
}

TEST_F(Cost, TurningEverythingTurnsTheRootAndNoJoint) {
  // About the vertical through the center of mass, with all velocities.
  const Quat turn = AxisRotation(1, 0.4);
  const Vec3 center = character::CenterOfMass(Human(), reference_);
  double away = 0;
  for (auto& body : state_) {
    body.position = center + turn * (body.position - center);
    body.orientation = turn * body.orientation;
    body.linear_velocity = turn * body.linear_velocity;
    body.angular_velocity = turn * body.angular_velocity;
  }
  for (const int effector : Human().end_effectors) {
    Vec3 arm = reference_[static_cast<size_t>(effector)].position - center;
    arm.y() = 0;
    away += 2 * std::sin(0.2) * arm.norm();
  }
  const Vec3 rate = reference_[static_cast<size_t>(Human().root)].angular_velocity;
  const Vec3 velocity = character::CenterOfMassVelocity(Human(), reference_);
  const double turned = options_.balance_velocity * (turn * velocity - velocity).norm();
  Expect(0, 0.4 + 0.1 * (turn * rate - rate).norm(), 0, away / (Human().height * effectors_) + turned);
  // Places of end effectors are seen in the heading of the root and do not change.
  options_.effector_position = 2;
  Expect(0, 0.4 + 0.1 * (turn * rate - rate).norm(), 0, away / (Human().height * effectors_) + turned);
}

TEST_F(Cost, PlacesOfEndEffectorsAboutTheCenterOfMass) {
  const size_t hand = BodyIndex("left_hand");
  const double share = Human().bodies[hand].mass / Human().total_mass();
  // Straight up: the horizontal part of eq. 5 sees nothing. The center of mass follows by the hand's share.
  state_[hand].position.y() += 0.05;
  const double moved = 0.05 * (1 - share) + (effectors_ - 1) * 0.05 * share;
  options_.effector_position = 2;
  Expect(0, 0, 0.05 / effectors_, 2 * moved / (Human().height * effectors_));
  // Aside both parts count.
  state_ = reference_;
  state_[hand].position += Vec3(0.03, 0, -0.04);
  Expect(0, 0, 0, (1 + 2) * moved / (Human().height * effectors_));
  // A body that is elsewhere as a whole has its end effectors in place.
  state_ = reference_;
  character::Translate(state_, Vec3(1, 0, -2));
  Expect(0, 0, 0, 0);
}

TEST_F(Cost, DriftIsTheHorizontalDistanceOfTheCenterOfMass) {
  EXPECT_EQ(Terms().drift, 0);
  character::Translate(state_, Vec3(0.3, 0.5, -0.4));
  EXPECT_NEAR(Terms().drift, 0.5 / Human().height, kTolerance);
  state_ = reference_;
  const size_t hand = BodyIndex("left_hand");
  state_[hand].position.x() += 0.1;
  EXPECT_NEAR(Terms().drift, 0.1 * Human().bodies[hand].mass / Human().total_mass() / Human().height, kTolerance);
}

TEST(CostTerms, TotalIsTheWeightedSum) {
  const CostTerms terms{0.1, 0.2, 0.3, 0.4, 0.5};
  EXPECT_DOUBLE_EQ(terms.Total({5, 3, 30, 10}), 0.5 + 0.6 + 9 + 4) << "drift is no term of the paper's";
  EXPECT_DOUBLE_EQ(terms.Total({5, 3, 30, 10, 2}), 0.5 + 0.6 + 9 + 4 + 1);
  EXPECT_EQ(terms.Total({0, 0, 0, 0, 0}), 0);
}

TEST(CostTerms, AddUpTermByTerm) {
  CostTerms sum{1, 2, 3, 4, 5};
  sum += CostTerms{0.1, 0.2, 0.3, 0.4, 0.5}.Weighted({10, 20, 30, 40, 50});
  EXPECT_DOUBLE_EQ(sum.pose, 2);
  EXPECT_DOUBLE_EQ(sum.root, 6);
  EXPECT_DOUBLE_EQ(sum.end_effector, 12);
  EXPECT_DOUBLE_EQ(sum.balance, 20);
  EXPECT_DOUBLE_EQ(sum.drift, 30);
}

TEST(CostTerms, EachHasAName) {
  const CostTerms terms{1, 2, 3, 4, 5, 6};
  const CostWeights weights{10, 20, 30, 40, 50, 60};
  std::vector<std::string> names;
  double expected = 0;
  for (size_t t = 0; t < kCostTerms.size(); ++t) {
    names.emplace_back(kCostTerms[t].name);
    EXPECT_EQ(terms.*kCostTerms[t].value, static_cast<double>(t + 1));
    EXPECT_EQ(weights.*kCostTerms[t].weight, static_cast<double>(10 * (t + 1)));
    expected += 10 * static_cast<double>((t + 1) * (t + 1));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"pose", "root", "end_effector", "balance", "drift", "smoothness"}));
  EXPECT_EQ(sizeof(CostTerms), kCostTerms.size() * sizeof(double)) << "a term without a name";
  EXPECT_EQ(sizeof(CostWeights), kCostTerms.size() * sizeof(double)) << "a weight without a name";
  EXPECT_EQ(terms.Total(weights), expected);
}

TEST(CostTerms, TwiceTheWeightIsTwiceTheCost) {
  const CostTerms terms{0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  for (const CostTerm& term : kCostTerms) {
    CostWeights only{0, 0, 0, 0, 0, 0};
    only.*term.weight = 7;
    EXPECT_DOUBLE_EQ(terms.Total(only), 7 * terms.*term.value);
    CostWeights twice = only;
    twice.*term.weight *= 2;
    EXPECT_DOUBLE_EQ(terms.Total(twice), 2 * terms.Total(only));
  }
}

}  // namespace
}  // namespace retrace::task
