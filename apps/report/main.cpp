/// report: runs as one page for any web browser, or as a film strip.
#include <cstdio>

#include "common/number_option.h"
#include "common/program.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/report/browser.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/inputs/data_files.h"
#include "retrace/jobs/report_page.h"

namespace retrace::report_program {
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

int Report(const Options& o) {
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
    std::printf("%s: %s MB, opens in any web browser\n", file.c_str(),
                io::Fixed(static_cast<double>(std::filesystem::file_size(file)) / 1e6, 1).c_str());
  }
  if (!o.png.empty()) {
    const std::string fragment = "filmstrip,figures=" + std::to_string(o.figures) + ",width=" + std::to_string(o.width);
    const std::string png = report::DrawPicture(browser, write_page, fragment);
    io::WriteFile(o.png, png);
    std::printf("%s: %zu kB\n", o.png.c_str(), (png.size() + 999) / 1000);
  }
  for (const std::string& difference : report.differing) {
    std::fprintf(stderr, "report: %s; the page shows the replay\n", difference.c_str());
  }
  return static_cast<int>(report.differing.empty() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App app("Shows runs in one page that opens in any web browser, from disk.", "report");
  Options options;
  app.add_option("folders", options.folders,
                 "Folders of runs, of variations, or of what evaluate measured; several are shown side by side")
      ->type_name("DIR")
      ->required();
  app.add_option("--output", options.output, "The page [DIR/report.html; none with --png]")->type_name("FILE");
  app.add_flag("--force", options.force, "Write over a file that report did not make");
  auto* png = app.add_option("--png", options.png, "A film strip of the first run as a picture, drawn by Chromium")
                  ->type_name("FILE");
  apps::AddNumber(app, "--figures", options.figures, io::Integer{2, 40}, "Poses in the film strip")->needs(png);
  apps::AddNumber(app, "--width", options.width, io::Integer{200, 8000}, "Width of the film strip [px]")->needs(png);
  app.add_option("--browser", options.browser, "The browser that draws [chromium, google-chrome, ...]")
      ->type_name("PROGRAM")
      ->needs(png);
  app.set_version_flag("--version", "report " + results::Version());
  int exit_code = 0;
  if (!apps::ParseOptions(app, argc, argv, true, exit_code)) return exit_code;
  return apps::RunProgram("report", true, [&] { return Report(options); });
}

}  // namespace retrace::report_program
