/// What a simulated body stands on where the user names no world.
#pragma once

#include "retrace/io/describe.h"

namespace retrace::task {

enum class GroundSource {
  kRecording,  ///< the floor, and the surfaces that the recording shows beyond doubt (recorded_world.h)
  kPlain,      ///< the floor alone
};
inline io::Words<GroundSource> GroundSourceWords() {
  return {{{GroundSource::kRecording, "recording"}, {GroundSource::kPlain, "plain"}}};
}

}  // namespace retrace::task
