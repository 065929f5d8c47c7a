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
  std::vector<double> rollouts;  ///< durations of samples, drawn from at random
  double pack = 0;               ///< a part, on the master
  double handle_part = 0;        ///< a result, on the master, whatever it holds
  double handle_sample = 0;      ///< and for each sample in it
  double between = 0;            ///< selection, tree and the next iteration's tasks, while no other rank can go on
  double keep = 0;               ///< checkpoint of an iteration, while the workers compute
  double task_bytes = 0;         ///< of a part
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
    const std::vector<size_t> units(starts, each);
    known_.assign(starts, false);
    scheduler_.Begin(units);
    Assign();
    now_ += costs_.keep;
    for (;;) {
      while (!arrivals_.empty() && arrivals_.top().time <= now_) {
        Receive();
        Assign();
      }
      if (const auto part = scheduler_.NextHere()) {
        const double seconds = Compute(0, *part, known_[part->task]);
        now_ += costs_.pack + seconds;
        scheduler_.Finished(0, seconds);
        Handle(*part);
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
    std::vector<parallel::Part> parts;
    bool operator<(const Answer& other) const { return time > other.time; }  // earliest first
  };

  double Draw() { return costs_.rollouts[random_.NextBits() % costs_.rollouts.size()]; }

  double Compute(size_t worker, const parallel::Part& part, bool known) {
    double seconds = 0;
    for (size_t u = 0; u < part.count; ++u) seconds += Draw();
    if (part.first > 0 && !known) {
      seconds += Draw();  // what the samples of a start state share
      ++wasted_;
    }
    return pace_[worker] * seconds;
  }

  void Handle(const parallel::Part& part) {
    now_ += costs_.handle_part + costs_.handle_sample * static_cast<double>(part.count);
    known_[part.task] = true;
  }

  void Assign() {
    while (auto assignment = scheduler_.Assign()) {
      double bytes = 0;
      std::vector<bool> known;
      for (const parallel::Part& part : assignment->parts) {
        now_ += costs_.pack;
        bytes += costs_.task_bytes;
        known.push_back(known_[part.task]);
      }
      now_ += network_.message;
      ++messages_;
      const size_t worker = assignment->worker;
      // A worker computes its batches one after the other, and its answer travels while it goes on.
      double& free = free_[worker];
      free = std::max(free, now_ + network_.latency + bytes / network_.bandwidth);
      double seconds = 0;
      double answer = 0;
      for (size_t p = 0; p < assignment->parts.size(); ++p) {
        seconds += Compute(worker, assignment->parts[p], known[p]);
        answer += costs_.sample_bytes * static_cast<double>(assignment->parts[p].count);
      }
      if (random_.Uniform() < network_.delayed) seconds += network_.delay;
      free += seconds;
      arrivals_.push({free + network_.latency + answer / network_.bandwidth, worker, seconds, assignment->parts});
    }
  }

  void Receive() {
    const Answer answer = arrivals_.top();
    arrivals_.pop();
    now_ += network_.message;
    scheduler_.Finished(answer.worker, answer.seconds);
    for (const parallel::Part& part : answer.parts) Handle(part);
  }

  const FarmCosts& costs_;
  const Network& network_;
  parallel::Scheduler scheduler_;
  RandomStream random_;
  double now_ = 0;            // of the master
  std::vector<double> free_;  // (ranks) when each has done all that it was given
  std::vector<double> pace_;  // (ranks) how long it takes in comparison
  std::vector<bool> known_;   // (tasks)
  std::priority_queue<Answer> arrivals_;
  double messages_ = 0;
  double wasted_ = 0;
};

}  // namespace retrace::bench
