#include "retrace/simulation/world_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace retrace::simulation {
namespace {

using testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The object "world" of a control file of version 1, as every program before this description wrote it.
const char* const kDefault =
    R"({"time_step":0.004166666666666667,"servo":"implicit","solver":"eliminated","gravity":9.81,"friction":0.8,)"
    R"("contact_stiffness":40000000.0,"contact_damping":80000.0,"contact_correcting_velocity":1.0,)"
    R"("joint_correction":500.0,"self_collision":true,"speculative_contacts":true,"ground_points_per_shape":4,)"
    R"("self_points_per_pair":2,"contact_scale":[]})";

WorldOptions Read(const std::string& text) {
  const io::Json document = io::ParseJson(text, "control.json");
  return ReadWorldOptions(io::JsonView(document, "control.json"), 0);
}

TEST(WorldOptionsFile, KeepsItsBytes) {
  EXPECT_EQ(WorldOptions().ToJson().dump(), kDefault);
  EXPECT_EQ(Read(kDefault).ToJson().dump(), kDefault);
}

TEST(WorldOptionsFile, UnderstandsBothNamesOfTheReducedSolver) {
  io::Json json = io::ParseJson(kDefault, "control.json");
  for (const char* name : {"eliminated", "reduced"}) {
    json["solver"] = name;
    EXPECT_EQ(Read(json.dump()).solver, Solver::kReduced);
  }
  json["solver"] = "stock";
  EXPECT_EQ(Read(json.dump()).solver, Solver::kStock);
}

/// The first problem of options in which one thing is changed.
template <typename Change>
std::string FirstProblem(const Change& change) {
  WorldOptions options;
  change(options);
  return options.Validate().value_or("no problem");
}

TEST(WorldOptionsFromCpp, AreChecked) {
  EXPECT_EQ(WorldOptions().Validate(), std::nullopt);
  EXPECT_THAT(FirstProblem([](WorldOptions& o) { o.time_step = 0; }), StartsWith("/time_step: found 0"));
  EXPECT_THAT(FirstProblem([](WorldOptions& o) { o.gravity = kNan; }), StartsWith("/gravity: found nan"));
  EXPECT_THAT(FirstProblem([](WorldOptions& o) { o.servo = static_cast<Servo>(2); }), StartsWith("/servo: found 2"));
  EXPECT_THAT(FirstProblem([](WorldOptions& o) { o.self_points_per_pair = 9; }),
              StartsWith("/self_points_per_pair: found 9"));
  EXPECT_THAT(FirstProblem([](WorldOptions& o) { o.contact_scale = {1, 0}; }), StartsWith("/contact_scale/1: found 0"));
  EXPECT_THAT(FirstProblem([](WorldOptions& o) {
                o.environment.boxes.push_back({"a", Vec3(1, 1, kNan)});
              }),
              StartsWith("/environment/boxes/0/size/2: found nan"));
}

}  // namespace
}  // namespace retrace::simulation
