#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {
namespace {

class PackedWork final : public Work {
 public:
  PackedWork(std::span<const Bytes> tasks, const ResultHandler& on_result) : tasks_(tasks), on_result_(on_result) {}
  size_t num_tasks() const override { return tasks_.size(); }
  Bytes Pack(size_t task) override { return tasks_[task]; }
  void Handle(size_t task, std::span<const std::byte> result) override { on_result_(task, result); }

 private:
  std::span<const Bytes> tasks_;
  const ResultHandler& on_result_;
};

}  // namespace

void TaskFarm::Run(std::span<const Bytes> tasks, const ResultHandler& on_result) {
  PackedWork work(tasks, on_result);
  Run(work);
}

}  // namespace retrace::parallel
