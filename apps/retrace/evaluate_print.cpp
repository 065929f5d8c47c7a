#include "evaluate_print.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace retrace::apps {

void PrintRow(const results::RunRow& row, size_t finished, size_t all, ProgressStyle style) {
  if (style == ProgressStyle::kJson) {
    std::fprintf(stderr, "%s\n", io::Dump(row.ToJson()).c_str());
  } else if (style != ProgressStyle::kNone) {
    std::fprintf(stderr, "[%zu/%zu] %s\n", finished, all, cli::Shown(runs::Describe(row)).c_str());
  }
  std::fflush(stderr);
}

void PrintResult(const runs::EvaluationResult& result, bool controls) {
  std::fputs(cli::ShownLines(results::FormatSummaryPage(result.summaries)).c_str(), stdout);
  if (!controls) return;
  size_t tested = 0;
  size_t accepted = 0;
  for (const runs::NegativeControl& control : result.controls) {
    tested += control.tested;
    accepted += control.accepted;
    if (control.accepted)
      std::printf("accepted: %s, %s\n", cli::Shown(control.clip).c_str(), cli::Shown(control.control).c_str());
  }
  std::printf("%zu of %zu negative controls refused\n", tested - accepted, tested);
}

void PrintComparison(const std::string& folder_a, const std::string& folder_b, const std::string& output) {
  const auto comparisons = runs::CompareFolders(folder_a, folder_b, output);
  std::printf("A: %s\nB: %s\n\n%s", cli::Shown(folder_a).c_str(), cli::Shown(folder_b).c_str(),
              cli::ShownLines(results::FormatComparisonPage(comparisons)).c_str());
}

}  // namespace retrace::apps
