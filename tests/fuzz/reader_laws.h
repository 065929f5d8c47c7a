/// What must hold for any bytes that a reader of motions is given: a well-formed clip, or one message with the place.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "motion/well_formed.h"
#include "retrace/io/error.h"

namespace retrace::fuzz {

inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken law: %s\n", what);
  std::abort();
}

/// Calls a reader; it may refuse, in the words of the house. Returns whether it accepted.
template <typename Read>
bool Reads(Read read) {
  try {
    const std::string broken = motion::laws::BrokenPromise(read());
    Require(broken.empty(), broken.c_str());
    return true;
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    Require(message.find(": found ") != std::string_view::npos, "a refusal says what was found");
    Require(message.find(", expected ") != std::string_view::npos, "a refusal says what was expected");
    Require(message.find('\n') == std::string_view::npos, "a refusal is one line");
    return false;
  }
}

}  // namespace retrace::fuzz
