/// A response model as a file: JSON with the character, the examples, the options and what was learned. What follows
/// from these is computed again when it is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "retrace/character/character.h"
#include "retrace/io/json.h"
#include "retrace/response_model/response_model.h"

namespace retrace::response_model {

inline constexpr std::string_view kModelFormat = "retrace-response-model";

/// How a model is learned and played.
io::Json ToJson(const ResponseOptions& options);

/// {"format", "version", "character": the character's document, "character_sha256", "options", "examples": [{"name",
/// "clock": the time of the first pose or of each, or null, "pushes", "poses": [[root position, root orientation w x y
/// z, rotations of the joints w x y z], ...]}], "learnt":
/// {"rate", "noise", "dynamics": {"variance", "noise", "rates"}, "weights": [[(d)], ...]}, "derived": what a reader
/// wants to know and a program finds again}.
io::Json ToJson(const ResponseModel& model);

/// A model with the character that it points at.
struct StoredModel {
  std::unique_ptr<character::Character> character;
  ResponseModel model;
};

/// Throws InputError with the JSON pointer, what was found and what was expected: for another format, a character whose
/// hash is not the file's, numbers that are none, sizes that do not fit, and a model that cannot be assembled.
StoredModel ReadModel(const io::Json& document, const std::string& name);

}  // namespace retrace::response_model
