#include "retrace/retargeting/reference_report.h"

#include <nlohmann/json.hpp>

namespace retrace::character {

io::Json ReferenceReport::ToJson() const {
  io::Json levels_json = io::Json::array();
  for (const StandingLevel& level : levels) {
    levels_json.push_back({{"height", level.height}, {"seconds", level.seconds}});
  }
  return {
      {"naming_family", map.family},
      {"axes_from_rest_pose", rest_pose_used},
      {"source_frame_rate", frame_rate},
      {"unit", unit},
      {"unit_from", unit_from},
      {"height", height},
      {"up_axis", up_axis},
      {"facing", facing},
      {"joint_distance", joint_distance},
      {"start_speed_lost", start_speed_lost},
      {"metres_per_file_unit", scale},
      {"floor_height", floor_height},
      {"floor_tilt", floor_tilt},
      {"floor_shown", floor_shown},
      {"levels", levels_json},
      {"largest_lift", largest_lift},
      {"largest_hand_raise", largest_hand_raise},
      {"lead_in_frames", lead_in_frames},
      {"lead_out_frames", lead_out_frames},
      {"handedness", handedness.ToJson()},
      {"loop", loop_duration > 0 ? io::Json({{"start", loop_start}, {"duration", loop_duration}, {"seam", loop_seam}})
                                 : io::Json()},
      {"treadmill", belt ? io::Json({{"speed", belt->speed},
                                     {"velocity", io::ToJson(belt->velocity)},
                                     {"slope", belt->slope},
                                     {"seconds", belt->seconds},
                                     {"agreement", belt->agreement},
                                     {"given", belt->given},
                                     {"overground", true}})
                         : io::Json()},
      {"notes", notes}};
}

}  // namespace retrace::character
