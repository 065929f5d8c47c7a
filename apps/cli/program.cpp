#include "cli/program.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "cli/field_options.h"
#include "retrace/io/error.h"
#include "retrace/io/remedy.h"

namespace retrace::cli {

namespace {

std::array<char, 64> program_name = {"retrace"};  // for messages where nothing can be allocated

/// What could not be caught: an exception where none may leave, such as one for memory in a destructor or a thread.
[[noreturn]] void EndUncaught() {
  const std::exception_ptr exception = std::current_exception();
  try {
    if (exception) std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: memory ran out\n", program_name.data());
    std::_Exit(static_cast<int>(ExitCode::kResources));
  } catch (const std::system_error& error) {
    const std::string exhausted = ExhaustedResource(error);
    if (!exhausted.empty()) {
      std::fprintf(stderr, "%s: %s\n", program_name.data(), exhausted.c_str());
      std::_Exit(static_cast<int>(ExitCode::kResources));
    }
  } catch (...) {
  }
  std::abort();
}

/// Whether standard output is a pipe without a reader.
bool ReaderIsGone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

}  // namespace

void PrepareProcess(const std::string& name) {
  const size_t length = std::min(name.size(), program_name.size() - 1);
  std::copy_n(name.begin(), length, program_name.begin());
  program_name[length] = '\0';
  // Where a file may not grow, and where the reader has gone, the call that writes fails and says so.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::set_terminate(EndUncaught);
}

int FinishOutput(const std::string& name, bool prints, int exit_code) {
  const bool failed = std::ferror(stdout) != 0;
  errno = failed ? EIO : 0;  // the reason of an earlier failure is not known any more
  if (std::fflush(stdout) == 0 && !failed) return exit_code;
  const int reason = errno;
  // Who has read enough, as `head`, knows that there is more.
  if (prints && !ReaderIsGone()) {
    std::fprintf(stderr, "%s: standard output: cannot be written: %s\n", name.c_str(), std::strerror(reason));
  }
  const bool other_error = exit_code != static_cast<int>(ExitCode::kSuccess) &&
                           exit_code != static_cast<int>(ExitCode::kBelowGate) &&
                           exit_code != static_cast<int>(ExitCode::kDoubtful);
  return other_error ? exit_code : static_cast<int>(ExitCode::kOutput);
}

namespace {

/// What the option of a remedy does. Every program has the same name for it.
const char* HintFor(Remedy remedy) {
  switch (remedy) {
    case Remedy::kOverwrite:
      return "--force overwrites what is there";
    case Remedy::kResume:
      return "--resume continues from it";
    case Remedy::kBeginAnew:
      return "--force without --resume begins anew";
    case Remedy::kOtherOutput:
      return "another --output keeps it";
    case Remedy::kSkeletonMap:
      return "--map FILE";
    case Remedy::kNamedBrowser:
      return "--browser NAME";
    case Remedy::kNamedRecording:
      return "--recording FILE";
    case Remedy::kExchangedSides:
      return "--force-plates-sides exchanged";
    case Remedy::kMirroring:
      return "--mirror mirrors the recording";
    case Remedy::kClockOfPlates:
      return "--force-plates-delay SECONDS";
  }
  return "";
}

/// The remedies of an error in brackets; empty where there are none.
std::string Hints(const std::exception& error) {
  std::string text;
  for (const Remedy remedy : RemediesOf(error)) text.append(text.empty() ? " (" : ", ").append(HintFor(remedy));
  return text.empty() ? text : text.append(")");
}

}  // namespace

int RunProgram(const std::string& name, bool prints, const std::function<int()>& body) {
  PrepareProcess(name);
  const auto end = [&](ExitCode code, const std::string& message) {
    if (prints) std::fprintf(stderr, "%s: %s\n", name.c_str(), message.c_str());
    return static_cast<int>(code);
  };
  try {
    return FinishOutput(name, prints, body());
  } catch (const Error& error) {
    return end(error.code(), MessageOf(error) + Hints(error));
  } catch (const std::exception& error) {
    if (const std::string exhausted = ExhaustedResource(error); !exhausted.empty()) {
      return end(ExitCode::kResources, MessageLine(exhausted));
    }
    // A name too long, links without an end.
    if (const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
      return end(ExitCode::kInput,
                 MessageLine(of_file->path1().string() + ": cannot be used: " + of_file->code().message()));
    }
    return end(ExitCode::kBug, "internal error, please report it: " + MessageLine(error.what()));
  }
}

std::string ShellWord(const std::string& word) {
  static const char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted(1, '\'');
  for (const char c : word) {
    if (c == '\'') {
      quoted.append("'\\''");
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('\'');
  return quoted;
}

std::string CommandLine(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    if (i > 0) line.push_back(' ');
    line.append(ShellWord(argv[i]));
  }
  return line;
}

std::vector<std::string> Arguments(int argc, const char* const* argv) {
  return {argv + std::min(argc, 1), argv + argc};
}

std::string Shown(const std::string& text) {
  return MessageLine(text);
}

std::string ShownLines(const std::string& text) {
  std::string lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.append(Shown(text.substr(begin, end - begin)));
    if (end < text.size()) lines.push_back('\n');
    begin = end + 1;
  }
  return lines;
}

void Warn(const std::string& name, const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "%s: warning: %s\n", name.c_str(), Shown(text).c_str());
}

}  // namespace retrace::cli
