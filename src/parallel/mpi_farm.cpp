/// Algorithms 1 and 2 of Liu et al. 2010: a master hands tasks to the ranks that are idle. Here the master computes
/// too, and a worker is given its next batch before it has finished one, so that it never waits for the master to look
/// up. Who gets what is Scheduler's to say; here are the messages and the clock.
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
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
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
constexpr int kBatch = 1;   // master to worker: the tasks of a batch, each after its length
constexpr int kResult = 2;  // worker to master: seconds of computing, then the results, each after its length
constexpr int kError =
    3;  // worker to master: the part at fault, the exit code as one byte, or kOtherException, the text
constexpr int kLeave = 4;  // master to worker: leave Serve

constexpr std::byte kOtherException{255};

int MessageSize(const Bytes& bytes) {
  if (bytes.size() > INT_MAX) throw std::length_error("an MPI message of " + std::to_string(bytes.size()) + " bytes");
  return static_cast<int>(bytes.size());
}

double SecondsSince(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

template <typename T>
void Append(Bytes& bytes, const T& value) {
  const size_t size = bytes.size();
  bytes.resize(size + sizeof value);
  std::memcpy(bytes.data() + size, &value, sizeof value);
}

void AppendFrame(Bytes& bytes, std::span<const std::byte> content) {
  Append(bytes, static_cast<uint64_t>(content.size()));
  bytes.insert(bytes.end(), content.begin(), content.end());
}

/// Takes a value off the front.
template <typename T>
T TakeValue(std::span<const std::byte>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

std::span<const std::byte> TakeFrame(std::span<const std::byte>& bytes) {
  const auto size = TakeValue<uint64_t>(bytes);
  const auto content = bytes.first(size);
  bytes = bytes.subspan(size);
  return content;
}

/// How to wait for a message. A blocking MPI call spins, and would take the processor from the other ranks when there
/// are more ranks than cores; so look, and sleep for longer the longer nothing comes. Nothing is
/// missed for longer than it was waited for.
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
  static constexpr std::chrono::microseconds kYielding{200};
  static constexpr std::chrono::microseconds kLongestSleep{1000};

  std::optional<Clock::time_point> since_;
  std::chrono::microseconds sleep_{20};
};

struct Message {
  int source = 0;
  int tag = 0;
};

/// Messages on their way to this rank. None is waited for: a long one may arrive only when its sender, who computes,
/// looks up again, and a call that blocks until then would keep this rank from computing meanwhile.
class Inbox {
 public:
  explicit Inbox(MPI_Comm job) : job_(job) {}
  ~Inbox() {
    // What is still being written to must stay. Only a rank that does not answer leaves such a message.
    for (Coming& coming : coming_) static_cast<void>(coming.bytes.release());
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Takes a message that has arrived as a whole; those of one rank in the order in which it sent them.
  bool Take(Message& message, Bytes& bytes) {
    Accept();
    waited_for_.clear();
    for (auto coming = coming_.begin(); coming != coming_.end(); ++coming) {
      const int source = coming->message.source;
      if (std::find(waited_for_.begin(), waited_for_.end(), source) != waited_for_.end()) continue;
      int arrived = 0;
      MPI_Test(&coming->request, &arrived, MPI_STATUS_IGNORE);
      if (arrived == 0) {
        waited_for_.push_back(source);
        continue;
      }
      message = coming->message;
      bytes = std::move(*coming->bytes);
      coming_.erase(coming);
      return true;
    }
    return false;
  }

 private:
  struct Coming {
    Message message;
    std::unique_ptr<Bytes> bytes = std::make_unique<Bytes>();
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Gives all messages that have been announced a place.
  void Accept() {
    for (;;) {
      int announced = 0;
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, job_, &announced, &handle, &status);
      if (announced == 0) return;
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      Coming& coming = coming_.emplace_back();
      coming.message = {status.MPI_SOURCE, status.MPI_TAG};
      coming.bytes->resize(static_cast<size_t>(count));
      MPI_Imrecv(coming.bytes->data(), count, MPI_BYTE, &handle, &coming.request);
    }
  }

  MPI_Comm job_;
  std::deque<Coming> coming_;
  std::vector<int> waited_for_;
};

Bytes PackException(const std::string& place, size_t part) {
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
  Bytes bytes;
  Append(bytes, static_cast<uint64_t>(part));
  bytes.push_back(kind);
  std::transform(text.begin(), text.end(), std::back_inserter(bytes), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::exception_ptr UnpackException(std::span<const std::byte> bytes) {
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

/// What a farm and its group share.
struct RankNames {
  std::vector<std::string> names;  // with their hosts, for messages
  bool farm_alive = false;
  bool* lost = nullptr;  // of the session: a rank does not answer
};

class MpiFarm final : public TaskFarm {
 public:
  MpiFarm(MPI_Comm job, Inbox& inbox, RankNames* ranks, WorkerFactory factory, double patience)
      : job_(job),
        inbox_(inbox),
        scheduler_(ranks->names.size()),
        sent_(ranks->names.size()),
        heard_(ranks->names.size()),
        ranks_(ranks),
        factory_(std::move(factory)),
        patience_(patience) {
    ranks_->farm_alive = true;
  }

  ~MpiFarm() override {
    // Empty messages leave at once, whatever the workers do.
    for (size_t rank = 1; rank < sent_.size(); ++rank) {
      MPI_Send(nullptr, 0, MPI_BYTE, static_cast<int>(rank), kLeave, job_);
    }
    ranks_->farm_alive = false;
  }

  MpiFarm(const MpiFarm&) = delete;
  MpiFarm& operator=(const MpiFarm&) = delete;

  using TaskFarm::Run;
  void Run(DivisibleWork& work) override {
    std::vector<size_t> units;
    for (size_t i = 0; i < work.num_tasks(); ++i) units.push_back(work.num_units(i));
    scheduler_.Begin(units);
    FirstFailure failure;
    // What throws here is no worker's fault: nothing more is begun, but what is under way has to come back.
    const auto attempt = [&](const auto& action) {
      try {
        action();
      } catch (...) {
        failure.Record(units.size(), std::current_exception());
        scheduler_.StopAt(0);
      }
    };
    attempt([&] { HandOut(work); });
    attempt([&] { work.WhileBusy(); });
    Patience patience;
    for (;;) {
      bool any = false;
      while (HandleArrival(work, failure)) {
        any = true;
        attempt([&] { HandOut(work); });
      }
      CheckPatience();
      if (const std::optional<Part> part = scheduler_.NextHere()) {
        ComputeHere(work, *part, failure);
        continue;
      }
      if (scheduler_.outstanding() == 0) break;
      if (any) {
        patience.Reset();
      } else {
        patience.Wait();
      }
    }
    failure.Rethrow();
  }

  int num_workers() const override { return static_cast<int>(sent_.size()); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Sent {
    std::vector<Part> parts;
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void HandOut(DivisibleWork& work) {
    while (std::optional<Scheduler::Assignment> assignment = scheduler_.HandOut()) {
      std::deque<Sent>& sent = sent_[assignment->worker];
      if (sent.empty()) heard_[assignment->worker] = Clock::now();
      Sent& batch = sent.emplace_back();
      batch.parts = std::move(assignment->parts);
      try {
        for (const Part& part : batch.parts) AppendFrame(batch.bytes, work.Pack(part));
        MessageSize(batch.bytes);
      } catch (...) {
        // The worker is owed the batch all the same: an empty one comes back empty.
        batch.parts.clear();
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

  void CheckPatience() {
    if (patience_ <= 0) return;
    for (size_t i = 1; i < sent_.size(); ++i) {
      if (sent_[i].empty()) continue;
      const double silent = SecondsSince(heard_[i]);
      if (silent <= patience_) continue;
      *ranks_->lost = true;
      throw StoppedError(ranks_->names[i] + " has not answered for " + std::to_string(std::lround(silent)) + " s");
    }
  }

  bool HandleArrival(DivisibleWork& work, FirstFailure& failure) {
    Message message;
    if (scheduler_.outstanding() == 0 || !inbox_.Take(message, buffer_)) return false;
    const auto worker = static_cast<size_t>(message.source);
    Sent batch = std::move(sent_[worker].front());
    MPI_Wait(&batch.request, MPI_STATUS_IGNORE);  // the answer shows that it has arrived
    sent_[worker].pop_front();
    heard_[worker] = Clock::now();
    std::span<const std::byte> bytes = buffer_;
    if (message.tag == kError) {
      const size_t task = batch.parts[TakeValue<uint64_t>(bytes)].task;
      failure.Record(task, UnpackException(bytes));
      scheduler_.StopAt(task);
    } else {
      scheduler_.Finished(worker, TakeValue<double>(bytes));
      for (const Part& part : batch.parts) Handle(work, part, TakeFrame(bytes), failure);
      return true;
    }
    scheduler_.Finished(worker, 0);
    return true;
  }

  void Handle(DivisibleWork& work, const Part& part, std::span<const std::byte> result, FirstFailure& failure) {
    if (failure.any()) return;
    try {
      work.Handle(part, result);
    } catch (...) {
      failure.Record(part.task, std::current_exception());
      scheduler_.StopAt(0);
    }
  }

  void ComputeHere(DivisibleWork& work, const Part& part, FirstFailure& failure) {
    const Clock::time_point begun = Clock::now();
    try {
      if (!worker_) worker_ = factory_();
      result_.clear();
      worker_(work.Pack(part), result_);
    } catch (...) {
      failure.Record(part.task, std::current_exception());
      scheduler_.StopAt(part.task);
    }
    scheduler_.Finished(0, SecondsSince(begun));
    Handle(work, part, result_, failure);
  }

  MPI_Comm job_;
  Inbox& inbox_;
  Scheduler scheduler_;
  std::vector<std::deque<Sent>> sent_;    // per rank: its batches, in the order of its answers; none to rank 0
  std::vector<Clock::time_point> heard_;  // per rank: its last answer, or when it was given work
  RankNames* ranks_;
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

struct RankGroup::State {
  MPI_Comm ranks = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  std::string name;            // of this rank in the whole job, with its host
  RankNames names;             // rank 0
  std::optional<Inbox> inbox;  // outlives farms: what is said to the next one may arrive while one ends

  State() = default;
  /// Takes the communicator over. All its ranks do this at once.
  State(MPI_Comm comm, std::string own_name, bool* lost) : ranks(comm), name(std::move(own_name)) {
    // An error of MPI itself, after which nothing can be relied on, ends the job instead of being returned by a call.
    MPI_Comm_set_errhandler(ranks, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &size);
    names.names = GatherNames(ranks, rank, size, name);
    names.lost = lost;
    inbox.emplace(ranks);
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
  bool lost = false;  // a rank does not answer
  RankGroup job;      // all ranks
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
  state_->job.state_ = std::make_unique<RankGroup::State>(job, std::move(name), &state_->lost);
}

MpiSession::~MpiSession() {
  if (!active()) return;
  if (state_->lost) Abort(static_cast<int>(ExitCode::kStoppedWithCheckpoint));
  if (size() > 1 && std::uncaught_exceptions() > state_->exceptions) Abort(static_cast<int>(ExitCode::kBug));
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
    group->state_ = std::make_unique<RankGroup::State>(part, all.name, &state_->lost);
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

std::unique_ptr<TaskFarm> RankGroup::MakeFarm(const WorkerFactory& factory, double patience) {
  if (rank() != 0) throw std::logic_error("only rank 0 makes farms");
  if (size() == 1) return MakeThreadFarm(1, factory);
  if (state_->names.farm_alive) throw std::logic_error("a second farm while the first one has the ranks");
  return std::make_unique<MpiFarm>(state_->ranks, *state_->inbox, &state_->names, factory, patience);
}

void RankGroup::Serve(const WorkerFactory& factory) {
  if (rank() == 0) throw std::logic_error("rank 0 does not serve");
  const std::string place = state_->name + ": ";

  Worker worker;
  Inbox& inbox = *state_->inbox;
  Outbox outbox(state_->ranks);
  Patience patience;
  Message message;
  Bytes tasks;
  Bytes result;
  bool leaving = false;
  while (!leaving || !outbox.Clear()) {
    if (leaving || !inbox.Take(message, tasks)) {
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
    Bytes answer;
    size_t part = 0;
    try {
      if (!worker) worker = factory();
      const auto begun = std::chrono::steady_clock::now();
      Append(answer, 0.0);
      for (std::span<const std::byte> left = tasks; !left.empty(); ++part) {
        result.clear();
        worker(TakeFrame(left), result);
        AppendFrame(answer, result);
      }
      const double seconds = SecondsSince(begun);
      std::memcpy(answer.data(), &seconds, sizeof seconds);
      MessageSize(answer);
    } catch (...) {
      tag = kError;
      answer = PackException(place, part);
    }
    outbox.Send(tag, std::move(answer));
    outbox.Clear();
  }
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

std::unique_ptr<TaskFarm> RankGroup::MakeFarm(const WorkerFactory& factory, double /*patience*/) {
  return MakeThreadFarm(1, factory);
}

void RankGroup::Serve(const WorkerFactory& /*factory*/) {
  throw std::logic_error("rank 0 does not serve");
}

void MpiSession::Abort(int exit_code) {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

#endif

}  // namespace retrace::parallel
