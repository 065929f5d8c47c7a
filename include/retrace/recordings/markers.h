/// Recorded markers (C3D, TRC), and the motion of a skeleton that they stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "retrace/math/types.h"
#include "retrace/motion/clip.h"
#include "retrace/motion/measured_forces.h"
#include "retrace/recordings/choice.h"

namespace retrace::recordings {

/// Positions of markers over time, in the axes of the file.
struct Markers {
  std::vector<std::string> names;
  double rate = 0;                        ///< frames per second
  std::vector<std::vector<Vec3>> places;  ///< (frames, markers) [m]; not a number where a marker was not seen
  int up = 2;                             ///< axis that points up, where the file states it: 0 x, 1 y, 2 z; else -1
  std::vector<std::string> doubts = {};   ///< what in the file contradicts itself, as sentences
  double start_time = 0;                  ///< of the first frame, by the clock of the file [s]
};

/// A TRC file (Motion Analysis, OpenSim, and the scripts of laboratories). Cells are apart by tabs, or else by commas;
/// an empty one was not seen. NumMarkers, the times of the frames and the columns of each row must agree; of another
/// NumFrames than there are frames, as trimmed files have it, `doubts` tells. Throws InputError with file, line and
/// column.
Markers ParseTrc(std::string_view text, const std::string& name);

/// The points of a C3D file: numbers of 16 bits or floats, of Intel, DEC and MIPS processors. Nothing is allocated
/// because of a stated count alone. Throws InputError with the group and parameter, or the position in bytes.
Markers ParseC3d(std::string_view bytes, const std::string& name);

/// The force plates of a C3D file (types 2, 3 and 4) as forces of the ground on the body, in the axes in which
/// ClipOfMarkers gives the motion. The force of a plate with less than 10 N acts nowhere. Throws InputError; a file
/// without plates, too.
motion::MeasuredForces ParseC3dForces(std::string_view bytes, const std::string& name);

/// The motion of a skeleton of constant lengths. Markers are known by name: Plug-in Gait (Vicon) and its relatives,
/// among them CMU's and OpenSim's sets with a marker beside each joint, or points that are joint centers (video
/// keypoints, Retrace's own). A name may have a performer before it, `Bob:LASI`; of several the one with most markers
/// is taken.
///
///  - Hips: Harrington et al. 2007, from the width and the depth of the pelvis. Knees, ankles and elbows: halfway to
///  the
///    medial marker, or else half a width (knee 5 cm, ankle 3.5 cm, elbow 3.5 cm) from the lateral one along the hinge.
///    Shoulders: 5 cm under the marker. Wrists: halfway between two markers, or the one.
///  - Knees and ankles without a marker: where groups of three markers or more on both sides of the joint turn about
///    one another (Ehrig et al. 2006, 2007). A trunk without shoulders is upright, or leans with the markers of the
///    neck; arms without markers hang.
///  - The length of a bone is its median over the clip.
///  - Legs and arms are turned about the hinge in whose plane they bend, and, where they are straight, follow pelvis
///  and
///    trunk. Pelvis and head are level in the median.
///  - Gaps are filled by what the markers around do that keep their distances, as rigid bodies do, or else by curves of
///  at
///    most 0.2 s and by straight lines; how long they are is said, and longer lines are doubted.
/// y is up in what is returned, and lengths are meters. Throws InputError with the markers that are missing and those
/// that are there.
motion::Clip ClipOfMarkers(const Markers& markers, const std::string& name, const Choice& choice = {});

/// The same markers by the names that are known. A marker that a performer's name stands before is named without it.
/// Throws UsageError for one that is not there.
Markers Renamed(Markers markers, const std::string& name, const NameMap& names);

}  // namespace retrace::recordings
