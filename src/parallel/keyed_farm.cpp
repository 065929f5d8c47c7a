#include "retrace/parallel/keyed_farm.h"

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

namespace retrace::parallel {
namespace {

class KeyedWork final : public Work {
 public:
  KeyedWork(Work& work, uint64_t key) : work_(work), key_(key) {}
  size_t num_tasks() const override { return work_.num_tasks(); }
  Bytes Pack(size_t index) override {
    const Bytes task = work_.Pack(index);
    Bytes bytes(sizeof key_);
    bytes.reserve(sizeof key_ + task.size());
    std::memcpy(bytes.data(), &key_, sizeof key_);
    bytes.insert(bytes.end(), task.begin(), task.end());
    return bytes;
  }
  void Handle(size_t task, std::span<const std::byte> result) override { work_.Handle(task, result); }
  void WhileBusy() override { work_.WhileBusy(); }

 private:
  Work& work_;
  uint64_t key_;
};

struct LatestWorker {
  std::optional<uint64_t> key;
  Worker worker;
};

}  // namespace

WorkerFactory MakeKeyedFactory(const KeyedFactory& make) {
  return [make]() -> Worker {
    auto latest = std::make_shared<LatestWorker>();
    return [make, latest](std::span<const std::byte> task, Bytes& result) {
      uint64_t key = 0;
      if (task.size() < sizeof key) throw std::logic_error("a task of a keyed farm is too short");
      std::memcpy(&key, task.data(), sizeof key);
      if (latest->key != key) {
        latest->key.reset();
        latest->worker = nullptr;
        latest->worker = make(key);
        latest->key = key;
      }
      latest->worker(task.subspan(sizeof key), result);
    };
  };
}

void KeyedFarm::Run(Work& work) {
  KeyedWork keyed(work, key_);
  farm_.Run(keyed);
}

}  // namespace retrace::parallel
