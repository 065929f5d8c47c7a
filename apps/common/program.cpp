#include "common/program.h"

#include <cstdio>

#include "retrace/io/error.h"

namespace retrace::apps {

bool ParseOptions(CLI::App& app, int argc, char** argv, bool speaks, int& exit_code) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) {  // --help, --version
    if (speaks) app.exit(request);
    exit_code = static_cast<int>(ExitCode::kSuccess);
  } catch (const CLI::ParseError& error) {
    if (speaks) std::fprintf(stderr, "%s: %s (--help lists the options)\n", app.get_name().c_str(), error.what());
    exit_code = static_cast<int>(ExitCode::kUsage);
  }
  return false;
}

int RunProgram(const std::string& name, bool speaks, const std::function<int()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (speaks) std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
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

}  // namespace retrace::apps
