#include "retrace/parallel/thread_farm.h"

#include <atomic>
#include <latch>
#include <mutex>

#include "parallel/farm_laws.h"

namespace retrace::parallel {
namespace {

class ThreadFarm : public testing::TestWithParam<int> {
 protected:
  std::unique_ptr<TaskFarm> farm_ = MakeThreadFarm(GetParam(), laws::MakeWorker);
};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadFarm, testing::Values(1, 2, 3, 8));

TEST_P(ThreadFarm, ComputesEveryTaskOnce) {
  laws::ComputesEveryTaskOnce(*farm_);
}

TEST_P(ThreadFarm, CopesWithUnevenTasks) {
  laws::CopesWithUnevenTasks(*farm_);
}

TEST_P(ThreadFarm, RethrowsTheFirstException) {
  laws::RethrowsTheFirstException(*farm_);
}

TEST_P(ThreadFarm, EndsWhenTheHandlerThrows) {
  laws::EndsWhenTheHandlerThrows(*farm_);
}

TEST_P(ThreadFarm, CountsItsWorkers) {
  EXPECT_EQ(farm_->num_workers(), GetParam());
}

TEST_P(ThreadFarm, RunsManyTinyTasks) {
  std::vector<laws::Order> orders;
  for (uint32_t i = 0; i < 20000; ++i) orders.push_back({laws::Order::kNumbers, i, 4});
  const auto results = laws::Collect(*farm_, laws::Pack(orders));
  for (size_t i = 0; i < orders.size(); ++i) ASSERT_EQ(results[i], laws::Numbers(orders[i]));
}

TEST_P(ThreadFarm, HandlesResultsOnTheCallersThread) {
  std::set<std::thread::id> threads;
  farm_->Run(laws::Pack(laws::MixedOrders(50)), [&](size_t, auto) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST_P(ThreadFarm, PassesOnWhatIsNoStandardException) {
  EXPECT_THROW(farm_->Run(laws::Pack(std::vector<laws::Order>{{laws::Order::kNoException, 0, 0}}), [](size_t, auto) {}),
               int);
}

TEST_P(ThreadFarm, FailsAndRecoversWithItsFactory) {
  std::atomic<bool> broken = true;
  const auto farm = MakeThreadFarm(GetParam(), [&]() -> Worker {
    if (broken) throw InputError("no such character");
    return laws::MakeWorker();
  });
  EXPECT_THROW(laws::Collect(*farm, laws::Pack(laws::MixedOrders(20))), InputError);
  broken = false;
  laws::ComputesEveryTaskOnce(*farm);
}

/// Notes the threads on which it is made, used and destroyed.
class ThreadNotes {
 public:
  struct Life {
    std::thread::id made;
    std::set<std::thread::id> used;
    std::thread::id destroyed;
  };

  WorkerFactory Factory() {
    return [this] {
      const std::shared_ptr<Life> life(new Life{std::this_thread::get_id(), {}, {}}, [this](Life* ended) {
        ended->destroyed = std::this_thread::get_id();
        const std::scoped_lock lock(mutex_);
        lives_.push_back(*ended);
        delete ended;
      });
      return [life](std::span<const std::byte>, Bytes&) { life->used.insert(std::this_thread::get_id()); };
    };
  }

  const std::vector<Life>& lives() const { return lives_; }

 private:
  std::mutex mutex_;
  std::vector<Life> lives_;
};

TEST_P(ThreadFarm, KeepsEachWorkerOnItsOwnThread) {
  ThreadNotes notes;
  {
    const auto farm = MakeThreadFarm(GetParam(), notes.Factory());
    for (int run = 0; run < 3; ++run) farm->Run(std::vector<Bytes>(200), [](size_t, auto) {});
  }
  EXPECT_GE(notes.lives().size(), 1);
  EXPECT_LE(notes.lives().size(), static_cast<size_t>(GetParam())) << "workers are kept between runs";
  for (const auto& life : notes.lives()) {
    EXPECT_EQ(life.used, std::set{life.made});
    EXPECT_EQ(life.destroyed, life.made);
    EXPECT_EQ(life.made == std::this_thread::get_id(), GetParam() == 1);
  }
}

TEST(ThreadFarmOfThree, ComputesOnThreeThreadsAtOnce) {
  std::latch all_at_work(3);
  const auto farm =
      MakeThreadFarm(3, [&] { return [&](std::span<const std::byte>, Bytes&) { all_at_work.arrive_and_wait(); }; });
  farm->Run(std::vector<Bytes>(3), [](size_t, auto) {});
}

TEST(ThreadFarmOfNone, IsRefused) {
  EXPECT_THROW(MakeThreadFarm(-1, laws::MakeWorker), std::invalid_argument);
}

TEST(ThreadFarmUnused, EndsAtOnce) {
  MakeThreadFarm(4, laws::MakeWorker);
}

}  // namespace
}  // namespace retrace::parallel
