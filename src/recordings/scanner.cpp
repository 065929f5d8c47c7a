#include "scanner.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/io/text.h"

namespace retrace::motion {
namespace {

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}
bool IsLineEnd(char c) {
  return c == '\n' || c == '\r';
}

/// Length in bytes of the UTF-8 sequence that starts the text, 0 if it is none or an unprintable control character.
size_t PrintableLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  const unsigned second = byte(1);
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return length;
}

}  // namespace

std::string Quoted(std::string_view text) {
  constexpr size_t kShown = 40;
  std::string quoted = "'";
  while (!text.empty() && quoted.size() < kShown) {
    const size_t length = PrintableLength(text);
    if (length > 0) {
      quoted.append(text.substr(0, length));
      text.remove_prefix(length);
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[0]);
      quoted += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      text.remove_prefix(1);
    }
  }
  return quoted + (text.empty() ? "'" : "...'");
}

bool EqualsNoCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

bool ParseInteger(std::string_view text, int64_t& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

Scanner::Scanner(std::string_view text, std::string name, Braces braces)
    : text_(text), name_(std::move(name)), braces_alone_(braces == Braces::kAlone) {
  position_ = line_begin_ = text.size() - io::WithoutByteOrderMark(text).size();
}

Token Scanner::Scan() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (IsLineEnd(c)) {
      ++position_;
      if (c == '\r' && position_ < text_.size() && text_[position_] == '\n') ++position_;
      ++line_;
      line_begin_ = position_;
      starts_line_ = true;
    } else if (IsBlank(c)) {
      ++position_;
    } else {
      break;
    }
  }
  Token token;
  token.line = line_;
  token.column = static_cast<int>(position_ - line_begin_) + 1;
  if (position_ == text_.size()) return token;
  token.starts_line = starts_line_;
  starts_line_ = false;
  const size_t begin = position_;
  const auto is_brace = [&](char c) { return braces_alone_ && (c == '{' || c == '}'); };
  if (is_brace(text_[position_])) {
    ++position_;
  } else {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (IsBlank(c) || IsLineEnd(c) || is_brace(c)) break;
      ++position_;
      if (split_after_colon_ && c == ':') break;
    }
  }
  token.text = text_.substr(begin, position_ - begin);
  return token;
}

const Token& Scanner::Peek() {
  if (!has_peeked_) {
    peeked_ = Scan();
    has_peeked_ = true;
  }
  return peeked_;
}

Token Scanner::Next() {
  last_ = Peek();
  has_peeked_ = false;
  return last_;
}

void Scanner::SkipLine() {
  while (!Peek().end() && !Peek().starts_line) Next();
}

double Scanner::Number(const std::string& what) {
  const Token token = Next();
  double value = 0;
  if (token.end() || !io::ParseNumber(token.text, value) || !std::isfinite(value)) {
    Fail(token, what + " (a finite number with a decimal point)");
  }
  if (std::abs(value) > kMaxMagnitude) Fail(token, what + " of magnitude at most 1e9");
  return value;
}

bool Scanner::TryNumber(double& value) {
  if (has_peeked_) return false;
  const char* const end = text_.data() + text_.size();
  const char* begin = text_.data() + position_;
  while (begin != end && IsBlank(*begin)) ++begin;
  const auto result = std::from_chars(begin, end, value);
  if (result.ec != std::errc() || !(std::abs(value) <= kMaxMagnitude)) return false;
  if (result.ptr != end && !IsBlank(*result.ptr) && !IsLineEnd(*result.ptr)) return false;
  last_.text = {begin, static_cast<size_t>(result.ptr - begin)};
  last_.line = line_;
  last_.column = static_cast<int>(begin - text_.data() - static_cast<ptrdiff_t>(line_begin_)) + 1;
  last_.starts_line = std::exchange(starts_line_, false);
  position_ = static_cast<size_t>(result.ptr - text_.data());
  return true;
}

double Scanner::NumberInLine(const std::string& what) {
  if (AtLineEnd()) FailAtLineEnd("the end of the line", what);
  return Number(what);
}

std::string Scanner::Name(const std::string& what) {
  if (AtLineEnd()) FailAtLineEnd("the end of the line", what);
  const Token token = Next();
  return CheckName(token, std::string(token.text.substr(0, kMaxNameLength + 1)));
}

std::string Scanner::CheckName(const Token& at, std::string name) const {
  if (name.size() > kMaxNameLength) {
    Fail(at, "the name " + Quoted(name), "a name of at most " + std::to_string(kMaxNameLength) + " bytes");
  }
  for (std::string_view rest = name; !rest.empty();) {
    const size_t length = PrintableLength(rest);
    if (length == 0) Fail(at, "the name " + Quoted(name), "a name of printable UTF-8 characters");
    rest.remove_prefix(length);
  }
  return name;
}

void Scanner::Fail(const Token& at, const std::string& found, const std::string& expected) const {
  throw InputError(name_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column), found, expected);
}

void Scanner::Fail(const Token& at, const std::string& expected) const {
  Fail(at, at.end() ? "the end of the file" : Quoted(at.text), expected);
}

void Scanner::FailAtLineEnd(const std::string& found, const std::string& expected) {
  if (Peek().end()) Fail(Peek(), expected);
  Token place = last_;
  place.column += static_cast<int>(last_.text.size());
  Fail(place, found, expected);
}

}  // namespace retrace::motion
