/// What two JSON documents differ in, for people.
#pragma once

#include <string>

#include "retrace/io/json.h"

namespace retrace::io {

/// What two documents differ in, for a message; they must differ: "POINTER was THIS and is THAT", or other words
/// instead of " was " and " and is ".
std::string Differences(const Json& then, const Json& now, const std::string& was = " was ",
                        const std::string& is = " and is ");

}  // namespace retrace::io
