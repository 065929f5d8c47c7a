#include "commands.h"

#include <algorithm>

namespace retrace::apps {
namespace {

const char* const kRecordings = "From a recording";
const char* const kRuns = "With a run";
const char* const kSeveral = "From several motions";
const char* const kMany = "Many at once";
const char* const kTool = "About this program";

}  // namespace

const std::vector<CommandEntry>& Commands() {
  static const std::vector<CommandEntry> commands = {
      {"reconstruct",
       kRecordings,
       "Reconstructs the open-loop control and the contact forces behind a recorded motion.",
       reconstruct_command::Define,
       {"reconstruct"},
       true},
      {"forces",
       kRecordings,
       "Finds the ground forces and the joint loads behind a recorded motion, by inverse dynamics or in a simulation.",
       forces_command::Define,
       {"forces"},
       true},
      {"track",
       kRecordings,
       "Follows a recorded motion with a feedback controller that foresees one instant.",
       track_command::Define,
       {"track"}},
      {"inspect", kRecordings, "Prints what is recognized in a recorded motion.", inspect_command::Define, {"inspect"}},
      {"verify",
       kRuns,
       "Simulates a run again and compares it with what is stored, bit for bit.",
       verify_command::Define,
       {}},
      {"replay", kRuns, "Simulates the control of a run in a fresh process.", replay_command::Define, {"replay"}},
      {"report",
       kRuns,
       "Shows runs in one page that opens in any web browser, from disk.",
       report_command::Define,
       {"report"}},
      {"export",
       kRuns,
       "Writes the motion of a run in the formats of other programs. The control is simulated again.",
       export_command::Define,
       {"retrace-export", "export"}},
      {"open",
       kRuns,
       "Opens the page of a run in the browser, and makes it where it is missing.",
       open_command::Define,
       {}},
      {"list", kRuns, "Prints a table of the runs in a folder with their verdicts.", list_command::Define, {}},
      {"clean", kRuns, "Removes runs, and nothing but runs.", clean_command::Define, {}},
      {"feedback add",
       kRuns,
       "Adds feedback to a run: replays then withstand pushes, and worlds that it was not made for.",
       feedback_add_command::Define,
       {"stabilise", "stabilize"},
       true},
      {"feedback grow",
       kRuns,
       "Grows a tree of recoveries around the feedback of a run: replays then withstand larger pushes.",
       feedback_grow_command::Define,
       {"grow-tree"},
       true},
      {"idle",
       kSeveral,
       "Idles between key poses, on furniture, for any length of time.",
       idle_command::Define,
       {"retrace-idle", "idle"}},
      {"compose",
       kSeveral,
       "Plays runs of a library one after the other, and answers pushes, as one control.",
       compose_command::Define,
       {"retrace-compose", "compose"}},
      {"respond",
       kSeveral,
       "Finds what a body does after a push: on with its own motion, or into one of a library.",
       respond_command::Define,
       {"respond"}},
      {"strike",
       kSeveral,
       "Puts two recordings into one world, and simulates how the one character strikes the other.",
       strike_command::Define,
       {"strike"}},
      {"model learn",
       kSeveral,
       "Learns how somebody walks and answers pushes from a normal motion and a few disturbed ones.",
       model_learn_command::Define,
       {"learn-response"}},
      {"model play",
       kSeveral,
       "Plays a model of responses: a motion of any length that answers pushes. Kinematic.",
       model_play_command::Define,
       {"synthesise", "synthesize"}},
      {"evaluate",
       kMany,
       "Reconstructs a list of clips with many seeds and measures how often they succeed, how well and at what cost.",
       evaluate_command::Define,
       {"evaluate"},
       true},
      {"library controls",
       kMany,
       "Makes a library of controls of a list of recordings, for compose.",
       library_controls_command::Define,
       {"make-library"}},
      {"library recordings",
       kMany,
       "Makes a library of recorded motions, in which motions are found that go on as another one does.",
       library_recordings_command::Define,
       {"build-library"}},
      {"character from-mesh",
       kTool,
       "Makes a physical character of a body mesh with a skin: shapes, masses, joints and servos.",
       character_from_mesh_command::Define,
       {"make-body"}},
      {"character show",
       kTool,
       "Prints, draws and converts a character, also a robot's URDF or MJCF file.",
       character_show_command::Define,
       {}},
      {"config show", kTool, "Prints the whole configuration with comments.", config_show_command::Define, {}},
      {"completion",
       kTool,
       "Prints what makes a shell complete commands, options and their values.",
       completion_command::Define,
       {}},
      {"help", kTool, "Shows all commands, or the options of one.", help_command::Define, {}},
  };
  return commands;
}

const CommandEntry* FindCommand(const std::string& name) {
  const std::vector<CommandEntry>& commands = Commands();
  auto found = std::find_if(commands.begin(), commands.end(), [&](const CommandEntry& c) { return c.name == name; });
  if (found == commands.end()) {
    found = std::find_if(commands.begin(), commands.end(), [&](const CommandEntry& c) {
      return std::count(c.program_names.begin(), c.program_names.end(), name) > 0;
    });
  }
  return found == commands.end() ? nullptr : &*found;
}

std::vector<cli::OptionText> OptionsOf(const CommandEntry& entry) {
  cli::Command command("retrace " + entry.name, entry.summary);
  entry.define(command);
  command.AddVersion("");
  return command.Options();
}

std::string HyphenatedName(const CommandEntry& entry) {
  std::string name = entry.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

}  // namespace retrace::apps
