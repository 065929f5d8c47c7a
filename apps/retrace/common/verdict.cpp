#include "common/verdict.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "cli/program.h"
#include "retrace/io/number.h"
#include "retrace/metrics/gate_text.h"
#include "retrace/runs/stored/failure_report.h"

namespace retrace::apps {
namespace {

constexpr size_t kAligned = 70;  // what commands that are longer do stands right behind them
constexpr size_t kColumn = 12;   // of the words in front of what was found

const char* ColorOf(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kGood:
      return "\033[1;32m";
    case Verdict::Kind::kDoubtful:
      return "\033[1;33m";
    case Verdict::Kind::kBad:
      return "\033[1;31m";
  }
  return "";
}

const char* NameOf(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kGood:
      return "good";
    case Verdict::Kind::kDoubtful:
      return "doubtful";
    case Verdict::Kind::kBad:
      return "bad";
  }
  return "";
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos) lines.push_back(line.substr(first));
  }
  return lines;
}

/// How far the character is beside the recording: the worst of each tolerance, and where it left it.
std::string ToleranceText(const metrics::Evaluation& evaluation) {
  std::string text;
  for (const metrics::Gate& gate : evaluation.gates) {
    text.append(text.empty() ? "" : "; ").append(gate.name).append(" at most ");
    text.append(metrics::FigureText(gate, gate.worst)).append(" of ").append(metrics::FigureText(gate, gate.limit));
    if (!gate.passed()) text.append(", failed from ").append(io::Fixed(gate.first_violation, 2)).append(" s");
  }
  return text;
}

void AddFindings(const runs::Job& job, const runs::Reconstruction& result, Verdict& verdict) {
  const metrics::Evaluation& evaluation = result.evaluation;
  const auto add = [&](const char* word, const std::string& text) { verdict.findings.emplace_back(word, text); };
  if (job.configuration.run.method == runs::Method::kAuto) {
    const std::string choice = result.Choice();
    const std::string_view prefix = "found by ";
    add("found by", choice.starts_with(prefix) ? choice.substr(prefix.size()) : choice);
  } else {
    add("found by", runs::Name(result.method));
  }
  if (evaluation.simulated_duration > 0) {
    add("pose", "mean joint error " + io::Fixed(evaluation.mean_joint_error, 3) + " m");
    add("tolerances", ToleranceText(evaluation));
    add("path", "at most " + io::Fixed(evaluation.world.worst, 3) + " m from the recording in the world, " +
                    io::Fixed(evaluation.drift, 2) + " m beside it at the end");
    add("forces", "at most " + io::Fixed(evaluation.contact_force.worst, 1) +
                      " body weights from ground and objects (means of 50 ms)");
  }
  if (result.stay) add("best effort", result.stay->Describe());
  if (job.prepared->repaired) {
    for (const std::string& note : job.prepared->repaired->Notes()) add("repair", note);
  }
  if (result.against_recording) {
    const metrics::Evaluation& against = *result.against_recording;
    add("recording", "against the unrepaired motion on the new clock: mean joint error " +
                         io::Fixed(against.mean_joint_error, 3) + " m; " + ToleranceText(against));
  }
  if (result.end) add("afterwards", result.end->Describe());
}

void AddFailure(const runs::Job& job, const runs::Reconstruction& result, Verdict& verdict) {
  const bool searched = result.method == runs::Method::kSampling;
  if (!searched) {
    if (result.diverged) verdict.why.emplace_back("the simulation diverged");
    if (result.tracking) verdict.why.push_back("the tracked motion " + result.tracking->Ending());
    if (result.method == runs::Method::kTrajectory) {
      for (std::string& line : LinesOf(result.optimization.BriefReport())) verdict.why.push_back(std::move(line));
    }
    return;
  }
  const runs::FailureReport report =
      runs::ReportFailure(job.problem, result.search, result.evaluation, job.prepared->checks);
  for (std::string& line : LinesOf(report.Text())) verdict.why.push_back(std::move(line));
  if (report.ending != task::Ending::kReachedEnd) {
    const bool gave_up = report.failure.fragment >= 0;
    verdict.word = "not reconstructed";
    verdict.sentence = verdict.word + (gave_up ? ", out of tolerance at " : ", stopped at ") +
                       io::Fixed(gave_up ? report.failure.start : report.reached, 2) + " of " +
                       io::Fixed(report.duration, 2) + " s";
  }
}

/// The commands that lead on; those of a failure change one thing each.
void AddNextSteps(const runs::Job& job, const std::string& command, Verdict& verdict) {
  const std::string clip = cli::ShellWord(verdict.clip.string());
  const std::string folder = cli::ShellWord(verdict.folder.string());
  const auto add = [&](const std::string& step, const char* does) { verdict.next.push_back({step, does}); };
  const std::string again = command.find(" --force") == std::string::npos ? command + " --force" : command;
  if (verdict.kind == Verdict::Kind::kBad) {
    add("retrace inspect " + clip, "shows what was recognized, and what no body can perform");
    if (!job.configuration.run.repair) {
      add(again + " --repair", "changes as little as makes it possible");
    }
    if (!job.configuration.sampling.best_effort) {
      add(again + " --best-effort", "goes on to the end all the same");
    }
    add("retrace open " + folder, "shows how far it came");
    return;
  }
  add("retrace open " + folder, "shows the motion and its forces in the browser");
  add("retrace export " + folder + " --to bvh --skeleton source", "brings it back on the recorded skeleton");
  add("retrace forces " + clip, "estimates forces and joint moments with their uncertainty");
}

}  // namespace

Verdict VerdictOf(const runs::Job& job, const runs::Reconstruction& result, const std::filesystem::path& folder,
                  const std::string& command, double seconds) {
  Verdict verdict;
  verdict.clip = job.options.clip.file;
  verdict.folder = folder;
  verdict.seconds = seconds;
  const std::string duration = io::Fixed(job.problem.task.duration(), 2) + " s";
  if (result.success()) {
    verdict.doubts = runs::DoubtsOf(job, result.evaluation);
    const bool good = verdict.doubts.empty();
    verdict.kind = good ? Verdict::Kind::kGood : Verdict::Kind::kDoubtful;
    verdict.word = good ? "reconstructed" : "doubtful";
    verdict.sentence = good ? "reconstructed: the simulated motion stays within tolerance for all of " + duration
                            : "doubtful: within tolerance for all of " + duration + ", but it may be nonsense";
  } else {
    verdict.word = "out of tolerance";
    verdict.sentence = verdict.word;
    if (!result.evaluation.completed) {
      verdict.word = "not reconstructed";
      verdict.sentence =
          "not reconstructed, ends after " + io::Fixed(result.evaluation.simulated_duration, 2) + " of " + duration;
    } else if (const metrics::Gate* gate = result.evaluation.FirstViolated()) {
      verdict.sentence +=
          " from " + io::Fixed(gate->first_violation, 2) + " of " + duration + " on (" + gate->name + ")";
    }
    AddFailure(job, result, verdict);
  }
  AddFindings(job, result, verdict);
  for (const metrics::ClipWarning& warning : job.prepared->checks.warnings) verdict.warnings.push_back(warning.text);
  for (const std::string& warning : job.prepared->placed.warnings) verdict.warnings.push_back(warning);
  // Those about proportions are among the doubts of a success.
  for (const character::Doubt& doubt : job.prepared->report.doubts) {
    const auto has = [&](const std::vector<std::string>& texts) {
      return std::find(texts.begin(), texts.end(), doubt.text) != texts.end();
    };
    if (!has(verdict.warnings) && !has(verdict.doubts)) verdict.warnings.push_back(doubt.text);
  }
  AddNextSteps(job, command, verdict);
  return verdict;
}

std::string Verdict::Details() const {
  std::string text;
  for (const std::string& doubt : doubts) text.append("  doubtful: ").append(cli::Shown(doubt)).append("\n");
  for (const std::string& line : why) text.append("  ").append(cli::Shown(line)).append("\n");
  for (const auto& [title, what] : findings) {
    text.append("  ").append(title).append(kColumn - std::min(kColumn - 1, title.size()), ' ');
    text.append(cli::Shown(what)).append("\n");
  }
  for (const std::string& warning : warnings) text.append("  warning: ").append(cli::Shown(warning)).append("\n");
  text.append("  results in ").append(cli::Shown(folder.string())).append("\n");
  size_t widest = 0;
  for (const NextStep& step : next) {
    const size_t size = cli::Shown(step.command).size();
    if (size <= kAligned) widest = std::max(widest, size);
  }
  if (!next.empty()) text.append("next:\n");
  for (const NextStep& step : next) {
    const std::string command = cli::Shown(step.command);
    text.append("  ").append(command);
    text.append(widest > command.size() ? widest + 2 - command.size() : 2, ' ');
    text.append(step.does).append("\n");
  }
  return text;
}

io::Json Verdict::ToJson() const {
  io::Json found = io::Json::object();
  for (const auto& [title, what] : findings) found[title] = what;
  io::Json steps = io::Json::array();
  for (const NextStep& step : next) steps.push_back({{"command", step.command}, {"does", step.does}});
  return {{"clip", clip.string()}, {"verdict", word},
          {"kind", NameOf(kind)},  {"sentence", sentence},
          {"doubts", doubts},      {"why", why},
          {"found", found},        {"warnings", warnings},
          {"seconds", seconds},    {"folder", folder.string()},
          {"next", steps}};
}

void Print(const Verdict& verdict) {
  const bool colored = WantsColors();
  std::printf("%s: %s%s%s (%s s)\n%s", cli::Shown(verdict.clip.string()).c_str(), colored ? ColorOf(verdict.kind) : "",
              cli::Shown(verdict.sentence).c_str(), colored ? "\033[0m" : "", io::Fixed(verdict.seconds, 1).c_str(),
              cli::ShownLines(verdict.Details()).c_str());
}

bool WantsColors() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace retrace::apps
