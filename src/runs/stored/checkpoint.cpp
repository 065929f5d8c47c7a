#include "retrace/runs/stored/checkpoint.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "retrace/io/error.h"
#include "retrace/io/json_difference.h"
#include "retrace/io/remedy.h"

namespace retrace::runs {

namespace fs = std::filesystem;

namespace {

/// Iterations that are kept before the state of the search takes their place [bytes].
constexpr uint64_t kMostIterations = 64U << 20U;

}  // namespace

Checkpoint::Checkpoint(const fs::path& folder, const io::Json& identity, Earlier earlier, Kept kept)
    : kept_(kept), full_at_(kMostIterations) {
  const fs::path path = folder / kCheckpointFile;
  const io::Json header = {{"format", "retrace-checkpoint"}, {"version", 7}, {"identity", identity}};
  if (earlier != Earlier::kReplace && fs::exists(path)) {
    try {
      journal_.emplace(io::Journal::Open(path));
    } catch (const InputError&) {
      if (earlier == Earlier::kResume) throw;
    }
    resumes_ = journal_ && journal_->header() == header;
    if (resumes_) return;
    if (earlier == Earlier::kResume) {
      throw WithHint<UsageError>({Remedy::kBeginAnew, Remedy::kOtherOutput},
                                 path.string()
                                     .append(": found the checkpoint of another run: ")
                                     .append(io::Differences(journal_->header(), header)));
    }
    journal_.reset();
  }
  journal_.emplace(io::Journal::Create(path, header));
}

bool Checkpoint::Exists(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kCheckpointFile, error);
}

bool Checkpoint::Next(parallel::Bytes& simulated) {
  return journal_->Next(simulated);
}

void Checkpoint::Append(const parallel::Bytes& simulated) {
  journal_->Append(simulated);
}

bool Checkpoint::IsFull() const {
  return kept_ == Kept::kBounded && journal_->size() > full_at_;
}

void Checkpoint::Restart(const io::RecordProducer& state) {
  journal_->Restart(state);
  full_at_ = journal_->size() + kMostIterations;
}

void Checkpoint::Remove() {
  std::error_code error;
  fs::remove(journal_->path(), error);
  if (error) throw OutputError(journal_->path().string().append(": cannot be removed: ").append(error.message()));
}

}  // namespace retrace::runs
