/// No memory is allocated by what is computed from a motion.
#include <gtest/gtest.h>

#include "allocations.h"
#include "dynamics/sample_motion.h"
#include "retrace/dynamics/character_dynamics.h"

namespace retrace::dynamics {
namespace {

#if RETRACE_COUNTS_MALLOC
TEST(Allocation, IsCounted) {
  const size_t before = allocations;
  std::vector<int> numbers(1000);
  volatile int* const kept = numbers.data();  // or the compiler sees that nobody needs it
  kept[0] = 1;
  EXPECT_EQ(allocations, before + 1);
}

TEST(Allocation, NoneAfterConstruction) {
  for (const char* name : kCharacters) {
    const character::Character& character = Bundled(name);
    CharacterDynamics dynamics(character, 9.81);
    const Coordinates& coordinates = dynamics.coordinates();
    const int n = dynamics.size();
    RandomStream random(1, RandomStage::kTest, 0, 0);
    Motion motion = AnyMotion(coordinates, random);
    character::Pose pose = motion.pose;
    Eigen::MatrixXd mass(n, n), jacobian(3, n), momentum(6, n);
    Eigen::VectorXd forces(n), acceleration = AnyVector(random, n, 1);
    std::vector<Wrench> wrenches(character.bodies.size());
    const int hand = static_cast<int>(character.bodies.size()) - 1;
    Vec3 sum = Vec3::Zero();
    const size_t before = allocations;
    coordinates.StateOf(motion.pose, motion.velocity, motion.state);
    coordinates.PoseOf(motion.state, pose);
    coordinates.VelocityOf(motion.state, motion.velocity);
    coordinates.Advance(motion.velocity, pose);
    coordinates.Difference(motion.pose, pose, motion.velocity);
    dynamics.SetMotion(motion.state);
    dynamics.SetMotion(motion.pose, motion.velocity);
    dynamics.MassMatrix(mass);
    dynamics.BiasForces(forces);
    dynamics.AddForce(hand, Vec3(1, 2, 3), Vec3(3, 2, 1), wrenches);
    dynamics.InverseDynamics(acceleration, wrenches, forces);
    dynamics.ForwardDynamics(forces, wrenches, acceleration);
    dynamics.PointJacobian(hand, Vec3(1, 2, 3), jacobian);
    dynamics.AngularJacobian(hand, jacobian);
    dynamics.CenterOfMassJacobian(jacobian);
    dynamics.MomentumMatrix(momentum);
    sum += dynamics.PointBias(hand, Vec3(1, 2, 3)) + dynamics.AngularBias(hand) + dynamics.CenterOfMassBias() +
           dynamics.MomentumBias().head<3>() + dynamics.LinearMomentum() + dynamics.AngularMomentum() +
           dynamics.CompositeInertia(hand).center;
    sum.x() += dynamics.KineticEnergy() + dynamics.PotentialEnergy();
    EXPECT_EQ(allocations - before, 0u) << name;
    EXPECT_TRUE(sum.allFinite());
  }
}
#else
TEST(Allocation, IsCounted) {
  GTEST_SKIP() << "malloc cannot be counted in this build";
}
#endif

}  // namespace
}  // namespace retrace::dynamics
