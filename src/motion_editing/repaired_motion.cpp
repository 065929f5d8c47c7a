#include "retrace/motion_editing/repaired_motion.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::repair {
namespace {

double LargestTurn(const character::Pose& a, const character::Pose& b) {
  double largest = 0;
  for (size_t j = 0; j < a.joint_rotations.size(); ++j) {
    largest = std::max(largest, AngleBetween(a.joint_rotations[j], b.joint_rotations[j]));
  }
  return largest;
}

std::string TextOf(const Missing& missing) {
  return io::Fixed(missing.force, 2) + " of the weight and a moment of " + io::Fixed(missing.moment, 3) + " m by it";
}

io::Json ToJson(const Missing& missing) {
  return {{"force", missing.force}, {"moment", missing.moment}};
}

std::string Seconds(double time) {
  return io::Fixed(time, 2) + " s";
}

io::Json ToJson(const Change& change) {
  return {{"largest", change.largest}, {"at", change.at}, {"rms", change.rms}};
}

io::Json ListOf(const std::vector<Finding>& findings) {
  io::Json list = io::Json::array();
  for (const Finding& finding : findings) list.push_back(finding.ToJson());
  return list;
}

}  // namespace

std::vector<double> Repair::Speeds(double frame_time) const {
  std::vector<double> speeds(instants.size(), 1);
  for (size_t k = 0; k < instants.size() && instants.size() > 1; ++k) {
    const size_t before = k > 0 ? k - 1 : k, after = std::min(k + 1, instants.size() - 1);
    speeds[k] = (instants[after] - instants[before]) / (static_cast<double>(after - before) * frame_time);
  }
  return speeds;
}

std::vector<double> Repair::LargestTurns() const {
  std::vector<double> turns(std::min(poses.size(), recorded.size()));
  for (size_t k = 0; k < turns.size(); ++k) turns[k] = LargestTurn(poses[k], recorded[k]);
  return turns;
}

std::vector<std::string> Repair::Notes() const {
  std::vector<std::string> notes;
  if (found.empty()) {
    notes.emplace_back("nothing to repair: the motion stays as recorded");
    return notes;
  }
  for (const Finding& finding : found) notes.push_back("as recorded, " + finding.Text());
  std::string note = "repaired: " + io::Fixed(duration, 2);
  note.append(" s of ").append(io::Fixed(duration_before, 2)).append(" s, played at ");
  note.append(io::Fixed(slowest, 2)).append(" to ").append(io::Fixed(fastest, 2)).append(" times its speed (RMS ");
  note.append(io::Fixed(100 * (std::exp(time.rms) - 1), 1)).append(" %)");
  notes.push_back(note);
  note = "the body is shifted by up to " + io::Fixed(root.largest, 3);
  note.append(" m (at ").append(Seconds(root.at)).append("; RMS ").append(io::Fixed(root.rms, 3));
  note.append(" m), joints are turned by up to ").append(io::Fixed(Degrees(joint.largest), 1));
  note.append(" degrees (at ").append(Seconds(joint.at)).append("; RMS ");
  notes.push_back(note.append(io::Fixed(Degrees(joint.rms), 1)).append(")"));
  if (!intervals.empty()) {
    note = "changed:";
    for (const metrics::Interval& interval : intervals) {
      note.append(&interval == &intervals.front() ? " " : ", ").append(io::Fixed(interval.start, 2));
      note.append(" to ").append(Seconds(interval.end));
    }
    notes.push_back(note);
  }
  for (const FlightMomentum& flight : flights) {
    note = "in the flight from " + io::Fixed(flight.interval.start, 2);
    note.append(" to ").append(Seconds(flight.interval.end)).append(" angular momentum is ");
    note.append(io::Fixed(flight.momentum, 1)).append(" kg m2/s in the mean and strays by up to ");
    notes.push_back(note.append(io::Fixed(flight.deviation, 1)));
  }
  note = "in the mean the ground cannot supply " + TextOf(missing_before);
  notes.push_back(note.append(" as recorded, ").append(TextOf(missing)).append(" as repaired"));
  for (const Finding& finding : left) notes.push_back("still there, on the new clock: " + finding.Text());
  return notes;
}

io::Json Repair::ToJson() const {
  io::Json json = {{"found", ListOf(found)}, {"changed", changed}};
  if (!changed) return json;
  json["left"] = ListOf(left);
  json["duration_before"] = duration_before;
  json["duration"] = duration;
  json["slowest"] = slowest;
  json["fastest"] = fastest;
  json["log_speed"] = repair::ToJson(time);
  json["root_shift"] = repair::ToJson(root);
  json["joint_angle"] = repair::ToJson(joint);
  json["intervals"] = io::Json::array();
  for (const metrics::Interval& interval : intervals) json["intervals"].push_back({interval.start, interval.end});
  json["missing_before"] = repair::ToJson(missing_before);
  json["missing"] = repair::ToJson(missing);
  json["flights"] = io::Json::array();
  for (const FlightMomentum& flight : flights) {
    json["flights"].push_back({{"start", flight.interval.start},
                               {"end", flight.interval.end},
                               {"angular_momentum", flight.momentum},
                               {"deviation", flight.deviation}});
  }
  json["label"] = "the reference is kinematic and was repaired: gates compare with it, and not with the recording";
  return json;
}

std::string FormatRepair(const Repair& repair, double frame_time) {
  io::CsvWriter csv;
  for (const char* column :
       {"time", "recorded_time", "speed", "height", "recorded_height", "root_x", "root_y", "root_z", "joint"}) {
    csv.Text(column);
  }
  csv.EndRow();
  const std::vector<double> speeds = repair.Speeds(frame_time), turns = repair.LargestTurns();
  for (size_t k = 0; k < repair.heights.size(); ++k) {
    csv.Number(static_cast<double>(k) * frame_time);
    csv.Number(repair.instants[k]);
    for (const double number : {speeds[k], repair.heights[k], repair.recorded_heights[k]}) csv.Short(number);
    const Vec3 shift = repair.poses[k].root_position - repair.recorded[k].root_position;
    for (const double number : shift) csv.Short(number);
    csv.Short(turns[k]);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace retrace::repair
