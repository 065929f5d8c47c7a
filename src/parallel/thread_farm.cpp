#include "retrace/parallel/thread_farm.h"

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "first_failure.h"

namespace retrace::parallel {
namespace {

/// One worker, on the caller's thread: no other thread exists, which keeps debuggers and profilers simple.
class CallerFarm final : public TaskFarm {
 public:
  explicit CallerFarm(WorkerFactory factory) : factory_(std::move(factory)) {}

  using TaskFarm::Run;
  void Run(Work& work) override {
    work.WhileBusy();  // no other thread is
    for (size_t i = 0; i < work.num_tasks(); ++i) {
      if (!worker_) worker_ = factory_();
      result_.clear();
      worker_(work.Pack(i), result_);
      work.Handle(i, result_);
    }
  }

  int num_workers() const override { return 1; }

 private:
  WorkerFactory factory_;
  Worker worker_;
  Bytes result_;
};

/// Threads that compute, while the caller sleeps or handles results. The caller does not compute: a result would then
/// wait for the end of the caller's own task, and the handler (which may stop the run) with it.
class ThreadFarm final : public TaskFarm {
 public:
  ThreadFarm(int threads, WorkerFactory factory) : factory_(std::move(factory)) {
    threads_.reserve(static_cast<size_t>(threads));
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Compute(); });
    } catch (...) {
      Join();
      throw;
    }
  }

  ~ThreadFarm() override { Join(); }

  ThreadFarm(const ThreadFarm&) = delete;
  ThreadFarm& operator=(const ThreadFarm&) = delete;

  using TaskFarm::Run;
  void Run(Work& work) override {
    FirstFailure failure;
    std::vector<Finished> batch;
    // Threads take the next one from here without waiting for anyone.
    std::vector<Bytes> tasks;
    for (size_t i = 0; i < work.num_tasks(); ++i) tasks.push_back(work.Pack(i));
    std::unique_lock lock(mutex_);
    tasks_ = tasks;
    next_ = 0;
    work_.notify_all();
    lock.unlock();
    try {
      work.WhileBusy();
    } catch (...) {
      failure.Record(tasks.size(), std::current_exception());
    }
    lock.lock();
    if (failure.any()) tasks_ = tasks_.first(next_);
    for (;;) {
      done_.wait(lock, [&] { return !finished_.empty() || (in_progress_ == 0 && next_ == tasks_.size()); });
      if (finished_.empty()) break;
      std::swap(batch, finished_);
      lock.unlock();
      for (const Finished& finished : batch) {
        if (finished.exception) {
          failure.Record(finished.index, finished.exception);
        } else if (!failure.any()) {
          try {
            work.Handle(finished.index, finished.result);
          } catch (...) {
            failure.Record(finished.index, std::current_exception());
          }
        }
      }
      lock.lock();
      if (failure.any()) tasks_ = tasks_.first(next_);
      for (Finished& finished : batch) spare_.push_back(std::move(finished.result));
      batch.clear();
    }
    tasks_ = {};
    next_ = 0;
    lock.unlock();
    failure.Rethrow();
  }

  int num_workers() const override { return static_cast<int>(threads_.size()); }

 private:
  struct Finished {
    size_t index;
    Bytes result;
    std::exception_ptr exception;
  };

  void Compute() {
    Worker worker;
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [&] { return quit_ || next_ < tasks_.size(); });
      if (quit_) return;
      Finished finished{next_++, {}, nullptr};
      const Bytes& task = tasks_[finished.index];
      ++in_progress_;
      if (!spare_.empty()) {
        finished.result = std::move(spare_.back());
        spare_.pop_back();
      }
      lock.unlock();
      finished.result.clear();
      try {
        if (!worker) worker = factory_();
        worker(task, finished.result);
      } catch (...) {
        finished.exception = std::current_exception();
      }
      lock.lock();
      --in_progress_;
      if (finished.exception) tasks_ = tasks_.first(next_);  // begin no more
      finished_.push_back(std::move(finished));
      if (finished_.size() == 1) done_.notify_one();
    }
  }

  void Join() {
    {
      const std::scoped_lock lock(mutex_);
      quit_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  WorkerFactory factory_;
  std::mutex mutex_;  // guards everything below but threads_
  std::condition_variable work_;
  std::condition_variable done_;
  std::span<const Bytes> tasks_;  // of the run, cut short at next_ once a task has failed
  size_t next_ = 0;               // first task not yet begun
  size_t in_progress_ = 0;
  std::vector<Finished> finished_;  // not yet handled
  std::vector<Bytes> spare_;        // buffers of handled results, so that a long run does not allocate
  bool quit_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<TaskFarm> MakeThreadFarm(int threads, const WorkerFactory& factory) {
  if (threads < 0) throw std::invalid_argument("a farm of " + std::to_string(threads) + " threads");
  if (threads == 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (threads == 1) return std::make_unique<CallerFarm>(factory);
  return std::make_unique<ThreadFarm>(threads, factory);
}

}  // namespace retrace::parallel
