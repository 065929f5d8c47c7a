/// The table of what a motion requires, by a motion whose numbers can be written down by hand.
#include "retrace/results/required_forces_table.h"

#include <gtest/gtest.h>

#include "results/sample_motion.h"
#include "retrace/results/tables.h"

namespace retrace::results {
namespace {

TEST(RequiredForcesTable, HasAColumnForEachNumber) {
  const character::Character character = SmallCharacter();
  metrics::RequiredForces air;
  air.time = 0.5;
  air.torques = {Vec3(3, 0, 0), Vec3(0.1, 0.2, 0.3)};
  air.powers = {-4, 5};
  metrics::RequiredForces ground = air;
  ground.time = 0.75;
  ground.center_of_mass = Vec3(1, 2, 3);
  ground.force = Vec3(10, 20, 30);
  ground.moment = Vec3(40, 50, 60);
  ground.missing_force = Vec3(7, 8, 9);
  ground.missing_moment = Vec3(-7, -8, -9);
  ground.support = {{1, Vec3(3, 12, 21), Vec3(0.25, 0, 0.5), 1.5}};
  const std::string text = FormatRequiredForces(character, {air, ground});
  EXPECT_EQ(text,
            "time,com_x,com_y,com_z,force_x,force_y,force_z,moment_x,moment_y,moment_z,missing_force_x,missing_force_y,"
            "missing_force_z,missing_moment_x,missing_moment_y,missing_moment_z,left_arm_force_x,left_arm_force_y,"
            "left_arm_force_z,left_arm_center_x,left_arm_center_z,left_arm_free_moment,left_shoulder_x,neck_x,neck_y,"
            "neck_z,left_shoulder_power,neck_power\n"
            "0.5,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,,,0,3,0.1,0.2,0.3,-4,5\n"
            "0.75,1,2,3,10,20,30,40,50,60,7,8,9,-7,-8,-9,3,12,21,0.25,0.5,1.5,3,0.1,0.2,0.3,-4,5\n");
  const Table table = ParseTable(text, "forces.csv");
  EXPECT_EQ(table.num_rows(), 2u);
  EXPECT_EQ(table.Numbers("left_arm_force_y")[1], 12);
}

}  // namespace
}  // namespace retrace::results
