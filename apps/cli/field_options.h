/// The options that set members of option structs, for the messages of errors.
#pragma once

#include <string>

#include "retrace/io/error.h"

namespace retrace::cli {

/// The option that sets a member: "push_every" is set by --push-every.
std::string OptionOf(const std::string& field);

/// The message of an error to one who uses options: a member of an option struct is called by its option.
std::string MessageOf(const Error& error);

}  // namespace retrace::cli
