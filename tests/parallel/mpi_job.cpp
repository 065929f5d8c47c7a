/// A small MPI program that ends in the ways that mpi_job_test.cpp looks at from outside.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include "parallel/farm_laws.h"
#include "retrace/parallel/mpi_session.h"
#include "retrace/parallel/rank_group.h"

using namespace retrace;
using namespace retrace::parallel;

namespace {

int RunJob(MpiSession& session, const std::string& scenario) {
  if (scenario == "who") {
    std::printf("active %d, rank %d of %d\n", session.active(), session.rank(), session.size());
    return 0;
  }
  if (scenario == "beginning hangs" || scenario == "leaving hangs") {
    const bool late = scenario == "leaving hangs";
    const auto prepare = [&]() -> std::string {
      while (session.rank() == 2 && !late) pause();
      return "";
    };
    session.Prepare(
        prepare, [](const std::string&, const std::string&) { return ""; }, 0.5);
    if (session.rank() != 0) session.Serve(laws::MakeWorker);
    while (session.rank() == 2) pause();
    if (session.rank() == 0)
      session.MakeFarm(laws::MakeWorker)->Run(laws::Pack(laws::MixedOrders(20)), [](size_t, auto) {});
    return 0;
  }
  if (scenario == "master fails" && session.rank() == 0) throw OutputError("no place to write");
  if (scenario == "worker fails" && session.rank() == 2) throw InputError("no file on this host");
  const auto factory = [&]() -> Worker {
    return [&](std::span<const std::byte> task, Bytes& result) {
      if (session.rank() == 1 && scenario == "task fails") throw InputError("bad character");
      if (session.rank() == 1 && scenario == "worker dies") raise(SIGKILL);
      if (session.rank() == 2 && scenario == "worker hangs") {
        for (;;) pause();
      }
      laws::Work(task, result);
    };
  };
  if (scenario == "member hangs" || scenario == "leader hangs") {
    // Two groups; rank 2 leads the second one, and rank 3 is its other rank.
    const RankGroups groups = session.Split(2);
    const auto member = [&]() -> Worker {
      return [&](std::span<const std::byte> task, Bytes& result) {
        if (session.rank() == 3 && scenario == "member hangs") {
          for (;;) pause();
        }
        laws::Work(task, result);
      };
    };
    if (!groups.leaders) {
      groups.own->Serve(member);
      return 0;
    }
    const auto team = groups.own->MakeFarm(member, 0.5);
    const std::vector<Bytes> tasks(50, laws::Pack(laws::Order{laws::Order::kSleep, 0, 2}));
    const auto run = [&]() -> Worker {
      return [&](std::span<const std::byte>, Bytes&) {
        while (session.rank() == 2 && scenario == "leader hangs") pause();
        team->Run(tasks, [](size_t, auto) {});
        groups.leaders->ReportAlive();
      };
    };
    if (groups.leaders->rank() != 0) {
      groups.leaders->Serve(run);
      return 0;
    }
    groups.leaders->MakeFarm(run, 0.5)->Run(tasks, [](size_t, auto) {});
    return 0;
  }
  if (scenario == "worker is slow") {
    // A second of work, twice as long as the master's timeout.
    const auto slow = [&]() -> Worker {
      return [&](std::span<const std::byte>, Bytes&) {
        for (int i = 0; i < 20 && session.rank() > 0; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          session.job().ReportAlive();
        }
      };
    };
    if (session.rank() != 0) return session.Serve(slow), 0;
    session.MakeFarm(slow, 0.5)->Run(std::vector<Bytes>(4, Bytes(1)), [](size_t, auto) {});
    std::printf("all came back\n");
    return 0;
  }
  if (session.rank() != 0) {
    session.Serve(factory);
    return 0;
  }
  const bool patient = scenario == "worker hangs" || scenario == "suspended";
  const uint32_t milliseconds = scenario == "suspended" ? 40 : 2;
  const auto farm = session.MakeFarm(factory, patient ? 0.5 : 0);
  farm->Run(std::vector<Bytes>(200, laws::Pack(laws::Order{laws::Order::kSleep, 0, milliseconds})),
            [](size_t, auto) {});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "who";
  try {
    MpiSession session(&argc, &argv);
    if (scenario == "exception escapes" && session.rank() == 1) throw InputError("caught outside of the session");
    try {
      return RunJob(session, scenario);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      const int code = static_cast<int>(error.code());
      // A task's exception has come to the master, whose farm has released the others: they leave by themselves. Where
      // a rank is lost, the session ends the job.
      if (scenario == "task fails" || scenario.ends_with("hangs")) return code;
      session.Abort(code);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
