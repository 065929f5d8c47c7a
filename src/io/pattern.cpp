#include "retrace/io/pattern.h"

#include <re2/re2.h>

#include "retrace/io/error.h"

namespace retrace::io {

Pattern::Pattern(const std::string& subject, const std::string& expression) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  expression_ = std::make_unique<re2::RE2>(expression, options);
  if (expression_->ok()) return;
  throw UsageError(subject + " \"" + expression + "\": expected a regular expression: " + expression_->error());
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

bool Pattern::IsFoundIn(const std::string& text) const {
  return re2::RE2::PartialMatch(text, *expression_);
}

}  // namespace retrace::io
