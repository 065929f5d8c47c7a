#include "retrace/reconstruction/seeds.h"

#include <memory>

#include "retrace/reconstruction/rollout.h"

namespace retrace::reconstruction {

parallel::WorkerFactory MakeSeededWorkerFactory(const Problem& problem) {
  return parallel::MakeKeyedFactory([&problem](uint64_t seed) -> parallel::Worker {
    auto seeded = std::make_shared<Problem>(problem);  // which the worker refers to
    seeded->search.seed = seed;
    return [seeded, worker = MakeWorkerFactory(*seeded)()](std::span<const std::byte> task, parallel::Bytes& result) {
      worker(task, result);
    };
  });
}

}  // namespace retrace::reconstruction
