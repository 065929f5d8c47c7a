/// One setting, as a command line has it.
#pragma once

#include <string>
#include <utility>

#include "retrace/io/describe.h"
#include "retrace/io/json.h"

namespace retrace::io {

namespace detail {

Json ParseAssignment(const FieldVisitor::Fields& describe, const std::string& assignment);
void TakeAssignment(const std::string& assignment, const FieldVisitor::Fields& describe);

}  // namespace detail

/// `/section/name=value`, where the value is JSON or a word without quotes, as a document that has this setting alone.
/// Throws UsageError for a text of another form, and for a setting that is none of those of `options`.
template <typename Options, typename Document = Json>
Document ParseAssignment(const Options& options, const std::string& assignment) {
  return detail::ParseAssignment(detail::DescriptionOf(options), assignment);
}

/// Takes one setting. Throws UsageError for one that does not exist or a bad value, and then changes nothing.
template <typename Options>
void TakeAssignment(const std::string& assignment, Options& options) {
  Options changed = options;
  detail::TakeAssignment(assignment, [&](FieldVisitor& visitor) { Describe(changed, visitor); });
  options = std::move(changed);
}

}  // namespace retrace::io
