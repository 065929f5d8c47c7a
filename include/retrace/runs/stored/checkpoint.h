/// The checkpoint of a run: what its search has simulated so far, in its folder, until the results are there.
#pragma once

#include <filesystem>
#include <optional>

#include "retrace/io/record_store.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::runs {

inline constexpr std::string_view kCheckpointFile = "checkpoint";

class Checkpoint final : public io::RecordStore {
 public:
  /// What becomes of one that is there already.
  enum class Earlier {
    kReplace,
    kResume,        ///< resume from it; throws UsageError with the differences when it is of another run
    kResumeIfSame,  ///< resume from it when it is whole and of the same run, else replace it
  };

  /// What is kept of a search.
  enum class Kept {
    kBounded,  ///< its latest state and the iterations since then: some 100 MB, however long the search
    kAll,      ///< every iteration: for several searches one after the other
  };

  /// In `folder`, which must exist. Throws InputError when an earlier one to resume from is damaged, and OutputError.
  Checkpoint(const std::filesystem::path& folder, const io::Json& identity, Earlier earlier,
             Kept kept = Kept::kBounded);

  /// Whether there was one to resume from.
  bool Resumes() const { return resumes_; }
  static bool Exists(const std::filesystem::path& folder);

  bool Next(parallel::Bytes& simulated) override;
  void Append(const parallel::Bytes& simulated) override;
  bool IsFull() const override;
  void Restart(const io::RecordProducer& state) override;

  /// So that it survives a failure of the machine. For a run that stops.
  void Flush() { journal_->Flush(); }
  /// The results are there: it is no longer needed.
  void Remove();

 private:
  std::optional<io::Journal> journal_;
  Kept kept_;
  uint64_t full_at_;  // size of the file [bytes]
  bool resumes_ = false;
};

}  // namespace retrace::runs
