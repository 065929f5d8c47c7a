#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/field_options.h"
#include "retrace/io/error.h"
#include "retrace/io/remedy.h"

namespace retrace::cli {

int FinishOutput(const std::string& name, bool prints, int exit_code) {
  const bool failed = std::ferror(stdout) != 0;
  errno = failed ? EIO : 0;  // the reason of an earlier failure is not known any more
  if (std::fflush(stdout) == 0 && !failed) return exit_code;
  if (prints) std::fprintf(stderr, "%s: standard output: cannot be written: %s\n", name.c_str(), std::strerror(errno));
  const bool other_error =
      exit_code != static_cast<int>(ExitCode::kSuccess) && exit_code != static_cast<int>(ExitCode::kBelowGate);
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
  try {
    return FinishOutput(name, prints, body());
  } catch (const Error& error) {
    if (prints) std::fprintf(stderr, "%s: %s%s\n", name.c_str(), MessageOf(error).c_str(), Hints(error).c_str());
    return static_cast<int>(error.code());
  } catch (const std::filesystem::filesystem_error& error) {  // a name too long, links without an end
    const std::string message = MessageLine(error.path1().string() + ": cannot be used: " + error.code().message());
    if (prints) std::fprintf(stderr, "%s: %s\n", name.c_str(), message.c_str());
    return static_cast<int>(ExitCode::kInput);
  } catch (const std::exception& error) {
    if (prints) std::fprintf(stderr, "%s: internal error, please report it: %s\n", name.c_str(), error.what());
    return static_cast<int>(ExitCode::kBug);
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

void Warn(const std::string& name, const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "%s: warning: %s\n", name.c_str(), text.c_str());
}

}  // namespace retrace::cli
