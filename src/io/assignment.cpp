#include "retrace/io/assignment.h"

#include <string>
#include <vector>

#include "retrace/io/nearest_words.h"

namespace retrace::io {

std::string NoSuchSetting(const Json& all, const Json::json_pointer& where) {
  const Json::json_pointer parent = where.parent_pointer();
  const bool section = !parent.empty() && all.contains(parent) && all[parent].is_object();
  std::vector<std::string> names;
  for (const auto& [name, value] : (section ? all[parent] : all).items()) {
    names.push_back((section ? parent.to_string() : "") + "/" + name);
  }
  std::vector<std::string> meant;
  if (section) {
    // Compared without the section, which all have in common.
    std::vector<std::string> of_section;
    for (const auto& [name, value] : all[parent].items()) of_section.push_back(name);
    for (const std::string& name : NearestWords(where.back(), of_section)) {
      meant.push_back(parent.to_string() + "/" + name);
    }
  }
  const Json flat = all.flatten();
  std::vector<std::string> settings, of_this_name;
  for (const auto& [pointer, value] : flat.items()) {
    settings.push_back(pointer);
    if (!where.empty() && pointer.ends_with("/" + where.back())) of_this_name.push_back(pointer);
  }
  if (meant.empty()) meant = NearestWords(where.to_string(), of_this_name);
  if (meant.empty()) meant = of_this_name;
  if (meant.empty() && !section) meant = NearestWords(where.to_string(), settings);
  return where.to_string() + ": there is no such setting, " +
         (meant.empty() ? "expected" : "did you mean " + QuotedList(meant) + ", expected") + " one of " + List(names);
}

}  // namespace retrace::io
