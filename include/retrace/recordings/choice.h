/// Which of several motions in one file is meant.
#pragma once

#include <string>

namespace retrace::recordings {

struct Choice {
  std::string animation;  ///< its name; empty: the first that moves the performer
  std::string performer;  ///< name of one of several people in the file; empty: of the one with most joints

  bool empty() const { return animation.empty() && performer.empty(); }
};

}  // namespace retrace::recordings
