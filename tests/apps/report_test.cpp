/// The program report, and reconstruct --report: what they leave and what they refuse.
#include "retrace/report/report.h"

#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReportCommand : public CommandLine {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(RETRACE_REPORT_PAGE)) GTEST_SKIP() << "the page was not built: no npm";
    CommandLine::SetUp();
  }
  static io::Json DocumentOf(const std::string& file) {
    const std::string page = io::ReadFile(file);
    const std::string begin = "<script type=\"application/json\" id=\"document\">";
    const size_t first = page.find(begin) + begin.size();
    return io::ParseJson(page.substr(first, page.find("</script>", first) - first), file);
  }
};

TEST_F(ReportCommand, APageWithTheValuesOfTheTables) {
  const std::string run = SmallRun("squat", "--report");
  const std::string page = io::ReadFile(run + "/report.html");
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_LT(std::filesystem::file_size(RETRACE_REPORT_PAGE), 1'000'000U);
  EXPECT_THAT(page, Not(HasSubstr("{\"retrace\":\"document\"}")));
  EXPECT_THAT(page, HasSubstr("<title>squat</title>"));
  // Nothing that a browser would fetch.
  for (const char* link : {"src=\"http", "href=\"http", "url(http", "@import"}) EXPECT_THAT(page, Not(HasSubstr(link)));

  const io::Json document = DocumentOf(run + "/report.html");
  EXPECT_EQ(document["format"], "retrace-report");
  ASSERT_EQ(document["parts"].size(), 1U);
  const io::Json& part = document["parts"][0];
  const results::Table table = results::ReadTable(run + "/trajectory.csv");
  const std::vector<float> force = report::UnpackFloats(io::JsonView(part["ground_force"], "page"));
  const std::vector<double> up = table.Numbers("force_y");
  ASSERT_EQ(force.size(), 3 * up.size());
  for (size_t i = 0; i < up.size(); ++i) ASSERT_EQ(force[3 * i + 1], static_cast<float>(up[i])) << i;
  EXPECT_TRUE(part.contains("reference"));
  EXPECT_TRUE(part.contains("tracking"));
  EXPECT_EQ(part["evaluation"]["success"], true);
  EXPECT_EQ(part["settings"]["configuration"]["search"]["samples"], 60);
  EXPECT_FALSE(part["settings"]["provenance"].contains("host"));

  // The program makes the same page of the folder as reconstruct did, and where it is told to.
  const Outcome again = Execute(kReport + " " + run + " --output " + Path("again.html"));
  EXPECT_EQ(again.code, 0) << again.text;
  EXPECT_THAT(again.text, HasSubstr("opens in any web browser"));
  EXPECT_EQ(io::ReadFile(Path("again.html")), page);
}

TEST_F(ReportCommand, ASceneIsOnePartWithTheChartsOfEachCharacter) {
  const std::string run = SmallRun("run"), scene = Path("scene");
  ASSERT_EQ(Execute(kReplay + " " + run + " --with " + run + ",2,0 --output " + scene).code, 0);
  const Outcome outcome = Execute(kReport + " " + scene);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const io::Json document = DocumentOf(scene + "/report.html");
  ASSERT_EQ(document["parts"].size(), 1U);
  const io::Json& part = document["parts"][0];
  EXPECT_EQ(part["kind"], "scene");
  EXPECT_EQ(part["name"], "scene");
  ASSERT_EQ(part["characters"].size(), 2U);
  for (const size_t c : {0U, 1U}) {
    const io::Json& character = part["characters"][c];
    EXPECT_EQ(character["name"], "scene, character " + std::to_string(c + 1) + " (human)");
    EXPECT_EQ(character["evaluation"]["success"], true);
    EXPECT_TRUE(character.contains("tracking"));
    const std::string folder = scene + "/character_" + std::to_string(c + 1);
    const std::vector<float> force = report::UnpackFloats(io::JsonView(character["ground_force"], "page"));
    const std::vector<double> up = results::ReadTable(folder + "/trajectory.csv").Numbers("force_y");
    ASSERT_EQ(force.size(), 3 * up.size());
    for (size_t i = 0; i < up.size(); ++i) ASSERT_EQ(force[3 * i + 1], static_cast<float>(up[i])) << i;
  }
  EXPECT_EQ(Execute(kReplay + " " + scene + " --verify").code, 0) << "a page beside the scene changes nothing";
}

TEST_F(ReportCommand, SeveralRunsAndVariations) {
  const std::string a = SmallRun("a");
  const std::string b = Path("b");
  const Outcome found = Execute(kReconstruct + " " + kWalkClip + kSmall + "--variations 2 --report --output " + b);
  ASSERT_EQ(found.code, 0) << found.text;
  const io::Json variations = DocumentOf(b + "/report.html");
  ASSERT_EQ(variations["parts"].size(), 2U);
  EXPECT_EQ(variations["parts"][1]["name"], "b/2");
  const Outcome outcome = Execute(kReport + " " + a + " " + b + " --output " + Path("all.html"));
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const io::Json document = DocumentOf(Path("all.html"));
  ASSERT_EQ(document["parts"].size(), 3U);
  EXPECT_EQ(document["parts"][0]["name"], "a");
  EXPECT_EQ(document["parts"][2]["name"], "b/2");
  EXPECT_EQ(document["parts"][0]["simulated"].contains("frames"), true);
}

TEST_F(ReportCommand, ARunThatGotLostIsShownAsFarAsItWent) {
  const std::string run = Path("lost");
  const Outcome outcome =
      Execute(kReconstruct + " " + kClip + kSmall +
              "--set /gates/joint_position=0.0001 --set /search/budget=300 --report --output " + run);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  const io::Json part = DocumentOf(run + "/report.html")["parts"][0];
  EXPECT_EQ(part["evaluation"]["success"], false);
  EXPECT_EQ(part["settings"]["status"], "budget");
}

TEST_F(ReportCommand, ShowsWhatEvaluateMeasured) {
  const std::string list = Write("list.tsv", "clip\tend\nsquat.bvh\t0.3\n");
  const std::string folder = Path("evaluated");
  const Outcome evaluated = Execute(kEvaluate + " " + list + " --clips " + RETRACE_SOURCE_DIR +
                                    "/data/clips --seeds 1 --samples 60 --saved 12 --progress none --output " + folder);
  ASSERT_EQ(evaluated.code, 0) << evaluated.text;
  const Outcome outcome = Execute(kReport + " " + folder);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const io::Json document = DocumentOf(folder + "/report.html");
  EXPECT_EQ(document["parts"][0]["kind"], "evaluation");
  EXPECT_EQ(document["parts"][0]["runs"].size(), 1U);
  // A run of it, of which the control alone was kept: no reference, no costs.
  const Outcome one = Execute(kReport + " " + folder + "/runs/squat.1");
  EXPECT_EQ(one.code, 0) << one.text;
  const io::Json part = DocumentOf(folder + "/runs/squat.1/report.html")["parts"][0];
  EXPECT_FALSE(part.contains("reference"));
  EXPECT_FALSE(part.contains("costs"));
}

TEST_F(ReportCommand, SaysWhenTheReplayIsAnotherMotion) {
  const std::string run = SmallRun("changed");
  std::string table = io::ReadFile(run + "/trajectory.csv");
  table[table.size() - 3] = table[table.size() - 3] == '0' ? '1' : '0';
  io::WriteFile(run + "/trajectory.csv", table);
  const Outcome outcome = Execute(kReport + " " + run);
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("trajectory.csv: was changed since the run was written; the replay is shown"));
  EXPECT_EQ(DocumentOf(run + "/report.html")["parts"][0]["notes"].size(), 1U);
}

TEST_F(ReportCommand, Refusals) {
  const std::string run = SmallRun("good");
  std::filesystem::create_directories(folder_ / "empty");
  std::filesystem::create_directories(folder_ / "torn");
  Write("torn/control.json", io::ReadFile(run + "/control.json").substr(0, 2000));
  Write("plain", "");
  ExpectRefusals(kReport, {{"", 2, "folders is required"},
                           {run + " --figures 3", 2, "--figures requires --png"},
                           {run + " --png " + Path("a.png") + " --figures 1", 2, "--figures"},
                           {run + " --png " + Path("a.png") + " --browser /nowhere/chromium", 2,
                            "the browser /nowhere/chromium: found no such program, expected Chromium or Chrome"},
                           {Path("none"), 3, "none: found no such folder, expected the folder of a run"},
                           {Path("empty"), 3, "empty/control.json: found no such file"},
                           {Path("torn"), 3, "torn/control.json:"},
                           {run + " --output " + Path("plain/report.html"), 5, "plain/report.html"},
                           {run + " --png " + Path("a.png") + " --browser /bin/true", 5, "drew no picture"}});
  const Outcome without = Execute("PATH=/nowhere " + kReport + " " + run + " --png " + Path("a.png"));
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.text, HasSubstr("a picture needs Chromium or Chrome, and there is none on the PATH"));
  EXPECT_FALSE(std::filesystem::exists(Path("a.png")));
}

TEST_F(CommandLine, AVideoAndAPosterNeedNoBrowserAndNoDisplay) {
  const std::string run = SmallRun("filmed");
  const std::string gif = Path("a.gif"), png = Path("a.png");
  // Nothing is on the PATH: no FFmpeg, no browser.
  const Outcome outcome = Execute("PATH=/nowhere " + kReport + " " + run + " --video " + gif + " --poster " + png +
                                  " --size 160x90 --layout beside --speed 0.5 --end 0.2 --fps 10");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("a.gif: 5 pictures of 160 x 90"));
  EXPECT_TRUE(io::ReadFile(gif).starts_with("GIF89a"));
  EXPECT_TRUE(io::ReadFile(png).starts_with("\x89PNG"));
  EXPECT_FALSE(std::filesystem::exists(run + "/report.html"));
  // What is there is not written over, and the same is made again.
  EXPECT_EQ(Execute(kReport + " " + run + " --video " + gif).code, 2);
  const std::string before = io::ReadFile(gif);
  EXPECT_EQ(Execute(kReport + " " + run + " --video " + gif + " --force --size 160x90 --layout beside --speed 0.5 " +
                    "--end 0.2 --fps 10")
                .code,
            0);
  EXPECT_EQ(io::ReadFile(gif), before);
}

TEST_F(CommandLine, VideosThatCannotBeMade) {
  const std::string run = SmallRun("filmed");
  ExpectRefusals(
      kReport,
      {{run + " --video a.avi", 2, "a.avi: found the ending .avi, expected .mp4, .webm or .gif"},
       {run + " --video film", 2, "film: found the ending (none), expected .mp4, .webm or .gif"},
       {run + " --video " + Path("a.gif") + " --size 100", 2, "--size: found 100, expected two even numbers"},
       {run + " --video " + Path("a.gif") + " --size 101x90", 2, "--size: found 101x90, expected two even numbers"},
       {run + " --video " + Path("a.gif") + " --layout both", 2, "--layout: found \"both\""},
       {run + " --video " + Path("a.gif") + " --speed 0", 2, "--speed: found 0"},
       {run + " --video " + Path("a.gif") + " --start 9", 2, "found no instant between, expected an interval"},
       {run + " --video " + Path("a.mp4") + " --ffmpeg /nowhere/ffmpeg", 2, "/nowhere/ffmpeg: found no such program"},
       {run + " --video " + Path("a.mp4") + " --ffmpeg /bin/false --size 160x90", 5, "/bin/false cannot write it"},
       {run + " --video " + Path("none/a.gif") + " --size 160x90", 5, "none/a.gif"}});
  const Outcome without = Execute("PATH=/nowhere " + kReport + " " + run + " --video " + Path("a.mp4"));
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.text, HasSubstr("a video as MP4 or WebM needs FFmpeg, and there is none on the PATH"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".mp4")));
  }
}

TEST_F(CommandLine, WithoutThePageOneMessageSaysSo) {
  // A program that stands alone, as in an installation that was built without npm.
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::copy_file(kRetrace, folder_ / "bin/report");
  const Outcome outcome = Execute((folder_ / "bin/report").string() + " " + Path("bin"));
  if (std::filesystem::exists(RETRACE_INSTALLED_PAGE)) GTEST_SKIP() << "an installed page is found";
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.text, HasSubstr("report: the report page was not built"));
  EXPECT_THAT(outcome.text, HasSubstr("scripts/install-dependencies"));
}

}  // namespace
}  // namespace retrace::apps
