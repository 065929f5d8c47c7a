/// Run under mpirun: every rank goes through the same tests in the same order, and rank 0 checks.
#include <sys/resource.h>

#include <map>

#include "parallel/farm_laws.h"

namespace retrace::parallel {
namespace {

MpiSession* session = nullptr;  // of main

/// Rank 0 does `check` with a farm over the job, the others work for it.
void OnJob(const WorkerFactory& factory, const std::function<void(TaskFarm&)>& check) {
  if (session->rank() == 0) {
    const auto farm = session->MakeFarm(factory);
    check(*farm);
  } else {
    session->Serve(factory);
  }
}

TEST(MpiFarm, IsActiveUnderALauncher) {
  EXPECT_TRUE(session->active());
  EXPECT_TRUE(MpiSession::built_with_mpi());
}

TEST(MpiFarm, CountsItsWorkers) {
  OnJob(laws::MakeWorker, [](TaskFarm& farm) { EXPECT_EQ(farm.num_workers(), session->size()); });
}

TEST(MpiFarm, ComputesEveryTaskOnce) {
  OnJob(laws::MakeWorker, laws::ComputesEveryTaskOnce);
}

TEST(MpiFarm, CopesWithUnevenTasks) {
  OnJob(laws::MakeWorker, laws::CopesWithUnevenTasks);
}

TEST(MpiFarm, RethrowsTheFirstException) {
  OnJob(laws::MakeWorker, laws::RethrowsTheFirstException);
}

TEST(MpiFarm, EndsWhenTheHandlerThrows) {
  OnJob(laws::MakeWorker, laws::EndsWhenTheHandlerThrows);
}

TEST(MpiFarm, NamesRankAndHostOfAnException) {
  const auto factory = []() -> Worker {
    // Rank 0 is given work only once the others have some.
    if (session->rank() == 0) return laws::MakeWorker();
    return [](std::span<const std::byte>, Bytes&) { throw std::invalid_argument("rank at fault"); };
  };
  OnJob(factory, [](TaskFarm& farm) {
    const auto run = [&] { farm.Run(laws::Pack(laws::MixedOrders(8)), [](size_t, auto) {}); };
    if (session->size() == 1) return run();
    EXPECT_THAT(run,
                testing::ThrowsMessage<std::runtime_error>(testing::MatchesRegex("rank 1 \\(.+\\): rank at fault")));
  });
}

TEST(MpiFarm, ReportsAFactoryThatFails) {
  const auto factory = []() -> Worker { throw UsageError("no such option"); };
  OnJob(factory, [](TaskFarm& farm) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      EXPECT_THROW(laws::Collect(farm, laws::Pack(laws::MixedOrders(20))), UsageError);
    }
  });
}

TEST(MpiFarm, HasOneFarmAtATime) {
  OnJob(laws::MakeWorker, [](TaskFarm&) {
    if (session->size() == 1) return;
    EXPECT_THROW(session->MakeFarm(laws::MakeWorker), std::logic_error);
  });
  EXPECT_THROW(session->rank() == 0 ? session->Serve(laws::MakeWorker) : (void)session->MakeFarm(laws::MakeWorker),
               std::logic_error);
}

/// Sleeps as the task says and answers with its rank and the processor time that the rank has used, in seconds.
struct RankNote {
  int rank;
  double processor_time;
};

Worker MakeNoteWorker() {
  return [](std::span<const std::byte> task, Bytes& result) {
    laws::Work(task, result);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const RankNote note{session->rank(),
                        static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                            1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)};
    result.resize(sizeof note);
    std::memcpy(result.data(), &note, sizeof note);
  };
}

/// Latest processor time of every rank, after `rounds` tasks for each of them.
std::map<int, double> ProcessorTimes(TaskFarm& farm, int rounds) {
  std::vector<laws::Order> orders(static_cast<size_t>(rounds * session->size()), {laws::Order::kSleep, 0, 5});
  std::map<int, double> times;
  farm.Run(laws::Pack(orders), [&](size_t, std::span<const std::byte> result) {
    RankNote note;
    std::memcpy(&note, result.data(), sizeof note);
    times[note.rank] = std::max(times[note.rank], note.processor_time);
  });
  return times;
}

TEST(MpiFarm, GivesWorkToEveryRank) {
  OnJob(MakeNoteWorker,
        [](TaskFarm& farm) { EXPECT_EQ(ProcessorTimes(farm, 10).size(), static_cast<size_t>(session->size())); });
}

TEST(MpiFarm, LetsIdleRanksSleep) {
  OnJob(MakeNoteWorker, [](TaskFarm& farm) {
    const auto before = ProcessorTimes(farm, 10);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto after = ProcessorTimes(farm, 10);
    for (const auto& [rank, time] : before) EXPECT_LT(after.at(rank) - time, 0.15) << "of 0.55 s, rank " << rank;
  });
}

}  // namespace
}  // namespace retrace::parallel

int main(int argc, char** argv) {
  retrace::parallel::MpiSession session(&argc, &argv);
  retrace::parallel::session = &session;
  testing::InitGoogleTest(&argc, argv);
  if (session.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  return RUN_ALL_TESTS();
}
