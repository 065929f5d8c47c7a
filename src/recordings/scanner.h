/// Words of a text with their positions, for the readers of motion files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace retrace::motion {

/// No length, angle or position of a motion file is larger than this: what is larger is a broken file, and its squares
/// and sums must not overflow further on.
inline constexpr double kMaxMagnitude = 1e9;
/// Limits of a tree of joints, far above what any character has.
inline constexpr int kMaxDepth = 500;
inline constexpr int kMaxJoints = 10000;
inline constexpr size_t kMaxNameLength = 255;  ///< [bytes]

/// A word of the text. It points into the text, which must outlive it.
struct Token {
  std::string_view text;    ///< empty at the end of the file
  int line = 1;             ///< from 1
  int column = 1;           ///< from 1, in bytes
  bool starts_line = true;  ///< the first word of its line; also true at the end of the file

  bool end() const { return text.empty(); }
};

/// Splits a text into words in one pass, without copying it, and words every complaint as `file:line:column: found X,
/// expected Y`. Lines end with LF, CRLF or CR; a byte-order mark is skipped.
class Scanner {
 public:
  enum class Braces { kOrdinary, kAlone };

  /// With Braces::kAlone each `{` and `}` is a word of its own, with or without blanks around it.
  Scanner(std::string_view text, std::string name, Braces braces);

  const Token& Peek();
  Token Next();
  /// Drops what remains of the current line.
  void SkipLine();
  /// From now on a word also ends behind a colon (`Frames:24`). Call it before the word is peeked at.
  void SplitAfterColon() { split_after_colon_ = true; }
  /// True when the next word is on another line than the one before it.
  bool AtLineEnd() { return Peek().starts_line; }
  /// Bytes that have not been scanned yet.
  size_t remaining() const { return text_.size() - position_; }
  size_t position() const { return position_; }

  /// The next word as a finite number within kMaxMagnitude; `what` names it in the message.
  double Number(const std::string& what);
  /// The next word as a number, if that takes no more than a look: a plain decimal number within kMaxMagnitude on the
  /// current line. Otherwise nothing is consumed, and Number decides. It is what makes long recordings fast to
  /// read.
  bool TryNumber(double& value);
  /// The next word, which must stand on the current line, as a number.
  double NumberInLine(const std::string& what);
  /// The next word as a joint's name: printable UTF-8 of limited length.
  std::string Name(const std::string& what);
  /// Refuses a name that no joint can have; returns it unchanged otherwise.
  std::string CheckName(const Token& at, std::string name) const;

  [[noreturn]] void Fail(const Token& at, const std::string& found, const std::string& expected) const;
  /// The word itself is what was found.
  [[noreturn]] void Fail(const Token& at, const std::string& expected) const;
  /// The end of the current line, or of the file, is what was found.
  [[noreturn]] void FailAtLineEnd(const std::string& found, const std::string& expected);

 private:
  Token Scan();

  std::string_view text_;
  std::string name_;
  bool braces_alone_;
  bool split_after_colon_ = false;
  bool has_peeked_ = false;
  size_t position_ = 0;
  size_t line_begin_ = 0;
  int line_ = 1;
  bool starts_line_ = true;
  Token peeked_;
  Token last_;
};

/// A word as a message shows it: in quotes, shortened, with unprintable bytes as \xNN.
std::string Quoted(std::string_view text);

/// Equal but for the case of the letters a to z; `lower` is in lower case.
bool EqualsNoCase(std::string_view text, std::string_view lower);

/// Whole text as a whole number; false if it is anything else or does not fit.
bool ParseInteger(std::string_view text, int64_t& value);

}  // namespace retrace::motion
