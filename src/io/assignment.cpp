#include "retrace/io/assignment.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"

namespace retrace::io {
namespace {

/// What is said of a pointer that leads to no setting: the nearest ones of all, and the names that could stand in the
/// place of the last one of the pointer.
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

}  // namespace

namespace detail {

Json ParseAssignment(const FieldVisitor::Fields& describe, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || assignment.empty() || assignment[0] != '/') {
    throw UsageError("found \"" + assignment + "\", expected /section/name=value");
  }
  const std::string pointer = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  Json document;
  try {
    const Json::json_pointer where(pointer);
    JsonWriter known(JsonWriter::Keys::kAll);
    describe(known);
    if (!known.json().contains(where) || known.json()[where].is_object()) {
      throw UsageError(NoSuchSetting(Write(describe), where));
    }
    // Words need no quotes: what is no JSON is a string.
    Json value = text;
    try {
      Json parsed = ParseJson(text, "");
      if (!known.json()[where].is_string() || parsed.is_string()) value = std::move(parsed);
    } catch (const InputError&) {
    }
    document[where] = std::move(value);
  } catch (const Json::exception&) {
    throw UsageError(pointer + ": found a text that is not a JSON pointer, expected /section/name");
  }
  return document;
}

void TakeAssignment(const std::string& assignment, const FieldVisitor::Fields& describe) {
  const Json document = ParseAssignment(describe, assignment);
  try {
    Read(JsonView(document, ""), describe);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace detail

}  // namespace retrace::io
