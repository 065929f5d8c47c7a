/// What a reconstruction came to, for people: the verdict first, then what was found, then what to do next.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "retrace/io/json.h"
#include "retrace/jobs/run_pipeline.h"

namespace retrace::apps {

/// A command to go on with, and what it does.
struct NextStep {
  std::string command;  ///< as a shell takes it
  std::string does;
};

struct Verdict {
  enum class Kind { kGood, kDoubtful, kBad };

  Kind kind = Kind::kBad;
  std::string word;      ///< reconstructed, doubtful, out of tolerance, not reconstructed
  std::string sentence;  ///< the word, and what it means here
  std::vector<std::string> doubts;
  std::vector<std::pair<std::string, std::string>> findings;  ///< a word, and what was found
  std::vector<std::string> why;                               ///< of a failure, as lines
  std::vector<std::string> warnings;                          ///< about the recording and the world
  std::vector<NextStep> next;
  double seconds = 0;          ///< that it took
  std::filesystem::path clip;  ///< as the user named it
  std::filesystem::path folder;

  /// What follows the sentence, as lines.
  std::string Details() const;
  io::Json ToJson() const;
};

/// @param command of the run, as a shell takes it back @param seconds that the run took
Verdict VerdictOf(const runs::Job& job, const runs::Reconstruction& result, const std::filesystem::path& folder,
                  const std::string& command, double seconds);

/// Prints the sentence, colored on a terminal, and the details.
void Print(const Verdict& verdict);

/// Whether standard output is a terminal that wants colors (NO_COLOR is not set, TERM is not dumb).
bool WantsColors();

}  // namespace retrace::apps
