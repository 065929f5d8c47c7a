#include "retrace/parallel/scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace retrace::parallel {
namespace {

/// Weight of the latest batch in the estimate of a unit's length. Batches are many, and one of them may have been
/// delayed by other programs.
constexpr double kNewest = 0.05;

}  // namespace

Scheduler::Scheduler(size_t workers, const SchedulerOptions& options) : options_(options), held_(workers) {
  if (workers == 0) throw std::invalid_argument("a scheduler without workers");
}

void Scheduler::Begin(std::span<const size_t> units) {
  if (outstanding_ > 0) throw std::logic_error("a new list while batches of the last one are outstanding");
  begins_.clear();
  rests_.clear();
  here_.clear();
  known_.assign(units.size(), false);
  units_left_ = 0;
  const size_t whole = units.size() - std::min(units.size(), 2 * held_.size());
  for (size_t t = 0; t < units.size(); ++t) {
    // Smaller halves would hardly be smaller than the whole, or not worth their messages.
    const bool halved = held_.size() > 1 && t >= whole && units[t] >= std::max<size_t>(3, 2 * Worthwhile() - 1);
    const size_t head = halved ? (units[t] + 1) / 2 : units[t];
    begins_.push_back({t, 0, head});
    if (head < units[t]) rests_.push_back({t, head, units[t]});
    units_left_ += units[t];
  }
  waiting_.assign(options_.reserve + 1, {});
  for (size_t w = 1; w < held_.size(); ++w) Queue(w);
}

/// What each worker would get of the units left if each came so many times more.
size_t Scheduler::Share(size_t times) const {
  return std::max<size_t>(1, units_left_ / (times * held_.size()));
}

/// A piece of a rest whose head came back, or else of the first one.
std::optional<Part> Scheduler::TakeRest(size_t limit) {
  if (rests_.empty()) return std::nullopt;
  auto rest = std::find_if(rests_.begin(), rests_.end(), [&](const Piece& piece) { return known_[piece.task]; });
  if (rest == rests_.end()) rest = rests_.begin();
  const Part part{rest->task, rest->first, std::min(limit, rest->end - rest->first)};
  rest->first += part.count;
  if (rest->first == rest->end) rests_.erase(rest);
  return part;
}

/// Units that a message should carry at least.
size_t Scheduler::Worthwhile() const {
  const double seconds = std::max(options_.batch_seconds, options_.message_seconds * static_cast<double>(held_.size()));
  return unit_seconds_ > 0 ? static_cast<size_t>(std::clamp(std::ceil(seconds / unit_seconds_), 1.0, 1e6)) : 1;
}

std::vector<Part> Scheduler::Take() {
  const size_t worthwhile = Worthwhile();
  // Unless others would then have nothing.
  const size_t wanted = std::min(worthwhile, Share(2));
  std::vector<Part> parts;
  size_t units = 0;
  while (units < wanted && !begins_.empty()) {
    const Piece& piece = begins_.front();
    const Part part{piece.task, piece.first, piece.end - piece.first};
    if (units > 0 && units + part.count > std::max(wanted, Share(2))) break;
    parts.push_back(part);
    units += part.count;
    units_left_ -= part.count;
    begins_.pop_front();
  }
  if (!parts.empty()) return parts;
  const size_t limit = std::max(worthwhile, Share(2));
  while (units < wanted) {
    const std::optional<Part> part = TakeRest(limit - units);
    if (!part) break;
    parts.push_back(*part);
    units += part->count;
    units_left_ -= part->count;
  }
  return parts;
}

void Scheduler::Queue(size_t worker) {
  if (worker > 0 && held_[worker].size() < waiting_.size()) waiting_[held_[worker].size()].push_back(worker);
}

void Scheduler::Hold(size_t worker, std::vector<Part> parts) {
  size_t units = 0;
  for (const Part& part : parts) units += part.count;
  held_[worker].push_back({std::move(parts), units});
  ++outstanding_;
}

std::optional<Scheduler::Assignment> Scheduler::Assign() {
  for (size_t held = 0; held < waiting_.size(); ++held) {
    // Towards the end a batch in reserve would wait behind another one while somebody is idle.
    if (units_left_ == 0 || (held > 0 && units_left_ <= held * held_.size())) return std::nullopt;
    while (!waiting_[held].empty()) {
      const size_t worker = waiting_[held].front();
      waiting_[held].pop_front();
      if (held_[worker].size() != held) continue;  // it has been given or has finished something since
      Assignment assignment{worker, Take()};
      Hold(worker, assignment.parts);
      Queue(worker);
      return assignment;
    }
  }
  return std::nullopt;
}

std::optional<Part> Scheduler::NextHere() {
  if (here_.empty()) {
    if (units_left_ == 0 || !master_computes()) return std::nullopt;
    here_ = Take();
    std::reverse(here_.begin(), here_.end());
  }
  const size_t worthwhile = unit_seconds_ > 0 ? static_cast<size_t>(options_.slice_seconds / unit_seconds_) : 1;
  const size_t slice = std::max(options_.smallest_slice, worthwhile);
  Part& next = here_.back();
  const Part part{next.task, next.first, std::min(slice, next.count)};
  next.first += part.count;
  next.count -= part.count;
  if (next.count == 0) here_.pop_back();
  Hold(0, {part});
  return part;
}

void Scheduler::Finished(size_t worker, double seconds) {
  const Held& oldest = held_[worker].front();
  if (seconds > 0) {
    const double each = seconds / static_cast<double>(oldest.units);
    unit_seconds_ = unit_seconds_ == 0 ? each : (1 - kNewest) * unit_seconds_ + kNewest * each;
  }
  for (const Part& part : oldest.parts) known_[part.task] = true;
  held_[worker].pop_front();
  --outstanding_;
  Queue(worker);
}

void Scheduler::StopAt(size_t task) {
  const auto drop = [&](std::deque<Piece>& pieces) {
    std::erase_if(pieces, [&](const Piece& piece) {
      if (piece.task < task) return false;
      units_left_ -= piece.end - piece.first;
      return true;
    });
  };
  drop(begins_);
  drop(rests_);
  std::erase_if(here_, [&](const Part& part) { return part.task >= task; });
}

int ChooseRanksPerRun(int ranks, size_t runs, int samples) {
  // Of an iteration this share cannot be spread over ranks: selection, messages, waiting for the last sample. Fitted to
  // the efficiencies that the simulation finds with 200 samples (up to 16 ranks) and with 1400 (up to 40). More ranks
  // than one for 21 samples, or than 16, gain next to nothing.
  const double alone = 0.0028 + 3.7 / std::max(1, samples);
  const int most = std::clamp(samples / 21, 16, 64);
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
    const double time = (groups > 1 ? std::max(kLongest, turns) : turns) * (1 + alone * (each - 1)) / each;
    if (time < least) {
      least = time;
      best = each;
    }
  }
  return best;
}

}  // namespace retrace::parallel
