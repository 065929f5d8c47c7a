#include "mpi_messages.h"

#include <algorithm>
#include <climits>
#include <stdexcept>
#include <thread>

#include "retrace/io/error.h"
#include "retrace/io/remedy.h"

namespace retrace::parallel {
namespace {

/// Instead of an exit code.
constexpr std::byte kOtherException{255};

template <typename E, typename... Arguments>
std::exception_ptr MakeError(std::vector<Remedy> remedies, const Arguments&... arguments) {
  if (remedies.empty()) return std::make_exception_ptr(E(arguments...));
  return std::make_exception_ptr(WithHint<E>(std::move(remedies), arguments...));
}

}  // namespace

void BackOff::Wait() {
  const auto now = Clock::now();
  if (!since_) since_ = now;
  if (now - *since_ < kYielding) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(2 * sleep_, kLongestSleep);
  }
}

Inbox::~Inbox() {
  // What is still being written to must stay. Only a rank that does not answer leaves such a message.
  for (Coming& coming : coming_) static_cast<void>(coming.bytes.release());
}

bool Inbox::Take(Message& message, Bytes& bytes) {
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

void Inbox::Accept() {
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

void Outbox::Send(int tag, Bytes bytes) {
  sent_.push_back({std::move(bytes), MPI_REQUEST_NULL});
  Sent& sent = sent_.back();
  MPI_Isend(sent.bytes.data(), MessageSize(sent.bytes), MPI_BYTE, 0, tag, job_, &sent.request);
}

bool Outbox::Clear() {
  while (!sent_.empty()) {
    int done = 0;
    MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
    if (done == 0) return false;
    sent_.pop_front();
  }
  return true;
}

int MessageSize(const Bytes& bytes) {
  if (bytes.size() > INT_MAX) throw std::length_error("an MPI message of " + std::to_string(bytes.size()) + " bytes");
  return static_cast<int>(bytes.size());
}

void AppendFrame(Bytes& bytes, std::span<const std::byte> content) {
  Append(bytes, static_cast<uint64_t>(content.size()));
  bytes.insert(bytes.end(), content.begin(), content.end());
}

std::span<const std::byte> TakeFrame(std::span<const std::byte>& bytes) {
  const auto size = TakeValue<uint64_t>(bytes);
  const auto content = bytes.first(size);
  bytes = bytes.subspan(size);
  return content;
}

Bytes PackException(const std::string& place) {
  std::byte kind = kOtherException;
  std::string text = place;
  std::vector<Remedy> remedies;
  try {
    throw;
  } catch (const Error& error) {
    kind = static_cast<std::byte>(error.code());
    text += error.what();
    remedies = RemediesOf(error);
  } catch (const std::exception& error) {
    text += error.what();
  } catch (...) {
    text += "an exception of an unknown type";
  }
  Bytes bytes;
  Append(bytes, kind);
  Append(bytes, static_cast<uint64_t>(remedies.size()));
  for (const Remedy remedy : remedies) Append(bytes, remedy);
  const Bytes message = ToBytes(text);
  bytes.insert(bytes.end(), message.begin(), message.end());
  return bytes;
}

std::exception_ptr UnpackException(std::span<const std::byte> bytes) {
  const auto kind = TakeValue<std::byte>(bytes);
  std::vector<Remedy> remedies(TakeValue<uint64_t>(bytes));
  for (Remedy& remedy : remedies) remedy = TakeValue<Remedy>(bytes);
  const std::string text = ToText(bytes);
  if (kind == kOtherException) return std::make_exception_ptr(std::runtime_error(text));
  const auto code = static_cast<ExitCode>(kind);
  switch (code) {
    case ExitCode::kUsage:
      return MakeError<UsageError>(std::move(remedies), text);
    case ExitCode::kInput:
      return MakeError<InputError>(std::move(remedies), text);
    case ExitCode::kOutput:
      return MakeError<OutputError>(std::move(remedies), text);
    case ExitCode::kStoppedWithCheckpoint:
      return MakeError<StoppedError>(std::move(remedies), text);
    default:
      return MakeError<Error>(std::move(remedies), code, text);
  }
}

}  // namespace retrace::parallel
