#include "retrace/methods/sampling/seeds.h"

#include <memory>

#include "retrace/methods/sampling/search.h"

namespace retrace::sampling {

parallel::WorkerFactory MakeSeededWorkerFactory(const Problem& problem) {
  return parallel::MakeKeyedFactory([&problem](uint64_t seed) -> parallel::Worker {
    auto seeded = std::make_shared<Problem>(problem);  // which the worker refers to
    seeded->options.seed = seed;
    return [seeded, worker = MakeWorkerFactory(*seeded)()](std::span<const std::byte> task, parallel::Bytes& result) {
      worker(task, result);
    };
  });
}

}  // namespace retrace::sampling
