/// report: runs as one page for any web browser, as a film strip, or as a video.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>
#include <utility>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/jobs/report_page.h"
#include "retrace/rendering/video.h"
#include "retrace/report/browser.h"
#include "retrace/report/film.h"
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
  std::string video;
  std::string poster;
  std::string ffmpeg;
  std::string size;
  report::FilmOptions film;
  double frames_per_second = 0;  // 0: what the kind of video has
  double poster_time = -1;
  bool without_forces = false, without_pressure = false, without_captions = false;
  bool runs = false;
  bool force = false;
  bool json = false;

  bool has_film() const { return !video.empty() || !poster.empty(); }
};

const io::Words<report::FilmLayout> kLayouts = {{report::FilmLayout::kResult, "result"},
                                                {report::FilmLayout::kGhost, "ghost"},
                                                {report::FilmLayout::kBeside, "beside"}};
const io::Words<report::FilmCamera> kCameras = {{report::FilmCamera::kOblique, "oblique"},
                                                {report::FilmCamera::kSide, "side"},
                                                {report::FilmCamera::kFront, "front"},
                                                {report::FilmCamera::kBack, "back"},
                                                {report::FilmCamera::kTop, "top"}};

/// Width and height of WxH: even numbers, as videos need them.
std::pair<int, int> SizeOf(const std::string& text) {
  constexpr io::Integer kSides{64, 7680};
  const size_t cross = text.find('x');
  std::pair<int, int> size;
  if (cross != std::string::npos) {
    io::ReadText(kSides, text.substr(0, cross), "--size", size.first);
    io::ReadText(kSides, text.substr(cross + 1), "--size", size.second);
  }
  if (cross == std::string::npos || size.first % 2 != 0 || size.second % 2 != 0) {
    throw UsageError("--size: found " + text + ", expected two even numbers of pixels such as 1280x720");
  }
  return size;
}

/// How many pictures of a video are made, on a terminal.
class FilmProgress {
 public:
  explicit FilmProgress(size_t frames) : frames_(frames), shown_(::isatty(STDERR_FILENO) != 0) {}
  void Show(size_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || (done < frames_ && now - last_ < std::chrono::milliseconds(200))) return;
    last_ = now;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double left = elapsed / static_cast<double>(done) * static_cast<double>(frames_ - done);
    std::fprintf(stderr, "\rframe %zu of %zu, %.0f s left ", done, frames_, left);
    if (done == frames_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  size_t frames_;
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_;
};

/// What is given of a film, with the usual values of its kind.
report::FilmOptions FilmOf(const Options& o) {
  report::FilmOptions film = o.film;
  const bool is_gif = !o.video.empty() && rendering::VideoKindOf(o.video) == rendering::VideoKind::kGif;
  std::tie(film.width, film.height) = SizeOf(!o.size.empty() ? o.size : is_gif ? "640x360" : "1920x1080");
  film.frames_per_second = o.frames_per_second > 0 ? o.frames_per_second : is_gif ? 20 : 30;
  film.forces = !o.without_forces;
  film.pressure = !o.without_pressure;
  film.captions = !o.without_captions;
  film.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return film;
}

void WriteVideo(const Options& o, const report::Film& film, const report::FilmOptions& how,
                const std::filesystem::path& program) {
  const auto start = std::chrono::steady_clock::now();
  const auto video = rendering::OpenVideo(o.video, rendering::VideoKindOf(o.video), program, how.width, how.height,
                                          how.frames_per_second);
  FilmProgress progress(film.num_frames());
  for (size_t k = 0; k < film.num_frames(); ++k) {
    video->Add(film.Frame(k));
    progress.Show(k + 1);
  }
  video->Finish();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (o.json) return;
  std::printf("%s: %zu pictures of %d x %d, %s MB, made in %s s\n", cli::Shown(o.video).c_str(), film.num_frames(),
              how.width, how.height,
              io::Fixed(static_cast<double>(std::filesystem::file_size(o.video)) / 1e6, 1).c_str(),
              io::Fixed(took, 1).c_str());
}

void WritePoster(const Options& o, const report::Film& film) {
  constexpr int kScale = 2;  // of a poster to a picture of the video
  const double middle = 0.5 * (film.TimeOf(0) + film.TimeOf(film.num_frames() - 1));
  const std::string png = rendering::EncodePng(film.Still(o.poster_time < 0 ? middle : o.poster_time, kScale));
  io::WriteFile(o.poster, png);
  if (!o.json) std::printf("%s: %zu kB\n", cli::Shown(o.poster).c_str(), (png.size() + 999) / 1000);
}

/// A page in the folder of each run that an evaluation kept.
void WritePagesOfRuns(const Options& o) {
  const std::vector<std::filesystem::path> folders = runs::EvaluatedRuns(o.folders);
  if (folders.empty()) {
    throw UsageError("--runs: found no evaluation with runs among the folders, expected one of `evaluate`");
  }
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path page = folder / results::kReportFile;
    runs::CheckReportOutput(page, {folder.string()}, o.force);
    runs::WriteReportPage(runs::GatherReport({folder.string()}).document, page);
  }
  if (!o.json) std::printf("%zu pages of runs, to which the page leads\n", folders.size());
}

/// @param page empty: none was made
void PrintFiles(const Options& o, const std::string& page, const std::vector<std::string>& differing) {
  io::Json files = io::Json::object();
  for (const auto& [kind, file] :
       {std::pair("page", page), std::pair("png", o.png), std::pair("video", o.video), std::pair("poster", o.poster)}) {
    if (!file.empty()) files[kind] = {{"file", file}, {"bytes", std::filesystem::file_size(file)}};
  }
  io::Json pages = io::Json::array();
  for (const std::filesystem::path& folder :
       o.runs ? runs::EvaluatedRuns(o.folders) : std::vector<std::filesystem::path>()) {
    pages.push_back((folder / results::kReportFile).string());
  }
  PrintJson({{"files", files}, {"pages_of_runs", pages}, {"differing", differing}});
}

int Report(const Options& o, const Call& call) {
  // What would end in a message does so before anything is simulated.
  const bool has_page = !o.output.empty() || (o.png.empty() && !o.has_film());
  if (has_page || !o.png.empty()) runs::FindReportPage();
  const std::filesystem::path browser = o.png.empty() ? "" : report::FindBrowser(o.browser);
  const report::FilmOptions how = FilmOf(o);
  const std::filesystem::path program =
      o.video.empty() ? "" : rendering::FindVideoProgram(rendering::VideoKindOf(o.video), o.ffmpeg);
  for (const std::string& file : {o.output, o.png, o.video, o.poster}) {
    if (!file.empty()) runs::CheckReportOutput(file, o.folders, o.force);
  }
  const std::filesystem::path page = !o.output.empty()
                                         ? std::filesystem::path(o.output)
                                         : std::filesystem::path(o.folders.front()) / results::kReportFile;
  if (o.runs) WritePagesOfRuns(o);
  const runs::GatheredReport report = runs::GatherReport(o.folders, page);
  const auto write_page = [&](const std::filesystem::path& file) { runs::WriteReportPage(report.document, file); };
  if (has_page) {
    write_page(page);
    if (!o.json)
      std::printf("%s: %s MB, opens in any web browser\n", cli::Shown(page).c_str(),
                  io::Fixed(static_cast<double>(std::filesystem::file_size(page)) / 1e6, 1).c_str());
  }
  if (!o.png.empty()) {
    const std::string fragment = "filmstrip,figures=" + std::to_string(o.figures) + ",width=" + std::to_string(o.width);
    const std::string png = report::DrawPicture(browser, write_page, fragment);
    io::WriteFile(o.png, png);
    if (!o.json) std::printf("%s: %zu kB\n", cli::Shown(o.png).c_str(), (png.size() + 999) / 1000);
  }
  if (o.has_film()) {
    const report::Film film(report.document, how);
    if (!o.video.empty()) WriteVideo(o, film, how, program);
    if (!o.poster.empty()) WritePoster(o, film);
  }
  if (o.json) PrintFiles(o, has_page ? page.string() : "", report.differing);
  for (const std::string& difference : report.differing) {
    std::fprintf(stderr, "%s: %s; the replay is shown\n", cli::Shown(call.name).c_str(),
                 cli::Shown(difference).c_str());
  }
  return static_cast<int>(report.differing.empty() ? ExitCode::kSuccess : ExitCode::kBelowGate);
}

void AddFilmOptions(cli::Command& command, Options& o) {
  const char* const kGroup = "Videos and posters";
  const auto grouped = [&](const cli::Option& option) { option.Group(kGroup); };
  grouped(command
              .Add("--video", o.video,
                   "A video of the first run: .mp4 and .webm are made by FFmpeg, .gif needs nothing else")
              .Type("FILE"));
  grouped(command.Add("--poster", o.poster, "One instant as a PNG picture, twice as wide and high").Type("FILE"));
  grouped(cli::AddNumber(command, "--poster-time", o.poster_time, io::Real{{-1, 1e6}},
                         "The instant of the poster [s]; below 0: the middle"));
  grouped(cli::AddWord(command, "--layout", o.film.layout, kLayouts,
                       "The result alone, with the recording as a ghost, or beside the recording"));
  grouped(cli::AddWord(command, "--camera", o.film.camera, kCameras, "From where it is seen"));
  grouped(cli::AddNumber(command, "--speed", o.film.speed, io::Real{{0.01, 100}}, "Of play: 0.25 is slow motion"));
  grouped(command.Add("--size", o.size, "Width and height of the video [px]")
              .Type("WxH")
              .ShowDefault("1920x1080, .gif 640x360"));
  grouped(cli::AddNumber(command, "--fps", o.frames_per_second, io::Real{{0, 240}},
                         "Pictures per second; 0: 30, of a .gif 20"));
  grouped(cli::AddNumber(command, "--start", o.film.start, io::Real{{0, 1e6}}, "First instant of the video [s]"));
  grouped(cli::AddNumber(command, "--end", o.film.end, io::Real{{-1, 1e6}},
                         "Last instant of the video [s]; below 0: the end"));
  grouped(command.AddFlag("--shapes", o.film.shapes, "The collision shapes instead of a skin"));
  grouped(command.AddFlag("--no-forces", o.without_forces, "Without arrows"));
  grouped(command.AddFlag("--no-pressure", o.without_pressure, "Without what feet and hands leave on the ground"));
  grouped(command.AddFlag("--no-captions", o.without_captions, "Without time and words"));
  grouped(command.Add("--ffmpeg", o.ffmpeg, "The program that writes .mp4 and .webm [ffmpeg]").Type("PROGRAM"));
}

void AddOptions(cli::Command& command, Options& o) {
  command
      .Add("folders", o.folders,
           "Folders of runs, of variations, or of what evaluate measured; several are shown side by side")
      .Type("DIR")
      .Required();
  command.Add("--output", o.output, "The page [DIR/report.html; none with --png, --video or --poster]").Type("FILE");
  command.AddFlag("--runs", o.runs, "Also a page for each run of an evaluation, in its folder; its page leads there");
  command.AddFlag("--force", o.force, "Write over a file that report did not make");
  AddJsonOption(command, o.json);
  const cli::Option png =
      command.Add("--png", o.png, "A film strip of the first run as a picture, drawn by Chromium").Type("FILE");
  cli::AddNumber(command, "--figures", o.figures, io::Integer{2, 40}, "Poses in the film strip").Needs(png);
  cli::AddNumber(command, "--width", o.width, io::Integer{200, 8000}, "Width of the film strip [px]").Needs(png);
  command.Add("--browser", o.browser, "The browser that draws [chromium, google-chrome, ...]")
      .Type("PROGRAM")
      .Needs(png);
  AddFilmOptions(command, o);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call& call) { return Report(*options, call); };
}

}  // namespace retrace::apps::report_command
