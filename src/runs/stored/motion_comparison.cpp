#include "motion_comparison.h"

#include <algorithm>
#include <string_view>

namespace retrace::runs {

StoredTable::StoredTable(std::string name, const std::filesystem::path& file)
    : name_(std::move(name)), place_(file.string()), file_(file) {}

StoredTable::StoredTable(std::string name, std::string place, std::string sha256)
    : name_(std::move(name)), place_(std::move(place)), sha256_(std::move(sha256)) {}

void StoredTable::Compare(const std::string& piece) {
  if (!file_) {
    sum_.Add(piece);
    return;
  }
  if (differs_) return;
  std::string stored(piece.size(), '\0');
  stored.resize(file_->Read(stored));
  const auto same = std::mismatch(stored.begin(), stored.end(), piece.begin()).first;
  line_ += static_cast<size_t>(std::count(stored.begin(), same, '\n'));
  differs_ = stored != piece;
}

std::string StoredTable::Finish() {
  if (!file_) return sum_.Finish() == sha256_ ? "" : place_ + ": the replay differs from what was found";
  char more = 0;
  if (!differs_) differs_ = file_->Read({&more, 1}) > 0;
  return differs_ ? place_ + ":" + std::to_string(line_) + ": the replay differs from what is stored" : "";
}

void MotionComparison::Compare(const std::vector<NamedTable>& pieces) {
  for (const NamedTable& piece : pieces) {
    for (StoredTable& table : stored_) {
      if (table.name() == piece.name) table.Compare(piece.text);
    }
  }
}

std::string MotionComparison::Finish() {
  Compare(tables_.Finish());
  for (StoredTable& table : stored_) {
    if (std::string difference = table.Finish(); !difference.empty()) return difference;
  }
  return "";
}

}  // namespace retrace::runs
