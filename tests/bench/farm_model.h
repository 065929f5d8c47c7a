/// A discrete-event simulation of the MPI farm: the real scheduler, ranks that do not exist, and measured costs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "retrace/math/random.h"
#include "retrace/parallel/scheduler.h"

namespace retrace::bench {

/// What things cost, on one core [s].
struct FarmCosts {
  std::vector<double> rollouts;  ///< durations of samples that are simulated alone, drawn from at random
  size_t lanes = 1;              ///< so many samples are simulated side by side,
  std::vector<double> together;  ///< in such durations, drawn from at random; fewer than half as many: each alone
  double pack = 0;               ///< a start state of a task, on the master
  double handle_part = 0;        ///< a result, on the master, whatever it holds
  double handle_sample = 0;      ///< and for each sample in it
  double between = 0;            ///< selection, tree and the next iteration's tasks, while no other rank can go on
  double keep = 0;               ///< checkpoint of an iteration, while the workers compute
  double task_bytes = 0;         ///< of a start state
  double sample_bytes = 0;       ///< of a result
};

/// What is assumed of the machine.
struct Network {
  double latency = 2e-6;     ///< from rank to rank [s]
  double bandwidth = 5e9;    ///< [byte/s]
  double message = 1.5e-6;   ///< what sending or receiving takes from the master [s]
  double delayed = 0.002;    ///< share of batches that another program of their node delays,
  double delay = 1e-3;       ///< by so much [s]
  double slow_ranks = 0.02;  ///< share of ranks that are slower than the others,
  double slowness = 0.2;     ///< by this share
};

/// Iterations of a search on a farm.
class FarmModel {
 public:
  FarmModel(const FarmCosts& costs, const Network& network, size_t ranks, uint64_t seed)
      : costs_(costs),
        network_(network),
        scheduler_(ranks),
        random_(seed, RandomStage::kSampling, static_cast<uint32_t>(ranks), 0),
        free_(ranks, 0.0),
        pace_(ranks, 1.0) {
    for (size_t rank = 1; rank < ranks; ++rank) {
      if (random_.Uniform() < network.slow_ranks) pace_[rank] = 1 + network.slowness;
    }
  }

  /// The time that an iteration takes [s], of `starts` start states with `each` samples.
  double Iterate(size_t starts, size_t each) {
    const double begun = now_;
    tasks_ = parallel::CutGroups(std::vector<size_t>(starts, each), scheduler_.num_computing());
    known_.assign(starts, false);
    scheduler_.Begin(tasks_.size());
    Assign();
    now_ += costs_.keep;
    for (;;) {
      HandleArrivals();
      if (const auto task = scheduler_.NextHere()) {
        now_ += costs_.pack * static_cast<double>(tasks_[*task].size());
        double seconds = 0;
        // Between two pieces the master handles what has arrived.
        for (const double piece : PiecesOf(0, tasks_[*task], KnownOf(*task))) {
          now_ += piece;
          seconds += piece;
          HandleArrivals();
        }
        scheduler_.Finished(0, seconds);
        Handle(*task);
        continue;
      }
      if (scheduler_.outstanding() == 0) break;
      now_ = std::max(now_, arrivals_.top().time);
    }
    now_ += costs_.between;
    return now_ - begun;
  }

  double messages() const { return messages_; }  ///< to workers, so far
  double wasted() const { return wasted_; }      ///< feedforward simulations that were repeated, so far

 private:
  struct Answer {
    double time;
    size_t worker;
    double seconds;
    std::vector<size_t> tasks;
    bool operator<(const Answer& other) const { return time > other.time; }  // earliest first
  };

  double Draw(const std::vector<double>& durations) { return durations[random_.NextBits() % durations.size()]; }

  /// Samples side by side, as RolloutWorker simulates them.
  void Simulate(size_t worker, size_t samples, std::vector<double>& pieces) {
    for (; samples > 0 && costs_.lanes > 1 && 2 * samples >= costs_.lanes; samples -= std::min(samples, costs_.lanes)) {
      pieces.push_back(pace_[worker] * Draw(costs_.together));
    }
    for (; samples > 0; --samples) pieces.push_back(pace_[worker] * Draw(costs_.rollouts));
  }

  /// Of which groups of a task it is known what their samples share.
  std::vector<bool> KnownOf(size_t task) const {
    std::vector<bool> known;
    for (const parallel::Part& part : tasks_[task]) known.push_back(known_[part.group]);
    return known;
  }

  /// First the undisplaced samples of all start states, then the others.
  std::vector<double> PiecesOf(size_t worker, const std::vector<parallel::Part>& task, const std::vector<bool>& known) {
    size_t undisplaced = 0;
    size_t others = 0;
    for (size_t p = 0; p < task.size(); ++p) {
      const bool begins = task[p].first == 0;
      others += task[p].count - (begins ? 1 : 0);
      if (!begins && known[p]) continue;
      ++undisplaced;
      if (!begins) ++wasted_;
    }
    std::vector<double> pieces;
    Simulate(worker, undisplaced, pieces);
    Simulate(worker, others, pieces);
    return pieces;
  }

  void Handle(size_t task) {
    now_ += costs_.handle_part + costs_.handle_sample * static_cast<double>(SamplesOf(task));
    for (const parallel::Part& part : tasks_[task]) known_[part.group] = true;
  }
  size_t SamplesOf(size_t task) const {
    size_t samples = 0;
    for (const parallel::Part& part : tasks_[task]) samples += part.count;
    return samples;
  }

  void Assign() {
    while (auto assignment = scheduler_.Assign()) {
      double bytes = 0;
      std::vector<std::vector<bool>> known;
      for (const size_t task : assignment->tasks) {
        const auto starts = static_cast<double>(tasks_[task].size());
        now_ += costs_.pack * starts;
        bytes += costs_.task_bytes * starts;
        known.push_back(KnownOf(task));
      }
      now_ += network_.message;
      ++messages_;
      const size_t worker = assignment->worker;
      // A worker computes its batches one after the other, and its answer travels while it goes on.
      double& free = free_[worker];
      free = std::max(free, now_ + network_.latency + bytes / network_.bandwidth);
      double seconds = 0;
      double answer = 0;
      for (size_t t = 0; t < assignment->tasks.size(); ++t) {
        for (const double piece : PiecesOf(worker, tasks_[assignment->tasks[t]], known[t])) seconds += piece;
        answer += costs_.sample_bytes * static_cast<double>(SamplesOf(assignment->tasks[t]));
      }
      if (random_.Uniform() < network_.delayed) seconds += network_.delay;
      free += seconds;
      arrivals_.push({free + network_.latency + answer / network_.bandwidth, worker, seconds, assignment->tasks});
    }
  }

  void HandleArrivals() {
    while (!arrivals_.empty() && arrivals_.top().time <= now_) {
      Receive();
      Assign();
    }
  }

  void Receive() {
    const Answer answer = arrivals_.top();
    arrivals_.pop();
    now_ += network_.message;
    scheduler_.Finished(answer.worker, answer.seconds);
    for (const size_t task : answer.tasks) Handle(task);
  }

  const FarmCosts& costs_;
  const Network& network_;
  parallel::Scheduler scheduler_;
  RandomStream random_;
  double now_ = 0;                                  // of the master
  std::vector<double> free_;                        // (ranks) when each has done all that it was given
  std::vector<double> pace_;                        // (ranks) how long it takes in comparison
  std::vector<bool> known_;                         // (start states)
  std::vector<std::vector<parallel::Part>> tasks_;  // of start states
  std::priority_queue<Answer> arrivals_;
  double messages_ = 0;
  double wasted_ = 0;
};

}  // namespace retrace::bench
