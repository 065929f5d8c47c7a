/// All commands of the program, in one table: help texts, --list, suggestions, completion, manual pages and the old
/// names of programs come from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace retrace::parallel {
class MpiSession;
}

namespace retrace::apps {

/// How a command was called.
struct Call {
  std::string name;             ///< what its messages begin with: reconstruct, or retrace replay
  std::string line;             ///< the whole command line, as a shell takes it back
  parallel::MpiSession* mpi{};  ///< of a command that may run under mpirun
};

/// What a command does once its options are parsed. Returns the exit code.
using Body = std::function<int(const Call&)>;

struct CommandEntry {
  std::string name;  ///< one word, or two of which the first is shared, as in `feedback add`
  std::string group;
  std::string summary;                    ///< one line
  Body (*define)(cli::Command& command);  ///< adds the options and returns what the command does
  std::vector<std::string>
      program_names;  ///< under which it may be a program of its own; the first is that of its link
  bool runs_under_mpi = false;
};

const std::vector<CommandEntry>& Commands();

/// The command of a name, also of the name of an old program; null: there is none.
const CommandEntry* FindCommand(const std::string& name);

/// What an option of a command says, with the command's options defined.
std::vector<cli::OptionText> OptionsOf(const CommandEntry& entry);

/// Its name as one word, as a manual or a page has it: feedback-add.
std::string HyphenatedName(const CommandEntry& entry);

/// Throws UsageError for words that name no command, with the nearest ones.
[[noreturn]] void RefuseCommand(const std::vector<std::string>& words);

/// Runs the program: the command is named by argv[0] or by the first arguments. Returns the exit code.
int Dispatch(int argc, char** argv);

// One source file each, of the same name.
#define RETRACE_COMMAND(name)           \
  namespace name##_command {            \
    Body Define(cli::Command& command); \
  }
RETRACE_COMMAND(reconstruct)
RETRACE_COMMAND(track)
RETRACE_COMMAND(forces)
RETRACE_COMMAND(inspect)
RETRACE_COMMAND(idle)
RETRACE_COMMAND(verify)
RETRACE_COMMAND(replay)
RETRACE_COMMAND(report)
RETRACE_COMMAND(export)
RETRACE_COMMAND(open)
RETRACE_COMMAND(list)
RETRACE_COMMAND(clean)
RETRACE_COMMAND(evaluate)
RETRACE_COMMAND(compose)
RETRACE_COMMAND(respond)
RETRACE_COMMAND(strike)
RETRACE_COMMAND(feedback_add)
RETRACE_COMMAND(feedback_grow)
RETRACE_COMMAND(library_recordings)
RETRACE_COMMAND(library_controls)
RETRACE_COMMAND(model_learn)
RETRACE_COMMAND(model_play)
RETRACE_COMMAND(character_from_mesh)
RETRACE_COMMAND(character_show)
RETRACE_COMMAND(config_show)
RETRACE_COMMAND(completion)
RETRACE_COMMAND(help)
#undef RETRACE_COMMAND

}  // namespace retrace::apps
