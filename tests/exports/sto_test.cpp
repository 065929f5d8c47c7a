/// OpenSim's files, read back and held against the simulation and Newton's law.
#include "retrace/exports/sto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "exports/simulated_motion.h"
#include "retrace/metrics/ground_forces.h"

namespace retrace::exports {
namespace {

using metrics::AppliedForce;
using metrics::ForceOn;
using metrics::ForcePlate;

std::vector<ForcePlate> ForcePlates(const ExportedMotion& motion) {
  return metrics::ForcePlates(motion.character, motion.trajectory);
}

struct Storage {
  std::map<std::string, std::string> header;
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;

  Vec3 Vector(size_t row, const std::string& prefix) const {
    Vec3 v = Vec3::Zero();
    for (int axis = 0; axis < 3; ++axis) v[axis] = Number(row, prefix + "xyz"[axis]);
    return {-v.z(), v.y(), v.x()};  // back from x forward, z to the right
  }
  double Number(size_t row, const std::string& name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    EXPECT_NE(found, names.end()) << name;
    return rows[row][static_cast<size_t>(found - names.begin())];
  }
  bool Has(const std::string& name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
};

Storage Read(const std::string& text) {
  Storage storage;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, storage.header["title"]);
  while (std::getline(lines, line) && line != "endheader") {
    const size_t equals = line.find('=');
    EXPECT_NE(equals, std::string::npos) << line;
    storage.header[line.substr(0, equals)] = line.substr(equals + 1);
  }
  const auto split = [](const std::string& row) {
    std::vector<std::string> cells;
    std::istringstream stream(row);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    return cells;
  };
  std::getline(lines, line);
  storage.names = split(line);
  while (std::getline(lines, line)) {
    storage.rows.emplace_back();
    for (const std::string& cell : split(line)) storage.rows.back().push_back(std::stod(cell));
    EXPECT_EQ(storage.rows.back().size(), storage.names.size());
  }
  EXPECT_EQ(storage.header["version"], "1");
  EXPECT_EQ(storage.header["inDegrees"], "yes");
  EXPECT_EQ(storage.header["nRows"], std::to_string(storage.rows.size()));
  EXPECT_EQ(storage.header["nColumns"], std::to_string(storage.names.size()));
  return storage;
}

/// Turns about OpenSim's z, x, y one after another, in our axes: z is -x, x is z.
Quat Turns(double rz, double rx, double ry) {
  return AxisRotation(0, -Radians(rz)) * AxisRotation(2, Radians(rx)) * AxisRotation(1, Radians(ry));
}

TEST(ExportSto, CoordinatesAreTheSimulatedRotations) {
  for (const char* name : {"human", "asimo", "quadruped"}) {
    const Simulation drop = Drop(name, 60);
    const Storage storage = Read(FormatCoordinates(drop.motion()));
    EXPECT_EQ(storage.header.at("title"), "Coordinates");
    EXPECT_EQ(storage.names.size(), 1u + static_cast<size_t>(drop.character.dof()));
    ASSERT_EQ(storage.rows.size(), drop.trajectory.states.size());
    const auto rotation = [&](size_t row, const std::string& of) {
      const auto angle = [&](const char* axis) {
        return storage.Has(of + axis) ? storage.Number(row, of + axis) : 0.0;
      };
      return Turns(angle("_rz"), angle("_rx"), angle("_ry"));
    };
    for (size_t i = 0; i < storage.rows.size(); ++i) {
      const character::State& state = drop.trajectory.states[i];
      const character::BodyState& root = state[static_cast<size_t>(drop.character.root)];
      EXPECT_NEAR(storage.rows[i][0], static_cast<double>(i) / 240, 1e-12);
      EXPECT_LT((storage.Vector(i, "root_t") - root.position).norm(), 1e-12);
      EXPECT_LT(AngleBetween(rotation(i, "root"), root.orientation), 1e-7);
      for (const character::Joint& joint : drop.character.joints) {
        // A hinge lets go of its axis by a hair: its turns about the others are not written.
        const double off = joint.type == character::JointType::kHinge ? 2e-3 : 1e-7;
        EXPECT_LT(AngleBetween(rotation(i, joint.name), character::JointRotation(joint, state)), off) << joint.name;
      }
      for (size_t c = 1; i > 0 && c < storage.names.size(); ++c) {
        EXPECT_LT(std::abs(storage.rows[i][c] - storage.rows[i - 1][c]), 30) << storage.names[c] << " jumps";
      }
    }
  }
}

TEST(ExportSto, ABentKneeIsNegativeAndALiftedThighPositive) {
  Simulation drop = Drop("human", 0);
  character::Pose pose;
  character::PoseOf(drop.character, drop.control.start, pose);
  const auto joint = [&](const char* name) { return static_cast<size_t>(drop.character.FindJoint(name)); };
  pose.joint_rotations[joint("left_knee")] = AxisRotation(0, Radians(50));  // the shin backwards
  pose.joint_rotations[joint("left_hip")] = AxisRotation(0, Radians(-40));  // the thigh forwards
  character::ForwardKinematics(drop.character, pose, drop.trajectory.states[0]);
  const Storage storage = Read(FormatCoordinates(drop.motion()));
  EXPECT_NEAR(storage.Number(0, "left_knee_rz"), -50, 1e-9);
  EXPECT_NEAR(storage.Number(0, "left_hip_rz"), 40, 1e-9);
  EXPECT_NEAR(storage.Number(0, "left_hip_rx"), 0, 1e-9);
}

TEST(ExportSto, AnglesGoOnPastHalfATurn) {
  Simulation drop = Drop("human", 0);
  const character::State start = drop.trajectory.states[0];
  drop.trajectory.states.clear();
  for (int i = 0; i <= 100; ++i) {
    character::State state = start;
    state[static_cast<size_t>(drop.character.root)].orientation = AxisRotation(0, -0.1 * i);  // a somersault backwards
    drop.trajectory.states.push_back(state);
  }
  drop.trajectory.contacts.resize(100);
  const Storage storage = Read(FormatCoordinates(drop.motion()));
  EXPECT_NEAR(storage.Number(100, "root_rz"), Degrees(10), 1e-6);
  EXPECT_NEAR(storage.Number(100, "root_rx"), 0, 1e-6);
}

/// Sum of the forces on a character, contacts between its own bodies left out.
Vec3 OuterForce(const std::vector<simulation::Contact>& contacts) {
  Vec3 sum = Vec3::Zero();
  for (const auto& contact : contacts) sum += contact.other < 0 ? contact.force : Vec3(Vec3::Zero());
  return sum;
}

TEST(ExportSto, GroundForcesObeyNewtonAndKeepTheMoments) {
  for (const char* name : {"human", "asimo", "quadruped"}) {
    for (const bool full : {false, true}) {
      const Simulation drop = Drop(name, 120, full ? FullWorld() : simulation::Environment{});
      const auto plates = ForcePlates(drop.motion());
      const Storage storage = Read(FormatGroundForces(drop.motion()));
      EXPECT_EQ(storage.names.size(), 1 + 9 * plates.size());
      const size_t steps = drop.trajectory.num_steps();
      ASSERT_EQ(storage.rows.size(), steps + 2);
      EXPECT_EQ(storage.rows[0][0], 0);
      EXPECT_NEAR(storage.rows[steps][0], (static_cast<double>(steps) - 0.5) / 240, 1e-12);
      EXPECT_NEAR(storage.rows[steps + 1][0], static_cast<double>(steps) / 240, 1e-12);
      for (size_t c = 1; c < storage.names.size(); ++c) {
        EXPECT_EQ(storage.rows[0][c], 0);
        EXPECT_EQ(storage.rows[steps + 1][c], storage.rows[steps][c]);
      }
      double largest = 0;
      for (size_t i = 1; i <= steps; ++i) {
        Vec3 sum = Vec3::Zero();
        for (size_t p = 0; p < plates.size(); ++p) {
          const std::string body = drop.character.bodies[static_cast<size_t>(plates[p].body)].name;
          const Vec3 force = storage.Vector(i, "ground_force_" + body + "_v");
          const Vec3 point = storage.Vector(i, "ground_force_" + body + "_p");
          const Vec3 moment = storage.Vector(i, "ground_torque_" + body + "_");
          sum += force;
          // About a place that nothing singles out.
          const Vec3 place(0.3, -0.2, 1.7);
          Vec3 expected = Vec3::Zero();
          for (const auto& contact : drop.trajectory.contacts[i - 1]) {
            const bool counts = std::count(plates[p].bodies.begin(), plates[p].bodies.end(), contact.body) > 0;
            if (counts && contact.other < 0) expected += (contact.point - place).cross(contact.force);
          }
          const Vec3 found = moment + (point - place).cross(force);
          EXPECT_LT((found - expected).norm(), 1e-9 * (1 + expected.norm()));
          if (!full && force.norm() > 0) {
            // What is left on level ground turns about the vertical; contact points are within a millimeter of it.
            EXPECT_LT(std::hypot(moment.x(), moment.z()), 2e-3 * force.norm());
          }
        }
        EXPECT_LT((sum - OuterForce(drop.trajectory.contacts[i - 1])).norm(), 1e-9 * (1 + sum.norm()));
        const Vec3 change = character::CenterOfMassVelocity(drop.character, drop.trajectory.states[i]) -
                            character::CenterOfMassVelocity(drop.character, drop.trajectory.states[i - 1]);
        const Vec3 newton = drop.character.total_mass() * (240 * change + Vec3(0, 9.81, 0));
        EXPECT_LT((sum - newton).norm(), 1e-6 * drop.character.total_mass() * 9.81) << name << " at step " << i;
        largest = std::max(largest, sum.y());
      }
      EXPECT_GT(largest, 0.5 * drop.character.total_mass() * 9.81) << "it landed";
    }
  }
}

TEST(ExportSto, PlatesAreTheFeetAndWhatTouchedBesides) {
  const Simulation still = Drop("quadruped", 1);  // in the air
  const auto feet = ForcePlates(still.motion());
  ASSERT_EQ(feet.size(), 4u);
  for (const ForcePlate& plate : feet) {
    EXPECT_EQ(still.character.bodies[static_cast<size_t>(plate.body)].part, character::Part::kFoot);
  }
  Simulation touched = Drop("human", 1);
  const int hand = touched.character.FindBody("left_hand"), head = touched.character.FindBody("head");
  touched.trajectory.contacts[0] = {{hand, -1, Vec3(1, 0, 0), Vec3(0, 5, 0)},
                                    {hand, head, Vec3::Zero(), Vec3(0, 9, 0)}};
  const auto plates = ForcePlates(touched.motion());
  ASSERT_EQ(plates.size(), 3u);
  EXPECT_EQ(plates[2].body, hand);
  const AppliedForce applied = ForceOn(plates[2], touched.trajectory.contacts[0]);
  EXPECT_EQ(applied.force, Vec3(0, 5, 0)) << "what the head does to the hand is no ground force";
  EXPECT_EQ(applied.point, Vec3(1, 0, 0));
  EXPECT_THAT(FormatExternalLoads(touched.motion()),
              testing::AllOf(testing::HasSubstr("<OpenSimDocument Version=\"40000\">"),
                             testing::HasSubstr("<applied_to_body>left_hand</applied_to_body>"),
                             testing::HasSubstr("<force_identifier>ground_force_left_hand_v</force_identifier>"),
                             testing::HasSubstr("<datafile>ground_forces.sto</datafile>")));
}

TEST(ExportSto, AToeBelongsToItsFoot) {
  const character::Character character = character::ParseCharacter(io::ParseJson(R"({
    "format": "retrace-character", "version": 1, "name": "toes", "height": 1,
    "bodies": [
      {"name": "pelvis", "mass": 3, "inertia": [0.1, 0.1, 0.1], "position": [0, 1, 0], "shapes": [{"box": [0.3, 0.6, 0.2]}]},
      {"name": "left foot", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0, 0.5, 0], "shapes": [{"box": [0.1, 0.1, 0.2]}],
       "part": "foot"},
      {"name": "left toe", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0, 0.5, 0.2], "shapes": [{"box": [0.1, 0.1, 0.1]}],
       "part": "foot"}
    ],
    "joints": [
      {"name": "ankle", "parent": "pelvis", "child": "left foot", "type": "ball", "anchor": [0, 0.6, 0],
       "kp": 100, "kd": 10, "strength_scale": [1, 1, 1], "window": [0.1, 0.1, 0.1]},
      {"name": "mid foot", "parent": "left foot", "child": "left toe", "type": "hinge", "axis": "x", "anchor": [0, 0.5, 0.1],
       "kp": 100, "kd": 10, "strength_scale": 1, "window": 0.1}
    ],
    "end_effectors": ["left foot"], "no_self_collision": [], "contact_presets": {"none": {}}
  })",
                                                                                 "toes.json"),
                                                                   "toes.json");
  control::Trajectory trajectory;
  trajectory.time_step = 0.01;
  trajectory.states.resize(2, character::State(3));
  trajectory.contacts = {{{2, -1, Vec3(0, 0, 0.2), Vec3(0, 3, 0)}, {1, -1, Vec3(0, 0, 0), Vec3(0, 1, 0)}}};
  trajectory.torques.resize(1, std::vector<Vec3>(2, Vec3(Vec3::Zero())));
  const control::OpenLoopControl control;
  const ExportedMotion motion{character, control, trajectory, "toes"};
  const auto plates = ForcePlates(motion);
  ASSERT_EQ(plates.size(), 1u);
  EXPECT_EQ(plates[0].body, 1);
  EXPECT_THAT(plates[0].bodies, testing::ElementsAre(1, 2));
  EXPECT_NEAR(ForceOn(plates[0], trajectory.contacts[0]).point.z(), 0.15, 1e-12);
  const Storage storage = Read(FormatCoordinates(motion));
  EXPECT_TRUE(storage.Has("mid_foot_rz")) << "a blank would part the name";
  EXPECT_THAT(FormatExternalLoads(motion), testing::HasSubstr("<applied_to_body>left_foot<"));
}

TEST(ExportSto, AnyContactsHaveTheirMomentAndACenterAmongThem) {
  rc::check([] {
    const auto number = [] { return *rc::gen::inRange(-1000, 1000) / 1000.0; };
    std::vector<simulation::Contact> contacts;
    Vec3 low = Vec3::Constant(1e9), high = -low;
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
      simulation::Contact contact;
      contact.body = 0;
      contact.point = Vec3(number(), number(), number());
      contact.normal = Vec3(number(), 1, number()).normalized();
      contact.force = 500 * (1 + number()) * contact.normal + 100 * Vec3(number(), number(), number());
      low = low.cwiseMin(contact.point);
      high = high.cwiseMax(contact.point);
      contacts.push_back(contact);
    }
    const AppliedForce applied = ForceOn({0, {0}}, contacts);
    const Vec3 place(number(), number(), number());
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
    for (const auto& contact : contacts) {
      force += contact.force;
      moment += (contact.point - place).cross(contact.force);
    }
    RC_ASSERT((applied.force - force).norm() < 1e-9);
    RC_ASSERT((applied.moment + (applied.point - place).cross(applied.force) - moment).norm() < 1e-9);
    const bool touching = std::any_of(contacts.begin(), contacts.end(),
                                      [](const auto& contact) { return (contact.force.array() != 0).any(); });
    if (touching) {
      RC_ASSERT((applied.point - low).minCoeff() > -1e-9);
      RC_ASSERT((high - applied.point).minCoeff() > -1e-9);
    }
  });
}

}  // namespace
}  // namespace retrace::exports
