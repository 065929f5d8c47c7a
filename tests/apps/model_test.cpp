/// The programs `learn-response` and `synthesize`.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LearnResponseProgram : public CommandLine {
 protected:
  /// A walk, and the same under a push, tracked.
  void SetUp() override {
    CommandLine::SetUp();
    walk_ = Path("walk");
    pushed_ = Path("pushed");
    const std::string track = kTrack + " " + kWalkClip + " --loop 4 --progress none --output ";
    ASSERT_EQ(Execute(track + walk_).code, 0);
    ASSERT_EQ(Execute(track + pushed_ + " --push trunk,60:0:0,1.5,0.2").code, 0);
    learn_ = kLearnModel + " " + walk_ + " " + pushed_ + " --after 1.5 --dimensions 4 --iterations 40";
  }
  std::string walk_, pushed_, learn_;
};

TEST_F(LearnResponseProgram, LearnsAModelThatPlays) {
  const std::string model = Path("model"), motion = Path("motion");
  const Outcome learned = Execute(learn_ + " --output " + model);
  EXPECT_EQ(learned.code, 0) << learned.text;
  EXPECT_THAT(learned.text, HasSubstr("2 examples, 116 numbers observed of each, 4 latent coordinates"));
  for (const char* const file : {"model.json", "learning.csv", "latent.csv", "latent.svg"}) {
    EXPECT_TRUE(fs::exists(model + "/" + file)) << file;
  }
  const std::string play = kPlayModel + " " + model + " --seconds 3 --push trunk,40:0:0,1,0.2 --output ";
  const Outcome played = Execute(play + motion);
  EXPECT_EQ(played.code, 0) << played.text;
  EXPECT_THAT(played.text, HasSubstr("KINEMATIC"));
  const io::Json json = io::ReadJson(motion + "/synthesis.json");
  EXPECT_EQ(json["physical"], false);
  EXPECT_EQ(json["pushes"][0]["body"], "trunk");
  EXPECT_EQ(json["frames"], 91);
  // The same bytes again, and a motion that the other programs take.
  ASSERT_EQ(Execute(play + Path("again")).code, 0);
  for (const char* const file : {"/synthesis.bvh", "/latent.csv", "/latent.svg"}) {
    EXPECT_EQ(io::ReadFile(motion + file), io::ReadFile(Path("again") + file)) << file;
  }
  ASSERT_EQ(Execute(learn_ + " --output " + Path("model2")).code, 0);
  EXPECT_EQ(io::ReadFile(model + "/model.json"), io::ReadFile(Path("model2") + "/model.json"));
  EXPECT_EQ(Execute(kInspect + " " + motion + "/synthesis.bvh").code, 0);
  // The report shows it, and that it is not physical.
  EXPECT_EQ(Execute(kReport + " " + motion).code, 0);
  const std::string page = io::ReadFile(motion + "/report.html");
  EXPECT_THAT(page, HasSubstr("Not physical: after 0.00 s nothing is simulated"));
  EXPECT_THAT(page, HasSubstr("\"latent_picture\":\"\\u003csvg"));
  // Line by line, the same motion.
  const Outcome streamed = Execute("printf '2\\ntrunk,40:0:0,0.2\\n\\n' | " + kPlayModel + " " + model + " --stream");
  EXPECT_EQ(streamed.code, 0) << streamed.text;
  EXPECT_THAT(streamed.text, HasSubstr("time,deviation,root_x"));
  EXPECT_EQ(std::count(streamed.text.begin(), streamed.text.end(), '\n'), 4) << streamed.text;
  const Outcome refused = Execute("printf '1\\ntrnk,40:0:0,0.2\\n' | " + kPlayModel + " " + model + " --stream");
  EXPECT_EQ(refused.code, 3) << refused.text;
  EXPECT_THAT(refused.text, HasSubstr("standard input:2: found no body \"trnk\""));
  EXPECT_EQ(Execute(kPlayModel + " " + model + " --stream --seconds 3").code, 2);
  // Two models that share the normal motion: the one that was pushed to the other side answers.
  const std::string other = Path("other_pushed"), second = Path("second");
  ASSERT_EQ(Execute(kTrack + " " + kWalkClip + " --loop 4 --progress none --output " + other +
                    " --push trunk,-60:0:0,1.5,0.2")
                .code,
            0);
  ASSERT_EQ(Execute(kLearnModel + " " + walk_ + " " + other + " --after 1.5 --dimensions 4 --iterations 40 --output " +
                    second)
                .code,
            0);
  const Outcome switched = Execute(kPlayModel + " " + model + " " + second +
                                   " --seconds 3 --push trunk,-40:0:0,1,0.2 --output " + Path("switched"));
  EXPECT_EQ(switched.code, 0) << switched.text;
  EXPECT_THAT(switched.text, HasSubstr("on model 2 plays"));
  EXPECT_EQ(io::ReadJson(Path("switched") + "/synthesis.json")["switches"].size(), 1);
  // Against the run that it was learned from.
  const Outcome against = Execute(kPlayModel + " " + model + " --against " + pushed_ + " --undisturbed " + walk_ +
                                  " --seconds 1 --output " + Path("against"));
  EXPECT_EQ(against.code, 0) << against.text;
  EXPECT_THAT(against.text, HasSubstr("mean distance of bodies from the run: synthesis "));
  EXPECT_THAT(io::ReadFile(Path("against") + "/errors.csv"), HasSubstr("time,response_world,response_heading,"));
}

TEST_F(LearnResponseProgram, RefusesWhatItCannotUse) {
  const std::string model = Path("model");
  ASSERT_EQ(Execute(learn_ + " --output " + model).code, 0);
  std::string spoiled = io::ReadFile(model + "/model.json");
  spoiled.replace(spoiled.find("\"version\": 1"), 12, "\"version\": 9");
  io::WriteFile(Path("spoiled.json"), spoiled);
  const std::string shorter = Path("shorter");
  ASSERT_EQ(Execute(learn_ + " --normal-seconds 2.2 --output " + shorter).code, 0);
  const std::string squat = std::string(RETRACE_SOURCE_DIR) + "/data/clips/squat.bvh";
  ExpectRefusals(kLearnModel,
                 {{"", 2, "examples"},
                  {walk_, 2, "expected the normal motion and at least one that is disturbed"},
                  {walk_ + " " + Path("nowhere.bvh"), 3, "nowhere.bvh"},
                  {walk_ + " " + walk_ + "@3:2", 2, "expected FOLDER, FILE or either with @START:END in seconds"},
                  {walk_ + " " + pushed_ + "@3:3.1", 3, "found 4 poses, expected at least 5"},
                  {walk_ + "@1:1.5 " + pushed_, 3, "found no cycle in the normal motion"},
                  {walk_ + " " + squat + " --character quadruped", 3, ""},
                  {walk_ + " " + pushed_ + " --dimensions 0", 2, "--dimensions"},
                  {walk_ + " " + pushed_ + " --output " + model, 2, model}});
  ExpectRefusals(kPlayModel, {{Path("nowhere"), 3, "nowhere"},
                              {walk_, 3, "model.json"},
                              {Path("spoiled.json"), 3, "/version"},
                              {model + " --push tail,1:0:0,1,0.1", 2, "tail"},
                              {model + " --push trunk,1:0:0,99,0.1", 2, "expected an instant of the motion"},
                              {model + " --undisturbed " + walk_, 2, "--undisturbed: found no --against"},
                              {model + " --against " + walk_, 3, "a run without pushes"},
                              {model + " --seconds 0", 2, "--seconds"},
                              {model + " " + shorter, 3, "models that do not share their normal motion"}});
}

}  // namespace
}  // namespace retrace::apps
