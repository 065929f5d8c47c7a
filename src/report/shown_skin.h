/// The skin of a character, as the page and videos show it.
#pragma once

#include "retrace/character/character.h"
#include "retrace/io/json.h"

namespace retrace::report {

/// Vertices in steps of `step` from `low`; for each vertex four bodies and their shares of 255; where the bodies stand
/// in that pose. Null for a character that has none.
io::Json SkinToJson(const character::Character& character);

}  // namespace retrace::report
