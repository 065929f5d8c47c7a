/// Run under mpirun: every rank goes through the same tests in the same order, and rank 0 checks.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "parallel/farm_laws.h"
#include "retrace/io/remedy.h"
#include "retrace/parallel/mpi_session.h"
#include "retrace/parallel/rank_group.h"

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

/// Tasks that are packed when they are handed out, and answered with their numbers.
class Numbered final : public Work {
 public:
  explicit Numbered(size_t tasks) : answers_(tasks, 0) {}
  size_t num_tasks() const override { return answers_.size(); }
  Bytes Pack(size_t task) override {
    Bytes bytes(sizeof task);
    std::memcpy(bytes.data(), &task, sizeof task);
    return bytes;
  }
  void Handle(size_t task, std::span<const std::byte> result) override {
    ASSERT_EQ(result.size(), sizeof(size_t));
    std::memcpy(&answers_[task], result.data(), result.size());
  }
  void WhileBusy() override { ++busy_; }

  static Worker MakeWorker() {
    return [](std::span<const std::byte> task, Bytes& result) {
      size_t number = 0;
      std::memcpy(&number, task.data(), sizeof number);
      ++number;
      result.resize(sizeof number);
      std::memcpy(result.data(), &number, sizeof number);
    };
  }

  void Check() const {
    EXPECT_EQ(busy_, 1);
    for (size_t t = 0; t < answers_.size(); ++t) EXPECT_EQ(answers_[t], t + 1);
  }

 private:
  std::vector<size_t> answers_;
  int busy_ = 0;
};

TEST(MpiFarm, PacksTasksWhenItHandsThemOut) {
  OnJob(Numbered::MakeWorker, [](TaskFarm& farm) {
    for (const size_t tasks : {1U, 2U, 7U, 300U}) {
      Numbered work(tasks);
      farm.Run(work);
      work.Check();
    }
  });
}

/// Otherwise all ranks would wait for the master's own task.
TEST(MpiFarm, TakesInResultsWhileTheMasterComputes) {
  if (session->size() == 1) GTEST_SKIP() << "there is nobody else";
  static std::atomic<int> handled{0};
  static std::atomic<bool> seen{false};
  handled = 0;
  class Counting final : public Work {
   public:
    size_t num_tasks() const override { return 4 * static_cast<size_t>(session->size()); }
    Bytes Pack(size_t task) override { return Bytes(100000, static_cast<std::byte>(task)); }
    void Handle(size_t /*task*/, std::span<const std::byte> /*result*/) override { ++handled; }
  };
  const auto factory = []() -> Worker {
    return [](std::span<const std::byte> task, Bytes& result) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (session->rank() == 0 && handled == 0 && std::chrono::steady_clock::now() < end) PassMessages();
      if (session->rank() == 0) seen = handled > 0;
      result.assign(task.begin(), task.end());
    };
  };
  OnJob(factory, [](TaskFarm& farm) {
    Counting work;
    farm.Run(work);
    EXPECT_EQ(handled, static_cast<int>(work.num_tasks()));
    EXPECT_TRUE(seen);
  });
}

TEST(MpiFarm, EndsWhenWorkCannotBePackedOrKept) {
  struct Full final : public Work {
    size_t num_tasks() const override { return 50; }
    Bytes Pack(size_t task) override {
      if (!keep_fails && task == 10) throw OutputError("cannot be packed");
      return laws::Pack(laws::Order{});
    }
    void Handle(size_t, std::span<const std::byte>) override {}
    void WhileBusy() override {
      if (keep_fails) throw OutputError("disk full");
    }
    bool keep_fails = false;
  };
  OnJob(laws::MakeWorker, [](TaskFarm& farm) {
    for (const bool keep_fails : {false, true}) {
      Full work;
      work.keep_fails = keep_fails;
      EXPECT_THROW(farm.Run(work), OutputError);
      laws::ComputesEveryTaskOnce(farm);
    }
  });
}

/// How far the ranks of this job have come, in memory that they share.
struct Progress {
  std::atomic<int> master{0};  // tasks that rank 0 has done
  std::atomic<int> busy{0};    // other ranks that are in their second task
};
static_assert(std::atomic<int>::is_always_lock_free);

/// A file named after the launcher, which all ranks have in common.
std::string ProgressFile() {
  return "/tmp/retrace_mpi_farm_test_" + std::to_string(getppid());
}

Progress& MapProgress() {
  const int file = open(ProgressFile().c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Progress)) != 0) throw OutputError(ProgressFile() + ": cannot be made");
  void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) throw OutputError(ProgressFile() + ": cannot be mapped");
  return *static_cast<Progress*>(memory);  // zeros, as the file was made
}

void WaitUntil(const std::function<bool()>& condition, const char* what) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) throw std::runtime_error(what);
    std::this_thread::yield();
  }
}

/// A long result may travel only while its sender looks up, and the sender computes. The master must go on meanwhile:
/// here the sender's next task ends only when it has, and has looked for messages several times.
TEST(MpiFarm, ComputesWhileALongResultIsOnItsWay) {
  Progress& progress = MapProgress();
  const int others = session->size() - 1;
  const auto factory = [&]() -> Worker {
    return [&, count = 0](std::span<const std::byte>, Bytes& result) mutable {
      ++count;
      if (session->rank() != 0) {
        result.resize(1U << 20U);
        if (count != 2) return;
        ++progress.busy;
        WaitUntil([&] { return progress.master >= 20; }, "the master waited for a result that was on its way");
      } else {
        WaitUntil([&] { return progress.busy == others; }, "the others were not given a second task");
        ++progress.master;
      }
    };
  };
  OnJob(factory, [](TaskFarm& farm) { laws::Collect(farm, std::vector<Bytes>(100, Bytes(1))); });
  if (session->rank() == 0) std::remove(ProgressFile().c_str());
}

/// What is wrong on which ranks, and what all ranks then throw.
struct Beginning {
  std::set<int> fail;
  std::set<int> break_down;
  std::set<int> differ;
  std::string message;  // a regular expression; none: all begin
};

void Begin(const Beginning& beginning) {
  const int rank = session->rank();
  const auto prepare = [&]() -> std::string {
    if (beginning.fail.contains(rank)) {
      throw WithHint<InputError>({Remedy::kSkeletonMap, Remedy::kOtherOutput},
                                 "no file on rank " + std::to_string(rank));
    }
    if (beginning.break_down.contains(rank)) throw std::out_of_range("a mistake");
    // More than MPI sends before somebody takes it.
    return std::string(100000, 'a') + (beginning.differ.contains(rank) ? "b" : "c");
  };
  session->Prepare(prepare, [](const std::string& on_master, const std::string& here) {
    return std::string("found ") + here.back() + ", on rank 0 " + on_master.back();
  });
}

TEST(MpiSession, BeginsOnAllRanksOrOnNone) {
  const int last = session->size() - 1;
  const std::string name = "rank " + std::to_string(last) + " \\(.+\\): ";
  std::vector<Beginning> beginnings = {
      {{}, {}, {}, ""}, {{0}, {}, {}, "no file on rank 0"}, {{0, 1, 2, 3}, {}, {}, "no file on rank 0"}};
  if (last > 0) {
    beginnings.push_back({{last}, {}, {}, name + "no file on rank " + std::to_string(last)});
    beginnings.push_back({{}, {}, {last}, name + "found b, on rank 0 c"});
    beginnings.push_back({{1, last}, {}, {}, "rank 1 \\(.+\\): no file on rank 1"});
    beginnings.push_back({{last}, {}, {1}, last > 1 ? "rank 1 \\(.+\\): found b.+" : name + "no file.+"});
  }
  for (const Beginning& beginning : beginnings) {
    if (beginning.message.empty()) {
      EXPECT_NO_THROW(Begin(beginning));
    } else {
      EXPECT_THAT([&] { Begin(beginning); },
                  testing::ThrowsMessage<InputError>(testing::MatchesRegex(beginning.message)));
    }
  }
  EXPECT_THROW(Begin({{}, {last}, {}, ""}), std::exception);
  try {
    Begin({{last}, {}, {}, ""});
    ADD_FAILURE() << "began";
  } catch (const InputError& error) {
    EXPECT_THAT(RemediesOf(error), testing::ElementsAre(Remedy::kSkeletonMap, Remedy::kOtherOutput));
  }
  OnJob(laws::MakeWorker, laws::ComputesEveryTaskOnce);
}

TEST(MpiGroups, AreEvenAndConsecutive) {
  for (int count = 1; count <= session->size(); ++count) {
    const RankGroups groups = session->Split(count);
    EXPECT_GE(groups.own->size(), session->size() / count);
    EXPECT_LE(groups.own->size(), session->size() / count + 1);
    EXPECT_EQ(groups.leaders != nullptr, groups.own->rank() == 0);
    if (groups.leaders) {
      EXPECT_EQ(groups.leaders->size(), count);
    }
  }
  EXPECT_THROW(session->Split(0), std::invalid_argument);
  EXPECT_THROW(session->Split(session->size() + 1), std::invalid_argument);
}

/// A farm of leaders, whose workers each have a farm of their own group.
TEST(MpiGroups, WorkInsideOneAnother) {
  for (int count = 1; count <= session->size(); ++count) {
    const RankGroups groups = session->Split(count);
    if (!groups.leaders) {
      groups.own->Serve(Numbered::MakeWorker);
      continue;
    }
    const auto team = groups.own->MakeFarm(Numbered::MakeWorker);
    const auto factory = [&]() -> Worker {
      return [&](std::span<const std::byte> task, Bytes& result) {
        Numbered work(20 + task.size());
        team->Run(work);
        work.Check();
        result.assign(task.begin(), task.end());
      };
    };
    if (groups.leaders->rank() != 0) {
      groups.leaders->Serve(factory);
      continue;
    }
    const auto farm = groups.leaders->MakeFarm(factory);
    laws::Collect(*farm, laws::Pack(laws::MixedOrders(12)));
  }
}

TEST(MpiGroups, PassOnWhatAMemberThrows) {
  const RankGroups groups = session->Split(std::max(1, session->size() / 2));
  const auto faulty = []() -> Worker {
    return [](std::span<const std::byte>, Bytes&) { throw InputError("no file on this host"); };
  };
  if (!groups.leaders) return groups.own->Serve(faulty);
  const auto team = groups.own->MakeFarm(faulty);
  const auto factory = [&]() -> Worker {
    return
        [&](std::span<const std::byte>, Bytes&) { team->Run(laws::Pack(laws::MixedOrders(3)), [](size_t, auto) {}); };
  };
  if (groups.leaders->rank() != 0) return groups.leaders->Serve(factory);
  const auto farm = groups.leaders->MakeFarm(factory);
  EXPECT_THAT([&] { laws::Collect(*farm, laws::Pack(laws::MixedOrders(1))); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("no file on this host")));
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
