#include "retrace/retargeting/reference_options.h"

#include <nlohmann/json.hpp>

namespace retrace::character {

void Describe(ReferenceOptions& o, io::FieldVisitor& v) {
  v.Field({"smoothing", "Standard deviation of the Gaussian filter", "s"}, o.smoothing, io::Real{{0, 1}});
  v.Field({"velocity_interval", "Half width of the central difference for velocities", "s"}, o.velocity_interval,
          io::Real{{1e-4, 0.5}});
  v.Field(
      {"bridge_spikes", "Whether joints that jump elsewhere and back within a few frames are turned steadily instead"},
      o.bridge_spikes, io::Flag{});
  v.Field({"level_floor", "Whether a tilted capture floor is turned level"}, o.level_floor, io::Flag{});
  v.Field({"lift_root", "Whether the root is raised where trunk, head, thighs or upper arms are under the floor"},
          o.lift_root, io::Flag{});
  v.Field({"raise_hands", "Whether the arms are bent where hands or forearms are under the floor"}, o.raise_hands,
          io::Flag{});
}

void DescribeClip(ReferenceOptions& o, io::FieldVisitor& v) {
  v.Field({"unit", "Length of a unit of the file; null: it is detected", "m"}, o.unit, io::OptionalReal{kUnits});
  v.Field({"up_axis", "Axis of the file that points up; auto: it is detected"}, o.up_axis,
          io::Text{{"auto", "x", "y", "z", "-x", "-y", "-z"}});
  v.Field({"frame_rate", "Frames per second of the recording; null: from the file", "1/s"}, o.frame_rate,
          io::OptionalReal{kFrameRates});
  v.Field({"skipped_frames", "Number of frames at the start that are left out; -1: they are detected"},
          o.skipped_frames, io::Integer{-1, kMostSkippedFrames});
  v.Field({"keep_calibration_frames", "Whether poses at either end are kept from which no body can move to the motion"},
          o.keep_calibration_frames, io::Flag{});
  v.Field({"mirror", "Whether the recording is mirrored, whose left and right are exchanged"}, o.mirror, io::Flag{});
  v.Field({"floor_height", "Height of the floor in the recording; null: it is found under the feet", "m"},
          o.floor_height, io::OptionalReal{kFloorHeights});
  v.Field({"treadmill",
           "Speed of a treadmill's belt, which is taken out of the motion; null: it is found, 0: there is none", "m/s"},
          o.treadmill, io::OptionalReal{kBeltSpeeds});
  v.Field({"facing", "Heading at the start, about y from z; null: as recorded", "rad"}, o.facing,
          io::OptionalReal{kHeadings});
}

void DescribeRange(ReferenceOptions& o, io::FieldVisitor& v) {
  v.Field({"start", "First instant of the clip that is used", "s"}, o.start, io::Real{kInstants});
  v.Field({"end", "Last instant of the clip that is used; null: its end", "s"}, o.end, io::OptionalReal{kInstants});
  v.Field({"time_scale", "Factor on all durations"}, o.time_scale, io::Real{kTimeScales});
  v.Field({"loop", "Seconds for which the best cycle is repeated; null: as recorded", "s"}, o.loop,
          io::OptionalReal{kDurations});
}

io::Json ReferenceOptions::ToJson() const {
  io::JsonWriter writer;
  ReferenceOptions copy = *this;
  Describe(copy, writer);
  DescribeClip(copy, writer);
  DescribeRange(copy, writer);
  io::Json json = writer.json();
  for (const Retiming& retiming : retimings) json["retimings"].push_back(Format(retiming));
  json["joint_map"] = *joint_map;
  return json;
}

}  // namespace retrace::character
