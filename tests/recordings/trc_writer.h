/// Writes TRC files, for tests: as Motion Analysis and OpenSim do.
#pragma once

#include <string>

#include "retrace/io/number.h"
#include "retrace/recordings/markers.h"

namespace retrace::recordings {

/// All markers are seen in all frames; meters.
inline std::string WriteTrc(const Markers& markers) {
  const std::string rate = io::Number(markers.rate), frames = std::to_string(markers.places.size());
  std::string text = "PathFileType\t4\t(X/Y/Z)\twalk.trc\n";
  text += "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n";
  text.append(rate).append("\t").append(rate).append("\t").append(frames).append("\t");
  text.append(std::to_string(markers.names.size())).append("\tm\t").append(rate).append("\t1\t").append(frames);
  text += "\nFrame#\tTime";
  for (const std::string& name : markers.names) text.append("\t").append(name).append("\t\t");
  text += "\n\t";
  for (size_t m = 1; m <= markers.names.size(); ++m) {
    for (const char axis : {'X', 'Y', 'Z'}) text.append("\t").append(1, axis).append(std::to_string(m));
  }
  text += "\n\n";
  for (size_t f = 0; f < markers.places.size(); ++f) {
    text.append(std::to_string(f + 1)).append("\t").append(io::Fixed(static_cast<double>(f) / markers.rate, 5));
    for (const Vec3& place : markers.places[f]) {
      for (int axis = 0; axis < 3; ++axis) text.append("\t").append(io::Fixed(place[axis], 6));
    }
    text += '\n';
  }
  return text;
}

}  // namespace retrace::recordings
