/// What `evaluate` prints for people.
#pragma once

#include <string>

#include "common/progress.h"
#include "retrace/batches/evaluation.h"

namespace retrace::apps {

/// One run that has finished, the `finished`-th of `all`.
void PrintRow(const results::RunRow& row, size_t finished, size_t all, ProgressStyle style);

/// The page of the summaries; with `controls`, which negative controls the tolerances accepted, and how many they
/// refused.
void PrintResult(const runs::EvaluationResult& result, bool controls);

/// Compares the runs of two folders, writes the tables into `output` and prints the page.
void PrintComparison(const std::string& folder_a, const std::string& folder_b, const std::string& output);

}  // namespace retrace::apps
