/// Other programs on this machine.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace retrace::io {

/// The program of a name on the PATH, or the one at a path (a name with /); empty where there is none that can be run.
std::filesystem::path FindProgram(const std::string& name);

/// Starts a program: its path, then its arguments. It gets signals as programs expect them, whatever this one ignores.
/// `flags` are more of posix_spawnattr_setflags. Returns 0, or the error number of what kept it from starting.
int StartProgram(std::vector<std::string> words, const posix_spawn_file_actions_t& actions, short flags, pid_t& child);

}  // namespace retrace::io
