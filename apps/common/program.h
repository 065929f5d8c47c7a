/// The frame of every program: options parsed, errors turned into one message and an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "retrace/parallel/task_farm.h"

namespace retrace::apps {

/// Parses the options; a mistake in them is printed and gives exit code 2, `--help` and `--version` give 0. Returns
/// true when the program should continue, else `exit_code` is set. Prints nothing unless `prints` is set.
bool ParseOptions(CLI::App& app, int argc, char** argv, bool prints, int& exit_code);

/// Runs the body of a program and maps what it throws to an exit code and one line on standard error. Output that
/// could not be written is an error, too.
int RunProgram(const std::string& name, bool prints, const std::function<int()>& body);

/// A word as a shell takes it back, in quotation marks where it needs them.
std::string ShellWord(const std::string& word);

/// The command line as one string that a shell takes back.
std::string CommandLine(int argc, char** argv);

/// A whole program that may run under mpirun: joins the job, reads the options (rank 0 alone prints), runs `body` with
/// the command line, and returns the exit code.
int RunMpiProgram(const std::string& name, const std::string& description, int argc, char** argv,
                  const std::function<void(CLI::App&)>& add_options,
                  const std::function<int(const std::string& command, parallel::MpiSession&)>& body);

/// Prints a warning of the program on standard error; an empty text is none.
void Warn(const std::string& name, const std::string& text);

}  // namespace retrace::apps
