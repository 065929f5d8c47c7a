/// Algorithms 1 and 2 of Liu et al. 2010: a master hands tasks to the ranks that are idle. Here the master computes
/// too, and a worker is given its next task before it has finished one, so that it never waits for the master to look
/// up.
///
/// Without MPI the same file compiles to a job of one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/parallel/task_farm.h"

#ifdef RETRACE_HAVE_MPI
#define OMPI_SKIP_MPICXX 1  // the C++ bindings are gone from MPI
#include <mpi.h>

#include <chrono>
#include <climits>
#include <cmath>
#include <deque>
#include <optional>
#include <thread>

#include "first_failure.h"
#endif

namespace retrace::parallel {
namespace {

/// Ranks of the job as its launcher announces them: 0 without a launcher, and at least 1 with one that does not tell.
/// Read before MPI_Init, which takes a tenth of a second that plain runs should not pay.
int LaunchedRanks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) return std::max(1, std::atoi(value));
  }
  for (const char* name : {"PMIX_RANK", "PMI_RANK", "PMI_FD"}) {
    if (std::getenv(name) != nullptr) return 1;
  }
  return 0;
}

}  // namespace

#ifdef RETRACE_HAVE_MPI
namespace {

// Messages need no header: MPI keeps the order between two ranks, and a worker answers in the order of its tasks.
constexpr int kTask = 1;    // master to worker: the task's bytes
constexpr int kResult = 2;  // worker to master: the result's bytes
constexpr int kError = 3;   // worker to master: the exit code as one byte, or kOtherException, then the message
constexpr int kLeave = 4;   // master to worker: leave Serve

constexpr std::byte kOtherException{255};

// Tasks that a rank holds beside the one it computes. In a simulated job of 4 ranks with 300 tasks whose durations vary
// by half, the ranks are busy 74, 96 and 99 % of the time with 0, 1 and 2 of them; 3 add nothing.
constexpr size_t kReserve = 2;

int MessageSize(const Bytes& bytes) {
  if (bytes.size() > INT_MAX) throw std::length_error("an MPI message of " + std::to_string(bytes.size()) + " bytes");
  return static_cast<int>(bytes.size());
}

/// How to wait for a message. A blocking MPI call spins, and would take the processor from the other ranks when there
/// are more ranks than cores; so look, and sleep for longer the longer nothing comes.
class Patience {
 public:
  void Wait() {
    const auto now = Clock::now();
    if (!since_) since_ = now;
    if (now - *since_ < kYielding) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(sleep_);
      sleep_ = std::min(2 * sleep_, kLongestSleep);
    }
  }

  void Reset() { *this = Patience(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kYielding{50};
  static constexpr std::chrono::microseconds kLongestSleep{1000};

  std::optional<Clock::time_point> since_;
  std::chrono::microseconds sleep_{20};
};

struct Message {
  int source = 0;
  int tag = 0;
};

/// Receives a message from anyone if one has arrived.
bool Receive(MPI_Comm job, Message& message, Bytes& bytes) {
  int arrived = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, job, &arrived, &status);
  if (arrived == 0) return false;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  bytes.resize(static_cast<size_t>(count));
  message = {status.MPI_SOURCE, status.MPI_TAG};
  MPI_Recv(bytes.data(), count, MPI_BYTE, message.source, message.tag, job, MPI_STATUS_IGNORE);
  return true;
}

Bytes PackException(const std::string& place) {
  std::byte kind = kOtherException;
  std::string text = place;
  try {
    throw;
  } catch (const Error& error) {
    kind = static_cast<std::byte>(error.code());
    text += error.what();
  } catch (const std::exception& error) {
    text += error.what();
  } catch (...) {
    text += "an exception of an unknown type";
  }
  Bytes bytes(1 + text.size());
  bytes[0] = kind;
  std::transform(text.begin(), text.end(), bytes.begin() + 1, [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::exception_ptr UnpackException(const Bytes& bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1);
  if (bytes[0] == kOtherException) return std::make_exception_ptr(std::runtime_error(text));
  const auto code = static_cast<ExitCode>(bytes[0]);
  switch (code) {
    case ExitCode::kUsage:
      return std::make_exception_ptr(UsageError(text));
    case ExitCode::kInput:
      return std::make_exception_ptr(InputError(text));
    case ExitCode::kOutput:
      return std::make_exception_ptr(OutputError(text));
    default:
      return std::make_exception_ptr(Error(code, text));
  }
}

class MpiFarm final : public TaskFarm {
 public:
  /// Shared with the session.
  struct Ranks {
    std::vector<std::string> names;  // with their hosts, for messages
    bool farm_alive = false;
    bool lost = false;  // one of them does not answer
  };

  MpiFarm(MPI_Comm job, Ranks* ranks, WorkerFactory factory, double patience)
      : job_(job),
        others_(ranks->names.size() - 1),
        heard_(others_.size()),
        ranks_(ranks),
        factory_(std::move(factory)),
        patience_(patience) {
    ranks_->farm_alive = true;
  }

  ~MpiFarm() override {
    // Empty messages leave at once, whatever the workers do.
    for (size_t i = 0; i < others_.size(); ++i) MPI_Send(nullptr, 0, MPI_BYTE, Rank(i), kLeave, job_);
    ranks_->farm_alive = false;
  }

  MpiFarm(const MpiFarm&) = delete;
  MpiFarm& operator=(const MpiFarm&) = delete;

  void Run(std::span<const Bytes> tasks, const ResultHandler& on_result) override {
    for (const Bytes& task : tasks) MessageSize(task);  // throws while nothing is under way
    FirstFailure failure;
    Patience patience;
    size_t next = 0;
    for (;;) {
      bool any = false;
      while (HandleArrival(on_result, failure)) {
        any = true;
        if (!failure.any()) HandOut(tasks, next);
      }
      CheckPatience();
      if (!failure.any()) {
        HandOut(tasks, next);
        if (next < tasks.size()) {
          ComputeHere(next, tasks[next], on_result, failure);
          ++next;
          continue;
        }
      }
      if (under_way_ == 0) break;
      if (any) {
        patience.Reset();
      } else {
        patience.Wait();
      }
    }
    failure.Rethrow();
  }

  int num_workers() const override { return static_cast<int>(others_.size()) + 1; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Begun {
    size_t index;
    MPI_Request request;
  };

  int Rank(size_t other) const { return static_cast<int>(other) + 1; }

  /// First every idle rank gets a task, then each some to go on with, but only while enough are left for all: towards
  /// the end a task in reserve would wait behind another one while some rank is idle.
  void HandOut(std::span<const Bytes> tasks, size_t& next) {
    for (size_t reserve = 0; reserve <= kReserve; ++reserve) {
      for (size_t i = 0; i < others_.size(); ++i) {
        const size_t left = tasks.size() - next;
        if (left == 0 || (reserve > 0 && left <= others_.size() + 1)) return;
        if (others_[i].size() > reserve) continue;
        if (others_[i].empty()) heard_[i] = Clock::now();
        Begun begun{next, MPI_REQUEST_NULL};
        const Bytes& task = tasks[next];
        MPI_Isend(task.data(), MessageSize(task), MPI_BYTE, Rank(i), kTask, job_, &begun.request);
        others_[i].push_back(begun);
        ++under_way_;
        ++next;
      }
    }
  }

  void CheckPatience() {
    if (patience_ <= 0) return;
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < others_.size(); ++i) {
      const double silent = std::chrono::duration<double>(now - heard_[i]).count();
      if (others_[i].empty() || silent <= patience_) continue;
      ranks_->lost = true;
      throw StoppedError(ranks_->names[i + 1] + " has not answered for " + std::to_string(std::lround(silent)) + " s");
    }
  }

  bool HandleArrival(const ResultHandler& on_result, FirstFailure& failure) {
    Message message;
    if (under_way_ == 0 || !Receive(job_, message, buffer_)) return false;
    std::deque<Begun>& begun = others_[static_cast<size_t>(message.source) - 1];
    const size_t index = begun.front().index;
    MPI_Wait(&begun.front().request, MPI_STATUS_IGNORE);  // the answer shows that it has arrived
    begun.pop_front();
    --under_way_;
    heard_[static_cast<size_t>(message.source) - 1] = Clock::now();
    if (message.tag == kError) {
      failure.Record(index, UnpackException(buffer_));
    } else if (!failure.any()) {
      try {
        on_result(index, buffer_);
      } catch (...) {
        failure.Record(index, std::current_exception());
      }
    }
    return true;
  }

  void ComputeHere(size_t index, const Bytes& task, const ResultHandler& on_result, FirstFailure& failure) {
    try {
      if (!worker_) worker_ = factory_();
      result_.clear();
      worker_(task, result_);
      on_result(index, result_);
    } catch (...) {
      failure.Record(index, std::current_exception());
    }
  }

  MPI_Comm job_;
  std::vector<std::deque<Begun>> others_;  // per rank from 1 on: its tasks, in the order of its answers
  size_t under_way_ = 0;                   // tasks in others_
  std::vector<Clock::time_point> heard_;   // per rank from 1 on: its last answer, or when it was given work
  Ranks* ranks_;
  WorkerFactory factory_;
  double patience_;  // [s]; 0: without end
  Worker worker_;
  Bytes result_;
  Bytes buffer_;
};

/// Results on their way to the master, which takes them only between its own tasks.
class Outbox {
 public:
  explicit Outbox(MPI_Comm job) : job_(job) {}

  void Send(int tag, Bytes bytes) {
    sent_.push_back({std::move(bytes), MPI_REQUEST_NULL});
    Sent& sent = sent_.back();
    MPI_Isend(sent.bytes.data(), MessageSize(sent.bytes), MPI_BYTE, 0, tag, job_, &sent.request);
  }

  /// Forgets what has arrived; returns whether nothing is left.
  bool Clear() {
    while (!sent_.empty()) {
      int done = 0;
      MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return false;
      sent_.pop_front();
    }
    return true;
  }

 private:
  struct Sent {
    Bytes bytes;
    MPI_Request request;
  };

  MPI_Comm job_;
  std::deque<Sent> sent_;
};

std::string HostName() {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(host, &length);
  return {host, static_cast<size_t>(length)};
}

/// The names of all ranks, on rank 0; cut where they are very long.
std::vector<std::string> GatherNames(MPI_Comm job, int rank, int size, const std::string& name) {
  constexpr int kLength = 128;
  std::string own = name;
  own.resize(kLength, '\0');
  std::string all(rank == 0 ? static_cast<size_t>(size) * kLength : 0, '\0');
  MPI_Gather(own.data(), kLength, MPI_CHAR, all.data(), kLength, MPI_CHAR, 0, job);
  std::vector<std::string> names;
  for (size_t at = 0; at < all.size(); at += kLength) names.emplace_back(all.substr(at, kLength).c_str());
  return names;
}

}  // namespace

struct MpiSession::State {
  bool owns_mpi = false;
  MPI_Comm job = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  std::string name;      // of this rank, with its host
  MpiFarm::Ranks ranks;  // rank 0
  int exceptions = std::uncaught_exceptions();
};

bool MpiSession::built_with_mpi() {
  return true;
}

MpiSession::MpiSession(int* argc, char*** argv) : state_(std::make_unique<State>()) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  const int launched = LaunchedRanks();
  if (initialised == 0) {
    if (launched == 0) return;
    int provided = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    state_->owns_mpi = true;
    if (provided < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw std::runtime_error("this MPI does not allow threads beside it");
    }
  }
  // A communicator of our own: messages of a host program never meet the farm's, and an error of MPI itself, after
  // which nothing can be relied on, ends the job instead of being returned by one of the calls below.
  MPI_Comm_dup(MPI_COMM_WORLD, &state_->job);
  MPI_Comm_set_errhandler(state_->job, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_rank(state_->job, &state_->rank);
  MPI_Comm_size(state_->job, &state_->size);
  if (state_->size == 1 && launched > 1) {
    MPI_Finalize();
    throw UsageError(
        "started as one of " + std::to_string(launched) +
        " ranks by the launcher of another MPI: use the mpirun of the MPI that this program is built with");
  }
  state_->name = "rank " + std::to_string(state_->rank) + " (" + HostName() + ")";
  state_->ranks.names = GatherNames(state_->job, state_->rank, state_->size, state_->name);
}

MpiSession::~MpiSession() {
  if (!active()) return;
  if (state_->ranks.lost) Abort(static_cast<int>(ExitCode::kStoppedWithCheckpoint));
  if (size() > 1 && std::uncaught_exceptions() > state_->exceptions) Abort(static_cast<int>(ExitCode::kBug));
  MPI_Comm_free(&state_->job);
  if (state_->owns_mpi) MPI_Finalize();
}

bool MpiSession::active() const {
  return state_->job != MPI_COMM_NULL;
}
int MpiSession::rank() const {
  return state_->rank;
}
int MpiSession::size() const {
  return state_->size;
}

std::unique_ptr<TaskFarm> MpiSession::MakeFarm(const WorkerFactory& factory, double patience) {
  if (rank() != 0) throw std::logic_error("only rank 0 makes farms");
  if (size() == 1) return MakeThreadFarm(1, factory);
  if (state_->ranks.farm_alive) throw std::logic_error("a second farm while the first one has the ranks");
  return std::make_unique<MpiFarm>(state_->job, &state_->ranks, factory, patience);
}

void MpiSession::Serve(const WorkerFactory& factory) {
  if (rank() == 0) throw std::logic_error("rank 0 does not serve");
  const std::string place = state_->name + ": ";

  Worker worker;
  Outbox outbox(state_->job);
  Patience patience;
  Message message;
  Bytes task;
  bool leaving = false;
  while (!leaving || !outbox.Clear()) {
    if (leaving || !Receive(state_->job, message, task)) {
      outbox.Clear();
      patience.Wait();
      continue;
    }
    patience.Reset();
    if (message.tag == kLeave) {
      leaving = true;
      continue;
    }
    int tag = kResult;
    Bytes result;
    try {
      if (!worker) worker = factory();
      worker(task, result);
      MessageSize(result);
    } catch (...) {
      tag = kError;
      result = PackException(place);
    }
    outbox.Send(tag, std::move(result));
    outbox.Clear();
  }
}

void MpiSession::Abort(int exit_code) {
  std::fflush(nullptr);
  if (active()) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

#else

struct MpiSession::State {};

bool MpiSession::built_with_mpi() {
  return false;
}

MpiSession::MpiSession(int* /*argc*/, char*** /*argv*/) {
  const int launched = LaunchedRanks();
  if (launched > 1) {
    throw UsageError("started as one of " + std::to_string(launched) +
                     " MPI ranks, but this program is built without MPI");
  }
}

MpiSession::~MpiSession() = default;

bool MpiSession::active() const {
  return false;
}
int MpiSession::rank() const {
  return 0;
}
int MpiSession::size() const {
  return 1;
}

std::unique_ptr<TaskFarm> MpiSession::MakeFarm(const WorkerFactory& factory, double /*patience*/) {
  return MakeThreadFarm(1, factory);
}

void MpiSession::Serve(const WorkerFactory& /*factory*/) {
  throw std::logic_error("rank 0 does not serve");
}

void MpiSession::Abort(int exit_code) {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

#endif

}  // namespace retrace::parallel
