/// Messages between the ranks of an MPI job, none of which is waited for in a blocking call, and what they carry.
#pragma once

#define OMPI_SKIP_MPICXX 1  // the C++ bindings are gone from MPI
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {

/// How to wait for a message. A blocking MPI call spins, and would take the processor from the other ranks when there
/// are more ranks than cores; so poll, leaving the processor to others, and after some time, which is longer
/// than ranks wait within an iteration, sleep for longer the longer nothing comes. (A long message comes in several
/// steps, each of which waits for the other side to look.) Nothing is missed for longer than it was waited for.
class BackOff {
 public:
  void Wait();
  void Reset() { *this = BackOff(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kYielding{5000};
  static constexpr std::chrono::microseconds kLongestSleep{1000};

  std::optional<Clock::time_point> since_;
  std::chrono::microseconds sleep_{20};
};

struct Message {
  int source = 0;
  int tag = 0;
};

/// Messages in transit to this rank. A long one may arrive only when its sender, which computes, looks up again, and a
/// call that blocks until then would keep this rank from computing meanwhile.
class Inbox {
 public:
  explicit Inbox(MPI_Comm job) : job_(job) {}
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Takes a message that has arrived as a whole; those of one rank in the order in which it sent them.
  bool Take(Message& message, Bytes& bytes);
  /// Gives all messages that have been announced a position, to which they come while this rank computes.
  void Accept();

 private:
  struct Coming {
    Message message;
    std::unique_ptr<Bytes> bytes = std::make_unique<Bytes>();
    MPI_Request request = MPI_REQUEST_NULL;
  };

  MPI_Comm job_;
  std::deque<Coming> coming_;
  std::vector<int> waited_for_;
};

/// Messages in transit to rank 0, which takes them only between its own tasks.
class Outbox {
 public:
  explicit Outbox(MPI_Comm job) : job_(job) {}

  void Send(int tag, Bytes bytes);

  /// Discards what has arrived; returns whether nothing is left.
  bool Clear();

 private:
  struct Sent {
    Bytes bytes;
    MPI_Request request;
  };

  MPI_Comm job_;
  std::deque<Sent> sent_;
};

/// The size as MPI counts; throws std::length_error for more than it can.
int MessageSize(const Bytes& bytes);

template <typename T>
void Append(Bytes& bytes, const T& value) {
  const size_t size = bytes.size();
  bytes.resize(size + sizeof value);
  std::memcpy(bytes.data() + size, &value, sizeof value);
}

/// Appends the length and the content.
void AppendFrame(Bytes& bytes, std::span<const std::byte> content);

/// Takes a value off the front.
template <typename T>
T TakeValue(std::span<const std::byte>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

/// Takes off the front what AppendFrame appended.
std::span<const std::byte> TakeFrame(std::span<const std::byte>& bytes);

/// The exception that is being handled, its message after `place`; never empty.
Bytes PackException(const std::string& place);

/// An exception of the same class, if it is one of ours; else std::runtime_error.
std::exception_ptr UnpackException(std::span<const std::byte> bytes);

}  // namespace retrace::parallel
