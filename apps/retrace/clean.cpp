/// clean: removes runs, and nothing but runs.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/program.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/runs/stored/run_list.h"

namespace retrace::apps::clean_command {
namespace {

struct Options {
  std::vector<std::string> folders;
  bool failed = false;
  bool yes = false;
  bool json = false;
};

bool IsFailed(runs::RunVerdict verdict) {
  return verdict == runs::RunVerdict::kOutOfTolerance || verdict == runs::RunVerdict::kUnfinished;
}

double Megabytes(std::uintmax_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

const char* Plural(size_t count) {
  return count == 1 ? "" : "s";
}

/// Asks on a terminal.
bool Confirms(size_t runs, std::uintmax_t bytes) {
  if (!::isatty(STDIN_FILENO) || !::isatty(STDOUT_FILENO)) return false;
  std::printf("Remove %zu run%s, %.1f MB? [y/N] ", runs, Plural(runs), Megabytes(bytes));
  std::fflush(stdout);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

int Clean(const Options& o, const Call& call) {
  std::vector<runs::ListedRun> chosen;
  std::set<std::string> seen;
  std::uintmax_t bytes = 0;
  io::Json kept = io::Json::array();
  for (const std::string& folder : o.folders) {
    for (runs::ListedRun& run : runs::FindRuns(folder)) {
      if (o.failed && !IsFailed(run.verdict)) continue;
      if (!seen.insert(std::filesystem::weakly_canonical(run.folder).string()).second) continue;
      if (const std::string reason = runs::WhyKept(run); !reason.empty()) {
        std::fprintf(stderr, "%s: %s; this run is kept\n", cli::Shown(call.name).c_str(), cli::Shown(reason).c_str());
        kept.push_back({{"folder", run.folder.string()}, {"reason", reason}});
        continue;
      }
      if (!o.json) {
        std::printf("%s  %s, %.1f MB\n", cli::Shown(run.folder.string()).c_str(), Name(run.verdict).c_str(),
                    Megabytes(run.bytes));
      }
      bytes += run.bytes;
      chosen.push_back(std::move(run));
    }
  }
  const auto remove = [&] {
    // The deepest first: a folder of runs may be one itself.
    size_t left = 0;
    for (auto run = chosen.rbegin(); run != chosen.rend(); ++run) left += runs::Remove(*run) ? 0 : 1;
    return left;
  };
  if (o.json) {
    const size_t left = o.yes ? remove() : 0;
    PrintJson(
        {{"removed", o.yes}, {"bytes", bytes}, {"runs", runs::ToJson(chosen)}, {"kept", kept}, {"folders_left", left}});
    return 0;
  }
  if (chosen.empty()) {
    std::printf("no runs to remove\n");
    return 0;
  }
  if (!o.yes && !Confirms(chosen.size(), bytes)) {
    std::printf("%zu run%s, %.1f MB: nothing is removed without --yes\n", chosen.size(), Plural(chosen.size()),
                Megabytes(bytes));
    return 0;
  }
  const size_t left = remove();
  std::printf("%zu run%s removed, %.1f MB\n", chosen.size(), Plural(chosen.size()), Megabytes(bytes));
  if (left > 0) std::printf("other files stay in %zu of their folders\n", left);
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  command
      .Add("folders", options->folders,
           "Folders in which runs are looked for, also in those below them: their files go, other files stay")
      .Type("DIR")
      .Required();
  command.AddFlag("--failed", options->failed, "Only runs that are out of tolerance or did not finish");
  command.AddFlag("--yes", options->yes, "Remove them; without it they are listed, and a terminal is asked");
  AddJsonOption(command, options->json);
  return [options](const Call& call) { return Clean(*options, call); };
}

}  // namespace retrace::apps::clean_command
