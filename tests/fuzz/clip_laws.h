/// What must hold for any bytes that a reader of clips is given.
#pragma once

#include <string>

#include "fuzz/reader_laws.h"
#include "recordings/well_formed.h"

namespace retrace::fuzz {

/// As Reads; a clip that was accepted is well formed.
template <typename Read>
bool ReadsClip(Read read) {
  return Reads([&] {
    const std::string broken = motion::laws::BrokenPromise(read());
    Require(broken.empty(), broken.c_str());
  });
}

}  // namespace retrace::fuzz
