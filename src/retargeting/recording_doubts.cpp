#include "recording_doubts.h"

#include <string>

#include "retrace/io/number.h"

namespace retrace::character {

void ReportDistance(const Character& character, double distance, ReferenceReport& report) {
  report.joint_distance = distance;
  constexpr double kFar = 0.12;  // of the character's height; of real recordings on the human at most 0.1
  if (character.planar || !(distance > kFar * character.height)) return;
  report.doubts.push_back(
      {"proportions", "the joints of \"" + character.name + "\" are " + io::Fixed(distance, 2) +
                          " m from the recorded ones in the mean: a body of other proportions, " +
                          "or joints that were taken for others; another character or a joint map mends it"});
}

void ReportHandedness(const Handedness& handedness, const ReferenceOptions& options, ReferenceReport& report) {
  report.handedness = handedness;
  if (!handedness.mirrored) return;
  report.doubts.push_back(
      {"mirrored",
       "left and right are exchanged (" + handedness.Votes() + ", where +1 is a body and -1 its mirror " + "image): " +
           (options.mirror ? "unmirrored they are not"
                           : "a file in left-handed axes, or exchanged names; mirroring it (mirror) mends it")});
}

}  // namespace retrace::character
