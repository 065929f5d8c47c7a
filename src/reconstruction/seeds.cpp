#include "retrace/reconstruction/seeds.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "retrace/reconstruction/rollout.h"

namespace retrace::reconstruction {
namespace {

/// A worker and the problem that it refers to.
struct Seeded {
  explicit Seeded(const Problem& of) : problem(of) {}
  Problem problem;
  parallel::Worker worker;
};

}  // namespace

parallel::WorkerFactory MakeSeededWorkerFactory(const Problem& problem) {
  return [&problem]() -> parallel::Worker {
    auto seeded = std::make_shared<Seeded>(problem);
    return [seeded](std::span<const std::byte> task, parallel::Bytes& result) {
      uint64_t seed = 0;
      if (task.size() < sizeof seed) throw std::logic_error("a task of the seeded farm is too short");
      std::memcpy(&seed, task.data(), sizeof seed);
      if (!seeded->worker || seeded->problem.search.seed != seed) {
        seeded->worker = nullptr;
        seeded->problem.search.seed = seed;
        seeded->worker = MakeWorkerFactory(seeded->problem)();
      }
      seeded->worker(task.subspan(sizeof seed), result);
    };
  };
}

void SeededFarm::Run(std::span<const parallel::Bytes> tasks, const parallel::ResultHandler& on_result) {
  std::vector<parallel::Bytes> seeded;
  seeded.reserve(tasks.size());
  for (const parallel::Bytes& task : tasks) {
    parallel::Bytes& bytes = seeded.emplace_back(sizeof seed_ + task.size());
    std::memcpy(bytes.data(), &seed_, sizeof seed_);
    if (!task.empty()) std::memcpy(bytes.data() + sizeof seed_, task.data(), task.size());
  }
  farm_.Run(seeded, on_result);
}

}  // namespace retrace::reconstruction
