/// Plans of one instant: the two forms against one another, statics, limits, cones of friction.
#include "retrace/methods/tracking/plan.h"

#include <gtest/gtest.h>

#include <array>

#include "dynamics/sample_motion.h"
#include "retrace/dynamics/character_dynamics.h"
#include "retrace/math/rotation.h"

namespace retrace::tracking {
namespace {

using dynamics::AnyMotion;
using dynamics::AnyVector;
using dynamics::Bundled;
constexpr auto kOptimal = optimization::Status::kOptimal;

RandomStream AnyNumbers(uint32_t number) {
  return {11, RandomStage::kTest, number, 0};
}

/// Places of contacts, all with normals upwards.
using Places = std::vector<std::pair<int, Vec3>>;

/// Corners of the soles of the human's feet.
Places Soles(const character::Character& character, const character::State& state) {
  Places places;
  for (const char* name : {"left_foot", "right_foot"}) {
    const int body = character.FindBody(name);
    const character::BodyState& foot = state[static_cast<size_t>(body)];
    const Vec3 half = character.bodies[static_cast<size_t>(body)].shapes[0].HalfExtents();
    for (const double x : {-1, 1}) {
      for (const double z : {-1, 1}) {
        places.emplace_back(body, foot.position + foot.orientation * Vec3(x * half.x(), -half.y(), z * half.z()));
      }
    }
  }
  return places;
}

Dynamics InstantOf(const character::Character& character, const character::State& state, const Places& places,
                   double friction = 0.7) {
  dynamics::CharacterDynamics dynamics(character);
  dynamics.SetMotion(state);
  Dynamics instant;
  instant.Resize(dynamics.size(), static_cast<int>(places.size()));
  dynamics.MassMatrix(instant.mass);
  dynamics.BiasForces(instant.bias);
  instant.root_axes = dynamics.RootAxes();
  instant.num_held = dynamics.num_held();
  for (size_t c = 0; c < places.size(); ++c) {
    const auto row = 3 * static_cast<Eigen::Index>(c);
    dynamics.PointJacobian(places[c].first, places[c].second, instant.jacobian.middleRows<3>(row));
    instant.slip.segment<3>(row) = dynamics.PointBias(places[c].first, places[c].second);
    instant.cone.middleRows<3>(row) = FrictionCone(Vec3::UnitY(), friction);
  }
  return instant;
}

/// The human stands on flat soles in its rest pose.
character::State RestState() {
  const character::Character& human = Bundled("human");
  return character::StateOf(human, character::RestPose(human));
}

TEST(FrictionCone, EdgesHaveUnitLengthAndTheSlopeOfTheFriction) {
  RandomStream random = AnyNumbers(1);
  for (int k = 0; k < 100; ++k) {
    const Vec3 normal = (character::RandomRotation(random) * Vec3::UnitY()).normalized();
    const double friction = random.Uniform(0.1, 2);
    const auto cone = FrictionCone(normal, friction);
    Vec3 sum = Vec3::Zero();
    for (int edge = 0; edge < 4; ++edge) {
      EXPECT_NEAR(cone.col(edge).norm(), 1, 1e-12);
      const double along = cone.col(edge).dot(normal);
      EXPECT_NEAR((cone.col(edge) - along * normal).norm() / along, friction, 1e-12);
      sum += cone.col(edge);
    }
    EXPECT_NEAR(sum.normalized().dot(normal), 1, 1e-12);
  }
}

TEST(Plan, CountsVariablesAsTable4DoesInBothForms) {
  // Seven sizes: 18 degrees of freedom with 0, 2, 4, 8 contacts, 57 with 9, 10, 11.
  for (const auto& [freedoms, contacts, variables] : std::vector<std::array<int, 3>>{
           {18, 0, 36}, {18, 2, 44}, {18, 4, 52}, {18, 8, 68}, {57, 9, 150}, {57, 10, 154}, {57, 11, 158}}) {
    EXPECT_EQ(NumPaperVariables(freedoms, contacts), variables);
    // Any positive definite mass matrix will do.
    RandomStream random = AnyNumbers(static_cast<uint32_t>(variables));
    Dynamics instant;
    instant.Resize(freedoms, contacts);
    Eigen::MatrixXd root(freedoms, freedoms);
    for (double& number : root.reshaped()) number = random.Uniform(-1, 1);
    instant.mass = root * root.transpose() + Eigen::MatrixXd::Identity(freedoms, freedoms);
    instant.bias = AnyVector(random, freedoms, 10);
    instant.desired = AnyVector(random, freedoms, 10);
    for (double& number : instant.jacobian.reshaped()) number = random.Uniform(-1, 1);
    for (int c = 0; c < contacts; ++c) instant.cone.middleRows<3>(3 * c) = FrictionCone(Vec3::UnitY(), 0.8);
    Planner planner;
    const Plan& paper = planner.Solve(instant, Planner::Form::kPaper);
    ASSERT_EQ(paper.status, kOptimal);
    EXPECT_EQ(paper.num_variables, variables);
    const Eigen::VectorXd acceleration = paper.acceleration;
    const Plan& reduced = planner.Solve(instant);
    ASSERT_EQ(reduced.status, kOptimal);
    EXPECT_EQ(reduced.num_variables, variables - freedoms);
    const double scale = 1 + acceleration.cwiseAbs().maxCoeff();
    EXPECT_LT((reduced.acceleration - acceleration).cwiseAbs().maxCoeff(), 1e-5 * scale);
  }
}

/// The first four sizes of Table 4, and what it means to be held in a plane.
TEST(Plan, OfThePlanarHumanHasTheSizesOfTable4AndStaysInThePlane) {
  const character::Character& planar = Bundled("planar_human");
  ASSERT_EQ(planar.dof(), 18);
  const dynamics::Coordinates coordinates(planar);
  for (const auto& [contacts, variables] : {std::pair(0, 36), std::pair(2, 44), std::pair(4, 52), std::pair(8, 68)}) {
    RandomStream random = AnyNumbers(static_cast<uint32_t>(300 + contacts));
    character::Pose pose = character::RestPose(planar);
    pose.root_orientation = AxisRotation(1, 0.4) * AxisRotation(0, 0.2);
    for (Quat& rotation : pose.joint_rotations) rotation = AxisRotation(0, random.Uniform(-0.3, 0.3));
    Eigen::VectorXd velocity = AnyVector(random, 18, 1);
    velocity.head<6>().setZero();
    character::State state;
    coordinates.StateOf(pose, velocity, state);
    Places places = Soles(planar, state);
    places.resize(static_cast<size_t>(contacts));
    Dynamics instant = InstantOf(planar, state, places);
    instant.desired = AnyVector(random, 18, 30);
    Planner planner;
    const Plan paper = planner.Solve(instant, Planner::Form::kPaper);
    const Plan reduced = planner.Solve(instant);
    ASSERT_EQ(paper.status, kOptimal);
    ASSERT_EQ(reduced.status, kOptimal);
    EXPECT_EQ(paper.num_variables, variables);
    EXPECT_EQ(NumPaperVariables(planar.dof(), contacts), variables);
    const double scale = 1 + reduced.acceleration.cwiseAbs().maxCoeff();
    EXPECT_LT((paper.acceleration - reduced.acceleration).cwiseAbs().maxCoeff(), 1e-5 * scale);
    const Eigen::VectorXd held = instant.root_axes.rightCols(3).transpose() * reduced.acceleration.head<6>();
    EXPECT_LT(held.cwiseAbs().maxCoeff(), 1e-9 * scale);
    // The torques and contact forces of the plan, with those that hold the root, have the accelerations of the plan.
    dynamics::CharacterDynamics dynamics(planar);
    dynamics.SetMotion(state);
    std::vector<dynamics::Wrench> wrenches(planar.bodies.size());
    for (size_t c = 0; c < places.size(); ++c) {
      dynamics.AddForce(places[c].first, places[c].second, reduced.force.segment<3>(3 * static_cast<Eigen::Index>(c)),
                        wrenches);
    }
    Eigen::VectorXd acceleration(18);
    dynamics.ForwardDynamics(reduced.torque, wrenches, acceleration);
    EXPECT_LT((acceleration - reduced.acceleration).cwiseAbs().maxCoeff(), 1e-6 * scale);
  }
}

/// How much the two forms of a program differ.
struct Difference {
  double acceleration = 0;  ///< as a share of the largest one
  double residual = 0;      ///< the larger one
};

/// Of the k-th random state of the human, with up to eight contacts. The planner has solved others before.
template <typename Change>
void Compare(uint32_t seed, uint32_t k, const Change& change, Planner& planner, Difference& worst) {
  const character::Character& human = Bundled("human");
  const dynamics::Coordinates coordinates(human);
  RandomStream random = AnyNumbers(seed + k);
  const dynamics::Motion motion = AnyMotion(coordinates, random);
  Places places = Soles(human, motion.state);
  places.resize(k % 9);
  Dynamics instant = InstantOf(human, motion.state, places);
  instant.desired = AnyVector(random, coordinates.size(), 30);
  change(random, instant);
  const Plan paper = planner.Solve(instant, Planner::Form::kPaper);
  const Plan reduced = planner.Solve(instant);
  ASSERT_EQ(paper.status, kOptimal) << k;
  ASSERT_EQ(reduced.status, kOptimal) << k;
  const double scale = 1 + reduced.acceleration.cwiseAbs().maxCoeff();
  worst.acceleration =
      std::max(worst.acceleration, (paper.acceleration - reduced.acceleration).cwiseAbs().maxCoeff() / scale);
  worst.residual = std::max({worst.residual, paper.residual, reduced.residual});
}

TEST(Plan, BothFormsAgreeOnRandomStates) {
  const auto weigh = [](RandomStream&, Dynamics& instant) { instant.weights.segment<3>(3).setConstant(100); };
  Planner planner;
  Difference worst;
  for (uint32_t k = 0; k < 40; ++k) Compare(100, k, weigh, planner, worst);
  EXPECT_LT(worst.acceleration, 1e-5);
  EXPECT_LT(worst.residual, 1e-8);
}

/// Softness, wanted forces and tasks at random.
void AddGoals(RandomStream& random, Dynamics& instant) {
  for (int c = 0; c < instant.num_contacts(); ++c) {
    instant.softness[c] = random.Uniform(0, 0.5);
    instant.normals.middleRows<3>(3 * c) = Vec3::UnitY();
  }
  const int half = instant.num_contacts() / 2;
  if (half > 0) instant.force_goals.push_back({0, half, Vec3(10, 300, -20), random.Uniform(1e-3, 0.1)});
  Task& task = instant.AddTask();
  task.jacobian.resize(3, instant.size());
  for (double& number : task.jacobian.reshaped()) number = random.Uniform(-1, 1);
  task.desired = AnyVector(random, 3, 10);
  task.weight = random.Uniform(0, 100);
}

TEST(Plan, BothFormsAgreeWithSoftContactsAndWantedForces) {
  Planner planner;
  Difference worst;
  for (uint32_t k = 0; k < 20; ++k) Compare(300, k, AddGoals, planner, worst);
  EXPECT_LT(worst.acceleration, 1e-4);
}

TEST(Plan, SoftContactsFollowTheirLaw) {
  const character::Character& human = Bundled("human");
  const character::State state = RestState();
  const Places soles = Soles(human, state);
  Dynamics instant = InstantOf(human, state, soles);
  // Soles that are pressed in so that each point would carry 100 N at rest: J a + b + softness f = 0.
  constexpr double kSoftness = 0.4, kForce = 100;
  for (int c = 0; c < instant.num_contacts(); ++c) {
    instant.softness[c] = kSoftness;
    instant.normals.middleRows<3>(3 * c) = Vec3::UnitY();
    instant.slip[3 * c + 1] -= kSoftness * kForce;
  }
  const Plan plan = Planner().Solve(instant);
  ASSERT_EQ(plan.status, kOptimal);
  const Eigen::VectorXd moved = instant.jacobian * plan.acceleration;
  for (int c = 0; c < instant.num_contacts(); ++c) {
    EXPECT_NEAR(moved[3 * c + 1] + kSoftness * (plan.force[3 * c + 1] - kForce), 0, 0.01);
  }
  EXPECT_LT(plan.slack, 0.01);
}

TEST(Plan, ForcesBecomeWhatIsWantedOfThem) {
  const character::Character& human = Bundled("human");
  const character::State state = RestState();
  const Places soles = Soles(human, state);
  const double weight = human.total_mass() * 9.81;
  Dynamics instant = InstantOf(human, state, soles);
  instant.force_goals.push_back({0, 4, Vec3(0, 0.7 * weight, 0), 1e3});
  instant.force_goals.push_back({4, 4, Vec3(0, 0.5 * weight, 0), 1e3});
  const Plan plan = Planner().Solve(instant);
  ASSERT_EQ(plan.status, kOptimal);
  for (const auto& [first, share] : {std::pair{0, 0.7}, std::pair{4, 0.5}}) {
    double vertical = 0;
    for (int c = first; c < first + 4; ++c) vertical += plan.force[3 * c + 1];
    EXPECT_NEAR(vertical, share * weight, 0.01 * weight);
  }
}

TEST(Plan, InFlightFindsTheAccelerationsThatTorquesHave) {
  const character::Character& human = Bundled("human");
  const dynamics::Coordinates coordinates(human);
  dynamics::CharacterDynamics dynamics(human);
  for (uint32_t k = 0; k < 10; ++k) {
    RandomStream random = AnyNumbers(200 + k);
    const dynamics::Motion motion = AnyMotion(coordinates, random);
    Eigen::VectorXd torque = AnyVector(random, coordinates.size(), 20);
    torque.head<6>().setZero();
    Dynamics instant = InstantOf(human, motion.state, {});
    dynamics.SetMotion(motion.state);
    dynamics.ForwardDynamics(torque, {}, instant.desired);
    const Plan plan = Planner().Solve(instant);
    ASSERT_EQ(plan.status, kOptimal);
    EXPECT_LT((plan.torque - torque).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT((plan.acceleration - instant.desired).cwiseAbs().maxCoeff(),
              1e-9 * instant.desired.cwiseAbs().maxCoeff());
  }
}

TEST(Plan, StandingCarriesTheWeight) {
  const character::Character& human = Bundled("human");
  const character::State state = RestState();
  const Plan plan = Planner().Solve(InstantOf(human, state, Soles(human, state)));
  ASSERT_EQ(plan.status, kOptimal);
  double vertical = 0;
  for (Eigen::Index c = 0; c < 8; ++c) {
    const Vec3 force = plan.force.segment<3>(3 * c);
    EXPECT_GE(force.y(), -1e-9);
    EXPECT_LE(std::abs(force.x()) + std::abs(force.z()), 0.7 * force.y() + 1e-9) << "outside the cone";
    vertical += force.y();
  }
  EXPECT_NEAR(vertical, human.total_mass() * 9.81, 1e-3 * human.total_mass() * 9.81);
  EXPECT_LT(plan.acceleration.cwiseAbs().maxCoeff(), 5e-3) << "but for the weight on forces";
  EXPECT_LT(plan.slack, 1e-3);
}

TEST(Plan, TorquesStayWithinTheLimit) {
  const character::Character& human = Bundled("human");
  const character::State state = RestState();
  Dynamics instant = InstantOf(human, state, Soles(human, state));
  instant.desired.segment<3>(6).setConstant(300);
  const double wanted = Planner().Solve(instant).torque.cwiseAbs().maxCoeff();
  instant.torque_limit = 0.5 * wanted;
  for (const auto form : {Planner::Form::kReduced, Planner::Form::kPaper}) {
    Planner planner;
    const Plan& plan = planner.Solve(instant, form);
    ASSERT_EQ(plan.status, kOptimal);
    EXPECT_NEAR(plan.torque.cwiseAbs().maxCoeff(), instant.torque_limit, 1e-6 * wanted);
  }
}

}  // namespace
}  // namespace retrace::tracking
