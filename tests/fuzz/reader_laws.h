/// What must hold for any bytes that a reader is given: it accepts them, or rejects them with one message that states
/// what was found and what was expected.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "retrace/io/error.h"

namespace retrace::fuzz {

inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken law: %s\n", what);
  std::abort();
}

/// Calls a reader, which may refuse with an InputError. Returns whether it accepted.
template <typename Read>
bool Reads(Read read) {
  try {
    read();
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
