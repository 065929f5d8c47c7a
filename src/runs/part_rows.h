/// composition.csv: the parts of a motion that was composed. Internal to the module.
#pragma once

#include <string>
#include <vector>

namespace retrace::runs {

struct PartRow {
  double start = 0, end = 0;  ///< [s]
  std::string control;        ///< or motion, that is played
  double cut = 0;             ///< of that, where it is entered [s]
  double distance = 0;        ///< of the states there [m]
  int tries = 0;              ///< 0: none, it goes on
  std::string event;          ///< Name of CompositionEvent
  std::string transition;     ///< Name of Transition, or nothing
  double hidden_impulse = 0;  ///< [N s]
};

std::string FormatParts(const std::vector<PartRow>& rows);

}  // namespace retrace::runs
