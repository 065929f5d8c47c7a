/// Measured ground forces: both formats, and what is refused.
#include "retrace/recordings/force_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "recordings/plate_tables.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::motion {
namespace {

using testing::HasSubstr;

const std::string kTable =
    "time,left_fx_N,left_fy_N,left_fz_N,left_copx_m,left_copy_m,left_copz_m,right_fx_N,right_fy_N,right_fz_N,valid\n"
    "0,1,2,3,0.1,0,0.3,4,5,6,1\n"
    "0.01,-1,20,0,0.2,0,0.4,0,0,0,0\n";

std::string StorageHeader(size_t columns) {
  return "grf.mot\nversion=1\nnRows=2\nnColumns=" + std::to_string(columns) + "\ninDegrees=yes\nendheader\n";
}

/// A storage file of two rows with these columns after the time, which hold 1, 2, 3 and so on, times the row.
std::string Storage(const std::vector<std::string>& columns) {
  std::string text = StorageHeader(columns.size() + 1) + "time";
  for (const std::string& column : columns) text += "\t" + column;
  for (int row = 1; row <= 2; ++row) {
    text += "\n" + std::to_string(row);
    for (size_t c = 0; c < columns.size(); ++c) text += "\t" + std::to_string(row * static_cast<int>(c + 1));
  }
  return text + "\n";
}

std::vector<std::string> Vector(const std::string& prefix) {
  return {prefix + "x", prefix + "y", prefix + "z"};
}

std::vector<std::string> Join(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(MeasuredForces, ReadsATable) {
  const MeasuredForces measured = ParseMeasuredForces(kTable, "f.csv");
  EXPECT_THAT(measured.times, testing::ElementsAre(0, 0.01));
  EXPECT_THAT(measured.valid, testing::ElementsAre(true, false));
  ASSERT_EQ(measured.forces.size(), 2u);
  EXPECT_EQ(measured.forces[0].side, Side::kLeft);
  EXPECT_EQ(measured.forces[0].forces[1], Vec3(-1, 20, 0));
  EXPECT_EQ(measured.forces[0].points[0], Vec3(0.1, 0, 0.3));
  EXPECT_EQ(measured.forces[1].side, Side::kRight);
  EXPECT_EQ(measured.forces[1].forces[0], Vec3(4, 5, 6));
  EXPECT_TRUE(measured.forces[1].points.empty());
  EXPECT_TRUE(measured.forces[1].moments.empty());
}

TEST(MeasuredForces, TurnsStorageFilesIntoOurAxes) {
  const auto columns = Join(Join(Vector("ground_force_r_v"), Vector("ground_force_r_p")), Vector("ground_torque_r_"));
  const MeasuredForces measured = ParseMeasuredForces(Storage(columns), "f.mot");
  ASSERT_EQ(measured.forces.size(), 1u);
  EXPECT_EQ(measured.forces[0].side, Side::kRight);
  EXPECT_EQ(measured.forces[0].forces[0], Vec3(-3, 2, 1));  // forward is our z, right our -x
  EXPECT_EQ(measured.forces[0].points[1], Vec3(-12, 10, 8));
  EXPECT_EQ(measured.forces[0].moments[0], Vec3(-9, 8, 7));
  EXPECT_THAT(measured.valid, testing::ElementsAre(true, true));
}

TEST(MeasuredForces, KnowsTheFootFromTheNames) {
  const auto sides = [](const std::vector<std::string>& columns) {
    std::vector<std::optional<Side>> found;
    for (const MeasuredForce& force : ParseMeasuredForces(Storage(columns), "f.mot").forces)
      found.push_back(force.side);
    return found;
  };
  const std::optional<Side> left = Side::kLeft, right = Side::kRight;
  EXPECT_THAT(sides(Join(Vector("L_ground_force_v"), Vector("R_ground_force_v"))), testing::ElementsAre(left, right));
  EXPECT_THAT(sides(Join(Vector("ground_force_calcn_r_v"), Vector("ground_force_left_foot_v"))),
              testing::ElementsAre(right, left));
  EXPECT_THAT(sides(Join(Vector("ground_force_v"), Vector("1_ground_force_v"))), testing::ElementsAre(right, left));
  EXPECT_THAT(sides(Join(Vector("ground_force_1_v"), Vector("ground_force_2_v"))),
              testing::ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(sides(Join(Vector("ground_force_ball_v"), Vector("ground_force_roller_v"))),
              testing::ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(sides(Join(Vector("1_ground_force_v"), Vector("1_ground_moment_m"))), testing::ElementsAre(std::nullopt))
      << "force and moment are of the same plate";
}

TEST(MeasuredForces, KnowsTheNamesOfLaboratories) {
  struct Case {
    const char *force, *point, *moment;
    std::optional<Side> side;
  };
  const Case cases[] = {
      {"ground_force_1_v", "ground_force_1_p", "ground_force_1_m", std::nullopt},  // AddBiomechanics
      {"ground_force_v", "ground_force_p", "ground_torque_", std::nullopt},        // OpenSim's examples
      {"1_ground_force_v", "1_ground_force_p", "1_ground_torque_", std::nullopt},  // their second force
      {"R_ground_force_v", "R_ground_force_p", "R_ground_torque_", Side::kRight},  // OpenCap
      {"ground_force_l_v", "ground_force_l_p", "ground_torque_l_", Side::kLeft},   // Rajagopal
      {"ground_force_calcn_r_v", "ground_force_calcn_r_p", "ground_force_calcn_r_m", Side::kRight},
      {"ground_force_1_v", "ground_force_1_p", "ground_moment_1_m", std::nullopt},  // OpenSim's converter of C3D
      {"ground_force2_v", "ground_force2_p", "ground_torque2_", std::nullopt},
  };
  for (const Case& names : cases) {
    const MeasuredForces measured =
        ParseMeasuredForces(Storage(Join(Join(Vector(names.force), Vector(names.point)), Vector(names.moment))), "f");
    ASSERT_EQ(measured.forces.size(), 1u) << names.force;
    EXPECT_EQ(measured.forces[0].side, names.side) << names.force;
    EXPECT_EQ(measured.forces[0].forces.size(), 2u);
    EXPECT_EQ(measured.forces[0].points.size(), 2u) << names.point;
    EXPECT_EQ(measured.forces[0].moments.size(), 2u) << names.moment;
  }
}

/// A trial of two plates as Vicon Nexus exports it, with a device that is no plate.
std::string Vicon(const std::string& names = "Fx,Fy,Fz,Mx,My,Mz,Cx,Cy,Cz", const std::string& unit = "mm") {
  const std::string rest = ",Fx,Fy,Fz,Cx,Cy,Cz";
  return "Devices\r\n1000\r\n,,Plate 1 - Force,,,Plate 1 - Moment,,,Plate 1 - CoP,,,EMG - Voltage,Plate 2 - Force,,,"
         "Plate 2 - CoP,,\r\nFrame,Sub Frame," +
         names + ",1" + rest + "\r\n,,N,N,N,N.mm,N.mm,N.mm," + unit + "," + unit + "," + unit +
         ",V,N,N,N,mm,mm,mm\r\n"
         "3,0,-10,-20,-700,1,2,3,100,250,0,0.01,0,0,0,0,0,0\r\n"
         "3,1,-11,-21,-600,1,2,3,110,260,0,0.02,1,2,-300,900,800,0\r\n"
         "4,0,-12,-22,-500,1,2,3,120,270,0,0.03,2,3,-400,910,810,0\r\n"
         "\r\nTrajectories\r\n500\r\n,,Bob:LASI,,\r\n";
}

TEST(PlateTables, ViconsDevices) {
  const MeasuredForces measured = ParseMeasuredForces(Vicon(), "walk.csv");
  EXPECT_THAT(measured.times, testing::ElementsAre(0.004, 0.005, 0.006)) << "two samples a frame, the first is 1";
  ASSERT_EQ(measured.forces.size(), 2u);
  EXPECT_EQ(measured.forces[0].name, "Plate 1");
  // z is up in the file, and the forces on the plates are turned into those on the person.
  EXPECT_LT((measured.forces[0].forces[1] - Vec3(11, 600, -21)).norm(), 1e-9)
      << measured.forces[0].forces[1].transpose();
  EXPECT_LT((measured.forces[0].points[1] - Vec3(0.11, 0, -0.26)).norm(), 1e-12);
  EXPECT_FALSE(measured.forces[1].points[0].allFinite()) << "nothing stands on it";
  EXPECT_LT((measured.forces[1].points[2] - Vec3(0.91, 0, -0.81)).norm(), 1e-12);
  // With tabs, as text.
  std::string text = Vicon();
  std::replace(text.begin(), text.end(), ',', '\t');
  EXPECT_EQ(ParseMeasuredForces(text, "walk.txt").forces[1].points[2], measured.forces[1].points[2]);
}

std::string RefusedForces(const std::string& text) {
  try {
    ParseMeasuredForces(text, "f.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PlateTables, WhatIsUnknownInViconsIsRefused) {
  EXPECT_THAT(RefusedForces(Vicon("Fx,Fy,Fzz,Mx,My,Mz,Cx,Cy,Cz")),
              HasSubstr("f.csv:4:23: found the column \"Fzz\", expected Fx, Fy and Fz; did you mean"));
  EXPECT_THAT(RefusedForces(Vicon("Fx,Fy,Fz,Mx,My,Mz,Cx,Cy,Cz", "inch")),
              HasSubstr("f.csv:5:24: found the unit \"inch\", expected mm, cm or m"));
  EXPECT_THAT(
      RefusedForces("Devices\n1000\n,,EMG - Voltage\nFrame,Sub Frame,1\n,,V\n1,0,0.1\n2,0,0.1\n"),
      HasSubstr("found no plate among the devices \"EMG - Voltage\", expected names that end with \" - Force\""));
  EXPECT_THAT(RefusedForces("Devices\nfast\n"), HasSubstr("f.csv:2:1: found \"fast\", expected samples per second"));
  const std::string cut = Vicon().substr(0, Vicon().find("-400"));
  EXPECT_THAT(RefusedForces(cut), HasSubstr("f.csv:8:"));
}

/// A plate as Qualisys Track Manager exports it, turned by 90 degrees in the laboratory.
std::string Qualisys(const std::string& description = "Force data in local (force plate) coordinates",
                     const std::string& names =
                         "Force_X\tForce_Y\tForce_Z\tMoment_X\tMoment_Y\tMoment_Z\tCOP_X\tCOP_Y\t"
                         "COP_Z\n",
                     const std::string& before = "") {
  std::string text = "NO_OF_SAMPLES\t2\nFREQUENCY\t1000\nDESCRIPTION\t" + description + "\nFORCE_PLATE_NAME\tAMTI 1\n";
  const std::pair<const char*, std::array<int, 3>> corners[] = {{"POSX_POSY", {700, 1200, 0}},
                                                                {"NEGX_POSY", {700, 800, 0}},
                                                                {"NEGX_NEGY", {1300, 800, 0}},
                                                                {"POSX_NEGY", {1300, 1200, 0}}};
  for (const auto& [corner, place] : corners) {
    for (size_t axis = 0; axis < 3; ++axis) {
      text +=
          std::string("FORCE_PLATE_CORNER_") + corner + "_" + "XYZ"[axis] + "\t" + std::to_string(place[axis]) + "\n";
    }
  }
  return text + names + before + "10\t20\t-700\t0\t0\t0\t50\t100\t0\t\n" + before + "0\t0\t0\t0\t0\t0\t0\t0\t0\t\n";
}

TEST(PlateTables, QualisysPlates) {
  for (const std::string& text :
       {Qualisys(), Qualisys("Force data in local coordinates", ""), Qualisys("local", "", "1\t0.001\t")}) {
    const MeasuredForces measured = ParseMeasuredForces(text, "walk_f_1.tsv");
    EXPECT_THAT(measured.times, testing::ElementsAre(0, 0.001));
    ASSERT_EQ(measured.forces.size(), 1u);
    EXPECT_EQ(measured.forces[0].name, "AMTI 1");
    // The plate's x is the laboratory's y, and its y the laboratory's -x; z, which is up, becomes y.
    EXPECT_LT((measured.forces[0].forces[0] - Vec3(20, 700, 10)).norm(), 1e-9)
        << measured.forces[0].forces[0].transpose();
    EXPECT_LT((measured.forces[0].points[0] - Vec3(0.9, 0, -1.05)).norm(), 1e-12)
        << measured.forces[0].points[0].transpose();
    EXPECT_FALSE(measured.forces[0].points[1].allFinite());
  }
  const MeasuredForces world = ParseMeasuredForces(Qualisys("Force data in world (lab) coordinates"), "walk_f_1.tsv");
  EXPECT_LT((world.forces[0].points[0] - Vec3(0.05, 0, -0.1)).norm(), 1e-12);
}

TEST(PlateTables, WhatIsUnknownInQualisysIsRefused) {
  EXPECT_THAT(RefusedForces(Qualisys("local", "Force_X\tForce_Q\n")),
              HasSubstr("found the column \"Force_Q\", expected Force_Y; did you mean"));
  std::string text = Qualisys();
  text.erase(text.find("FREQUENCY"), 15);
  EXPECT_THAT(RefusedForces(text), HasSubstr("found no FREQUENCY, expected one"));
  text = Qualisys();
  text.erase(text.find("FORCE_PLATE_CORNER_NEGX_NEGY_Y"), 35);
  EXPECT_THAT(RefusedForces(text), HasSubstr("found no FORCE_PLATE_CORNER_NEGX_NEGY_Y"));
  EXPECT_THAT(RefusedForces(Qualisys("local", "", "1\t")), HasSubstr("found 10 columns, expected 9"));
}

TEST(PlateTables, PlatesInFilesOfTheirOwnBelongTogether) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "plates_of_a_trial";
  std::filesystem::create_directories(folder);
  for (const char* file : {"walk_f_1.tsv", "walk_f_2.tsv", "walk_f_10.tsv", "run_f_3.tsv", "walk.tsv"}) {
    io::WriteFile(folder / file, Qualisys());
  }
  EXPECT_THAT(OtherPlates(folder / "walk_f_2.tsv"),
              testing::ElementsAre(folder / "walk_f_1.tsv", folder / "walk_f_10.tsv"));
  EXPECT_THAT(OtherPlates(folder / "walk.tsv"), testing::IsEmpty());
  const MeasuredForces one = ParseMeasuredForces(Qualisys(), "walk_f_1.tsv");
  MeasuredForces other = one;
  EXPECT_EQ(Together({one, other}, {"walk_f_1.tsv", "walk_f_2.tsv"}).forces.size(), 2u);
  other.times.back() = 0.002;
  EXPECT_THROW(Together({one, other}, {"walk_f_1.tsv", "walk_f_2.tsv"}), InputError);
}

TEST(MeasuredForces, SaysWhichNameIsNearest) {
  try {
    ParseMeasuredForces(Storage(Vector("ground_forze_1_v")), "f");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"ground_force_1_vx\""));
  }
}

TEST(MeasuredForces, APlaceThatIsNoNumberIsNone) {
  std::string text = Storage(Join(Vector("ground_force_l_v"), Vector("ground_force_l_p")));
  text.replace(text.rfind("8\t10\t12"), 7, "NaN\tnan\tNaN");
  const MeasuredForces measured = ParseMeasuredForces(text, "f.sto");
  EXPECT_TRUE(measured.forces[0].points[0].allFinite());
  EXPECT_TRUE(std::isnan(measured.forces[0].points[1].y()));
}

TEST(MeasuredForces, RefusesWhatItCannotUse) {
  const auto refused = [](const std::string& text, const std::string& message) {
    try {
      ParseMeasuredForces(text, "f");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message)) << text;
    }
  };
  const std::string row = "time,left_fx_N,left_fy_N,left_fz_N\n";
  refused("", "f:1:1: found the end of the file, expected a row of column names");
  refused(row, "at least two rows of numbers");
  refused(row + "0,1,2,3\n", "at least two rows of numbers");
  refused("time,left_fx_N,left_fy_N,speed,color\n0,1,2,3,4\n", "f:1:1: found the columns 'speed', 'color', expected");
  refused("left_fx_N,left_fy_N,left_fz_N\n1,2,3\n", "a column \"time\"");
  refused("time,valid\n0,1\n1,1\n", "no column of a force");
  refused("time,left_fx_N,left_fy_N\n0,1,2\n", "the force of 'left' along 2 axes, expected x, y and z");
  refused("time,left_copx_m,left_copy_m,left_copz_m\n0,1,2,3\n", "the force of 'left' along 0 axes");
  refused("time,left_fx_N,left_fx_N\n", "a second column 'left_fx_N'");
  refused(row + "0,1,2,3\n0,1,2,3\n", "f:3:1: found '0', expected a time after 0");
  refused(row + "0,1,2,3\n1,1,,3\n2,1,2,3\n",
          "f:3:7: found the end of the row after 3 numbers, expected 4 numbers, the next of them left_fz_N");
  refused(row + "0,1,2,3\n1,1,2,3,4\n", "the end of the row after 4 numbers");
  refused(row + "0,1,2,3\n1,1,2,nan\n", "f:3:7: found 'nan', expected left_fz_N");
  refused(row + "0,1,2,3\n1,1,2,2e6\n", "a force of at most 1e6 N");
  refused("time,left_fx_N,left_fy_N,left_fz_N,valid\n0,1,2,3,2\n", "0 or 1");
  refused("a\nendheader", "a row of column names");
  refused("a\nnRows=x\nendheader\n", "a number of rows");
  refused("a\nnColumns=-1\nendheader\n", "a number of columns");
  for (const size_t stated : {0u, 3u, 5u, 1000000000u}) {
    refused(StorageHeader(stated) +
                "time\tground_force_l_vx\tground_force_l_vy\tground_force_l_vz\n0\t1\t2\t3\n1\t1\t2\t3\n",
            "4 names of columns, expected " + std::to_string(stated) + ", as the header says");
  }
  refused(StorageHeader(10) + "time\tpelvis_tx\n0\t1\n", "'pelvis_tx'");
  refused(Storage(Vector("ground_force_l_v")) + "3\t1\t2\t3\n", "3 rows, expected 2, as the header says");
}

}  // namespace
}  // namespace retrace::motion
