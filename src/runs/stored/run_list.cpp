#include "retrace/runs/stored/run_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/results/run_folder.h"
#include "retrace/runs/stored/checkpoint.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr int kDeepest = 6;  // folders below the one that is searched

/// A member that may be missing or of another kind in manifests of other versions.
template <typename Value>
std::optional<Value> Member(const io::Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return std::nullopt;
  const io::Json& value = json[key];
  if constexpr (std::is_same_v<Value, std::string>) {
    if (!value.is_string()) return std::nullopt;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!value.is_boolean()) return std::nullopt;
  } else {
    if (!value.is_number()) return std::nullopt;
  }
  return value.get<Value>();
}

const io::Json& Part(const io::Json& json, const char* key) {
  static const io::Json none = io::Json::object();
  return json.is_object() && json.contains(key) && json[key].is_object() ? json[key] : none;
}

RunVerdict VerdictOf(const io::Json& manifest) {
  const std::optional<bool> success = Member<bool>(manifest, "success");
  if (!success) return RunVerdict::kNone;
  if (!*success) return RunVerdict::kOutOfTolerance;
  const io::Json& evaluation = Part(manifest, "evaluation");
  const bool doubtful =
      evaluation.contains("doubts") && evaluation["doubts"].is_array() && !evaluation["doubts"].empty();
  return doubtful ? RunVerdict::kDoubtful : RunVerdict::kGood;
}

std::uintmax_t SizeOf(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (const std::string& name : results::RunFileNames(folder)) {
    const std::uintmax_t size = fs::file_size(folder / name, error);
    if (!error) bytes += size;
  }
  const std::uintmax_t checkpoint = fs::file_size(folder / kCheckpointFile, error);
  return error ? bytes : bytes + checkpoint;
}

/// The run in a folder; nothing where there is none.
std::optional<ListedRun> RunIn(const fs::path& folder, const std::string& name) {
  ListedRun run;
  run.folder = folder;
  run.name = name;
  std::error_code error;
  const fs::path file = folder / results::kManifestFile;
  if (!fs::is_regular_file(file, error)) {
    if (!Checkpoint::Exists(folder)) return std::nullopt;
    run.verdict = RunVerdict::kUnfinished;
    run.bytes = SizeOf(folder);
    return run;
  }
  io::Json manifest;
  try {
    manifest = io::ReadJson(file);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (Member<std::string>(manifest, "format") != std::string(results::kRunFormat)) return std::nullopt;
  run.verdict = VerdictOf(manifest);
  run.program = Member<std::string>(manifest, "program").value_or("");
  run.clip = Member<std::string>(Part(manifest, "clip"), "file").value_or("");
  run.method = Member<std::string>(Part(manifest, "method"), "used").value_or("");
  run.finished = Member<std::string>(Part(manifest, "provenance"), "finished").value_or("");
  const io::Json& evaluation = Part(manifest, "evaluation");
  run.duration = Member<double>(evaluation, "simulated_duration");
  run.joint_error = Member<double>(evaluation, "mean_joint_error");
  run.drift = Member<double>(evaluation, "drift");
  run.bytes = SizeOf(folder);
  return run;
}

void FindBelow(const fs::path& folder, const fs::path& from, int depth, std::vector<ListedRun>& found) {
  std::string name = folder.lexically_relative(from).string();
  if (name.empty() || name == ".") name = results::NameOf(folder);
  if (std::optional<ListedRun> run = RunIn(folder, name)) found.push_back(std::move(*run));
  if (depth == kDeepest) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code status;
    // Links are not followed: what they lead to is somewhere else.
    if (fs::is_directory(entry->symlink_status(status))) FindBelow(entry->path(), from, depth + 1, found);
  }
}

template <typename Key>
void SortBy(const Key& key, bool reverse, std::vector<ListedRun>& runs) {
  std::stable_sort(runs.begin(), runs.end(), [&](const ListedRun& a, const ListedRun& b) {
    const auto of_a = key(a), of_b = key(b);
    if (of_a.has_value() != of_b.has_value()) return of_a.has_value();
    if (!of_a) return false;
    return reverse ? *of_b < *of_a : *of_a < *of_b;
  });
}

}  // namespace

std::string Name(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::kGood:
      return "good";
    case RunVerdict::kDoubtful:
      return "doubtful";
    case RunVerdict::kOutOfTolerance:
      return "out of tolerance";
    case RunVerdict::kUnfinished:
      return "unfinished";
    case RunVerdict::kNone:
      return "not judged";
  }
  return "";
}

std::vector<ListedRun> FindRuns(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw InputError(folder.string(), "no such folder", "a folder with runs in it");
  std::vector<ListedRun> found;
  FindBelow(folder, folder, 0, found);
  Sort(RunOrder::kName, false, found);
  return found;
}

void Sort(RunOrder order, bool reverse, std::vector<ListedRun>& runs) {
  switch (order) {
    case RunOrder::kName:
      return SortBy([](const ListedRun& r) { return std::optional(r.name); }, reverse, runs);
    case RunOrder::kVerdict:
      return SortBy([](const ListedRun& r) { return std::optional(static_cast<int>(r.verdict)); }, reverse, runs);
    case RunOrder::kError:
      return SortBy([](const ListedRun& r) { return r.joint_error; }, reverse, runs);
    case RunOrder::kDrift:
      return SortBy([](const ListedRun& r) { return r.drift; }, reverse, runs);
    case RunOrder::kDuration:
      return SortBy([](const ListedRun& r) { return r.duration; }, reverse, runs);
    case RunOrder::kDate:
      return SortBy([](const ListedRun& r) { return r.finished.empty() ? std::nullopt : std::optional(r.finished); },
                    reverse, runs);
    case RunOrder::kSize:
      return SortBy([](const ListedRun& r) { return std::optional(r.bytes); }, reverse, runs);
  }
}

std::string FormatRunList(const std::vector<ListedRun>& runs) {
  io::CsvWriter writer;
  for (const char* const name :
       {"name", "verdict", "program", "method", "clip", "duration", "joint_error", "drift", "bytes", "finished"}) {
    writer.Text(name);
  }
  writer.EndRow();
  const auto number = [&](const std::optional<double>& value) {
    if (value) {
      writer.Number(*value);
    } else {
      writer.Text("");
    }
  };
  for (const ListedRun& run : runs) {
    for (const std::string& text : {run.name, Name(run.verdict), run.program, run.method, run.clip}) writer.Text(text);
    for (const std::optional<double>& value : {run.duration, run.joint_error, run.drift}) number(value);
    writer.Text(std::to_string(run.bytes));
    writer.Text(run.finished);
    writer.EndRow();
  }
  return writer.Take();
}

io::Json ToJson(const std::vector<ListedRun>& runs) {
  io::Json list = io::Json::array();
  const auto or_null = [](const std::optional<double>& value) { return value ? io::Json(*value) : io::Json(); };
  for (const ListedRun& run : runs) {
    list.push_back({{"folder", run.folder.string()},
                    {"name", run.name},
                    {"verdict", Name(run.verdict)},
                    {"program", run.program},
                    {"method", run.method},
                    {"clip", run.clip},
                    {"duration", or_null(run.duration)},
                    {"joint_error", or_null(run.joint_error)},
                    {"drift", or_null(run.drift)},
                    {"bytes", run.bytes},
                    {"finished", run.finished}});
  }
  return list;
}

std::string WhyKept(const ListedRun& run) {
  if (run.verdict == RunVerdict::kUnfinished) return "";
  return results::FirstChange(run.folder, io::ReadJson(run.folder / results::kManifestFile));
}

bool Remove(const ListedRun& run) {
  results::RemoveRunFiles(run.folder, {});
  std::error_code error;
  fs::remove(run.folder / kCheckpointFile, error);
  if (error) throw OutputError((run.folder / kCheckpointFile).string() + ": cannot be removed: " + error.message());
  std::error_code has_other_files;
  return fs::remove(run.folder, has_other_files) && !has_other_files;
}

}  // namespace retrace::runs
