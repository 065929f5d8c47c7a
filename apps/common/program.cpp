#include "common/program.h"

#include <cstdio>
#include <optional>

#include "retrace/io/error.h"
#include "retrace/io/remedy.h"

namespace retrace::apps {

bool ParseOptions(CLI::App& app, int argc, char** argv, bool speaks, int& exit_code) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) {  // --help, --version
    if (speaks) app.exit(request);
    exit_code = static_cast<int>(ExitCode::kSuccess);
  } catch (const CLI::ParseError& error) {
    const std::string message = MessageLine(error.what());
    if (speaks) std::fprintf(stderr, "%s: %s (--help lists the options)\n", app.get_name().c_str(), message.c_str());
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
      return "--resume goes on from it";
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

int RunProgram(const std::string& name, bool speaks, const std::function<int()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (speaks) std::fprintf(stderr, "%s: %s%s\n", name.c_str(), error.what(), Hints(error).c_str());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    if (speaks) std::fprintf(stderr, "%s: internal error, please report it: %s\n", name.c_str(), error.what());
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
  const bool speaks = mpi->rank() == 0;
  CLI::App app(description, name);
  add_options(app);
  if (!ParseOptions(app, argc, argv, speaks, exit_code)) return exit_code;
  return RunProgram(name, speaks, [&] { return body(command, *mpi); });
}

void Warn(const std::string& name, const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "%s: warning: %s\n", name.c_str(), text.c_str());
}

}  // namespace retrace::apps
