/// The lines of a text, and where in them something is wrong.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "retrace/io/error.h"
#include "retrace/io/text.h"

namespace retrace::recordings {

class LineReader {
 public:
  /// `name` stands for the file in messages; both must outlive the reader. A byte-order mark is no part of the text.
  LineReader(std::string_view text, const std::string& name) : text_(io::WithoutByteOrderMark(text)), name_(name) {}

  /// The next line, without what ends it. False: there is none.
  bool Next(std::string_view& line) {
    if (position_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', position_), text_.size());
    line = text_.substr(position_, end - position_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    position_ = end + 1;
    ++number_;
    return true;
  }

  /// Whether the text ended within the line that was read last, and not behind it.
  bool Unfinished() const { return position_ > text_.size(); }

  /// Throws InputError at a column, counted from 1, of the line that was read last.
  [[noreturn]] void Fail(size_t column, const std::string& found, const std::string& expected) const {
    throw InputError(name_ + ":" + std::to_string(number_) + ":" + std::to_string(column), found, expected);
  }

 private:
  std::string_view text_;
  const std::string& name_;
  size_t position_ = 0, number_ = 0;
};

}  // namespace retrace::recordings
