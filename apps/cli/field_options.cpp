#include "cli/field_options.h"

#include <algorithm>
#include <map>

#include "retrace/io/field_error.h"

namespace retrace::cli {

std::string OptionOf(const std::string& field) {
  // Members that are called otherwise than their options: lists whose option is given once for each entry.
  static const std::map<std::string, std::string> kOthers = {
      {"break_falls", "--break-fall"}, {"get_ups", "--get-up"}, {"pushes", "--push"}};
  const auto other = kOthers.find(field);
  if (other != kOthers.end()) return other->second;
  std::string option = "--" + field;
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

std::string MessageOf(const Error& error) {
  const auto* of_field = dynamic_cast<const FieldError*>(&error);
  if (of_field == nullptr) return error.what();
  return MessageLine(OptionOf(of_field->field()) + ": " + of_field->problem());
}

}  // namespace retrace::cli
