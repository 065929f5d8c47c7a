/// One setting, as a command line has it.
#pragma once

#include <string>

#include "retrace/io/describe.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"

namespace retrace::io {

/// What is said of a pointer that leads to no setting: the nearest ones of all, and the names that could stand in the
/// place of the last one of the pointer.
std::string NoSuchSetting(const Json& all, const Json::json_pointer& where);

/// `/section/name=value`, where the value is JSON or a word without quotes, as a document that has this setting alone.
/// Throws UsageError for a text of another form, and for a setting that is none of those of `options`.
template <typename Options>
Json ParseAssignment(const Options& options, const std::string& assignment) {
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
    Describe(options, known);
    if (!known.json().contains(where) || known.json()[where].is_object()) {
      throw UsageError(NoSuchSetting(Write(options), where));
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

/// Takes one setting. Throws UsageError for one that does not exist or a bad value, and then changes nothing.
template <typename Options>
void TakeAssignment(const std::string& assignment, Options& options) {
  const Json document = ParseAssignment(options, assignment);
  try {
    Read(JsonView(document, ""), options);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace retrace::io
