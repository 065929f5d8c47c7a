#include "retrace/results/folder_mark.h"

#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"
#include "retrace/io/remedy.h"
#include "retrace/results/provenance.h"

namespace retrace::results {

namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "retrace-folder";

fs::path Canonical(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  if (error) canonical = fs::absolute(path, error);
  // A folder may be named with a separator at its end.
  return canonical.has_filename() ? canonical : canonical.parent_path();
}

io::Json ToJson(const FolderMark& mark) {
  return {{"format", kFormat},
          {"version", 1},
          {"kind", mark.kind},
          {"source", mark.source.string()},
          {"program", Version()}};
}

}  // namespace

std::optional<FolderMark> ReadFolderMark(const fs::path& folder) {
  const fs::path path = folder / kMarkFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return std::nullopt;
  const io::Json json = io::ReadJson(path);
  const io::JsonView view(json, path.string());
  if (!json.is_object() || !view.Has("format") || view["format"].json() != kFormat) {
    view.Fail("another file", "what an evaluation or a library begins with, or no file of this name");
  }
  view["version"].Integer(1, 1);
  return FolderMark{view["kind"].String(), view["source"].String()};
}

ClaimedFolder::ClaimedFolder(fs::path path, FolderMark mark, const std::function<bool()>& is_unmarked)
    : path_(std::move(path)), mark_(std::move(mark)) {
  mark_.source = Canonical(mark_.source);
  io::CheckOutputFolder(path_);
  std::error_code error;
  if (fs::is_directory(path_, error)) {
    io::SweepTemporaryFiles(path_);
    earlier_ = ReadFolderMark(path_);
    const bool empty = fs::is_empty(path_, error);
    if (error) throw OutputError(path_.string() + ": cannot be read: " + error.message());
    if (earlier_ ? earlier_->kind != mark_.kind : !empty && !is_unmarked()) {
      const std::string found = earlier_ ? "a folder of another kind (" + earlier_->kind + ")" : "other files in it";
      throw WithHint<UsageError>({Remedy::kOtherOutput}, path_.string() + ": found " + found +
                                                             ", expected a new or empty folder, or one of this kind (" +
                                                             mark_.kind + ")");
    }
  }
  fs::create_directories(path_, error);
  if (error) throw OutputError(path_.string() + ": cannot be created: " + error.message());
  io::CheckFolder(path_);
}

bool ClaimedFolder::FromAnotherSource() const {
  return earlier_ && Canonical(earlier_->source) != mark_.source;
}

void ClaimedFolder::Mark() {
  const std::string text = io::Dump(ToJson(mark_), 1) + "\n";
  if (FromAnotherSource()) {
    io::WriteFile(path_ / kMarkFile, text);
  } else if (!earlier_) {
    io::FileWriter writer(path_ / kMarkFile);
    writer.Write(text);
    if (!writer.FinishAsNew()) {
      const std::optional<FolderMark> other = ReadFolderMark(path_);
      if (!other || other->kind != mark_.kind || Canonical(other->source) != mark_.source) {
        throw UsageError(path_.string() + ": another program has begun to use it for something else meanwhile");
      }
    }
  }
  earlier_ = mark_;
}

}  // namespace retrace::results
