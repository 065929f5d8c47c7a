/// Which of several motions in one file is meant.
#pragma once

#include <map>
#include <string>

namespace retrace::recordings {

struct Choice {
  std::string animation;  ///< its name; empty: the first that moves the performer
  std::string performer;  ///< name of one of several people in the file; empty: of the one with most joints

  bool empty() const { return animation.empty() && performer.empty(); }
};

/// What a file calls something, by the name by which it is known here: {"LASI": "pelvis_front_left"}.
using NameMap = std::map<std::string, std::string>;

/// Names for formats that have no names of their own for what they hold, or in which everybody uses others.
struct OtherNames {
  NameMap markers;  ///< of C3D and TRC files; known are those of Plug-in Gait and others (markers.h)
  NameMap arrays;   ///< of archives; known are those of smpl.h

  bool empty() const { return markers.empty() && arrays.empty(); }
};

}  // namespace retrace::recordings
