/// A motion that is compared with what its run has stored of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "retrace/io/file.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {

/// What is stored of one table: the file, or its hash alone.
class StoredTable {
 public:
  /// Throws InputError for a file that cannot be read.
  StoredTable(std::string name, const std::filesystem::path& file);
  /// `place` is where the hash is, for the message of a difference.
  StoredTable(std::string name, std::string place, std::string sha256);

  const std::string& name() const { return name_; }
  void Compare(const std::string& piece);
  /// The first difference as a message, or nothing.
  std::string Finish();

 private:
  std::string name_;
  std::string place_;
  std::optional<io::FileReader> file_;
  size_t line_ = 1;  // of the file
  bool differs_ = false;
  std::string sha256_;
  io::Sha256Sum sum_;
};

/// The tables of one character's motion, which comes in parts.
class MotionComparison {
 public:
  MotionComparison(const character::Character& character, std::vector<StoredTable> stored)
      : tables_(character), stored_(std::move(stored)) {}
  void Add(const control::Trajectory& part) { Compare(tables_.Add(part)); }
  /// The first difference, by the order of the stored tables, as a message, or nothing.
  std::string Finish();

 private:
  void Compare(const std::vector<NamedTable>& pieces);

  MotionTables tables_;
  std::vector<StoredTable> stored_;
};

}  // namespace retrace::runs
