#include "common/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"

namespace retrace::apps {
namespace {

std::string ClockTime(double seconds) {
  const long s = std::lround(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%ld:%02ld", s / 60, s % 60);
  return text;
}

/// A bar of which a share is filled.
std::string Bar(double share) {
  constexpr int kWidth = 30;
  const int filled = std::clamp(static_cast<int>(kWidth * share), 0, kWidth);
  return std::string(static_cast<size_t>(filled), '#') + std::string(static_cast<size_t>(kWidth - filled), '.');
}

}  // namespace

ProgressStyle ChooseProgress(const std::string& name, bool under_mpi) {
  if (name == "bar") return ProgressStyle::kBar;
  if (name == "plain") return ProgressStyle::kPlain;
  if (name == "json") return ProgressStyle::kJson;
  if (name == "none") return ProgressStyle::kNone;
  if (name != "auto") throw UsageError("--progress " + name + ": expected auto, bar, plain, json or none");
  return !under_mpi && ::isatty(STDERR_FILENO) ? ProgressStyle::kBar : ProgressStyle::kPlain;
}

Progress::Progress(ProgressStyle style, const sampling::Problem& problem)
    : style_(style),
      fragments_(problem.task.schedule.num_iterations()),
      duration_(problem.task.schedule.steps.back() * problem.time_step()),
      start_(std::chrono::steady_clock::now()) {}

bool Progress::Note(bool restored, size_t samples) {
  if (style_ == ProgressStyle::kNone) return false;
  if (restored) {
    if (restored_++ == 0 && style_ != ProgressStyle::kJson) std::fprintf(stderr, "resuming from the checkpoint\n");
    return false;
  }
  samples_ += samples;
  ++iterations_;
  elapsed_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  rate_ = static_cast<double>(samples_) / std::max(elapsed_, 1e-9);
  return true;
}

void Progress::Update(const trajectory::IterationRecord& record) {
  if (!Note(record.restored, record.samples)) return;
  const int all = record.windows * record.iterations;
  const int done = record.window * record.iterations + record.iteration + 1;
  const double left = elapsed_ / iterations_ * (all - done);
  if (style_ == ProgressStyle::kJson) {
    const io::Json line = {{"window", record.window + 1},
                           {"windows", record.windows},
                           {"iteration", record.iteration + 1},
                           {"iterations", record.iterations},
                           {"time", record.start},
                           {"duration", duration_},
                           {"start_cost", record.start_cost},
                           {"best_cost", record.best_cost},
                           {"deviation", record.deviation},
                           {"diverged", record.diverged},
                           {"inside_gates", record.inside_gates},
                           {"samples_per_second", rate_},
                           {"seconds_left", left}};
    std::fprintf(stderr, "%s\n", io::Dump(line).c_str());
  } else if (style_ == ProgressStyle::kPlain) {
    if (record.iteration + 1 < record.iterations) return;  // a line per window
    std::fprintf(stderr, "window %d/%d  %.2f to %.2f of %.2f s  cost %.2f, from %.2f  %.0f samples/s  %s left\n",
                 record.window + 1, record.windows, record.start, record.end, duration_, record.best_cost,
                 record.start_cost, rate_, ClockTime(left).c_str());
  } else {
    std::fprintf(stderr, "\r[%s] window %d/%d  cost %.2f, from %.2f  %.0f samples/s  %s left \033[K",
                 Bar(static_cast<double>(done) / all).c_str(), record.window + 1, record.windows, record.best_cost,
                 record.start_cost, rate_, ClockTime(left).c_str());
  }
  std::fflush(stderr);
}

void Progress::Update(const sampling::IterationRecord& record) {
  if (!Note(record.restored, record.samples.size())) return;
  const int done = record.back_to >= 0 ? record.back_to : record.fragment + 1;
  const double left = elapsed_ / iterations_ * (fragments_ - done);
  if (style_ == ProgressStyle::kJson) {
    const io::Json line = {{"iteration", record.iteration},
                           {"fragment", record.fragment + 1},
                           {"fragments", fragments_},
                           {"time", record.end},
                           {"duration", duration_},
                           {"samples", record.drawn},
                           {"restart", record.restart},
                           {"best_cost", record.best_cost},
                           {"saved", record.selection.samples.size()},
                           {"distinct", record.selection.distinct},
                           {"distinct_literal", record.selection.distinct_literal},
                           {"diverged", record.diverged},
                           {"inside_gates", record.inside_gates},
                           {"back_to", record.back_to},
                           {"refinement", record.refinement},
                           {"samples_per_second", rate_},
                           {"seconds_left", left}};
    std::fprintf(stderr, "%s\n", io::Dump(line).c_str());
  } else if (style_ == ProgressStyle::kPlain) {
    if (record.restart) std::fprintf(stderr, "beginning once more, with %d samples\n", record.drawn);
    std::fprintf(stderr,
                 "%sfragment %d/%d  %.2f of %.2f s  %d samples  best cost %.2f  saved %zu distinct "
                 "(%zu by the rule of the paper)  %.0f samples/s  %s left\n",
                 record.refinement ? "refinement: " : "", record.fragment + 1, fragments_, record.end, duration_,
                 record.drawn, record.best_cost, record.selection.distinct, record.selection.distinct_literal, rate_,
                 ClockTime(left).c_str());
    if (record.back_to >= 0) {
      std::fprintf(stderr, "no sample within tolerance at %.2f s: going back to fragment %d\n", record.end,
                   record.back_to + 1);
    }
  } else {
    std::fprintf(stderr, "\r[%s] %sfragment %d/%d  best cost %.2f  %.0f samples/s  %s left \033[K",
                 Bar(static_cast<double>(done) / fragments_).c_str(), record.refinement ? "refinement: " : "",
                 record.fragment + 1, fragments_, record.best_cost, rate_, ClockTime(left).c_str());
  }
  std::fflush(stderr);
}

TimeProgress::TimeProgress(ProgressStyle style, double duration)
    : style_(style), duration_(duration), start_(Clock::now()), last_(start_) {}

void TimeProgress::Update(double time) {
  const Clock::time_point now = Clock::now();
  if (style_ == ProgressStyle::kNone || now - last_ < std::chrono::milliseconds(500) || !(time > 0)) return;
  last_ = now;
  shown_ = true;
  const double left = std::chrono::duration<double>(now - start_).count() * (duration_ - time) / time;
  if (style_ == ProgressStyle::kJson) {
    const io::Json line = {{"time", time}, {"duration", duration_}, {"seconds_left", left}};
    std::fprintf(stderr, "%s\n", io::Dump(line).c_str());
  } else if (style_ == ProgressStyle::kPlain) {
    std::fprintf(stderr, "%.2f of %.2f s  %s left\n", time, duration_, ClockTime(left).c_str());
  } else {
    std::fprintf(stderr, "\r[%s] %.2f of %.2f s  %s left \033[K", Bar(time / duration_).c_str(), time, duration_,
                 ClockTime(left).c_str());
  }
  std::fflush(stderr);
}

void TimeProgress::Finish() {
  if (style_ == ProgressStyle::kBar && shown_) std::fprintf(stderr, "\n");
}

void Progress::Finish() {
  if (style_ == ProgressStyle::kBar) std::fprintf(stderr, "\n");
}

void PrintLine(const std::string& line) {
  std::printf("  %s\n", cli::Shown(line).c_str());
  std::fflush(stdout);
}

}  // namespace retrace::apps
