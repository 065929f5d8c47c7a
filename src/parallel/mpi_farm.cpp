/// Algorithms 1 and 2 of Liu et al. 2010: a master hands tasks to the ranks that are idle. Here the master computes
/// too, and a worker is given its next batch before it has finished one, so that it never waits for the master to look
/// up. Scheduler assigns the work; here are the messages and the clock.
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
#include "retrace/parallel/mpi_session.h"
#include "retrace/parallel/rank_group.h"
#include "retrace/parallel/scheduler.h"
#include "retrace/parallel/thread_farm.h"

#ifdef RETRACE_HAVE_MPI
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "first_failure.h"
#include "message_passing.h"
#include "mpi_messages.h"
#endif

namespace retrace::parallel {
namespace {

/// Ranks of the job as its launcher announces them: 0 without a launcher, and at least 1 with one that does not
/// announce them. Read before MPI_Init, which takes a tenth of a second that plain runs should not pay.
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
constexpr int kBatch = 1;   // master to worker: the tasks of a batch, each after its length
constexpr int kResult = 2;  // worker to master: seconds of computing, then the results, each after its length
constexpr int kError = 3;   // worker to master: the task at fault, whether a rank has failed, the exception
constexpr int kLeave = 4;   // master to worker: leave Serve
constexpr int kAlive = 5;   // worker to master: still at work
// Meet, worker to master: the text that was found, or the exception. Back to all: what is to be thrown, if anything.
constexpr int kFound = 6;
constexpr int kFailed = 7;

double SecondsSince(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// The seconds in which this rank looked for messages, against its timeout (0: without end). Between two looks no more
/// than a tenth of that counts: neither a rank that computed for long nor a job that was suspended meanwhile is to
/// blame the others.
class ResponseTimer {
 public:
  explicit ResponseTimer(double timeout) : timeout_(timeout) {}

  /// To be called at every look.
  void Look() {
    const auto now = std::chrono::steady_clock::now();
    seconds_ += std::min(std::chrono::duration<double>(now - latest_).count(), 0.1 * timeout_);
    latest_ = now;
  }
  double seconds() const { return seconds_; }
  bool ExceedsTimeoutSince(double then) const { return timeout_ > 0 && seconds_ - then > timeout_; }

 private:
  double timeout_;
  double seconds_ = 0;
  std::chrono::steady_clock::time_point latest_ = std::chrono::steady_clock::now();
};

/// What a farm and its group share.
struct RankNames {
  std::vector<std::string> names;  // with their hosts, for messages
  bool farm_alive = false;
  bool* rank_failed = nullptr;  // of the session: a rank of the job does not answer
};

class MpiFarm final : public TaskFarm {
 public:
  MpiFarm(MPI_Comm job, Inbox& inbox, RankNames* ranks, WorkerFactory factory, double timeout)
      : job_(job),
        inbox_(inbox),
        scheduler_(ranks->names.size()),
        sent_(ranks->names.size()),
        heard_(ranks->names.size()),
        ranks_(ranks),
        factory_(std::move(factory)),
        response_timer_(timeout) {
    ranks_->farm_alive = true;
  }

  ~MpiFarm() override {
    ranks_->farm_alive = false;
    // The session is going to end the job. Ranks that leave meanwhile would finalize MPI, where they wait for the
    // failed one; the launcher of Open MPI 4.1.4 crashes or hangs when it has to end ranks that do.
    if (*ranks_->rank_failed) return;
    // Empty messages leave at once, whatever the workers do.
    for (size_t rank = 1; rank < sent_.size(); ++rank) {
      MPI_Send(nullptr, 0, MPI_BYTE, static_cast<int>(rank), kLeave, job_);
    }
  }

  MpiFarm(const MpiFarm&) = delete;
  MpiFarm& operator=(const MpiFarm&) = delete;

  using TaskFarm::Run;
  void Run(Work& work) override {
    scheduler_.Begin(work.num_tasks());
    FirstFailure failure;
    // An exception here is not of a worker: nothing more is begun, but what was begun has to come back.
    const auto attempt = [&](const auto& action) {
      try {
        action();
      } catch (...) {
        failure.Record(work.num_tasks(), std::current_exception());
        scheduler_.StopAt(0);
      }
    };
    const auto handle_arrivals = [&] {
      bool any = false;
      while (HandleArrival(work, failure)) {
        any = true;
        attempt([&] { Assign(work); });
      }
      return any;
    };
    attempt([&] { Assign(work); });
    LetFirstBatchesLeave();
    attempt([&] { work.WhileBusy(); });
    BackOff back_off;
    for (;;) {
      const bool any = handle_arrivals();
      CheckTimeouts();
      if (const std::optional<size_t> task = scheduler_.NextHere()) {
        const MessagePassing passing(handle_arrivals);
        ComputeHere(work, *task, failure);
        continue;
      }
      if (scheduler_.outstanding() == 0) break;
      if (any) {
        back_off.Reset();
      } else {
        back_off.Wait();
      }
    }
    failure.Rethrow();
  }

  int num_workers() const override { return static_cast<int>(scheduler_.num_computing()); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Sent {
    std::vector<size_t> tasks;
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void Assign(Work& work) {
    while (std::optional<Scheduler::Assignment> assignment = scheduler_.Assign()) {
      std::deque<Sent>& sent = sent_[assignment->worker];
      if (sent.empty()) heard_[assignment->worker] = response_timer_.seconds();
      Sent& batch = sent.emplace_back();
      batch.tasks = std::move(assignment->tasks);
      try {
        for (const size_t task : batch.tasks) AppendFrame(batch.bytes, work.Pack(task));
        MessageSize(batch.bytes);
      } catch (...) {
        // The worker is owed the batch all the same: an empty one comes back empty.
        batch.tasks.clear();
        batch.bytes.clear();
        Send(assignment->worker, batch);
        throw;
      }
      Send(assignment->worker, batch);
    }
  }

  void Send(size_t worker, Sent& batch) {
    MPI_Isend(batch.bytes.data(), MessageSize(batch.bytes), MPI_BYTE, static_cast<int>(worker), kBatch, job_,
              &batch.request);
  }

  /// Where the transport cannot copy between processes, a long message leaves only while this rank looks after it, and
  /// it will be computing. Idle workers take their first batches at once, so that this is not for long.
  void LetFirstBatchesLeave() {
    const Clock::time_point begun = Clock::now();
    bool all = false;
    while (!all && SecondsSince(begun) < 2e-4) {
      all = true;
      for (std::deque<Sent>& sent : sent_) {
        int left = 1;
        if (!sent.empty()) MPI_Test(&sent.front().request, &left, MPI_STATUS_IGNORE);
        all = all && left != 0;
      }
    }
  }

  void CheckTimeouts() {
    response_timer_.Look();
    for (size_t i = 1; i < sent_.size(); ++i) {
      if (sent_[i].empty() || !response_timer_.ExceedsTimeoutSince(heard_[i])) continue;
      const double silent = response_timer_.seconds() - heard_[i];
      *ranks_->rank_failed = true;
      throw StoppedError(ranks_->names[i] + " has not answered for " + std::to_string(std::lround(silent)) + " s");
    }
  }

  bool HandleArrival(Work& work, FirstFailure& failure) {
    Message message;
    if (scheduler_.outstanding() == 0 || !inbox_.Take(message, buffer_)) return false;
    const auto worker = static_cast<size_t>(message.source);
    if (message.tag == kAlive) {
      heard_[worker] = response_timer_.seconds();
      return true;
    }
    Sent batch = std::move(sent_[worker].front());
    MPI_Wait(&batch.request, MPI_STATUS_IGNORE);  // the answer shows that it has arrived
    sent_[worker].pop_front();
    heard_[worker] = response_timer_.seconds();
    std::span<const std::byte> bytes = buffer_;
    if (message.tag == kError) {
      const size_t task = batch.tasks[TakeValue<uint64_t>(bytes)];
      if (TakeValue<uint8_t>(bytes) != 0) *ranks_->rank_failed = true;
      failure.Record(task, UnpackException(bytes));
      scheduler_.StopAt(task);
    } else {
      scheduler_.Finished(worker, TakeValue<double>(bytes));
      for (const size_t task : batch.tasks) Handle(work, task, TakeFrame(bytes), failure);
      return true;
    }
    scheduler_.Finished(worker, 0);
    return true;
  }

  void Handle(Work& work, size_t task, std::span<const std::byte> result, FirstFailure& failure) {
    if (failure.any()) return;
    try {
      work.Handle(task, result);
    } catch (...) {
      failure.Record(task, std::current_exception());
      scheduler_.StopAt(0);
    }
  }

  void ComputeHere(Work& work, size_t task, FirstFailure& failure) {
    const Clock::time_point begun = Clock::now();
    try {
      if (!worker_) worker_ = factory_();
      result_.clear();
      worker_(work.Pack(task), result_);
    } catch (...) {
      failure.Record(task, std::current_exception());
      scheduler_.StopAt(task);
    }
    scheduler_.Finished(0, SecondsSince(begun));
    Handle(work, task, result_, failure);
  }

  MPI_Comm job_;
  Inbox& inbox_;
  Scheduler scheduler_;
  std::vector<std::deque<Sent>> sent_;  // per rank: its batches, in the order of its answers; none to rank 0
  std::vector<double> heard_;           // per rank: response_timer_ at its last answer, or when it was given work
  RankNames* ranks_;
  WorkerFactory factory_;
  ResponseTimer response_timer_;
  Worker worker_;
  Bytes result_;
  Bytes buffer_;
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

struct RankGroup::State {
  MPI_Comm ranks = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  std::string name;                                  // of this rank in the whole job, with its host
  RankNames names;                                   // rank 0
  std::chrono::steady_clock::time_point said_alive;  // by this rank
  std::optional<Inbox> inbox;  // outlives farms: messages for the next one may arrive while one ends

  State() = default;
  /// Takes the communicator over. All its ranks do this at once.
  State(MPI_Comm comm, std::string own_name, bool* rank_failed) : ranks(comm), name(std::move(own_name)) {
    // An error of MPI itself, after which nothing can be relied on, ends the job instead of being returned by a call.
    MPI_Comm_set_errhandler(ranks, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &size);
    names.names = GatherNames(ranks, rank, size, name);
    names.rank_failed = rank_failed;
    inbox.emplace(ranks);
  }

  /// All ranks meet: none goes on before all have come. Each brings what it has found or an exception (else empty),
  /// and leaves with the exception that all are to throw, if any. `did` is what a rank that does not come has not done.
  void Meet(const std::string& found, const MpiSession::Difference& difference, double timeout, const char* did,
            Bytes& exception) {
    if (rank == 0) {
      CompareFound(found, difference, timeout, did, exception);
      return;
    }
    Outbox outbox(ranks);
    outbox.Send(exception.empty() ? kFound : kFailed, exception.empty() ? ToBytes(found) : exception);
    Message message;
    BackOff waiting;
    // Before the answer there may be a farm's farewell that this rank had no need of.
    while (!inbox->Take(message, exception) || message.tag != kFound) waiting.Wait();
    while (!outbox.Clear()) waiting.Wait();
  }

  /// The master's part of Meet.
  void CompareFound(const std::string& found, const MpiSession::Difference& difference, double timeout, const char* did,
                    Bytes& exception) {
    std::vector<bool> heard(names.names.size());
    heard[0] = true;
    size_t faulty = exception.empty() ? heard.size() : 0;
    ResponseTimer looking(timeout);
    BackOff waiting;
    for (size_t missing = heard.size() - 1; missing > 0;) {
      Message message;
      Bytes bytes;
      if (!inbox->Take(message, bytes)) {
        looking.Look();
        if (looking.ExceedsTimeoutSince(0)) {
          *names.rank_failed = true;
          const auto silent = static_cast<size_t>(std::find(heard.begin(), heard.end(), false) - heard.begin());
          throw StoppedError(names.names[silent] + " has not " + did + " " + std::to_string(std::lround(timeout)) +
                             " s after rank 0");
        }
        waiting.Wait();
        continue;
      }
      if (message.tag != kFound && message.tag != kFailed) continue;
      const auto from = static_cast<size_t>(message.source);
      heard[from] = true;
      --missing;
      if (from > faulty) continue;
      if (message.tag == kFound) {
        const std::string there = ToText(bytes);
        if (there == found) continue;
        try {
          throw InputError(names.names[from] + ": " + difference(found, there));
        } catch (...) {
          bytes = PackException("");
        }
      }
      faulty = from;
      exception = std::move(bytes);
    }
    for (int to = 1; to < size; ++to) {
      MPI_Send(exception.data(), MessageSize(exception), MPI_BYTE, to, kFound, ranks);
    }
  }

  ~State() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (ranks != MPI_COMM_NULL && finalized == 0) MPI_Comm_free(&ranks);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

struct MpiSession::State {
  bool owns_mpi = false;
  bool rank_failed = false;  // a rank of the job does not answer
  double timeout = 0;        // of Prepare
  RankGroup job;             // all ranks
  int exceptions = std::uncaught_exceptions();
};

bool MpiSession::built_with_mpi() {
  return true;
}

MpiSession::MpiSession(int* argc, char*** argv) : state_(std::make_unique<State>()) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  const int launched = LaunchedRanks();
  if (initialized == 0) {
    if (launched == 0) return;
    int provided = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    state_->owns_mpi = true;
    if (provided < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw std::runtime_error("this MPI does not allow threads beside it");
    }
  }
  // A communicator of our own: messages of a host program never meet the farm's.
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1 && launched > 1) {
    MPI_Finalize();
    throw UsageError(
        "started as one of " + std::to_string(launched) +
        " ranks by the launcher of another MPI: use the mpirun of the MPI that this program is built with");
  }
  MPI_Comm job = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &job);
  std::string name = "rank " + std::to_string(rank);
  name.append(" (").append(HostName()).append(")");
  state_->job.state_ = std::make_unique<RankGroup::State>(job, std::move(name), &state_->rank_failed);
}

MpiSession::~MpiSession() {
  if (!active()) return;
  if (state_->rank_failed) Abort(static_cast<int>(ExitCode::kStoppedWithCheckpoint));
  if (size() > 1) {
    if (std::uncaught_exceptions() > state_->exceptions) Abort(static_cast<int>(ExitCode::kBug));
    // Here a rank that hangs can still be named; in MPI_Finalize all would wait for it without end.
    try {
      Bytes none;
      state_->job.state_->Meet("", nullptr, state_->timeout, "left", none);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      Abort(static_cast<int>(ExitCode::kStoppedWithCheckpoint));
    }
  }
  state_->job.state_.reset();
  if (state_->owns_mpi) MPI_Finalize();
}

bool MpiSession::active() const {
  return state_->job.state_->ranks != MPI_COMM_NULL;
}

RankGroup& MpiSession::job() {
  return state_->job;
}
const RankGroup& MpiSession::job() const {
  return state_->job;
}

RankGroups MpiSession::Split(int count) {
  RankGroups groups;
  const RankGroup::State& all = *state_->job.state_;
  if (count < 1 || count > all.size) {
    throw std::invalid_argument("a job of " + std::to_string(all.size) + " ranks cut into " + std::to_string(count));
  }
  const auto split = [&](int color) -> std::unique_ptr<RankGroup> {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(all.ranks, color, all.rank, &part);
    if (part == MPI_COMM_NULL) return nullptr;
    auto group = std::make_unique<RankGroup>();
    group->state_ = std::make_unique<RankGroup::State>(part, all.name, &state_->rank_failed);
    return group;
  };
  if (!active()) {
    groups.own = std::make_unique<RankGroup>();
    groups.leaders = std::make_unique<RankGroup>();
    return groups;
  }
  groups.own = split(static_cast<int>(static_cast<int64_t>(all.rank) * count / all.size));
  groups.leaders = split(groups.own->rank() == 0 ? 0 : MPI_UNDEFINED);
  return groups;
}

RankGroup::RankGroup() : state_(std::make_unique<State>()) {}
RankGroup::~RankGroup() = default;

int RankGroup::rank() const {
  return state_->rank;
}
int RankGroup::size() const {
  return state_->size;
}

std::unique_ptr<TaskFarm> RankGroup::MakeFarm(const WorkerFactory& factory, double timeout) {
  if (rank() != 0) throw std::logic_error("only rank 0 makes farms");
  if (size() == 1) return MakeThreadFarm(1, factory);
  if (state_->names.farm_alive) throw std::logic_error("a second farm while the first one has the ranks");
  return std::make_unique<MpiFarm>(state_->ranks, *state_->inbox, &state_->names, factory, timeout);
}

void RankGroup::ReportAlive() {
  if (rank() == 0 || SecondsSince(state_->said_alive) < 0.1) return;
  state_->said_alive = std::chrono::steady_clock::now();
  MPI_Send(nullptr, 0, MPI_BYTE, 0, kAlive, state_->ranks);  // empty: it leaves at once
}

void RankGroup::Serve(const WorkerFactory& factory) {
  if (rank() == 0) throw std::logic_error("rank 0 does not serve");
  const std::string place = state_->name + ": ";

  Worker worker;
  Inbox& inbox = *state_->inbox;
  Outbox outbox(state_->ranks);
  BackOff back_off;
  Message message;
  Bytes tasks;
  Bytes result;
  bool leaving = false;
  const MessagePassing passing([&] {
    inbox.Accept();
    outbox.Clear();
  });
  while (!leaving || !outbox.Clear()) {
    if (leaving || !inbox.Take(message, tasks)) {
      outbox.Clear();
      back_off.Wait();
      continue;
    }
    back_off.Reset();
    if (message.tag == kLeave) {
      leaving = true;
      continue;
    }
    int tag = kResult;
    Bytes answer;
    size_t task = 0;  // of the batch
    try {
      if (!worker) worker = factory();
      const auto begun = std::chrono::steady_clock::now();
      Append(answer, 0.0);
      for (std::span<const std::byte> left = tasks; !left.empty(); ++task) {
        result.clear();
        worker(TakeFrame(left), result);
        AppendFrame(answer, result);
      }
      const double seconds = SecondsSince(begun);
      std::memcpy(answer.data(), &seconds, sizeof seconds);
      MessageSize(answer);
    } catch (...) {
      tag = kError;
      answer.clear();
      Append(answer, static_cast<uint64_t>(task));
      Append(answer, static_cast<uint8_t>(*state_->names.rank_failed));
      const Bytes exception = PackException(place);
      answer.insert(answer.end(), exception.begin(), exception.end());
    }
    outbox.Send(tag, std::move(answer));
    outbox.Clear();
  }
}

void MpiSession::Prepare(const std::function<std::string()>& prepare, const Difference& difference, double timeout) {
  if (size() == 1) {
    prepare();
    return;
  }
  state_->timeout = timeout;
  RankGroup::State& job = *state_->job.state_;
  std::string found;
  Bytes exception;  // empty: none
  try {
    found = prepare();
  } catch (...) {
    exception = PackException(rank() == 0 ? "" : job.name + ": ");
  }
  job.Meet(found, difference, timeout, "begun", exception);
  if (!exception.empty()) std::rethrow_exception(UnpackException(exception));
}

void MpiSession::Abort(int exit_code) {
  std::fflush(nullptr);
  if (active()) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

#else

struct RankGroup::State {};

struct MpiSession::State {
  RankGroup job;
};

bool MpiSession::built_with_mpi() {
  return false;
}

MpiSession::MpiSession(int* /*argc*/, char*** /*argv*/) : state_(std::make_unique<State>()) {
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
RankGroup& MpiSession::job() {
  return state_->job;
}
const RankGroup& MpiSession::job() const {
  return state_->job;
}

RankGroups MpiSession::Split(int count) {
  if (count != 1) throw std::invalid_argument("a job of 1 rank cut into " + std::to_string(count));
  return {std::make_unique<RankGroup>(), std::make_unique<RankGroup>()};
}

RankGroup::RankGroup() = default;
RankGroup::~RankGroup() = default;

int RankGroup::rank() const {
  return 0;
}
int RankGroup::size() const {
  return 1;
}

std::unique_ptr<TaskFarm> RankGroup::MakeFarm(const WorkerFactory& factory, double /*timeout*/) {
  return MakeThreadFarm(1, factory);
}

void RankGroup::Serve(const WorkerFactory& /*factory*/) {
  throw std::logic_error("rank 0 does not serve");
}

void RankGroup::ReportAlive() {}

void MpiSession::Prepare(const std::function<std::string()>& prepare, const Difference& /*difference*/,
                         double /*timeout*/) {
  prepare();
}

void MpiSession::Abort(int exit_code) {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

#endif

}  // namespace retrace::parallel
