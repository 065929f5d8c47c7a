/// What a long search keeps of its iterations, so that one that was stopped can go on with the same bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "retrace/io/journal.h"

namespace retrace::io {

/// Keeps what every iteration simulated. The rest of a search follows from that, so that a search that was stopped can
/// go on from there without simulating it again, and its result has the same bytes. When that becomes too much, what
/// the search knows by then takes its place.
class RecordStore {
 public:
  virtual ~RecordStore() = default;
  /// What the next iteration of an earlier search of the same problem simulated; false when it got no further.
  virtual bool Next(std::vector<std::byte>& simulated) = 0;
  /// Keeps what an iteration simulated. What it throws ends the search.
  virtual void Append(const std::vector<std::byte>& simulated) = 0;
  /// Whether the search should call Restart. Called between two iterations, once Next has returned false.
  virtual bool IsFull() const { return false; }
  /// Keeps the bytes of this record alone, instead of everything since the search began: Next will return them, as
  /// the first.
  virtual void Restart(const RecordProducer&) {}
};

}  // namespace retrace::io
