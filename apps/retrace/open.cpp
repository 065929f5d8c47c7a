/// open: the page of a run in the browser; its path where there is none.
#include <fcntl.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/program.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/io/error.h"
#include "retrace/io/program_path.h"
#include "retrace/jobs/report_page.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::apps::open_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string run;
  bool print = false;
  bool again = false;
  bool json = false;
};

/// Whether the page is there and as young as what it shows.
bool IsCurrent(const fs::path& page, const fs::path& folder) {
  std::error_code error;
  const fs::file_time_type made = fs::last_write_time(page, error);
  if (error) return false;
  const fs::file_time_type shown = fs::last_write_time(folder / results::kManifestFile, error);
  return error || made >= shown;
}

/// The page of a folder, which is made where it is missing or older than the run.
fs::path PageOf(const Options& o, const Call& call) {
  fs::path folder = o.run;
  if (fs::is_regular_file(folder) && folder.extension() == ".html") return folder;
  if (!fs::is_directory(folder)) throw InputError(o.run, "no such folder", "the folder of a run, or a page");
  fs::path page = folder / results::kReportFile;
  if (!o.again && IsCurrent(page, folder)) return page;
  runs::FindReportPage();
  const runs::GatheredReport report = runs::GatherReport({o.run});
  runs::WriteReportPage(report.document, page);
  for (const std::string& difference : report.differing) {
    std::fprintf(stderr, "%s: %s; the page shows the replay\n", cli::Shown(call.name).c_str(),
                 cli::Shown(difference).c_str());
  }
  return page;
}

bool IsSet(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Gives the page to what the desktop opens pages with. False: there is no desktop, or nothing that opens pages.
bool OpenInBrowser(const fs::path& page) {
  if (!IsSet("DISPLAY") && !IsSet("WAYLAND_DISPLAY") && !IsSet("BROWSER")) return false;
  const fs::path opener = io::FindProgram("xdg-open");
  if (opener.empty()) return false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const int stream : {1, 2}) posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failure = io::StartProgram({opener.string(), page.string()}, actions, 0, child);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failure == 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

int Open(const Options& o, const Call& call) {
  const fs::path page = fs::absolute(PageOf(o, call)).lexically_normal();
  const bool opened = !o.print && OpenInBrowser(page);
  if (o.json) {
    PrintJson({{"page", page.string()}, {"opened", opened}});
    return 0;
  }
  if (opened) {
    std::printf("%s: opened\n", cli::Shown(page.string()).c_str());
    return 0;
  }
  std::printf("%s\n", cli::Shown(page.string()).c_str());
  if (!o.print) {
    std::fprintf(stderr,
                 "%s: found no desktop with a browser (xdg-open); the page is a single file that opens in any\n",
                 cli::Shown(call.name).c_str());
  }
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  command.Add("run", options->run, "Folder of a run, of variations or of an evaluation, or a page")
      .Type("DIR")
      .Required();
  command.AddFlag("--print", options->print, "Print the path of the page instead of opening it");
  command.AddFlag("--again", options->again, "Make the page anew, also where it is as young as the run");
  AddJsonOption(command, options->json);
  return [options](const Call& call) { return Open(*options, call); };
}

}  // namespace retrace::apps::open_command
