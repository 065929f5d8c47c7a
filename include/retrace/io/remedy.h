/// Remedy for an error that the caller can avoid by another request. The library does not know the options of programs:
/// a program adds its own one to the message.
#pragma once

#include <exception>
#include <utility>
#include <vector>

namespace retrace {

enum class Remedy {
  kOverwrite,       ///< overwriting the results or files that are there
  kResume,          ///< resuming from the checkpoint
  kBeginAnew,       ///< overwriting the checkpoint instead of resuming from it
  kOtherOutput,     ///< writing to another folder, which keeps what is in this one
  kSkeletonMap,     ///< saying which joint of the recording is which segment
  kNamedBrowser,    ///< naming the browser
  kNamedRecording,  ///< naming the file of the recording
  kExchangedSides,  ///< saying that left and right of measured forces are exchanged
  kMirroring,       ///< mirroring the recording
  kClockOfPlates,   ///< saying how late measured forces are
};

/// Part of an exception that names remedies.
class Remedies {
 public:
  explicit Remedies(std::vector<Remedy> remedies) : remedies_(std::move(remedies)) {}
  virtual ~Remedies() = default;
  const std::vector<Remedy>& remedies() const { return remedies_; }

 private:
  std::vector<Remedy> remedies_;
};

/// An error of the class E (error.h) that names remedies; what follows them is given to the constructor of E:
///     throw WithHint<UsageError>({Remedy::kOverwrite}, "out: found a file, expected none");
template <typename E>
class WithHint : public E, public Remedies {
 public:
  template <typename... Arguments>
  explicit WithHint(std::vector<Remedy> remedies, Arguments&&... arguments)
      : E(std::forward<Arguments>(arguments)...), Remedies(std::move(remedies)) {}
};

/// The remedies that an exception names; empty where it names none.
inline std::vector<Remedy> RemediesOf(const std::exception& error) {
  const auto* named = dynamic_cast<const Remedies*>(&error);
  return named == nullptr ? std::vector<Remedy>() : named->remedies();
}

}  // namespace retrace
