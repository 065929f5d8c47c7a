#include "retrace/jobs/response_files.h"

#include <gtest/gtest.h>

#include "planning/response/sample_response.h"
#include "retrace/results/tables.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::runs {
namespace {

TEST(ResponseFiles, CandidatesAreRowsOfATable) {
  const ResponseJob job(ResponseSamples::Get().Pushed());
  Response response;
  ResponseCandidate own, motion;
  own.own = true;
  own.time = 0.875;
  own.start = 0.275;
  motion.motion = 0;
  motion.time = 0.5;
  motion.start = 0.25;
  motion.distance = 1.5;
  motion.gap = 0.125;
  motion.limp_gap = 0.375;
  motion.hidden_impulse = 40;
  motion.end = 1.5;
  motion.last = 1.75;
  motion.tried = motion.up = motion.found = true;
  motion.reached = 2;
  motion.touched_again = 2.5;
  motion.lies_at = 1.25;
  response.candidates = {own, motion};
  EXPECT_EQ(FormatCandidates(job, response),
            "motion,time,start,distance,gap,limp_gap,hidden_impulse,end,last,tried,reached,up,found,touched_again,"
            "lies_at\n"
            "walk,0.875,0.275,0,0,0,0,0,0,0,0,0,0,,\n" +
                job.problem.library.motions().motions()[0].name +
                ",0.5,0.25,1.5,0.125,0.375,40,1.5,1.75,1,2,1,1,2.5,1.25\n");
}

/// For a motion that continues by itself, and for one that is blended in.
TEST(ResponseFiles, AResponseIsARunThatReplaysToTheBit) {
  for (const bool kinematic : {false, true}) {
    ResponseOptions options = ResponseSamples::Get().Pushed(kinematic ? "trunk,0:0:-250,0.6,0.1" : "trunk,0:0:1,2,0.1");
    options.kinematic = kinematic;
    const ResponseJob job(options);
    const Response response = Respond(job.problem, 1);
    const SampleFolder samples;
    {
      results::RunFolder folder(samples / "run", false);
      WriteResponse(folder, job, response, {.command = "respond walk"});
    }
    const StoredRun stored(samples / "run");
    EXPECT_EQ(Verify(stored).difference, "");
    EXPECT_EQ((*stored.manifest)["program"], "respond");
    EXPECT_EQ((*stored.manifest)["command"], "respond walk");
    EXPECT_EQ((*stored.manifest)["physical"], !kinematic);
    EXPECT_EQ((*stored.manifest)["response"]["goes_on"], !kinematic);
    EXPECT_EQ((*stored.manifest)["response"]["blend"].is_object(), kinematic);
    EXPECT_EQ((*stored.manifest)["response"]["impact"]["start"], job.problem.impact.start);
    EXPECT_EQ(stored.AllPushes().size(), 1u);
    const results::Table parts = results::ReadTable(samples / "run" / results::kCompositionFile);
    ASSERT_EQ(parts.num_rows(), kinematic ? 2u : 1u);
    EXPECT_EQ(parts.Text("event")[0], "plan");
    EXPECT_EQ(parts.Numbers("start")[0], 0);
    if (kinematic) {
      EXPECT_EQ(parts.Numbers("start")[1], parts.Numbers("end")[0]);
    } else {
      EXPECT_NEAR(parts.Numbers("end")[0], response.control.duration(), 1e-9);
    }
    EXPECT_TRUE(std::filesystem::exists(samples / "run" / results::kRagdollFile));
  }
}

}  // namespace
}  // namespace retrace::runs
