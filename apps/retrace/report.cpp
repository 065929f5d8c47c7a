/// report: runs as one page for any web browser, or as a film strip.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/jobs/report_page.h"
#include "retrace/report/browser.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::apps::report_command {
namespace {

struct Options {
  std::vector<std::string> folders;
  std::string output;
  std::string png;
  std::string browser;
  int figures = 8;
  int width = 1600;
  bool force = false;
};

int Report(const Options& o, const Call& call) {
  // What would end in a message does so before anything is simulated.
  runs::FindReportPage();
  const std::filesystem::path browser = o.png.empty() ? "" : report::FindBrowser(o.browser);
  if (!o.output.empty()) runs::CheckReportOutput(o.output, o.folders, o.force);
  if (!o.png.empty()) runs::CheckReportOutput(o.png, o.folders, o.force);
  const runs::GatheredReport report = runs::GatherReport(o.folders);
  const auto write_page = [&](const std::filesystem::path& file) { runs::WriteReportPage(report.document, file); };
  if (!o.output.empty() || o.png.empty()) {
    const std::filesystem::path file = o.output.empty()
                                           ? std::filesystem::path(o.folders.front()) / results::kReportFile
                                           : std::filesystem::path(o.output);
    write_page(file);
    std::printf("%s: %s MB, opens in any web browser\n", cli::Shown(file).c_str(),
                io::Fixed(static_cast<double>(std::filesystem::file_size(file)) / 1e6, 1).c_str());
  }
  if (!o.png.empty()) {
    const std::string fragment = "filmstrip,figures=" + std::to_string(o.figures) + ",width=" + std::to_string(o.width);
    const std::string png = report::DrawPicture(browser, write_page, fragment);
    io::WriteFile(o.png, png);
    std::printf("%s: %zu kB\n", cli::Shown(o.png).c_str(), (png.size() + 999) / 1000);
  }
  for (const std::string& difference : report.differing) {
    std::fprintf(stderr, "%s: %s; the page shows the replay\n", cli::Shown(call.name).c_str(),
                 cli::Shown(difference).c_str());
  }
  return static_cast<int>(report.differing.empty() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

void AddOptions(cli::Command& command, Options& o) {
  command
      .Add("folders", o.folders,
           "Folders of runs, of variations, or of what evaluate measured; several are shown side by side")
      .Type("DIR")
      .Required();
  command.Add("--output", o.output, "The page [DIR/report.html; none with --png]").Type("FILE");
  command.AddFlag("--force", o.force, "Write over a file that report did not make");
  const cli::Option png =
      command.Add("--png", o.png, "A film strip of the first run as a picture, drawn by Chromium").Type("FILE");
  cli::AddNumber(command, "--figures", o.figures, io::Integer{2, 40}, "Poses in the film strip").Needs(png);
  cli::AddNumber(command, "--width", o.width, io::Integer{200, 8000}, "Width of the film strip [px]").Needs(png);
  command.Add("--browser", o.browser, "The browser that draws [chromium, google-chrome, ...]")
      .Type("PROGRAM")
      .Needs(png);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Report(*options, call); };
}

}  // namespace retrace::apps::report_command
