/// The frame of every program: errors turned into one message and an exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace retrace::cli {

/// Prepares this process for limits of the machine: a file that may not grow and a pipe without a reader make the call
/// fail that writes, and an exception for memory or threads that nothing can catch ends the process with one line and
/// ExitCode::kResources. `name` is what that line begins with.
void PrepareProcess(const std::string& name);

/// Runs the body of a program and maps what it throws to an exit code and one line on standard error. Output that
/// could not be written is an error, too.
int RunProgram(const std::string& name, bool prints, const std::function<int()>& body);

/// The exit code of a program that ends with `exit_code`: another one when its output could not be written. That is
/// said on standard error unless standard output is a pipe whose reader has gone.
int FinishOutput(const std::string& name, bool prints, int exit_code);

/// A word as a shell takes it back, in quotation marks where it needs them.
std::string ShellWord(const std::string& word);

/// The command line as one string that a shell takes back.
std::string CommandLine(int argc, const char* const* argv);

/// The arguments of a program behind its name.
std::vector<std::string> Arguments(int argc, const char* const* argv);

/// A text as it is printed, whatever file or command line it comes from: in one line, with control characters as
/// escapes, so that no name moves the cursor or looks like a line of the program. All that commands print goes through
/// this or through ShownLines (a rule of scripts/check/check-modules).
std::string Shown(const std::string& text);

/// The same of a text of several lines.
std::string ShownLines(const std::string& text);

/// Prints a warning of the program on standard error; an empty text is none.
void Warn(const std::string& name, const std::string& text);

}  // namespace retrace::cli
