/// Errors about members of option structs.
#pragma once

#include <string>

#include "retrace/io/error.h"

namespace retrace {

/// A member of a struct of options that has a value which cannot be used: "get_ups: found ..., expected ...". The
/// library does not know the options of programs: a program names the option that sets the member instead.
class FieldError : public UsageError {
 public:
  FieldError(const std::string& field, const std::string& problem)
      : UsageError(field + ": " + problem), field_(field), problem_(problem) {}
  const std::string& field() const { return field_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string field_;
  std::string problem_;
};

}  // namespace retrace
