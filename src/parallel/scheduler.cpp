#include "retrace/parallel/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace retrace::parallel {
namespace {

/// Weight of the latest batch in the estimate of a task's length. Batches are many, and one of them may have been
/// delayed by other programs.
constexpr double kNewest = 0.05;

/// Takes units off the front of groups.
class GroupCutter {
 public:
  explicit GroupCutter(std::span<const size_t> groups)
      : groups_(groups), left_(std::accumulate(groups.begin(), groups.end(), size_t{0})) {}

  size_t left() const { return left_; }

  /// A task as large as it may be.
  std::vector<Part> TakeFull(const CutOptions& options) {
    std::vector<Part> task;
    size_t units = 0;
    do {
      const size_t rest = std::min(groups_[next_.group] - next_.first, options.most_units);
      if (units > 0 && units + rest > options.most_units) break;
      task.push_back(TakePart(rest));
      units += rest;
    } while (left_ > 0 && task.size() < options.most_groups);
    return task;
  }

  std::vector<Part> Take(size_t units) {
    std::vector<Part> task;
    while (units > 0) {
      task.push_back(TakePart(std::min(groups_[next_.group] - next_.first, units)));
      units -= task.back().count;
    }
    return task;
  }

 private:
  Part TakePart(size_t count) {
    const Part part{next_.group, next_.first, count};
    left_ -= count;
    next_.first += count;
    if (next_.first == groups_[next_.group]) next_ = {next_.group + 1, 0, 0};
    return part;
  }

  std::span<const size_t> groups_;
  Part next_;
  size_t left_;
};

size_t UnitsOf(const std::vector<Part>& task) {
  size_t units = 0;
  for (const Part& part : task) units += part.count;
  return units;
}

}  // namespace

Scheduler::Scheduler(size_t workers, const SchedulerOptions& options) : options_(options), held_(workers) {
  if (workers == 0) throw std::invalid_argument("a scheduler without workers");
}

void Scheduler::Begin(size_t tasks) {
  if (outstanding_ > 0) throw std::logic_error("a new list while batches of the last one are outstanding");
  here_.clear();
  tasks_.resize(tasks);
  std::iota(tasks_.begin(), tasks_.end(), size_t{0});
  waiting_.assign(options_.reserve + 1, {});
  for (size_t w = 1; w < held_.size(); ++w) Queue(w);
}

/// So many that they are worth a message, unless others would then have nothing.
std::vector<size_t> Scheduler::Take() {
  const double seconds = std::max(options_.batch_seconds, options_.message_seconds * static_cast<double>(held_.size()));
  const double worthwhile = task_seconds_ > 0 ? std::clamp(std::ceil(seconds / task_seconds_), 1.0, 1e6) : 1;
  const size_t fair = tasks_.size() / (2 * held_.size());
  const size_t count = std::max<size_t>(1, std::min(static_cast<size_t>(worthwhile), fair));
  const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(std::min(count, tasks_.size()));
  std::vector<size_t> taken(tasks_.begin(), end);
  tasks_.erase(tasks_.begin(), end);
  return taken;
}

void Scheduler::Queue(size_t worker) {
  if (worker > 0 && held_[worker].size() < waiting_.size()) waiting_[held_[worker].size()].push_back(worker);
}

void Scheduler::Hold(size_t worker, size_t tasks) {
  held_[worker].push_back(tasks);
  ++outstanding_;
}

std::optional<Scheduler::Assignment> Scheduler::Assign() {
  for (size_t held = 0; held < waiting_.size(); ++held) {
    // No worker gets one in reserve before the master has one to compute.
    if (held > 0 && here_.empty() && master_computes() && !tasks_.empty()) {
      const std::vector<size_t> taken = Take();
      here_.assign(taken.begin(), taken.end());
    }
    // Towards the end a batch in reserve would wait behind another one while a worker is idle.
    if (tasks_.empty() || (held > 0 && tasks_.size() <= held * held_.size())) return std::nullopt;
    while (!waiting_[held].empty()) {
      const size_t worker = waiting_[held].front();
      waiting_[held].pop_front();
      if (held_[worker].size() != held) continue;  // it has been given or has finished something since
      Assignment assignment{worker, Take()};
      Hold(worker, assignment.tasks.size());
      Queue(worker);
      return assignment;
    }
  }
  return std::nullopt;
}

std::optional<size_t> Scheduler::NextHere() {
  if (here_.empty()) {
    if (tasks_.empty() || !master_computes()) return std::nullopt;
    here_.push_back(tasks_.front());
    tasks_.pop_front();
  }
  const size_t task = here_.front();
  here_.pop_front();
  Hold(0, 1);
  return task;
}

void Scheduler::Finished(size_t worker, double seconds) {
  if (seconds > 0) {
    const double each = seconds / static_cast<double>(held_[worker].front());
    task_seconds_ = task_seconds_ == 0 ? each : (1 - kNewest) * task_seconds_ + kNewest * each;
  }
  held_[worker].pop_front();
  --outstanding_;
  Queue(worker);
}

void Scheduler::StopAt(size_t task) {
  for (std::deque<size_t>* list : {&tasks_, &here_}) std::erase_if(*list, [&](size_t t) { return t >= task; });
}

std::vector<std::vector<Part>> CutGroups(std::span<const size_t> groups, size_t workers, const CutOptions& options) {
  std::vector<std::vector<Part>> tasks;
  if (groups.empty()) return tasks;
  workers = std::max<size_t>(1, workers);
  GroupCutter cutter(groups);
  const size_t full = UnitsOf(GroupCutter(groups).TakeFull(options));
  // Full tasks, in rounds: one for each worker.
  const size_t rounds = workers == 1 ? cutter.left() : cutter.left() / (full * workers);
  for (size_t count = rounds * workers; count > 0 && cutter.left() > 0; --count) {
    tasks.push_back(cutter.TakeFull(options));
  }
  // And what is left, shared out.
  for (size_t sharers = workers; cutter.left() > 0; --sharers) {
    tasks.push_back(cutter.Take((cutter.left() + sharers - 1) / sharers));
  }
  return tasks;
}

double BusyShare(int ranks, int samples) {
  // This share of an iteration cannot be spread over ranks: selection, messages, lanes that are not full, waiting for
  // the last sample. Fitted to the efficiencies that the simulation finds with 200, 1400 and 5600 samples.
  const double alone = 1.8 * std::pow(std::max(1, samples), -0.575);
  return 1 / (1 + alone * (std::max(1, ranks) - 1));
}

int ChooseRanksPerRun(int ranks, size_t runs, int samples) {
  // More ranks than one for 17 samples, or than 24, gain next to nothing.
  const int most = std::clamp(samples / 17, 24, 80);
  // Runs differ in length, and which is long is not known before. In mean lengths: the longest, and how long groups
  // wait for the last run when each of them has had several.
  constexpr double kLongest = 1.6;
  constexpr double kTail = 0.6;
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int each = 1; each <= std::clamp(ranks, 1, most); ++each) {
    const int whole_groups = std::max(1, ranks) / each;
    const double groups = whole_groups;
    const double turns = static_cast<double>(std::max<size_t>(1, runs)) / groups + kTail * (1 - 1 / groups);
    const double time = (groups > 1 ? std::max(kLongest, turns) : turns) / (each * BusyShare(each, samples));
    if (time < least) {
      least = time;
      best = each;
    }
  }
  return best;
}

}  // namespace retrace::parallel
