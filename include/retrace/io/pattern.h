/// Regular expressions that users write, matched in a time that is linear in the text, whatever the expression.
#pragma once

#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace retrace::io {

/// A regular expression in the syntax of RE2: that of Perl without references back and without assertions about what is
/// around.
class Pattern {
 public:
  /// Throws UsageError for what is no expression or too large a one; the message begins with `subject`.
  Pattern(const std::string& subject, const std::string& expression);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) = delete;

  /// Whether a part of the text matches.
  bool IsFoundIn(const std::string& text) const;

 private:
  std::unique_ptr<re2::RE2> expression_;
};

}  // namespace retrace::io
