#include "retrace/io/assignment.h"

namespace retrace::io {

std::string Alternatives(const Json& all, const Json::json_pointer& where) {
  const Json::json_pointer parent = where.parent_pointer();
  const bool section = !parent.empty() && all.contains(parent) && all[parent].is_object();
  std::vector<std::string> names;
  for (const auto& [name, value] : (section ? all[parent] : all).items()) {
    names.push_back((section ? parent.to_string() : "") + "/" + name);
  }
  return List(names);
}

}  // namespace retrace::io
