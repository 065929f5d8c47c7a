/// list: a table of the runs in a folder, with their verdicts.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "commands.h"
#include "common/verdict.h"
#include "retrace/io/json.h"
#include "retrace/io/number.h"
#include "retrace/runs/stored/run_list.h"

namespace retrace::apps::list_command {
namespace {

struct Options {
  std::string folder = "results";
  std::string sort = "name";
  bool reverse = false;
  bool csv = false;
  bool json = false;
};

const std::vector<std::pair<std::string, runs::RunOrder>>& Orders() {
  static const std::vector<std::pair<std::string, runs::RunOrder>> orders = {
      {"name", runs::RunOrder::kName},   {"verdict", runs::RunOrder::kVerdict}, {"error", runs::RunOrder::kError},
      {"drift", runs::RunOrder::kDrift}, {"date", runs::RunOrder::kDate},       {"duration", runs::RunOrder::kDuration},
      {"size", runs::RunOrder::kSize}};
  return orders;
}

std::vector<std::string> OrderNames() {
  std::vector<std::string> names;
  for (const auto& [name, order] : Orders()) names.push_back(name);
  return names;
}

const char* ColorOf(runs::RunVerdict verdict) {
  switch (verdict) {
    case runs::RunVerdict::kGood:
      return "\033[32m";
    case runs::RunVerdict::kDoubtful:
    case runs::RunVerdict::kUnfinished:
      return "\033[33m";
    case runs::RunVerdict::kOutOfTolerance:
      return "\033[31m";
    case runs::RunVerdict::kNone:
      return "";
  }
  return "";
}

using Row = std::array<std::string, 8>;

Row RowOf(const runs::ListedRun& run) {
  const auto number = [](const std::optional<double>& value, int decimals) {
    return value ? io::Fixed(*value, decimals) : std::string("-");
  };
  const auto text = [](const std::string& value) { return value.empty() ? std::string("-") : cli::Shown(value); };
  // 2026-11-28T20:00:00Z becomes 2026-11-28 20:00.
  std::string finished = run.finished.substr(0, 16);
  std::replace(finished.begin(), finished.end(), 'T', ' ');
  return {cli::Shown(run.name),
          Name(run.verdict),
          number(run.duration, 2),
          number(run.joint_error, 3),
          number(run.drift, 2),
          text(run.method.empty() ? run.program : run.method),
          io::Fixed(static_cast<double>(run.bytes) / 1e6, 1),
          text(finished)};
}

constexpr size_t kVerdict = 1;  // column

void PrintTable(const std::vector<runs::ListedRun>& found) {
  const bool colored = WantsColors();
  std::vector<Row> rows = {{"run", "verdict", "s", "error m", "drift m", "by", "MB", "finished"}};
  for (const runs::ListedRun& run : found) rows.push_back(RowOf(run));
  std::array<size_t, 8> widths = {};
  for (const Row& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  const auto is_number = [](size_t column) { return (column >= 2 && column <= 4) || column == 6; };
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string before, after;
    for (size_t c = 0; c < rows[r].size(); ++c) {
      if (c == kVerdict) continue;
      std::string& side = c < kVerdict ? before : after;
      const std::string space(widths[c] - rows[r][c].size(), ' ');
      side.append(c == 0 ? "" : "  ").append(is_number(c) ? space + rows[r][c] : rows[r][c]);
      if (!is_number(c) && c + 1 < rows[r].size()) side.append(space);
    }
    const bool paints = colored && r > 0;
    std::string verdict = rows[r][kVerdict];
    verdict.resize(widths[kVerdict], ' ');
    std::printf("%s  %s%s%s%s\n", cli::Shown(before).c_str(), paints ? ColorOf(found[r - 1].verdict) : "",
                cli::Shown(verdict).c_str(), paints ? "\033[0m" : "", cli::Shown(after).c_str());
  }
}

int List(const Options& o) {
  std::vector<runs::ListedRun> found = runs::FindRuns(o.folder);
  for (const auto& [name, order] : Orders()) {
    if (name == o.sort) runs::Sort(order, o.reverse, found);
  }
  if (o.csv) {
    std::fputs(cli::ShownLines(runs::FormatRunList(found)).c_str(), stdout);
  } else if (o.json) {
    std::printf("%s\n", io::Dump(runs::ToJson(found), 2).c_str());
  } else if (found.empty()) {
    std::printf("%s: no runs\n", cli::Shown(o.folder).c_str());
  } else {
    const auto good = std::count_if(found.begin(), found.end(),
                                    [](const runs::ListedRun& r) { return r.verdict == runs::RunVerdict::kGood; });
    PrintTable(found);
    std::printf("%zu run%s, %td good\n", found.size(), found.size() == 1 ? "" : "s", good);
  }
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  command.Add("folder", options->folder, "Folder in which runs are looked for, also in those below it")
      .Type("DIR")
      .ShowDefault();
  command.Add("--sort", options->sort, "By what they are sorted").OneOf(OrderNames()).ShowDefault();
  command.AddFlag("--reverse", options->reverse, "From the last to the first");
  const cli::Option csv = command.AddFlag("--csv", options->csv, "Print CSV");
  command.AddFlag("--json", options->json, "Print JSON").Excludes(csv);
  return [options](const Call&) { return List(*options); };
}

}  // namespace retrace::apps::list_command
