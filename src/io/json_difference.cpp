#include "retrace/io/json_difference.h"

#include <nlohmann/json.hpp>

namespace retrace::io {

std::string Differences(const Json& then, const Json& now, const std::string& was, const std::string& is) {
  const Json patch = Json::diff(then, now);
  const auto pointer = patch[0]["path"].get<std::string>();
  const auto value = [&](const Json& document) {
    const Json::json_pointer where(pointer);
    return document.contains(where) ? Dump(document[where]) : std::string("nothing");
  };
  std::string text = pointer;
  text.append(was).append(value(then)).append(is).append(value(now));
  if (patch.size() > 1) text.append(", and ").append(std::to_string(patch.size() - 1)).append(" more");
  return text;
}

}  // namespace retrace::io
