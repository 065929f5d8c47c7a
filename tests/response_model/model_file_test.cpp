#include "retrace/response_model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "response_model/sample_walk.h"
#include "retrace/io/error.h"
#include "retrace/response_model/synthesizer.h"

namespace retrace::response_model {
namespace {

TEST(ModelFile, AModelThatWasReadPlaysTheSameMotion) {
  const ResponseModel& model = SampleModel();
  const io::Json json = io::ParseJson(io::Dump(ToJson(model)), "model");
  const StoredModel stored = ReadModel(json, "model");
  EXPECT_EQ(stored.model.latent.latent, model.latent.latent);
  EXPECT_EQ(stored.model.examples.size(), model.examples.size());
  EXPECT_EQ(ToJson(stored.model), ToJson(model));
  Synthesizer first(model, {}), second(stored.model, {});
  first.Start(model.examples.front(), 10);
  second.Start(stored.model.examples.front(), 10);
  Push push;
  push.body = model.character->FindBody("trunk");
  push.force = Vec3(50, 0, 0);
  push.start = 0.1;
  push.duration = 0.2;
  for (int i = 0; i < 30; ++i) {
    first.Step({&push, 1});
    second.Step({&push, 1});
    EXPECT_EQ(first.pose().root_position, second.pose().root_position);
  }
}

TEST(ModelFile, RefusesWhatIsNone) {
  const io::Json good = ToJson(SampleModel());
  const auto message = [&](const std::function<void(io::Json&)>& spoil) {
    io::Json json = good;
    spoil(json);
    try {
      ReadModel(json, "model.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  using testing::HasSubstr;
  EXPECT_EQ(message([](io::Json&) {}), "nothing");
  EXPECT_THAT(message([](io::Json& j) { j = io::Json::array(); }),
              HasSubstr("a response model that learn-response wrote"));
  EXPECT_THAT(message([](io::Json& j) { j["format"] = "retrace-run"; }), HasSubstr("another format"));
  EXPECT_THAT(message([](io::Json& j) { j["version"] = 2; }), HasSubstr("/version"));
  EXPECT_THAT(message([](io::Json& j) { j["character"]["height"] = 1.8; }), HasSubstr("/character_sha256"));
  EXPECT_THAT(message([](io::Json& j) { j["surprise"] = 1; }), HasSubstr("surprise"));
  EXPECT_THAT(message([](io::Json& j) { j["options"]["order"] = 3; }), HasSubstr("/options/order"));
  EXPECT_THAT(message([](io::Json& j) { j["options"].erase("seed"); }), HasSubstr("seed"));
  EXPECT_THAT(message([](io::Json& j) { j["examples"][1]["poses"][0].erase(0); }),
              HasSubstr("/examples/1/poses/0: found 70 numbers, expected 71"));
  EXPECT_THAT(message([](io::Json& j) { j["examples"][1]["poses"][0][3] = 0.2; }),
              HasSubstr("/examples/1/poses/0: found a quaternion of another length than 1"));
  EXPECT_THAT(message([](io::Json& j) { j["examples"][1]["pushes"][0]["body"] = "tail"; }),
              HasSubstr("/examples/1/pushes/0/body"));
  EXPECT_THAT(message([](io::Json& j) { j["learnt"]["noise"] = 0; }), HasSubstr("/learnt/noise"));
  EXPECT_THAT(message([](io::Json& j) { j["learnt"]["noise"] = 1e-290; }), HasSubstr("cannot be factored"));
  EXPECT_THAT(message([](io::Json& j) { j["learnt"]["dynamics"]["rates"].push_back(1); }),
              HasSubstr("/learnt/dynamics/rates"));
  EXPECT_THAT(message([](io::Json& j) { j["learnt"]["weights"][3].erase(0); }), HasSubstr("/learnt/weights/3"));
  EXPECT_THAT(message([](io::Json& j) { j["options"]["clock_period"] = 1; }), HasSubstr("/learnt/dynamics/rates"));
  EXPECT_THAT(message([](io::Json& j) { j["examples"][0]["clock"] = "noon"; }), HasSubstr("/examples/0/clock"));
  EXPECT_THAT(message([](io::Json& j) { j["learnt"]["weights"].erase(0); }),
              HasSubstr("another number of observations"));
  EXPECT_THAT(message([](io::Json& j) { j["examples"] = io::Json::array(); }), HasSubstr("no examples"));
  EXPECT_THAT(message([](io::Json& j) { j["examples"][0]["poses"][0][0] = 1e300; }), HasSubstr("/examples/0/poses/0"));
}

}  // namespace
}  // namespace retrace::response_model
