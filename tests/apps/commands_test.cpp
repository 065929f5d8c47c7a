/// The table of commands, and what comes from it: help texts, lists, suggestions, manual pages, completion, old names.
#include <algorithm>
#include <sstream>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Joined(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// Names of all commands, as --list has them.
std::vector<std::string> ListedCommands() {
  const Outcome list = Execute(kRetrace + " --list");
  EXPECT_EQ(list.code, 0);
  std::vector<std::string> names;
  std::istringstream lines(list.text);
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find("  ")));
  return names;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Commands, AreListedAndShown) {
  const std::vector<std::string> names = ListedCommands();
  EXPECT_THAT(
      names, testing::IsSupersetOf({"reconstruct", "track", "verify", "feedback add", "library controls", "model learn",
                                    "character from-mesh", "character show", "config show", "completion"}));
  const Outcome help = Execute(kRetrace + " --help");
  EXPECT_EQ(help.code, 0);
  for (const std::string& name : names) EXPECT_THAT(help.text, HasSubstr("\n  " + name + "  ")) << name;
  EXPECT_EQ(Execute(kRetrace + " help").text, help.text);
  EXPECT_THAT(Execute(kRetrace + " --version").text, StartsWith("retrace "));
  EXPECT_THAT(Execute(kRetrace + " replay --version").text, StartsWith("retrace replay "));
  const Outcome family = Execute(kRetrace + " feedback --help");
  EXPECT_EQ(family.code, 0);
  EXPECT_THAT(family.text, HasSubstr("feedback grow"));
  EXPECT_THAT(family.text, Not(HasSubstr("reconstruct  ")));
}

TEST(Commands, HaveHelpAPageAndCompletionEach) {
  const Outcome bash = Execute(kRetrace + " completion bash");
  const Outcome zsh = Execute(kRetrace + " completion zsh");
  ASSERT_EQ(bash.code, 0);
  ASSERT_EQ(zsh.code, 0);
  const fs::path pages = fs::path(RETRACE_PAGES_DIR) / "man1";
  EXPECT_THAT(io::ReadFile(pages / "reconstruct.1"), HasSubstr(".so man1/retrace-reconstruct.1"));
  const std::string program_page = io::ReadFile(pages / "retrace.1");
  for (const std::string& name : ListedCommands()) {
    const Outcome help = Execute(kRetrace + " " + name + " --help");
    EXPECT_EQ(help.code, 0) << name;
    EXPECT_THAT(help.text, HasSubstr("Usage: retrace " + name + " ")) << name;
    EXPECT_EQ(Execute(kRetrace + " help " + name).text, help.text) << name;
    const Outcome page = Execute(kRetrace + " help --man " + name);
    EXPECT_EQ(page.code, 0) << name;
    EXPECT_THAT(page.text, StartsWith(".TH ")) << name;
    EXPECT_THAT(page.text, HasSubstr("\\fB\\-\\-version\\fR")) << name;
    EXPECT_EQ(io::ReadFile(pages / ("retrace-" + Joined(name) + ".1")), page.text) << name;
    EXPECT_THAT(program_page, HasSubstr("\\fB" + name.substr(0, name.find('-')))) << name;
    EXPECT_THAT(bash.text, HasSubstr("'" + name + "'")) << name;
    EXPECT_THAT(zsh.text, HasSubstr("'" + name + "'")) << name;
  }
  EXPECT_EQ(io::ReadFile(fs::path(RETRACE_PAGES_DIR) / "bash/retrace"), bash.text);
}

TEST(Commands, AreCompletedByBash) {
  const auto completed = [](const std::string& line) {
    const std::string words = line + (line.ends_with(' ') ? "\"\"" : "");
    return Execute("bash -c 'source <(" + kRetrace + " completion bash); COMP_WORDS=(" + words +
                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _retrace; printf \"%s \" \"${COMPREPLY[@]}\"'")
        .text;
  };
  EXPECT_EQ(completed("retrace rep"), "replay report ");
  EXPECT_EQ(completed("retrace feedback "), "add grow ");
  EXPECT_EQ(completed("retrace model pl"), "play ");
  EXPECT_EQ(completed("retrace reconstruct --qual"), "--quality ");
  EXPECT_EQ(completed("reconstruct --qual"), "--quality ");
  EXPECT_EQ(completed("/usr/bin/reconstruct clip.bvh --quality "), "draft standard best ");
  EXPECT_EQ(completed("retrace feedback add --for"), "--force ");
  EXPECT_EQ(completed("retrace stabilise --for"), "--force ") << "an old name";
  EXPECT_EQ(completed("retrace reconstruct --hang"), " ") << "an old option is shown nowhere";
  EXPECT_EQ(Execute("bash -c 'bash -n <(" + kRetrace + " completion bash)'").text, "");
}

TEST(Commands, AreCompletedByZsh) {
  if (Execute("zsh --version").code != 0) GTEST_SKIP() << "no zsh";
  const Outcome checked = Execute("zsh -c 'zsh -n <(" + kRetrace + " completion zsh)'");
  EXPECT_EQ(checked.code, 0) << checked.text;
  EXPECT_EQ(checked.text, "");
}

TEST(Commands, HaveManualPagesThatManTakes) {
  if (Execute("groff --version").code != 0) GTEST_SKIP() << "no groff";
  for (const auto& entry : fs::directory_iterator(fs::path(RETRACE_PAGES_DIR) / "man1")) {
    if (entry.path().filename() == "reconstruct.1") continue;
    const Outcome set = Execute("groff -man -Tascii -ww -z " + entry.path().string());
    EXPECT_EQ(set.code, 0) << entry.path();
    EXPECT_EQ(set.text, "") << entry.path();
  }
}

TEST_F(CommandLine, OldProgramsAreCommandsAndLinks) {
  const std::vector<std::pair<std::string, std::string>> names = {{"stabilise", "feedback add"},
                                                                  {"grow-tree", "feedback grow"},
                                                                  {"build-library", "library recordings"},
                                                                  {"make-library", "library controls"},
                                                                  {"learn-response", "model learn"},
                                                                  {"synthesise", "model play"},
                                                                  {"make-body", "character from-mesh"},
                                                                  {"retrace-export", "export"},
                                                                  {"retrace-idle", "idle"},
                                                                  {"retrace-compose", "compose"},
                                                                  {"inspect", "inspect"}};
  const std::string overview = Execute(kRetrace + " --help").text;
  for (const auto& [old_name, name] : names) {
    const Outcome help = Execute(kRetrace + " " + name + " --help");
    EXPECT_EQ(Execute(kRetrace + " " + old_name + " --help").text, help.text) << old_name;
    fs::create_symlink(kRetrace, Path(old_name));
    const Outcome link = Execute(Path(old_name) + " --help");
    EXPECT_EQ(link.code, 0);
    EXPECT_THAT(link.text, HasSubstr("Usage: " + old_name + " ")) << "messages have the name that it was called by";
    if (old_name != name) {
      EXPECT_THAT(overview, Not(HasSubstr(" " + old_name + " "))) << "old names are not shown";
    }
  }
  std::vector<std::string> links = Lines(Execute(kRetrace + " help --links").text);
  EXPECT_THAT(links, testing::IsSupersetOf({"reconstruct", "stabilise", "retrace-export", "track"}));
  EXPECT_THAT(links, Not(testing::Contains("export"))) << "a word of every shell";
  // Somebody may call the program as they like.
  fs::create_symlink(kRetrace, Path("my-retrace"));
  EXPECT_THAT(Execute(Path("my-retrace") + " replay").text, HasSubstr("retrace replay: folder is required"));
}

TEST_F(CommandLine, OldOptionsAreTakenAndShownNowhere) {
  struct Renamed {
    std::string command, old_option, option, value;
  };
  const std::vector<Renamed> all = {{"reconstruct", "--hang-limit", "--rank-timeout", "nan"},
                                    {"forces", "--hang-limit", "--rank-timeout", "nan"},
                                    {"evaluate", "--hang-limit", "--rank-timeout", "nan"},
                                    {"feedback add", "--hang-limit", "--rank-timeout", "nan"},
                                    {"feedback grow", "--hang-limit", "--rank-timeout", "nan"},
                                    {"reconstruct", "--tail", "--check-continuation", "nan"},
                                    {"evaluate", "--tail", "--check-continuation", "nan"},
                                    {"strike", "--within", "--search-window", "nan"},
                                    {"idle", "--reach", "--goal-tolerance", "nan"},
                                    {"respond", "--struck", "--receiver", "nan"},
                                    {"forces", "--measured-heading", "--force-plates-heading", "nan"},
                                    {"respond", "--as-recorded", "--no-mirror", ""},
                                    {"respond", "--any-motion", "--random-candidates", ""},
                                    {"respond", "--search-anyway", "--force-search", ""},
                                    {"idle", "--choose", "--allow-paths", ""},
                                    {"reconstruct", "--keep-tilt", "--no-level-floor", ""},
                                    {"model learn", "--free-places", "--no-back-constraint", ""},
                                    {"model learn", "--keep-pushes", "--no-push-removal", ""},
                                    {"forces", "--measured", "--force-plates", ""},
                                    {"library recordings", "--like", "--query", ""},
                                    {"character from-mesh", "--like", "--template", ""}};
  for (const auto& [command, old_option, option, value] : all) {
    const std::string program = kRetrace + " " + command;
    const std::string help = Execute(program + " --help").text;
    EXPECT_THAT(help, HasSubstr("  " + option)) << command;
    EXPECT_THAT(help, Not(testing::ContainsRegex(old_option + "[ ,=]"))) << command;
    // Both mean the same: they end in the same message, in which a bad value has the new name.
    const std::string rest = value.empty() ? " --nonsense" : " " + value;
    const Outcome with_old = Execute(program + " " + old_option + rest);
    const Outcome with_new = Execute(program + " " + option + rest);
    EXPECT_EQ(with_old.code, 2) << command << " " << old_option;
    EXPECT_EQ(with_old.text, with_new.text) << command << " " << old_option;
    if (!value.empty()) {
      EXPECT_THAT(with_old.text, HasSubstr(option + ": found nan")) << command;
    }
    EXPECT_THAT(with_old.text, Not(HasSubstr(old_option + ": there is no"))) << command;
  }
}

TEST_F(CommandLine, MisspelledWordsAreAnsweredWithTheNearestOnes) {
  ExpectRefusals(
      kRetrace,
      {
          // Commands.
          {"recnstruct clip.bvh", 2, "retrace: found the command \"recnstruct\", did you mean \"reconstruct\"?"},
          {"repot run", 2, "did you mean \"report\"?"},
          {"feedbak add run", 2, "did you mean \"feedback add\"?"},
          {"feedback ad run", 2, "found the command \"feedback ad\", did you mean \"feedback add\"?"},
          {"library", 2, "found the command \"library\", expected one of library controls, library recordings"},
          {"from-mesh body.glb", 2, "did you mean \"character from-mesh\"?"},
          {"help trak", 2, "did you mean \"track\"?"},
          {"xyzzy", 2, "found the command \"xyzzy\", expected a command: retrace --list lists them"},
          {"--lst", 2, "did you mean \"--list\"?"},
          {"", 2, "a command is needed"},
          // Options.
          {"reconstruct " + kClip + " --smaples 5", 2,
           "--smaples: there is no such option, did you mean \"--samples\"?"},
          {"export run --too glb", 2, "--too: there is no such option, did you mean \"--to\"?"},
          {"track " + kClip + " --xyzzy=1", 2, "--xyzzy: there is no such option (--help lists the options)"},
          // Settings.
          {"reconstruct " + kClip + " --set /search/sampels=5", 2,
           "/search/sampels: there is no such setting, did you mean \"/search/samples\", expected one of /search/"},
          {"reconstruct " + kClip + " --set /gates/back_off=5", 2,
           "did you mean \"/search/back_off\", expected one of /gates/"},
          {"feedback add run --set /stabilization/intervall=1", 2,
           "did you mean \"/stabilization/interval\", expected"},
          {"config show --set /nothing/at/all=1", 2, "there is no such setting, expected one of "},
          // Characters and worlds.
          {"reconstruct " + kClip + " --character humn", 2,
           "the character \"humn\": did you mean \"human\"? Expected a JSON file or one of: "},
          {"inspect " + kClip + " --character Asimo", 2, "did you mean \"asimo\"?"},
          {"reconstruct " + kClip + " --world crate", 2, "the world \"crate\": did you mean \"crates\"? Expected"},
          {"reconstruct " + kClip + " --world xyzzy", 2, "the world \"xyzzy\": expected a JSON file or one of: "},
          {"idle siting", 2, "did you mean \"sitting\"?"},
      });
}

TEST_F(CommandLine, TheConfigurationIsShown) {
  const Outcome shown = Execute(kRetrace + " config show");
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.text, Execute(kReconstruct + " --print-config").text);
  const Outcome draft = Execute(kRetrace + " config show --quality draft --set /search/samples=77");
  EXPECT_THAT(draft.text, HasSubstr("\"samples\": 77"));
  EXPECT_THAT(draft.text, HasSubstr("\"passes\": 1"));
  EXPECT_EQ(Execute(kRetrace + " config show --config " + Write("draft.json", draft.text)).text, draft.text);
}

TEST_F(CommandLine, ARunIsVerified) {
  const std::string run = SmallRun("run");
  const Outcome verified = Execute(kVerify + " " + run);
  EXPECT_EQ(verified.code, 0) << verified.text;
  EXPECT_EQ(verified.text, Execute(kReplay + " " + run + " --verify").text);
  io::WriteFile(run + "/pressure.csv", "time\n");
  const Outcome changed = Execute(kVerify + " " + run);
  EXPECT_EQ(changed.code, 4);
  EXPECT_THAT(changed.text, StartsWith("retrace verify: "));
  EXPECT_THAT(changed.text, HasSubstr("pressure.csv"));
  EXPECT_EQ(Execute(kVerify + " " + Path("none")).code, 3);
}

}  // namespace
}  // namespace retrace::apps
