#include "retrace/runs/stored/failure_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::runs {
namespace {

using sampling::Failure;
using sampling::Problem;
using sampling::Summary;
using task::CostTerms;
using task::Ending;

/// How far a warning of the recording may be from the position: about as far as the search first goes back [s].
constexpr double kNearby = 0.5;

double MeanBefore(const Failure& failure, double CostTerms::*term) {
  return failure.fragments_before > 0 ? failure.terms_before.*term / failure.fragments_before : 0;
}

std::string Seconds(double time) {
  return io::Fixed(time, 2) + " s";
}

std::string Times(int count) {
  return count == 1 ? "once" : std::to_string(count).append(" times");
}

/// A setting as --set takes it, its value rounded up to so many decimals.
std::string Setting(const char* pointer, double value, int decimals) {
  const double unit = std::pow(10, -decimals);
  std::string text = pointer;
  return text.append("=").append(io::Fixed(std::ceil(value / unit - 1e-9) * unit, decimals));
}

void TakeFailure(const Problem& problem, const Summary& search, FailureReport& report) {
  const Failure& failure = search.failure;
  report.furthest_back = failure.start;
  report.all_back_offs = search.back_offs;
  for (const sampling::IterationRecord& record : search.iterations) {
    if (record.fragment != failure.fragment || record.back_to < 0) continue;
    ++report.back_offs;
    const double to = problem.task.schedule.steps[static_cast<size_t>(record.back_to)] * problem.time_step();
    report.furthest_back = std::min(report.furthest_back, to);
  }
  if (failure.diverged == static_cast<size_t>(failure.samples)) return;  // no sample has figures
  const metrics::GateLimits limits = problem.task.gates.Of(*problem.task.character);
  report.nearest = {
      {"root_height", failure.nearest.root_height * limits.root_height, limits.root_height, false},
      {"root_orientation", Degrees(failure.nearest.root_orientation * limits.root_orientation),
       Degrees(limits.root_orientation), true},
      {"joint_position", failure.nearest.joint_position * limits.joint_position, limits.joint_position, false}};
  if (limits.judge_world) {
    report.nearest.push_back(
        {"world_position", failure.nearest.world_position * limits.world_position, limits.world_position, false});
  }
  double most = -1;
  for (const auto& [name, term, weight] : task::kCostTerms) {
    const double before = MeanBefore(failure, term);
    if (failure.terms.*term - before <= most) continue;
    most = failure.terms.*term - before;
    report.dominant_term = name;
    report.dominant_cost = failure.terms.*term;
    report.dominant_before = before;
  }
}

/// Each with a fact that was measured in this run; guesses would send people around in circles.
void Advise(const Problem& problem, const Summary& search, const metrics::Evaluation& evaluation,
            FailureReport& report) {
  const Failure& failure = search.failure;
  const auto advise = [&](std::string setting, std::string because) {
    report.advice.push_back({std::move(setting), std::move(because)});
  };
  if (failure.fragment >= 0 && !search.restarted() && problem.options.samples < problem.options.most_samples) {
    advise(Setting("/search/samples", problem.options.most_samples, 0),
           std::to_string(problem.options.samples) +
               " are few for what gets lost; the quality best sets what goes with more");
  }
  if (search.ending == Ending::kBudget) {
    if (failure.fragment >= 0) {
      advise(Setting("/search/budget", 2 * problem.options.budget, 0), "the budget ended before the search gave up");
    } else if (report.reached > 0) {
      advise(Setting("/search/budget", 1.1 * search.simulated_seconds / report.reached, 0),
             "samples stayed within tolerance, but took " + io::Fixed(search.simulated_seconds / report.reached, 0) +
                 " simulated seconds per second");
    } else {
      advise(Setting("/search/budget", 3.0 * problem.options.samples, 0),
             "it does not allow for a single fragment of " + std::to_string(problem.options.samples) + " samples");
    }
  }
  if (search.ending == Ending::kLeftGates && problem.options.max_back_offs < 1000) {
    advise("/search/max_back_offs=1000", "it has gone back " + Times(search.back_offs) + " and may not do so again");
  }
  if (failure.fragment >= 0 && failure.nearest_ratio > 0 && failure.nearest_ratio <= 1) {
    advise("/search/gate_margin=0", "the nearest sample is within tolerance, though not by the margin of " +
                                        io::Fixed(100 * problem.options.gate_margin, 0) + " %");
  }
  if (search.ending == Ending::kDiverged && problem.task.world.servo == simulation::Servo::kExplicit &&
      problem.time_step() > 0.0005) {
    advise("/simulation/servo=implicit",
           "all samples diverged with the explicit servo at a step of " + io::Number(problem.time_step()) + " s");
  }
  if (search.ending == Ending::kReachedEnd && !report.first_gate.empty()) {
    double excess = 0;
    for (const metrics::Gate& gate : evaluation.gates) excess = std::max(excess, gate.worst / gate.limit - 1);
    if (!problem.options.keep_inside_gates) {
      advise("/search/keep_inside_gates=true", "the search ignored the tolerances");
    } else if (search.back_offs < problem.options.max_back_offs && excess < 0.5) {
      advise(
          Setting("/search/gate_margin", problem.options.gate_margin + excess, 2),
          "between the instants that the search checks, a limit is exceeded by " + io::Fixed(100 * excess, 1) + " %");
    }
  }
}

}  // namespace

std::string StatusOf(Ending ending) {
  return ending == Ending::kReachedEnd ? "completed" : Name(ending);
}

FailureReport ReportFailure(const Problem& problem, const Summary& search, const metrics::Evaluation& evaluation,
                            const metrics::ClipChecks& checks) {
  FailureReport report;
  report.ending = search.ending;
  report.reached = search.control.duration();
  report.duration = problem.task.schedule.steps.back() * problem.time_step();
  report.fragments = problem.task.schedule.num_iterations();
  report.simulated_seconds = search.simulated_seconds;
  report.budget = problem.options.budget * report.duration;
  if (evaluation.success()) return report;
  report.failure = search.failure;
  double from = report.reached;
  double to = report.reached;
  if (search.failure.fragment >= 0) {
    TakeFailure(problem, search, report);
    from = search.failure.start;
    to = search.failure.end;
  } else if (search.ending == Ending::kReachedEnd) {
    for (const metrics::Gate& gate : evaluation.gates) {
      if (gate.passed() || (!report.first_gate.empty() && gate.first_violation >= report.left_at)) continue;
      report.first_gate = gate.name;
      report.left_at = gate.first_violation;
    }
    from = to = report.left_at;
  }
  for (const metrics::ClipWarning& warning : checks.warnings) {
    if (warning.time > from - kNearby && warning.time < to + kNearby) report.warnings.push_back(warning);
  }
  Advise(problem, search, evaluation, report);
  return report;
}

std::string FailureReport::Text() const {
  std::string text;
  const auto line = [&](const std::string& words) { text.append("  ").append(words).append("\n"); };
  if (failure.fragment >= 0) {
    std::string place = "fragment " + std::to_string(failure.fragment + 1);
    place.append(" of ").append(std::to_string(fragments)).append(", ").append(io::Fixed(failure.start, 2));
    place.append(" to ").append(Seconds(failure.end)).append(": ");
    if (failure.diverged == static_cast<size_t>(failure.samples)) {
      place.append("all ").append(std::to_string(failure.samples)).append(" samples diverged");
    } else {
      const bool by_margin = failure.nearest_ratio <= 1;
      place.append(by_margin ? "no sample stays within tolerance by the margin" : "no sample stays within tolerance");
      if (failure.diverged > 0) place.append(", ").append(std::to_string(failure.diverged)).append(" diverged");
    }
    place.append("; drawn ").append(Times(failure.attempts));
    if (back_offs > 0) {
      place.append(", gone back ").append(Times(back_offs)).append(", to ").append(Seconds(furthest_back));
      if (back_offs > 1) place.append(" at the furthest");
      if (all_back_offs > back_offs) place.append(" (").append(Times(all_back_offs)).append(" from all places)");
    }
    line(place);
  } else if (!first_gate.empty()) {
    line("simulated to the end, but out of tolerance from " + Seconds(left_at) + " (" + first_gate + ")");
  }
  if (ending != Ending::kReachedEnd || !first_gate.empty()) {
    std::string spent = "simulated " + io::Fixed(simulated_seconds, 0);
    spent.append(" s in all, ").append(io::Fixed(simulated_seconds / duration, 0)).append(" s per second of motion");
    if (ending == Ending::kBudget) {
      spent.append("; the budget, ")
          .append(io::Fixed(budget / duration, 0))
          .append(", has no room for another fragment");
    }
    line(spent);
  }
  if (!nearest.empty()) {
    std::string figures = "nearest sample at " + Seconds(failure.end) + ":";
    for (const Figure& figure : nearest) {
      const int decimals = figure.angle ? 1 : figure.limit < 0.01 ? 5 : 3;
      figures.append(&figure == &nearest.front() ? " " : ", ").append(figure.name).append(" ");
      figures.append(io::Fixed(figure.value, decimals)).append(figure.angle ? " degrees" : " m").append(" (limit ");
      figures.append(io::Fixed(figure.limit, decimals)).append(")");
    }
    line(figures);
    if (failure.nearest_ratio > failure.nearest.largest() * (1 + 1e-6)) {
      line("its worst before that: " + io::Fixed(100 * failure.nearest_ratio, 0) + " % of a limit");
    }
    std::string cost = "the cost there is higher most of all in " + dominant_term;
    cost.append(": ").append(io::Fixed(dominant_cost, 2));
    if (failure.fragments_before > 0) {
      cost.append(", before it ").append(io::Fixed(dominant_before, 2)).append(" per fragment");
    }
    line(cost);
  }
  for (const metrics::ClipWarning& warning : warnings) line("the recording near there: " + warning.text);
  for (const Advice& a : advice) line("to try next: the setting " + a.setting + " (" + a.because + ")");
  return text;
}

io::Json FailureReport::ToJson() const {
  io::Json json = {{"reached", reached}, {"duration", duration}};
  if (failure.fragment >= 0) {
    json["fragment"] = failure.fragment;
    json["start"] = failure.start;
    json["end"] = failure.end;
    json["attempts"] = failure.attempts;
    json["samples"] = failure.samples;
    json["diverged"] = failure.diverged;
    json["back_offs"] = back_offs;
    json["all_back_offs"] = all_back_offs;
    json["furthest_back"] = furthest_back;
  }
  if (!nearest.empty()) {
    io::Json figures = io::Json::object();
    for (const Figure& figure : nearest) {
      figures[figure.angle ? figure.name + "_degrees" : figure.name] = {{"value", figure.value},
                                                                        {"limit", figure.limit}};
    }
    json["nearest"] = figures;
    json["nearest_ratio"] = failure.nearest_ratio;
    io::Json cost = {{"dominant", dominant_term}, {"fragments_before", failure.fragments_before}};
    for (const auto& [name, term, weight] : task::kCostTerms) {
      cost["at_failure"][name] = failure.terms.*term;
      cost["mean_before"][name] = MeanBefore(failure, term);
    }
    json["weighted_cost"] = cost;
  }
  if (!first_gate.empty()) {
    json["first_gate"] = first_gate;
    json["left_at"] = left_at;
  }
  json["clip_warnings"] = io::Json::array();
  for (const metrics::ClipWarning& warning : warnings) {
    json["clip_warnings"].push_back({{"time", warning.time}, {"kind", warning.kind}, {"text", warning.text}});
  }
  json["advice"] = io::Json::array();
  for (const Advice& a : advice) json["advice"].push_back({{"set", a.setting}, {"because", a.because}});
  return json;
}

}  // namespace retrace::runs
