/// The kinds of error that the tool distinguishes, each with its exit code. A user's mistake is thrown as one of these;
/// a diverged simulation is a value and never thrown; anything else that escapes is a bug (exit code 1).
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace retrace {

/// Exit codes of every program of the toolkit.
enum class ExitCode : int {
  kSuccess = 0,
  kBug = 1,
  kUsage = 2,
  kInput = 3,
  kBelowGate = 4,
  kOutput = 5,
  kResources = 6,
  kDoubtful = 7,
  kStoppedWithCheckpoint = 75,
};

/// A message as one line that a terminal shows as it is: control characters, which come from names and files, are
/// written as escapes, and what is longer than 8 kB loses its middle.
std::string MessageLine(std::string_view message);

/// Base of all errors that a user can cause or cure. Its message is one line.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(MessageLine(message)), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Wrong options or configuration (exit code 2).
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// A file that cannot be used as it is (exit code 3). The message reads `place: found ..., expected ...`, where the
/// place is `file:line:column` for text and `file: /json/pointer` for JSON.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::kInput, message) {}
  InputError(const std::string& place, const std::string& found, const std::string& expected)
      : Error(ExitCode::kInput, place + ": found " + found + ", expected " + expected) {}
};

/// Results that cannot be written (exit code 5).
class OutputError : public Error {
 public:
  explicit OutputError(const std::string& message) : Error(ExitCode::kOutput, message) {}
};

/// The machine, or a limit of this process, has no more of what the work needs: memory, threads, processes, open files
/// (exit code 6).
class ResourceError : public Error {
 public:
  explicit ResourceError(const std::string& message) : Error(ExitCode::kResources, message) {}
};

/// What has run out where an exception of the standard library says that something has, as a sentence without a subject
/// before it ("memory ran out"); empty for all others.
std::string ExhaustedResource(const std::exception& error);

/// Work that was stopped on request, with a checkpoint from which it can be resumed (exit code 75).
class StoppedError : public Error {
 public:
  explicit StoppedError(const std::string& message) : Error(ExitCode::kStoppedWithCheckpoint, message) {}
};

}  // namespace retrace
