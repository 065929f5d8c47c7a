/// NPZ files, unpacked and read by the test; tests/apps/export_test.cpp has numpy read them.
#include "retrace/exports/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <cstring>
#include <map>

#include "exports/simulated_motion.h"

namespace retrace::exports {
namespace {

struct Array {
  std::string type;
  std::string shape;
  std::string data;

  std::vector<double> Numbers() const {
    EXPECT_EQ(type, "<f8");
    std::vector<double> numbers(data.size() / sizeof(double));
    std::memcpy(numbers.data(), data.data(), data.size());
    return numbers;
  }
  std::vector<int32_t> Integers() const {
    EXPECT_EQ(type, "<i4");
    std::vector<int32_t> numbers(data.size() / sizeof(int32_t));
    std::memcpy(numbers.data(), data.data(), data.size());
    return numbers;
  }
};

std::map<std::string, Array> ReadArrays(const std::string& bytes) {
  std::map<std::string, Array> arrays;
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  EXPECT_NE(archive, nullptr) << zip_error_strerror(&error);
  for (zip_int64_t i = 0; archive != nullptr && i < zip_get_num_entries(archive, 0); ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t stat;
    zip_stat_index(archive, index, 0, &stat);
    std::string file(stat.size, '\0');
    zip_file_t* stream = zip_fopen_index(archive, index, 0);
    EXPECT_EQ(zip_fread(stream, file.data(), file.size()), static_cast<zip_int64_t>(file.size()));
    zip_fclose(stream);
    EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const size_t size = static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
    EXPECT_EQ((10 + size) % 64, 0u) << "numpy wants its data aligned";
    const std::string header = file.substr(10, size);
    EXPECT_EQ(header.back(), '\n');
    EXPECT_THAT(header, testing::HasSubstr("'fortran_order': False"));
    Array array;
    const size_t type = header.find("'descr': '") + 10, shape = header.find("'shape': (") + 10;
    array.type = header.substr(type, header.find('\'', type) - type);
    array.shape = header.substr(shape, header.find(')', shape) - shape);
    array.data = file.substr(10 + size);
    const std::string name = stat.name;
    EXPECT_EQ(name.substr(name.size() - 4), ".npy");
    arrays[name.substr(0, name.size() - 4)] = array;
  }
  if (archive != nullptr) zip_discard(archive);
  return arrays;
}

std::vector<std::string> Names(const Array& array) {
  const size_t length = std::stoul(array.type.substr(2));
  std::vector<std::string> names;
  for (size_t at = 0; at + 4 * length <= array.data.size(); at += 4 * length) {
    names.emplace_back();
    for (size_t c = 0; c < length; ++c) {
      uint32_t code = 0;
      std::memcpy(&code, array.data.data() + at + 4 * c, 4);
      if (code != 0) names.back() += static_cast<char>(code);
    }
  }
  return names;
}

TEST(ExportNpz, HoldsTheTrajectoryToTheBit) {
  const Simulation drop = Drop("human", 120, FullWorld());
  auto arrays = ReadArrays(FormatNpz(drop.motion()));
  const size_t n = drop.trajectory.states.size(), bodies = drop.character.bodies.size(),
               joints = drop.character.joints.size();
  const std::string shape = std::to_string(n) + "," + std::to_string(bodies) + ",";
  EXPECT_EQ(arrays.at("body_position").shape, shape + "3,");
  EXPECT_EQ(arrays.at("body_orientation").shape, shape + "4,");
  EXPECT_EQ(arrays.at("time_step").shape, "");
  EXPECT_EQ(arrays.at("time_step").Numbers(), std::vector<double>{1.0 / 240});
  EXPECT_EQ(arrays.at("object_position").shape, std::to_string(n) + ",5,3,");
  const auto time = arrays.at("time").Numbers(), position = arrays.at("body_position").Numbers();
  const auto orientation = arrays.at("body_orientation").Numbers(), rate = arrays.at("body_angular_velocity").Numbers();
  const auto torque = arrays.at("joint_torque").Numbers(), target = arrays.at("joint_target").Numbers();
  const auto place = arrays.at("joint_position").Numbers(), object = arrays.at("object_position").Numbers();
  const auto ground = arrays.at("ground_force").Numbers(), on_body = arrays.at("body_contact_force").Numbers();
  const auto at = [](const std::vector<double>& values, size_t index) {
    return Vec3(values[3 * index], values[3 * index + 1], values[3 * index + 2]);
  };
  std::vector<Quat> targets(joints);
  for (size_t i = 0; i < n; ++i) {
    const character::State& state = drop.trajectory.states[i];
    EXPECT_DOUBLE_EQ(time[i], static_cast<double>(i) / 240);
    Vec3 sum = Vec3::Zero();
    for (size_t b = 0; b < bodies; ++b) {
      EXPECT_EQ(at(position, i * bodies + b), state[b].position);
      EXPECT_EQ(at(rate, i * bodies + b), state[b].angular_velocity);
      EXPECT_EQ(orientation[4 * (i * bodies + b)], state[b].orientation.w());
      sum += at(on_body, i * bodies + b);
    }
    EXPECT_LT((at(ground, i) - sum).norm(), 1e-9 * (1 + sum.norm()));
    EXPECT_EQ(at(object, 5 * i + 3), state[bodies].position) << "the crate, after two boxes and the field";
    if (i > 0) control::TargetsAt(drop.control.fragments[0], static_cast<int>(i) - 1, targets);
    for (size_t j = 0; j < joints; ++j) {
      EXPECT_EQ(at(place, i * joints + j), character::JointPosition(drop.character, drop.character.joints[j], state));
      EXPECT_EQ(at(torque, i * joints + j), i == 0 ? Vec3(Vec3::Zero()) : drop.trajectory.torques[i - 1][j]);
      EXPECT_EQ(at(target, i * joints + j), i == 0 ? Vec3(Vec3::Zero()) : RotationVector(targets[j]));
    }
  }
}

TEST(ExportNpz, ContactsAddUpToTheGroundForce) {
  const Simulation drop = Drop("quadruped", 120, FullWorld());
  auto arrays = ReadArrays(FormatNpz(drop.motion()));
  const auto state = arrays.at("contact_state").Integers(), other = arrays.at("contact_other").Integers(),
             object = arrays.at("contact_object").Integers();
  const auto force = arrays.at("contact_force").Numbers(), ground = arrays.at("ground_force").Numbers();
  ASSERT_GT(state.size(), 20u);
  std::vector<double> sum(ground.size(), 0.0);
  const auto objects = Names(arrays.at("object_names"));
  EXPECT_THAT(objects, testing::ElementsAre("shelf", "swing", "field", "crate", "ball"));
  for (size_t k = 0; k < state.size(); ++k) {
    EXPECT_GE(state[k], 1);
    if (other[k] >= 0) continue;
    EXPECT_LT(object[k], 5);
    for (size_t axis = 0; axis < 3; ++axis) sum[3 * static_cast<size_t>(state[k]) + axis] += force[3 * k + axis];
  }
  for (size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], ground[i], 1e-9 * (1 + std::abs(ground[i])));
}

TEST(ExportNpz, NamesAreThoseOfTheCharacter) {
  Simulation drop = Drop("asimo", 4);
  drop.character.joints[0].name =
      "N\xc3\xa4"
      "cken";  // in UTF-8
  auto arrays = ReadArrays(FormatNpz(drop.motion()));
  std::vector<std::string> bodies;
  for (const auto& body : drop.character.bodies) bodies.push_back(body.name);
  EXPECT_EQ(Names(arrays.at("body_names")), bodies);
  uint32_t code = 0;
  std::memcpy(&code, arrays.at("joint_names").data.data() + 4, 4);
  EXPECT_EQ(code, 0xe4u);
  const auto parent = arrays.at("joint_parent").Integers(), child = arrays.at("joint_child").Integers();
  for (size_t j = 0; j < drop.character.joints.size(); ++j) {
    EXPECT_EQ(parent[j], drop.character.joints[j].parent);
    EXPECT_EQ(child[j], drop.character.joints[j].child);
  }
}

TEST(ExportNpz, OfADivergedMotionEndsWithItsLastState) {
  Simulation drop = Drop("human", 20);
  drop.trajectory.states.resize(6);
  drop.trajectory.contacts.resize(5);
  drop.trajectory.torques.resize(5);
  drop.trajectory.diverged = true;
  auto arrays = ReadArrays(FormatNpz(drop.motion()));
  EXPECT_EQ(arrays.at("time").Numbers().size(), 6u);
  EXPECT_EQ(arrays.at("joint_target").shape, "6,16,3,");
  EXPECT_EQ(arrays.at("joint_target").Numbers().size(), 6u * 16 * 3);
}

TEST(ExportNpz, TheSameMotionGivesTheSameBytes) {
  const Simulation drop = Drop("human", 12);
  EXPECT_EQ(FormatNpz(drop.motion()), FormatNpz(drop.motion()));
}

TEST(ExportNpz, AControlThatIsShorterThanThoseOfOthersHoldsItsLastTargets) {
  Simulation drop = Drop("human", 12);
  drop.control.fragments[0].num_steps = 8;
  drop.trajectory.objects = {"character 2"};  // as control::TrajectoryOf has it
  auto arrays = ReadArrays(FormatNpz(drop.motion()));
  const std::vector<double> targets = arrays.at("joint_target").Numbers();
  const size_t width = 3 * drop.character.joints.size();
  ASSERT_EQ(targets.size(), 13 * width);
  const auto row = [&](size_t state) {
    const auto begin = targets.begin() + static_cast<std::ptrdiff_t>(state * width);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(width));
  };
  EXPECT_NE(row(8), row(7));
  for (const size_t state : {9u, 10u, 12u}) EXPECT_EQ(row(state), row(8)) << state;
  EXPECT_THAT(Names(arrays.at("object_names")), testing::ElementsAre("character 2"));
  EXPECT_EQ(arrays.at("object_position").shape, "13,0,3,");
}

}  // namespace
}  // namespace retrace::exports
