#include "common/program.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "retrace/io/error.h"
#include "retrace/io/remedy.h"

namespace retrace::apps {

namespace {

/// The exit code of a program that ends with `exit_code`: another one when its output could not be written.
int FinishOutput(const std::string& name, bool prints, int exit_code) {
  const bool failed = std::ferror(stdout) != 0;
  errno = failed ? EIO : 0;  // the reason of an earlier failure is not known any more
  if (std::fflush(stdout) == 0 && !failed) return exit_code;
  if (prints) std::fprintf(stderr, "%s: standard output: cannot be written: %s\n", name.c_str(), std::strerror(errno));
  const bool other_error =
      exit_code != static_cast<int>(ExitCode::kSuccess) && exit_code != static_cast<int>(ExitCode::kBelowGate);
  return other_error ? exit_code : static_cast<int>(ExitCode::kOutput);
}

/// No option means anything by an empty text, such as a shell makes of a variable that is not set.
void RefuseEmptyTexts(const CLI::Option& option) {
  if (option.get_expected_min() == 0) return;  // it may come without a value
  for (const std::string& text : option.results()) {
    if (text.empty()) throw CLI::ValidationError(option.get_name() + ": found an empty text, expected a value");
  }
}

}  // namespace

bool ParseOptions(CLI::App& app, int argc, char** argv, bool prints, int& exit_code) {
  try {
    app.parse(argc, argv);
    for (const CLI::Option* option : app.get_options()) RefuseEmptyTexts(*option);
    return true;
  } catch (const CLI::Success& request) {  // --help, --version
    if (prints) app.exit(request);
    exit_code = FinishOutput(app.get_name(), prints, static_cast<int>(ExitCode::kSuccess));
  } catch (const CLI::ParseError& error) {
    const std::string message = MessageLine(error.what());
    if (prints) std::fprintf(stderr, "%s: %s (--help lists the options)\n", app.get_name().c_str(), message.c_str());
    exit_code = static_cast<int>(ExitCode::kUsage);
  }
  return false;
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
    if (prints) std::fprintf(stderr, "%s: %s%s\n", name.c_str(), error.what(), Hints(error).c_str());
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

std::string CommandLine(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    if (i > 0) line.push_back(' ');
    line.append(ShellWord(argv[i]));
  }
  return line;
}

int RunMpiProgram(const std::string& name, const std::string& description, int argc, char** argv,
                  const std::function<void(CLI::App&)>& add_options,
                  const std::function<int(const std::string& command, parallel::MpiSession&)>& body) {
  const std::string command = CommandLine(argc, argv);
  std::optional<parallel::MpiSession> mpi;
  int exit_code = RunProgram(name, true, [&] { return mpi.emplace(&argc, &argv), 0; });
  if (!mpi) return exit_code;
  const bool prints = mpi->rank() == 0;
  CLI::App app(description, name);
  add_options(app);
  if (!ParseOptions(app, argc, argv, prints, exit_code)) return exit_code;
  return RunProgram(name, prints, [&] { return body(command, *mpi); });
}

void Warn(const std::string& name, const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "%s: warning: %s\n", name.c_str(), text.c_str());
}

}  // namespace retrace::apps
