/// What must hold for any bytes that are given to a reader of the project's own documents.
#pragma once

#include <cstdio>
#include <string>

#include "reader_laws.h"

namespace retrace::fuzz {

/// `rewritten(text)` reads a document and writes it again; it may refuse with an InputError. What it writes of an
/// accepted document is accepted, and written the same. Returns whether the document was accepted.
template <typename Rewritten>
bool IsReadBack(const std::string& text, Rewritten rewritten) {
  std::string written;
  if (!Reads([&] { written = rewritten(text); })) return false;
  std::string again;
  try {
    again = rewritten(written);
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s\n%s\n", written.c_str(), error.what());
    Require(false, "what was written is read");
  }
  if (again != written) std::fprintf(stderr, "%s\n%s\n", written.c_str(), again.c_str());
  Require(again == written, "what was read is written the same");
  return true;
}

}  // namespace retrace::fuzz
